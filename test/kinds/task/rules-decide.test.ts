import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { EVENTS } from '../../../src/kinds/catalogue.ts'
import { decide } from '../../../src/kinds/task/rules/decide.ts'
import { CLAIM_ENDS, isHeld, isTerminal, type TaskState } from '../../../src/pure/states.ts'
import { history, JUDGED, type Moment, replayHistory } from '../../support/histories.ts'
import { replay } from '../../support/replay.ts'
import { rounds } from '../../support/rounds.ts'

const RUNS = rounds(40, 1_000)

const inEveryHistory = (visit: (moment: Moment) => void, numRuns = RUNS, options: { seed?: number } = {}) =>
  fc.assert(
    fc.property(history, (one) => void replayHistory(one, visit)),
    { numRuns, ...options },
  )

/** With nothing more in their payload than the catalogue says. */
const STRICT = Object.fromEntries(Object.entries(EVENTS).map(([type, shape]) => [type, shape.strict()]))

describe('for any history of a task, decide', () => {
  test('never changes its input record, and returns the very same one when nothing changed', () => {
    inEveryHistory(({ before, command, context, decision }) => {
      const copy = structuredClone(before)
      decide(before, command, context)
      expect(before).toEqual(copy)
      // What is counted is no part of the version.
      const isOnlyCounted = command.kind === 'countUpstream' && decision.record.version === before.version
      if (isOnlyCounted) expect({ ...decision.record, upstream: before.upstream }).toEqual(before)
      else if (decision.record !== before) {
        expect(decision.record.version).toBe(before.version + 1)
        // That time passes is no sign of life: its holder may be checked and be as silent as before.
        // Nor is what others add below it, or that people are told that nobody takes it.
        const { state } = decision.record
        const isLookedAt = command.kind === 'elapse' && (isHeld(state) || state === 'verifying')
        const isNoSign = ['countChild', 'raiseAlert', 'clearAlert'].includes(command.kind)
        const isOnlyLookedAt = isLookedAt || isNoSign
        expect(decision.record.updatedAt).toBe(isOnlyLookedAt ? before.updatedAt : context.now)
      }
    })
  })

  test('decides the same twice: it has no clock and no randomness', () => {
    inEveryHistory(({ before, command, context, decision }) => {
      expect(decide(before, command, context)).toEqual(decision)
    })
  })

  test('emits only events of the catalogue, with nothing missing and nothing more', () => {
    const seen = new Set<string>()
    inEveryHistory(
      ({ context, decision }) => {
        for (const { type, payload, at, actor, taskId } of decision.effects.events) {
          seen.add(type)
          const { error } = STRICT[type]!.safeParse(payload)
          // That its result is being verified is noted with the task that is judged.
          const about = type === 'task_verification_started' ? JUDGED.taskId : 7
          // So many events that only what is wrong is worded.
          if (!error && at === context.now && taskId === about && actor !== '') continue
          const wrong = { payload, error: error?.message, at, now: context.now, taskId, actor }
          expect.fail(`${type} ${JSON.stringify(wrong)}`)
        }
        // Always the same histories: whether they show the rare events must not be left to chance.
      },
      3000,
      { seed: 7 },
    )
    const neverSeen = Object.keys(EVENTS).filter((type) => /^(task|claim)_/.test(type) && !seen.has(type))
    // To continue later, it needs other tasks of its mission: conformance-children. Budgets, and what claims use, are not of the task.
    expect(neverSeen, 'the histories are varied enough to show the others').toEqual([
      'task_created',
      'task_continues_later',
      'task_budget_too_small',
      'claim_usage',
      'task_inefficient',
    ])
  })

  test('emits one event for each change of state, and they replay to the state', () => {
    fc.assert(
      fc.property(history, (one) => {
        const { record, log } = replayHistory(one, ({ before, decision }) => {
          let state = before.state
          for (const { from, to } of decision.effects.events) {
            expect((from === null) === (to === null)).toBe(true)
            if (to === null) continue
            expect(from).toBe(state)
            state = to as TaskState
          }
          expect(state).toBe(decision.record.state)
        })
        const stored = log.map((event, i) => ({ ...event, seq: i + 1 }))
        expect(replay(stored)).toEqual({ state: record.state, generation: record.generation })
      }),
      { numRuns: RUNS },
    )
  })

  test('raises the generation only by a claim, by one, and never beyond the limit', () => {
    inEveryHistory(({ before, command, context, decision: { record, reply } }) => {
      // An agent that resumes what its session was assigned has its claim already.
      const isHeldStill = before.state === 'assigned' && before.leaseExpiresAt! > context.now
      const isTakenUp = isHeldStill && before.holder?.isOffered && record.session === before.session
      const claimed = command.kind === 'claim' && reply.ok && !isTakenUp
      // Claims that are opened and ended in one: no limit keeps a whole from being the sum of its parts, nor a person from
      // giving the result.
      const merged = reply.reason === 'MERGED' || (command.kind === 'complete' && reply.ok)
      expect(record.generation).toBe(before.generation + (claimed || merged ? 1 : 0))
      if (claimed) expect(record.generation).toBeLessThanOrEqual(context.limits.maxGenerationsPerTask)
      expect(record.epoch).toBe(before.epoch + (command.kind === 'reset' && reply.ok ? 1 : 0))
    })
  })

  test('keeps every record inside the invariants the database checks', () => {
    inEveryHistory(({ decision: { record } }) => {
      const { state } = record
      expect(record.rank !== null).toBe(state === 'queued')
      expect(record.completedAt !== null).toBe(isTerminal(state))
      expect(record.claimState === 'active').toBe(isHeld(state))
      expect(record.claimState === null).toBe(record.generation === 0)
      expect(state !== 'completed' || record.resultHash !== null).toBe(true)
      expect(record.pausedFrom !== null).toBe(state === 'paused')
      expect(!['awaiting_retry', 'verifying'].includes(state) || record.dueAt !== null).toBe(true)
      expect(record.attempt).toBeGreaterThanOrEqual(0)
      const { timers, agentChoice, attention, expiresAt } = record
      const reservedUntil = agentChoice?.preferredUntil
      if (reservedUntil !== undefined) expect([state, record.onlyAgent]).toEqual(['queued', record.agent])
      const ends = [expiresAt, reservedUntil, timers?.deadlineAt].filter((at) => at != null)
      if (state === 'queued')
        expect(record.dueAt, 'when it expires, at its deadline, or when others may take it').toBe(
          ends.length === 0 ? null : Math.min(...ends),
        )
      expect(attention?.asks === undefined || state === 'awaiting_human').toBe(true)
    })
  })

  test('leaves every unfinished task something that will move it', () => {
    inEveryHistory(({ decision: { record } }) => {
      const { state, dueAt, blocked, leaseExpiresAt } = record
      const aPerson = ['awaiting_human', 'paused', 'budget_exceeded'].includes(state)
      const aLease = isHeld(state) && leaseExpiresAt !== null
      expect(
        isTerminal(state) || state === 'queued' || aPerson || aLease || dueAt !== null || blocked,
        JSON.stringify(record),
      ).toBe(true)
    })
  })

  test('leaves no finished task a time at which something would be due', () => {
    inEveryHistory(({ decision: { record } }) => {
      expect([record.state, isTerminal(record.state) && record.dueAt]).toEqual([
        record.state,
        isTerminal(record.state) ? null : false,
      ])
    })
  })

  test('never spends more attempts than the first and maxRetries more', () => {
    inEveryHistory(({ decision: { record } }) => {
      expect(record.attempt).toBeLessThanOrEqual(record.maxRetries + 1)
    })
  })

  test('opens claims one generation after the other and never two at a time', () => {
    fc.assert(
      fc.property(history, (one) => {
        const active = new Set<number>()
        let last = 0
        replayHistory(one, ({ decision: { effects, record } }) => {
          for (const claim of effects.claims) {
            if (claim.kind === 'opened') {
              expect(claim.generation).toBe(++last)
              active.add(claim.generation)
            } else {
              expect(active.delete(claim.generation), 'only an active claim ends').toBe(true)
              expect(claim.state).toBe(CLAIM_ENDS[claim.reason])
            }
          }
          expect([...active]).toEqual(isHeld(record.state) ? [record.generation] : [])
        })
      }),
      { numRuns: RUNS },
    )
  })

  test('accepts at most one result an epoch, of its holder, and has one exactly when the task is completed', () => {
    fc.assert(
      fc.property(history, (one) => {
        const open = new Map<number, boolean | null>()
        replayHistory(one, ({ before, command, decision: { effects, record } }) => {
          for (const result of effects.results) {
            if (result.kind === 'judged') {
              expect(open.get(result.epoch), 'only what waits is judged').toBeNull()
              if (result.accepted) open.set(result.epoch, true)
              else open.delete(result.epoch)
            } else if (result.kind === 'promoted') {
              expect(result).toMatchObject({ epoch: record.epoch, hash: record.resultHash })
              // It replaces the result that was there.
              open.set(result.epoch, true)
            } else if (result.accepted !== false) {
              expect(open.has(result.epoch)).toBe(false)
              // A merge is its own holder while it runs, and so is a person.
              const isOwn = command.kind === 'merge' || command.kind === 'complete'
              const holder = isOwn ? record : before
              expect(result).toMatchObject({ generation: holder.generation, session: holder.session })
              open.set(result.epoch, result.accepted)
            }
          }
          expect(open.get(record.epoch) === true).toBe(record.state === 'completed')
          expect(open.has(record.epoch)).toBe(record.resultHash !== null)
        })
      }),
      { numRuns: RUNS },
    )
  })

  test('lets a write behind a wrong fence change nothing', () => {
    inEveryHistory(({ before, command, context, decision }) => {
      if (!('fence' in command)) return
      const { fence } = command
      if (fence.generation === before.generation && fence.session === before.session) return
      // Not sent by a holder, but recorded about one by its session's own record: no caller gets an answer.
      if (command.kind === 'lose' || command.kind === 'revoke') {
        if (fence.generation !== before.generation) expect(decision.record).toBe(before)
        return
      }
      expect(decision.reply.ok).toBe(false)
      const lapsed = before.claimState === 'active' && before.leaseExpiresAt! <= context.now
      if (!lapsed) expect(decision.record).toBe(before)
      expect(decision.effects.events.at(-1)!.type).toMatch(/^(claim_write_refused|task_result_rejected)$/)
    })
  })

  test('does what is due once: a second pass at the same moment has nothing to do', () => {
    inEveryHistory(({ context, decision }) => {
      let { record } = decision
      for (let asked = 0; ; asked++) {
        const elapsed = decide(record, { kind: 'elapse' }, context)
        if (elapsed.reply.reason === 'NOTHING_DUE') {
          expect(elapsed.record).toBe(record)
          expect(elapsed.effects.events).toEqual([])
          break
        }
        expect(asked, 'an end to what is due').toBeLessThan(3)
        record = elapsed.record
      }
    })
  })
})

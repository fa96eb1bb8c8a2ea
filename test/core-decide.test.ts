import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Circumstances, Decision, NewTask, TaskCommand } from '../src/core/commands.ts'
import { TRIGGER_RULES } from '../src/core/commands.ts'
import { decide } from '../src/core/decide.ts'
import { EVENTS, type EventDraft, replay } from '../src/core/events.ts'
import { DEFAULT_LIMITS } from '../src/core/limits.ts'
import type { TaskRecord } from '../src/core/records.ts'
import { FAILURE_CLASSES } from '../src/core/retry.ts'
import { createTask } from '../src/core/rules/create.ts'
import { CLAIM_ENDS, isHeld, isTerminal, type TaskState, taskStates } from '../src/core/states.ts'
import { newTask } from './support/tasks.ts'

/** A step of a task's life: some time passes, then somebody says something. Fences are near the truth, not always true. */
interface Step {
  waitMs: number
  say: (record: TaskRecord, now: number) => TaskCommand
}

const seldom = <T>(some: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 9, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: some })
const sessions = fc.constantFrom('s-1', 's-2')
const agents = fc.constantFrom('alpha', 'beta')
const words = fc.option(fc.constantFrom('', 'because', 'no "reason"'))
const nearlyTheFence = fc
  .record({ off: fc.constantFrom(...Array(16).fill(0), -1, 1, -5), session: seldom(sessions) })
  .map(({ off, session }) => (record: TaskRecord) => ({
    generation: Math.max(0, record.generation + off),
    session: session ?? record.session ?? 's-1',
  }))
const submission = fc.constantFrom('a', 'b').map((result) => ({
  data: JSON.stringify({ result }),
  hash: `hash-of-${result}`,
  bytes: 14,
  summary: null,
}))

const held = <T extends object>(more: fc.Arbitrary<T>) =>
  fc.tuple(nearlyTheFence, more).map(
    ([fence, rest]) =>
      (record: TaskRecord) =>
        ({ ...rest, fence: fence(record) }) as unknown as TaskCommand,
  )
const plain = (command: fc.Arbitrary<TaskCommand>) => command.map((said) => () => said)
const kind = <K extends string>(name: K) => fc.constant(name)

const SAYINGS: Record<TaskCommand['kind'], fc.Arbitrary<Step['say']>> = {
  claim: plain(
    fc.record({
      kind: kind('claim'),
      agent: agents,
      session: sessions,
      leaseMs: fc.constantFrom(1_000, 60_000),
      capabilities: fc.constantFrom(['sql'], ['sql'], ['sql'], []),
    }),
  ),
  renew: held(
    fc.record({ kind: kind('renew'), leaseMs: fc.option(fc.constant(30_000), { nil: undefined }) }),
  ),
  start: held(fc.record({ kind: kind('start') })),
  progress: held(
    fc.record({
      kind: kind('progress'),
      percent: fc.option(fc.integer({ min: 0, max: 100 }), { nil: undefined }),
      step: fc.option(fc.constant('testing'), { nil: undefined }),
      checkpoint: fc.option(fc.constant({ at: 3 }), { nil: undefined }),
    }),
  ),
  continue: held(fc.record({ kind: kind('continue') })),
  release: held(fc.record({ kind: kind('release'), reason: fc.constant('VOLUNTARY') })),
  submit: held(fc.record({ kind: kind('submit'), submission })),
  fail: fc
    .tuple(
      nearlyTheFence,
      fc.constantFrom(...FAILURE_CLASSES),
      words,
      fc.option(fc.integer({ min: -60_000, max: 600_000 })),
    )
    .map(([fence, failureClass, error, retryIn]) => (record, now) => ({
      kind: 'fail',
      fence: fence(record),
      failureClass,
      error,
      retryAt: retryIn === null ? undefined : now + retryIn,
    })),
  cancel: plain(fc.record({ kind: kind('cancel'), reason: words })),
  pause: plain(fc.record({ kind: kind('pause'), reason: words })),
  resume: plain(fc.record({ kind: kind('resume') })),
  retry: plain(fc.record({ kind: kind('retry'), reason: words })),
  reset: plain(fc.record({ kind: kind('reset'), reason: words })),
  approve: plain(fc.record({ kind: kind('approve'), comment: words })),
  reject: plain(fc.record({ kind: kind('reject'), comment: words })),
  verdict: plain(
    fc.record({ kind: kind('verdict'), verdict: fc.constantFrom('passed', 'failed', 'unsure'), note: words }),
  ),
  update: fc
    .record({
      stale: fc.boolean(),
      patch: fc.record(
        {
          priority: fc.integer({ min: 1, max: 10 }),
          onlyAgent: fc.option(agents),
          title: fc.constant('new title'),
        },
        { requiredKeys: [] },
      ),
    })
    .map(({ stale, patch }) => (record) => ({
      kind: 'update',
      ifVersion: stale ? record.version - 1 : null,
      patch,
    })),
  archive: plain(fc.record({ kind: kind('archive') })),
  elapse: plain(fc.record({ kind: kind('elapse') })),
  unblock: plain(
    fc.record({
      kind: kind('unblock'),
      readiness: fc.constantFrom('wait', 'ready', 'never'),
      because: fc.constant('dependencies moved'),
    }),
  ),
}

const anything = fc.oneof(...Object.values(SAYINGS))
const { claim, elapse, unblock, resume, reset, retry, archive, verdict, approve, reject, submit, fail } =
  SAYINGS
const byHolder = fc.oneof(SAYINGS.start, SAYINGS.progress, SAYINGS.continue, SAYINGS.release, submit, fail)
/** What somebody who knows the state would say: else most lives would be over before they began. */
const sensible: fc.Arbitrary<Step['say']> = fc
  .record({
    pending: fc.oneof(elapse, unblock),
    queued: claim,
    awaiting_retry: fc.oneof(elapse, claim, retry),
    assigned: byHolder,
    running: byHolder,
    continuing: byHolder,
    verifying: verdict,
    awaiting_human: fc.oneof(approve, reject, retry),
    paused: resume,
    budget_exceeded: resume,
    completed: fc.oneof(reset, archive),
    failed: fc.oneof(reset, retry),
    cancelled: reset,
    skipped: reset,
  } satisfies Record<TaskState, fc.Arbitrary<Step['say']>>)
  .map((known) => (record, now) => known[record.state](record, now))
const said = fc.oneof({ weight: 2, arbitrary: sensible }, { weight: 1, arbitrary: anything })

const step: fc.Arbitrary<Step> = fc.record({
  waitMs: fc.oneof(
    fc.constant(0),
    fc.integer({ min: 1, max: 5_000 }),
    fc.integer({ min: 5_000, max: 400_000 }),
  ),
  say: said,
})

const START = 1_767_506_400_000
const life = fc.record({
  task: fc
    .record({
      review: fc.constantFrom('none' as const, 'none' as const, 'human' as const, 'verifier' as const),
      maxRetries: fc.integer({ min: 0, max: 3 }),
      runAt: seldom(fc.integer({ min: START - 10_000, max: START + 100_000 })),
      triggerRule: fc.constantFrom(...TRIGGER_RULES),
      onlyAgent: seldom(agents),
      capabilities: seldom(fc.constant(['sql'])),
    })
    .map((overrides): NewTask => newTask(overrides)),
  upstream: fc.oneof(
    { weight: 4, arbitrary: fc.constant([]) },
    { weight: 1, arbitrary: fc.array(fc.constantFrom(...taskStates), { minLength: 1, maxLength: 2 }) },
  ),
  limits: fc.record({
    maxGenerationsPerTask: fc.constantFrom(2, 5, 100),
    lateResults: fc.boolean(),
  }),
  roomForClaims: fc.constantFrom(...Array(9).fill(1), 0),
  steps: fc.array(step, { minLength: 1, maxLength: 40, size: 'max' }),
})
type Life = typeof life extends fc.Arbitrary<infer T> ? T : never

interface Moment {
  before: TaskRecord
  command: TaskCommand
  around: Circumstances
  decision: Decision
}

/** Lives a life through `decide`, and shows each moment of it. */
function live({ task, upstream, limits, roomForClaims, steps }: Life, look: (moment: Moment) => void) {
  const { record: born, event } = createTask(task, upstream, { id: 7, uuid: 'u' }, 'key:test', START)
  const log: EventDraft[] = [event]
  let record = born
  let now = START
  const told: string[] = []
  for (const { waitMs, say } of steps) {
    now += waitMs
    const around = { now, limits: { ...DEFAULT_LIMITS, ...limits }, roomForClaims, actor: 'key:test' }
    const command = say(record, now)
    told.push(`+${waitMs} ms, ${record.state} at ${record.generation}: ${JSON.stringify(command)}`)
    const before = Object.freeze(record)
    try {
      const decision = decide(before, command, around)
      log.push(...decision.effects.events)
      look({ before, command, around, decision })
      record = { ...decision.record }
    } catch (error) {
      throw new Error(`${(error as Error).message}\n  in this life:\n  ${told.join('\n  ')}`, {
        cause: error,
      })
    }
  }
  return { record, log }
}

const inEveryLife = (look: (moment: Moment) => void, numRuns = 500) =>
  fc.assert(
    fc.property(life, (one) => void live(one, look)),
    { numRuns },
  )

describe('in any life of a task, decide', () => {
  test('never changes the record it is given, and gives the very same one back when nothing changed', () => {
    inEveryLife(({ before, command, around, decision }) => {
      const copy = structuredClone(before)
      decide(before, command, around)
      expect(before).toEqual(copy)
      if (decision.record !== before) {
        expect(decision.record.version).toBe(before.version + 1)
        expect(decision.record.updatedAt).toBe(around.now)
      }
    }, 250)
  })

  test('decides the same twice: it has no clock and no dice', () => {
    inEveryLife(({ before, command, around, decision }) => {
      expect(decide(before, command, around)).toEqual(decision)
    }, 250)
  })

  test('leaves only events that are in the catalogue, with nothing missing and nothing more', () => {
    const seen = new Set<string>()
    inEveryLife(({ around, decision }) => {
      for (const { type, payload, at, actor, taskId } of decision.effects.events) {
        seen.add(type)
        const parsed = EVENTS[type].strict().safeParse(payload)
        expect(parsed.error?.message, `${type} ${JSON.stringify(payload)}`).toBeUndefined()
        expect({ at, taskId }).toEqual({ at: around.now, taskId: 7 })
        expect(actor).not.toBe('')
      }
    }, 1500)
    const neverSeen = Object.keys(EVENTS).filter((type) => /^(task|claim)_/.test(type) && !seen.has(type))
    expect(neverSeen, 'the lives are varied enough to show them all').toEqual(['task_created'])
  })

  test('leaves one event a change of state, and they replay to the state', () => {
    fc.assert(
      fc.property(life, (one) => {
        const { record, log } = live(one, ({ before, decision }) => {
          let state = before.state
          for (const { from, to } of decision.effects.events) {
            expect((from === null) === (to === null)).toBe(true)
            if (to === null) continue
            expect(from).toBe(state)
            state = to
          }
          expect(state).toBe(decision.record.state)
        })
        const stored = log.map((event, i) => ({ ...event, seq: i + 1 }))
        expect(replay(stored)).toEqual({ state: record.state, generation: record.generation })
      }),
      { numRuns: 500 },
    )
  })

  test('raises the generation only by a claim, by one, and never beyond the limit', () => {
    inEveryLife(({ before, command, around, decision: { record, reply } }) => {
      const claimed = command.kind === 'claim' && reply.ok
      expect(record.generation).toBe(before.generation + (claimed ? 1 : 0))
      expect(record.generation).toBeLessThanOrEqual(around.limits.maxGenerationsPerTask)
      expect(record.epoch).toBe(before.epoch + (command.kind === 'reset' && reply.ok ? 1 : 0))
    })
  })

  test('keeps every record inside the invariants the database checks', () => {
    inEveryLife(({ decision: { record } }) => {
      const { state } = record
      expect(record.rank !== null).toBe(state === 'queued')
      expect(record.completedAt !== null).toBe(isTerminal(state))
      expect(record.claimState === 'active').toBe(isHeld(state))
      expect(record.claimState === null).toBe(record.generation === 0)
      expect(state !== 'completed' || record.resultHash !== null).toBe(true)
      expect(record.pausedFrom !== null).toBe(state === 'paused')
      expect(!['awaiting_retry', 'verifying'].includes(state) || record.dueAt !== null).toBe(true)
      expect(record.attempt).toBeGreaterThanOrEqual(0)
    })
  })

  test('leaves every unfinished task something that will move it', () => {
    inEveryLife(({ decision: { record } }) => {
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
    inEveryLife(({ decision: { record } }) => {
      expect([record.state, isTerminal(record.state) && record.dueAt]).toEqual([
        record.state,
        isTerminal(record.state) ? null : false,
      ])
    })
  })

  test('never spends more attempts than the first and maxRetries more', () => {
    inEveryLife(({ decision: { record } }) => {
      expect(record.attempt).toBeLessThanOrEqual(record.maxRetries + 1)
    })
  })

  test('opens claims one generation after the other and never two at a time', () => {
    fc.assert(
      fc.property(life, (one) => {
        const active = new Set<number>()
        let last = 0
        live(one, ({ decision: { effects, record } }) => {
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
      { numRuns: 500 },
    )
  })

  test('accepts at most one result an epoch, of its holder, and has one exactly when the task is completed', () => {
    fc.assert(
      fc.property(life, (one) => {
        const open = new Map<number, boolean | null>()
        live(one, ({ before, decision: { effects, record } }) => {
          for (const result of effects.results) {
            if (result.kind === 'judged') {
              expect(open.get(result.epoch), 'only what waits is judged').toBeNull()
              if (result.accepted) open.set(result.epoch, true)
              else open.delete(result.epoch)
            } else if (result.accepted !== false) {
              expect(open.has(result.epoch)).toBe(false)
              expect(result).toMatchObject({ generation: before.generation, session: before.session })
              open.set(result.epoch, result.accepted)
            }
          }
          expect(open.get(record.epoch) === true).toBe(record.state === 'completed')
          expect(open.has(record.epoch)).toBe(record.resultHash !== null)
        })
      }),
      { numRuns: 500 },
    )
  })

  test('lets a write behind a wrong fence change nothing', () => {
    inEveryLife(({ before, command, around, decision }) => {
      if (!('fence' in command)) return
      const { fence } = command
      if (fence.generation === before.generation && fence.session === before.session) return
      expect(decision.reply.ok).toBe(false)
      const lapsed = before.claimState === 'active' && before.leaseExpiresAt! <= around.now
      if (!lapsed) expect(decision.record).toBe(before)
      expect(decision.effects.events.at(-1)!.type).toMatch(/^(claim_write_refused|task_result_rejected)$/)
    })
  })

  test('does what is due once: asked again at the same moment, time has nothing to do', () => {
    inEveryLife(({ around, decision }) => {
      let { record } = decision
      for (let asked = 0; ; asked++) {
        const elapsed = decide(record, { kind: 'elapse' }, around)
        if (elapsed.reply.reason === 'NOTHING_DUE') {
          expect(elapsed.record).toBe(record)
          expect(elapsed.effects.events).toEqual([])
          break
        }
        expect(asked, 'an end to what is due').toBeLessThan(3)
        record = elapsed.record
      }
    }, 250)
  })
})

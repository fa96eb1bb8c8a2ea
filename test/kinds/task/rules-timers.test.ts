import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Combiner } from '../../../src/kernel/combiner.ts'
import { watchOf } from '../../../src/kernel/store/watch-column.ts'
import type { TaskRecord } from '../../../src/kinds/task/record.ts'
import type { TaskTimers } from '../../../src/kinds/task/rules/groups.ts'
import {
  backoffMs,
  PRIORITY_STEP_MS,
  placeInQueue,
  spreadBackoffMs,
} from '../../../src/kinds/task/rules/retry.ts'
import {
  abortsAt,
  firstDeadline,
  stallsAt,
  suspectedFrom,
  timersAnew,
} from '../../../src/kinds/task/rules/timers.ts'
import type { Limits } from '../../../src/kinds/workspace/limits.ts'
import { isHeld } from '../../../src/pure/states.ts'
import { assign } from '../../support/assign.ts'
import { history, replayHistory } from '../../support/histories.ts'
import { manualClock } from '../../support/manual-clock.ts'
import { withLimits } from '../../support/nodes.ts'
import { rounds } from '../../support/rounds.ts'
import {
  granted,
  grantedTasks,
  holder,
  type Overrides,
  outcome,
  type Task,
  type Work,
} from '../../support/tasks.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const alpha = holder('alpha')
const beta = holder('beta')

const typesOf = async (work: Work, task: Task) => (await work.eventsOf(task)).map(({ type }) => type)
const lastEvent = async (work: Work, task: Task) => (await work.eventsOf(task)).at(-1)!

/** A started task, with a lease that does not matter here. */
async function begun(more: Overrides = {}, limits: Partial<Limits> = {}) {
  const clock = manualClock(limits)
  const { work } = clock
  const task = await work.create(more)
  const hold = granted(await work.claim(task, alpha, { leaseMs: 10 * HOUR }))
  await work.start(task, hold)
  return { ...clock, task, hold }
}

test('a task that prefers an agent is for that agent alone for ten minutes after it was queued, then for any', async () => {
  const { work, pass } = manualClock()
  const task = await work.create({ agentChoice: { prefers: 'alpha' } })
  pass(10 * MINUTE - 1)
  await work.elapse(task)
  expect(outcome(await work.claim(task, beta))).toBe('WRONG_AGENT')
  pass(1)
  await work.elapse(task)
  expect(granted(await work.claim(task, beta))).toMatchObject({ generation: 1 })
})

describe('in any history of a task', () => {
  test('it is checked no later than its first deadline, and is not due without one', () => {
    fc.assert(
      fc.property(history, (one) => {
        replayHistory(one, ({ context: { limits, now }, decision: { record, reply } }) => {
          if (!isHeld(record.state)) return
          const first = firstDeadline(record, limits)
          if (first !== null) expect(record.dueAt).toBeLessThanOrEqual(first)
          const isToBeStarted =
            record.state === 'assigned' && (record.holder?.isOffered || record.timers?.assignMs !== undefined)
          expect(record.dueAt !== null, JSON.stringify(record)).toBe(first !== null || isToBeStarted)
          if (reply.reason === 'MOVED') expect(record.dueAt ?? now + 1).toBeGreaterThan(now)
        })
      }),
      { numRuns: rounds(200, 1_000) },
    )
  })

  test('a new holder inherits the time limits of the task and nothing of the last holder’s status', () => {
    fc.assert(
      fc.property(history, (one) => {
        replayHistory(one, ({ before, command, decision: { record } }) => {
          if (command.kind !== 'claim' || record.generation === before.generation) return
          const old: Partial<Record<string, unknown>> = watchOf(before) ?? {}
          const { estimateMs, assignMs, stallMs, verifyMs, hangGraceMs, hangAbortMs } = old
          const isOffered = command.byCoordinator
          const { attemptMs, deadlineMs, deadlineAt, closedMs, modelSwitches, usedModel, goesOn } = old
          const { resultCommit, isFresh, freshFrom, timeouts, childRoot, childCount } = old
          const own = {
            ...{ estimateMs, assignMs, stallMs, verifyMs, hangGraceMs, hangAbortMs, isOffered },
            ...{ attemptMs, deadlineMs, deadlineAt, closedMs, modelSwitches, usedModel, goesOn },
            ...{ resultCommit, isFresh, freshFrom, timeouts, childRoot, childCount },
          }
          expect(watchOf(record) ?? {}).toEqual(JSON.parse(JSON.stringify(own)))
        })
      }),
      { numRuns: rounds(100, 300) },
    )
  })
})

test('a task without time limits costs a claim nothing: its timers stay the very same object', () => {
  const own: TaskTimers = { stallMs: 1 }
  expect(timersAnew(own)).toBe(own)
  expect(timersAnew(null)).toBeNull()
  expect(timersAnew({ progressAt: 5 })).toBeNull()
})

describe('the arithmetic', () => {
  const record = (timers: TaskTimers | null): TaskRecord =>
    ({ state: 'running', updatedAt: 1_000, timers }) as TaskRecord
  const limits = {
    stallTimeoutSeconds: null,
    hangGraceSeconds: 1_800,
    hangAbortSeconds: 600,
  } as Limits

  test('the silence limit comes from the task, then from the workspace, else there is none', () => {
    expect(stallsAt(record({ stallMs: 5 }), { ...limits, stallTimeoutSeconds: 9 })).toBe(1_005)
    expect(stallsAt(record({}), { ...limits, stallTimeoutSeconds: 9 })).toBe(10_000)
    expect(stallsAt(record(null), limits)).toBeNull()
    // The node of a run judges its silence.
    expect(stallsAt({ ...record({ stallMs: 5 }), holder: { isRun: true } }, limits)).toBeNull()
  })

  test('by default it is suspected half an hour after its estimate and revoked ten minutes later', () => {
    expect(suspectedFrom(record({ doneBy: 2_000 }), limits)).toBe(2_000 + 30 * MINUTE)
    expect(suspectedFrom(record({ doneBy: 2_000, hangGraceMs: 0 }), limits)).toBe(2_000)
    expect(abortsAt(record({ doneBy: 2_000 }), limits)).toBeNull()
    expect(abortsAt(record({ suspectedAt: 3_000 }), limits)).toBe(3_000 + 10 * MINUTE)
    expect(abortsAt(record({ suspectedAt: 3_000, progressAt: 2_000, hangAbortMs: 7 }), limits)).toBe(3_007)
    expect(abortsAt(record({ suspectedAt: 3_000, progressAt: 4_000, hangAbortMs: 7 }), limits)).toBe(4_007)
  })

  test('nothing counts before work has started', () => {
    const assigned = { ...record({ stallMs: 5, doneBy: 1 }), state: 'assigned' as const }
    expect(firstDeadline(assigned, limits)).toBeNull()
  })
})

describe('an assigned task that is not started in time', () => {
  test('returns to the queue at its deadline, with its attempt', async () => {
    const { work, now, pass } = manualClock()
    const task = await work.create()
    await assign(work, task, alpha)
    expect(await work.record(task)).toMatchObject({ state: 'assigned', dueAt: now() + 2 * MINUTE })
    pass(2 * MINUTE - 1)
    expect(outcome(await work.elapse(task))).toBe('NOTHING_DUE')
    pass(1)
    expect(outcome(await work.elapse(task))).toBe('MOVED')
    expect(await work.record(task)).toMatchObject({ state: 'queued', attempt: 0, dueAt: null })
    expect(await work.claims(task)).toMatchObject([{ state: 'expired', endReason: 'NOT_STARTED' }])
    expect(await lastEvent(work, task)).toMatchObject({
      type: 'task_requeued',
      payload: { because: 'not started in time' },
    })
  })

  test('has its whole time, however short its lease', async () => {
    const { work, pass } = manualClock()
    const task = await work.create()
    await assign(work, task, alpha, SECOND)
    pass(2 * MINUTE - 1)
    expect(outcome(await work.start(task, { ...alpha, generation: 1 }))).toBe('STARTED')
  })

  test('is no failure, even if the end of its lease is noticed first', async () => {
    const { work, pass } = manualClock()
    const task = await work.create({ maxRetries: 0 })
    await assign(work, task, alpha)
    pass(5 * MINUTE)
    expect(outcome(await work.claim(task, beta))).toBe('GRANTED')
    expect(await work.record(task)).toMatchObject({ generation: 2, attempt: 1 })
    expect(await work.claims(task)).toMatchObject([{ endReason: 'NOT_STARTED' }, { state: 'active' }])
  })

  test('is a dead letter when there are no more generations', async () => {
    const { work, pass } = manualClock({ maxGenerationsPerTask: 1 })
    const task = await work.create()
    await assign(work, task, alpha)
    pass(2 * MINUTE)
    await work.elapse(task)
    expect(await work.record(task)).toMatchObject({ state: 'failed', attempt: 0 })
    expect(await work.details(task)).toMatchObject({ exhausted: 'generations' })
  })

  test('is not one that an agent claimed itself: its lease decides, unless the task says otherwise', async () => {
    const { work, now, pass } = manualClock()
    const [plain, strict] = [await work.create(), await work.create({ timers: { assignMs: MINUTE } })]
    await work.claim(plain, alpha)
    await work.claim(strict, alpha)
    expect((await work.record(plain)).dueAt).toBeNull()
    expect((await work.record(strict)).dueAt).toBe(now() + MINUTE)
    pass(MINUTE)
    expect(outcome(await work.elapse(plain))).toBe('NOTHING_DUE')
    expect(outcome(await work.elapse(strict))).toBe('MOVED')
    expect(await work.record(strict)).toMatchObject({ state: 'queued', attempt: 0 })
  })

  test('is one no more after any kind of start', async () => {
    for (const begin of ['start', 'progress', 'continueLater'] as const) {
      const { work, pass } = manualClock()
      const task = await work.create()
      const hold = granted(await assign(work, task, alpha, HOUR))
      await work[begin](task, hold)
      expect((await work.record(task)).dueAt, begin).toBeNull()
      pass(10 * MINUTE)
      expect(outcome(await work.elapse(task)), begin).toBe('NOTHING_DUE')
    }
  })
})

describe('an agent that was assigned a task', () => {
  test('resumes it under the same session: the claim is the same, and its lease starts again', async () => {
    const { work, now, pass } = manualClock()
    const task = await work.create()
    await assign(work, task, alpha)
    pass(MINUTE)
    const reply = await work.claim(task, alpha, { leaseMs: 10 * MINUTE })
    expect(reply).toMatchObject({
      reason: 'GRANTED',
      claim: { generation: 1, attempt: 1, ttlMs: 10 * MINUTE },
    })
    expect(await work.record(task)).toMatchObject({ dueAt: null, leaseExpiresAt: now() + 10 * MINUTE })
    expect(await work.claims(task)).toHaveLength(1)
    pass(5 * MINUTE)
    expect(outcome(await work.elapse(task)), 'it requested it now').toBe('NOTHING_DUE')
  })

  test('resumes it under another session: a new generation, and the attempt is not counted twice', async () => {
    const { work } = manualClock()
    const task = await work.create({ maxRetries: 0 })
    await assign(work, task, alpha)
    const reply = await work.claim(task, holder('alpha', 's-2'))
    expect(reply).toMatchObject({ reason: 'GRANTED', claim: { generation: 2, attempt: 1, session: 's-2' } })
    expect(await work.claims(task)).toMatchObject([
      { generation: 1, state: 'superseded', endReason: 'REASSIGNED' },
      { generation: 2, state: 'active' },
    ])
    expect((await typesOf(work, task)).slice(-2)).toEqual(['task_requeued', 'task_assigned'])
    expect((await work.store.counts(work.workspace)).activeClaims).toBe(1)
  })

  test('uses no capacity twice where there is room for one', async () => {
    const { work } = manualClock({ maxConcurrentClaims: 1 })
    const task = await work.create()
    await assign(work, task, alpha)
    expect(outcome(await work.claim(task, holder('alpha', 's-2')))).toBe('GRANTED')
  })

  test('keeps it from its own other sessions once it resumed it, as from everyone else', async () => {
    const { work } = manualClock()
    const task = await work.create()
    await assign(work, task, alpha)
    expect(outcome(await work.claim(task, beta))).toBe('DENIED_ACTIVE_CLAIM')
    await work.claim(task, alpha)
    expect(outcome(await work.claim(task, holder('alpha', 's-2')))).toBe('DENIED_ACTIVE_CLAIM')
  })

  test('keeps it once it has started', async () => {
    const { work } = manualClock()
    const task = await work.create()
    await work.start(task, granted(await assign(work, task, alpha)))
    expect(outcome(await work.claim(task, holder('alpha', 's-2')))).toBe('DENIED_ACTIVE_CLAIM')
  })

  test('is refused under a session without capacity, and keeps what it was assigned', async () => {
    const { work } = manualClock()
    await work.register('w', 1)
    await work.claim(await work.create(), holder('alpha', 'w'))
    const task = await work.create()
    await assign(work, task, alpha)
    expect(outcome(await work.claim(task, holder('alpha', 'w')))).toBe('NO_CAPACITY')
    expect(await work.record(task)).toMatchObject({
      state: 'assigned',
      generation: 1,
      session: alpha.session,
    })
  })

  test('keeps the assigned claim when no generation is left for another session', async () => {
    const { work } = manualClock({ maxGenerationsPerTask: 1 })
    const task = await work.create()
    await assign(work, task, alpha)
    expect(outcome(await work.claim(task, holder('alpha', 's-2')))).toBe('DENIED_ACTIVE_CLAIM')
    expect(outcome(await work.claim(task, alpha))).toBe('GRANTED')
  })

  test('does not lose it to another assignment', async () => {
    const { work } = manualClock()
    const task = await work.create()
    await assign(work, task, alpha)
    expect(outcome(await assign(work, task, holder('alpha', 's-2')))).toBe('DENIED_ACTIVE_CLAIM')
  })
})

describe('a holder that goes silent', () => {
  const stalling = (more: Overrides = {}) => begun(more, { stallTimeoutSeconds: 60 })

  test('loses the task when its silence is too long, and not before', async () => {
    const { work, task, pass } = await stalling()
    pass(MINUTE - 1)
    expect(outcome(await work.elapse(task))).toBe('NOTHING_DUE')
    pass(1)
    expect(outcome(await work.elapse(task))).toBe('MOVED')
    expect(await work.record(task)).toMatchObject({ state: 'awaiting_retry', claimState: 'expired' })
    expect(await work.claims(task)).toMatchObject([{ endReason: 'STALLED' }])
    expect(await lastEvent(work, task)).toMatchObject({ type: 'task_stalled', payload: { silentMs: MINUTE } })
  })

  test('fails the task with its last attempt', async () => {
    const { work, task, pass } = await stalling({ maxRetries: 0 })
    pass(MINUTE)
    await work.elapse(task)
    expect(await work.record(task)).toMatchObject({ state: 'failed', dueAt: null })
  })

  test('is heard by every renewal, without any of them moving the time of the check', async () => {
    const { work, task, hold, now, pass } = await stalling()
    const { dueAt } = await work.record(task)
    pass(40 * SECOND)
    await work.progress(task, hold)
    pass(10 * SECOND)
    await work.renew(task, hold)
    expect((await work.record(task)).dueAt).toBe(dueAt)
    pass(10 * SECOND)
    const before = await work.record(task)
    expect(outcome(await work.elapse(task))).toBe('MOVED')
    expect(await work.record(task), 'a check is no sign of life').toEqual({
      ...before,
      version: before.version + 1,
      dueAt: now() + 50 * SECOND,
    })
    expect((await typesOf(work, task)).at(-1), 'nor an event').toBe('claim_renewed')
    pass(50 * SECOND)
    await work.elapse(task)
    expect((await work.record(task)).state).toBe('awaiting_retry')
  })

  test('gets a limit that the workspace sets while it works, from its next request on', async () => {
    const { work, task, hold, now, pass } = await begun()
    const stricter = work.through(new Combiner(withLimits(work.store, { stallTimeoutSeconds: 60 })))
    await stricter.renew(task, hold)
    expect((await work.record(task)).dueAt).toBe(now() + MINUTE)
    pass(MINUTE)
    await stricter.elapse(task)
    expect((await work.record(task)).state).toBe('awaiting_retry')
  })

  test('may be silent before it has started, for as long as its lease lasts', async () => {
    const { work, pass } = manualClock({ stallTimeoutSeconds: 60 })
    const task = await work.create()
    await work.claim(task, alpha, { leaseMs: HOUR })
    pass(30 * MINUTE)
    expect(outcome(await work.elapse(task))).toBe('NOTHING_DUE')
  })

  test('has the limit of the task if there is one, and only its lease if there is no limit', async () => {
    const own = await stalling({ timers: { stallMs: 5 * SECOND } })
    own.pass(5 * SECOND)
    expect(outcome(await own.work.elapse(own.task))).toBe('MOVED')
    const none = await begun()
    none.pass(9 * HOUR)
    expect(outcome(await none.work.elapse(none.task))).toBe('NOTHING_DUE')
  })
})

describe('a task that hangs', () => {
  const ESTIMATE = 10 * MINUTE
  /** Started, and now exactly as far beyond its estimate as makes it suspected. */
  async function suspected(more: Overrides = {}) {
    const one = await begun({ timers: { estimateMs: ESTIMATE }, ...more })
    one.pass(ESTIMATE + 30 * MINUTE)
    await one.work.renew(one.task, one.hold)
    await one.work.elapse(one.task)
    return one
  }
  const requests = async ({ work, task, hold }: Awaited<ReturnType<typeof suspected>>) =>
    (await work.renew(task, hold)).requests

  test('is suspected once its estimate and the grace are over, and that is recorded once', async () => {
    const { work, task, now, pass } = await begun({ timers: { estimateMs: ESTIMATE } })
    const doneBy = now() + ESTIMATE
    expect(await work.record(task)).toMatchObject({ timers: { doneBy }, dueAt: doneBy + 30 * MINUTE })
    pass(ESTIMATE + 30 * MINUTE - 1)
    expect(outcome(await work.elapse(task))).toBe('NOTHING_DUE')
    pass(1)
    await work.elapse(task)
    expect(await work.record(task)).toMatchObject({ state: 'running', timers: { suspectedAt: now() } })
    expect(await lastEvent(work, task)).toMatchObject({
      type: 'task_hang_suspected',
      payload: { ...alpha, doneBy },
    })
    pass(5 * MINUTE)
    await work.elapse(task)
    expect((await typesOf(work, task)).filter((type) => type === 'task_hang_suspected')).toHaveLength(1)
  })

  test('asks its holder for progress with every renewal from then on', async () => {
    const one = await begun({ timers: { estimateMs: ESTIMATE } })
    expect(await requests(one)).toEqual([])
    const hung = await suspected()
    const since = new Date(hung.now()).toISOString()
    const abortAt = new Date(hung.now() + 10 * MINUTE).toISOString()
    expect(await requests(hung)).toEqual([{ type: 'report_progress', since, abortAt }])
    hung.pass(MINUTE)
    expect(await requests(hung), 'being alive is no progress').toEqual([
      { type: 'report_progress', since, abortAt },
    ])
  })

  test('is revoked without progress, and comes back with a higher priority', async () => {
    const { work, task, hold, pass } = await suspected({ priority: 5 })
    pass(10 * MINUTE - 1)
    await work.renew(task, hold)
    expect(outcome(await work.elapse(task))).toBe('NOTHING_DUE')
    pass(1)
    await work.elapse(task)
    expect(await work.record(task)).toMatchObject({ state: 'awaiting_retry', priority: 6 })
    expect(await work.claims(task)).toMatchObject([{ state: 'expired', endReason: 'HUNG' }])
    expect(await lastEvent(work, task)).toMatchObject({
      type: 'task_hung',
      payload: { ...alpha, withoutProgressMs: 10 * MINUTE, priority: 6 },
    })
    // Found first, then something is done about it.
    const [found] = (await work.eventsOf(task)).slice(-2)
    expect(found).toMatchObject({
      type: 'stall_detected',
      payload: { entityType: 'task', entityId: task.uuid, stalledState: 'running', action: 'retry' },
    })
    expect(found!.at - (found!.payload.stalledSince as number)).toBe(10 * MINUTE)
    pass(MINUTE)
    await work.elapse(task)
    const { rank, updatedAt } = await work.record(task)
    expect(rank).toBe(updatedAt - 6 * PRIORITY_STEP_MS)
  })

  test('gets no higher priority when it is not retried', async () => {
    const { work, task, pass } = await suspected({ priority: 5, maxRetries: 0 })
    pass(10 * MINUTE)
    await work.elapse(task)
    expect(await work.record(task)).toMatchObject({ state: 'failed', priority: 5 })
    expect(await work.claims(task)).toMatchObject([{ endReason: 'HUNG' }])
  })

  test('never gets more than the highest priority', async () => {
    const { work, task, pass } = await suspected({ priority: 10 })
    pass(10 * MINUTE)
    await work.elapse(task)
    expect(await work.record(task)).toMatchObject({ state: 'awaiting_retry', priority: 10 })
  })

  test('has its whole time again with each report of progress', async () => {
    const one = await suspected()
    const { work, task, hold, now, pass } = one
    pass(9 * MINUTE)
    await work.progress(task, hold, { percent: 50 })
    const since = new Date(now() - 9 * MINUTE).toISOString()
    const abortAt = new Date(now() + 10 * MINUTE).toISOString()
    expect(await requests(one)).toEqual([{ type: 'report_progress', since, abortAt }])
    pass(10 * MINUTE - 1)
    await work.elapse(task)
    expect((await work.record(task)).state).toBe('running')
    pass(1)
    await work.elapse(task)
    expect((await work.record(task)).state).toBe('awaiting_retry')
  })

  test('is no longer suspected when its holder gives a new completion time, until that has passed too', async () => {
    const one = await suspected()
    const { work, task, hold, now, pass } = one
    const doneBy = now() + HOUR
    await work.progress(task, hold, { doneBy })
    expect(await requests(one)).toEqual([])
    expect(watchOf(await work.record(task))).toEqual({ estimateMs: ESTIMATE, doneBy, progressAt: now() })
    expect(await lastEvent(work, task)).not.toMatchObject({ type: 'task_hung' })
    pass(HOUR + 29 * MINUTE)
    await work.elapse(task)
    expect((await work.record(task)).timers).not.toHaveProperty('suspectedAt')
    pass(MINUTE)
    await work.elapse(task)
    expect((await work.record(task)).timers).toHaveProperty('suspectedAt', now())
  })

  test('does not affect the next holder, which has the whole time', async () => {
    const { work, task, hold, now } = await suspected()
    await work.release(task, hold)
    const next = granted(await work.claim(task, beta))
    expect(watchOf(await work.record(task))).toEqual({ estimateMs: ESTIMATE })
    await work.start(task, next)
    expect(watchOf(await work.record(task))).toEqual({ estimateMs: ESTIMATE, doneBy: now() + ESTIMATE })
  })
})

describe('progress', () => {
  test('with a completion time in the past is refused, and nothing of it is stored', async () => {
    const { work, task, hold, now } = await begun()
    const before = await work.record(task)
    const reply = await work.progress(task, hold, { percent: 9, doneBy: now() - 1 })
    expect(reply).toMatchObject({ code: 'VALIDATION_FAILED', errors: [{ field: 'estimatedCompletionAt' }] })
    expect(await work.record(task)).toEqual(before)
    expect((await work.details(task)).progressPercent ?? null).toBeNull()
    expect(outcome(await work.progress(task, hold, { doneBy: now() }))).toBe('NOTED')
  })

  test('for another version of the task is refused, after the fence', async () => {
    const { work, task, hold } = await begun()
    const { version } = await work.record(task)
    expect(await work.progress(task, hold, { ifVersion: version - 1 })).toMatchObject({
      code: 'VERSION_MISMATCH',
      currentVersion: version,
    })
    const stale = { ...hold, generation: 0 }
    expect(outcome(await work.progress(task, stale, { ifVersion: version - 1 }))).toBe('STALE_GENERATION')
    expect(outcome(await work.progress(task, hold, { ifVersion: version }))).toBe('NOTED')
  })
})

test('a verdict has the time limit of the task, or else of the workspace', async () => {
  const { work, now, pass } = manualClock({ verifyTimeoutSeconds: 7 })
  for (const [timers, ms] of [
    [null, 7 * SECOND],
    [{ verifyMs: MINUTE }, MINUTE],
  ] as const) {
    const task = await work.create({ verification: 'verifier', timers })
    await work.submit(task, granted(await work.claim(task, alpha)))
    expect(await work.record(task)).toMatchObject({ state: 'verifying', dueAt: now() + ms })
    pass(ms)
    await work.elapse(task)
    expect((await work.record(task)).state).toBe('awaiting_human')
  }
})

describe('the backoff after a holder was lost', () => {
  const anAttempt = fc.integer({ min: 1, max: 12 })

  test('is a quarter more or less than the usual one, and never longer than the longest', () => {
    fc.assert(
      fc.property(anAttempt, fc.nat(), fc.integer({ min: 1, max: 100 }), (attempt, id, generation) => {
        const waitMs = spreadBackoffMs(attempt, id, generation)
        expect(waitMs).toBeGreaterThanOrEqual(backoffMs(attempt) * 0.75)
        expect(waitMs).toBeLessThanOrEqual(Math.min(backoffMs(attempt) * 1.25, 300_000))
        expect(Number.isInteger(waitMs)).toBe(true)
        expect(spreadBackoffMs(attempt, id, generation)).toBe(waitMs)
      }),
    )
  })

  test.each([1, 6])('spreads a thousand tasks that were lost at attempt %i', (attempt) => {
    const waits = Array.from({ length: 1_000 }, (_, id) => spreadBackoffMs(attempt, id + 1, attempt))
    const [shortest, longest] = [Math.min(...waits), Math.max(...waits)]
    const inTenths = new Array(10).fill(0)
    for (const wait of waits)
      inTenths[Math.min(9, Math.floor(((wait - shortest) / (longest - shortest)) * 10))]++
    expect(longest - shortest).toBeGreaterThan(backoffMs(attempt) * 0.24)
    for (const count of inTenths) expect(count).toBeGreaterThan(50)
  })

  test('differs from one generation of a task to the next', () => {
    const waits = new Set(Array.from({ length: 50 }, (_, generation) => spreadBackoffMs(5, 1, generation)))
    expect(waits.size).toBeGreaterThan(40)
  })
})

describe('shortest first', () => {
  test('among equals shorter work comes first, and work without an estimate counts as half an hour', async () => {
    const { work } = manualClock({ queueOrder: 'shortest_first' })
    const long = await work.create({ timers: { estimateMs: HOUR } })
    const unknown = await work.create()
    const short = await work.create({ timers: { estimateMs: 5 * MINUTE } })
    const order = grantedTasks(await work.next(alpha, { limit: 3 })).map(({ id }) => id)
    expect(order).toEqual([short.id, unknown.id, long.id])
  })

  test('long work ages past newer short work', async () => {
    const { work, pass } = manualClock({ queueOrder: 'shortest_first' })
    const long = await work.create({ timers: { estimateMs: HOUR } })
    pass(HOUR)
    await work.create({ timers: { estimateMs: MINUTE } })
    expect(grantedTasks(await work.next(alpha)).map(({ id }) => id)).toEqual([long.id])
  })

  test('applies to whatever is requeued, and a new priority keeps the effect of the estimate', async () => {
    const { work, now } = manualClock({ queueOrder: 'shortest_first' })
    const task = await work.create({ timers: { estimateMs: MINUTE } })
    await work.release(task, granted(await work.claim(task, alpha)))
    expect((await work.record(task)).rank).toBe(placeInQueue('shortest_first', now(), 5, MINUTE))
    await work.update(task, { priority: 8 })
    expect((await work.record(task)).rank).toBe(placeInQueue('shortest_first', now(), 8, MINUTE))
  })

  test('by priority alone, no estimate counts', async () => {
    const { work } = manualClock()
    const long = await work.create({ timers: { estimateMs: HOUR } })
    await work.create({ timers: { estimateMs: MINUTE } })
    expect(grantedTasks(await work.next(alpha)).map(({ id }) => id)).toEqual([long.id])
  })
})

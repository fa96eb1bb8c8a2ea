import { describe, expect, test } from 'vitest'
import type { FailureClass } from '../../../src/kinds/task/rules/retry.ts'
import { backoffMs, spreadBackoffMs } from '../../../src/kinds/task/rules/retry.ts'
import { manualClock } from '../../support/manual-clock.ts'
import { partsOf } from '../../support/parts.ts'
import { promotion, rejectedResult } from '../../support/rejected.ts'
import {
  granted,
  grantedTasks,
  type Hold,
  holder,
  LONG_LEASE_MS,
  newTask,
  outcome,
  type Task,
  type Work,
} from '../../support/tasks.ts'

const alpha = holder('alpha')
const beta = holder('beta')
const SECOND = 1_000
const MINUTE = 60_000

const lastEvent = async (work: Work, task: Task) => (await work.eventsOf(task)).at(-1)!

describe('a task with an expiry time', () => {
  async function expiring(afterMs = MINUTE) {
    const clock = manualClock()
    const task = await clock.work.create({ expiresAt: clock.now() + afterMs })
    return { ...clock, task }
  }

  test('is cancelled when that time comes and it still waits, not before', async () => {
    const { work, task, pass, now } = await expiring()
    pass(MINUTE - 1)
    expect(outcome(await work.elapse(task))).toBe('NOTHING_DUE')
    pass(1)
    expect(outcome(await work.elapse(task))).toBe('MOVED')
    expect(await work.record(task)).toMatchObject({
      state: 'cancelled',
      rank: null,
      dueAt: null,
      generation: 0,
    })
    expect(await lastEvent(work, task)).toMatchObject({ type: 'task_expired', payload: { expiresAt: now() } })
    expect(outcome(await work.elapse(task)), 'once').toBe('NOTHING_DUE')
  })

  test('is found expired by the first claim on it', async () => {
    const { work, task, pass } = await expiring()
    pass(MINUTE)
    expect(await work.claim(task, alpha)).toMatchObject({ code: 'NOT_READY', taskState: 'cancelled' })
    expect(await work.record(task)).toMatchObject({ state: 'cancelled', generation: 0 })
    expect(await lastEvent(work, task)).toMatchObject({ type: 'task_expired' })
  })

  test('is found expired by next, which returns the task behind it', async () => {
    const { work, task, pass } = await expiring()
    const fresh = await work.create()
    pass(MINUTE)
    expect(grantedTasks(await work.next(alpha, { limit: 2 })).map(({ id }) => id)).toEqual([fresh.id])
    expect(await work.record(task)).toMatchObject({ state: 'cancelled' })
  })

  test('is not revoked from its holder, and is cancelled when it comes back too late', async () => {
    const { work, task, pass } = await expiring()
    const hold = granted(await work.claim(task, alpha))
    expect((await work.record(task)).dueAt).toBeNull()
    pass(MINUTE)
    expect(outcome(await work.elapse(task))).toBe('NOTHING_DUE')
    await work.release(task, hold)
    expect(await work.record(task)).toMatchObject({ state: 'queued' })
    expect(outcome(await work.elapse(task))).toBe('MOVED')
    expect(await work.record(task)).toMatchObject({ state: 'cancelled' })
  })

  test('is completed by a holder that started in time', async () => {
    const { work, task, pass } = await expiring()
    const hold = granted(await work.claim(task, alpha))
    pass(MINUTE)
    expect(outcome(await work.submit(task, hold))).toBe('ACCEPTED')
  })

  test('does not expire while it is paused or waits for others, only in the queue', async () => {
    const { work, task, pass, now } = await expiring()
    const upstream = await work.create()
    const blocked = await work.create({ expiresAt: now() + MINUTE }, [upstream])
    await work.pause(task)
    pass(MINUTE)
    for (const one of [task, blocked]) expect(outcome(await work.elapse(one))).toBe('NOTHING_DUE')
    await work.resume(task)
    expect(outcome(await work.elapse(task))).toBe('MOVED')
    expect(await work.record(task)).toMatchObject({ state: 'cancelled' })
  })

  test('is due at its expiry time each time it is queued', async () => {
    const { work, task, pass } = await expiring(60 * MINUTE)
    const { expiresAt } = task
    const isDue = async () =>
      expect(await work.record(task)).toMatchObject({ state: 'queued', dueAt: expiresAt })
    await isDue()
    await work.release(task, granted(await work.claim(task, alpha)))
    await isDue()
    await work.fail(task, granted(await work.claim(task, alpha)))
    pass(MINUTE)
    await work.elapse(task)
    await isDue()
    await work.pause(task)
    await work.resume(task)
    await isDue()
    await work.cancel(task)
    await work.reset(task)
    await isDue()
  })
})

describe('a failure by timeout', () => {
  const failed = async (work: Work, task: Task, leaseMs: number) => {
    await work.elapse(task)
    const hold = granted(await work.claim(task, alpha, { leaseMs }))
    const { leaseMs: had } = await work.record(task)
    await work.fail(task, hold, 'timeout')
    return had
  }

  test('gives the next holder twice the time, up to the limit of the workspace', async () => {
    const { work, pass } = manualClock({ maxLeaseSeconds: 200 })
    const task = await work.create({ maxRetries: 9 })
    const leases: number[] = []
    for (let i = 0; i < 4; i++) {
      leases.push((await failed(work, task, 60 * SECOND)) / SECOND)
      pass(10 * MINUTE)
    }
    expect(leases).toEqual([60, 120, 200, 200])
  })

  test('takes nothing from a holder that asks for more', async () => {
    const { work, pass } = manualClock()
    const task = await work.create({ maxRetries: 9 })
    await failed(work, task, 60 * SECOND)
    pass(10 * MINUTE)
    expect(await failed(work, task, 600 * SECOND)).toBe(600 * SECOND)
  })

  test('is retried with backoff as long as there are attempts', async () => {
    const { work, now } = manualClock()
    const task = await work.create({ maxRetries: 1 })
    await failed(work, task, MINUTE)
    expect(await work.record(task)).toMatchObject({ state: 'awaiting_retry', dueAt: now() + backoffMs(1) })
    expect(await work.details(task)).toMatchObject({ failureClass: 'timeout', exhausted: null })
  })
})

describe('a failure by lack of memory', () => {
  test('is final at once, and no dead letter', async () => {
    const { work } = manualClock()
    const task = await work.create({ maxRetries: 9 })
    await work.fail(task, granted(await work.claim(task, alpha)), 'out_of_memory', 'heap')
    expect(await work.record(task)).toMatchObject({ state: 'failed', attempt: 1, claimState: 'error' })
    const types = (await work.eventsOf(task)).slice(-1)
    expect(types).toMatchObject([
      { type: 'task_failed', payload: { failureClass: 'out_of_memory', reason: 'out_of_memory' } },
    ])
    expect(await work.details(task)).toMatchObject({
      error: 'heap',
      failureClass: 'out_of_memory',
      exhausted: null,
    })
  })
})

describe('the description of a failure', () => {
  test.each<[FailureClass, number, string | null]>([
    ['infrastructure', 0, 'attempts'],
    ['infrastructure', 1, null],
    ['invalid', 0, null],
  ])(
    'exists after %s with %i retries, and says what ran out: %s',
    async (failureClass, maxRetries, ranOut) => {
      const { work } = manualClock()
      const task = await work.create({ maxRetries })
      await work.fail(task, granted(await work.claim(task, alpha)), failureClass, 'no luck')
      expect(await work.details(task)).toMatchObject({ failureClass, error: 'no luck', exhausted: ranOut })
    },
  )

  test('is no longer a dead letter when it is retried', async () => {
    const { work } = manualClock()
    const task = await work.create({ maxRetries: 0 })
    await work.fail(task, granted(await work.claim(task, alpha)))
    await work.retry(task)
    expect((await work.details(task)).exhausted).toBeNull()
  })
})

describe('a stall', () => {
  const stall = (work: Work, task: Task, silentMs: number) =>
    work.command(task, { kind: 'stall', silentMs }, 'key:ops')
  async function held() {
    const clock = manualClock()
    const task = await clock.work.create()
    const hold = granted(await clock.work.claim(task, alpha, { leaseMs: 10 * MINUTE }))
    return { ...clock, task, hold }
  }

  test('revokes the task from a holder without a sign of life for so long, whatever its lease', async () => {
    const { work, task, pass, now } = await held()
    pass(MINUTE - 1)
    expect(outcome(await stall(work, task, MINUTE))).toBe('NOTHING_DUE')
    pass(1)
    expect(outcome(await stall(work, task, MINUTE))).toBe('MOVED')
    expect(await work.record(task)).toMatchObject({
      state: 'awaiting_retry',
      claimState: 'expired',
      dueAt: now() + spreadBackoffMs(1, task.id, 1),
    })
    expect(await lastEvent(work, task)).toMatchObject({
      type: 'task_stalled',
      actor: 'key:ops',
      payload: { ...alpha, silentMs: MINUTE },
    })
    expect(await work.claims(task)).toMatchObject([{ endReason: 'STALLED' }])
  })

  test.each<[string, (work: Work, task: Task, hold: Hold) => Promise<unknown>]>([
    ['renews', (work, task, hold) => work.renew(task, hold)],
    ['starts', (work, task, hold) => work.start(task, hold)],
    ['reports progress', (work, task, hold) => work.progress(task, hold)],
  ])('is none when the holder %s', async (_what, act) => {
    const { work, task, hold, pass } = await held()
    pass(MINUTE - 1)
    await act(work, task, hold)
    pass(1)
    expect(outcome(await stall(work, task, MINUTE))).toBe('NOTHING_DUE')
  })

  test('is none for a task without a holder, and an expired lease stays an expired lease', async () => {
    const { work, task, pass } = await held()
    const waiting = await work.create()
    pass(10 * MINUTE)
    expect(outcome(await stall(work, waiting, 0))).toBe('NOTHING_DUE')
    expect(outcome(await stall(work, task, MINUTE))).toBe('MOVED')
    expect(await work.claims(task)).toMatchObject([{ endReason: 'EXPIRED' }])
  })

  test('spends the attempt, and the last one leaves a dead letter', async () => {
    const { work, pass } = manualClock()
    const task = await work.create({ maxRetries: 0 })
    granted(await work.claim(task, alpha))
    pass(MINUTE)
    await stall(work, task, MINUTE)
    expect(await work.record(task)).toMatchObject({ state: 'failed', dueAt: null })
    expect(await work.details(task)).toMatchObject({ failureClass: 'infrastructure', exhausted: 'attempts' })
  })

  test('leaves the holder the chance of a late result', async () => {
    const { work, task, hold, pass } = await held()
    pass(MINUTE)
    await stall(work, task, MINUTE)
    expect(outcome(await work.submit(task, hold))).toBe('ACCEPTED')
  })
})

describe('a rejected result', () => {
  const accepted = async (work: Work, task: Task) =>
    (await work.results(task)).filter((result) => result.accepted).map(({ data, epoch }) => [data, epoch])

  const SITUATIONS: Record<string, (work: Work, task: Task, pass: (ms: number) => void) => Promise<unknown>> =
    {
      queued: async () => undefined,
      held: (work, task) => work.claim(task, beta),
      'held with an expired lease': async (work, task, pass) => {
        await work.claim(task, beta)
        pass(LONG_LEASE_MS)
      },
      failed: async (work, task) => work.fail(task, granted(await work.claim(task, beta)), 'invalid'),
      cancelled: (work, task) => work.cancel(task),
      paused: (work, task) => work.pause(task),
      'divided and waits for its parts': (work, task) => work.createAll(partsOf(task, 1)),
      'completed with another result': async (work, task) =>
        work.submit(task, granted(await work.claim(task, beta)), 'another'),
      'reset since': async (work, task) => {
        await work.cancel(task)
        await work.reset(task)
      },
      'completed and reset since': async (work, task) => {
        await work.submit(task, granted(await work.claim(task, beta)), 'another')
        await work.reset(task)
      },
    }

  test.each(Object.entries(SITUATIONS))('is promoted when the task is %s', async (_what, arrange) => {
    const { work, pass } = manualClock()
    const task = await work.create()
    const late = await rejectedResult(work, task, alpha)
    await arrange(work, task, pass)
    const before = await work.record(task)
    expect(outcome(await work.command(task, promotion(late)))).toBe('PROMOTED')
    const { state, resultHash, generation, epoch, blocked } = await work.record(task)
    expect({ state, resultHash, generation, epoch, blocked }).toEqual({
      state: 'completed',
      blocked: false,
      resultHash: late.hash,
      generation: before.generation,
      epoch: before.epoch,
    })
    expect((await accepted(work, task)).filter(([, of]) => of === epoch)).toEqual([['too late', epoch]])
    expect((await work.store.counts(work.workspace)).activeClaims).toBe(0)
    expect(await lastEvent(work, task)).toMatchObject({
      type: 'task_result_promoted',
      to: 'completed',
      payload: {
        promotedGeneration: 1,
        promotedSession: alpha.session,
        replaced: before.state === 'completed',
      },
    })
  })

  test('that replaces another rejects that one', async () => {
    const { work } = manualClock()
    const task = await work.create()
    const late = await rejectedResult(work, task, alpha)
    await work.submit(task, granted(await work.claim(task, beta)), 'another')
    await work.command(task, promotion(late))
    expect(await work.results(task)).toMatchObject([
      { data: 'too late', accepted: true, rejection: null },
      { data: 'another', accepted: false, rejection: 'REPLACED' },
    ])
  })

  test('ends the claim of the current holder, which learns it from its next request', async () => {
    const { work } = manualClock()
    const task = await work.create()
    const late = await rejectedResult(work, task, alpha)
    const hold = granted(await work.claim(task, beta))
    await work.command(task, promotion(late))
    expect((await work.claims(task)).at(-1)).toMatchObject({ state: 'superseded', endReason: 'PROMOTED' })
    expect(outcome(await work.renew(task, hold))).toBe('NO_CLAIM')
    expect(outcome(await work.submit(task, hold, 'mine'))).toBe('TASK_ALREADY_COMPLETED')
    expect(await accepted(work, task)).toEqual([['too late', 1]])
  })

  test('replaces a result that waits for its verdict', async () => {
    const { work } = manualClock()
    const task = await work.create({ verification: 'human' })
    const late = await rejectedResult(work, task, alpha)
    await work.submit(task, granted(await work.claim(task, beta)), 'to be approved')
    await work.command(task, promotion(late))
    expect(await work.results(task)).toMatchObject([
      { accepted: true },
      { accepted: false, rejection: 'REPLACED' },
    ])
    expect(outcome(await work.approve(task))).toBe('WRONG_STATE')
  })

  test('promoted twice is promoted once, and then another may be', async () => {
    const { work } = manualClock()
    const task = await work.create()
    const [one, two] = [await rejectedResult(work, task, alpha, 1), await rejectedResult(work, task, beta, 2)]
    await work.command(task, promotion(one))
    await work.command(task, promotion(one))
    expect(await accepted(work, task)).toEqual([[1, 1]])
    await work.command(task, promotion(two))
    expect(await accepted(work, task)).toEqual([[2, 1]])
    await work.command(task, promotion(one))
    expect(await accepted(work, task)).toEqual([[1, 1]])
  })
})

test('in a batch that expires, claims and divides, each task gets one outcome', async () => {
  const { work, now, pass } = manualClock()
  const [expired, fresh] = await work.createAll([newTask({ expiresAt: now() + 1 }), newTask()])
  pass(1)
  const [elapsed, claimed, again] = await Promise.all([
    work.elapse(expired!),
    work.claim(expired!, alpha),
    work.claim(fresh!, alpha),
  ])
  expect([elapsed, claimed, again].map(outcome)).toEqual(['MOVED', 'NOT_READY', 'GRANTED'])
})

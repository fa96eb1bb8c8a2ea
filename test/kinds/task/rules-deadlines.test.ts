import { describe, expect, test } from 'vitest'
import { manualClock } from '../../support/manual-clock.ts'
import { commandMission, createMission, missionIn, missionTask } from '../../support/missions.ts'
import { granted, holder, type Overrides, outcome, type Task, type Work } from '../../support/tasks.ts'

/** How long one attempt may take, and how long all of them together. */

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const alpha = holder('alpha')
const LEASE = { leaseMs: 100 * HOUR }
const lastEvent = async (work: Work, task: Task) => (await work.eventsOf(task)).at(-1)!
const isDue = async (work: Work, task: Task) =>
  (await work.store.dueTasks(100)).some(({ uuid }) => uuid === task.uuid)

async function begun(more: Overrides) {
  const clock = manualClock()
  const task = await clock.work.create(more)
  const hold = granted(await clock.work.claim(task, alpha, LEASE))
  await clock.work.start(task, hold)
  return { ...clock, task, hold }
}

describe('an attempt', () => {
  test('that takes too long is over, however alive its holder is, and the task is tried again', async () => {
    const { work, pass, task, hold } = await begun({ timers: { attemptMs: 10 * MINUTE } })
    pass(10 * MINUTE - 1)
    expect(outcome(await work.progress(task, hold, { percent: 99 }))).toBe('NOTED')
    expect(outcome(await work.elapse(task))).toBe('NOTHING_DUE')
    pass(1)
    expect(await isDue(work, task)).toBe(true)
    expect(outcome(await work.elapse(task))).toBe('MOVED')
    expect(await work.record(task)).toMatchObject({
      state: 'awaiting_retry',
      claimState: 'expired',
      attempt: 1,
    })
    expect(await lastEvent(work, task)).toMatchObject({
      type: 'task_retrying',
      payload: { failureClass: 'timeout', error: 'The attempt was not done within 600 s.', attempt: 1 },
    })
    expect((await work.claims(task))[0]).toMatchObject({ endReason: 'TIMED_OUT' })
    expect(await work.details(task)).toMatchObject({ failureClass: 'timeout' })
  })

  test('gets twice the time after one that took too long, and at most eight times', async () => {
    const { work, pass, task, now } = await begun({ timers: { attemptMs: MINUTE }, maxRetries: 9 })
    for (const minutes of [1, 2, 4, 8, 8]) {
      const endsAt = now() + minutes * MINUTE
      expect(await work.record(task)).toMatchObject({ timers: { attemptMs: MINUTE, attemptEndsAt: endsAt } })
      pass(minutes * MINUTE - 1)
      expect(outcome(await work.elapse(task))).toBe('NOTHING_DUE')
      pass(1)
      expect(outcome(await work.elapse(task))).toBe('MOVED')
      const error = `The attempt was not done within ${minutes * 60} s.`
      expect(await work.details(task)).toMatchObject({ failureClass: 'timeout', error })
      pass(HOUR)
      await work.start(task, granted(await work.claim(task, alpha, LEASE)))
    }
  })

  test('counts from its start, and its continuations are part of it', async () => {
    const { work, pass, now, task, hold } = await begun({ timers: { attemptMs: 10 * MINUTE } })
    const endsAt = now() + 10 * MINUTE
    pass(6 * MINUTE)
    await work.continueLater(task, hold)
    await work.start(task, hold)
    expect((await work.record(task)).dueAt).toBe(endsAt)
    pass(4 * MINUTE)
    await work.elapse(task)
    pass(MINUTE)
    const next = granted(await work.claim(task, alpha, LEASE))
    pass(HOUR)
    expect(outcome(await work.elapse(task))).toBe('NOTHING_DUE')
    await work.start(task, next)
    expect((await work.record(task)).dueAt, 'twice the time').toBe(now() + 20 * MINUTE)
  })

  test('that was the last one fails the task', async () => {
    const { work, pass, task } = await begun({ timers: { attemptMs: MINUTE }, maxRetries: 0 })
    pass(MINUTE)
    await work.elapse(task)
    expect(await lastEvent(work, task)).toMatchObject({
      type: 'task_failed',
      payload: { failureClass: 'timeout', reason: 'attempts' },
    })
  })
})

const FAILED = {
  failureClass: 'timeout',
  reason: 'deadline',
  error: 'The task was not done within its 3600 s.',
}

describe('at its deadline', () => {
  const timers = { deadlineMs: HOUR }
  const failsNow = async (work: Work, task: Task) => {
    expect(await isDue(work, task)).toBe(true)
    await work.elapse(task)
    expect(await lastEvent(work, task)).toMatchObject({ type: 'task_failed', payload: FAILED })
  }

  test('a queued task fails, and not before', async () => {
    const { work, pass } = manualClock()
    const task = await work.create({ timers })
    pass(HOUR - 1)
    expect(await isDue(work, task)).toBe(false)
    expect(outcome(await work.elapse(task))).toBe('NOTHING_DUE')
    pass(1)
    await failsNow(work, task)
  })

  test('a task that waits for its retry fails, whenever that would be', async () => {
    const { work, pass, task, hold } = await begun({ timers, maxRetries: 9 })
    pass(HOUR - SECOND)
    await work.fail(task, hold)
    pass(SECOND)
    await failsNow(work, task)
  })

  test.each(['assigned', 'running', 'continuing'])(
    'one that is %s fails, and its claim is over',
    async (state) => {
      const { work, pass } = manualClock()
      const task = await work.create({ timers })
      const hold = granted(await work.claim(task, alpha, LEASE))
      if (state !== 'assigned') await work.start(task, hold)
      if (state === 'continuing') await work.continueLater(task, hold)
      pass(HOUR - 1)
      expect(outcome(await work.renew(task, hold))).toBe('RENEWED')
      pass(1)
      await failsNow(work, task)
      expect((await work.claims(task))[0]).toMatchObject({ endReason: 'DEADLINE' })
      expect(outcome(await work.submit(task, hold))).toBe('NO_CLAIM')
    },
  )

  test('a claim that comes before upkeep is refused', async () => {
    const { work, pass } = manualClock()
    const task = await work.create({ timers })
    pass(HOUR)
    expect(outcome(await work.claim(task, alpha))).toBe('NOT_READY')
    expect((await work.record(task)).state).toBe('failed')
  })

  test('it counts from the first time the task is queued: what it waits for does not count', async () => {
    const { work, pass } = manualClock()
    const first = await work.create()
    const task = await work.create({ timers }, [first])
    pass(10 * HOUR)
    await work.submit(first, granted(await work.claim(first, alpha)))
    await work.unblock(task)
    pass(HOUR - 1)
    expect(outcome(await work.elapse(task))).toBe('NOTHING_DUE')
    pass(1)
    await failsNow(work, task)
  })

  test('the time while a person has it does not count', async () => {
    const { work, pass } = manualClock()
    const task = await work.create({ timers, verification: 'human' })
    pass(20 * MINUTE)
    await work.pause(task)
    pass(5 * HOUR)
    await work.resume(task)
    pass(20 * MINUTE)
    await work.submit(task, granted(await work.claim(task, alpha)))
    pass(5 * HOUR)
    await work.reject(task, 'again')
    pass(20 * MINUTE - 1)
    await work.elapse(task)
    expect((await work.record(task)).state).toBe('queued')
    pass(1)
    await failsNow(work, task)
  })

  test('a task that is reset or retried has all its time again', async () => {
    const { work, pass } = manualClock()
    const task = await work.create({ timers })
    for (const again of ['retry', 'reset'] as const) {
      pass(HOUR)
      await failsNow(work, task)
      await work[again](task)
      pass(HOUR - 1)
      expect(outcome(await work.elapse(task))).toBe('NOTHING_DUE')
      pass(1 - HOUR)
    }
  })

  test('an expiry that comes first still cancels a queued task', async () => {
    const { work, pass, now } = manualClock()
    const task = await work.create({ timers, expiresAt: now() + MINUTE })
    pass(MINUTE)
    await work.elapse(task)
    expect((await work.record(task)).state).toBe('cancelled')
  })
})

describe('while the gate of its mission is closed', () => {
  async function inMission() {
    const clock = manualClock()
    const { work } = clock
    const mission = missionIn(
      await createMission(work, (id) => [missionTask(id, { timers: { deadlineMs: HOUR } }), missionTask(id)]),
    )
    const all = await work.events()
    const { taskId } = all.find(({ type }) => type === 'task_created')!
    return { ...clock, mission, task: await work.record({ id: taskId! }) }
  }

  test('the clock of a deadline is stopped, also of a task that nothing touches in the meantime', async () => {
    const { work, pass, mission, task } = await inMission()
    pass(20 * MINUTE)
    await commandMission(work, mission.uuid, { kind: 'pause', reason: null })
    pass(5 * HOUR)
    expect(outcome(await work.elapse(task))).toBe('MOVED')
    expect((await work.record(task)).state).toBe('queued')
    expect(await isDue(work, task)).toBe(false)
    await commandMission(work, mission.uuid, { kind: 'resume' })
    pass(40 * MINUTE - 1)
    await work.elapse(task)
    expect((await work.record(task)).state).toBe('queued')
    pass(1)
    await work.elapse(task)
    expect(await lastEvent(work, task)).toMatchObject({ type: 'task_failed', payload: FAILED })
  })

  test('also when it was closed and opened again before the deadline', async () => {
    const { work, pass, mission, task } = await inMission()
    await commandMission(work, mission.uuid, { kind: 'pause', reason: null })
    pass(30 * MINUTE)
    await commandMission(work, mission.uuid, { kind: 'resume' })
    pass(HOUR - 1)
    await work.elapse(task)
    expect((await work.record(task)).state).toBe('queued')
    pass(1)
    await work.elapse(task)
    expect((await work.record(task)).state).toBe('failed')
  })
})

import { describe, expect, test } from 'vitest'
import { EVENTS } from '../../../src/kinds/catalogue.ts'
import { retriesLeft } from '../../../src/kinds/task/rules/retry.ts'
import { manualClock } from '../../support/manual-clock.ts'
import { granted, holder, type Overrides, type Task, type Work } from '../../support/tasks.ts'

/** What the events of a failure say (Automatos 6.2): retries left, how long the claim was held, and what kind of error it was. */

const MINUTE = 60_000
const alpha = holder('alpha')

const lastEvent = async (work: Work, task: Task) => (await work.eventsOf(task)).at(-1)!

async function held(more: Overrides = {}, leaseMs = 600 * MINUTE) {
  const clock = manualClock()
  const task = await clock.work.create(more)
  const hold = granted(await clock.work.claim(task, alpha, { leaseMs }))
  await clock.work.start(task, hold)
  return { ...clock, task, hold }
}

describe('the event of a failure', () => {
  test('says how many retries are left, after each attempt and after the last one', async () => {
    const { work, pass, task, hold } = await held({ maxRetries: 2 })
    const left: unknown[] = []
    for (let by = hold; ; by = granted(await work.claim(task, alpha))) {
      await work.fail(task, by)
      const { type, payload } = await lastEvent(work, task)
      left.push([type, payload.retriesRemaining])
      if (type === 'task_failed') break
      pass(60 * MINUTE)
    }
    expect(left).toEqual([
      ['task_retrying', 2],
      ['task_retrying', 1],
      ['task_failed', 0],
    ])
  })

  test('says how many retries a task had left that no retry would help', async () => {
    const { work, task, hold } = await held({ maxRetries: 3 })
    await work.fail(task, hold, 'invalid')
    const { type, payload } = await lastEvent(work, task)
    expect([type, payload.retriesRemaining]).toEqual(['task_failed', 3])
  })

  test('does not count an attempt that was not spent', async () => {
    const { work, task, hold } = await held({ maxRetries: 2 })
    await work.fail(task, hold, 'rate_limited')
    expect((await lastEvent(work, task)).payload).toMatchObject({ retriesRemaining: 2, attemptsSpent: 0 })
    expect([retriesLeft(0, 2), retriesLeft(1, 2), retriesLeft(3, 2), retriesLeft(9, 2)]).toEqual([2, 2, 0, 0])
  })

  test('of a rejected result says it too, and has no duration: its claim was over', async () => {
    const { work, task, hold } = await held({ maxRetries: 1, verification: 'human' })
    await work.submit(task, hold)
    await work.reject(task, 'no')
    const { type, payload } = await lastEvent(work, task)
    expect([type, payload.retriesRemaining]).toEqual(['task_human_rejected', 1])
    expect(payload).not.toHaveProperty('durationMs')
  })

  test('has what the run used that led to it: model, tokens and cost', async () => {
    const spent = { runId: 'r-1', model: 'm-1', tokens: 9, costUsd: '0.5', errorType: 'nonzero_exit' }
    const { work, pass, task, hold } = await held({ maxRetries: 1 })
    const fence = { session: hold.session, generation: hold.generation }
    await work.command(task, { kind: 'continue', fence, spent }, 'agent:alpha')
    const seen = [await lastEvent(work, task)]
    const failure = { kind: 'fail', failureClass: 'infrastructure', error: 'broken', spent } as const
    await work.command(task, { ...failure, fence }, 'agent:alpha')
    seen.push(await lastEvent(work, task))
    pass(60 * MINUTE)
    const { session, generation } = granted(await work.claim(task, alpha))
    await work.command(task, { ...failure, fence: { session, generation } }, 'agent:alpha')
    seen.push(await lastEvent(work, task))
    expect(seen.map(({ type }) => type)).toEqual(['task_continuing', 'task_retrying', 'task_failed'])
    for (const { payload } of seen) expect(payload).toMatchObject(spent)
    const failed = { failureClass: 'infrastructure', error: 'broken' }
    expect(seen.slice(1).map(({ payload }) => payload)).toMatchObject([
      { ...failed, attempt: 1 },
      { ...failed, attempt: 2 },
    ])
  })

  test('says how long the claim was held', async () => {
    const { work, pass, task, hold } = await held()
    pass(7 * MINUTE)
    await work.fail(task, hold, 'quality')
    expect((await lastEvent(work, task)).payload.durationMs).toBe(7 * MINUTE)
  })

  test('of a lost holder has the type of the error and how long it was held', async () => {
    const { work, pass, task } = await held({}, 10 * MINUTE)
    pass(11 * MINUTE)
    await work.elapse(task)
    const { type, payload } = await lastEvent(work, task)
    expect(type).toBe('task_lease_expired')
    expect(payload).toMatchObject({
      errorType: 'lease_expired',
      durationMs: 11 * MINUTE,
      retriesRemaining: 3,
    })
  })

  test('keeps the type of the error where the lost holder had the last attempt', async () => {
    const { work, pass, task } = await held({ maxRetries: 0 }, 10 * MINUTE)
    pass(10 * MINUTE)
    await work.elapse(task)
    const { type, payload } = await lastEvent(work, task)
    expect(type).toBe('task_failed')
    expect(payload).toMatchObject({
      errorType: 'lease_expired',
      durationMs: 10 * MINUTE,
      retriesRemaining: 0,
    })
  })

  test.each([
    ['timeout', { attemptMs: 5 * MINUTE }, 'task_retrying'],
    ['deadline', { deadlineMs: 5 * MINUTE }, 'task_failed'],
    ['stalled', { stallMs: 5 * MINUTE }, 'task_stalled'],
  ] as const)('names %s as the type of its error', async (errorType, timers, expected) => {
    const { work, pass, task } = await held({ timers })
    pass(5 * MINUTE)
    await work.elapse(task)
    const { type, payload } = await lastEvent(work, task)
    expect(type).toBe(expected)
    expect(payload).toMatchObject({ errorType, durationMs: 5 * MINUTE })
  })
})

test.each([
  ['task_retrying', { failureClass: 'quality', error: null, attempt: 1, dueAt: 5, waitMs: 5 }],
  ['task_failed', { reason: 'attempts', attempt: 3 }],
  ['task_lease_expired', { agent: 'a', session: 's', attempt: 1, leaseExpiredAt: 5 }],
  ['task_verification_started', { verifier: 'v', verification: 'id', attempt: 1 }],
  ['mission_planning_started', { missionId: 'm', agent: null }],
] as const)('%s of earlier versions, without these fields, can be read', (type, payload) => {
  expect(EVENTS[type].safeParse(payload).success).toBe(true)
})

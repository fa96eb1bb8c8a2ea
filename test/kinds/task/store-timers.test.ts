import { describe, expect, test } from 'vitest'
import { NO_GROUPS, watchOf } from '../../../src/kernel/store/watch-column.ts'
import type { TaskTimers } from '../../../src/kinds/task/rules/groups.ts'
import { spreadBackoffMs } from '../../../src/kinds/task/rules/retry.ts'
import type { Limits } from '../../../src/kinds/workspace/limits.ts'
import { assign } from '../../support/assign.ts'
import { NO_COMPANY, storeKinds, useNodes } from '../../support/nodes.ts'
import {
  granted,
  grantedTasks,
  holder,
  newTask,
  outcome,
  type Task,
  tally,
  type Work,
} from '../../support/tasks.ts'
import { ago, later } from '../../support/times.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const alpha = holder('alpha')
const beta = holder('beta')

describe.each(storeKinds)('on %s', (kind) => {
  const nodes = useNodes(kind)

  /** Whether upkeep would find this task now. */
  async function isDue(work: Work, task: Task): Promise<boolean> {
    const due = await work.store.dueTasks(100_000)
    return due.some(({ uuid }) => uuid === task.uuid)
  }

  /** Begun so long ago, with a lease that does not matter. */
  async function begun(work: Work, msAgo: number, timers: TaskTimers | null) {
    const then = ago(work, msAgo)
    const task = await then.create({ timers })
    const hold = granted(await then.claim(task, alpha, { leaseMs: 10 * HOUR }))
    await then.start(task, hold)
    return { task, hold }
  }

  describe('timers', () => {
    test('are stored with the task unchanged, and most tasks have none', async () => {
      const [here, there] = await nodes.pair()
      const timers: TaskTimers = {
        estimateMs: 90_000,
        assignMs: 1_000,
        stallMs: 2_000,
        verifyMs: 3_000,
        hangGraceMs: 0,
        hangAbortMs: 4_000,
      }
      const [plain, watched, last] = await here.createAll([newTask(), newTask({ timers }), newTask()])
      expect(watchOf(await there.record(plain!))).toBeNull()
      expect(watchOf(await there.record(watched!))).toEqual(timers)
      expect(watchOf(await there.record(last!))).toBeNull()
    })

    test('change while the task is held, together with tasks that have none', async () => {
      const work = await nodes.work()
      const tasks = await work.createAll([
        newTask({ timers: { estimateMs: HOUR } }),
        newTask(),
        newTask({ timers: { stallMs: HOUR, hangGraceMs: 0 } }),
      ])
      const holds = (await Promise.all(tasks.map((task) => work.claim(task, alpha)))).map(granted)
      await Promise.all(tasks.map((task, i) => work.start(task, holds[i]!)))
      const [estimated, plain, strict] = await Promise.all(tasks.map((task) => work.record(task)))
      const { startedAt } = estimated!
      expect(estimated).toMatchObject({ dueAt: startedAt! + HOUR + 30 * MINUTE })
      expect(watchOf(estimated!)).toEqual({ estimateMs: HOUR, doneBy: startedAt! + HOUR })
      expect(plain).toMatchObject({ ...NO_GROUPS, dueAt: null })
      expect(strict).toMatchObject({ dueAt: strict!.updatedAt + HOUR })
      await Promise.all(tasks.map((task, i) => work.progress(task, holds[i]!, { percent: i })))
      for (const task of tasks) {
        const { timers, updatedAt } = await work.record(task)
        expect(timers?.progressAt).toBe(updatedAt)
      }
      await Promise.all(tasks.map((task, i) => work.release(task, holds[i]!)))
      for (const task of tasks) granted(await work.claim(task, beta))
      expect(watchOf(await work.record(tasks[1]!))).toBeNull()
      expect(watchOf(await work.record(tasks[2]!))).toEqual({ stallMs: HOUR, hangGraceMs: 0 })
    })
  })

  describe('an assigned task that is not started', () => {
    test('is due at its deadline, and returns to the queue with its attempt', async () => {
      const [here, there] = await nodes.pair()
      const early = ago(here, MINUTE)
      const [fresh, old] = [await here.create(), await early.create()]
      granted(await assign(here, fresh, alpha))
      granted(await assign(ago(here, 3 * MINUTE), old, alpha, HOUR))
      expect(await isDue(here, fresh)).toBe(false)
      expect(await isDue(there, old)).toBe(true)
      expect(outcome(await there.elapse(old))).toBe('MOVED')
      expect(await isDue(here, old)).toBe(false)
      expect(await here.record(old)).toMatchObject({ state: 'queued', attempt: 0, dueAt: null })
      expect(await here.claims(old)).toMatchObject([{ state: 'expired', endReason: 'NOT_STARTED' }])
      expect(grantedTasks(await here.next(beta)).map(({ id }) => id)).toEqual([old.id])
      expect((await here.store.counts(here.workspace)).activeClaims).toBe(2)
    })

    test('is resumed by its agent under its own session, on another node', async () => {
      const [here, there] = await nodes.pair()
      const task = await here.create()
      granted(await assign(here, task, alpha))
      const again = await there.claim(task, holder('alpha', 's-own'))
      expect(again).toMatchObject({ reason: 'GRANTED', claim: { generation: 2, attempt: 1 } })
      expect(await here.claims(task)).toMatchObject([
        { generation: 1, state: 'superseded', endReason: 'REASSIGNED' },
        { generation: 2, state: 'active', session: 's-own' },
      ])
      expect(await here.record(task)).toMatchObject({ dueAt: null, session: 's-own' })
      expect((await here.store.counts(here.workspace)).activeClaims).toBe(1)
      expect(outcome(await here.submit(task, granted(again)))).toBe('ACCEPTED')
    })

    test('is resumed once, however many sessions of its agent want it', async () => {
      const [here, there] = await nodes.pair({}, NO_COMPANY)
      const task = await here.create()
      granted(await assign(here, task, alpha))
      const replies = await Promise.all(
        Array.from({ length: 10 }, (_, i) =>
          (i % 2 === 0 ? here : there).claim(task, holder('alpha', `s-${i}`)),
        ),
      )
      expect(tally(replies)).toEqual({ GRANTED: 1, DENIED_ACTIVE_CLAIM: 9 })
      expect((await here.record(task)).generation).toBe(2)
    })
  })

  describe('a holder that goes silent', () => {
    test('loses the task at the workspace’s timeout, when upkeep finds it', async () => {
      const work = await nodes.work({ stallTimeoutSeconds: 300 })
      const { task } = await begun(work, 6 * MINUTE, null)
      const { task: fresh } = await begun(work, 4 * MINUTE, null)
      expect([await isDue(work, task), await isDue(work, fresh)]).toEqual([true, false])
      await work.elapse(task)
      const { state, dueAt, updatedAt } = await work.record(task)
      expect({ state, dueAt }).toEqual({
        state: 'awaiting_retry',
        dueAt: updatedAt + spreadBackoffMs(1, task.id, 1),
      })
      expect(await work.claims(task)).toMatchObject([{ endReason: 'STALLED' }])
    })

    test('that was heard in the meantime is checked again later, and not before', async () => {
      const work = await nodes.work()
      const { task, hold } = await begun(work, 6 * MINUTE, { stallMs: 5 * MINUTE })
      await ago(work, 2 * MINUTE).renew(task, hold)
      const before = await work.record(task)
      expect(await isDue(work, task), 'the renewal moved nothing').toBe(true)
      expect(outcome(await work.elapse(task))).toBe('MOVED')
      expect(await isDue(work, task)).toBe(false)
      expect(await work.record(task)).toEqual({
        ...before,
        version: before.version + 1,
        dueAt: before.updatedAt + 5 * MINUTE,
      })
    })
  })

  describe('a task that hangs', () => {
    const hanging: TaskTimers = { estimateMs: MINUTE, hangGraceMs: MINUTE, hangAbortMs: 5 * MINUTE }

    test('is suspected, asks for progress, and is revoked without', async () => {
      const [here, there] = await nodes.pair()
      const { task, hold } = await begun(here, 3 * MINUTE, hanging)
      expect(await isDue(there, task)).toBe(true)
      await there.elapse(task)
      expect(await isDue(there, task)).toBe(false)
      const { timers } = await here.record(task)
      const since = timers!.suspectedAt!
      expect((await here.renew(task, hold)).requests).toEqual([
        {
          type: 'report_progress',
          since: new Date(since).toISOString(),
          abortAt: new Date(since + 5 * MINUTE).toISOString(),
        },
      ])
      await later(there, 6 * MINUTE).elapse(task)
      expect(await here.record(task)).toMatchObject({ state: 'awaiting_retry', priority: 6 })
      expect(await here.claims(task)).toMatchObject([{ state: 'expired', endReason: 'HUNG' }])
      const types = (await here.eventsOf(task)).map(({ type }) => type)
      expect(types.slice(-4)).toEqual(['task_hang_suspected', 'claim_renewed', 'stall_detected', 'task_hung'])
      await later(there, HOUR).elapse(task)
      expect(grantedTasks(await here.next(beta))).toMatchObject([{ id: task.id, priority: 6, attempt: 2 }])
    })

    test('continues when its holder gives a new completion time', async () => {
      const work = await nodes.work()
      const { task, hold } = await begun(work, 3 * MINUTE, hanging)
      await work.elapse(task)
      const doneBy = Date.now() + HOUR
      expect(outcome(await work.progress(task, hold, { percent: 10, doneBy }))).toBe('NOTED')
      expect((await work.renew(task, hold)).requests).toEqual([])
      expect((await work.record(task)).timers).toMatchObject({ doneBy })
      await later(work, 10 * MINUTE).elapse(task)
      expect(await work.record(task)).toMatchObject({ state: 'running', dueAt: doneBy + MINUTE })
    })
  })

  test('a verdict that does not come within the task’s time limit is left to a person', async () => {
    const work = await nodes.work({ verifyTimeoutSeconds: 3_600 })
    const then = ago(work, MINUTE)
    const task = await then.create({ verification: 'verifier', timers: { verifyMs: SECOND } })
    await then.submit(task, granted(await then.claim(task, alpha)))
    expect(await isDue(work, task)).toBe(true)
    await work.elapse(task)
    expect((await work.record(task)).state).toBe('awaiting_human')
  })

  test('with shortest first, short work goes before long, and a new priority keeps the effect of the estimate', async () => {
    const work = await nodes.work({ queueOrder: 'shortest_first' })
    const estimates = [2 * HOUR, MINUTE, HOUR]
    const made = await work.createAll(estimates.map((estimateMs) => newTask({ timers: { estimateMs } })))
    const [long, short, middle] = made
    await work.update(long!, { priority: 10 })
    expect((await work.record(long!)).rank! - long!.rank!).toBe(-5 * 600_000)
    const order = grantedTasks(await work.next(alpha, { limit: 3 })).map(({ id }) => id)
    expect(order).toEqual([short!.id, middle!.id, long!.id])
  })

  test('a deadline is found by upkeep when it has passed: of what is queued, held or waits for a retry', async () => {
    const work = await nodes.work()
    const then = ago(work, HOUR)
    const timers: TaskTimers = { deadlineMs: HOUR - MINUTE }
    const [queued, held, retried, scheduled] = await then.createAll([
      newTask({ timers, expiresAt: Date.now() + 10 * HOUR }),
      newTask({ timers }),
      newTask({ timers }),
      newTask({ timers, runAt: Date.now() + 10 * HOUR }),
    ])
    granted(await then.claim(held!, alpha, { leaseMs: 10 * HOUR }))
    await then.fail(retried!, granted(await then.claim(retried!, alpha)))
    expect(await isDue(work, scheduled!)).toBe(false)
    for (const task of [queued!, held!, retried!]) {
      expect(await isDue(work, task)).toBe(true)
      await work.elapse(task)
      expect(await work.record(task)).toMatchObject({ state: 'failed', dueAt: null })
    }
  })

  test('an attempt is found by upkeep when its time is over', async () => {
    const work = await nodes.work()
    const { task } = await begun(work, HOUR, { attemptMs: HOUR - MINUTE })
    const { task: other } = await begun(work, HOUR, { attemptMs: HOUR + MINUTE })
    expect([await isDue(work, task), await isDue(work, other)]).toEqual([true, false])
    await work.elapse(task)
    expect(await work.record(task)).toMatchObject({ state: 'awaiting_retry', claimState: 'expired' })
  })

  test('the timeouts of a workspace are stored with its limits', async () => {
    const limits: Partial<Limits> = {
      assignTimeoutSeconds: 11,
      stallTimeoutSeconds: 12,
      verifyTimeoutSeconds: 13,
      hangGraceSeconds: 0,
      hangAbortSeconds: 15,
      queueOrder: 'shortest_first',
    }
    const [, there] = await nodes.pair(limits)
    expect(await there.store.limits(there.workspace)).toMatchObject(limits)
    const task = await there.create()
    granted(await assign(there, task, alpha))
    const { dueAt, updatedAt } = await there.record(task)
    expect(dueAt).toBe(updatedAt + 11 * SECOND)
    const plain = await nodes.work()
    expect(await plain.store.limits(plain.workspace)).toMatchObject({ stallTimeoutSeconds: null })
  })
})

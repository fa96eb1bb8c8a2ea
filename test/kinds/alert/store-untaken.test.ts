import { describe, expect, test } from 'vitest'
import type { ServerKernel } from '../../../src/door/server-kernel.ts'
import { Combiner } from '../../../src/kernel/combiner.ts'
import { NO_GROUPS } from '../../../src/kernel/store/watch-column.ts'
import { type MarkLooks, settleMarks } from '../../../src/kinds/alert/acts/untaken.ts'
import { lookForUntaken } from '../../../src/kinds/alert/postgres/untaken.ts'
import type { PostgresStore } from '../../../src/store/store.ts'
import { pause, register, resume } from '../../support/agents.ts'
import { kernelOf } from '../../support/mission-upkeep.ts'
import { earlier, storeKinds, useNodes } from '../../support/nodes.ts'
import { granted, holder, newTask, outcome, type Task, Work } from '../../support/tasks.ts'

/** The mark of tasks that nobody takes: each is an event in the transaction that makes or removes it. */

const alpha = holder('alpha')
const raise = async (work: Work, task: Task, reason = 'nobody is there', behind = 0) => {
  const { version } = await work.record(task)
  return outcome(await work.command(task, { kind: 'raiseAlert', reason, version: version - behind }))
}
const clear = async (work: Work, task: Task) => outcome(await work.command(task, { kind: 'clearAlert' }))
const typesOf = async (work: Work, task: Task) => (await work.eventsOf(task)).map(({ type }) => type)
const RAISED = ['task_untaken', 'inbox_added']

describe.each(storeKinds)('on %s, an alert', (kind) => {
  const nodes = useNodes(kind)

  test('is told with its reason, kept with its task, and does not count as a sign of life', async () => {
    const work = await nodes.work()
    const task = await work.create()
    const { updatedAt, version } = await work.record(task)
    expect(await raise(work, task)).toBe('RAISED')
    expect(await work.record(task)).toMatchObject({ state: 'queued', updatedAt, version: version + 1 })
    expect(await work.details(task)).toMatchObject({
      ...{ waitsKind: 'alert', waitsBecause: 'nobody is there', waitsSince: updatedAt },
    })
    expect((await work.eventsOf(task)).slice(-2)).toMatchObject([
      { type: 'task_untaken', payload: { reason: 'nobody is there' } },
      {
        type: 'inbox_added',
        payload: { item: { id: `alert:${task.uuid}`, kind: 'alert', since: updatedAt } },
      },
    ])
  })

  test('is raised once for a reason, and not for a task that has changed or left the queue', async () => {
    const work = await nodes.work()
    const task = await work.create()
    expect(await raise(work, task, 'too late', 1)).toBe('NOTHING_DUE')
    await raise(work, task)
    expect(await raise(work, task)).toBe('NOTHING_DUE')
    expect(await raise(work, task, 'somebody is paused')).toBe('RAISED')
    expect((await typesOf(work, task)).slice(-5)).toEqual([
      ...RAISED,
      ...['task_untaken', 'inbox_closed', 'inbox_added'],
    ])
    const held = await work.create()
    granted(await work.claim(held, alpha))
    expect(await raise(work, held)).toBe('NOTHING_DUE')
  })

  test('is over when it is cleared, and can be raised again', async () => {
    const work = await nodes.work()
    const task = await work.create()
    expect(await clear(work, task)).toBe('NOTHING_DUE')
    await raise(work, task)
    expect(await clear(work, task)).toBe('CLEARED')
    expect(await work.record(task)).toMatchObject({ ...NO_GROUPS })
    expect(await work.details(task)).toMatchObject({ waitsKind: null, waitsBecause: null })
    expect((await typesOf(work, task)).slice(-2)).toEqual(['inbox_closed', 'task_takable'])
    expect(await raise(work, task)).toBe('RAISED')
  })

  test('is over when somebody takes the task, in the same transaction', async () => {
    const work = await nodes.work()
    const task = await work.create()
    await raise(work, task)
    granted(await work.claim(task, alpha))
    expect(await work.record(task)).toMatchObject({ state: 'assigned', ...NO_GROUPS })
    expect(await work.details(task)).toMatchObject({ waitsKind: null })
    expect((await work.eventsOf(task)).slice(-2)).toMatchObject([
      { type: 'inbox_closed', payload: { id: `alert:${task.uuid}`, because: 'task_assigned' } },
      { type: 'task_assigned' },
    ])
  })

  test('is over when the task is for somebody else', async () => {
    const work = await nodes.work()
    const [task] = await work.createAll([newTask({ onlyAgent: 'gone' })])
    await raise(work, task!)
    await work.command(task!, { kind: 'update', ifVersion: null, patch: { onlyAgent: null } })
    expect(await work.details(task!)).toMatchObject({ waitsKind: null })
    expect((await typesOf(work, task!)).slice(-2)).toEqual(['task_updated', 'inbox_closed'])
  })
})

describe('on postgres, upkeep', () => {
  const nodes = useNodes('postgres')
  const HOUR_MS = 3_600_000
  const aMinuteAgo = ({ store, workspace }: Work) =>
    new Work(store, workspace, new Combiner(earlier(store, 60_000)))
  const pass = (work: Work, looks: MarkLooks = new Map()) =>
    settleMarks({
      kernel: kernelOf(work) as unknown as ServerKernel,
      only: work.workspace,
      looks,
    })
  const look = (work: Work) => lookForUntaken((work.store as PostgresStore).readers, work.workspace)

  test('raises what an agent does not take in time, and is due at that time', async () => {
    const work = await nodes.work({ verifyTimeoutSeconds: 3_600 })
    await register(work, 'writer')
    await pause(work, 'writer')
    const [task] = await work.createAll([newTask({ onlyAgent: 'writer' })])
    expect(await pass(work)).toBe(0)
    const { dueAt } = await look(work)
    const { updatedAt } = await work.record(task!)
    expect(Math.abs(dueAt! - updatedAt - HOUR_MS)).toBeLessThan(1_000)
    const asked = performance.now()
    const { upkeepAt } = await (work.store as PostgresStore).nextDue()
    expect(upkeepAt! - asked).toBeLessThan(HOUR_MS)
    // Whoever resumes the agent leaves nothing to wait for.
    await resume(work, 'writer')
    await pass(work)
    expect((await look(work)).dueAt).toBeNull()
  })

  test('raises one alert for all tasks that wait for the same, and clears it when somebody can take them', async () => {
    const work = await nodes.work()
    const tasks = await aMinuteAgo(work).createAll([1, 2, 3].map(() => newTask({ capabilities: ['cobol'] })))
    expect(await pass(work)).toBe(1)
    expect(await pass(work)).toBe(0)
    const events = await work.events()
    expect(events.filter(({ type }) => type === 'inbox_added')).toMatchObject([{ taskId: tasks[0]!.id }])
    await register(work, 'old hand', { capabilities: ['cobol'] })
    expect(await pass(work)).toBe(1)
    expect((await work.events()).at(-1)).toMatchObject({ type: 'task_takable' })
  })

  test('looks again only where the log has moved, or time is up', async () => {
    const work = await nodes.work()
    const looks: MarkLooks = new Map()
    await aMinuteAgo(work).createAll([newTask({ capabilities: ['cobol'] })])
    await pass(work, looks)
    await pass(work, looks)
    const last = looks.get(work.workspace)
    await pass(work, looks)
    expect(looks.get(work.workspace)).toBe(last)
    await register(work, 'other')
    await pass(work, looks)
    expect(looks.get(work.workspace)).not.toBe(last)
  })
})

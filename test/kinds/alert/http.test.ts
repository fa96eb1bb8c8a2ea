import { describe, expect, test } from 'vitest'
import { expectRefusal, type Json, useServer, type Workspace } from '../../support/http-workspace.ts'
import { until } from '../../support/nodes.ts'

/** Alerts over HTTP: raised by upkeep of a real server, read, acknowledged, and over by themselves. */

const { workspace, served } = useServer()
const fence = { session: 's-alpha', generation: 1 }

const alertsOf = async (w: Workspace, query = '') => (await w.call('GET', `/alerts${query}`)).body.items
const raised = (w: Workspace, cause: string) => until(async () => (await alertsOf(w, `?cause=${cause}`))[0])
const waiting = async (w: Workspace) =>
  (await w.call('GET', '/inbox')).body.items.map(({ id }: Json) => id) as string[]
const outOfMemory = async (w: Workspace) => {
  const task = await w.held({ title: 'Index the logs' })
  await w.on(task, 'fail', { ...fence, failureClass: 'out_of_memory', error: 'killed at 16 GB' })
  return { task, alert: await raised(w, 'out_of_memory') }
}

test('an alert says what is wrong, is an item of the inbox, and is over when its cause is gone', async () => {
  const w = await workspace()
  const { task, alert } = await outOfMemory(w)
  expect(alert).toMatchObject({
    ...{ cause: 'out_of_memory', severity: 'critical', scope: 'workspace', state: 'open', count: 1 },
    about: { kind: 'task', subject: task.id, name: 'Index the logs', taskId: task.id },
    ...{ detail: 'killed at 16 GB', inboxItem: `raised:${alert.id}`, acknowledgedBy: null },
  })
  const { items, counts } = (await w.call('GET', '/inbox')).body
  expect(items).toMatchObject([
    {
      ...{ id: `raised:${alert.id}`, kind: 'alert', title: 'A task ran out of memory: Index the logs' },
      ...{ about: { taskId: task.id }, alert: { severity: 'critical' }, actions: ['acknowledge'], blocks: 0 },
    },
  ])
  expect(counts.alert).toBe(1)
  expect((await w.call('GET', `/inbox/raised:${alert.id}`)).body).toMatchObject(items[0])
  const { alerts } = (await w.call('GET', '/overview')).body
  expect(alerts).toMatchObject({ counts: { critical: 1, warning: 0, info: 0 }, items: [{ id: alert.id }] })
  await w.on(task, 'retry')
  await until(async () => (await w.call('GET', `/alerts/${alert.id}`)).body.state === 'resolved')
  expect(await waiting(w)).toEqual([])
  const events = await w.events()
  expect(events.filter(({ type }: Json) => String(type).startsWith('alert_'))).toMatchObject([
    { type: 'alert_raised', taskId: task.id, payload: { alertId: alert.id, severity: 'critical' } },
    { type: 'alert_resolved', taskId: task.id },
  ])
})

test('the same cause about the same task is another alert when it was over before', async () => {
  const w = await workspace()
  const { task, alert } = await outOfMemory(w)
  await w.on(task, 'retry')
  await until(async () => (await w.call('GET', `/alerts/${alert.id}`)).body.state === 'resolved')
  await w.claim(task)
  await w.on(task, 'fail', { ...fence, generation: 2, failureClass: 'out_of_memory' })
  const again = await until(async () => (await alertsOf(w, '?state=open'))[0])
  expect(again).toMatchObject({ cause: 'out_of_memory', count: 1 })
  expect(again.id).not.toBe(alert.id)
})

describe('acknowledging', () => {
  test('names who does it first, and ends what waits in the inbox, not the alert', async () => {
    const w = await workspace()
    const { alert } = await outOfMemory(w)
    const path = `/alerts/${alert.id}/acknowledge`
    const first = await w.post(path, { comment: 'I give it more' })
    expect(first.status).toBe(200)
    expect(first.body).toMatchObject({ state: 'acknowledged', comment: 'I give it more', inboxItem: null })
    expect(first.body.acknowledgedBy).toMatch(/owner/)
    expect(await waiting(w)).toEqual([])
    const second = await w.post(path, { comment: 'me too' })
    expect(second.body).toEqual(first.body)
    expect(await w.count('alert_acknowledged')).toBe(1)
    expect((await w.call('GET', '/overview')).body.alerts.counts.critical).toBe(0)
    expect(await alertsOf(w, '?state=acknowledged')).toHaveLength(1)
  })

  test('is the answer to its item, once, and the same under the same idempotency key', async () => {
    const w = await workspace()
    const { alert } = await outOfMemory(w)
    const path = `/inbox/raised:${alert.id}/answer`
    const key = { 'idempotency-key': 'a' }
    expectRefusal(await w.post(path, { decision: 'seen' }), 400, 'VALIDATION_FAILED')
    const first = await w.post(path, { decision: 'acknowledge' }, key)
    expect(first.body).toMatchObject({ decision: 'acknowledge', state: 'acknowledged' })
    expect((await w.post(path, { decision: 'acknowledge' }, key)).body).toEqual(first.body)
    const late = await w.post(path, { decision: 'acknowledge' })
    expectRefusal(late, 409, 'CHANGED_SINCE', { state: 'acknowledged' })
  })

  test('is refused when it is over', async () => {
    const w = await workspace()
    const { task, alert } = await outOfMemory(w)
    await w.on(task, 'retry')
    await until(async () => (await w.call('GET', `/alerts/${alert.id}`)).body.state === 'resolved')
    expectRefusal(await w.post(`/alerts/${alert.id}/acknowledge`), 409, 'WRONG_STATE')
  })

  test('needs the right to operate, and a viewer may read', async () => {
    const w = await workspace()
    const { alert } = await outOfMemory(w)
    const { key } = (await w.post('/keys', { name: 'looks', role: 'viewer' })).body
    const as = { key }
    expect((await served().call('GET', `/alerts/${alert.id}`, undefined, as)).status).toBe(200)
    expectRefusal(await served().call('POST', `/alerts/${alert.id}/acknowledge`, {}, as), 403, 'FORBIDDEN')
  })
})

test('a task that nobody takes is one item of the inbox, and one alert that names it', async () => {
  const w = await workspace()
  const task = await w.make({ requiredCapabilities: ['cobol'] })
  expect(await waiting(w)).toEqual([`alert:${task.id}`])
  const alert = await raised(w, 'task_not_taken')
  expect(alert).toMatchObject({
    severity: 'warning',
    inboxItem: `alert:${task.id}`,
    detail: 'no agent has cobol',
  })
  expect(await waiting(w)).toEqual([`alert:${task.id}`])
  await w.post(`/alerts/${alert.id}/acknowledge`)
  expect(await waiting(w), 'somebody has to decide about the task').toEqual([`alert:${task.id}`])
  await w.on(task, 'cancel')
  await until(async () => (await alertsOf(w, '?state=resolved')).length === 1)
})

test('thresholds are the defaults until a workspace sets its own', async () => {
  const w = await workspace()
  const list = async () => (await w.call('GET', '/thresholds')).body.items
  const mosaic = {
    ...{ coordinator_slow: 5_000, stale_agents: 5, pending_tasks: 50, failed_tasks: 10 },
    ...{ dead_letters: 0, spawn_rate: 100, database_errors: 0 },
  }
  const before = await list()
  for (const [cause, value] of Object.entries(mosaic))
    expect(before).toContainEqual(expect.objectContaining({ cause, value, setBy: 'default' }))
  expect(before.filter(({ isOn }: Json) => !isOn).map(({ cause }: Json) => cause)).toEqual([
    'pending_tasks',
    'spawn_rate',
  ])
  await w.make()
  await w.make()
  expect(await alertsOf(w)).toEqual([])
  const set = await w.call('PUT', '/thresholds/pending_tasks', { value: 1 })
  expect(set.body).toMatchObject({ cause: 'pending_tasks', value: 1, isOn: true, setBy: 'workspace' })
  expect(await raised(w, 'pending_tasks')).toMatchObject({
    ...{ severity: 'info', detail: 'more than 1 tasks that wait for assignment' },
  })
  expect((await w.call('DELETE', '/thresholds/pending_tasks')).status).toBe(204)
  await until(async () => (await alertsOf(w, '?state=resolved')).length === 1)
  expect(await list()).toEqual(before)
  expectRefusal(await w.call('DELETE', '/thresholds/pending_tasks'), 404, 'NOT_FOUND')
  expectRefusal(await w.call('PUT', '/thresholds/pending_tasks', { value: -1 }), 400, 'VALIDATION_FAILED')
  expectRefusal(await w.call('PUT', '/thresholds/agent_error', { value: 1 }), 400, 'VALIDATION_FAILED')
})

test('the list is read page by page, newest first', async () => {
  const w = await workspace()
  const tasks = []
  for (const name of ['a', 'b', 'c']) {
    tasks.push(await w.make({ requiredCapabilities: [name] }))
    await w.call('GET', '/inbox')
  }
  await until(async () => (await alertsOf(w)).length === 3)
  const all = await alertsOf(w)
  const first = (await w.call('GET', '/alerts?limit=2')).body
  const rest = (await w.call('GET', `/alerts?limit=2&cursor=${first.nextCursor}`)).body
  expect([...first.items, ...rest.items]).toEqual(all)
  expect(rest.nextCursor).toBeNull()
})

test('alerts of the instance are for whoever runs the server', async () => {
  const w = await workspace()
  expectRefusal(await w.call('GET', '/alerts?scope=instance'), 403, 'FORBIDDEN')
  const mine = await served().call('GET', '/alerts?scope=instance')
  expect(mine.status).toBe(200)
  for (const { scope } of mine.body.items) expect(scope).toBe('instance')
})

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openProject, putPlan } from '../support/http-plans.ts'
import { fence, type Json, openWorkspace, type Workspace } from '../support/http-workspace.ts'
import { type ServerUnderTest, startServer } from '../support/server.ts'

/** Where two features meet: each of these was once wrong. */

let server: ServerUnderTest
beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server.close())
const memory = async (w: Workspace, session = 's-alpha') => (await w.call('GET', `/sessions/${session}`)).body
const reported = async (w: Workspace, session?: string) =>
  (await memory(w, session)).taskLog.map(({ event, outcome }: Json) => [event, outcome])
const ACQUIRED = ['CLAIM_ACQUIRED', null]

describe('the log of a session', () => {
  test('has nothing of what happens to a task after the session has released it', async () => {
    const w = await openWorkspace(server)
    const task = await w.held()
    await w.on(task, 'release', fence('s-alpha', 1))
    await w.on(task, 'cancel')
    expect(await reported(w)).toEqual([ACQUIRED, ['CLAIM_RELEASED', null]])
  })
  test('shows a released claim, not a result, when the agent asks for a person', async () => {
    const w = await openWorkspace(server)
    await w.on(await w.held(), 'fail', { ...fence('s-alpha', 1), failureClass: 'human' })
    expect(await reported(w)).toEqual([ACQUIRED, ['CLAIM_RELEASED', null]])
  })
  test('shows a lost claim when its lease ended, also when that was the last attempt', async () => {
    const w = await openWorkspace(server, { minLeaseSeconds: 1 })
    await w.expired({ maxRetries: 0 })
    expect(await reported(w)).toEqual([ACQUIRED, ['CLAIM_LOST', null]])
  })
  test('shows a claim lost to a promoted result', async () => {
    const w = await openWorkspace(server)
    const task = await w.held()
    await w.on(task, 'release', fence('s-alpha', 1))
    await w.on(task, 'submit', { ...fence('s-alpha', 1), result: 1 })
    await w.claim(task, 'beta')
    const [{ workProductRef }] = (await w.read(task, '/results')).items
    await w.post(`/tasks/${task.id}/results/${workProductRef}/promote`)
    expect(await reported(w, 's-beta')).toEqual([ACQUIRED, ['CLAIM_LOST', null]])
  })
  test('shows a released claim when the agent gives the task up', async () => {
    const w = await openWorkspace(server)
    for (const failureClass of ['dependency', 'cancelled'])
      await w.on(await w.held(), 'fail', { ...fence('s-alpha', 1), failureClass })
    expect(await reported(w)).toEqual([
      ACQUIRED,
      ['CLAIM_RELEASED', null],
      ACQUIRED,
      ['CLAIM_RELEASED', null],
    ])
  })
})

test('a heartbeat lists what was lost since the last heartbeat, even if the session was opened or claimed in between', async () => {
  const w = await openWorkspace(server)
  const task = await w.held()
  await w.on(task, 'cancel')
  await w.post('/sessions', { session: 's-alpha' })
  expect((await w.call('POST', '/sessions/s-alpha/heartbeat')).body.lost).toMatchObject([{ taskId: task.id }])
})
test('a session of an unknown project is refused, or at least shows no other tracks', async () => {
  const w = await openWorkspace(server)
  await w.make({ key: 'A-001-x' })
  const opened = await w.post('/sessions', { session: 's', project: 'nothing' })
  expect([opened.status, (await memory(w, 's')).trackProgress]).not.toEqual([201, { A: expect.anything() }])
})
test('a task that succeeded has no error', async () => {
  const w = await openWorkspace(server)
  const task = await w.held()
  await w.on(task, 'fail', { ...fence('s-alpha', 1), error: 'broke', retryAt: '2020-01-01T00:00:00Z' })
  await w.claim(task)
  await w.on(task, 'submit', { ...fence('s-alpha', 2), result: 1 })
  expect(await w.read(task)).toMatchObject({ error: null, failureClass: null })
})
test('the answer to a batch has the current tasks: parts name their parent', async () => {
  const w = await openWorkspace(server)
  const { items } = (
    await w.post('/tasks/batch', {
      tasks: [
        { title: 'w', key: 'A-001-x' },
        { title: 'p', key: 'A-001-x::1' },
      ],
    })
  ).body
  for (const item of items) expect(await w.read(item)).toMatchObject(item)
})
test('a rejected result names the agent that made it', async () => {
  const w = await openWorkspace(server)
  const task = await w.held()
  await w.on(task, 'release', fence('s-alpha', 1))
  await w.on(task, 'submit', { ...fence('s-alpha', 1), result: 1 })
  expect((await w.call('GET', '/results')).body.items).toMatchObject([{ agent: 'alpha' }])
})
test('a project is created once under an idempotency key', async () => {
  const w = await openWorkspace(server)
  const make = () => w.post('/projects', { slug: 'x' }, { 'idempotency-key': 'k' })
  expect([(await make()).status, (await make()).status]).toEqual([201, 201])
  const other = await w.post('/projects', { slug: 'y' }, { 'idempotency-key': 'k' })
  expect(other.body.code).toBe('IDEMPOTENCY_KEY_REUSED')
})
test('a worker is found by its id', async () => {
  const w = await openWorkspace(server)
  const { id } = (await w.post('/workers', { worker: 'w-1', capacity: 1 })).body
  expect((await w.call('GET', `/workers/${id}`)).status).toBe(200)
})
test('a plan that changes a type, input or capability gets a note that these stay', async () => {
  const w = await openProject(server)
  await putPlan(w, 'shop', 'project: shop\ntracks: {A: [{id: A-001-a}]}')
  const again = await putPlan(
    w,
    'shop',
    'project: shop\ntracks: {A: [{id: A-001-a, type: coding, input: 1, capabilities: [rust]}]}',
  )
  expect(again.body.notTaken).toEqual([{ key: 'A-001-a', fields: ['type', 'input', 'capabilities'] }])
})

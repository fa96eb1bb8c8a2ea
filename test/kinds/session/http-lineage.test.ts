import { afterAll, beforeAll, expect, test } from 'vitest'
import { fence, openWorkspace } from '../../support/http-workspace.ts'
import { type ServerUnderTest, startServer } from '../../support/server.ts'

let server: ServerUnderTest
beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server.close())

test('the lineage of a task shows whose sessions held it, and which result counts (Coditect 9.2)', async () => {
  const w = await openWorkspace(server)
  await w.post('/sessions', { session: 'sess-001', userId: 'Alice' })
  await w.post('/sessions', { session: 'sess-002', userId: 'Bob' })
  const task = await w.make()
  await w.claim(task, 'agent-A', { session: 'sess-001' })
  await w.on(task, 'release', fence('sess-001', 1))
  await w.claim(task, 'agent-B', { session: 'sess-002' })
  await w.on(task, 'submit', { ...fence('sess-002', 2), result: { done: true } })
  await w.on(task, 'submit', { ...fence('sess-001', 1), result: { done: false } })
  const { items } = await w.read(task, '/claims')
  expect(items).toMatchObject([
    { generation: 1, agent: 'agent-A', userId: 'Alice', releaseReason: 'VOLUNTARY', resultAccepted: false },
    { generation: 2, agent: 'agent-B', userId: 'Bob', releaseReason: 'COMPLETED', resultAccepted: true },
  ])
})

test('the states of many tasks are returned at once, in the requested order; unknown ids are left out', async () => {
  const [w, other] = [await openWorkspace(server), await openWorkspace(server)]
  const [waiting, held, foreign] = [await w.make(), await w.held(), await other.make()]
  const taskIds = [held.id, foreign.id, waiting.id]
  const { status, body } = await w.post('/tasks/states', { taskIds })
  expect(status).toBe(200)
  expect(body.items).toMatchObject([
    { id: held.id, state: 'assigned', generation: 1, holder: { agent: 'alpha' } },
    { id: waiting.id, state: 'queued', generation: 0, holder: null },
  ])
})

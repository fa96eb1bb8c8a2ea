import { expect, onTestFinished, test } from 'vitest'
import { openWorkspace } from './support/http-workspace.ts'
import { superuser, until } from './support/nodes.ts'
import { startServer } from './support/server.ts'

test('a run that its own server lost track of does not stay forever, nor block others', async () => {
  const server = await startServer({}, { recoverEveryMs: 50, forgottenAfterMs: 200 })
  onTestFinished(() => server.close())
  const w = await openWorkspace(server)
  const worker = { adapterType: 'simulated', adapterConfig: { steps: [] }, maxConcurrentTasks: 1 }
  expect((await w.call('PUT', '/agents/worker', worker)).status).toBe(201)
  const runs = async (query: string) => (await w.call('GET', `/runs?${query}`)).body.items
  const succeeded = (count: number) =>
    until(async () => {
      const found = await runs('status=succeeded')
      return found.length === count && found
    })
  await w.make({ agent: 'worker' })
  const [first] = await succeeded(1)

  // As if the answer to the statement that made it had been lost: stored, and nowhere else.
  const columns = 'workspace_id, agent, agent_id, adapter_type, source, node_id, created_at'
  await superuser(server.databaseUrl, (client) =>
    client.query(
      `insert into baton.runs (run_id, status, ${columns})
       select '01900000-0000-7000-8000-000000000001', 'queued', ${columns} from baton.runs where run_id = $1`,
      [first.id],
    ),
  )
  const task = await w.make({ agent: 'worker' })
  await w.reaches(task, 'completed')
  expect(await runs('status=failed')).toMatchObject([
    { errorCode: 'control_plane_restart', nodeId: first.nodeId },
  ])
})

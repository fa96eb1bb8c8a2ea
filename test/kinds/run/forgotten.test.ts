import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { expect, inject, onTestFinished, test } from 'vitest'
import { freshDatabase } from '../../support/database.ts'
import { openWorkspace } from '../../support/http-workspace.ts'
import { launch, ownerKeyIn } from '../../support/launched.ts'
import { superuser, until } from '../../support/nodes.ts'
import { scripts } from '../../support/runs.ts'
import { callsTo, startAnother, startServer } from '../../support/server.ts'

const PACE = { recoverEveryMs: 50, forgottenAfterMs: 200 }

test('a run that its own server lost track of does not stay forever, nor block others', async () => {
  const server = await startServer({}, PACE)
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

test('a claim that a killed node left behind without a run is released, and the task is worked on again', async () => {
  const database = await freshDatabase()
  onTestFinished(() => database.drop())
  const folder = mkdtempSync(join(inject('scratch'), 'killed-'))
  const killed = launch({ BATON_DATA: folder, DATABASE_URL: database.url })
  onTestFinished(() => void killed.child.kill('SIGKILL'))
  const api = `${await killed.ready}/api/v1`
  const ownerKey = ownerKeyIn(folder)
  const stays = { command: process.execPath, args: ['-e', scripts.stays] }
  const call = callsTo(api, ownerKey)
  const worker = { adapterType: 'process', adapterConfig: stays }
  expect(await call('PUT', '/agents/worker', worker)).toMatchObject({ status: 201 })
  const task = (await call('POST', '/tasks', { title: 'left', agent: 'worker' })).body
  const runIn = async (at: string, generation: number) =>
    (await callsTo(at, ownerKey)('GET', `/tasks/${task.id}/runs`)).body.items.find(
      (run: { generation: number }) => run.generation === generation,
    )
  await until(() => runIn(api, 1))
  killed.child.kill('SIGKILL')
  await killed.ended
  // As if a node had ended the run on record and was killed, too, before it released the claim.
  await superuser(database.url, async (client) => {
    await client.query(
      `update baton.runs set status = 'failed', error_code = 'control_plane_restart', finished_at = now(), token_hash = null`,
    )
    await client.query(`update baton.wakeups set status = 'failed', finished_at = now()`)
  })

  const other = await startAnother({ databaseUrl: database.url, ownerKey }, {}, PACE)
  onTestFinished(() => other.close())
  await until(() => runIn(other.api, 2))
  const { items } = (await other.call('GET', `/tasks/${task.id}/claims`)).body
  expect(items).toMatchObject([
    { generation: 1, state: 'released' },
    { generation: 2, state: 'active' },
  ])
})

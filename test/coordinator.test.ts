import { afterAll, beforeAll, expect, test } from 'vitest'
import { openWorkspace } from './support/http-workspace.ts'
import { superuser, until } from './support/nodes.ts'
import { type ServerUnderTest, startServer } from './support/server.ts'

let server: ServerUnderTest

beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server.close())

const asSuperuser = (sql: string) => superuser(server.databaseUrl, (client) => client.query(sql))

test('a failing step of the coordinator does not stop the other steps', async () => {
  const w = await openWorkspace(server, { minLeaseSeconds: 1 })
  const task = await w.make()
  await w.claim(task, 'alpha', { leaseSeconds: 1 })
  // Health is the first step, and can no longer be read.
  await asSuperuser('revoke select on baton.agent_health from baton_server')
  try {
    await until(async () => (await w.read(task)).state === 'queued')
  } finally {
    await asSuperuser('grant select on baton.agent_health to baton_server')
  }
})

test('a counter that differs from the rows is corrected, and an alert is raised', async () => {
  const w = await openWorkspace(server, {})
  await w.claim(await w.make(), 'alpha')
  await asSuperuser('update baton.workspace_counters set active_claims = 7 where active_claims = 1')
  await w.call('POST', '/coordinator/recover')
  expect((await w.call('GET', '/limits')).body.usage.activeClaims).toBe(1)
  const [alert] = (await w.call('GET', '/coordinator/logs?level=CRITICAL')).body.items
  expect(alert).toMatchObject({ event: 'alert_raised', details: { alert: 'COUNTER_DRIFT' } })
  expect((await w.call('POST', '/coordinator/recover')).body.did.countersCorrected).toBe(0)
})

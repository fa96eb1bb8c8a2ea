import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectRefusal, openWorkspace } from '../support/http-workspace.ts'
import { superuser, until } from '../support/nodes.ts'
import { type ServerUnderTest, startServer } from '../support/server.ts'

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

test('recovery on request is for all workspaces with the right "instance", and for one that is named', async () => {
  const teams = [await openWorkspace(server, {}), await openWorkspace(server, {})]
  const activeClaims = async () =>
    Promise.all(teams.map(async (w) => (await w.call('GET', '/limits')).body.usage.activeClaims))
  const drift = () =>
    asSuperuser('update baton.workspace_counters set active_claims = 7 where active_claims = 1')
  for (const w of teams) await w.claim(await w.make(), 'alpha')
  await drift()
  const answer = await server.call('POST', '/coordinator/recover')
  expect(answer.body).toMatchObject({ allWorkspaces: true, did: { countersCorrected: expect.any(Number) } })
  expect(await activeClaims()).toEqual([1, 1])
  // On record in the workspace of the key, without figures of others.
  const { items } = (await server.call('GET', '/coordinator/logs?event=recovery_forced')).body
  expect(items[0]).toMatchObject({
    ...{ message: 'Recovery was forced in all workspaces.', details: { did: {}, allWorkspaces: true } },
  })
  for (const w of teams) expect(await w.count('recovery_forced')).toBe(0)
  const [one, other] = teams
  const named = await server.call('POST', '/coordinator/recover', { workspaceId: one!.id })
  expect(named).toMatchObject({ status: 200, body: { allWorkspaces: false } })
  expect([await one!.count('recovery_forced'), await other!.count('recovery_forced')]).toEqual([1, 0])
  const unknown = { workspaceId: '01a1e5a5-b3fb-7846-9530-000000000001' }
  expectRefusal(await server.call('POST', '/coordinator/recover', unknown), 404, 'NOT_FOUND')
  // An owner without that right has one workspace.
  const own = await one!.post('/coordinator/recover')
  expect(own).toMatchObject({ status: 200, body: { allWorkspaces: false } })
  expectRefusal(await one!.post('/coordinator/recover', { workspaceId: other!.id }), 404, 'NOT_FOUND')
})

test('a counter that differs from the rows is corrected, and an alert is raised', async () => {
  const w = await openWorkspace(server, {})
  await w.claim(await w.make(), 'alpha')
  await asSuperuser('update baton.workspace_counters set active_claims = 7 where active_claims = 1')
  await w.call('POST', '/coordinator/recover')
  expect((await w.call('GET', '/limits')).body.usage.activeClaims).toBe(1)
  await w.happens('alert_raised')
  const [alert] = (await w.call('GET', '/coordinator/logs?level=CRITICAL')).body.items
  expect(alert).toMatchObject({ event: 'alert_raised', details: { alert: 'counter_drift' } })
  expect((await w.call('POST', '/coordinator/recover')).body.did.countersCorrected).toBe(0)
})

import { expect, test } from 'vitest'
import { expectRefusal, useServer } from '../support/http-workspace.ts'
import { superuser } from '../support/nodes.ts'

/** What a node says of itself. */

const { served, workspace } = useServer()

test('while the disk of the database is full, writes are refused with its name, and the node is not ready until one succeeds', async () => {
  const w = await workspace()
  const [{ n: workspaceId }] = await superuser(served().databaseUrl, async (client) => {
    const found = await client.query('select workspace_id as n from baton.workspaces where uuid = $1', [w.id])
    return found.rows
  })
  const ready = () => served().call('GET', '/health/ready')
  expect((await ready()).body).toEqual({ status: 'ok' })
  // Nobody can take it: the inbox would tell people so, which is a write.
  await w.make({ requiredCapabilities: ['alchemy'] })
  // As Postgres answers an insert that no room is left for.
  await superuser(served().databaseUrl, (client) =>
    client.query(`create function baton.no_room() returns trigger language plpgsql as $$ begin
        raise exception 'could not extend file "base/1/2": No space left on device' using errcode = '53100'; end $$;
      create trigger no_room before insert or update on baton.tasks for each row when (new.workspace_id = ${workspaceId})
        execute function baton.no_room()`),
  )
  try {
    const refused = await w.post('/tasks', { title: 'In vain' })
    expectRefusal(refused, 503, 'UNAVAILABLE', { because: 'disk_full' })
    expect(refused.body.detail).toContain('The disk of the database is full')
    const notReady = await ready()
    expectRefusal(notReady, 503, 'UNAVAILABLE', { because: 'disk_full' })
    for (const path of ['/tasks', '/inbox'])
      expect((await w.call('GET', path)).status, `${path} is read as it is`).toBe(200)
  } finally {
    await superuser(served().databaseUrl, (client) => client.query('drop function baton.no_room cascade'))
  }
  expect((await w.post('/tasks', { title: 'There is room' })).status).toBe(201)
  expect((await w.call('GET', '/inbox')).body.counts).toMatchObject({ alert: 1 })
  expect((await ready()).body).toEqual({ status: 'ok' })
})

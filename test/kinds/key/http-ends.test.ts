import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { WebSocket } from 'ws'
import { CommitWaiters } from '../../../src/kernel/commit-waiters.ts'
import { Notices } from '../../../src/postgres/connection/notices.ts'
import { CHECK_AGAIN_MS } from '../../../src/server/key-ring.ts'
import { Opening } from '../../../src/server/live/opening.ts'
import { PostgresStore } from '../../../src/store/store.ts'
import { appendEvents } from '../../support/append-events.ts'
import { expectRefusal, openWorkspace, type Workspace } from '../../support/http-workspace.ts'
import { superuser, until } from '../../support/nodes.ts'
import { type ServerUnderTest, startAnother, startServer } from '../../support/server.ts'

/** A key that is revoked or expires closes everything that was opened with it, on every node. */

/**
 * This node gets no notifications, not even its own: what it does for its readers it does on its own. And no node checks keys
 * periodically, which would eventually make up for everything else.
 */
let here: ServerUnderTest
let there: ServerUnderTest
beforeAll(async () => {
  const deaf = vi.spyOn(Notices.prototype, 'listen').mockResolvedValue()
  const set = globalThis.setInterval
  const timers = vi.spyOn(globalThis, 'setInterval')
  timers.mockImplementation(((act: () => void, ms: number) =>
    set(act, ms === CHECK_AGAIN_MS ? NEVER_MS : ms)) as never)
  here = await startServer({ BATON_NODE_NAME: 'here' })
  deaf.mockRestore()
  there = await startAnother(here)
  timers.mockRestore()
})
afterAll(async () => {
  await there.close()
  await here.close()
})
afterEach(() => {
  vi.restoreAllMocks()
})

const NEVER_MS = 2 ** 30

interface Key {
  id: string
  key: string
}
const keyOf = async (w: Workspace, more: object = {}): Promise<Key> =>
  (await w.post('/keys', { name: 'leaked', ...more })).body
const revoke = async (w: Workspace, { id }: Key) =>
  expect((await w.call('DELETE', `/keys/${id}`)).status).toBe(204)

/** Reads the log over this channel, on this node. What was received so far, and its end. */
const LISTEN = {
  async 'a socket'({ key }: Pick<Key, 'key'>, on = here, query = '') {
    const headers = { authorization: `Bearer ${key}` }
    const socket = new WebSocket(`${on.api.replace('http', 'ws')}/events/ws${query}`, { headers })
    const heard: string[] = []
    socket.on('message', (data) => heard.push(data.toString()))
    await once(socket, 'open')
    return { heard, ended: once(socket, 'close'), leave: () => socket.terminate() }
  },
  async 'a stream'({ key }: Pick<Key, 'key'>, on = here) {
    const headers = { authorization: `Bearer ${key}` }
    const sent = get(`${on.api}/events/stream`, { headers, agent: false }).on('error', () => undefined)
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    const heard: string[] = []
    response.on('error', () => undefined).on('data', (data) => heard.push(data.toString()))
    return { heard, ended: once(response, 'close'), leave: () => response.destroy() }
  },
}
const ways = Object.entries(LISTEN)

/** No node reads the log until it is allowed: meanwhile no event is delivered. */
function holdUpTheLog() {
  const read = PostgresStore.prototype.events
  let release!: () => void
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  vi.spyOn(PostgresStore.prototype, 'events').mockImplementation(async function (
    this: PostgresStore,
    ...asked
  ) {
    await released
    return read.apply(this, asked)
  })
  return release
}

/** The key is revoked in the database, without a notification. */
async function revokeWithoutNotice(w: Workspace, { id }: Key, ...after: string[]): Promise<void> {
  const [{ id: workspace }] = (await w.call('GET', '/workspaces')).body.items
  const store = await PostgresStore.open(here.databaseUrl)
  try {
    await superuser(here.databaseUrl, async (client) => {
      const { rows } = await client.query('select workspace_id as id from baton.workspaces where uuid = $1', [
        workspace,
      ])
      await client.query('update baton.api_keys set revoked_at = now() where key_id = $1', [id])
      await appendEvents(store, rows[0].id, [
        ['key_revoked', { actor: 'system' }, { keyId: id, name: 'leaked', endedWith: null }],
        ...after.map((project) => ['project_created', { actor: 'system' }, { project }] as const),
      ])
    })
  } finally {
    await store.close()
  }
}

/** A request that waits, once it does. */
async function waiting({ key }: Key, path: string, body: object | undefined, on = here) {
  const waits = vi.spyOn(CommitWaiters.prototype, 'next')
  const answer = on.call(body ? 'POST' : 'GET', path, body, { key })
  await until(async () => waits.mock.calls.length > 0)
  return { answer }
}
const NEXT = { agent: 'alpha', session: 's-alpha', waitMs: 60_000 }

describe.each(ways)('over %s', (_way, listen) => {
  test('nothing is received that was written after the revocation was answered', async () => {
    const w = await openWorkspace(here)
    const key = await keyOf(w, { role: 'viewer' })
    const readers = await Promise.all(Array.from({ length: 5 }, () => listen(key)))
    await revoke(w, key)
    await Promise.all(Array.from({ length: 50 }, () => w.make({ title: 'a secret' })))
    for (const { heard, ended } of readers) {
      await ended
      expect(heard.join('')).not.toContain('a secret')
    }
  })

  test('the last event received is the revocation, even if more follow it in the log', async () => {
    const w = await openWorkspace(here)
    const key = await keyOf(w, { role: 'viewer' })
    const { heard, ended } = await listen(key)
    await revokeWithoutNotice(w, key, 'a-secret')
    await ended
    expect(heard.join('')).toContain('key_revoked')
    expect(heard.join('')).not.toContain('a-secret')
  })

  test('a reader is disconnected when the revocation is answered, whether the log can be read or not', async () => {
    const w = await openWorkspace(here)
    const key = await keyOf(w, { role: 'viewer' })
    const { ended } = await listen(key)
    const release = holdUpTheLog()
    const closed = vi.spyOn(Opening.prototype, 'close')
    await revoke(w, key)
    expect(closed).toHaveBeenCalledTimes(1)
    await ended
    release()
  })

  test('a reader on another node is disconnected by a notification, whether the log can be read or not', async () => {
    const w = await openWorkspace(here)
    const key = await keyOf(w, { role: 'viewer' })
    const { ended } = await listen(key, there)
    const release = holdUpTheLog()
    await revoke(w, key)
    await ended
    release()
  })

  test('a reader on a node that missed the notification is disconnected when the node listens again', async () => {
    const w = await openWorkspace(here)
    const key = await keyOf(w, { role: 'viewer' })
    const { ended } = await listen(key, there)
    const release = holdUpTheLog()
    await revokeWithoutNotice(w, key)
    await superuser(here.databaseUrl, (client) =>
      client.query(`select pg_terminate_backend(pid) from pg_stat_activity
        where application_name = 'baton-notices' and datname = current_database()`),
    )
    await ended
    release()
  })

  test('a reader is disconnected when its key expires', async () => {
    const w = await openWorkspace(here)
    const key = await keyOf(w, { role: 'viewer', expiresAt: new Date(Date.now() + 1_500).toISOString() })
    const { ended } = await listen(key)
    await ended
  })

  test('readers with other keys continue', async () => {
    const w = await openWorkspace(here)
    const [key, other] = [await keyOf(w), await keyOf(w)]
    const [gone, stays] = [await listen(key), await listen(other)]
    await revoke(w, key)
    await gone.ended
    await w.make({ title: 'still here' })
    await until(async () => stays.heard.join('').includes('still here'))
    stays.leave()
  })
})

test('what agents write reaches no reader whose key was revoked', async () => {
  const w = await openWorkspace(here)
  const key = await keyOf(w, { role: 'viewer' })
  const [gone, stays] = [
    await LISTEN['a socket'](key, here, '?output=all'),
    await LISTEN['a socket']({ key: w.ownerKey }, here, '?output=all'),
  ]
  const release = holdUpTheLog()
  await revoke(w, key)
  const config = { steps: [{ say: 'a secret' }] }
  await w.call('PUT', '/agents/dev', {
    adapterType: 'simulated',
    adapterConfig: config,
    // Only the readers on its own node see what an agent writes.
    runtimeConfig: { node: 'here' },
    coordinatorEnabled: false,
  })
  await w.post('/agents/dev/wakeup')
  await until(async () => stays.heard.join('').includes('a secret'))
  release()
  await gone.ended
  expect(gone.heard.join('')).not.toContain('a secret')
  stays.leave()
})

describe('a request that waits', () => {
  const places: [string, () => ServerUnderTest][] = [
    ['this node', () => here],
    ['another node', () => there],
  ]
  test.each(places)(
    'for work on %s is refused when its key is revoked, and claims nothing',
    async (_where, on) => {
      const w = await openWorkspace(here)
      const key = await keyOf(w)
      const { answer } = await waiting(key, '/claims/next', NEXT, on())
      await revoke(w, key)
      if (on() === there) expectRefusal(await answer, 401, 'UNAUTHENTICATED')
      const task = await w.make()
      expectRefusal(await answer, 401, 'UNAUTHENTICATED')
      expect(await w.read(task)).toMatchObject({ state: 'queued', generation: 0 })
    },
  )

  test('for work checks its key again before it claims, in case no notification came', async () => {
    const w = await openWorkspace(here)
    const key = await keyOf(w)
    const { answer } = await waiting(key, '/claims/next', NEXT)
    await revokeWithoutNotice(w, key)
    await until(async () => (await here.call('GET', '/limits', undefined, { key: key.key })).status === 401)
    const task = await w.make()
    expectRefusal(await answer, 401, 'UNAUTHENTICATED')
    expect(await w.read(task)).toMatchObject({ state: 'queued', generation: 0 })
  })

  test('for work is refused when its key expires', async () => {
    const w = await openWorkspace(here)
    const key = await keyOf(w, { expiresAt: new Date(Date.now() + 1_500).toISOString() })
    const { answer } = await waiting(key, '/claims/next', NEXT)
    expectRefusal(await answer, 401, 'UNAUTHENTICATED')
  })

  test.each(places)('for assignments on %s is refused when its key is revoked', async (_where, on) => {
    const w = await openWorkspace(here)
    await w.call('PUT', '/agents/dev', {})
    const key = await keyOf(w)
    const { answer } = await waiting(key, '/agents/dev/assignments?waitMs=60000', undefined, on())
    await revoke(w, key)
    expectRefusal(await answer, 401, 'UNAUTHENTICATED')
  })
})

test('a body that arrives after its key was revoked does nothing', async () => {
  const w = await openWorkspace(here)
  const { key, id } = await keyOf(w)
  expect((await here.call('GET', '/limits', undefined, { key })).status, 'it is known here').toBe(200)
  const body = JSON.stringify({ title: 'too late' })
  const socket = connect(Number(new URL(here.url).port), '127.0.0.1')
  try {
    const lines = ['POST /api/v1/tasks HTTP/1.1', 'Host: 127.0.0.1', `Authorization: Bearer ${key}`]
    const more = ['Content-Type: application/json', `Content-Length: ${body.length}`, 'Expect: 100-continue']
    socket.write(`${[...lines, ...more].join('\r\n')}\r\n\r\n`)
    // The server asks for the body when it has seen the headers.
    expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1\.1 100 /)
    await revoke(w, { key, id })
    socket.write(body)
    expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1\.1 401 /)
  } finally {
    socket.destroy()
  }
  expect((await w.call('GET', '/tasks')).body.items).toEqual([])
})

test('a revoked key grants nothing on another node that had cached it', async () => {
  const w = await openWorkspace(here)
  const key = await keyOf(w)
  const status = async () => (await there.call('GET', '/limits', undefined, { key: key.key })).status
  expect(await status()).toBe(200)
  await revoke(w, key)
  await until(async () => (await status()) === 401)
})

import { once } from 'node:events'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { WebSocket } from 'ws'
import { CHECK_AGAIN_MS } from '../../../src/server/key-ring.ts'
import { type Browser, refusalOf, sendAs, signedIn, socketAt } from '../../support/browser.ts'
import { inOneHour, openWorkspace, type Workspace } from '../../support/http-workspace.ts'
import { superuser, until } from '../../support/nodes.ts'
import { type ServerUnderTest, startAnother, startServer } from '../../support/server.ts'

/** Sockets of browser sessions: opened with a ticket, closed with the session. */

let here: ServerUnderTest
let there: ServerUnderTest
let w: Workspace
beforeAll(async () => {
  // No node checks sessions periodically, which would eventually make up for everything else.
  const set = globalThis.setInterval
  const timers = vi.spyOn(globalThis, 'setInterval')
  timers.mockImplementation(((act: () => void, ms: number) =>
    set(act, ms === CHECK_AGAIN_MS ? 2 ** 30 : ms)) as never)
  here = await startServer({ BATON_NODE_NAME: 'here' })
  there = await startAnother(here)
  timers.mockRestore()
  w = await openWorkspace(here)
})
afterAll(async () => {
  await there.close()
  await here.close()
})

const browser = (key = w.ownerKey) => signedIn(here, { key })
const ticketOf = async ({ call }: Browser): Promise<string> =>
  (await call('POST', '/session/ticket', {})).body.ticket
async function opened(socket: WebSocket) {
  const heard: string[] = []
  socket.on('message', (data) => heard.push(data.toString()))
  const closed = once(socket, 'close').then(([code]) => code as number)
  await once(socket, 'open')
  return { heard, closed, leave: () => socket.terminate() }
}

describe('a ticket', () => {
  test('opens the socket of its session, on every node', async () => {
    const one = await browser()
    for (const node of [here, there]) {
      const socket = await one.socket('', node)
      const { heard } = await opened(socket)
      const { id } = await w.make({ title: 'Seen' })
      await until(async () => heard.join('').includes(id))
      socket.terminate()
    }
  })

  test('opens one socket, even if two nodes get it at once', async () => {
    const one = await browser()
    const ticket = await ticketOf(one)
    const outcomes = await Promise.all(
      [here, there, here, there].map((node) => refusalOf(socketAt(node, `?ticket=${ticket}`))),
    )
    expect(outcomes.map(String).sort()).toEqual(['401', '401', '401', 'opened'])
  })

  test('is valid for thirty seconds', async () => {
    const one = await browser()
    const { ticket, expiresAt } = (await one.call('POST', '/session/ticket', {})).body
    expect(Math.round((Date.parse(expiresAt) - Date.now()) / 1000)).toBeLessThanOrEqual(30)
    await superuser(here.databaseUrl, (client) =>
      client.query(`update baton.socket_tickets set expires_at = now() - interval '1 ms'`),
    )
    expect(await refusalOf(socketAt(here, `?ticket=${ticket}`))).toBe(401)
  })

  test('opens nothing else, and a socket needs one: a cookie alone is refused', async () => {
    const one = await browser()
    const ticket = await ticketOf(one)
    expect((await sendAs(here, 'GET', `/api/v1/limits?ticket=${ticket}`)).status).toBe(401)
    expect(await refusalOf(socketAt(here, '', { cookie: one.cookie }))).toBe(401)
    expect(await refusalOf(socketAt(here, '?ticket=x', { cookie: one.cookie }))).toBe(401)
    expect(await refusalOf(socketAt(here, `?ticket=${ticket}`))).toBe('opened')
  })

  test('opens nothing from another origin, another port or another site', async () => {
    const one = await browser()
    const { hostname, port } = new URL(here.url)
    for (const origin of ['https://evil.example', `http://${hostname}:${Number(port) + 1}`, 'null'])
      expect(await refusalOf(socketAt(here, `?ticket=${await ticketOf(one)}`, {}, origin))).toBe(403)
    const site = { 'sec-fetch-site': 'same-site' }
    expect(await refusalOf(socketAt(here, `?ticket=${await ticketOf(one)}`, site))).toBe(403)
  })

  test('opens the workspace of its session, and no other that the address names', async () => {
    const [one, other] = [await browser(), await browser((await openWorkspace(here)).ownerKey)]
    const named = async ({ session }: Browser) =>
      refusalOf(socketAt(here, `?ticket=${await ticketOf(one)}&workspace=${session.workspace.id}`))
    expect([await named(one), await named(other)]).toEqual(['opened', 404])
  })

  test('of a session that has ended opens nothing', async () => {
    const one = await browser()
    const ticket = await ticketOf(one)
    await one.call('DELETE', '/session')
    expect(await refusalOf(socketAt(there, `?ticket=${ticket}`))).toBe(401)
  })
})

describe('the socket of a session closes with 4401', () => {
  const ENDS: [what: string, end: (one: Browser) => Promise<unknown>][] = [
    ['its key is revoked', (one) => w.call('DELETE', `/keys/${one.session.key.id}`)],
    ['it signs out', (one) => one.call('DELETE', '/session')],
    ['an admin ends it', (one) => w.call('DELETE', `/session/all/${one.session.id}`)],
  ]
  test.each(ENDS)('when %s, on every node, and those of others stay open', async (_what, end) => {
    const { key } = (await w.post('/keys', { name: 'anna' })).body
    const [one, other] = [await browser(key), await browser()]
    const first = await opened(await one.socket('', here))
    const second = await opened(await one.socket('', there))
    const third = await opened(await other.socket('', there))
    const stream = sendAs(here, 'GET', '/api/v1/events/stream', one.headers)
    await end(one)
    expect([await first.closed, await second.closed]).toEqual([4401, 4401])
    // It has ended, or came too late.
    await stream
    await w.make({ title: 'For the others' })
    await until(async () => third.heard.join('').includes('task_created'))
    third.leave()
  })

  test('when its key expires', async () => {
    const { key, id } = (await w.post('/keys', { name: 'brief', expiresAt: inOneHour() })).body
    const ticket = await ticketOf(await browser(key))
    await superuser(here.databaseUrl, (client) =>
      client.query(`update baton.api_keys set expires_at = now() + interval '5 s' where key_id = $1`, [id]),
    )
    const { closed } = await opened(socketAt(here, `?ticket=${ticket}`))
    expect(await closed).toBe(4401)
  })

  test('also that of a key in a header, when the key is revoked', async () => {
    const { key, id } = (await w.post('/keys', { name: 'program' })).body
    const { closed } = await opened(socketAt(here, '', { authorization: `Bearer ${key}` }))
    await w.call('DELETE', `/keys/${id}`)
    expect(await closed).toBe(4401)
  })
})

test('the socket of a session closes with 1001 when the server stops', async () => {
  const stopping = await startAnother(here)
  const one = await browser()
  const { closed } = await opened(await one.socket('', stopping))
  await stopping.close()
  expect(await closed).toBe(1001)
})

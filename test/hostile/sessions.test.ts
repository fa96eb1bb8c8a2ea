import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import Fastify from 'fastify'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { WebSocket } from 'ws'
import { readConfig } from '../../src/config.ts'
import { uuidCarrying } from '../../src/pure/ids.ts'
import { StartRefused } from '../../src/pure/refusal.ts'
import { listen } from '../../src/server/loopback.ts'
import { start } from '../../src/start.ts'
import {
  type BrowserAnswer,
  newLinkToken,
  refusalOf,
  sendAs,
  signedIn,
  socketAt,
} from '../support/browser.ts'
import { expectRefusal, type Json, openWorkspace, type Workspace } from '../support/http-workspace.ts'
import { superuser, until } from '../support/nodes.ts'
import { type ServerUnderTest, startAnother, startServer } from '../support/server.ts'

/** Others on the same machine, network and server, who want a session or more rights than they were given. */

let server: ServerUnderTest
let w: Workspace
let port: number
beforeAll(async () => {
  server = await startServer()
  w = await openWorkspace(server)
  port = Number(new URL(server.url).port)
})
afterAll(() => server.close())

const HTML = { accept: 'text/html' }
const codeOf = ({ status, body }: BrowserAnswer) => [status, body.code]
const keyOf = async (more: Json = {}, of = w) => (await of.post('/keys', { name: 'anna', ...more })).body
const signIn = (headers: Record<string, string>, by: Json = { key: w.ownerKey }, on = server) =>
  sendAs(on, 'POST', '/api/v1/session', headers, by)

/** Null: somebody listens there already. */
async function listenAt(host: string, at: number) {
  const stranger = createServer()
  const listening = once(stranger.listen(at, host), 'listening').then(
    () => true,
    () => false,
  )
  if (!(await listening)) return null
  onTestFinished(() => void stranger.close())
  return stranger
}
const hasIpv6 = await (async () => {
  const probe = createServer()
  const isThere = await once(probe.listen(0, '::1'), 'listening').then(
    () => true,
    () => false,
  )
  probe.close()
  return isThere
})()

describe.skipIf(!hasIpv6)('another program on this machine', () => {
  test('cannot listen on [::1] at the port of Baton, where it would be the same origin at localhost', async () => {
    expect(await listenAt('::1', port)).toBeNull()
  })

  test('that is there already makes a start refuse with one sentence', async () => {
    const stranger = (await listenAt('::1', 0))!
    const { port: taken } = stranger.address() as { port: number }
    const BATON_DATA = join(server.dataFolder, 'second')
    const env = { BATON_PORT: String(taken), BATON_DATA, DATABASE_URL: server.databaseUrl }
    const refused = await start(readConfig({ ...env, BATON_LOG_LEVEL: 'silent' })).then(
      (baton) => baton.stop().then(() => new Error('It started.')),
      (error: Error) => error,
    )
    expect(refused).toBeInstanceOf(StartRefused)
    expect(existsSync(BATON_DATA)).toBe(false)
    expect(refused.message).toBe(
      `Port ${taken} is in use on ::1 by another program, which browsers would take for Baton at http://localhost:${taken}; stop it or set BATON_PORT.`,
    )
  })

  test('may have the port on an address that was not taken because BATON_HOST is set', async () => {
    const chosen = await startServer({ BATON_HOST: '127.0.0.1' })
    onTestFinished(() => chosen.close())
    expect(await listenAt('::1', Number(new URL(chosen.url).port))).not.toBeNull()
  })
})

describe.skipIf(!hasIpv6)('what is served on [::1]', () => {
  const there = () => ({ ...server, url: `http://[::1]:${port}`, api: `http://[::1]:${port}/api/v1` })

  test('is Baton: pages, keys, sessions and sockets', async () => {
    expect((await sendAs(there(), 'GET', '/sign-in', HTML)).status).toBe(200)
    const asOwner = { authorization: `Bearer ${w.ownerKey}` }
    expect((await sendAs(there(), 'GET', '/api/v1/limits', asOwner)).status).toBe(200)
    const browser = await signedIn(there(), { key: w.ownerKey })
    expect((await browser.call('GET', '/session')).status).toBe(200)
    const socket = await browser.socket()
    await once(socket, 'open')
    const said = once(socket, 'message')
    await w.make()
    await said
    socket.close()
    await once(socket, 'close')
  })

  test('gets the same answer to what is not HTTP, and the same limit of connections', async () => {
    const small = await startServer({ BATON_MAX_CONNECTIONS: '4' })
    onTestFinished(() => small.close())
    const { port: at } = new URL(small.url)
    const sockets: Socket[] = []
    onTestFinished(() => sockets.forEach((one) => void one.destroy()))
    const opened = async (host: string) => {
      const socket = connect(Number(at), host)
      sockets.push(socket)
      socket.on('error', () => undefined).write('nonsense\r\n\r\n')
      const [answer] = await Promise.race([once(socket, 'data'), once(socket, 'close')])
      return answer instanceof Buffer ? answer.toString('latin1').split('\r\n')[0] : 'closed'
    }
    const held = async (host: string) => {
      const socket = connect(Number(at), host)
      sockets.push(socket)
      await once(socket, 'connect')
      return socket
    }
    expect(await opened('::1')).toBe('HTTP/1.1 400 Bad Request')
    const waiting = [await held('::1'), await held('::1'), await held('127.0.0.1'), await held('127.0.0.1')]
    await until(async () => (await opened('127.0.0.1')) === 'closed' && (await opened('::1')) === 'closed')
    for (const socket of waiting) socket.destroy()
    await until(async () => (await opened('::1')) === 'HTTP/1.1 400 Bad Request')
  })

  test('ends with the server: a started request is answered, a socket is closed, nothing hangs', async () => {
    const stopping = await startServer()
    const on = { ...stopping, url: stopping.url.replace('127.0.0.1', '[::1]') }
    const at = Number(new URL(on.url).port)
    const socket = new WebSocket(`ws://[::1]:${at}/api/v1/events/ws`, {
      headers: { authorization: `Bearer ${stopping.ownerKey}` },
    })
    await once(socket, 'open')
    const idle = connect(at, '::1')
    await once(idle, 'connect')
    const claim = sendAs(
      on,
      'POST',
      '/api/v1/claims/next',
      {
        authorization: `Bearer ${stopping.ownerKey}`,
      },
      { agent: 'alpha', session: 's-1', waitMs: 60_000 },
    )
    const closed = once(socket, 'close')
    await stopping.call('GET', '/limits')
    await stopping.close()
    expect((await closed)[0]).toBe(1001)
    expect((await claim).status).toBeLessThan(600)
    expect(await listenAt('::1', at), 'the port is free again').not.toBeNull()
  })
})

test('without IPv6 Baton listens on 127.0.0.1 alone', async () => {
  const app = Fastify()
  app.get('/', async () => 'here')
  onTestFinished(() => app.close())
  // An address of no machine (RFC 3849): the kernel refuses it as it does ::1 without IPv6.
  const { port: at } = await listen(app, { host: '127.0.0.1', otherHost: '2001:db8::1', port: 0 })
  expect(await (await fetch(`http://127.0.0.1:${at}/`)).text()).toBe('here')
})

describe('at "localhost", a name of two addresses,', () => {
  const localhost = () => ({ host: `localhost:${port}` })

  test('pages lead to the address of Baton, with path and query', async () => {
    for (const path of ['/', '/sign-in', '/w/1/board?task=2&q=a%20b'])
      for (const name of ['localhost', 'LocalHost']) {
        const { status, headers } = await sendAs(server, 'GET', path, { ...HTML, host: `${name}:${port}` })
        expect([status, headers.location]).toEqual([307, `${server.url}${path}`])
        expect(headers['cache-control']).toBe('no-store')
      }
    expect((await sendAs(server, 'GET', '/sign-in', HTML)).status).toBe(200)
  })

  test('and not elsewhere, whatever the request line says', async () => {
    for (const line of ['http://evil.example/x', '//evil.example/x', '@evil.example']) {
      const socket = connect(port, '127.0.0.1')
      socket.end(
        `GET ${line} HTTP/1.1\r\nHost: localhost:${port}\r\nAccept: text/html\r\nConnection: close\r\n\r\n`,
      )
      let said = ''
      for await (const chunk of socket.setEncoding('latin1')) said += chunk
      const [, location = server.url] = /^location: (.*)\r$/im.exec(said) ?? []
      expect(new URL(location).origin).toBe(server.url)
    }
  })

  test('nobody signs in, with a key or a link, and no session is used', async () => {
    const token = await newLinkToken(server, w.ownerKey)
    for (const by of [{ key: w.ownerKey }, { token }]) {
      const refused = await signIn({ ...localhost(), origin: `http://localhost:${port}` }, by)
      expect(codeOf(refused)).toEqual([403, 'HOST_NOT_ALLOWED'])
      expect(refused.body.detail).toContain(server.url)
      expect(refused.headers['set-cookie']).toBeUndefined()
    }
    const browser = await signedIn(server, { token })
    expect(codeOf(await browser.call('GET', '/session', undefined, localhost()))).toEqual([
      403,
      'HOST_NOT_ALLOWED',
    ])
    const { ticket } = (await browser.call('POST', '/session/ticket')).body
    const socket = socketAt(server, `?ticket=${ticket}`, localhost(), `http://localhost:${port}`)
    expect(await refusalOf(socket)).toBe(403)
  })

  test('keys still work, and links that are made there lead to the address of Baton', async () => {
    const headers = { ...localhost(), authorization: `Bearer ${w.ownerKey}` }
    expect((await sendAs(server, 'GET', '/api/v1/limits', headers)).status).toBe(200)
    const link = await sendAs(server, 'POST', '/api/v1/session/link', headers, {})
    expect(link.body.url).toMatch(new RegExp(`^${server.url}/sign-in#`))
  })

  test('pages stay where the operator chose that name', async () => {
    const chosen = await startServer({ BATON_PUBLIC_URL: 'http://localhost:4400' })
    onTestFinished(() => chosen.close())
    expect((await sendAs(chosen, 'GET', '/sign-in', { ...HTML, host: 'localhost:4400' })).status).toBe(200)
  })
})

describe('somebody who has the cookie of another person', () => {
  test('does not end their session by signing in', async () => {
    const victim = await signedIn(server, { key: w.ownerKey })
    const thief = await keyOf({ role: 'viewer' })
    const wrong = 'x'.repeat(43)
    const values: Record<string, string>[] = [{}, wrong, `${wrong}, nonsense,,`].map((value) =>
      typeof value === 'string' ? { 'baton-session': value } : value,
    )
    for (const value of values)
      expect((await signIn({ cookie: victim.cookie, ...value }, { key: thief.key })).status).toBe(201)
    const token = await newLinkToken(server, w.ownerKey)
    expect((await signIn({ cookie: victim.cookie }, { token })).status).toBe(201)
    expect((await victim.call('GET', '/session')).status).toBe(200)
  })

  test('gets 401, not an error, when it names a workspace that cannot exist', async () => {
    const cookie = `baton-${uuidCarrying(2 ** 40, Date.now(), 1)}=${'x'.repeat(43)}`
    const asked = await sendAs(server, 'GET', '/api/v1/session', { cookie, 'baton-session': 'x'.repeat(43) })
    expect(codeOf(asked)).toEqual([401, 'UNAUTHENTICATED'])
  })
})

describe('the sessions of a key', () => {
  const idsOf = async (key: string) =>
    (await server.call('GET', '/session/all', undefined, { key })).body.items.map(({ id }: Json) => id)

  test('are at most twenty: a further one ends the one that was not used for the longest time', async () => {
    const { key } = await keyOf({ role: 'member' })
    const browsers = []
    for (let i = 0; i < 20; i++) browsers.push(await signedIn(server, { key }))
    const [first, second] = browsers
    const socket = await second!.socket()
    await once(socket, 'open')
    await superuser(server.databaseUrl, (client) =>
      client.query(
        `update baton.browser_sessions set last_seen_at = last_seen_at - interval '1 hour' where session_id = $1`,
        [second!.session.id],
      ),
    )
    const closed = once(socket, 'close')
    await signedIn(server, { key })
    expect((await closed)[0]).toBe(4401)
    expect((await second!.call('GET', '/session')).status).toBe(401)
    expect((await first!.call('GET', '/session')).status).toBe(200)
    expect(await idsOf(key)).toHaveLength(20)
  })

  test('also when many begin at once, on two nodes', async () => {
    const other = await startAnother(server)
    onTestFinished(() => other.close())
    const { key } = await keyOf({ role: 'member' })
    const begin = (i: number) =>
      until(async () => {
        const answer = await signIn({}, { key }, i % 2 ? server : other)
        // A busy database refuses some of them for the moment.
        return answer.status !== 503 && answer
      })
    const all = await Promise.all(Array.from({ length: 30 }, (_, i) => begin(i)))
    expect(all.map(({ status }) => status)).toEqual(all.map(() => 201))
    expect(await idsOf(key)).toHaveLength(20)
  })

  test('end together, on all nodes, with their sockets and with links that nobody used yet', async () => {
    const other = await startAnother(server)
    onTestFinished(() => other.close())
    const anna = await keyOf({ role: 'admin' })
    const [one, two] = [await signedIn(server, { key: anna.key }), await signedIn(other, { key: anna.key })]
    const bystander = await signedIn(server, { key: w.ownerKey })
    const token = await newLinkToken(server, anna.key)
    const socket = await two.socket()
    await once(socket, 'open')
    const closed = once(socket, 'close')
    expect((await two.call('GET', '/session')).status, 'known on the other node').toBe(200)
    const out = await one.call('DELETE', '/session/all')
    expect(out.status).toBe(204)
    expect(String(out.headers['set-cookie'])).toContain('Max-Age=0')
    expect((await closed)[0]).toBe(4401)
    for (const { call } of [one, two]) expect((await call('GET', '/session')).status).toBe(401)
    expect(codeOf(await signIn({}, { token }))).toEqual([401, 'UNAUTHENTICATED'])
    expect((await bystander.call('GET', '/session')).status).toBe(200)
    expect((await signIn({}, { key: anna.key })).status, 'the key is still valid').toBe(201)
  })

  test('are ended for another key by an admin alone, and in the own workspace alone', async () => {
    const [anna, bert] = [await keyOf({ role: 'member' }), await keyOf({ role: 'member' })]
    const browser = await signedIn(server, { key: anna.key })
    const end = (key: string) => server.call('DELETE', `/session/all?key=${anna.id}`, undefined, { key })
    expectRefusal(await end(bert.key), 403, 'FORBIDDEN')
    await end((await openWorkspace(server)).ownerKey)
    expect((await browser.call('GET', '/session')).status).toBe(200)
    expect((await end(w.ownerKey)).status).toBe(204)
    expect((await browser.call('GET', '/session')).status).toBe(401)
  })
})

describe('over plain http beyond this machine', () => {
  let open: ServerUnderTest
  beforeAll(async () => {
    open = await startServer({
      BATON_ALLOWED_HOSTS: 'baton.example,127.0.0.1.example',
      BATON_ALLOWED_ORIGINS: 'http://baton.example,https://baton.example',
    })
  })
  afterAll(() => open.close())
  const attempt = (headers: Record<string, string>) => signIn(headers, { key: open.ownerKey }, open)

  test.each([
    ['the host says so', { host: 'baton.example' }],
    ['its page says so', { host: 'baton.example', origin: 'http://baton.example' }],
    ['its page says so, behind a proxy that names this machine', { origin: 'http://baton.example' }],
    ['the host only looks like this machine', { host: '127.0.0.1.example' }],
  ] as [string, Record<string, string>][])('nobody signs in when %s', async (_when, headers) => {
    const refused = await attempt(headers)
    expect(codeOf(refused)).toEqual([403, 'HTTPS_REQUIRED'])
    expect(refused.headers['set-cookie']).toBeUndefined()
    expect(refused.body.detail).toMatch(/TLS|tunnel/)
  })

  test('and people behind a proxy with TLS do, as do those on this machine', async () => {
    for (const headers of [
      { host: 'baton.example', origin: 'https://baton.example' },
      { origin: 'https://baton.example' },
      { origin: open.url },
      {},
    ] as Record<string, string>[])
      expect((await attempt(headers)).status, JSON.stringify(headers)).toBe(201)
  })

  test('keys work as before', async () => {
    const headers = { host: 'baton.example', authorization: `Bearer ${open.ownerKey}` }
    expect((await sendAs(open, 'GET', '/api/v1/limits', headers)).status).toBe(200)
  })
})

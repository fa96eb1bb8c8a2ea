import { once } from 'node:events'
import { request } from 'node:http'
import { connect } from 'node:net'
import { afterAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { type ServerUnderTest, startServer } from '../support/server.ts'

/** Any web page can reach 127.0.0.1: which hosts and origins are admitted, before a key is checked. */

const server = await startServer()
// A timeout of its own: a refused caller whose connection stays open would keep the server from stopping.
afterAll(() => server.close(), 20_000)

describe('only known hosts and origins', () => {
  const { port } = new URL(server.url)
  const ask = (path: string, headers: Record<string, string>, to = port) =>
    new Promise<{ status: number; body: string; cors: unknown }>((resolve, reject) => {
      const all = { authorization: `Bearer ${server.ownerKey}`, ...headers }
      request({ host: '127.0.0.1', port: to, path, headers: all }, (response) => {
        let body = ''
        response.on('data', (chunk) => (body += chunk))
        response.on('end', () =>
          resolve({
            status: response.statusCode!,
            body,
            cors: response.headers['access-control-allow-origin'],
          }),
        )
      })
        .on('error', reject)
        .end()
    })
  const PATHS = ['/api/v1/limits', '/health/live', '/openapi.json', '/nowhere', '/api/v1/events/stream']

  test.each(['127.0.0.1', 'localhost', 'LOCALHOST', '[::1]'])('%s is an allowed host', async (host) => {
    for (const name of [host, `${host}:${port}`])
      expect((await ask('/health/live', { host: name })).status).toBe(200)
  })

  test.each([
    'evil.example',
    `127.0.0.1.evil.example:${port}`,
    `localhost.evil.example:${port}`,
    '0.0.0.0',
    '127.0.0.2',
    `evil@127.0.0.1:${port}`,
    `127.0.0.1:${port}@evil.example`,
    'xn--localhost',
  ])('the host "%s" is not: a rebound name gets nothing, not even with a key', async (host) => {
    for (const path of PATHS) {
      const { status, body } = await ask(path, { host })
      expect([status, JSON.parse(body).code], path).toEqual([403, 'HOST_NOT_ALLOWED'])
    }
  })

  test.each([
    'https://evil.example',
    'null',
    `http://localhost:1`,
    `http://127.0.0.1.evil.example:${port}`,
    'file://',
    'nonsense',
    `http://127.0.0.1:${port}, https://evil.example`,
  ])('pages from "%s" get nothing, and no CORS header', async (origin) => {
    for (const path of PATHS) {
      const { status, body, cors } = await ask(path, { origin })
      expect([status, JSON.parse(body).code, cors], path).toEqual([403, 'ORIGIN_NOT_ALLOWED', undefined])
    }
  })

  test('its own pages, and hosts and origins that were allowed by name, are admitted', async () => {
    expect((await ask('/api/v1/limits', { origin: server.url })).status).toBe(200)
    const open = await startServer({
      BATON_ALLOWED_HOSTS: 'Baton.example',
      BATON_ALLOWED_ORIGINS: 'https://board.example',
    })
    try {
      const { port } = new URL(open.url)
      const asOwner = { authorization: `Bearer ${open.ownerKey}` }
      const status = async (headers: Record<string, string>) =>
        (await ask('/api/v1/limits', { ...asOwner, ...headers }, port)).status
      expect(await status({ host: 'baton.example:80' })).toBe(200)
      expect(await status({ origin: 'https://board.example' })).toBe(200)
      expect(await status({ origin: 'https://board.example.evil' })).toBe(403)
    } finally {
      await open.close()
    }
  })
})

describe('a WebSocket', () => {
  const asOwner = { authorization: `Bearer ${server.ownerKey}` }
  type Options = { origin?: string; headers: Record<string, string> }
  const REFUSED: [what: string, status: number, options: Options, query?: string][] = [
    ['a foreign origin', 403, { origin: 'https://evil.example', headers: asOwner }],
    ['no origin worth the name', 403, { origin: 'null', headers: asOwner }],
    ['a foreign host', 403, { headers: { ...asOwner, host: 'evil.example' } }],
    ['no key', 401, { headers: {} }],
    ['nonsense to start from', 400, { headers: asOwner }, '?after=x'],
    ['another path', 404, { headers: asOwner }, '/nowhere'],
  ]
  const open = (query: string, options: Options) =>
    new WebSocket(`${server.api.replace('http', 'ws')}/events/ws${query}`, options)

  test.each(REFUSED)(
    'with %s is refused (%i) before the upgrade',
    async (_what, status, options, query = '') => {
      const socket = open(query, options)
      const opened = new Promise((resolve) => socket.once('open', () => resolve('opened')))
      const refused = new Promise((resolve) =>
        socket.once('unexpected-response', (_request, response) => resolve(response.statusCode)),
      )
      expect(await Promise.race([opened, refused])).toBe(status)
      socket.on('error', () => undefined).terminate()
    },
  )

  test('from its own page is opened', async () => {
    const socket = open('', { origin: server.url, headers: asOwner })
    await once(socket, 'open')
    socket.close()
    await once(socket, 'close')
  })

  test.each([
    ['without a key', ''],
    ['from a foreign page', `Authorization: Bearer ${server.ownerKey}\r\nOrigin: https://evil.example\r\n`],
  ])(
    '%s that was refused is disconnected, even if the client keeps the connection open',
    async (_what, headers) => {
      const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
      const upgrade = 'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n'
      const key = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n'
      try {
        socket.write(`GET /api/v1/events/ws HTTP/1.1\r\nHost: 127.0.0.1\r\n${upgrade}${key}${headers}\r\n`)
        const [answer] = await once(socket, 'data')
        expect(answer.toString()).toMatch(/^HTTP\/1\.1 40[13] /)
        await once(socket, 'end')
      } finally {
        socket.destroy()
      }
    },
  )

  test('requested without an upgrade is refused with a problem, like everything else', async () => {
    const answer = await fetch(`${server.api}/events/ws`, { headers: asOwner })
    expect([answer.status, answer.headers.get('content-type')]).toEqual([
      426,
      expect.stringContaining('application/problem+json'),
    ])
  })
})

describe('an admitted caller', () => {
  const line = (target: ServerUnderTest, more: string) => {
    const socket = connect(Number(new URL(target.url).port), '127.0.0.1').on('error', () => undefined)
    socket.write(
      `${more.replace('\r\n', `\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${target.ownerKey}\r\n`)}`,
    )
    return socket
  }
  const UPGRADE = `Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n`

  // A server that waits for its callers would wait forever.
  test.each([
    [
      'has sent half a request',
      'POST /api/v1/tasks HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"t',
    ],
    ['does not answer on its socket', `GET /api/v1/events/ws HTTP/1.1\r\n${UPGRADE}\r\n`],
    ['has sent no request yet', ''],
  ])('that %s does not keep the server from stopping', async (_what, request) => {
    const stopping = await startServer()
    const socket = line(stopping, request)
    try {
      // The server has seen what was sent when it has answered a later caller, or the caller itself.
      await (request.startsWith('GET') ? once(socket, 'data') : stopping.call('GET', '/limits'))
      await stopping.close()
    } finally {
      socket.destroy()
    }
  })
})

import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { pino } from 'pino'
import { afterEach, describe, expect, test } from 'vitest'
import { readConfig } from '../../src/config.ts'
import type { ConnectionLimits } from '../../src/server/connections.ts'
import { buildServer } from '../../src/server/server.ts'
import { until } from '../support/nodes.ts'

/** Connections are closed before the store is used: this one only implements what listeners need. */
const store = { onCommit: () => () => undefined, onRevoked: () => () => undefined, readers: null }
const kernel = { store, arrivals: { close() {} }, changes: { close() {} } }

let app: FastifyInstance | undefined
const sockets: Socket[] = []

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  await app?.close()
  app = undefined
})

async function serve(connections: Partial<ConnectionLimits> = {}): Promise<FastifyInstance> {
  app = await buildServer({
    kernel: kernel as never,
    coordinator: {} as never,
    execution: {} as never,
    metrics: { answered: () => undefined } as never,
    started: {} as never,
    allowed: { hosts: ['127.0.0.1'], origins: [], insteadOfLocalhost: null },
    logger: pino({ level: 'silent' }),
    connections,
    version: 'test',
    webApp: { folder: '/nowhere' },
  })
  // One that reads a body and needs no key.
  app.post('/open', { config: { needs: 'nothing' } }, async () => 'read')
  await app.listen({ host: '127.0.0.1', port: 0 })
  return app
}

/** A client that never closes its own side: whether the connection ends is up to the server. */
async function connected(server: FastifyInstance): Promise<Socket> {
  const { port } = server.server.address() as AddressInfo
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  sockets.push(socket)
  // A reset is one of the ways in which a connection ends.
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  return socket
}

/** All that the server sends. Read manually: reading a stream to its end would also close it. */
const saidTo = (socket: Socket) =>
  new Promise<string>((resolve) => {
    let said = ''
    socket.setEncoding('utf8').on('data', (piece) => {
      said += piece
    })
    socket.once('end', () => resolve(said))
  })

const openOn = (server: FastifyInstance) =>
  new Promise<number>((resolve, reject) =>
    server.server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
  )
const noneIsOpen = (server: FastifyInstance) => until(async () => (await openOn(server)) === 0)

function problemIn(answer: string) {
  const [head, body] = answer.split('\r\n\r\n') as [string, string]
  const { code, status } = JSON.parse(body)
  return { line: head.split('\r\n')[0], code, status, isProblem: head.includes('application/problem+json') }
}

describe('a refused connection is closed, even if its other end keeps it open', () => {
  test.each([
    ['nonsense', 'what is this\r\n\r\n', 400, 'MALFORMED_REQUEST'],
    ['an unknown method', 'FROB / HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n', 400, 'MALFORMED_REQUEST'],
    ['a TLS greeting', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 400, 'MALFORMED_REQUEST'],
    ['a header without end', `GET / HTTP/1.1\r\nx: ${'x'.repeat(20_000)}`, 431, 'HEADERS_TOO_LARGE'],
  ])('after %s', async (_what, sent, status, code) => {
    const server = await serve({ lingerMs: 1 })
    const socket = await connected(server)
    const answer = saidTo(socket)
    socket.write(sent, 'latin1')
    expect(problemIn(await answer)).toMatchObject({ status, code, isProblem: true })
    await noneIsOpen(server)
  })

  test('while it keeps sending', async () => {
    const server = await serve({ lingerMs: 1 })
    const socket = await connected(server)
    const closed = new Promise((resolve) => socket.once('close', resolve))
    const more = () => socket.write('nonsense\r\n', () => setImmediate(more))
    more()
    socket.resume()
    await closed
    await noneIsOpen(server)
  })
})

describe('an incomplete request is answered with 408, and its connection closed', () => {
  const open = 'POST /open HTTP/1.1\r\nhost: 127.0.0.1\r\n'
  const hasty = { headersMs: 20, requestMs: 20, checkEveryMs: 5, lingerMs: 1 }
  test.each([
    ['no request at all', ''],
    ['half a line', 'GET /hea'],
    ['half a head', 'GET /health/live HTTP/1.1\r\nhost: 127.0.0.1\r\n'],
    ['half a body', `${open}content-type: application/json\r\ncontent-length: 99\r\n\r\n{`],
  ])('%s', async (_what, sent) => {
    const server = await serve(hasty)
    const socket = await connected(server)
    const answer = saidTo(socket)
    if (sent) socket.write(sent)
    expect(problemIn(await answer)).toEqual({
      line: 'HTTP/1.1 408 Request Timeout',
      code: 'REQUEST_TIMEOUT',
      status: 408,
      isProblem: true,
    })
    await noneIsOpen(server)
  })
})

describe('there are no more connections than allowed', () => {
  test('one too many is closed on arrival, and a freed place can be used', async () => {
    const server = await serve({ most: 2 })
    const [first] = [await connected(server), await connected(server)]
    await until(async () => (await openOn(server)) === 2)
    const third = await connected(server)
    await once(third.resume(), 'end')
    expect(await openOn(server)).toBe(2)
    first.destroy()
    await until(async () => (await openOn(server)) === 1)
    const fourth = await connected(server)
    fourth.write('GET /health/live HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n')
    expect(await saidTo(fourth)).toContain('HTTP/1.1 200')
  })

  test('the limit is a setting', () => {
    expect(readConfig({}).mostConnections).toBe(10_000)
    expect(readConfig({ BATON_MAX_CONNECTIONS: '7' }).mostConnections).toBe(7)
    for (const wrong of ['0', '-1', 'many', '99999999'])
      expect(() => readConfig({ BATON_MAX_CONNECTIONS: wrong })).toThrow(
        'BATON_MAX_CONNECTIONS must be a number of connections.',
      )
  })
})

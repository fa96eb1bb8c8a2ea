import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'
import { useServer } from '../support/http-workspace.ts'

const { served, workspace } = useServer()

const SAFE = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
}
const safetyOf = (headers: Headers) =>
  Object.fromEntries(Object.keys(SAFE).map((name) => [name, headers.get(name)]))

describe('no answer can be framed, sniffed, cached or leak a referrer', () => {
  test.each([
    ['an answer', '/api/v1/tasks', {}, 200],
    ['one without a key', '/api/v1/tasks', { authorization: '' }, 401],
    ['one to a strange page', '/api/v1/tasks', { origin: 'https://evil.example' }, 403],
    ['one to a bad query', '/api/v1/tasks?nonsense=1', {}, 400],
    ['one where nothing is', '/nothing', {}, 404],
    ['one to a path that is none', '/api/v1/tasks/%ff', {}, 400],
    ['health', '/health/live', {}, 200],
    ['the API document', '/openapi.json', {}, 200],
    ['a stream', '/api/v1/events/stream', {}, 200],
    ['a socket without an upgrade', '/api/v1/events/ws', {}, 426],
  ])('%s', async (_what, path, headers, status) => {
    const { ownerKey } = await workspace()
    const gone = new AbortController()
    const answer = await fetch(`${served().url}${path}`, {
      headers: { authorization: `Bearer ${ownerKey}`, ...headers },
      signal: gone.signal,
    })
    expect([answer.status, safetyOf(answer.headers)]).toEqual([status, SAFE])
    gone.abort()
  })

  test('a key that is shown once', async () => {
    const w = await workspace()
    const { status, headers, body } = await w.post('/keys', { name: 'ci', role: 'member' })
    expect([status, typeof body.key, safetyOf(headers)]).toEqual([201, 'string', SAFE])
  })

  test('a request that is not HTTP', async () => {
    const socket = connect(Number(new URL(served().url).port), '127.0.0.1')
    await once(socket, 'connect')
    const answer = text(socket)
    socket.write('nonsense\r\n\r\n')
    const lines = (await answer).split('\r\n')
    expect(lines).toEqual(
      expect.arrayContaining(Object.entries(SAFE).map(([name, value]) => `${name}: ${value}`)),
    )
  })
})

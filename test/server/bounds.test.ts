import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { WrongKeys } from '../../src/server/wrong-keys.ts'
import { expectRefusal, openWorkspace, type Workspace } from '../support/http-workspace.ts'
import { until } from '../support/nodes.ts'
import { type ServerUnderTest, startServer } from '../support/server.ts'

/** How many requests one address or one key may send to a node. */

const MOST = 3
let server: ServerUnderTest
let w: Workspace
beforeAll(async () => {
  server = await startServer({ BATON_WRONG_KEYS_PER_MINUTE: `${MOST}`, BATON_STREAMS_PER_KEY: `${MOST}` })
  w = await openWorkspace(server)
})
afterAll(() => server.close())

describe('wrong keys', () => {
  test('from one address get 429 with Retry-After, while valid ones are admitted', async () => {
    const wrong = () => server.call('GET', '/limits', undefined, { key: `baton_${'x'.repeat(43)}` })
    for (let i = 0; i < MOST; i++) expectRefusal(await wrong(), 401, 'UNAUTHENTICATED')
    const refused = await until(async () => {
      const answer = await wrong()
      return answer.status === 429 && answer
    })
    expectRefusal(refused, 429, 'TOO_MANY_WRONG_KEYS')
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
    const token = await server.call('GET', '/limits', undefined, { key: `brun_${'x'.repeat(43)}` })
    expectRefusal(token, 429, 'TOO_MANY_WRONG_KEYS')
    const fresh = (await w.post('/keys', { name: 'behind the same proxy' })).body
    expect((await server.call('GET', '/limits', undefined, { key: fresh.key })).status).toBe(200)
    expect((await fetch(`${server.api}/limits`)).status, 'no key is no guess').toBe(401)
  })

  test('are counted by address, and expire over time', () => {
    const wrongKeys = new WrongKeys(60)
    const at = (seconds: number) => seconds * 1000
    for (let i = 0; i < 60; i++) wrongKeys.count('one', at(0))
    expect(() => wrongKeys.count('one', at(0))).toThrow(
      expect.objectContaining({ code: 'TOO_MANY_WRONG_KEYS' }),
    )
    wrongKeys.count('two', at(0))
    expect(() => wrongKeys.count('one', at(0.9))).toThrow()
    wrongKeys.count('one', at(1))
    expect(() => wrongKeys.count('one', at(1))).toThrow()
    for (let i = 0; i < 60; i++) wrongKeys.count('one', at(3600))
    expect(() => wrongKeys.count('one', at(3600))).toThrow()
  })

  test('get the time at which the next one will be answered', () => {
    const wrongKeys = new WrongKeys(2)
    for (let i = 0; i < 2; i++) wrongKeys.count('one', 0)
    expect(() => wrongKeys.count('one', 10_000)).toThrow(
      expect.objectContaining({ refusal: expect.objectContaining({ retryAfterSeconds: 20 }) }),
    )
  })

  test('from any number of addresses use a bounded amount of memory', () => {
    const wrongKeys = new WrongKeys(1)
    for (let i = 0; i < 50_000; i++) wrongKeys.count(`10.0.${i >> 8}.${i & 255}`, 0)
    expect(wrongKeys.size).toBe(10_000)
  })
})

test('a key has a bounded number of streams and sockets, and room again when one is closed', async () => {
  const { key } = (await w.post('/keys', { name: 'greedy', role: 'viewer' })).body
  const headers = { authorization: `Bearer ${key}` }
  async function stream() {
    const sent = get(`${server.api}/events/stream`, { headers, agent: false }).on('error', () => undefined)
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    response.on('error', () => undefined).resume()
    return { status: response.statusCode!, leave: () => response.destroy() }
  }
  async function socket() {
    const ws = new WebSocket(`${server.api.replace('http', 'ws')}/events/ws`, { headers })
    ws.on('error', () => undefined)
    const opened = once(ws, 'open').then(() => 101)
    const refused = once(ws, 'unexpected-response').then(([, { statusCode }]) => statusCode as number)
    return { status: await Promise.race([opened, refused]), leave: () => ws.terminate() }
  }
  const open = [await stream(), await socket(), await stream()]
  expect(open.map(({ status }) => status)).toEqual([200, 101, 200])
  expect((await stream()).status).toBe(429)
  expect((await socket()).status).toBe(429)
  expectRefusal(await server.call('GET', '/events/stream', undefined, { key }), 429, 'TOO_MANY_STREAMS')
  expect((await server.call('GET', '/limits', undefined, { key })).status).toBe(200)
  const other = await server.call('GET', '/events/ws')
  expect(other.status, 'other keys have room of their own').toBe(426)
  open[1]!.leave()
  const again = await until(async () => {
    const one = await socket()
    return one.status === 101 && one
  })
  for (const one of [...open, again]) one.leave()
})

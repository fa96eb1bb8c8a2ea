import { createServer, type Server } from 'node:http'
import type { AddressInfo, LookupFunction } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { httpAdapter } from '../../src/adapters/http.ts'
import { FOR_AGENTS } from '../../src/outgoing/addresses.ts'
import { exchange } from '../../src/outgoing/exchange.ts'
import { inputFor, never, recordingHooks } from '../support/adapter-runs.ts'
import { CallbacksInMemory } from '../support/callbacks.ts'

/** Baton calls no link-local address and no metadata service for an agent, whatever resolves or redirects there. */

let server: Server
let port: number
let asked: number

beforeAll(async () => {
  server = createServer((request, response) => {
    asked++
    if (request.url === '/elsewhere')
      response.writeHead(307, { location: 'http://169.254.169.254/latest/meta-data/' }).end()
    else response.end('{"result":1}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  port = (server.address() as AddressInfo).port
})
afterAll(() => void server.close())
beforeEach(() => {
  asked = 0
})

/** A name server that answers one list of addresses after the other, the last one forever. */
function names(...answers: string[][]): { lookup: LookupFunction; times: () => number } {
  let times = 0
  const lookup: LookupFunction = (_name, _options, callback) => {
    const addresses = answers[Math.min(times++, answers.length - 1)]!
    callback(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    )
  }
  return { lookup, times: () => times }
}

const run = (url: string, lookup?: LookupFunction) =>
  httpAdapter(new CallbacksInMemory(), lookup).invoke(
    inputFor({ adapterConfig: { url }, timeoutSec: 5 }),
    recordingHooks().hooks,
    never,
  )

describe('a forbidden address of an agent', () => {
  test.each([
    'http://169.254.169.254/latest/meta-data/',
    'https://169.254.0.1',
    // The same in other notations: each is 169.254.169.254.
    'http://2852039166/',
    'http://0xA9.0xFE.0xA9.0xFE/',
    'http://0251.0376.0251.0376/',
    'http://169.254.43518/',
    'http://[::ffff:169.254.169.254]/',
    'http://[::ffff:a9fe:a9fe]/',
    'http://[::169.254.169.254]/',
    'http://[64:ff9b::169.254.169.254]/',
    'http://[2002:a9fe:a9fe::1]/',
    'http://[fe80::1]/',
    'http://[febf::1]/',
    'http://[fd00:ec2::254]/',
    'http://[fd20:ce::254]/',
    'http://100.100.100.200/',
    'http://192.0.0.192/',
    'http://168.63.129.16/',
  ])('%s is refused when it is configured, and when it would be called', async (url) => {
    expect(httpAdapter(new CallbacksInMemory()).validateConfig({ url })).toEqual({
      ok: false,
      errors: ['url must not be a link-local address or a metadata service.'],
    })
    expect(await run(url)).toMatchObject({ outcome: 'failed', errorCode: 'invalid_configuration' })
    const request = {
      url: new URL(url),
      method: 'POST',
      headers: {},
      signal: AbortSignal.timeout(5_000),
      rule: FOR_AGENTS,
    }
    expect(await exchange(request)).toEqual({
      kind: 'forbidden',
      message: `${new URL(url).hostname} is a link-local address or a metadata service; requests to it are not allowed.`,
    })
  })

  test.each([
    'http://127.0.0.1:8000',
    'http://localhost:8000',
    'http://[::1]:8000',
    'http://10.0.0.7',
    'http://172.16.0.7',
    'http://192.168.1.7',
    'http://[fd12:3456::1]',
    'http://169.253.1.1',
    'http://100.100.100.201',
    'https://agents.example.com/run',
  ])('does not include %s', (url) => {
    expect(httpAdapter(new CallbacksInMemory()).validateConfig({ url })).toEqual({ ok: true })
  })
})

describe('a host name is judged by the address it resolves to, at connect time', () => {
  test.each([
    ['a link-local address', ['169.254.169.254']],
    ['one in IPv6', ['fe80::1%eth0']],
    ['one that is mapped', ['::ffff:169.254.169.254']],
    ['nothing but such addresses', ['100.100.100.200', 'fd00:ec2::254']],
    ['no address', ['not-an-address']],
  ])('one that resolves to %s is not called', async (_what, addresses) => {
    const { lookup, times } = names(addresses)
    expect(await run(`http://agent.example.com:${port}/`, lookup)).toMatchObject({
      outcome: 'failed',
      errorCode: 'invalid_configuration',
      errorMessage:
        'agent.example.com is a link-local address or a metadata service; requests to it are not allowed.',
    })
    expect(times()).toBe(1)
    expect(asked).toBe(0)
  })

  test('one that resolved to a good address before is judged again', async () => {
    const { lookup, times } = names(['127.0.0.1'], ['169.254.169.254'])
    const url = `http://agent.example.com:${port}/`
    expect(await run(url, lookup)).toMatchObject({ outcome: 'succeeded', result: 1 })
    expect(await run(url, lookup)).toMatchObject({ errorCode: 'invalid_configuration' })
    // Resolved once for each connection: the judged address is the one connected to.
    expect(times()).toBe(2)
    expect(asked).toBe(1)
  })

  test('one that resolves to both is called at the allowed address', async () => {
    const { lookup } = names(['fe80::1', '169.254.1.1', '127.0.0.1'])
    expect(await run(`http://agent.local:${port}/`, lookup)).toMatchObject({ outcome: 'succeeded' })
    expect(asked).toBe(1)
  })
})

test('a redirect to such an address is not followed', async () => {
  const result = await run(`http://127.0.0.1:${port}/elsewhere`)
  expect(result).toMatchObject({ outcome: 'failed', errorCode: 'nonzero_exit' })
  expect(result.errorMessage).toContain('Redirects are not followed')
  expect(asked).toBe(1)
})

test('no proxy is used instead, whatever the environment says', async () => {
  const before = { ...process.env }
  const proxy = `http://127.0.0.1:${port}`
  Object.assign(process.env, { HTTP_PROXY: proxy, http_proxy: proxy, NODE_USE_ENV_PROXY: '1' })
  try {
    const { lookup } = names(['169.254.169.254'])
    expect(await run('http://agent.example.com/', lookup)).toMatchObject({
      errorCode: 'invalid_configuration',
    })
    expect(asked).toBe(0)
  } finally {
    process.env = before
  }
})

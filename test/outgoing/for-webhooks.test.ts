import { createServer, type Server } from 'node:http'
import type { AddressInfo, LookupFunction } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readConfig } from '../../src/config.ts'
import { forWebhooks } from '../../src/outgoing/addresses.ts'
import { exchange } from '../../src/outgoing/exchange.ts'

/** Webhooks reach the public internet and what the operator lists, whatever an address looks like or a name resolves to. */

let server: Server
let port: number
let asked = 0

beforeAll(async () => {
  server = createServer((_request, response) => {
    asked++
    response.end('here')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  port = (server.address() as AddressInfo).port
})
afterAll(() => void server.close())

const post = (url: string, allowed: string[] = [], lookup?: LookupFunction) =>
  exchange({
    ...{ url: new URL(url), method: 'POST', headers: {}, body: '{}', lookup },
    ...{ signal: AbortSignal.timeout(5_000), rule: forWebhooks(allowed) },
  })

/** A name server that answers one list of addresses after the other, the last one forever. */
function names(...answers: string[][]): { lookup: LookupFunction; times: () => number } {
  let times = 0
  const lookup: LookupFunction = (_name, _options, callback) => {
    const addresses = answers[Math.min(times++, answers.length - 1)]!
    const found = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
    callback(null, found)
  }
  return { lookup, times: () => times }
}

const INNER = {
  loopback: ['127.0.0.1', '127.8.9.1', '[::1]'],
  private: ['10.0.0.1', '172.16.0.1', '172.31.255.254', '192.168.1.1', '[fc00::1]', '[fd12:3456::1]'],
  'link-local': ['169.254.1.1', '[fe80::1]'],
  metadata: ['169.254.169.254', '100.100.100.200', '168.63.129.16', '[fd00:ec2::254]'],
  'carrier-grade NAT': ['100.64.0.1', '100.127.255.254'],
  unspecified: ['0.0.0.0', '0.1.2.3', '[::]'],
  multicast: ['224.0.0.1', '239.1.2.3', '[ff02::1]'],
  'reserved or broadcast': [
    '240.0.0.1',
    '255.255.255.255',
    '192.0.0.8',
    '198.18.0.1',
    '[2001:db8::1]',
    '[100::1]',
  ],
  'in decimal': ['2130706433', '167772161', '3232235777'],
  'in octal': ['0177.0.0.1', '012.0.0.1', '0300.0250.1.1'],
  'in hexadecimal': ['0x7f.0.0.1', '0x7f000001', '0xa000001'],
  short: ['127.1', '10.1', '192.168.257'],
  'with a dot behind it': ['127.0.0.1.'],
  'in full width digits': ['１２７.0.0.1'],
  'mapped into IPv6': ['[::ffff:127.0.0.1]', '[::ffff:a00:1]', '[0:0:0:0:0:ffff:192.168.1.1]'],
  'compatible with IPv4': ['[::127.0.0.1]', '[::10.0.0.1]'],
  'behind NAT64': ['[64:ff9b::127.0.0.1]', '[64:ff9b::a00:1]', '[64:ff9b:1::1]'],
  'in 6to4 or Teredo': ['[2002:7f00:1::]', '[2002:a00:1::]', '[2001:0:1::1]'],
  'site-local': ['[fec0::1]'],
}

describe('an address', () => {
  test.each(Object.entries(INNER).flatMap(([what, hosts]) => hosts.map((host) => [what, host] as const)))(
    'that is %s is refused: %s',
    async (_what, host) => {
      const before = asked
      expect(await post(`http://${host}:${port}/`)).toMatchObject({
        ...{ kind: 'forbidden', message: expect.stringContaining('is an inner address') },
      })
      expect(asked).toBe(before)
    },
  )

  test.each(['8.8.8.8', '172.32.0.1', '100.128.0.1', '192.0.1.1', '2606:4700::1111'])(
    'of the public internet is allowed: %s',
    (address) => {
      expect(forWebhooks([]).forbids(address)).toBe(false)
    },
  )

  test.each(['not-an-address', '', '1.2.3', 'fe80::1%eth0', '::1%lo'])('is nothing else: %j', (text) => {
    expect(forWebhooks([]).forbids(text)).toBe(true)
  })
})

describe('a name', () => {
  test.each(
    Object.values(INNER)
      .flat()
      .filter((host) => /^[\d.]+$/.test(host) && host.split('.').length === 4),
  )('that resolves to %s is refused', async (address) => {
    const { lookup } = names([address])
    expect(await post(`http://hook.example:${port}/`, [], lookup)).toMatchObject({ kind: 'forbidden' })
  })

  test('that was checked is connected to at the address that was checked, whatever it resolves to then', async () => {
    const { lookup, times } = names(['127.0.0.1'], ['10.0.0.1'])
    const allowed = ['127.0.0.0/8']
    expect(await post(`http://hook.example:${port}/`, allowed, lookup)).toMatchObject({ kind: 'answer' })
    // Once for each connection: nothing resolves it between the check and the connection.
    expect(times()).toBe(1)
    expect(await post(`http://hook.example:${port}/`, allowed, lookup)).toMatchObject({ kind: 'forbidden' })
  })

  test('that resolves to inner and outer addresses is only called at those that are allowed', async () => {
    const { lookup } = names(['10.0.0.1', '::1', '127.0.0.1'])
    expect(await post(`http://hook.example:${port}/`, ['127.0.0.1'], lookup)).toMatchObject({
      kind: 'answer',
    })
  })
})

describe('what an operator lists is allowed', () => {
  test.each([
    ['an address', '127.0.0.1', '127.0.0.1'],
    ['a net', '127.0.0.0/8', '127.0.0.1'],
    ['a mapped address of a net', '127.0.0.0/8', '[::ffff:127.0.0.1]'],
    ['the name of a host', 'LOCALHOST', 'localhost'],
  ])('%s', async (_what, listed, host) => {
    const { lookup } = names(['127.0.0.1'])
    expect(await post(`http://${host}:${port}/`, [listed], lookup)).toMatchObject({
      kind: 'answer',
      body: 'here',
    })
  })

  test('and nothing beside it', async () => {
    expect(await post('http://10.0.0.1/', ['127.0.0.0/8', 'ci.example'])).toMatchObject({ kind: 'forbidden' })
    const { lookup } = names(['10.0.0.1'])
    expect(await post('http://other.example/', ['ci.example'], lookup)).toMatchObject({ kind: 'forbidden' })
  })

  test.each(['10.0.0.0/33', 'fc00::/129', '10.0.0/8', 'a b', '*.example', 'http://ci.example', '/8'])(
    'but %j is a mistake, and refused at the start',
    (listed) => {
      expect(() => readConfig({ BATON_WEBHOOK_ALLOW: listed })).toThrow(
        'BATON_WEBHOOK_ALLOW must list addresses, nets such as 10.0.0.0/8, and host names.',
      )
    },
  )

  test('and read from the environment', () => {
    const listed = '10.0.0.0/8, fd00::/8,ci.example'
    expect(readConfig({ BATON_WEBHOOK_ALLOW: listed }).webhookAllow).toEqual([
      ...['10.0.0.0/8', 'fd00::/8', 'ci.example'],
    ])
  })
})

test('no proxy is used, whatever the environment says', async () => {
  process.env.HTTP_PROXY = process.env.http_proxy = 'http://127.0.0.1:9/'
  try {
    expect(await post(`http://127.0.0.1:${port}/`, ['127.0.0.1'])).toMatchObject({ kind: 'answer' })
  } finally {
    delete process.env.HTTP_PROXY
    delete process.env.http_proxy
  }
})

test('an endless answer is read no further than asked, and that is no error', async () => {
  const endless = createServer((_request, response) => {
    const more = setInterval(() => response.write('x'.repeat(10_000)), 1)
    response.on('close', () => clearInterval(more))
  })
  await new Promise<void>((resolve) => endless.listen(0, '127.0.0.1', resolve))
  const url = new URL(`http://127.0.0.1:${(endless.address() as AddressInfo).port}/`)
  const asked = { url, method: 'POST', headers: {}, signal: AbortSignal.timeout(5_000), cutAtBytes: 1_000 }
  const answer = await exchange({ ...asked, rule: forWebhooks(['127.0.0.1']) })
  expect(answer).toMatchObject({ kind: 'answer', status: 200, body: 'x'.repeat(1_000) })
  endless.close()
})

import { describe, expect, test } from 'vitest'
import { processAdapter } from '../../src/adapters/process.ts'
import { secretsOf } from '../../src/executor/environment.ts'
import { prepareSecrets } from '../../src/executor/secrets.ts'
import { partsOfHeader, partsOfValue, passwordsOfAddress } from '../../src/pure/secrets/parts.ts'
import { KnownSecrets, redactText } from '../../src/pure/secrets/redaction.ts'

/** Which parts of a secret value are secrets themselves. */

const base64 = (text: string) => Buffer.from(text).toString('base64')

describe('of a header', () => {
  test.each([
    ['Bearer sk-live-123456', ['sk-live-123456']],
    ['bearer   sk-live-123456', ['sk-live-123456']],
    ['Whatever sk-live-123456', ['sk-live-123456']],
    [
      `Basic ${base64('ada-lovelace:analytical:engine')}`,
      ['ada-lovelace', 'analytical:engine', 'ada-lovelace:analytical:engine'],
    ],
    [`Basic ${base64('jürgen:pässwörd')}`, ['jürgen', 'pässwörd']],
    ['Token token="sk-live-123456", nonce="abcdefgh"', ['sk-live-123456', 'abcdefgh']],
    ['session=0123456789; theme=dark', ['0123456789']],
    ['https://ada:hunter2hunter2@example.org/', ['hunter2hunter2']],
  ])('%s', (value, parts) => {
    expect(partsOfHeader(value)).toEqual(expect.arrayContaining(parts))
  })

  test('that is one word is only itself', () => expect(partsOfHeader('sk-live-123456')).toEqual([]))

  test('that claims to be base64 and is not is only what follows', () => {
    expect(partsOfHeader('Basic not*base64')).toEqual(expect.arrayContaining(['not*base64']))
  })
})

describe('of a variable', () => {
  test.each([
    ['Bearer sk-live-123456', ['sk-live-123456']],
    ['postgres://app:s3cret-pass@db:5432/shop', ['s3cret-pass', 'app:s3cret-pass']],
    ['postgres://app:p%40ss%2Fword@db/shop', ['p%40ss%2Fword', 'p@ss/word']],
    ['redis://:only-password@cache', ['only-password']],
    ['https://ghp_0123456789@github.com/a/b', ['ghp_0123456789']],
    ['amqp://a:first-pass@x,amqp://b:second-pass@y', ['first-pass', 'second-pass']],
    ['http://user:with@sign-in-it@proxy:3128', ['with@sign-in-it']],
    ['host=db user=app password=s3cret-pass dbname=shop', ['s3cret-pass']],
    ['Server=db;User Id=app;Password=s3cret-pass;', ['s3cret-pass']],
    ['https://api.example/?api_key=0123456789&x=1', ['0123456789']],
  ])('%s', (value, parts) => {
    expect(partsOfValue(value)).toEqual(expect.arrayContaining(parts))
  })

  test('of an address, a user that is a plain word is none', () => {
    expect(partsOfValue('postgres://postgres:s3cret-pass@db/shop')).not.toContain('postgres')
    expect(partsOfValue('postgres://postgres:postgres@db/shop')).toContain('postgres')
  })

  test.each(['production database', 'https://example.org/a@b', 'eu-west-1', ''])(
    '%j has no parts',
    (value) => {
      expect(partsOfValue(value)).toEqual([])
    },
  )
})

test('the password of a URL is extracted without its user', () => {
  expect(passwordsOfAddress('postgres://postgres:s3cret%21pass@db/baton')).toEqual([
    's3cret%21pass',
    's3cret!pass',
  ])
  expect(passwordsOfAddress('postgres://db/baton?user=a&password=from-query')).toEqual(['from-query'])
  expect(passwordsOfAddress('postgres://postgres@db/baton')).toEqual([])
})

test('a run knows the parts of its secrets: of headers, of its own variables and of inherited ones', () => {
  const adapter = { ...processAdapter, inheritsEnv: ['API_*'] }
  const own = {
    HTTPS_PROXY: 'http://proxy-user:proxy-pass@proxy',
    API_AUTH: 'Bearer inherited-1',
    OTHER: 'not given',
  }
  const config = {
    headers: { authorization: 'Custom of-the-header' },
    env: { DB: 'mysql://db-user:db-pass@db', NODE_ENV: 'http://a:harmless@b' },
  }
  const secrets = secretsOf(adapter, own, config, 'brun_token')
  const parts = [
    'brun_token',
    'proxy-user',
    'proxy-pass',
    'inherited-1',
    'of-the-header',
    'db-user',
    'db-pass',
  ]
  expect(secrets).toEqual(expect.arrayContaining(parts))
  for (const other of ['not given', 'harmless']) expect(secrets).not.toContain(other)
})

test('ordinary variables are no secrets of a run, neither its own nor inherited ones; listed ones and headers are', () => {
  const adapter = { ...processAdapter, inheritsEnv: ['CLOUD_*'] }
  const own = { CLOUD_REGION: 'frankfurt', CLOUD_KEY: 'inherited', HTTP_PROXY: 'http://proxy:3128' }
  const config = {
    headers: { 'x-target': 'staging' },
    env: {
      DEPLOY_TARGET: 'production',
      CODENAME: 'blue-whale',
      PATH: '/secret/path',
      JSON: '{"token":"in-json"}',
    },
    secretEnv: ['CODENAME', 'PATH'],
  }
  expect(secretsOf(adapter, own, config, 'brun_token').sort()).toEqual(
    [
      'brun_token',
      'inherited',
      'staging',
      'blue-whale',
      '/secret/path',
      '{"token":"in-json"}',
      'in-json',
    ].sort(),
  )
})

describe('preparing 64 kB of secrets', () => {
  const values = Array.from({ length: 64 }, (_, i) => `${i}:`.padEnd(1_024, `äb"/${i * 7_919}\\`))

  test('is sliced, so that other work runs in between', async () => {
    let fairness = 0
    let isDone = false
    const others = () => {
      fairness++
      if (!isDone) setImmediate(others)
    }
    setImmediate(others)
    const known = await prepareSecrets(values)
    isDone = true
    expect(fairness).toBeGreaterThan(20)
    expect(redactText(`<${values[7]}>`, known)).toBe('<[redacted]>')
  })

  test('gives the same result as all at once, whatever they have in common', async () => {
    const alike = ['abcabcabcabc', 'abcabcabcabd', 'bcabca', 'cabcab', 'aaaaaaaaaa', 'aaaaaa', 'aaaaaab']
    const prepared = await prepareSecrets(alike)
    const whole = new KnownSecrets(alike)
    for (const text of ['xabcabcabcabcabcabdx', 'aaaaaaaaaaaaaab', 'bcabcabcabcab', 'abcabcabcab'])
      expect(redactText(text, prepared)).toBe(redactText(text, whole))
    expect(redactText('xbcabcax', prepared)).toBe('x[redacted]x')
  })
})

import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isSecretName } from '../../src/pure/secrets/names.ts'
import { isSecretValue, looksSecret, secretsInJson } from '../../src/pure/secrets/values.ts'
import { rounds } from '../support/rounds.ts'

/** Which values are secrets: by their names, or by their shapes. */

describe('a name says that its value is secret', () => {
  test.each(
    `API_KEY apiKey api-key GITHUB_TOKEN GITHUBTOKEN TOKEN1 accessToken refresh_token CLIENT_SECRET DB_PASSWORD PGPASSWORD
    DB_PASS DB_PWD MYSQL_PWD SSH_PASSPHRASE APP_CREDENTIALS HTTP_AUTH AUTHORIZATION SESSION_COOKIE PRIVATE_STUFF SENTRY_DSN
    AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY SECRETKEY`.split(/\s+/),
  )('%s', (name) => {
    expect(isSecretName(name)).toBe(true)
    expect(isSecretValue(name, 'staging')).toBe(true)
    expect(isSecretValue(name, 'true')).toBe(false)
  })

  test.each(
    `MONKEY TURKEY KEYBOARD DEPLOY_TARGET AUTHOR GIT_AUTHOR_NAME SECRETARY COMPASS GIT_ASKPASS PASSENGERS TOKENIZERS PINNED REGION
    DATABASE_URL MAX_TOKENS TOKEN_LIMIT AUTH_TYPE token_type SSH_AUTH_SOCK SECRET_FILE USE_AUTH expiresAt`.split(
      /\s+/,
    ),
  )('but not %s', (name) => {
    expect(isSecretName(name)).toBe(false)
    expect(isSecretValue(name, 'staging')).toBe(false)
    expect(isSecretValue(name, 'ghp_0123456789abcdef')).toBe(true)
  })
})

describe('a value looks secret', () => {
  test.each([
    'sk-live-123456',
    'sk-ant-oat01-abcdefgh',
    'ghp_0123456789',
    'xoxb-1234-abcd-efgh',
    'AKIAIOSFODNN7EXAMPLE',
    'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
    'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl',
    '550e8400-e29b-41d4-a716-446655440000',
    'd41d8cd98f00b204e9800998ecf8427e',
    'JBSWY3DPEHPK3PXP',
    'JBSW Y3DP EHPK 3PXP',
    'abxq zvkd wjfm qpxc',
    'Bearer staging',
    'Basic dXNlcjpwYXNzd29yZA==',
    'hunter2!',
    'Tr0ub4dor&3',
    'pa"ss/w\\ord+grün&9c1f',
    'postgres://app:staging@db:5432/shop',
    'https://ghp_0123456789@github.com/a/b',
    'https://api.example/?api_key=staging&x=1',
    'https://hooks.slack.com/services/T00000000/B00000000/XXXXyyyyZZZZaaaaBBBBcccc',
    'host=db user=app password=staging dbname=shop',
    'DefaultEndpointsProtocol=https;AccountName=shop;AccountKey=staging==',
    '-----BEGIN OPENSSH PRIVATE KEY-----\nabc\n-----END OPENSSH PRIVATE KEY-----',
    '{"type":"service_account","private_key":"staging"}',
    '[{"deep":{"er":"ghp_0123456789"}}]',
  ])('%s', (value) => expect(looksSecret(value)).toBe(true))

  test.each([
    ...['', '   ', 'staging', 'production', 'frankfurt', 'stockholm', 'my project', 'Basic plan', 'München'],
    ...[
      'The quick brown fox jumps over the lazy dog',
      'Hello, world!',
      '生产环境',
      'myProjectName',
      'GitHub',
    ],
    ...['PostgreSQL', 'acme-shop-backend', 'config/staging.yml', 'feature/ABC-123', '#general2', 'app:*'],
    ...['8080', '1234567890123456', '-1.5e-3', '10%', '0x1F', 'true', '1h30m15s', '512MB', '1920x1080'],
    ...['eu-west-1', 'us-east-1a', 'm5.2xlarge', 'k8s-prod-01', 'linux/amd64', 'x86_64-unknown-linux-gnu'],
    ...['v1.2.3', '^1.2.3', '>=18', 'v1beta1', 'python3.11', 'ubuntu-22.04', '2025-01-31T12:00:00.000Z'],
    ...['gpt-4o-mini', 'claude-opus-4-20250514', 'qwen2.5-coder-32b-instruct-q4_K_M', 'en_US.UTF-8', 'sk_SK'],
    ...['/usr/local/bin', '/usr/bin:/of-ada/.nvm/versions/node/v20.1.0/bin', '/tmp/tmp.Xk3j9AbQ2z', '~/.ssh'],
    ...['C:\\Program Files\\App2', '$HOME/bin2', '*.log', '--max-old-space-size=4096', '0 9 * * 1-5'],
    ...['localhost:3000', '10.0.0.1', '::1', '2001:0db8:85a3:0000:0000:8a2e:0370:7334', '00:1a:2b:3c:4d:5e'],
    ...['http://localhost:3000', 'https://example.com/a/b?page=2&sort=name', 'postgres://db:5432/shop'],
    ...['git@github.com:owner/repo.git', 'ssh://git@github.com/owner/repo.git', 'user@example.com'],
    ...[
      'registry.example.com/team/app:1.4.2',
      'pgbouncer.svc.cluster.local:6432',
      'text/html; charset=utf-8',
    ],
    ...['{"files":["a.ts"],"level":"debug"}', 'info,debug'],
  ])('but not %j', (value) => expect(looksSecret(value)).toBe(false))
})

describe('of all values', () => {
  /** Random as tokens are: fast-check prefers small and regular values, which no generator of tokens would make. */
  const random = fc.nat().map((seed) => createHash('sha512').update(String(seed)).digest())
  const tokens = fc.oneof(
    random.map((bytes) => bytes.toString('base64url').slice(0, 40)),
    random.map((bytes) => bytes.toString('base64').slice(0, 44)),
    fc
      .tuple(random, fc.integer({ min: 32, max: 128 }))
      .map(([bytes, n]) => bytes.toString('hex').slice(0, n)),
    random.map((bytes) => Array.from(bytes.subarray(0, 32), (byte) => BASE62[byte % 62]).join('')),
    random.map((bytes) => Array.from(bytes.subarray(0, 40), (byte) => BASE62[byte % 36]).join('')),
  )
  const BASE62 = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'

  test('tokens are secret: alone, after a prefix, in an address and in JSON', () => {
    const around = fc.constantFrom(
      ...['', 'token-', 'acme_', 'https://example.com/hook?id=', 'https://example.com/hooks/'].map(
        (before) => (token: string) => before + token,
      ),
      (token: string) => JSON.stringify({ id: [token] }),
      (token: string) => `  ${token}\n`,
    )
    fc.assert(
      fc.property(tokens, around, (token, write) => {
        expect(looksSecret(write(token))).toBe(true)
      }),
      { numRuns: rounds(300, 2_000) },
    )
  })

  const words = fc.constantFrom(
    ...'staging production frontend backend service worker customer billing europe west database cache'.split(
      ' ',
    ),
    ...'Release Candidate README Kubernetes postgres nginx debug warning enabled monday example internal'.split(
      ' ',
    ),
  )
  const numbers = fc
    .oneof(fc.integer(), fc.integer({ min: 0, max: 65_535 }), fc.float({ noNaN: true }))
    .map(String)
  const slugs = fc
    .tuple(fc.array(words, { minLength: 1, maxLength: 4 }), fc.option(fc.nat({ max: 999 }), { nil: null }))
    .chain(([parts, last]) =>
      fc.constantFrom('-', '_', '.', ' ').map((by) => [...parts, ...(last === null ? [] : [last])].join(by)),
    )
  const paths = fc.array(slugs, { minLength: 1, maxLength: 5 }).map((parts) => `/${parts.join('/')}`)
  const hosts = fc
    .array(words, { minLength: 1, maxLength: 3 })
    .map((parts) => `${parts.join('.').toLowerCase()}.io`)
  const ports = fc.option(fc.integer({ min: 1, max: 65_535 }), { nil: null })
  const addresses = fc
    .tuple(fc.constantFrom('http', 'https', 'redis', 'postgres'), hosts, ports, paths)
    .map(([scheme, host, port, path]) => encodeURI(`${scheme}://${host}${port ? `:${port}` : ''}${path}`))
  const versions = fc
    .array(fc.nat({ max: 99 }), { minLength: 2, maxLength: 4 })
    .map((parts) => `v${parts.join('.')}`)
  const ordinary = fc.oneof(
    ...[words, numbers, slugs, paths, hosts, addresses, versions],
    fc.tuple(words, hosts).map(([user, host]) => `${user}@${host}`),
    fc.boolean().map(String),
    fc
      .date({ noInvalidDate: true, min: new Date(0), max: new Date('2100') })
      .map((date) => date.toISOString()),
    fc.array(words).map((list) => list.join(',')),
  )

  test('words, numbers, paths, addresses and versions are not', () => {
    fc.assert(
      fc.property(ordinary, (value) => {
        expect([value, looksSecret(value)]).toEqual([value, false])
      }),
      { numRuns: rounds(300, 2_000) },
    )
  })

  test('very long ones are secret', () => expect(looksSecret('staging '.repeat(10_000))).toBe(true))

  test('none takes long to judge, however often it could be read in two ways', () => {
    for (const part of [
      ' a',
      '/a',
      '/ ',
      'a1',
      ':a',
      '0:',
      'key=',
      'key ',
      '://',
      '1h',
      '%a',
      '[',
      'aB',
      '.-',
    ])
      for (const text of ['', '/usr', 'C:\\Users', '{"a":"']) looksSecret(`${text}${part.repeat(4_000)}+`)
  })

  test('any is judged without an error', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.json(), (text, json) => {
        for (const value of [text, json, `${text}=${json}`]) expect(looksSecret(value)).toBeTypeOf('boolean')
      }),
    )
  })
})

describe('in JSON', () => {
  test('secrets are found by the names of their fields and by their shapes, however deep', () => {
    const login = {
      claudeAiOauth: {
        accessToken: 'first-words',
        refreshToken: 'second-words',
        expiresAt: 1_794_769_200_000,
        scopes: ['user:inference', 'user:profile'],
        subscriptionType: 'max',
      },
      other: [[{ id: 'ghp_0123456789' }, null, true]],
      passwords: ['third-words'],
    }
    expect(secretsInJson(login).sort()).toEqual([
      'first-words',
      'ghp_0123456789',
      'second-words',
      'third-words',
    ])
    let deep: unknown = 'ghp_0123456789'
    for (let i = 0; i < 500; i++) deep = [deep]
    expect(secretsInJson(deep)).toEqual(['ghp_0123456789'])
  })

  test('no more than a limited number of fields is read', () => {
    const many = Array.from({ length: 100_000 }, (_, i) => ({ token: `words-${i}` }))
    expect(secretsInJson(many)).toHaveLength(200)
    expect(secretsInJson(Array(100_000).fill('staging'))).toEqual([])
    expect(secretsInJson({ token: 'a'.repeat(20_000) })).toEqual([])
  })
})

import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, rename, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { claudeAdapter } from '../../src/adapters/claude/adapter.ts'
import { codexAdapter } from '../../src/adapters/codex/adapter.ts'
import { geminiAdapter } from '../../src/adapters/gemini/adapter.ts'
import { opencodeAdapter } from '../../src/adapters/opencode/adapter.ts'
import { processAdapter } from '../../src/adapters/process.ts'
import { AdapterRegistry } from '../../src/adapters/registry.ts'
import { RunSecrets } from '../../src/executor/run-secrets.ts'
import { redactText } from '../../src/pure/secrets/redaction.ts'

/** The secrets of a run while it runs: login files are read again when they change. */

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'baton-logins-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

let files = 0
const freshPath = () => join(folder, `login-${++files}.json`)
const login = (accessToken: unknown) =>
  JSON.stringify({ claudeAiOauth: { accessToken, scopes: ['user:profile'] } })
const seen = async (secrets: RunSecrets, text: string) => redactText(text, await secrets.current())

describe('the login files of adapters', () => {
  test.each([
    [claudeAdapter, { HOME: '/of-ada' }, '/of-ada/.claude/.credentials.json'],
    [claudeAdapter, { HOME: '/of-ada', CLAUDE_CONFIG_DIR: '/etc/c' }, '/etc/c/.credentials.json'],
    [codexAdapter, { HOME: '/of-ada' }, '/of-ada/.codex/auth.json'],
    [codexAdapter, { HOME: '/of-ada', CODEX_HOME: '/etc/x' }, '/etc/x/auth.json'],
    [geminiAdapter, { HOME: '/of-ada' }, '/of-ada/.gemini/oauth_creds.json'],
    [opencodeAdapter, { HOME: '/of-ada' }, '/of-ada/.local/share/opencode/auth.json'],
    [opencodeAdapter, { HOME: '/of-ada', XDG_DATA_HOME: '/etc/d' }, '/etc/d/opencode/auth.json'],
  ])('$type with %j', (adapter, env, path) => {
    expect(adapter.loginFiles!(env as unknown as Record<string, string>)).toEqual([path])
  })

  test('are those of all programs, whatever one of a third party answers', () => {
    const registry = new AdapterRegistry()
    const answering = (type: string, loginFiles: () => unknown) =>
      registry.register({ ...processAdapter, type, loginFiles: loginFiles as () => string[] })
    registry.register(processAdapter)
    registry.register(claudeAdapter)
    answering('throws', () => {
      throw new Error('no')
    })
    answering('lies', () => 5)
    answering('same', () => ['/of-ada/.claude/.credentials.json', '/mine'])
    expect(registry.loginFiles({ HOME: '/of-ada' })).toEqual(['/of-ada/.claude/.credentials.json', '/mine'])
  })
})

describe('a token in a login file is a secret', () => {
  test('from the start of the run, and so is each that replaces it, while the others stay', async () => {
    const path = freshPath()
    await writeFile(path, login('token-of-monday'))
    const secrets = new RunSecrets(['of-the-settings'], [path])
    expect(await seen(secrets, 'token-of-monday user:profile')).toBe('[redacted] user:profile')
    await writeFile(path, login('token-of-tuesday'))
    expect(await seen(secrets, 'token-of-tuesday')).toBe('[redacted]')
    await writeFile(`${path}.new`, login('token-of-wednesday'))
    await rename(`${path}.new`, path)
    expect(
      await seen(secrets, 'token-of-monday, token-of-tuesday, token-of-wednesday, of-the-settings'),
    ).toBe('[redacted], [redacted], [redacted], [redacted]')
    await rm(path)
    expect(await seen(secrets, 'token-of-wednesday')).toBe('[redacted]')
  })

  test('even if the file was replaced by one of the same size at the same time', async () => {
    const path = freshPath()
    const secrets = new RunSecrets([], [path])
    const now = new Date()
    for (const token of ['token-1', 'token-2', 'token-3']) {
      await writeFile(path, login(token))
      await utimes(path, now, now)
      expect(await seen(secrets, token)).toBe('[redacted]')
    }
  })

  test('if the file is made during the run, in any of the files', async () => {
    const [first, second] = [freshPath(), freshPath()]
    const secrets = new RunSecrets([], [first, second])
    expect(await seen(secrets, 'token-one token-two')).toBe('token-one token-two')
    await writeFile(
      second,
      JSON.stringify({ openai: { type: 'oauth', access: 'token-two', refresh: 'token-one' } }),
    )
    expect(await seen(secrets, 'token-one token-two oauth')).toBe('[redacted] [redacted] oauth')
  })

  test('also for a caller that asks while a check is under way', async () => {
    const path = freshPath()
    await writeFile(path, login('token-of-monday'))
    const secrets = new RunSecrets([], [path])
    const underWay = secrets.current()
    await writeFile(path, login('token-of-tuesday'))
    expect(await seen(secrets, 'token-of-tuesday')).toBe('[redacted]')
    await underWay
  })
})

describe('no secrets, and no failure', () => {
  test.each<[string, (path: string) => unknown]>([
    ['without a file', () => undefined],
    ['with a folder in its place', (path) => mkdir(path)],
    ['with a pipe that nobody writes to', (path) => execFileSync('sh', ['-c', 'mkfifo "$0"', path])],
    ['with an empty file', (path) => writeFile(path, '')],
    ['with half a file', (path) => writeFile(path, login('token-of-monday').slice(0, -5))],
    ['with binary data', (path) => writeFile(path, Buffer.from([0xff, 0xfe, 0, 1]))],
    ['with another kind of value', (path) => writeFile(path, 'null')],
    ['with a file that is too large', (path) => writeFile(path, login('token-of-monday').padEnd(100_000))],
    ['with other types', (path) => writeFile(path, login({ accessToken: 5 }))],
  ])('%s', async (_, make) => {
    const path = freshPath()
    await make(path)
    const secrets = new RunSecrets(['of-the-settings'], [path])
    expect(await seen(secrets, 'token-of-monday of-the-settings')).toBe('token-of-monday [redacted]')
    await rm(path, { recursive: true, force: true })
    await writeFile(path, login('token-of-tuesday'))
    expect(await seen(secrets, 'token-of-tuesday')).toBe('[redacted]')
  })
})

test('of tokens that are renewed without end, the oldest are forgotten', async () => {
  const path = freshPath()
  const secrets = new RunSecrets([], [path])
  const tokenOf = (i: number) => `token-${i}-`.padEnd(16_000, '.')
  for (let i = 0; i < 6; i++) {
    await writeFile(path, login(tokenOf(i)))
    await secrets.current()
  }
  expect((await secrets.current()).registered).toEqual(Array.from({ length: 4 }, (_, i) => tokenOf(i + 2)))
})

import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { readConfig } from '../../src/config.ts'
import { StartRefused } from '../../src/pure/refusal.ts'

describe('settings for running agents', () => {
  test('have their defaults, also when they are set to nothing', () => {
    const unset = {
      BATON_LOGS: '',
      BATON_KEEP_LOGS_DAYS: '',
      BATON_ADAPTERS: '',
      BATON_AGENT_ROOTS: '',
      BATON_AGENT_COMMANDS: '',
    }
    for (const env of [{}, { ...unset, BATON_MAX_RUNS: '', BATON_PUBLIC_URL: '' }])
      expect(readConfig(env)).toMatchObject({
        ...{ logs: undefined, keepLogsDays: 30, adapterPaths: [], agentRoots: [], mostRuns: 64 },
        publicUrl: undefined,
        agentPolicy: { adapters: [], commands: null, env: [] },
      })
  })

  test('are parsed', () => {
    const config = readConfig({
      BATON_LOGS: 'postgres',
      BATON_KEEP_LOGS_DAYS: '7',
      BATON_ADAPTERS: './mine.mjs, their-adapter ,',
      BATON_AGENT_ROOTS: '/srv/code, work',
      BATON_AGENT_ADAPTERS: 'process,claude_local',
      BATON_AGENT_COMMANDS: 'claude, /opt/tools/lint',
      BATON_AGENT_ENV: 'GIT_AUTHOR_*,PATH',
      BATON_MAX_RUNS: '3',
      BATON_PUBLIC_URL: 'https://baton.example:8443/behind/a/proxy//',
    })
    expect(config).toMatchObject({
      ...{ logs: 'postgres', keepLogsDays: 7, adapterPaths: ['./mine.mjs', 'their-adapter'], mostRuns: 3 },
      agentRoots: ['/srv/code', resolve('work')],
      publicUrl: 'https://baton.example:8443/behind/a/proxy',
      agentPolicy: {
        adapters: ['process', 'claude_local'],
        commands: ['claude', '/opt/tools/lint'],
        env: ['GIT_AUTHOR_*', 'PATH'],
      },
    })
    expect(readConfig({ BATON_KEEP_LOGS_DAYS: '0' }).keepLogsDays, '0 is forever').toBeNull()
    expect(readConfig({ BATON_MAX_RUNS: '0' }).mostRuns, '0 is none').toBe(0)
    expect(readConfig({ BATON_MAX_LOG_BYTES: '0' }).maxLogBytes, '0 is all').toBeNull()
    const stored = { BATON_COMPRESS_LOGS: 'false', BATON_EXCERPT_BYTES: '1024' }
    expect(readConfig(stored)).toMatchObject({ compressLogs: false, excerptBytes: 1024 })
    expect(readConfig({}), 'unless it is set').toMatchObject({
      maxLogBytes: 256 * 1024 ** 2,
      minFreeBytes: 1024 ** 3,
      compressLogs: true,
      excerptBytes: 32 * 1024,
    })
  })

  test.each([
    ['BATON_KEEP_LOGS_DAYS', '-1', 'BATON_KEEP_LOGS_DAYS must be a number of days (0 keeps logs forever).'],
    ['BATON_KEEP_LOGS_DAYS', '1.5', 'BATON_KEEP_LOGS_DAYS must be a number of days (0 keeps logs forever).'],
    ['BATON_MAX_RUNS', 'many', 'BATON_MAX_RUNS must be a number of runs.'],
    ['BATON_MAX_RUNS', '-1', 'BATON_MAX_RUNS must be a number of runs.'],
    ['BATON_MAX_LOG_BYTES', '256M', 'BATON_MAX_LOG_BYTES must be a number of bytes (0 keeps all output).'],
    ['BATON_COMPRESS_LOGS', 'yes', 'BATON_COMPRESS_LOGS must be true or false.'],
    ['BATON_EXCERPT_BYTES', '1023', 'BATON_EXCERPT_BYTES must be a number of bytes from 1024 to 1048576.'],
    ['BATON_EXCERPT_BYTES', '1048577', 'BATON_EXCERPT_BYTES must be a number of bytes from 1024 to 1048576.'],
    ['BATON_EXCERPT_BYTES', '32K', 'BATON_EXCERPT_BYTES must be a number of bytes from 1024 to 1048576.'],
    ['BATON_MIN_FREE_BYTES', '-1', 'BATON_MIN_FREE_BYTES must be a number of bytes.'],
    [
      'BATON_AGENT_COMMANDS',
      'claude,./tools/lint',
      'BATON_AGENT_COMMANDS must list program names and absolute paths.',
    ],
    ['BATON_AGENT_ENV', '*', 'BATON_AGENT_ENV must list variable names'],
    ['BATON_PUBLIC_URL', 'baton.example', 'BATON_PUBLIC_URL must begin with http:// or https://.'],
    ['BATON_PUBLIC_URL', 'http://', 'BATON_PUBLIC_URL is not a URL.'],
    [
      'BATON_PUBLIC_URL',
      'http://me:hunter2@baton.example',
      'BATON_PUBLIC_URL must not contain a password, ? or #.',
    ],
    [
      'BATON_PUBLIC_URL',
      'http://baton.example/?key=hunter2',
      'BATON_PUBLIC_URL must not contain a password, ? or #.',
    ],
  ])('%s=%s is refused in one sentence', expectRefused)
})

describe('a setting that cannot be used is refused in one sentence, which does not repeat it', () => {
  test.each([
    ['BATON_PORT', 'http', 'BATON_PORT must be a port number.'],
    ['BATON_PORT', '-1', 'BATON_PORT must be a port number.'],
    ['BATON_PORT', '65536', 'BATON_PORT must be a port number.'],
    ['DATABASE_URL', 'localhost/baton', 'DATABASE_URL must begin with postgres://.'],
    ['DATABASE_URL', 'mysql://root:hunter2@localhost/baton', 'DATABASE_URL must begin with postgres://.'],
    ['DATABASE_URL', 'postgres://baton:hunter2@localhost:port/baton', 'DATABASE_URL is not a URL.'],
    ['BATON_DATABASE_ROLE', 'baton; drop table tasks', 'BATON_DATABASE_ROLE must be a plain role name.'],
  ])('%s=%s', expectRefused)
})

function expectRefused(name: string, value: string, sentence: string): void {
  const read = () => readConfig({ [name]: value })
  expect(read).toThrow(StartRefused)
  expect(read).toThrow(sentence)
}

test('every setting is in docs/settings.md, and every setting there is read', () => {
  const inSource = [...read('src/config.ts').matchAll(/^ {2}([A-Z_]+): /gm)].map(([, name]) => name)
  const reported = [...read('docs/settings.md').matchAll(/^\| `([A-Z_]+)` \|/gm)].map(([, name]) => name)
  expect(reported.sort()).toEqual(inSource.sort())
  expect(reported.length).toBeGreaterThan(10)
})

const read = (path: string) => readFileSync(resolve(import.meta.dirname, '../..', path), 'utf8')

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { claudeAdapter } from '../../src/adapters/claude/adapter.ts'
import { codexAdapter } from '../../src/adapters/codex/adapter.ts'
import { geminiAdapter } from '../../src/adapters/gemini/adapter.ts'
import { httpAdapter } from '../../src/adapters/http.ts'
import { opencodeAdapter } from '../../src/adapters/opencode/adapter.ts'
import { processAdapter } from '../../src/adapters/process.ts'
import type { AgentRunAdapter } from '../../src/adapters/protocol.ts'
import { billingOf } from '../../src/executor/billing.ts'
import { priceOfRun } from '../../src/executor/price.ts'
import { PRICES } from '../../src/kinds/run/prices/table.ts'
import { CallbacksInMemory } from '../support/callbacks.ts'

/** Who pays for the tokens of a run. */

let home: string
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'baton-billing-'))
})
afterAll(() => rm(home, { recursive: true, force: true }))

const billing = (adapter: AgentRunAdapter, env: Record<string, string> = {}, config: object = {}) =>
  billingOf({ adapter, env: { HOME: home, ...env }, config: { ...config } })

test.each<[string, AgentRunAdapter, Record<string, string>, string]>([
  ['claude with a key', claudeAdapter, { ANTHROPIC_API_KEY: 'k' }, 'api'],
  ['claude with a token for a gateway', claudeAdapter, { ANTHROPIC_AUTH_TOKEN: 'k' }, 'api'],
  ['claude in a cloud', claudeAdapter, { CLAUDE_CODE_USE_BEDROCK: '1' }, 'api'],
  [
    'claude with the token of a subscription',
    claudeAdapter,
    { CLAUDE_CODE_OAUTH_TOKEN: 'k' },
    'subscription',
  ],
  ['claude with a login', claudeAdapter, {}, 'subscription'],
  [
    'claude with both: it uses the key',
    claudeAdapter,
    { CLAUDE_CODE_OAUTH_TOKEN: 'k', ANTHROPIC_API_KEY: 'k' },
    'api',
  ],
  ['claude with an empty key', claudeAdapter, { ANTHROPIC_API_KEY: '' }, 'subscription'],
  ['claude with a cloud turned off', claudeAdapter, { CLAUDE_CODE_USE_VERTEX: '0' }, 'subscription'],
  ['codex with a key', codexAdapter, { CODEX_API_KEY: 'k' }, 'api'],
  ['codex without a key or a login', codexAdapter, {}, 'subscription'],
  ['gemini with a key', geminiAdapter, { GOOGLE_API_KEY: 'k' }, 'api'],
  ['gemini in the cloud', geminiAdapter, { GOOGLE_GENAI_USE_VERTEXAI: 'true' }, 'api'],
  ['gemini with a login', geminiAdapter, { GOOGLE_GENAI_USE_VERTEXAI: 'false' }, 'subscription'],
  ['opencode, whose providers nobody knows', opencodeAdapter, {}, 'api'],
  ['a program', processAdapter, {}, 'api'],
  ['a service', httpAdapter(new CallbacksInMemory()), {}, 'api'],
])('%s', async (_who, adapter, env, expected) => {
  expect(await billing(adapter, env)).toBe(expected)
})

test('codex is billed by a key in its login file, and not with the tokens of a subscription or a broken file', async () => {
  const folder = join(home, '.codex')
  await mkdir(folder)
  const withLogin = async (login: string) => {
    await writeFile(join(folder, 'auth.json'), login)
    return billing(codexAdapter)
  }
  expect(await withLogin('{"OPENAI_API_KEY":"sk-x","tokens":null}')).toBe('api')
  expect(await withLogin('{"OPENAI_API_KEY":null,"tokens":{"access_token":"x"}}')).toBe('subscription')
  expect(await withLogin('{"OPENAI_API_KEY":')).toBe('subscription')
})

test('the settings of an agent decide, if they say so', async () => {
  const key = { ANTHROPIC_API_KEY: 'k' }
  expect(await billing(claudeAdapter, key, { billing: 'subscription' })).toBe('subscription')
  expect(await billing(claudeAdapter, {}, { billing: 'api' })).toBe('api')
  expect(await billing(claudeAdapter, key, { billing: 'auto' })).toBe('api')
  expect(claudeAdapter.validateConfig({ billing: 'api' })).toEqual({ ok: true })
  expect(claudeAdapter.validateConfig({ billing: 'nobody' }).ok).toBe(false)
})

test('what a subscription covers is notional, what a program tells wins over prices, and without either it is unknown', () => {
  const usage = { inputTokens: 1_000_000, outputTokens: 0 }
  const priced = (more: Partial<Parameters<typeof priceOfRun>[0]>) => {
    const run = {
      agent: 'dev',
      adapter: { type: 'x' },
      used: { usage },
      model: 'gpt-5',
      billing: 'api',
    } as const
    const { costUsd, basis } = priceOfRun({ ...run, prices: PRICES, ...more })
    return [costUsd, basis]
  }
  expect(priced({})).toEqual(['1.25', 'priced'])
  expect(priced({ billing: 'subscription' })).toEqual(['1.25', 'notional'])
  expect(priced({ used: { usage, costUsd: 0.1 } })).toEqual(['0.1', 'reported'])
  expect(priced({ adapter: undefined })).toEqual([null, 'unknown'])
  expect(priced({ agent: 'baton', used: {} })).toEqual(['0', 'reported'])
})

import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { codexAdapter } from '../../src/adapters/codex/adapter.ts'
import { CodexReader } from '../../src/adapters/codex/reader.ts'
import { readCodex } from '../../src/transcript/codex.ts'
import { behavesAsCli } from '../support/clis/behaviour.ts'
import { eventsOf } from '../support/clis/runs.ts'

const cli = behavesAsCli(codexAdapter, 'codex', {
  ownArgs: [
    'exec',
    'resume',
    '--json',
    '-',
    '--last',
    '--model',
    '-mx',
    '--cd=/',
    '--skip-git-repo-check',
    '--search',
  ],
  resumeArgs: (sessionId) => ['resume', sessionId, '-'],
  keyName: 'CODEX_API_KEY',
  perRun: { inputTokens: 60, cachedInputTokens: 40, outputTokens: 7 },
  untilItHangs: { inputTokens: 60, cachedInputTokens: 40, outputTokens: 7 },
  inItsLog: null,
})

describe('codex_local', () => {
  test('passes its settings on', async () => {
    const home = await cli.fresh()
    const { result } = await cli.run(home, {
      config: {
        model: 'gpt-x',
        search: true,
        dangerouslyBypassApprovalsAndSandbox: true,
        extraArgs: ['--config', 'a=1'],
      },
    })
    expect(result).toMatchObject({ outcome: 'succeeded', model: 'gpt-x', provider: 'openai', costUsd: null })
    expect(cli.calls(home)[0]!.args).toEqual([
      '--search',
      'exec',
      '--config',
      'a=1',
      '--json',
      '--skip-git-repo-check',
      '--dangerously-bypass-approvals-and-sandbox',
      '--model',
      'gpt-x',
      '-',
    ])
  })

  test('of a thread with a running counter is charged exactly, including lost runs in between', async () => {
    const home = await cli.fresh()
    let state: Record<string, unknown> = {}
    const bases: unknown[] = []
    const total = { input: 0, cached: 0, output: 0 }
    for (const mode of ['success', 'tool', 'killed', 'success', 'tool']) {
      const { result } = await cli.run(home, { mode: Array(10).fill(mode).join(','), state })
      bases.push(result.usageBasis)
      total.input += result.usage?.inputTokens ?? 0
      total.cached += result.usage?.cachedInputTokens ?? 0
      total.output += result.usage?.outputTokens ?? 0
      state = { ...state, ...result.runtimeStatePatch }
    }
    expect(bases).toEqual(['reported', 'delta', 'partial', 'delta', 'delta'])
    // Seven turns in all, each of the same usage: 100 with 40 from the cache, and 7.
    expect(total).toEqual({ input: 7 * 60, cached: 7 * 40, output: 7 * 7 })
  })

  test('counts what was written to the cache as uncached input, once', () => {
    const usage = {
      input_tokens: 1000,
      cached_input_tokens: 400,
      cache_write_input_tokens: 250,
      output_tokens: 9,
    }
    const reader = new CodexReader({})
    reader.take(JSON.stringify({ type: 'thread.started', thread_id: 't' }))
    reader.take(JSON.stringify({ type: 'turn.completed', usage }))
    const { usage: first, runtimeStatePatch } = reader.facts()
    expect(first).toEqual({
      cacheWriteInputTokens: 250,
      inputTokens: 600,
      cachedInputTokens: 400,
      outputTokens: 9,
    })
    expect(runtimeStatePatch).toMatchObject({
      counted: { input: 1000, cached: 400, written: 250, output: 9 },
    })
    // The counters go on when the thread is resumed.
    const resumed = new CodexReader(runtimeStatePatch as Record<string, unknown>)
    resumed.take(JSON.stringify({ type: 'thread.started', thread_id: 't' }))
    const more = { ...usage, input_tokens: 2000, cached_input_tokens: 1300, cache_write_input_tokens: 350 }
    resumed.take(JSON.stringify({ type: 'turn.completed', usage: { ...more, output_tokens: 12 } }))
    expect(resumed.facts().usage).toEqual({
      ...{ inputTokens: 100, cachedInputTokens: 900, cacheWriteInputTokens: 100, outputTokens: 3 },
    })
    const said =
      'The thread has used 1000 input tokens, 400 of them cached and 250 written to the cache, and 9 output tokens.'
    expect(JSON.stringify(readCodex({ type: 'turn.completed', usage }, {}))).toContain(said)
  })

  test('follows the file of its thread where its environment has it', async () => {
    const home = await cli.fresh()
    const stop = new AbortController()
    const { result } = await cli.run(home, {
      ...{ mode: 'hang', signal: stop.signal, env: { CODEX_HOME: join(home, 'elsewhere') } },
      onUsage: () => stop.abort(),
    })
    expect(result.usage).toMatchObject({ inputTokens: 60, models: [{ model: 'gpt-5.1' }] })
  })

  test('of a version whose file has only totals is counted while it runs', async () => {
    const home = await cli.fresh()
    const env = { FAKE_CLI_NO_RECORDS: '1' }
    const { result: first } = await cli.run(home, { mode: 'tool', env })
    const stop = new AbortController()
    const { result } = await cli.run(home, {
      ...{ mode: 'hang,hang', signal: stop.signal, env, state: first.runtimeStatePatch! },
      onUsage: () => stop.abort(),
    })
    expect(result).toMatchObject({ outcome: 'cancelled', usage: { inputTokens: 60, outputTokens: 7 } })
  })

  test('makes no progress while its program reconnects', async () => {
    const { result, heard } = await cli.run(await cli.fresh(), { mode: 'transient' })
    expect(result.outcome).toBe('succeeded')
    expect(eventsOf(heard, 'activity')).toHaveLength(1)
  })

  test.each([
    ['http529', 'api_error'],
    ['turn_failed', 'nonzero_exit'],
  ])('ends %s as %s', async (mode, errorCode) => {
    const { result } = await cli.run(await cli.fresh(), { mode })
    expect(result).toMatchObject({ outcome: 'failed', errorCode })
  })

  test('probed without a login explains how to log in, unless there is a key', async () => {
    const home = await cli.fresh()
    const [, login] = await cli.probe(home, { env: { FAKE_CLI_LOGGED_IN: 'no' } })
    expect(login).toMatchObject({
      ok: false,
      detail: 'Not logged in',
      hint: expect.stringContaining('codex login'),
    })
    const [, byKey] = await cli.probe(home, { env: { FAKE_CLI_LOGGED_IN: 'no', CODEX_API_KEY: 'sk-1' } })
    expect(byKey).toMatchObject({ ok: true })
  })
})

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { claudeAdapter } from '../../src/adapters/claude/adapter.ts'
import { behavesAsCli } from '../support/clis/behaviour.ts'
import { eventsOf } from '../support/clis/runs.ts'

const cli = behavesAsCli(claudeAdapter, 'claude', {
  ownArgs: [
    '--print',
    '-p',
    '--output-format=json',
    '--outputFormat',
    '--resume',
    '-rabc',
    '--session-id',
    '--continue',
    '--model=x',
    '--max-turns',
    '--dangerously-skip-permissions',
  ],
  resumeArgs: (sessionId) => ['--resume', sessionId],
  keyName: 'ANTHROPIC_API_KEY',
  perRun: { inputTokens: 100, cachedInputTokens: 40, outputTokens: 7 },
  untilItHangs: { inputTokens: 200, cachedInputTokens: 80, outputTokens: 27 },
  inItsLog: { inputTokens: 200, cachedInputTokens: 80, outputTokens: 2 },
})

describe('claude_local', () => {
  test('chooses its session and reports it before its program runs', async () => {
    const home = await cli.fresh()
    const { result, heard } = await cli.run(home)
    expect(heard.events.slice(0, 3).map(({ type }) => type)).toEqual(['session', 'invocation', 'process'])
    const [reported] = eventsOf(heard, 'session')
    expect(cli.calls(home)[0]!.args).toEqual(expect.arrayContaining(['--session-id', reported!.sessionId]))
    expect(result.sessionId).toBe(reported!.sessionId)
  })

  test('passes its settings on', async () => {
    const home = await cli.fresh()
    await cli.run(home, {
      config: {
        model: 'opus[1m]',
        maxTurnsPerRun: 3,
        maxBudgetUsd: '1.50',
        dangerouslySkipPermissions: true,
        extraArgs: ['--append-system-prompt', 'Be brief'],
      },
      env: { IS_SANDBOX: '1' },
    })
    const [call] = cli.calls(home)
    expect(call!.args.slice(-9)).toEqual([
      '--model',
      'opus[1m]',
      '--max-turns',
      '3',
      '--max-budget-usd',
      '1.50',
      '--dangerously-skip-permissions',
      '--append-system-prompt',
      'Be brief',
    ])
  })

  test.each([
    ['that counts over sessions', '2.1.325'],
    ['that counts for the process', '2.1.257'],
  ])('charges each run of a chain with its own cost, by a program %s', async (_, version) => {
    const home = await cli.fresh()
    let state: Record<string, unknown> = {}
    const costs: unknown[] = []
    for (const mode of ['success', 'tool', 'success', 'tool', 'tool', 'success']) {
      const { result } = await cli.run(home, {
        mode: Array(10).fill(mode).join(','),
        state,
        env: { FAKE_CLI_VERSION: version },
      })
      costs.push(result.costUsd)
      state = { ...state, ...result.runtimeStatePatch }
    }
    expect(costs).toEqual(['0.000548', '0.001356', '0.000548', '0.001356', '0.001356', '0.000548'])
  })

  test.each([
    ['tells what each turn used', {}],
    ['counts over sessions', { FAKE_CLI_VERSION: '2.1.300' }],
    ['counts for the process', { FAKE_CLI_VERSION: '2.1.257' }],
  ])(
    'charges the runs after killed and terminated ones with their own cost, by a program that %s',
    async (_, env) => {
      const home = await cli.fresh()
      let state: Record<string, unknown> = {}
      const costs: unknown[] = []
      for (const mode of ['success', 'killed', 'success', 'hang', 'tool', 'success']) {
        const stop = new AbortController()
        const { result } = await cli.run(home, {
          ...{ mode: Array(10).fill(mode).join(','), state, env, signal: stop.signal },
          onUsage: ({ outputTokens }) => void (mode === 'hang' && outputTokens === 27 && stop.abort()),
        })
        costs.push(result.costUsd)
        state = { ...state, ...result.runtimeStatePatch }
      }
      // What a run cost that told nothing is the price of its tokens.
      expect(costs).toEqual(['0.000548', null, '0.000548', null, '0.001356', '0.000548'])
    },
  )

  test('of a version that refuses partial messages runs without them, and is counted by its session file', async () => {
    const home = await cli.fresh()
    const stop = new AbortController()
    const { result, heard } = await cli.run(home, {
      ...{ mode: 'hang,hang', env: { FAKE_CLI_VERSION: '2.0.10' }, signal: stop.signal },
      onUsage: ({ outputTokens }) => void (outputTokens === 27 && stop.abort()),
    })
    expect(result).toMatchObject({
      ...{ outcome: 'cancelled', usageBasis: 'partial' },
      usage: { inputTokens: 200, cachedInputTokens: 80, outputTokens: 27 },
    })
    expect(eventsOf(heard, 'process')).toHaveLength(2)
    expect(cli.calls(home)[0]!.args).not.toContain('--include-partial-messages')
    expect(eventsOf(heard, 'session')).toEqual([{ sessionId: result.sessionId }])
  })

  test('keeps pieces of messages out of its log', async () => {
    const home = await cli.fresh()
    const { heard } = await cli.run(home, { mode: 'tool' })
    expect(cli.calls(home)[0]!.args).toContain('--include-partial-messages')
    const types = heard.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).type)
    expect(types).toEqual(['system', 'assistant', 'user', 'assistant', 'result'])
  })

  test('does not count a message that was cut off', async () => {
    const stop = new AbortController()
    const { result } = await cli.run(await cli.fresh(), {
      ...{ mode: 'cut_off', signal: stop.signal },
      onEvent: (type) => void (type === 'activity' && stop.abort()),
    })
    expect(result).toMatchObject({ outcome: 'cancelled', usage: null, usageBasis: null })
  })

  test('counts a subagent that works in the background while it works, and the turn that follows', async () => {
    const stop = new AbortController()
    const home = await cli.fresh()
    const { result: stopped } = await cli.run(home, {
      ...{ mode: 'subagent_hangs', signal: stop.signal, env: { CLAUDE_CONFIG_DIR: join(home, 'elsewhere') } },
      onUsage: ({ outputTokens }) => void (outputTokens === 20 + 30 && stop.abort()),
    })
    expect(stopped.usage).toMatchObject({ inputTokens: 200, cachedInputTokens: 80, outputTokens: 50 })
    for (const missing of ['NOTHING', 'TURNS', 'FILES']) {
      const { result } = await cli.run(await cli.fresh(), {
        mode: 'subagent',
        env: { [`FAKE_CLI_NO_${missing}`]: '1' },
      })
      expect(result).toMatchObject({
        ...{ outcome: 'succeeded', summary: 'Hello from fake', usageBasis: 'reported' },
        usage: { inputTokens: 400, cachedInputTokens: 160, outputTokens: 20 + 30 + 7 + 7 },
        costUsd: '0.002912',
      })
    }
  })

  test('that stopped at its turn limit asks to continue, and resumes', async () => {
    const home = await cli.fresh()
    const { result } = await cli.run(home, { mode: 'max_turns' })
    expect(result).toMatchObject({ outcome: 'succeeded', wantsMore: true, exitCode: 1 })
    expect(result).not.toHaveProperty('result')
    expect(result.usage).toMatchObject({ inputTokens: 100, cachedInputTokens: 40, outputTokens: 20 })
    const { result: next } = await cli.run(home, { state: result.runtimeStatePatch! })
    expect(next).toMatchObject({ outcome: 'succeeded', wantsMore: false, sessionId: result.sessionId })
  })

  test('reports when its limit resets', async () => {
    const { result, heard } = await cli.run(await cli.fresh(), {
      mode: 'http429',
      env: { FAKE_CLI_RESETS_AT: '1794769200' },
    })
    expect(result).toMatchObject({ errorCode: 'rate_limited', retryAt: '2026-11-15T19:00:00.000Z' })
    expect(eventsOf(heard, 'rate_limit')).toEqual([{ until: '2026-11-15T19:00:00.000Z' }])
  })

  test.each([
    ['http529', 'api_error'],
    ['not_logged_in', 'not_logged_in'],
    ['max_budget', 'budget_blocked'],
    ['refusal', 'refused'],
  ])('ends %s as %s', async (mode, errorCode) => {
    const { result } = await cli.run(await cli.fresh(), { mode })
    expect(result).toMatchObject({ outcome: 'failed', errorCode })
    expect(result.errorMessage).toBeTruthy()
  })

  test('makes no progress while its program retries', async () => {
    const { result, heard } = await cli.run(await cli.fresh(), { mode: 'transient' })
    expect(result.outcome).toBe('succeeded')
    expect(eventsOf(heard, 'activity')).toHaveLength(1)
    expect(eventsOf(heard, 'call')).toEqual([])
  })

  test('reports what it was denied', async () => {
    const { result, heard } = await cli.run(await cli.fresh(), { mode: 'denied' })
    expect(result).toMatchObject({
      outcome: 'succeeded',
      rawResult: { permission_denials: [{ tool_name: 'Bash' }] },
    })
    expect(heard.statuses.at(-1)).toEqual({ message: '1 tool call denied', color: 'yellow' })
  })

  test('names the flag its program does not know', async () => {
    const { result } = await cli.run(await cli.fresh(), { config: { extraArgs: ['--bogus'] } })
    expect(result).toMatchObject({ errorCode: 'nonzero_exit' })
    expect(result.errorMessage).toContain(`unknown option '--bogus'`)
  })

  test('probed without a login explains how to log in', async () => {
    const [, login] = await cli.probe(await cli.fresh(), { env: { FAKE_CLI_LOGGED_IN: 'no' } })
    expect(login).toMatchObject({
      name: 'login',
      ok: false,
      hint: expect.stringContaining('claude auth login'),
    })
  })

  test('probed does not ask an old version for its login status, which would read that as a prompt', async () => {
    const [, login] = await cli.probe(await cli.fresh(), {
      env: { FAKE_CLI_LOGGED_IN: 'no', FAKE_CLI_VERSION: '1.0.80' },
    })
    expect(login).toMatchObject({ ok: true, detail: expect.stringContaining('cannot report') })
  })

  test('probed accepts a key, or the file of a login, as a login', async () => {
    const home = await cli.fresh()
    const env = { FAKE_CLI_LOGGED_IN: 'no', ANTHROPIC_API_KEY: 'sk-secret' }
    const [, byKey] = await cli.probe(home, { env })
    expect(byKey).toMatchObject({ ok: true, detail: expect.stringContaining('ANTHROPIC_API_KEY') })
    expect(byKey!.detail).not.toContain('sk-secret')
    await writeFile(join(home, '.credentials.json'), '{}')
    const [, byFile] = await cli.probe(home, { env: { FAKE_CLI_LOGGED_IN: 'no', CLAUDE_CONFIG_DIR: home } })
    expect(byFile).toMatchObject({ ok: true, detail: expect.stringContaining(home) })
  })

  test.runIf(process.getuid?.() === 0)('probed warns that root may not skip permissions', async () => {
    const home = await cli.fresh()
    const config = { dangerouslySkipPermissions: true }
    const checks = await cli.probe(home, { config })
    expect(checks).toContainEqual(expect.objectContaining({ name: 'permissions', ok: false }))
    const { result } = await cli.run(home, { config })
    expect(result.errorMessage).toContain('root')
  })
})

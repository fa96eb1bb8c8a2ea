import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { opencodeAdapter } from '../../src/adapters/opencode/adapter.ts'
import { behavesAsCli } from '../support/clis/behaviour.ts'
import { eventsOf } from '../support/clis/runs.ts'

const cli = behavesAsCli(opencodeAdapter, 'opencode', {
  ownArgs: ['run', '--format', '--session=x', '-s', '--continue', '-mx', '--agent', '--attach', '--dir'],
  resumeArgs: (sessionId) => ['--session', sessionId],
  keyName: 'ANTHROPIC_API_KEY',
  perRun: { inputTokens: 60, cachedInputTokens: 40, outputTokens: 7 },
  untilItHangs: { inputTokens: 100, cachedInputTokens: 0, outputTokens: 20 },
  inItsLog: { inputTokens: 100, cachedInputTokens: 0, outputTokens: 20 },
})

describe('opencode_local', () => {
  test('passes its settings on', async () => {
    const home = await cli.fresh()
    const { result } = await cli.run(home, {
      config: {
        model: 'anthropic/claude-x',
        agent: 'build',
        variant: 'high',
        dangerouslySkipPermissions: true,
        extraArgs: ['--thinking'],
      },
    })
    expect(result).toMatchObject({ outcome: 'succeeded', model: 'anthropic/claude-x', provider: 'anthropic' })
    expect(cli.calls(home)[0]!.args).toEqual([
      'run',
      '--format',
      'json',
      '--model',
      'anthropic/claude-x',
      '--agent',
      'build',
      '--variant',
      'high',
      '--dangerously-skip-permissions',
      '--thinking',
    ])
  })

  test('is charged for all its steps', async () => {
    const { result, heard } = await cli.run(await cli.fresh(), { mode: 'tool' })
    expect(result).toMatchObject({
      usage: { inputTokens: 160, cachedInputTokens: 40, outputTokens: 27 },
      usageBasis: 'reported',
      costUsd: '0.000214',
    })
    expect(heard.usages).toHaveLength(2)
  })

  test('also starts a new session when its program exits cleanly without reporting an unknown session', async () => {
    const home = await cli.fresh()
    const { result } = await cli.run(home, {
      mode: 'unknown_session_exit0',
      state: { sessionId: 'ses_gone' },
    })
    expect(result).toMatchObject({ outcome: 'succeeded' })
    expect(cli.calls(home)).toHaveLength(2)
  })

  test('reports when to retry, from its program’s error', async () => {
    const before = Date.now()
    const { result, heard } = await cli.run(await cli.fresh(), { mode: 'http429' })
    expect(Date.parse(result.retryAt!)).toBeGreaterThanOrEqual(before + 60_000)
    expect(eventsOf(heard, 'rate_limit')).toEqual([{ until: result.retryAt }])
  })

  test.each([
    ['error_exit0', 'api_error'],
    ['not_logged_in', 'not_logged_in'],
    ['refusal', 'refused'],
  ])('ends %s as %s', async (mode, errorCode) => {
    const { result } = await cli.run(await cli.fresh(), { mode })
    expect(result).toMatchObject({ outcome: 'failed', errorCode })
  })

  test('probed accepts the file of a login as a login', async () => {
    const home = await cli.fresh()
    await mkdir(join(home, 'opencode'))
    await writeFile(join(home, 'opencode', 'auth.json'), '{}')
    const [, login] = await cli.probe(home, { env: { XDG_DATA_HOME: home } })
    expect(login).toMatchObject({ ok: true, detail: expect.stringContaining('auth.json') })
  })
})

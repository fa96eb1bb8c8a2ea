import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { geminiAdapter } from '../../src/adapters/gemini/adapter.ts'
import { behavesAsCli } from '../support/clis/behaviour.ts'

const cli = behavesAsCli(geminiAdapter, 'gemini', {
  ownArgs: [
    '-p',
    '--prompt=x',
    '-ojson',
    '--output-format',
    '--outputFormat',
    '-r',
    '--resume',
    '--yolo',
    '--model',
  ],
  resumeArgs: (sessionId) => ['--resume', sessionId],
  keyName: 'GEMINI_API_KEY',
  perRun: { inputTokens: 60, cachedInputTokens: 40, outputTokens: 7 },
  untilItHangs: { inputTokens: 60, cachedInputTokens: 40, outputTokens: 7 },
  inItsLog: null,
})

describe('gemini_local', () => {
  test('passes its settings on', async () => {
    const home = await cli.fresh()
    const { result } = await cli.run(home, {
      config: { model: 'gemini-x', approvalMode: 'yolo', extraArgs: ['--sandbox'] },
    })
    expect(result).toMatchObject({ outcome: 'succeeded', model: 'gemini-x', provider: 'google' })
    expect(cli.calls(home)[0]!.args).toEqual([
      '--output-format',
      'stream-json',
      '--model',
      'gemini-x',
      '--approval-mode',
      'yolo',
      '--sandbox',
    ])
  })

  test('that stopped at its turn limit asks to continue', async () => {
    const { result } = await cli.run(await cli.fresh(), { mode: 'max_turns' })
    expect(result).toMatchObject({ outcome: 'succeeded', wantsMore: true, exitCode: 53 })
    expect(result.usage).toMatchObject({ inputTokens: 60, cachedInputTokens: 40, outputTokens: 7 })
  })

  test('follows its chat file where its environment has it', async () => {
    const home = await cli.fresh()
    const stop = new AbortController()
    const { result } = await cli.run(home, {
      ...{ mode: 'hang', signal: stop.signal, env: { GEMINI_CLI_HOME: join(home, 'elsewhere') } },
      onUsage: () => stop.abort(),
    })
    expect(result.usage).toMatchObject({ inputTokens: 60, reasoningTokens: 2 })
  })

  test('that was cancelled from outside is cancelled', async () => {
    const { result } = await cli.run(await cli.fresh(), { mode: 'cancelled' })
    expect(result).toMatchObject({ outcome: 'cancelled', errorCode: 'cancelled', exitCode: 130 })
  })

  const loginOf = async (env: Record<string, string>) => (await cli.probe(await cli.fresh(), { env }))[1]!

  test('probed without a way to log in is not logged in: a run would end with exit code 41', async () => {
    const [, login] = await cli.probe(await cli.fresh())
    expect(login).toMatchObject({ ok: false, detail: expect.stringContaining('exit code 41') })
    expect(login!.hint).toContain('GEMINI_API_KEY')
    // Chosen, but not complete; and a key of another way than the chosen one.
    expect(await loginOf({ GOOGLE_GENAI_USE_GCA: 'true' })).toMatchObject({ ok: false })
    expect(await loginOf({ GOOGLE_GENAI_USE_VERTEXAI: 'true' })).toMatchObject({ ok: false })
    expect(await loginOf({ GOOGLE_API_KEY: 'x' })).toMatchObject({ ok: false })
  })

  test('probed with a way to log in reports which one', async () => {
    expect(await loginOf({ GEMINI_API_KEY: 'x' })).toMatchObject({
      ok: true,
      detail: expect.stringContaining('GEMINI_API_KEY'),
    })
    expect(await loginOf({ GOOGLE_GENAI_USE_VERTEXAI: 'true', GOOGLE_API_KEY: 'x' })).toMatchObject({
      ok: true,
    })
  })

  test('probed with a stored login counts it only where its settings choose it', async () => {
    const home = await mkdtemp(join(tmpdir(), 'baton-gemini-'))
    await mkdir(join(home, '.gemini'))
    await writeFile(join(home, '.gemini/oauth_creds.json'), '{}')
    const env = { GEMINI_CLI_HOME: home }
    expect(await loginOf(env)).toMatchObject({ ok: false })
    const settings = '{ // chosen by hand\n "security": { "auth": { "selectedType": "oauth-personal" } } }'
    await writeFile(join(home, '.gemini/settings.json'), settings)
    expect(await loginOf(env)).toMatchObject({
      ok: true,
      detail: expect.stringContaining('oauth_creds.json'),
    })
    await rm(home, { recursive: true })
  })
})

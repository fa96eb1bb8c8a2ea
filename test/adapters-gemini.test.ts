import { describe, expect, test } from 'vitest'
import { geminiAdapter } from '../src/adapters/gemini/adapter.ts'
import { behavesAsCli } from './support/clis/behaviour.ts'

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
    expect(result.usage).toEqual({ inputTokens: 60, cachedInputTokens: 40, outputTokens: 7 })
  })

  test('that was cancelled from outside is cancelled', async () => {
    const { result } = await cli.run(await cli.fresh(), { mode: 'cancelled' })
    expect(result).toMatchObject({ outcome: 'cancelled', errorCode: 'cancelled', exitCode: 130 })
  })

  test('probed reports when it cannot determine whether it is logged in', async () => {
    const [, login] = await cli.probe(await cli.fresh())
    expect(login).toMatchObject({ ok: true, detail: expect.stringContaining('It is unknown') })
    const [, byKey] = await cli.probe(await cli.fresh(), { env: { GEMINI_API_KEY: 'x' } })
    expect(byKey!.detail).toContain('GEMINI_API_KEY')
  })
})

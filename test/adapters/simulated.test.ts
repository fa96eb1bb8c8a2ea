import { describe, expect, test } from 'vitest'
import type { AdapterInvokeInput } from '../../src/adapters/protocol.ts'
import { simulatedAdapter } from '../../src/adapters/simulated.ts'
import { inputFor, never, recordingHooks } from '../support/adapter-runs.ts'
import { until } from '../support/nodes.ts'

/** Agents that follow a script. */

async function play(adapterConfig: Record<string, unknown>, more: Partial<AdapterInvokeInput> = {}) {
  const recorded = recordingHooks()
  const input = inputFor({ runId: 'run-1', adapterConfig, ...more })
  return { ...recorded, result: await simulatedAdapter.invoke(input, recorded.hooks, never) }
}

/** A line of its output, as programs of the adapter "process" print it. */
const printed = (line: object) => ({
  hook: 'log',
  what: { stream: 'stdout', chunk: `${JSON.stringify(line)}\n` },
})

describe('a script', () => {
  test('is played step by step', async () => {
    const { reported, result } = await play({
      steps: [
        { say: 'Good morning.' },
        { status: 'reads', color: 'blue' },
        { progress: 50, step: 'half' },
        { usage: { inputTokens: 10, outputTokens: 1 } },
        { checkpoint: { at: 1 } },
        { call: 'read a.ts', isError: true },
        { usage: { inputTokens: 5, outputTokens: 2, cachedInputTokens: 100 } },
        { result: { ok: true }, summary: 'Done.' },
      ],
    })
    expect(reported).toEqual([
      { hook: 'event', type: 'session', what: { sessionId: 'simulated-run-1' } },
      { hook: 'log', what: { stream: 'stdout', chunk: 'Good morning.\n' } },
      { hook: 'event', type: 'activity', what: {} },
      { hook: 'status', what: { message: 'reads', color: 'blue' } },
      { hook: 'event', type: 'progress', what: { percent: 50, step: 'half' } },
      { hook: 'usage', what: { inputTokens: 10, outputTokens: 1, cachedInputTokens: 0 } },
      { hook: 'event', type: 'checkpoint', what: { data: { at: 1 } } },
      printed({ baton: 'call', signature: 'read a.ts', isError: true }),
      { hook: 'event', type: 'call', what: { signature: 'read a.ts', isError: true } },
      { hook: 'usage', what: { inputTokens: 15, outputTokens: 3, cachedInputTokens: 100 } },
      printed({ result: { ok: true }, summary: 'Done.' }),
    ])
    expect(result).toEqual({
      outcome: 'succeeded',
      exitCode: 0,
      wantsMore: false,
      result: { ok: true },
      summary: 'Done.',
      sessionId: 'simulated-run-1',
      usage: { inputTokens: 15, outputTokens: 3, cachedInputTokens: 100 },
      usageBasis: 'reported',
      costUsd: null,
      runtimeStatePatch: { sessionId: 'simulated-run-1', continued: 0 },
    })
  })

  test('costs what its settings say, and otherwise nobody knows what', async () => {
    const steps = [{ say: 'a' }]
    expect((await play({ steps, costUsd: '0.31' })).result.costUsd).toBe('0.31')
    expect((await play({ steps })).result.costUsd).toBeNull()
    const refused = simulatedAdapter.validateConfig!({ steps, costUsd: 'a lot' })
    expect(refused).toMatchObject({ ok: false })
  })

  test('may be repeated', async () => {
    const { logged, result } = await play({
      steps: [{ say: 'a' }, { usage: { inputTokens: 1, outputTokens: 1 } }],
      repeat: 3,
    })
    expect(logged('stdout')).toBe('a\na\na\n')
    expect(result.usage).toMatchObject({ inputTokens: 3 })
  })

  test('ends where it fails, and keeps what it used', async () => {
    const { logged, result } = await play({
      steps: [
        { usage: { inputTokens: 1, outputTokens: 1 } },
        { fail: { code: 'refused', message: 'No.' } },
        { say: 'never' },
      ],
    })
    expect(result).toMatchObject({
      outcome: 'failed',
      errorCode: 'refused',
      errorMessage: 'No.',
      usageBasis: 'partial',
    })
    expect(logged('stdout')).toBe('')
  })

  test('may be limited for a while', async () => {
    const began = Date.now()
    const { result, events } = await play({
      steps: [{ fail: { code: 'rate_limited', retryAfterMs: 60_000 } }],
    })
    expect(result.errorCode).toBe('rate_limited')
    expect(Date.parse(result.retryAt!)).toBeGreaterThanOrEqual(began + 60_000)
    expect(events('rate_limit')).toEqual([{ until: result.retryAt }])
  })

  test('asks a person once, and goes past the question when it is played again', async () => {
    const steps = [{ ask: 'Which?', options: ['this', 'that'] }, { result: 1 }]
    const first = await play({ steps })
    expect(first.result).toMatchObject({
      outcome: 'succeeded',
      question: { question: 'Which?', options: ['this', 'that'] },
    })
    expect(first.result.result).toBeUndefined()
    const again = await play({ steps }, { runtimeState: first.result.runtimeStatePatch! })
    expect(again.result).toMatchObject({
      outcome: 'succeeded',
      result: 1,
      runtimeStatePatch: { continued: 0 },
    })
    expect(again.result.question).toBeUndefined()
  })

  test('plays a step only in the attempt that it is for', async () => {
    const steps = [
      { attempt: 1, fail: { code: 'nonzero_exit' } },
      { attempt: 3, result: 3 },
      { result: 'other' },
    ]
    const at = async (attempt: number) =>
      (
        await play(
          { steps: steps.slice(0, attempt === 3 ? 2 : 3) },
          { task: { id: 't', generation: attempt, attempt } },
        )
      ).result
    expect(await at(1)).toMatchObject({ outcome: 'failed', errorCode: 'nonzero_exit' })
    expect(await at(2)).toMatchObject({ outcome: 'succeeded', result: 'other' })
    expect(await at(3)).toMatchObject({ outcome: 'succeeded', result: 3 })
  })

  test('may want more, as often as it says', async () => {
    const config = { steps: [{ say: 'on' }, { wantsMore: true, times: 2 }, { result: 'at last' }] }
    const first = await play(config)
    expect(first.result).toMatchObject({ outcome: 'succeeded', wantsMore: true })
    const second = await play(config, { runtimeState: first.result.runtimeStatePatch, runId: 'run-2' })
    expect(second.result).toMatchObject({ wantsMore: true, sessionId: 'simulated-run-1' })
    const third = await play(config, { runtimeState: second.result.runtimeStatePatch, runId: 'run-3' })
    expect(third.result).toMatchObject({
      wantsMore: false,
      result: 'at last',
      runtimeStatePatch: { continued: 0 },
    })
  })

  test('plays the same way every time, and may play differently at the next attempt', async () => {
    const steps = Array.from({ length: 50 }, (_, i) => ({ say: String(i), chance: 0.5 }))
    const said = async (seed: number, attempt: number) =>
      (await play({ steps, seed }, { task: { id: 't-1', generation: attempt, attempt } })).logged('stdout')
    expect(await said(1, 1)).toBe(await said(1, 1))
    expect(await said(1, 1)).not.toBe(await said(2, 1))
    expect(await said(1, 1)).not.toBe(await said(1, 2))
    const lines = (await said(1, 1)).trim().split('\n').length
    expect(lines).toBeGreaterThan(10)
    expect(lines).toBeLessThan(40)
  })

  test('without waits can be stopped too', async () => {
    const stop = new AbortController()
    const { hooks, reported } = recordingHooks()
    const input = inputFor({ adapterConfig: { steps: [{ progress: 1 }], repeat: 100_000 }, timeoutSec: 0 })
    const over = simulatedAdapter.invoke(input, hooks, stop.signal)
    await until(async () => reported.length > 10)
    stop.abort()
    expect(await over).toMatchObject({ outcome: 'cancelled', errorCode: 'cancelled' })
    expect(reported.length).toBeLessThan(100_000)
  })

  test('that was stopped in its last wait is no success', async () => {
    const { result } = await play({ steps: [{ result: 1 }, { waitMs: 100_000 }] }, { timeoutSec: 0.05 })
    expect(result).toMatchObject({ outcome: 'timed_out', errorCode: 'timeout' })
    expect(result).not.toHaveProperty('result')
  })
})

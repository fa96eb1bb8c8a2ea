import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Json } from '../../support/http-workspace.ts'
import { until } from '../../support/nodes.ts'
import { type Fleet, useFleets } from '../../support/runs.ts'

/** What an agent shows of its set-up: the outcome of its last test, and when its timer wakes it next. */

const { folder, fleet } = useFleets()

const put = async (w: Fleet, body: Json) => {
  const { status } = await w.call('PUT', '/agents/dev', body)
  expect(status).toBeLessThan(300)
}
const process_ = (more: Json = {}): Json => ({
  adapterType: 'process',
  adapterConfig: { command: 'node', ...more },
})

describe('the test of an agent', () => {
  test('reports the missing folder and the missing program at once', async () => {
    const w = await fleet()
    await put(w, process_({ command: 'no-such-program', cwd: join(folder(), 'nowhere') }))
    const { body } = await w.post('/agents/dev/test')
    const failed = body.checks.filter(({ ok }: Json) => !ok)
    expect(failed.map(({ name }: Json) => name)).toEqual(['folder', 'program'])
    expect(failed.flatMap(({ problems }: Json) => problems).map(({ field }: Json) => field)).toEqual([
      'adapterConfig.cwd',
      'adapterConfig.command',
    ])
    for (const { detail, hint } of failed) expect(`${detail} ${hint}`).not.toContain('adapterConfig')
  })

  test('is remembered until the settings that it looked at change, and its failure stops nothing', async () => {
    const w = await fleet()
    await put(w, process_({ command: 'no-such-program' }))
    expect((await w.agent('dev')).lastTest).toBeNull()
    await w.post('/agents/dev/test')
    const { lastTest, state } = await w.agent('dev')
    expect([lastTest, state]).toEqual([{ at: expect.any(String), ok: false, failed: ['program'] }, 'idle'])
    const { items } = (await w.call('GET', '/events?limit=200')).body
    expect(items).toContainEqual(
      expect.objectContaining({
        type: 'agent_tested',
        payload: expect.objectContaining({ agent: 'dev', failed: ['program'] }),
      }),
    )
    await put(w, { adapterConfig: { command: 'no-such-program', promptTemplate: 'Do {{task.title}}' } })
    await put(w, { capabilities: ['review'] })
    expect((await w.agent('dev')).lastTest).toEqual(lastTest)
    await put(w, process_())
    expect((await w.agent('dev')).lastTest).toBeNull()
    await w.post('/agents/dev/test')
    const passed = await w.agent('dev')
    expect(passed.lastTest).toMatchObject({ ok: true, failed: [] })
    await w.post('/agents/dev/test')
    expect((await w.agent('dev')).version, 'a test that passes again changes nothing').toBe(passed.version)
  })
})

describe('nextWakeAt', () => {
  const timer = (heartbeat: Json) => ({ ...process_(), runtimeConfig: { heartbeat } })
  const inMs = async (w: Fleet) => Date.parse((await w.agent('dev')).nextWakeAt) - Date.now()

  test('is the next time of the timer, and there is none without a timer or while nothing wakes the agent', async () => {
    const w = await fleet()
    await put(w, process_())
    expect((await w.agent('dev')).nextWakeAt).toBeNull()
    await put(w, timer({ intervalSec: 3_600 }))
    expect(await inMs(w)).toBeGreaterThan(3_500_000)
    const { nextWakeAt } = await until(async () => {
      const { nextTimerAt } = (await w.call('GET', '/agents/dev/runtime-state')).body
      const agent = await w.agent('dev')
      return nextTimerAt !== null && nextTimerAt === agent.nextWakeAt ? agent : null
    })
    const { items } = (await w.call('GET', '/agents')).body
    expect(items.find(({ slug }: Json) => slug === 'dev').nextWakeAt).toBe(nextWakeAt)
    await put(w, timer({ intervalSec: 600 }))
    expect(await inMs(w), 'a shorter timer counts from now').toBeLessThanOrEqual(600_000)
    await w.post('/agents/dev/pause')
    expect((await w.agent('dev')).nextWakeAt).toBeNull()
    await w.post('/agents/dev/resume')
    expect(await inMs(w)).toBeGreaterThan(0)
    await put(w, timer({ intervalSec: 600, enabled: false }))
    expect((await w.agent('dev')).nextWakeAt).toBeNull()
  })
})

test('totals are of all runs of an agent, with the error of the last one if it failed', async () => {
  const w = await fleet()
  const none = { runs: 0, unknownRuns: 0, costUsd: '0', lastError: null }
  const simulated = (steps: Json[]) => ({
    adapterType: 'simulated',
    adapterConfig: { steps, costUsd: '0.25' },
  })
  const used = { usage: { inputTokens: 100, outputTokens: 20 } }
  await put(w, simulated([used, { result: {} }]))
  expect((await w.agent('dev')).totals).toMatchObject(none)
  await w.wake('dev')
  await w.over('dev')
  const totals = async (runs: number) => {
    const agent = await until(async () => {
      const seen = await w.agent('dev')
      return seen.totals.runs === runs ? seen : null
    })
    return agent.totals
  }
  expect(await totals(1)).toEqual({
    ...{ ...none, runs: 1, costUsd: '0.25' },
    tokens: { input: 100, cachedInput: 0, cacheWrite: null, output: 20 },
  })
  await put(w, simulated([{ fail: { code: 'nonzero_exit', message: 'No paper.' } }]))
  await w.wake('dev')
  const failed = await totals(2)
  expect(failed.lastError).toContain('No paper.')
  const { items } = (await w.call('GET', '/agents')).body
  expect(items.find(({ slug }: Json) => slug === 'dev').totals).toEqual(failed)
})

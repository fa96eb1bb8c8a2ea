import { describe, expect, test } from 'vitest'
import { makeMission, showMission } from '../../support/http-missions.ts'
import { expectRefusal, type Json } from '../../support/http-workspace.ts'
import { eventually } from '../../support/recovery.ts'
import { type Fleet, useFleets } from '../../support/runs.ts'

/** What runs, missions and plans cost, and the model of an agent that they cost it with. */

const { fleet } = useFleets()

const ended = (w: Fleet, mission: Json): Promise<Json> =>
  eventually(async () => {
    const shown = await showMission(w, mission)
    return shown.state === 'completed' && shown
  })

describe('a run costs', () => {
  /** One plain run of each fake program: 60 tokens of input, 40 cached ones beside it, 7 of output. */
  test.each([
    ['codex', '', 'gpt-5', '0.00015'],
    ['gemini', '', 'gemini-2.5-pro', '0.00015'],
    ['opencode', 'unpriced', 'anthropic/claude-sonnet-4-5', '0.000297'],
  ] as const)(
    'the list price of its tokens where %s has none of its own, and cached input costs its own price once',
    async (program, mode, model, costUsd) => {
      const w = await fleet()
      await w[program]('dev', mode, { config: { model } })
      const task = await w.assign('dev')
      const [run] = await w.over('dev')
      expect(run).toMatchObject({ status: 'succeeded', model, costUsd })
      // Without a key in its environment, it works with a subscription.
      const notionalUsd = program === 'opencode' ? null : costUsd
      expect(await w.read(task)).toMatchObject({ costUsd, notionalUsd })
      const { body: state } = await w.call('GET', '/agents/dev/runtime-state')
      expect(state).toMatchObject({ runs: 1, unknownRuns: 0, costUsd })
    },
  )

  test('what its program says, if it says so', async () => {
    const w = await fleet()
    await w.opencode('dev', '', { config: { model: 'anthropic/claude-sonnet-4-5' } })
    await w.assign('dev')
    const [run] = await w.over('dev')
    expect(run.costUsd).toBe('0.000074')
  })

  test('an unknown amount, never 0, when its model has no price', async () => {
    const w = await fleet()
    await w.opencode('dev', 'unpriced', { config: { model: 'x/nobody-knows-it' } })
    await w.assign('dev')
    const [run] = await w.over('dev')
    expect(run).toMatchObject({ costUsd: null, tokens: { input: 60 } })
    const { body: state } = await w.call('GET', '/agents/dev/runtime-state')
    expect(state).toMatchObject({ runs: 1, unknownRuns: 1, costUsd: '0' })
  })
})

describe('the prices of a workspace', () => {
  const RATES = { input: '10', cachedInput: '1', output: '100' }
  const price = async (w: Fleet, model: string) => (await w.call('GET', `/prices/${model}`)).body

  test('count for runs that end after they are set, until they are removed, and in no other workspace', async () => {
    const [w, other] = [await fleet(), await fleet()]
    await w.codex('dev', '', { config: { model: 'openai/gpt-5' } })
    const costOfNext = async (count: number) => {
      await w.assign('dev')
      return (await w.over('dev', count)).at(-1).costUsd
    }
    expect(await costOfNext(1)).toBe('0.00015')
    const set = await w.call('PUT', '/prices/openai%2Fgpt-5-2026-04-01', RATES)
    expect(set).toMatchObject({ status: 200, body: { model: 'gpt-5', ...RATES, setBy: 'workspace' } })
    // 60 × 10 + 40 × 1 + 7 × 100
    expect(await costOfNext(2)).toBe('0.00134')
    expect(await price(other, 'gpt-5')).toMatchObject({ input: '1.25', setBy: 'list' })
    expect((await w.call('DELETE', '/prices/gpt-5')).status).toBe(204)
    expect(await costOfNext(3)).toBe('0.00015')
    expectRefusal(await w.call('DELETE', '/prices/gpt-5'), 404, 'NOT_FOUND')
    expect((await w.happens('price_changed'))[0]?.payload).toMatchObject({ model: 'gpt-5', ...RATES })
    expect((await w.happens('price_removed'))[0]?.payload).toEqual({ model: 'gpt-5' })
  })

  test('also of models that the list does not have', async () => {
    const w = await fleet()
    expectRefusal(await w.call('GET', '/prices/nobody-knows-it'), 404, 'NOT_FOUND')
    await w.call('PUT', '/prices/nobody-knows-it', RATES)
    await w.opencode('dev', 'unpriced', { config: { model: 'x/nobody-knows-it' } })
    await w.assign('dev')
    const [run] = await w.over('dev')
    expect(run.costUsd).toBe('0.00134')
    const { items } = (await w.call('GET', '/prices')).body
    expect(items.filter(({ setBy }: Json) => setBy === 'workspace')).toEqual([
      await price(w, 'nobody-knows-it'),
    ])
    expect(items.find(({ model }: Json) => model === 'claude-sonnet-4-5')).toMatchObject({
      ...{ cacheWrite1h: '6', longContext: { fromTokens: 200_000, output: '22.5' } },
      ...{ setBy: 'list', seenOn: '2026-10-10', source: 'platform.claude.com/docs/en/about-claude/pricing' },
    })
  })

  test('price plans, too', async () => {
    const w = await fleet()
    await w.codex('dev', '', { model: 'gpt-5' })
    await w.call('PUT', '/prices/gpt-5', RATES)
    const tasks = [{ tempId: 'a', agent: 'dev', estimatedTokens: 1_000_000 }]
    expect(await makeMission(w, tasks)).toMatchObject({ estimate: { costUsd: '28' } })
  })

  test('change only if they are as they were read, that of the list included', async () => {
    const w = await fleet()
    const etag = async () => (await w.call('GET', '/prices/gpt-5')).headers.get('etag')!
    const put = (input: string, match: string) =>
      w.call('PUT', '/prices/gpt-5', { ...RATES, input }, { 'if-match': match })
    const listed = await etag()
    const first = await put('11', listed)
    expect(first.status).toBe(200)
    expect(first.headers.get('etag')).toBe(await etag())
    expectRefusal(await put('12', listed), 412, 'VERSION_MISMATCH')
    const headers = { 'if-match': listed }
    expectRefusal(await w.call('DELETE', '/prices/gpt-5', undefined, headers), 412, 'VERSION_MISMATCH')
    expect((await put('12', await etag())).status).toBe(200)
    expect((await put('13', '*')).status).toBe(200)
    expect((await put('13', '*')).status).toBe(200)
    expect(await w.count('price_changed'), 'the same again is no change').toBe(3)
  })

  test.each([
    ['thirty decimals', { input: `0.${'1'.repeat(30)}` }],
    ['thirteen decimals', { output: '0.0000000000001' }],
    ['a negative price', { input: '-1' }],
    ['a number', { input: 1.5 }],
    ['an exponent', { input: '1e3' }],
    ['a million dollars', { output: '1000000' }],
    ['a long context without its limit', { longContext: RATES }],
    ['an unknown field', { discount: '1' }],
  ])('refuse %s', async (_what, wrong) => {
    const w = await fleet()
    expectRefusal(await w.call('PUT', '/prices/gpt-5', { ...RATES, ...wrong }), 400, 'VALIDATION_FAILED')
    expect(await price(w, 'gpt-5')).toMatchObject({ setBy: 'list' })
  })
})

describe('a mission', () => {
  const mute = `console.log(JSON.stringify({ result: 1, usage: { inputTokens: 5, outputTokens: 5 } }))`
  const paid = `console.log(JSON.stringify({ result: 1, costUsd: '0.25' }))`

  test('has no total while the cost of none of its runs is known, and says of how many it is not', async () => {
    const w = await fleet()
    await w.script('mute', mute)
    await w.script('paid', paid)
    const unknown = await makeMission(w, [{ tempId: 'a', agent: 'mute' }])
    expect(unknown).toMatchObject({ costUsd: '0', runs: 0, unknownRuns: 0 })
    const first = await ended(w, unknown)
    expect(first).toMatchObject({ tokensUsed: 10, costUsd: null, runs: 1, unknownRuns: 1 })
    expect(first.resultSummary).toContain('10 tokens, unknown cost')
    const { items } = (await w.call('GET', `/missions/${unknown.id}/events?type=mission_completed`)).body
    expect(items[0].payload).toMatchObject({ totalCost: null, runs: 1, unknownRuns: 1 })
    const verification = { kind: 'command', command: 'true' }
    const verified = await ended(w, await makeMission(w, [{ tempId: 'a', agent: 'mute', verification }]))
    expect(verified, 'the command costs nothing').toMatchObject({ costUsd: null, runs: 2, unknownRuns: 1 })
    const both = await makeMission(w, [
      { tempId: 'a', agent: 'mute' },
      { tempId: 'b', agent: 'paid' },
    ])
    const second = await ended(w, both)
    expect(second).toMatchObject({ costUsd: '0.25', runs: 2, unknownRuns: 1 })
    expect(second.resultSummary).toContain('$0.25 (unknown for 1 of 2 runs)')
  })
})

describe('the model of an agent', () => {
  const model = async (w: Fleet) => {
    const { model: one, adapterConfig } = await w.agent('dev')
    return [one, adapterConfig.model ?? null]
  }
  const change = (w: Fleet, body: Json) => w.call('PUT', '/agents/dev', body)

  test('is one value, whichever way it is written', async () => {
    const w = await fleet()
    await w.codex('dev', '', { config: { model: 'gpt-5' } })
    expect(await model(w)).toEqual(['gpt-5', 'gpt-5'])
    expect((await change(w, { model: 'gpt-5-mini' })).status).toBe(200)
    expect(await model(w)).toEqual(['gpt-5-mini', 'gpt-5-mini'])
    const { adapterConfig } = await w.agent('dev')
    const { model: _before, ...rest } = adapterConfig
    const two = await change(w, { model: 'gpt-5', adapterConfig: { ...rest, model: 'o3' } })
    expectRefusal(two, 400, 'VALIDATION_FAILED')
    expect(two.body.errors).toEqual([
      { field: 'model', message: 'is "gpt-5", and adapterConfig.model is "o3": they are one value' },
    ])
    expectRefusal(await change(w, { model: 'no model!' }), 400, 'VALIDATION_FAILED')
    expect(await model(w)).toEqual(['gpt-5-mini', 'gpt-5-mini'])
    expect((await change(w, { adapterConfig: rest })).status).toBe(200)
    expect(await model(w)).toEqual([null, null])
  })

  test('is what its runs use', async () => {
    const w = await fleet()
    const { calls } = await w.codex('dev', '', { model: 'gpt-5' })
    await w.assign('dev')
    const [run] = await w.over('dev')
    const { args } = calls()[0]!
    expect(args[args.indexOf('--model') + 1]).toBe('gpt-5')
    expect(run.model).toBe('gpt-5')
  })
})

describe('a plan is priced with the models of its agents, so that', () => {
  const below = (approveBelowUsd: string) => ({ config: { autonomy: 'autonomous', approveBelowUsd } })

  test('one below the threshold begins without approval, and one above it waits', async () => {
    const w = await fleet()
    await w.codex('dev', '', { model: 'gpt-5' })
    const tasks = [{ tempId: 'a', agent: 'dev', estimatedTokens: 1_000_000 }]
    // Four parts of five are input: 0.8 × $1.25 + 0.2 × $10.
    const cheap = await makeMission(w, tasks, below('3'))
    expect(cheap).toMatchObject({ state: 'running', estimate: { costUsd: '3' } })
    expect(await makeMission(w, tasks, below('2.99'))).toMatchObject({ state: 'awaiting_approval' })
  })

  test('a task that any agent may do costs as much as with the costliest, and waits if one has no price', async () => {
    const w = await fleet()
    await w.codex('dev', '', { model: 'gpt-5-nano', capabilities: ['write'] })
    await w.codex('big', '', { model: 'gpt-5', capabilities: ['write'] })
    const tasks = [{ tempId: 'a', capabilities: ['write'], estimatedTokens: 1_000_000 }]
    expect(await makeMission(w, tasks, below('2'))).toMatchObject({
      state: 'awaiting_approval',
      estimate: { costUsd: '3' },
    })
    await w.script('free', '', { capabilities: ['write'] })
    expect(await makeMission(w, tasks, below('100'))).toMatchObject({
      state: 'awaiting_approval',
      estimate: { costUsd: null },
    })
  })
})

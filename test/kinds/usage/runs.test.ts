import { describe, expect, test } from 'vitest'
import { isGitHere } from '../../support/git.ts'
import { expectRefusal } from '../../support/http-workspace.ts'
import { until } from '../../support/nodes.ts'
import { type Fleet, type Seen, useFleets } from '../../support/runs.ts'
import { workshop } from '../../support/working-agent.ts'

/** What runs used, compared with what they did; and which model a run gets by the size of its task. */

const { fleet } = useFleets()

describe.skipIf(!isGitHere)('tokens out of proportion to the lines they changed', () => {
  /** An agent that writes two lines in a worktree, and tells that it used so many tokens. */
  async function writer(w: Fleet, tokens: number): Promise<void> {
    const source = `import { writeFileSync } from 'node:fs'
      writeFileSync('two.txt', 'one\\ntwo\\n')
      console.log(JSON.stringify({ result: 1, usage: { inputTokens: ${tokens - 10}, cachedInputTokens: 5000, outputTokens: 10 } }))`
    await w.script('dev', source, { config: { cwd: await workshop(w), workspace: 'git_worktree' } })
  }
  /** The task, when its run is over, too: the folder of a run is stored at its end. */
  async function done(w: Fleet, more: Seen = {}): Promise<Seen> {
    const task = await w.assign('dev', more)
    await w.taskIn(task, 'completed')
    await w.over('dev')
    return w.read(task)
  }

  test('are a warning in the log before the result is accepted, and in the task; the result is accepted all the same', async () => {
    const w = await fleet()
    await writer(w, 601)
    const task = await done(w)
    const found = { changedLines: 2, expectedTokens: 300, tokensUsed: 601, efficiency: 0.5 }
    expect(task.efficiency).toEqual({ ...found, isLow: true })
    const [warning] = await w.happens('task_inefficient')
    expect(warning!.payload).toMatchObject({ ...found, taskId: task.id, agent: 'dev' })
    const types = (await w.events()).map(({ type }: Seen) => type)
    expect(types.indexOf('task_inefficient')).toBeLessThan(types.indexOf('task_completed'))
  })

  test('are none where the project allows as many', async () => {
    const w = await fleet()
    await w.post('/projects', { slug: 'slow' })
    const changed = await w.call('PUT', '/projects/slow/efficiency', { tokensPerLine: 151 })
    expect(changed.body).toMatchObject({ slug: 'slow', tokensPerLine: 151 })
    await writer(w, 601)
    const task = await done(w, { project: 'slow' })
    expect(task.efficiency).toMatchObject({ expectedTokens: 302, isLow: false })
    expect(await w.count('task_inefficient')).toBe(0)
  })
})

describe('the model of a run', () => {
  const modelsOf = (calls: readonly Seen[]) =>
    calls.map(({ args }) => (args.includes('--model') ? args[args.indexOf('--model') + 1] : null))

  test('is that of the tier of its task, unless the task names one or no model is named for the tier', async () => {
    const w = await fleet()
    const dev = await w.claude('dev', '', {
      config: { model: 'sonnet' },
      runtimeConfig: { modelTiers: { small: 'haiku', large: 'opus' } },
    })
    const tasks = [
      { taskType: 'boilerplate' },
      { priority: 10 },
      {},
      { taskType: 'boilerplate', model: 'own' },
    ]
    for (const more of tasks) await w.taskIn(await w.assign('dev', more), 'completed')
    expect(modelsOf(dev.calls())).toEqual(['haiku', 'opus', 'sonnet', 'own'])
  })

  test('is that of the tiers of the workspace for its adapter, unless the agent has tiers of its own', async () => {
    const w = await fleet()
    const named = { small: 'haiku', medium: null, large: 'opus' }
    const set = await w.call('PUT', '/model-tiers/claude_local', named)
    expect(set.body).toEqual({ adapterType: 'claude_local', ...named })
    await w.call('PUT', '/model-tiers/codex_local', { small: 'gpt-5-nano' })
    const tiers = (await w.call('GET', '/model-tiers')).body.items
    expect(tiers.map(({ adapterType }: Seen) => adapterType)).toEqual(['claude_local', 'codex_local'])
    const small = { taskType: 'boilerplate' }
    const dev = await w.claude('dev', '', { config: { model: 'sonnet' } })
    for (const more of [small, { priority: 10 }, {}, { ...small, model: 'own' }])
      await w.taskIn(await w.assign('dev', more), 'completed')
    expect(modelsOf(dev.calls())).toEqual(['haiku', 'opus', 'sonnet', 'own'])
    const other = await w.claude('other', '', {
      config: { model: 'sonnet' },
      runtimeConfig: { modelTiers: { large: 'fable' } },
    })
    for (const more of [small, { priority: 10 }]) await w.taskIn(await w.assign('other', more), 'completed')
    expect(modelsOf(other.calls())).toEqual(['sonnet', 'fable'])
    await w.call('PUT', '/model-tiers/claude_local', {})
    await w.taskIn(await w.assign('dev', small), 'completed')
    expect(modelsOf(dev.calls()).at(-1)).toBe('sonnet')
    expect(await w.count('model_tiers_changed')).toBe(3)
  })

  test('is named only for adapters that have one, as they take it', async () => {
    const w = await fleet()
    const set = (adapter: string, body: object) => w.call('PUT', `/model-tiers/${adapter}`, body)
    expectRefusal(await set('process', { small: 'haiku' }), 404, 'NOT_FOUND')
    expectRefusal(await set('external', { small: 'haiku' }), 404, 'NOT_FOUND')
    for (const small of ['--dangerous', 'a b', ''])
      expectRefusal(await set('claude_local', { small }), 400, 'VALIDATION_FAILED')
    expect((await w.call('GET', '/model-tiers')).body.items).toEqual([])
  })
})

describe('the time of runs', () => {
  const rowsOf = async (w: Fleet, query = ''): Promise<Seen[]> =>
    (await w.call('GET', `/usage/rows?${query}`)).body.items
  const sum = (rows: readonly Seen[]) => rows.reduce((all, { seconds }) => all + seconds, 0)

  test('is in the ledger from start to end, of runs that tell no tokens, too, and costs nothing unless it has a price', async () => {
    const w = await fleet()
    await w.script('dev', `console.log(JSON.stringify({ result: 1 }))`)
    const task = await w.assign('dev')
    await w.taskIn(task, 'completed')
    await w.over('dev')
    const [run] = await w.runsOf('dev')
    const [row, ...others] = await rowsOf(w)
    expect(others).toEqual([])
    expect(row).toMatchObject({ runId: run!.id, model: 'run time', tokensUsed: 0, costUsd: null })
    const worked = (Date.parse(run!.finishedAt) - Date.parse(run!.startedAt)) / 1000
    expect(row!.seconds).toBeCloseTo(worked, 2)
    const { total, items } = (await w.call('GET', '/usage?groupBy=agent')).body
    expect(items).toMatchObject([{ key: 'dev', seconds: row!.seconds, costUsd: '0', runs: 1 }])
    expect(total).toMatchObject({ seconds: row!.seconds, costUsd: '0', runsOfUnknownCost: 0 })
  })

  test('with a price costs by the hour under the same budgets, which stop a run that says nothing', async () => {
    const w = await fleet()
    // A dollar a millisecond: the first ten seconds are more than there is.
    await w.script('dev', `process.on('SIGTERM', () => process.exit(143)); setInterval(() => {}, 1_000)`, {
      runtimeConfig: { usdPerHour: '3600000' },
    })
    const { body: budget } = await w.post('/budgets', { scope: 'workspace', maxUsd: '5000' })
    const task = await w.assign('dev')
    await w.taskIn(task, 'budget_exceeded')
    await w.over('dev')
    const rows = await rowsOf(w)
    expect(rows.length).toBeGreaterThan(0)
    for (const row of rows) expect(row).toMatchObject({ model: 'run time', basis: 'priced' })
    const { consumedUsd } = (await w.call('GET', `/budgets/${budget.id}`)).body
    expect(Number(consumedUsd)).toBeCloseTo(sum(rows) * 1000, 6)
    expect((await w.runsOf('dev'))[0]).toMatchObject({ errorCode: 'budget_blocked' })
  })

  test('of an agent must be dollars', async () => {
    const w = await fleet()
    for (const usdPerHour of ['-1', '1e3', 'free', 2])
      expectRefusal(
        await w.call('PUT', '/agents/dev', { runtimeConfig: { usdPerHour } }),
        400,
        'VALIDATION_FAILED',
      )
  })
})

describe('what a mission has used', () => {
  test('contains what its runs in progress have used so far', async () => {
    const w = await fleet()
    const source = `console.log(JSON.stringify({ baton: 'usage', usage: { inputTokens: 1000, outputTokens: 100 } }))
      process.on('SIGTERM', () => process.exit(143)); setInterval(() => {}, 1_000)`
    await w.script('dev', source, { config: {}, model: 'gpt-5' })
    const plan = { tasks: [{ tempId: 'a', agent: 'dev' }] }
    const made = await w.post('/missions', { goal: 'Go on', plan, config: { autonomy: 'full_auto' } })
    const show = async () => (await w.call('GET', `/missions/${made.body.id}`)).body
    await until(async () => (await show()).tokensUsed > 0)
    // 1.25 and 10 dollars a million.
    expect(await show()).toMatchObject({ state: 'running', tokensUsed: 1_100, costUsd: '0.00225', runs: 0 })
    await w.post(`/missions/${made.body.id}/cancel`)
    await w.over('dev')
    expect(await show()).toMatchObject({ tokensUsed: 1_100, costUsd: '0.00225', runs: 1 })
  })
})

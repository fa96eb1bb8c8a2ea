import { describe, expect, test } from 'vitest'
import { expectRefusal, type Json, useServer, type Workspace } from '../../support/http-workspace.ts'
import { superuser } from '../../support/nodes.ts'

const { served, workspace } = useServer()

interface Used extends Json {
  model?: string
  inputTokens?: number
  cachedInputTokens?: number
  outputTokens?: number
  costUsd?: string
}
const used = (more: Used = {}) => ({
  model: 'gpt-5',
  inputTokens: 100,
  outputTokens: 10,
  costUsd: '0.5',
  ...more,
})

/** A new task that an agent has claimed, and what it reports of it. */
async function worked(w: Workspace, usage: Used | Used[], more: Json = {}, agent = 'alpha'): Promise<Json> {
  const task = await w.make(more)
  expect((await w.claim(task, agent, { session: `s-${agent}` })).body.reason).toBe('GRANTED')
  const reported = await w.on(task, 'usage', { session: `s-${agent}`, generation: 1, usage })
  expect(reported.status).toBe(200)
  return task
}

/** All that the ledger has of a task, as if it had been used then. */
const move = (task: Json, at: string) =>
  superuser(served().databaseUrl, (client) =>
    client.query(
      `set search_path = baton; update usage set at = '${at}' where source_id = '${task.id}';
       update usage_sources set started_at = '${at}', updated_at = '${at}' where source_id = '${task.id}';
       update usage_quarters set quarter = date_bin('15 minutes', '${at}', timestamptz '2000-01-01 00:00:00+00') where source_id = '${task.id}'`,
    ),
  )

const simulate = (task: Json) =>
  superuser(served().databaseUrl, (client) =>
    client.query(`update baton.usage_sources set is_simulated = true where source_id = '${task.id}'`),
  )

const usage = async (w: Workspace, query: string) => {
  const answer = await w.call('GET', `/usage?${query}`)
  expect(answer.body).toMatchObject({ items: expect.any(Array) })
  return answer.body
}

const csv = async (w: Workspace, path: string) => {
  const response = await fetch(`${served().api}${path}`, {
    headers: { authorization: `Bearer ${w.ownerKey}` },
  })
  return { headers: response.headers, text: await response.text() }
}

describe('what was used', () => {
  test('adds up by agent, model, task and type, with what is unknown beside what is known', async () => {
    const w = await workspace()
    const first = await worked(w, [
      used(),
      used({ model: 'x/own', costUsd: undefined, cachedInputTokens: 7 }),
    ])
    await worked(w, used({ costUsd: '0.000000000001' }), { taskType: 'review' }, 'beta')
    const total = {
      ...{ tokens: { input: 300, cachedInput: 7, output: 30 }, tokensUsed: 337, costUsd: '0.500000000001' },
      ...{ runs: 2, runsOfUnknownCost: 1 },
    }
    const byAgent = await usage(w, 'groupBy=agent')
    expect(byAgent).toMatchObject({ groupBy: 'agent', timeZone: 'UTC', total, groupsLeftOut: 0 })
    expect(byAgent.items).toMatchObject([
      { key: 'alpha', costUsd: '0.5', tokensUsed: 227, runs: 1, runsOfUnknownCost: 1 },
      { key: 'beta', costUsd: '0.000000000001', runs: 1, runsOfUnknownCost: 0 },
    ])
    const byModel = await usage(w, 'groupBy=model')
    expect(byModel).toMatchObject({ total })
    expect(byModel.items).toMatchObject([
      { key: 'gpt-5', costUsd: '0.500000000001', runs: 2, runsOfUnknownCost: 0 },
      { key: 'x/own', costUsd: null, notionalUsd: null, tokensUsed: 117, runs: 1, runsOfUnknownCost: 1 },
    ])
    expect((await usage(w, 'groupBy=task')).items[0]).toMatchObject({ key: first.id, name: 'Fix login' })
    expect((await usage(w, 'groupBy=taskType')).items.map(({ key }: Json) => key)).toContain('review')
    expect((await usage(w, 'groupBy=operation')).items).toMatchObject([{ key: 'work', runs: 2 }])
    const today = new Date().toISOString().slice(0, 10)
    const byDay = await usage(w, '')
    expect(byDay).toMatchObject({ groupBy: 'day', total })
    // Around midnight the two may be of two days.
    expect(byDay.items.at(-1)!.key >= today).toBe(true)
  })

  test('can be asked for by task, agent, model and operation, and nothing is nothing', async () => {
    const w = await workspace()
    const task = await worked(w, used())
    await worked(w, used({ model: 'gpt-5-mini', costUsd: '2' }), {}, 'beta')
    const costs = async (query: string) => (await usage(w, `groupBy=agent&${query}`)).total.costUsd
    expect(await costs(`task=${task.id}`)).toBe('0.5')
    expect(await costs('agent=beta')).toBe('2')
    expect(await costs('model=gpt-5')).toBe('0.5')
    expect(await costs('operation=planning')).toBe('0')
    expect(await costs('from=2020-01-01T00:00:00Z&to=2020-02-01T00:00:00Z')).toBe('0')
    expect((await usage(w, 'agent=nobody')).items).toEqual([])
  })

  test('is counted to the day of the workspace, whose days may have 23 and 25 hours', async () => {
    const w = await workspace({ timeZone: 'Europe/Berlin' })
    const places = {
      '2026-03-28T22:59:59Z': '2026-03-28',
      '2026-03-28T23:00:00Z': '2026-03-29',
      '2026-03-29T21:59:59.999Z': '2026-03-29',
      '2026-03-29T22:00:00Z': '2026-03-30',
      '2026-10-25T22:59:00Z': '2026-10-25',
      '2026-10-25T23:00:00Z': '2026-10-26',
    }
    for (const at of Object.keys(places)) await move(await worked(w, used()), at)
    const { items } = await usage(w, 'from=2026-03-01T00:00:00Z&to=2026-11-01T00:00:00Z')
    expect(items.map(({ key, runs }: Json) => [key, runs])).toEqual([
      ['2026-03-28', 1],
      ['2026-03-29', 2],
      ['2026-03-30', 1],
      ['2026-10-25', 1],
      ['2026-10-26', 1],
    ])
  })

  test('begins and ends at the moments that are asked for, not at quarters of an hour', async () => {
    const w = await workspace()
    for (const at of ['2026-05-04T12:00:01Z', '2026-05-04T12:07:00Z', '2026-05-04T12:31:00Z'])
      await move(await worked(w, used()), at)
    const runs = async (from: string, to: string) => {
      const { total } = await usage(w, `groupBy=agent&from=2026-05-04T${from}Z&to=2026-05-04T${to}Z`)
      expect(total.tokensUsed).toBe(total.runs * 110)
      return total.runs
    }
    expect(await runs('12:00:00', '12:45:00')).toBe(3)
    expect(await runs('12:00:02', '12:45:00')).toBe(2)
    expect(await runs('12:00:02', '12:07:00')).toBe(0)
    expect(await runs('12:00:01', '12:07:00.001')).toBe(2)
    expect(await runs('12:07:00', '12:31:00')).toBe(1)
  })

  test('has simulated money only where its own task is asked for', async () => {
    const w = await workspace()
    const task = await worked(w, used())
    await simulate(task)
    expect((await usage(w, 'groupBy=agent')).total).toMatchObject({ runs: 0, tokensUsed: 0, costUsd: '0' })
    expect((await usage(w, `groupBy=agent&task=${task.id}`)).total).toMatchObject({ runs: 1, costUsd: '0.5' })
    const rows = async (query: string) => (await w.call('GET', `/usage/rows?${query}`)).body.items.length
    expect([await rows(''), await rows(`task=${task.id}`)]).toEqual([0, 1])
  })

  test('is compared with what was estimated, by type of task', async () => {
    const w = await workspace()
    await worked(w, used({ inputTokens: 900, outputTokens: 100 }), {
      taskType: 'fix',
      estimatedTokens: 1_200,
    })
    await worked(w, used({ inputTokens: 1_400, outputTokens: 100 }), { taskType: 'fix', complexity: 1 })
    await worked(w, used(), { taskType: 'fix' })
    const { items } = await usage(w, 'groupBy=taskType')
    expect(items).toMatchObject([
      {
        key: 'fix',
        tokensUsed: 2_610,
        estimatedTokens: 1_200 + 1_794,
        estimatedTasks: 2,
        tokensOfEstimated: 2_500,
      },
    ])
    expect((await usage(w, 'groupBy=agent')).items[0].estimatedTokens).toBeNull()
  })

  test('says what was saved against the dearest model, of each group and in all', async () => {
    const w = await workspace()
    // The cheap one costs an eighth: 0.5 and 4 dollars of 1,000,000 and 100,000 tokens less than 4 and 32.
    for (const [model, input, output] of [
      ['cheap', '0.5', '4'],
      ['dear', '4', '32'],
    ] as const)
      expect((await w.call('PUT', `/prices/${model}`, { input, output })).status).toBe(200)
    const tokens = { inputTokens: 1_000_000, outputTokens: 100_000, costUsd: undefined }
    await worked(w, used({ ...tokens, model: 'cheap' }), { taskType: 'fix' })
    await worked(w, used({ ...tokens, model: 'dear' }), { taskType: 'plan' }, 'beta')
    await worked(w, used({ ...tokens, model: 'x/own' }), { taskType: 'odd' }, 'gamma')
    const saved = async (groupBy: string) => {
      const { items, savedUsd } = await usage(w, `groupBy=${groupBy}`)
      expect(savedUsd, groupBy).toBe('6.3')
      return Object.fromEntries(items.map((one: Json) => [one.key, one.savedUsd]))
    }
    expect(await saved('model')).toEqual({ cheap: '6.3', dear: '0', 'x/own': null })
    expect(await saved('agent')).toEqual({ alpha: '6.3', beta: '0', gamma: null })
    expect(await saved('taskType')).toEqual({ fix: '6.3', plan: '0', odd: null })
    const days: (string | null)[] = Object.values(await saved('day'))
    expect(days).toContain('6.3')
  })

  test('of ten tasks by the models of their tiers is 40 % less than by the large one for all', async () => {
    const w = await workspace()
    const tiers = { small: 'claude-haiku-4-5', medium: 'claude-sonnet-4-5', large: 'claude-opus-4-5' }
    const plan = [...Array(4).fill('small'), ...Array(5).fill('medium'), 'large'] as (keyof typeof tiers)[]
    for (const tier of plan)
      await worked(
        w,
        used({ model: tiers[tier], inputTokens: 80_000, outputTokens: 20_000, costUsd: undefined }),
      )
    const { total, savedUsd } = await usage(w, 'groupBy=agent')
    expect(Number(savedUsd) / (Number(savedUsd) + Number(total.costUsd))).toBeGreaterThan(0.4)
  })

  test('is a file for spreadsheets, in which no name is a formula', async () => {
    const w = await workspace()
    await w.call('PUT', '/agents/evil', { name: '=HYPERLINK("http://x","y")' })
    await worked(w, used(), {}, 'evil')
    const { headers, text } = await csv(w, '/usage?groupBy=agent&format=csv')
    expect(headers.get('content-type')).toContain('text/csv')
    expect(headers.get('content-disposition')).toBe('attachment; filename="usage-by-agent.csv"')
    const [names, row] = text.split('\r\n')
    expect(names).toMatch(/^key,name,inputTokens,cachedInputTokens,outputTokens,tokensUsed,costUsd,/)
    expect(row).toMatch(/^evil,"'=HYPERLINK\(""http:\/\/x"",""y""\)",100,0,10,110,0.5,/)
  })

  test.each([
    ['a period that ends before it begins', 'from=2026-05-04T00:00:00Z&to=2026-05-03T00:00:00Z'],
    ['days of many years', 'from=1990-01-01T00:00:00Z'],
    ['an unknown grouping', 'groupBy=colour'],
  ])('refuses %s', async (_what, query) => {
    const w = await workspace()
    expectRefusal(await w.call('GET', `/usage?${query}`), 400, 'VALIDATION_FAILED')
  })

  test('of a task, a mission or a project that is not there is not found', async () => {
    const [w, other] = [await workspace(), await workspace()]
    const foreign = await worked(other, used())
    for (const query of [`task=${foreign.id}`, `mission=${foreign.id}`, 'project=none'])
      for (const path of ['/usage', '/usage/rows'])
        expectRefusal(await w.call('GET', `${path}?${query}`), 404, 'NOT_FOUND')
    expect((await usage(w, 'groupBy=agent')).total.runs).toBe(0)
  })
})

describe('rows of the ledger', () => {
  test('come newest first, page by page, each once, though two are of one moment', async () => {
    const w = await workspace()
    const models = ['a', 'b', 'c', '-d', 'ünï'.padEnd(200, 'x')]
    const task = await worked(
      w,
      models.map((model) => used({ model })),
    )
    const older = await worked(w, used({ model: 'old' }), {}, 'beta')
    await move(task, '2026-05-04T12:00:00.123456Z')
    await move(older, '2026-05-04T12:00:00.123455Z')
    const period = 'from=2026-05-04T00:00:00Z&to=2026-05-05T00:00:00Z'
    const seen: Json[] = []
    let cursor = ''
    do {
      const page = (await w.call('GET', `/usage/rows?limit=2&${period}${cursor}`)).body
      seen.push(...page.items)
      cursor = page.nextCursor === null ? '' : `&cursor=${encodeURIComponent(page.nextCursor)}`
    } while (cursor !== '')
    expect(seen.map(({ model }) => model).sort()).toEqual([...models, 'old'].sort())
    expect(seen.at(-1)).toMatchObject({
      ...{ runId: null, taskId: older.id, generation: 1, number: 1, agent: 'beta', session: 's-beta' },
      ...{ at: '2026-05-04T12:00:00.123Z', missionId: null, project: null, model: 'old', operation: 'work' },
      ...{
        basis: 'reported',
        tokens: { input: 100 },
        tokensUsed: 110,
        reasoningTokens: null,
        costUsd: '0.5',
      },
    })
    const file = await csv(w, `/usage/rows?format=csv&limit=2&${period}`)
    expect(file.text.trimEnd().split('\r\n')).toHaveLength(3)
    expect(file.headers.get('baton-next-cursor')).toEqual(expect.any(String))
  })
})

describe('the projection', () => {
  const project = async (w: Workspace, query = '') => (await w.call('GET', `/usage/projection${query}`)).body

  test('without a budget says what is burnt, and nothing of an end', async () => {
    const w = await workspace()
    await worked(w, used())
    await move(await worked(w, used()), new Date(Date.now() - 25 * 3_600_000).toISOString())
    expect(await project(w)).toEqual({
      ...{ budgetId: null, remainingUsd: null, remainingTokens: null, periodEnd: null },
      ...{ dailyBurnUsd: '0.5', dailyBurnTokens: 110, daysUntilExhaustion: null, exhaustedAt: null },
      ...{ recommendation: 'CONTINUE', isEnforced: false },
    })
  })

  test('is of the budget of the workspace that is used up first, or of the one that is asked for', async () => {
    const w = await workspace()
    await worked(w, used())
    const budget = async (body: Json) => {
      const answer = await w.post('/budgets', body)
      expect(answer).toMatchObject({ status: 201 })
      return answer.body.id
    }
    const large = await budget({ scope: 'workspace', maxUsd: '100' })
    const small = await budget({ scope: 'workspace', period: 'month', maxUsd: '2' })
    const agent = await budget({ scope: 'agent', scopeId: 'alpha', maxTokens: 330 })
    expect(await project(w)).toMatchObject({
      ...{ budgetId: small, remainingUsd: '1.5', dailyBurnUsd: '0.5', daysUntilExhaustion: 3 },
      periodEnd: expect.any(String),
    })
    expect(await project(w, `?budget=${large}`)).toMatchObject({
      ...{ budgetId: large, remainingUsd: '100', daysUntilExhaustion: 200, recommendation: 'CONTINUE' },
    })
    expect(await project(w, `?budget=${agent}`)).toMatchObject({
      ...{ remainingTokens: 330, dailyBurnTokens: 110, daysUntilExhaustion: 3, recommendation: 'THROTTLE' },
    })
    const other = await workspace()
    expectRefusal(await other.call('GET', `/usage/projection?budget=${large}`), 404, 'NOT_FOUND')
  })
})

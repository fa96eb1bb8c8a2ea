import { describe, expect, test } from 'vitest'
import { makeMission } from '../../support/http-missions.ts'
import {
  expectRefusal,
  fence,
  type Json,
  type Task,
  useServer,
  type Workspace,
} from '../../support/http-workspace.ts'
import type { Answer } from '../../support/server.ts'

/** Budgets over HTTP: what is set is what is answered, and what is wrong changes nothing. */

const { served, workspace } = useServer()
const NOBODY = '00000000-0000-7000-8000-000000000000'

const set = (w: Workspace, body: Json = {}, headers = {}): Promise<Answer> =>
  w.post('/budgets', { scope: 'workspace', maxTokens: 1_000, ...body }, headers)
async function made(w: Workspace, body: Json = {}): Promise<Json & { id: string; version: number }> {
  const answer = await set(w, body)
  expect(answer.body).toMatchObject({ id: expect.any(String) })
  expect(answer.status).toBe(201)
  return answer.body
}
const show = async (w: Workspace, { id }: { id: string }) => (await w.call('GET', `/budgets/${id}`)).body
const patch = (w: Workspace, { id }: { id: string }, body: Json, headers = {}) =>
  w.call('PATCH', `/budgets/${id}`, body, headers)
const list = async (w: Workspace, query = ''): Promise<Json[]> =>
  (await w.call('GET', `/budgets${query}`)).body.items
/** A workspace with an agent of its own programs. */
async function withAgent() {
  const w = await workspace()
  expect((await w.call('PUT', '/agents/alpha', {})).status).toBe(201)
  return w
}
const report = (w: Workspace, task: Task, usage: Json, generation = 1) =>
  w.on(task, 'usage', { ...fence('s-alpha', generation), usage })
const tokens = (outputTokens: number, costUsd?: string) => ({
  ...{ inputTokens: 0, outputTokens },
  ...(costUsd !== undefined && { costUsd }),
})

describe('what a claim reserves', () => {
  test('after twenty runs of a type is within 20 % of what the next ones use', async () => {
    const w = await withAgent()
    const budget = await made(w, { maxTokens: 10_000_000 })
    // Between 85 and 115 % of 20,000, in no order.
    const uses = (i: number) => 17_000 + ((i * 7_919) % 61) * 100
    const next = async (i: number) => {
      const task = await w.held({ taskType: 'fix' })
      const { reservedTokens } = await show(w, budget)
      await report(w, task, tokens(uses(i)))
      await w.on(task, 'release', fence('s-alpha', 1))
      return { expected: Number(reservedTokens), used: uses(i) }
    }
    for (let i = 0; i < 20; i++) await next(i)
    for (let i = 20; i < 25; i++) {
      const { expected, used } = await next(i)
      expect(Math.abs(expected - used) / used).toBeLessThan(0.2)
    }
  })
})

describe('a budget', () => {
  test('answers with its limits, what is consumed, reserved and left, and its period', async () => {
    const w = await withAgent()
    const budget = await made(w, { maxUsd: '20.50', maxTokens: 10_000, period: 'month' })
    expect(budget).toMatchObject({
      ...{ scope: 'workspace', scopeId: null, scopeName: null, period: 'month', version: 1, state: 'open' },
      ...{ maxUsd: '20.5', consumedUsd: '0', reservedUsd: '0', remainingUsd: '20.5' },
      ...{ maxTokens: 10_000, consumedTokens: 0, reservedTokens: 0, remainingTokens: 10_000 },
      ...{ percentUsed: 0, blockedBecause: null, countNotional: false, onUnknownPrice: 'ask' },
    })
    expect(budget.periodStart).toMatch(/-01T00:00:00.000Z$/)
    expect(budget.periodEnd).toMatch(/-01T00:00:00.000Z$/)
    const task = await w.held({ estimatedTokens: 1_000 })
    await report(w, task, tokens(400, '0.5'))
    expect(await show(w, budget)).toMatchObject({
      ...{ consumedUsd: '0.5', consumedTokens: 400, reservedTokens: 600, remainingTokens: 9_000 },
      ...{ remainingUsd: '20', percentUsed: 4 },
    })
    expect((await w.on(task, 'release', fence('s-alpha', 1))).status).toBe(200)
    expect(await show(w, budget)).toMatchObject({ reservedTokens: 0, remainingTokens: 9_600 })
  })

  test('is for the workspace, an agent, a project, a mission or a task, and says which by name', async () => {
    const w = await withAgent()
    await w.post('/projects', { slug: 'shop', name: 'The Shop' })
    const mission = await makeMission(w, [{ tempId: 'a' }])
    const task = await w.make({ title: 'A task' })
    const scopes: [string, string, string][] = [
      ['agent', 'alpha', 'alpha'],
      ['project', 'shop', 'The Shop'],
      ['mission', String(mission.id), String(mission.title)],
      ['task', task.id, 'A task'],
    ]
    for (const [scope, scopeId, scopeName] of scopes) {
      const budget = await made(w, { scope, scopeId })
      expect(budget).toMatchObject({ scope, scopeId, scopeName, maxTokens: 1_000 })
      expect(await list(w, `?scope=${scope}&scopeId=${scopeId}`)).toEqual([budget])
      expectRefusal(await set(w, { scope, scopeId }), 409, 'ALREADY_EXISTS', { id: budget.id })
    }
    expect((await w.read(task)).budget).toMatchObject({ maxTokens: 1_000 })
    expect(await list(w)).toHaveLength(4)
  })

  test('of one scope may be several, of different periods, and each stops', async () => {
    const w = await withAgent()
    await made(w, { period: 'day', maxTokens: 100 })
    await made(w, { period: 'month', maxTokens: 1_000 })
    const task = await w.held({ estimatedTokens: 100 })
    await report(w, task, tokens(100))
    expectRefusal(await w.claim(await w.make(), 'beta'), 409, 'BUDGET_STOPPED')
    expect((await list(w, '?state=blocked')).map(({ period }) => period)).toEqual(['day'])
  })

  test('of one scope and period is set once when many set it at once', async () => {
    const w = await workspace()
    const answers = await Promise.all(Array.from({ length: 8 }, () => set(w)))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(7).fill(409)])
  })

  test('is in its own workspace: others neither see nor change it, nor is it of their things', async () => {
    const [w, other] = [await withAgent(), await workspace()]
    const budget = await made(w)
    expect(await list(other)).toEqual([])
    expectRefusal(await other.call('GET', `/budgets/${budget.id}`), 404, 'NOT_FOUND')
    expectRefusal(await patch(other, budget, { maxTokens: 5 }), 404, 'NOT_FOUND')
    expectRefusal(await other.call('DELETE', `/budgets/${budget.id}`), 404, 'NOT_FOUND')
    // There the same scope has the same id: it is another budget all the same.
    const own = await made(other, { maxTokens: 7 })
    expect([(await show(w, budget)).maxTokens, (await show(other, own)).maxTokens]).toEqual([1_000, 7])
    const task = await w.make()
    const mission = await makeMission(w, [{ tempId: 'a' }])
    for (const about of [
      { scope: 'task', scopeId: task.id },
      { scope: 'mission', scopeId: String(mission.id) },
      { scope: 'agent', scopeId: 'alpha' },
    ])
      expectRefusal(await set(other, about), 404, 'NOT_FOUND')
    expect(await list(other)).toHaveLength(1)
  })
})

describe('bad input', () => {
  test.each<[string, Json]>([
    ['no limit', { maxTokens: undefined }],
    ['limits that are null', { maxTokens: null, maxUsd: null }],
    ['no tokens', { maxTokens: 0 }],
    ['negative tokens', { maxTokens: -1 }],
    ['fractional tokens', { maxTokens: 1.5 }],
    ['more tokens than can be counted', { maxTokens: 1e16 }],
    ['tokens as text', { maxTokens: '5' }],
    ['negative dollars', { maxUsd: '-1' }],
    ['dollars as a number', { maxUsd: 5 }],
    ['dollars with an exponent', { maxUsd: '1e3' }],
    ['thirty decimals', { maxUsd: `0.${'3'.repeat(30)}` }],
    ['a billion dollars', { maxUsd: '1000000000' }],
    ['an unknown scope', { scope: 'galaxy' }],
    ['an unknown period', { period: 'year' }],
    ['a scope without an id', { scope: 'agent' }],
    ['an id of the workspace', { scopeId: 'x' }],
    ['an unknown field', { limitTokens: 5 }],
    ['an unknown answer', { onUnknownPrice: 'pray' }],
  ])('%s is refused, and nothing is set', async (_what, wrong) => {
    const w = await workspace()
    expectRefusal(await set(w, wrong), 400, 'VALIDATION_FAILED')
    expect(await list(w)).toEqual([])
  })

  test.each<[string, Json]>([
    ['an agent', { scope: 'agent', scopeId: 'nobody' }],
    ['a project', { scope: 'project', scopeId: 'nowhere' }],
    ['a mission', { scope: 'mission', scopeId: NOBODY }],
    ['a task', { scope: 'task', scopeId: NOBODY }],
  ])('%s that is not there is refused', async (_what, about) => {
    const w = await workspace()
    expectRefusal(await set(w, about), 404, 'NOT_FOUND')
    expect(await list(w)).toEqual([])
  })

  test('a period is not for missions and tasks', async () => {
    const w = await workspace()
    const task = await w.make()
    expectRefusal(await set(w, { scope: 'task', scopeId: task.id, period: 'day' }), 400, 'VALIDATION_FAILED')
    expect((await w.read(task)).budget ?? null).toBeNull()
  })

  test('a change that leaves no limit is refused: a budget is removed', async () => {
    const w = await workspace()
    const budget = await made(w)
    expectRefusal(await patch(w, budget, { maxTokens: null }), 400, 'VALIDATION_FAILED')
    expect(await show(w, budget)).toEqual(budget)
    expect((await patch(w, budget, { maxTokens: null, maxUsd: '3' })).body).toMatchObject({
      ...{ maxTokens: null, maxUsd: '3', remainingTokens: null },
    })
  })

  test.each(['/budgets/not-an-id', '/budgets/stop-nothing'])('%s is no budget', async (path) => {
    const w = await workspace()
    expect((await w.call('GET', path)).status).toBeGreaterThanOrEqual(400)
    expect((await w.call('GET', path)).status).toBeLessThan(500)
  })

  test('a move of nothing, to itself, to nobody, or of more than there is changes nothing', async () => {
    const w = await withAgent()
    const [from, to] = [
      await made(w, { maxUsd: '5', maxTokens: 100 }),
      await made(w, { scope: 'agent', scopeId: 'alpha', maxUsd: '1', maxTokens: undefined }),
    ]
    const move = (body: Json) => w.post(`/budgets/${from.id}/move`, body)
    for (const wrong of [
      { to: to.id },
      { to: from.id, usd: '1' },
      { to: to.id, usd: '5.000000001' },
      { to: to.id, usd: '-1' },
      { to: to.id, tokens: 10 },
      { to: 'nobody', usd: '1' },
    ])
      expectRefusal(await move(wrong), 400, 'VALIDATION_FAILED')
    expectRefusal(await move({ to: NOBODY, usd: '1' }), 404, 'NOT_FOUND')
    expect([await show(w, from), await show(w, to)]).toEqual([from, to])
  })
})

describe('a change', () => {
  test('is for the version that was read', async () => {
    const w = await workspace()
    const budget = await made(w)
    const answer = await w.call('GET', `/budgets/${budget.id}`)
    const match = { 'if-match': answer.headers.get('etag')! }
    const first = await patch(w, budget, { maxTokens: 2_000 }, match)
    expect(first).toMatchObject({ status: 200, body: { version: 2, maxTokens: 2_000 } })
    expectRefusal(await patch(w, budget, { maxTokens: 3_000 }, match), 412, 'VERSION_MISMATCH')
    expect(await show(w, budget)).toMatchObject({ maxTokens: 2_000 })
  })

  test('under one idempotency key is made once, whatever has happened since', async () => {
    const w = await withAgent()
    const task = await w.make()
    const key = { 'idempotency-key': 'one' }
    const first = await set(w, { maxUsd: '5' }, key)
    expect([first.status, (await set(w, { maxUsd: '5' }, key)).status]).toEqual([201, 201])
    expectRefusal(await set(w, { maxUsd: '6' }, key), 422, 'IDEMPOTENCY_KEY_REUSED')
    const ofTask = { scope: 'task', scopeId: task.id, maxUsd: '5', countNotional: true }
    const three = { 'idempotency-key': 'three' }
    expect((await set(w, ofTask, three)).body).toMatchObject({ maxUsd: '5', countNotional: true })
    expect((await set(w, ofTask, three)).status, 'the answer was lost').toBe(201)
    const to = await made(w, { scope: 'agent', scopeId: 'alpha', maxUsd: '1' })
    for (const _ of [1, 2])
      expect(
        (
          await w.post(
            `/budgets/${first.body.id}/move`,
            { to: to.id, usd: '1' },
            { 'idempotency-key': 'four' },
          )
        ).status,
      ).toBe(200)
    expect(await show(w, to)).toMatchObject({ maxUsd: '2' })
    expect(await show(w, first.body)).toMatchObject({ maxUsd: '4' })
  })

  test('to less than what is consumed blocks at once, and says so with its warning', async () => {
    const w = await withAgent()
    const budget = await made(w)
    await report(w, await w.held({ estimatedTokens: 10 }), tokens(500))
    expect((await patch(w, budget, { maxTokens: 499 })).body).toMatchObject({
      ...{ state: 'blocked', blockedBecause: 'spent', percentUsed: 100.2, remainingTokens: 0 },
    })
    expect(await w.happens('budget_warning')).toHaveLength(1)
    const [exceeded] = await w.happens('budget_exceeded')
    expect(exceeded!.payload).toMatchObject({ reason: 'spent', consumedTokens: 500, maxTokens: 499 })
    expectRefusal(await w.claim(await w.make(), 'beta'), 409, 'BUDGET_STOPPED')
  })

  test('of the limit of a task to less than it has used is refused', async () => {
    const w = await withAgent()
    const task = await w.held({ budget: { maxTokens: 1_000 }, estimatedTokens: 10 })
    await report(w, task, tokens(500))
    const lower = { budget: { maxTokens: 100 } }
    expectRefusal(await w.call('PATCH', `/tasks/${task.id}`, lower), 400, 'VALIDATION_FAILED')
    expect(await list(w, `?scope=task&scopeId=${task.id}`)).toMatchObject([
      { maxTokens: 1_000, state: 'open' },
    ])
  })

  test('that removes what blocks lets work begin; removed twice is not found', async () => {
    const w = await withAgent()
    const budget = await made(w, { maxTokens: 10 })
    await report(w, await w.held({ estimatedTokens: 10 }), tokens(10))
    const task = await w.make()
    expectRefusal(await w.claim(task, 'beta'), 409, 'BUDGET_STOPPED')
    expect((await w.call('DELETE', `/budgets/${budget.id}`)).status).toBe(204)
    expect((await w.claim(task, 'beta')).body.reason).toBe('GRANTED')
    expectRefusal(await w.call('DELETE', `/budgets/${budget.id}`), 404, 'NOT_FOUND')
    const again = await made(w, { maxTokens: 20 })
    expect(again, 'it counts from now on').toMatchObject({ consumedTokens: 0, version: 1 })
  })

  test('that moves an amount does both at once', async () => {
    const w = await withAgent()
    const from = await made(w, { maxUsd: '5' })
    const to = await made(w, { scope: 'agent', scopeId: 'alpha', maxUsd: '1' })
    const { status, body } = await w.post(`/budgets/${from.id}/move`, { to: to.id, usd: '1.25', tokens: 100 })
    expect(status).toBe(200)
    expect(body).toMatchObject({
      from: { id: from.id, maxUsd: '3.75', maxTokens: 900 },
      to: { id: to.id, maxUsd: '2.25', maxTokens: 1_100 },
    })
    expect((await w.happens('budget_moved'))[0]!.payload).toMatchObject({
      ...{ toBudgetId: to.id, usd: '1.25', tokens: 100 },
    })
  })
})

describe('who may change them', () => {
  test('viewers, workers and keys of agents read them and change none', async () => {
    const w = await withAgent()
    const budget = await made(w)
    const other = await made(w, { scope: 'agent', scopeId: 'alpha' })
    const keys = [
      { role: 'viewer' },
      { role: 'member', scopes: ['read', 'work'] },
      { role: 'member', agent: 'alpha' },
    ]
    for (const kind of keys) {
      const { key } = (await w.post('/keys', { name: 'a key', ...kind })).body
      expect(key).toEqual(expect.any(String))
      const as = (method: string, path: string, body?: unknown) => served().call(method, path, body, { key })
      expect((await as('GET', `/budgets/${budget.id}`)).status).toBe(200)
      for (const [method, path, body] of [
        ['POST', '/budgets', { scope: 'workspace', maxUsd: '5', period: 'day' }],
        ['PATCH', `/budgets/${budget.id}`, { maxTokens: 9 }],
        ['DELETE', `/budgets/${budget.id}`, undefined],
        ['POST', `/budgets/${budget.id}/move`, { to: other.id, tokens: 1 }],
        ['POST', `/budgets/${budget.id}/allow-model`, { model: 'x' }],
        ['POST', '/budgets/stop-all', {}],
        ['POST', '/budgets/allow-all', {}],
      ] as const)
        expectRefusal(await as(method, path, body), 403, 'FORBIDDEN')
    }
    expect([await show(w, budget), await show(w, other)]).toEqual([budget, other])
  })
})

describe('all spending of a workspace', () => {
  test('is stopped and allowed by one act each, also where it has no budget', async () => {
    const w = await withAgent()
    const task = await w.make()
    const stopped = await w.post('/budgets/stop-all', { reason: 'too dear' })
    expect(stopped).toMatchObject({
      status: 200,
      body: {
        scope: 'workspace',
        state: 'blocked',
        blockedBecause: 'stopped',
        maxUsd: null,
        maxTokens: null,
      },
    })
    expectRefusal(await w.claim(task), 409, 'BUDGET_STOPPED')
    expect((await w.post('/budgets/stop-all')).body, 'again').toMatchObject({ version: stopped.body.version })
    expect((await w.happens('budget_stopped'))[0]!.payload).toMatchObject({ reason: 'too dear' })
    expect((await w.post('/budgets/allow-all')).body).toMatchObject({ state: 'open' })
    expect((await w.claim(task)).body.reason).toBe('GRANTED')
    expect(await w.count('budget_stopped')).toBe(1)
  })

  test('stays stopped through a raise, and its holders are told with their next answer', async () => {
    const w = await withAgent()
    const budget = await made(w)
    const task = await w.held({ estimatedTokens: 10 })
    await w.post('/budgets/stop-all')
    expect((await patch(w, budget, { maxTokens: 100_000 })).body).toMatchObject({ blockedBecause: 'stopped' })
    const renewed = await w.on(task, 'renew', fence('s-alpha', 1))
    expect(renewed.body.budget).toMatchObject({ isSpent: true, scope: 'workspace' })
    expect((await report(w, task, tokens(5))).body.budget).toMatchObject({ isSpent: true })
  })

  test('of nothing that was stopped is not allowed again', async () => {
    const w = await workspace()
    expectRefusal(await w.post('/budgets/allow-all'), 409, 'WRONG_STATE')
  })
})

test('a model without a price blocks a budget in dollars until a person allows it, once for all', async () => {
  const w = await withAgent()
  const budget = await made(w, { maxUsd: '5', maxTokens: undefined })
  const task = await w.held({ estimatedTokens: 10 })
  const mystery = { ...tokens(10), model: 'mystery-1' }
  expect((await report(w, task, mystery)).body).toMatchObject({ costUsd: null, budget: { isSpent: true } })
  expect(await show(w, budget)).toMatchObject({
    ...{ blockedBecause: 'unknown_price', unknownModel: 'mystery-1', allowedModels: [] },
  })
  expect((await w.post(`/budgets/${budget.id}/allow-model`, { model: 'mystery-1' })).body).toMatchObject({
    ...{ state: 'open', unknownModel: null, allowedModels: ['mystery-1'] },
  })
  expect((await report(w, task, { ...mystery, outputTokens: 20 })).body.budget).toMatchObject({
    isSpent: false,
  })
})

test('deleting the agent or the project of a budget leaves nothing that fails', async () => {
  const w = await withAgent()
  const budget = await made(w, { scope: 'agent', scopeId: 'alpha' })
  expect((await w.call('DELETE', '/agents/alpha')).status).toBeLessThan(300)
  expect(await show(w, budget)).toMatchObject({ scopeId: 'alpha' })
  expect(await list(w)).toHaveLength(1)
  expect((await w.call('DELETE', `/budgets/${budget.id}`)).status).toBe(204)
})

import { describe, expect, test } from 'vitest'
import { expectRefusal, fence, type Json, useServer, type Workspace } from '../../support/http-workspace.ts'

/** Requests about money that are sent again under their Idempotency-Key, and names that are not what they should be. */

const { workspace } = useServer()

/** The same request twice: what both were answered. */
async function twice(w: Workspace, path: string, body: Json) {
  const key = { 'idempotency-key': `once-${path}` }
  const first = await w.post(path, body, key)
  expect(first.status, JSON.stringify(first.body)).toBeLessThan(300)
  const again = await w.post(path, body, key)
  expect([again.status, again.body]).toEqual([first.status, first.body])
  return first.body as Json
}

const changesOf = async (w: Workspace) =>
  ((await w.events()) as { type: string }[])
    .map(({ type }) => type)
    .filter((type) => type.startsWith('budget_'))

const ofAgent = async (w: Workspace, agent: string, more: Json = {}) => {
  await w.call('PUT', `/agents/${agent}`, {})
  const made = await w.post('/budgets', { scope: 'agent', scopeId: agent, maxUsd: '10', ...more })
  expect(made.status).toBe(201)
  return made.body
}

describe('a repeat under the same key is answered as the first request', () => {
  test('of a budget of a mission, whose settings are set as well', async () => {
    const w = await workspace()
    const plan = { tasks: [{ tempId: 'a' }] }
    const mission = (await w.post('/missions', { goal: 'Make it work', plan })).body
    const settings = { countNotional: true, onUnknownPrice: 'stop', isPaced: true }
    const budget = { scope: 'mission', scopeId: mission.id, maxUsd: '5', ...settings }
    expect(await twice(w, '/budgets', budget)).toMatchObject({
      scopeId: mission.id,
      maxUsd: '5',
      ...settings,
    })
    expectRefusal(await w.post('/budgets', budget), 409, 'ALREADY_EXISTS')
  })

  test('of a budget that was changed in the meantime', async () => {
    const w = await workspace()
    const [path, body] = ['/budgets', { scope: 'workspace', period: 'day', maxTokens: 1_000 }]
    const key = { 'idempotency-key': 'k-1' }
    const first = (await w.post(path, body, key)).body
    expect((await w.call('PATCH', `/budgets/${first.id}`, { maxTokens: 2_000 })).body.maxTokens).toBe(2_000)
    expect(await w.post(path, body, key)).toMatchObject({ status: 201, body: first })
    expectRefusal(await w.post(path, { ...body, maxTokens: 1 }, key), 422, 'IDEMPOTENCY_KEY_REUSED')
  })

  test('and an amount is moved once', async () => {
    const w = await workspace()
    const [from, to] = [await ofAgent(w, 'alpha'), await ofAgent(w, 'beta')]
    const moved = await twice(w, `/budgets/${from.id}/move`, { to: to.id, usd: '3' })
    expect(moved).toMatchObject({ from: { maxUsd: '7' }, to: { maxUsd: '13' } })
    expect((await w.call('GET', `/budgets/${from.id}`)).body.maxUsd).toBe('7')
  })

  test('and spending that was allowed again stays allowed', async () => {
    const w = await workspace()
    expect(await twice(w, '/budgets/stop-all', { reason: 'enough' })).toMatchObject({ state: 'blocked' })
    expect(await twice(w, '/budgets/allow-all', {})).toMatchObject({ state: 'open', stoppedAt: null })
    await w.post('/budgets/stop-all', { reason: 'enough' }, { 'idempotency-key': 'once-/budgets/stop-all' })
    expect((await changesOf(w)).slice(-2)).toEqual(['budget_stopped', 'budget_released'])
  })

  test('of what was used', async () => {
    const w = await workspace()
    const task = await w.held()
    const usage = { model: 'gpt-5', inputTokens: 10, outputTokens: 1, costUsd: '0.5' }
    const report = { ...fence('s-alpha', 1), usage }
    expect(await twice(w, `/tasks/${task.id}/usage`, report)).toMatchObject({
      isBooked: true,
      tokensUsed: 11,
    })
    expect((await w.post(`/tasks/${task.id}/usage`, report)).body).toMatchObject({ isBooked: false })
    expect((await w.call('GET', '/usage/rows')).body.items).toHaveLength(1)
  })

  test('of an answer in the inbox', async () => {
    const w = await workspace()
    const task = await w.held()
    const budget = await ofAgent(w, 'alpha', { maxUsd: '1' })
    const spare = await ofAgent(w, 'beta')
    const usage = { model: 'gpt-5', inputTokens: 10, outputTokens: 1, costUsd: '2' }
    await w.on(task, 'usage', { ...fence('s-alpha', 1), usage })
    const path = `/inbox/spending:${budget.id}/answer`
    const foreign = { decision: 'move', move: { from: task.id, usd: '4' } }
    const refused = await w.post(path, foreign)
    expectRefusal(refused, 400, 'VALIDATION_FAILED')
    expect(refused.body.errors[0].field).toBe('move.from')
    const answered = await twice(w, path, { decision: 'move', move: { from: spare.id, usd: '4' } })
    expect(answered).toMatchObject({ decision: 'move', about: { budgetId: budget.id } })
    expect((await w.call('GET', `/budgets/${budget.id}`)).body.maxUsd).toBe('5')
  })
})

test('what is refused for another reason than its claim books nothing', async () => {
  const w = await workspace({ maxResultBytes: 1_024 })
  const task = await w.held()
  const usage = { model: 'gpt-5', inputTokens: 10, outputTokens: 1, costUsd: '0.5' }
  const said = { ...fence('s-alpha', 1), usage }
  const unread = { 'if-match': '"1000"' }
  const path = `/tasks/${task.id}/progress`
  expectRefusal(await w.call('PATCH', path, { ...said, percent: 1 }, unread), 412, 'VERSION_MISMATCH')
  const large = await w.on(task, 'submit', { ...said, result: 'x'.repeat(2_000) })
  expect(large.body.code).toBe('RESULT_TOO_LARGE')
  const next = { agent: 'alpha', project: 'unheard-of' }
  expectRefusal(await w.on(task, 'submit', { ...said, result: 1, next }), 404, 'NOT_FOUND')
  expect((await w.call('GET', '/usage/rows')).body.items).toEqual([])
  await w.on(task, 'release', fence('s-alpha', 1))
  expectRefusal(await w.call('PATCH', path, { ...said, percent: 1 }, unread), 409, 'NO_CLAIM')
  expect((await w.call('GET', '/usage/rows')).body.items).toMatchObject([{ costUsd: '0.5' }])
})

test('spending that nobody has stopped cannot be allowed again', async () => {
  const w = await workspace()
  expectRefusal(await w.post('/budgets/allow-all'), 409, 'WRONG_STATE')
})

test.each(['Europe/Atlantis', '+02:00', '', 'x'.repeat(65), 'Europe/Berlin '])(
  'the time zone %j is refused by name',
  async (timeZone) => {
    const w = await workspace()
    const refused = await w.call('PATCH', '/limits', { timeZone })
    expectRefusal(refused, 400, 'VALIDATION_FAILED')
    expect(refused.body.errors[0].field).toBe('timeZone')
    expect((await w.call('GET', '/limits')).body.timeZone).toBe('UTC')
    expect((await w.call('PATCH', '/limits', { timeZone: 'Europe/Berlin' })).status).toBe(200)
  },
)

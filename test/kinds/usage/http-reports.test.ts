import { describe, expect, test } from 'vitest'
import {
  expectRefusal,
  fence,
  type Json,
  type Task,
  useServer,
  type Workspace,
} from '../../support/http-workspace.ts'
import { superuser } from '../../support/nodes.ts'
import type { Answer } from '../../support/server.ts'

/** What holders report that Baton does not run: booked once, to the micro-dollar, or refused with nothing booked. */

const { served, workspace } = useServer()

async function withAgent(more: Json = {}) {
  const w = await workspace({ minLeaseSeconds: 1 })
  expect((await w.call('PUT', '/agents/alpha', more)).status).toBe(201)
  return w
}
const report = (w: Workspace, task: Task, usage: unknown, more: Json = {}): Promise<Answer> =>
  w.on(task, 'usage', { ...fence('s-alpha', 1), usage, ...more } as Json)
const budgetOf = async (w: Workspace): Promise<Json> => (await w.call('GET', '/budgets')).body.items[0]
const budget = async (w: Workspace, more: Json = {}): Promise<Json> =>
  (await w.post('/budgets', { scope: 'workspace', maxTokens: 1_000_000_000, ...more })).body
const used = (outputTokens: number, more: Json = {}) => ({ inputTokens: 0, outputTokens, ...more })
const rowsOf = async (w: Workspace): Promise<Json[]> => (await w.call('GET', '/usage/rows')).body.items

describe('a report', () => {
  test('has totals of the claim and is answered with them, by whatever model', async () => {
    const w = await withAgent()
    await budget(w)
    const task = await w.held({ estimatedTokens: 100 })
    const two = [
      {
        model: 'claude-opus-5-5',
        inputTokens: 100,
        cachedInputTokens: 50,
        outputTokens: 10,
        costUsd: '0.25',
      },
      { model: 'gpt-5', inputTokens: 8, outputTokens: 2, costUsd: '0.000000000001' },
    ]
    const first = await report(w, task, two)
    expect(first).toMatchObject({
      status: 200,
      body: {
        ...{
          taskId: task.id,
          generation: 1,
          isBooked: true,
          tokens: { input: 108, cachedInput: 50, output: 12 },
        },
        ...{ tokensUsed: 170, costUsd: '0.250000000001', notionalUsd: null },
        budget: { scope: 'workspace', isSpent: false },
      },
    })
    expect((await report(w, task, two)).body).toEqual({ ...first.body, isBooked: false })
    expect(await budgetOf(w)).toMatchObject({ consumedTokens: 170, consumedUsd: '0.250000000001' })
    expect((await rowsOf(w)).map(({ model }) => model).sort()).toEqual(['claude-opus-5-5', 'gpt-5'])
  })

  test('without a cost is priced, by the model that it names or else that of its agent', async () => {
    const w = await withAgent({ model: 'gpt-5' })
    const task = await w.held()
    // 1.25 and 10 dollars a million.
    expect((await report(w, task, { inputTokens: 1_000, outputTokens: 100 })).body.costUsd).toBe('0.00225')
    expect((await report(w, task, used(100, { model: 'nobody-knows-it' }))).body.costUsd).toBe('0.00225')
    expect((await rowsOf(w)).map(({ basis }) => basis).sort()).toEqual(['priced', 'unknown'])
  })

  test('of a subscription costs notionally, outside of budgets in dollars', async () => {
    const w = await withAgent({ model: 'gpt-5', adapterConfig: { billing: 'subscription' } })
    await budget(w, { maxUsd: '0.001', maxTokens: undefined })
    const task = await w.held()
    const { body } = await report(w, task, { inputTokens: 1_000, outputTokens: 100 })
    expect(body).toMatchObject({ costUsd: null, notionalUsd: '0.00225', budget: { isSpent: false } })
    expect(await budgetOf(w)).toMatchObject({ consumedUsd: '0', consumedTokens: 1_100 })
  })

  test('with a number adds nothing after a later one, and a later one corrects', async () => {
    const w = await withAgent()
    await budget(w)
    const task = await w.held()
    const numbered = (number: number, usage: Json) => report(w, task, usage, { number })
    await numbered(2, used(200, { costUsd: '2' }))
    expect((await numbered(1, used(900, { costUsd: '9' }))).body).toMatchObject({
      isBooked: false,
      tokensUsed: 200,
    })
    expect((await numbered(2, used(900, { costUsd: '9' }))).body).toMatchObject({ isBooked: false })
    expect((await numbered(3, used(150, { costUsd: '1.5' }))).body).toMatchObject({
      isBooked: true,
      tokensUsed: 150,
    })
    expect(await budgetOf(w)).toMatchObject({ consumedTokens: 150, consumedUsd: '1.5' })
  })

  test('without a number takes nothing back', async () => {
    const w = await withAgent()
    await budget(w)
    const task = await w.held()
    await report(w, task, used(200, { costUsd: '2' }))
    expect((await report(w, task, used(10, { costUsd: '0.1' }))).body).toMatchObject({
      isBooked: false,
      tokensUsed: 200,
    })
    expect(await budgetOf(w)).toMatchObject({ consumedTokens: 200, consumedUsd: '2' })
  })

  test('that comes forty times at once is booked once', async () => {
    const w = await withAgent()
    await budget(w)
    const task = await w.held()
    const answers = await Promise.all(
      Array.from({ length: 40 }, () => report(w, task, used(100, { costUsd: '1' }))),
    )
    expect(answers.map(({ status }) => status)).toEqual(Array(40).fill(200))
    expect(answers.filter(({ body }) => body.isBooked)).toHaveLength(1)
    expect(await budgetOf(w)).toMatchObject({ consumedTokens: 100, consumedUsd: '1' })
  })

  test('in progress and with the result counts as the same report', async () => {
    const w = await withAgent()
    await budget(w)
    const task = await w.held()
    await w.on(task, 'start', fence('s-alpha', 1))
    expect((await w.on(task, 'progress', { ...fence('s-alpha', 1), usage: used(100) })).status).toBe(200)
    await report(w, task, used(100))
    const result = { ...fence('s-alpha', 1), result: 1, usage: used(140) }
    expect((await w.on(task, 'submit', result)).status).toBe(200)
    expect(await budgetOf(w)).toMatchObject({ consumedTokens: 140, reservedTokens: 0 })
    expect(await w.read(task)).toMatchObject({ state: 'completed' })
  })
})

describe('a holder whose claim is over', () => {
  test('is booked for a day after its end, and not later', async () => {
    const w = await withAgent()
    const task = await w.held()
    await w.on(task, 'release', fence('s-alpha', 1))
    const endedAgo = (hours: number) =>
      superuser(served().databaseUrl, (client) =>
        client.query(
          `update baton.attempts set ended_at = now() - interval '${hours} hours', acquired_at = now() - interval '${hours + 1} hours'
            where task_id = (select id from baton.tasks where uuid = '${task.id}')`,
        ),
      )
    await endedAgo(23)
    expectRefusal(await report(w, task, used(100)), 409, 'NO_CLAIM')
    await endedAgo(25)
    expectRefusal(await report(w, task, used(900)), 409, 'WRONG_STATE')
    expect((await w.on(task, 'submit', { ...fence('s-alpha', 1), result: 1, usage: used(900) })).status).toBe(
      409,
    )
    expect((await rowsOf(w)).map(({ tokensUsed }) => tokensUsed)).toEqual([100])
  })

  test('is refused like any of its writes, and what it used is booked all the same', async () => {
    const w = await withAgent()
    await budget(w)
    const task = await w.held()
    expect((await w.on(task, 'release', fence('s-alpha', 1))).status).toBe(200)
    expect((await w.claim(task, 'beta')).body.claim.generation).toBe(2)
    expectRefusal(await report(w, task, used(70)), 409, 'STALE_GENERATION')
    expect(await budgetOf(w)).toMatchObject({ consumedTokens: 70 })
    expectRefusal(await report(w, task, used(70)), 409, 'STALE_GENERATION')
    expect(await budgetOf(w), 'once').toMatchObject({ consumedTokens: 70 })
    expect((await w.on(task, 'usage', { ...fence('s-beta', 2), usage: used(5) })).body).toMatchObject({
      tokensUsed: 5,
    })
    expect(await budgetOf(w)).toMatchObject({ consumedTokens: 75 })
  })

  test('that never held it books nothing', async () => {
    const w = await withAgent()
    await budget(w)
    const [task, free] = [await w.held(), await w.make()]
    for (const [which, session, generation] of [
      [task, 's-other', 1],
      [task, 's-alpha', 2],
      [free, 's-alpha', 1],
    ] as const) {
      const answer = await w.on(which, 'usage', { ...fence(session, generation), usage: used(70) })
      expect(answer.status).toBe(409)
    }
    expect(await budgetOf(w)).toMatchObject({ consumedTokens: 0 })
    expect(await rowsOf(w)).toEqual([])
  })
})

describe('bad input', () => {
  const zero = { inputTokens: 0, outputTokens: 0 }
  test.each<[string, unknown]>([
    ['nothing', undefined],
    ['null', null],
    ['negative tokens', used(-1)],
    ['fractional tokens', used(1.5)],
    ['tokens beyond counting', used(1e12 + 1)],
    ['tokens that are no number', used(Number.NaN)],
    ['tokens as text', { inputTokens: '5', outputTokens: 0 }],
    ['no output', { inputTokens: 5 }],
    ['negative dollars', used(1, { costUsd: '-0.01' })],
    ['dollars as a number', used(1, { costUsd: 0.01 })],
    ['thirty decimals', used(1, { costUsd: `0.${'7'.repeat(30)}` })],
    ['thirteen decimals', used(1, { costUsd: '0.0000000000001' })],
    ['dollars with an exponent', used(1, { costUsd: '1e-7' })],
    ['a million dollars', used(1, { costUsd: '1000000' })],
    ['no model at all', []],
    ['a model twice', [used(1, { model: 'x' }), used(2, { model: 'x' })]],
    ['two models without a name', [used(1), used(2)]],
    ['more cache writes than input', { ...zero, inputTokens: 5, cacheWriteInputTokens: 6 }],
    [
      'more hours than cache writes',
      { ...zero, inputTokens: 5, cacheWriteInputTokens: 2, cacheWrite1hInputTokens: 3 },
    ],
    ['an unknown count', used(1, { totalTokens: 5 })],
    ['fifty-one models', Array.from({ length: 51 }, (_, i) => used(1, { model: `m-${i}` }))],
  ])('%s is refused, and nothing is booked', async (_what, usage) => {
    const w = await withAgent()
    await budget(w)
    const task = await w.held()
    expectRefusal(await report(w, task, usage), 400, 'VALIDATION_FAILED')
    expect(await budgetOf(w)).toMatchObject({ consumedTokens: 0, consumedUsd: '0' })
    expect(await rowsOf(w)).toEqual([])
    const at = fence('s-alpha', 1)
    if (usage == null) return
    expectRefusal(await w.on(task, 'progress', { ...at, usage } as Json), 400, 'VALIDATION_FAILED')
    expectRefusal(await w.on(task, 'submit', { ...at, result: 1, usage } as Json), 400, 'VALIDATION_FAILED')
    expect(await w.read(task), 'nothing is half done').toMatchObject({ state: 'assigned' })
    expect(await rowsOf(w)).toEqual([])
  })

  test.each<[string, Json]>([
    ['number 0', { number: 0 }],
    ['a negative number', { number: -1 }],
    ['a fractional number', { number: 1.5 }],
    ['a number beyond counting', { number: 2 ** 31 }],
    ['no session', { session: undefined }],
  ])('%s is refused', async (_what, wrong) => {
    const w = await withAgent()
    const task = await w.held()
    expectRefusal(await report(w, task, used(1), wrong), 400, 'VALIDATION_FAILED')
    expect(await rowsOf(w)).toEqual([])
  })

  test('as much as can be told at once is booked exactly', async () => {
    const w = await withAgent()
    await budget(w)
    const most = (_: unknown, i: number) => ({
      ...{ model: `m-${i}`, inputTokens: 1e12, cachedInputTokens: 1e12, outputTokens: 1e12 },
      costUsd: '999999.999999999999',
    })
    const task = await w.held()
    const answer = await report(w, task, Array.from({ length: 50 }, most))
    expect(answer).toMatchObject({
      status: 200,
      body: { costUsd: '49999999.99999999995', tokensUsed: 1.5e14 },
    })
    expect(await budgetOf(w)).toMatchObject({ consumedTokens: 1.5e14, state: 'blocked' })
  })

  test.each(['constructor', '__proto__', 'toString', 'a'.repeat(100), 'x\u202ey', '<b>'])(
    'a model called %s is a model like any other',
    async (model) => {
      const w = await withAgent()
      await budget(w)
      const task = await w.held()
      for (const outputTokens of [10, 25])
        expect((await report(w, task, used(outputTokens, { model, costUsd: '0.5' }))).body).toMatchObject({
          ...{ tokensUsed: outputTokens, costUsd: '0.5' },
        })
      expect(await budgetOf(w)).toMatchObject({ consumedTokens: 25, consumedUsd: '0.5' })
      expect(new Set((await rowsOf(w)).map((row) => row.model))).toEqual(new Set([model]))
    },
  )

  test('another workspace cannot report for a task', async () => {
    const [w, other] = [await withAgent(), await withAgent()]
    const task = await w.held()
    expectRefusal(await report(other, task, used(70)), 404, 'NOT_FOUND')
    expect([await rowsOf(w), await rowsOf(other)]).toEqual([[], []])
  })

  test('a key that only reads cannot report, nor one of another agent', async () => {
    const w = await withAgent()
    expect((await w.call('PUT', '/agents/beta', {})).status).toBe(201)
    const task = await w.held()
    for (const kind of [{ role: 'viewer' }, { role: 'member', agent: 'beta' }]) {
      const { key } = (await w.post('/keys', { name: 'a key', ...kind })).body
      const body = { ...fence('s-alpha', 1), usage: used(70) }
      const answer = await served().call('POST', `/tasks/${task.id}/usage`, body, { key })
      expect(answer.status).toBe(403)
    }
    expect(await rowsOf(w)).toEqual([])
  })
})

test('the rows of the ledger, the quarters of hours and the sources say the same, exactly', async () => {
  const w = await withAgent()
  await budget(w)
  const task = await w.held()
  for (const [number, tokens, cost] of [
    [1, 10, '0.1'],
    [2, 500, '0.700000000001'],
    [3, 20, '0.2'],
    [4, 20, undefined],
    [5, 60, '0.123456789012'],
  ] as const)
    await report(w, task, used(tokens, { model: 'x', ...(cost && { costUsd: cost }) }), { number })
  const sums = await superuser(served().databaseUrl, async (client) => {
    const of = (table: string) =>
      client.query(
        `select coalesce(sum(u.output_tokens), 0)::int as tokens, trim_scale(sum(u.cost_usd))::text as usd from baton.${table} u
          where u.source_id = $1`,
        [task.id],
      )
    return [await of('usage'), await of('usage_quarters'), await of('usage_sources')].map(
      ({ rows }) => rows[0],
    )
  })
  expect(sums).toEqual(Array(3).fill({ tokens: 60, usd: '0.123456789012' }))
  expect(await budgetOf(w)).toMatchObject({ consumedTokens: 60, consumedUsd: '0.123456789012' })
})

import { describe, expect, test } from 'vitest'
import {
  expectRefusal,
  fence,
  inState,
  type Json,
  useServer,
  type Workspace,
} from '../../support/http-workspace.ts'
import { until } from '../../support/nodes.ts'
import type { Answer } from '../../support/server.ts'

/** Requests sent twice, and requests about many things at once. */

const { workspace } = useServer()

/** The remaining time of a lease is the one thing that changes from answer to answer. */
const withoutTtl = ({ status, body }: Answer) =>
  JSON.stringify([status, body], (name, value) => (name === 'ttlMs' ? null : value))

describe('under an idempotency key', () => {
  const who = { agent: 'alpha', session: 's-alpha' }
  const both = async (w: Workspace) => [await w.held(), await w.held()].map(({ id }) => id)
  type Case = [path: string, once: Record<string, number>, body: (w: Workspace) => Promise<Json>]
  const CASES: Case[] = [
    ['/tasks', { task_created: 1 }, async () => ({ title: 'once' })],
    ['/tasks/batch', { task_created: 2 }, async () => ({ tasks: [{ title: 'one' }, { title: 'two' }] })],
    ['/tasks/:id/claim', { task_assigned: 1 }, async () => who],
    ['/claims/next', { task_assigned: 2 }, async (w) => ({ ...who, limit: (await w.make()) && 2 })],
    [
      '/claims/batch',
      { task_assigned: 2 },
      async (w) => ({ ...who, taskIds: [(await w.make()).id, (await w.make()).id] }),
    ],
    [
      '/claims/renew',
      { claim_renewed: 2 },
      async (w) => ({ renewals: (await both(w)).map((taskId) => ({ taskId, ...fence('s-alpha', 1) })) }),
    ],
    [
      '/results/batch',
      { task_completed: 2 },
      async (w) => ({
        results: (await both(w)).map((taskId) => ({ taskId, ...fence('s-alpha', 1), result: taskId })),
      }),
    ],
  ]

  test.each(CASES)(
    'POST %s sent 20 times at once is executed once and answered alike',
    async (path, once, prepare) => {
      const w = await workspace()
      const task = path === '/tasks' || path === '/tasks/batch' ? null : await w.make()
      const body = await prepare(w)
      const before = (await w.events()).length
      const send = () => w.post(path.replace(':id', task?.id), body, { 'idempotency-key': 'k-1' })
      const answers = [...(await Promise.all(Array.from({ length: 20 }, send))), await send()]
      expect(new Set(answers.map(withoutTtl)).size).toBe(1)
      expect(answers[0]!.status).toBeLessThan(300)
      const made: Record<string, number> = {}
      for (const { type } of await w.events(before))
        if (!/^(agent|session)_/.test(type)) made[type] = (made[type] ?? 0) + 1
      expect(made).toEqual(once)
    },
  )

  test.each(CASES)(
    'POST %s with another body is IDEMPOTENCY_KEY_REUSED and does nothing',
    async (path, _once, prepare) => {
      const w = await workspace()
      const task = await w.make()
      const url = path.replace(':id', task.id)
      const body = await prepare(w)
      expect((await w.post(url, body, { 'idempotency-key': 'k-1' })).status).toBeLessThan(300)
      const other = JSON.stringify(body)
        .replaceAll('s-alpha', 's-other')
        .replace('"title":"', '"title":"not ')
      const seen = (await w.events()).length
      const reused = await w.post(url, other, { 'idempotency-key': 'k-1' })
      const codes = reused.body.results?.map((item: Json) => item.reason) ?? [reused.body.code]
      expect(new Set(codes)).toEqual(new Set(['IDEMPOTENCY_KEY_REUSED']))
      expect((await w.events(seen)).filter(({ type }: { type: string }) => !/^session_/.test(type))).toEqual(
        [],
      )
    },
  )

  test('a longer batch under the key of a shorter one is refused as a whole and claims nothing', async () => {
    const w = await workspace()
    const taskIds = [(await w.make()).id, (await w.make()).id]
    await w.post('/claims/batch', { ...who, taskIds: taskIds.slice(0, 1) }, { 'idempotency-key': 'k-1' })
    const longer = await w.post('/claims/batch', { ...who, taskIds }, { 'idempotency-key': 'k-1' })
    expectRefusal(longer, 422, 'IDEMPOTENCY_KEY_REUSED')
    expect((await w.read({ id: taskIds[1] })).state).toBe('queued')
  })

  test('the same key in two workspaces, or on two paths, means different requests', async () => {
    const [one, two] = [await workspace(), await workspace()]
    const create = (w: Workspace) => w.post('/tasks', { title: 'once' }, { 'idempotency-key': 'k-1' })
    const [first, second] = [await create(one), await create(two)]
    expect([first.status, second.status]).toEqual([201, 201])
    expect(second.body.id).not.toBe(first.body.id)
    const elsewhere = await one.on(first.body, 'cancel', {}, { 'idempotency-key': 'k-1' })
    expectRefusal(elsewhere, 422, 'IDEMPOTENCY_KEY_REUSED')
    expect((await one.read(first.body)).state).toBe('queued')
  })

  test('a repeated answer to a claim has the time its lease has left now', async () => {
    const w = await workspace()
    const task = await w.make()
    const ask = async () => (await w.on(task, 'claim', who, { 'idempotency-key': 'k-1' })).body.claim
    const first = await ask()
    const later = await until(async () => {
      const again = await ask()
      return again.ttlMs < first.ttlMs && again
    })
    expect(later).toEqual({ ...first, ttlMs: later.ttlMs })
  })

  test('a refused claim is decided again when it is repeated', async () => {
    const w = await workspace()
    const task = await w.held()
    const ask = () => w.on(task, 'claim', { agent: 'beta', session: 's-beta' }, { 'idempotency-key': 'k-1' })
    expectRefusal(await ask(), 409, 'DENIED_ACTIVE_CLAIM')
    await w.on(task, 'release', fence('s-alpha', 1))
    expect((await ask()).body).toMatchObject({ reason: 'GRANTED', claim: { generation: 2 } })
    await w.on(task, 'submit', { ...fence('s-beta', 2), result: 1 })
    expect((await ask()).body, 'the first answer stays, whatever happened since').toMatchObject({
      reason: 'GRANTED',
      claim: { generation: 2 },
    })
  })
})

describe('a batch', () => {
  const UNKNOWN_ID = '01890000-0000-7000-8000-00000000ffff'

  test('of tasks is created as a whole or not at all', async () => {
    const w = await workspace()
    const bad = { tasks: [{ title: 'good' }, { title: 'bad', dependsOn: [UNKNOWN_ID] }] }
    const refused = await w.post('/tasks/batch', bad)
    expectRefusal(refused, 400, 'VALIDATION_FAILED', { errors: [{ field: 'tasks[1].dependsOn[0]' }] })
    const twins = {
      tasks: [
        { title: 'a', key: 'A-001-x' },
        { title: 'b', key: 'A-001-x' },
      ],
    }
    expectRefusal(await w.post('/tasks/batch', twins), 409, 'ALREADY_EXISTS')
    expect((await w.call('GET', '/tasks')).body.items).toEqual([])
    const tasks = Array.from({ length: 500 }, (_, i) => ({ title: `task ${i}` }))
    const made = await w.post('/tasks/batch', { tasks })
    expect(made.status).toBe(201)
    expect(made.body.items.map(({ title }: Json) => title)).toEqual(tasks.map(({ title }) => title))
  })

  test('of claims answers for each task: the free one is granted, the others say why not', async () => {
    const w = await workspace()
    const [free, taken, done] = [await w.make(), await w.held(), await inState.completed(w)]
    const taskIds = [free.id, taken.id, UNKNOWN_ID, done.id, free.id]
    const { status, body } = await w.post('/claims/batch', { agent: 'beta', session: 's-b', taskIds })
    expect(status).toBe(200)
    expect(body.results).toMatchObject([
      { taskId: free.id, reason: 'GRANTED', claim: { generation: 1, agent: 'beta', state: 'active' } },
      { taskId: taken.id, reason: 'DENIED_ACTIVE_CLAIM', status: 409, currentHolder: 'alpha' },
      { taskId: UNKNOWN_ID, reason: 'NOT_FOUND', status: 404 },
      { taskId: done.id, reason: 'DENIED_COMPLETED', status: 409 },
      { taskId: free.id, reason: 'DENIED_ACTIVE_CLAIM', status: 409, currentHolder: 'beta' },
    ])
  })

  test('of claims of unknown tasks answers for each, whether the agent is known or unknown', async () => {
    const w = await workspace()
    await w.held()
    for (const agent of ['alpha', 'stranger']) {
      const { status, body } = await w.post('/claims/batch', {
        agent,
        session: `s-${agent}`,
        taskIds: [UNKNOWN_ID],
      })
      expect(status, agent).toBe(200)
      expect(body.results).toMatchObject([{ taskId: UNKNOWN_ID, reason: 'NOT_FOUND', status: 404 }])
    }
    expect(await w.count('agent_registered'), 'and registers no agent').toBe(1)
  })

  test('of renewals and results answers for each item', async () => {
    const w = await workspace({ maxResultBytes: 1024 })
    const [good, stale] = [await w.held(), await w.held()]
    await w.on(stale, 'release', fence('s-alpha', 1))
    await w.claim(stale, 'beta')
    const items = [good.id, stale.id, UNKNOWN_ID].map((taskId) => ({ taskId, ...fence('s-alpha', 1) }))
    const renewals = await w.post('/claims/renew', { renewals: items })
    expect(renewals.body.results).toMatchObject([
      { taskId: good.id, reason: 'RENEWED', ttlMs: 300_000, requests: [] },
      { taskId: stale.id, reason: 'GENERATION_MISMATCH', status: 409, currentGeneration: 2 },
      { taskId: UNKNOWN_ID, reason: 'NOT_FOUND', status: 404 },
    ])
    const results = await w.post('/results/batch', { results: items.map((item) => ({ ...item, result: 1 })) })
    expect(results.body.results).toMatchObject([
      { taskId: good.id, reason: 'ACCEPTED', task: { state: 'completed' } },
      { taskId: stale.id, reason: 'STALE_GENERATION', status: 409, workLost: true },
      { taskId: UNKNOWN_ID, reason: 'NOT_FOUND', status: 404 },
    ])
  })

  test('with one result too large, or one lease out of range, still serves the others', async () => {
    const w = await workspace({ maxResultBytes: 1024 })
    const [small, large] = [await w.held(), await w.held()]
    const items = [small, large].map(({ id }) => ({ taskId: id, ...fence('s-alpha', 1) }))
    const renewals = items.map((item, i) => ({ ...item, leaseSeconds: [60, 86_400][i] }))
    const renewed = await w.post('/claims/renew', { renewals })
    expect(renewed.body.results).toMatchObject([{ reason: 'RENEWED' }, { reason: 'LEASE_OUT_OF_RANGE' }])
    const results = items.map((item, i) => ({ ...item, result: 'x'.repeat([1, 2_000][i]!) }))
    const submitted = await w.post('/results/batch', { results })
    expect(submitted.body.results).toMatchObject([{ reason: 'ACCEPTED' }, { reason: 'RESULT_TOO_LARGE' }])
  })
})

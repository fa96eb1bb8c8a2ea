import { describe, expect, test } from 'vitest'
import {
  expectRefusal,
  fence,
  inOneHour,
  inState,
  type Json,
  type Task,
  useServer,
  type Workspace,
} from '../../support/http-workspace.ts'

/** The claim path as a client sees it, each test in a workspace of its own. */

const { workspace } = useServer()

const UUID7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

test('a task is created, claimed, renewed and submitted word for word as DESIGN 6 says', async () => {
  const { post, on, read } = await workspace()
  const created = await post('/tasks', { title: 'Fix login', taskType: 'coding', priority: 8 })
  expect(created.status).toBe(201)
  expect(created.body).toMatchObject({ state: 'queued', stateType: 'pending', generation: 0, version: 1 })
  expect(created.body).toMatchObject({ title: 'Fix login', taskType: 'coding', priority: 8 })
  expect(created.body.id).toMatch(UUID7)
  const task = created.body
  const granted = await on(task, 'claim', { agent: 'alpha', session: 's-1', leaseSeconds: 60 })
  const claim = {
    taskId: task.id,
    generation: 1,
    session: 's-1',
    agent: 'alpha',
    state: 'active',
    ttlMs: 60_000,
  }
  expect(granted).toMatchObject({ status: 200, body: { reason: 'GRANTED', claim } })
  const denied = await on(task, 'claim', { agent: 'beta', session: 's-2', leaseSeconds: 60 })
  expectRefusal(denied, 409, 'DENIED_ACTIVE_CLAIM', { currentHolder: 'alpha', currentGeneration: 1 })
  const renewed = await on(task, 'renew', fence('s-1', 1))
  expect(renewed).toMatchObject({
    status: 200,
    body: { reason: 'RENEWED', ttlMs: 60_000, requests: [], budget: null },
  })
  expect(Date.parse(renewed.body.leaseExpiresAt)).toBeGreaterThanOrEqual(
    Date.parse(granted.body.claim.leaseExpiresAt),
  )
  const result = { fixed: true, files: ['login.ts'] }
  const submitted = await on(task, 'submit', { ...fence('s-1', 1), result, summary: 'done' })
  expect(submitted).toMatchObject({ status: 200, body: { reason: 'ACCEPTED', task: { state: 'completed' } } })
  const { workProductRef } = submitted.body
  expect(workProductRef).toMatch(new RegExp(`^wp-${task.id}-gen1-[0-9a-f]{6}$`))
  expect((await read(task, '/results')).items).toMatchObject([
    { workProductRef, generation: 1, accepted: true, result, summary: 'done', agent: 'alpha' },
  ])
  expect((await read(task, '/claims')).items).toMatchObject([
    { generation: 1, state: 'released', releaseReason: 'COMPLETED', resultAccepted: true, workProductRef },
  ])
})

test('a claim has a lease of 300 s unless another is given', async () => {
  const w = await workspace()
  expect((await w.claim(await w.make())).body.claim.ttlMs).toBe(300_000)
  expect((await w.claim(await w.make(), 'beta', { leaseSeconds: 60 })).body.claim.ttlMs).toBe(60_000)
})

describe('a claim is denied', () => {
  const DENIALS: [why: string, code: string, extra: Json, task: (w: Workspace) => Promise<Task>][] = [
    ['that is completed', 'DENIED_COMPLETED', {}, inState.completed],
    [
      'that waits for another',
      'NOT_READY',
      { taskState: 'pending' },
      async (w) => w.make({ dependsOn: [(await w.make()).id] }),
    ],
    ['that is scheduled', 'NOT_READY', { taskState: 'pending' }, (w) => w.make({ runAt: inOneHour() })],
    ['that waits for its next attempt', 'NOT_READY', { taskState: 'awaiting_retry' }, inState.awaiting_retry],
    ['that is paused', 'NOT_READY', { taskState: 'paused' }, inState.paused],
    ['that is cancelled', 'NOT_READY', { taskState: 'cancelled' }, inState.cancelled],
    ['of another agent', 'WRONG_AGENT', {}, (w) => w.make({ agent: 'beta' })],
    [
      'it is not able to do',
      'MISSING_CAPABILITY',
      { missing: 'rust' },
      (w) => w.make({ requiredCapabilities: ['rust'] }),
    ],
  ]
  test.each(DENIALS)('of a task %s: %s', async (_why, code, extra, prepare) => {
    const w = await workspace()
    const task = await prepare(w)
    const before = await w.read(task)
    expectRefusal(await w.claim(task), 409, code, extra)
    expect(await w.read(task)).toEqual(before)
  })

  test('beyond the limit of the workspace, by id, from the queue and in a batch: LIMIT_REACHED', async () => {
    const w = await workspace({ maxConcurrentClaims: 2 })
    const tasks = [await w.make(), await w.make(), await w.make(), await w.make()]
    const answers = await Promise.all(tasks.map((task) => w.claim(task)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 409, 409])
    const left = tasks.filter((_task, i) => answers[i]!.status === 409)
    expectRefusal(await w.claim(left[0]!), 409, 'LIMIT_REACHED', { limit: 'maxConcurrentClaims' })
    expectRefusal(await w.post('/claims/next', { agent: 'a', session: 's' }), 409, 'LIMIT_REACHED')
    const taskIds = left.map(({ id }) => id)
    const { body } = await w.post('/claims/batch', { agent: 'a', session: 's', taskIds })
    expect(body.results).toMatchObject([{ reason: 'LIMIT_REACHED' }, { reason: 'LIMIT_REACHED' }])
    const held = tasks.find((_task, i) => answers[i]!.status === 200)!
    await w.on(held, 'submit', { ...fence('s-alpha', 1), result: null })
    expect((await w.claim(left[0]!)).body.reason).toBe('GRANTED')
  })

  test('with a lease outside the limits, in every request with a lease: LEASE_OUT_OF_RANGE', async () => {
    const w = await workspace({ minLeaseSeconds: 10, maxLeaseSeconds: 20 })
    const task = await w.make()
    const errors = [{ field: 'leaseSeconds' }]
    for (const leaseSeconds of [9, 21]) {
      expectRefusal(await w.claim(task, 'alpha', { leaseSeconds }), 400, 'LEASE_OUT_OF_RANGE', { errors })
      const who = { agent: 'a', session: 's', leaseSeconds }
      expectRefusal(await w.post('/claims/next', who), 400, 'LEASE_OUT_OF_RANGE', { errors })
      expectRefusal(
        await w.post('/claims/batch', { ...who, taskIds: [task.id] }),
        400,
        'LEASE_OUT_OF_RANGE',
        { errors },
      )
    }
    expect((await w.claim(task)).body.claim.ttlMs, 'the default is bent into the limits').toBe(20_000)
    const renewal = { ...fence('s-alpha', 1), leaseSeconds: 9 }
    expectRefusal(await w.on(task, 'renew', renewal), 400, 'LEASE_OUT_OF_RANGE', { errors })
    expect((await w.on(task, 'renew', { ...fence('s-alpha', 1), leaseSeconds: 20 })).body.ttlMs).toBe(20_000)
  })
})

describe('a write that is not the holder’s', () => {
  const FENCED = ['start', 'progress', 'continue', 'release', 'fail', 'submit']
  const body = (act: string, session: string, generation: number) => ({
    ...fence(session, generation),
    ...(act === 'submit' ? { result: 'not mine to give' } : {}),
  })

  test.each(['renew', ...FENCED])(
    '%s is refused with its reason, changes nothing and is recorded',
    async (act) => {
      const w = await workspace()
      const task = await w.make()
      expectRefusal(await w.on(task, act, body(act, 's-alpha', 1)), 409, 'NO_CLAIM', { currentGeneration: 0 })
      await w.claim(task)
      await w.on(task, 'release', fence('s-alpha', 1))
      expectRefusal(await w.on(task, act, body(act, 's-alpha', 1)), 409, 'NO_CLAIM', { currentGeneration: 1 })
      await w.claim(task, 'beta')
      const before = await w.read(task)
      const [older, newer] =
        act === 'renew'
          ? ['GENERATION_MISMATCH', 'GENERATION_MISMATCH']
          : ['STALE_GENERATION', 'FUTURE_GENERATION']
      expectRefusal(await w.on(task, act, body(act, 's-alpha', 1)), 409, older!, { currentGeneration: 2 })
      expectRefusal(await w.on(task, act, body(act, 's-beta', 3)), 409, newer!, { currentGeneration: 2 })
      expectRefusal(await w.on(task, act, body(act, 's-alpha', 2)), 409, 'SESSION_MISMATCH')
      expect(await w.read(task)).toEqual(before)
      expect(await w.count(act === 'submit' ? 'task_result_rejected' : 'claim_write_refused')).toBe(5)
    },
  )

  test('a result for generation 0, which was never held, is refused as stale', async () => {
    const w = await workspace()
    const task = await w.make()
    await w.claim(task)
    const answer = await w.on(task, 'submit', { ...fence('s-alpha', 0), result: 1 })
    expectRefusal(answer, 409, 'STALE_GENERATION', { currentGeneration: 1 })
    expect((await w.read(task, '/results')).items, 'no one worked under it').toEqual([])
  })

  test('another agent’s result for a generation it never held is refused and not stored', async () => {
    const w = await workspace()
    const task = await w.held()
    await w.on(task, 'release', fence('s-alpha', 1))
    await w.claim(task, 'beta')
    const stale = await w.on(task, 'submit', { ...fence('s-stranger', 1), result: 'spam' })
    expect(stale.body).toMatchObject({ status: 409, workLost: false })
    await w.on(task, 'submit', { ...fence('s-beta', 2), result: 'good' })
    const after = await w.on(task, 'submit', { ...fence('s-stranger', 2), result: 'spam' })
    expect(after.body).toMatchObject({ status: 409, workLost: false })
    expect((await w.read(task, '/results')).items).toMatchObject([{ session: 's-beta', accepted: true }])
  })

  test('work of a superseded holder is stored as rejected and can be read beside the accepted one', async () => {
    const w = await workspace({ minLeaseSeconds: 1 })
    const task = await w.expired()
    await w.claim(task, 'beta')
    const late = await w.on(task, 'submit', {
      ...fence('s-alpha', 1),
      result: { by: 'alpha' },
      summary: 'late',
    })
    expectRefusal(late, 409, 'STALE_GENERATION', { currentGeneration: 2, workLost: true })
    const future = await w.on(task, 'submit', { ...fence('s-beta', 3), result: 1 })
    expectRefusal(future, 409, 'FUTURE_GENERATION', { workLost: false })
    const accepted = await w.on(task, 'submit', { ...fence('s-beta', 2), result: { by: 'beta' } })
    const again = await w.on(task, 'submit', {
      ...fence('s-beta', 2),
      result: { by: 'beta', otherwise: true },
    })
    expectRefusal(again, 409, 'TASK_ALREADY_COMPLETED', { currentGeneration: 2 })
    const { items } = await w.read(task, '/results')
    expect(items).toMatchObject([
      {
        generation: 1,
        accepted: false,
        rejectionReason: 'STALE_GENERATION',
        agent: 'alpha',
        result: { by: 'alpha' },
        summary: 'late',
      },
      { generation: 2, accepted: true, result: { by: 'beta' }, workProductRef: accepted.body.workProductRef },
      { generation: 2, accepted: false, rejectionReason: 'TASK_ALREADY_COMPLETED' },
    ])
    const [stale, never] = await w.happens('task_result_rejected', 2)
    // Its lease of a second ran out before it submitted.
    expect(stale!.payload).toMatchObject({ agent: 'alpha', processingMs: expect.any(Number) })
    expect(stale!.payload.processingMs).toBeGreaterThanOrEqual(1_000)
    expect(never!.payload, 'nobody held it').not.toHaveProperty('agent')
  })

  test('after its lease expired a holder cannot renew, but its result counts while no one claimed since', async () => {
    const w = await workspace({ minLeaseSeconds: 1 })
    const task = await w.expired()
    for (const act of ['renew', ...FENCED.filter((act) => act !== 'submit')])
      expectRefusal(await w.on(task, act, fence('s-alpha', 1)), 409, 'ALREADY_EXPIRED')
    expect((await w.read(task, '/claims')).items).toMatchObject([
      { state: 'expired', releaseReason: 'EXPIRED' },
    ])
    const late = await w.on(task, 'submit', { ...fence('s-alpha', 1), result: 'late but good' })
    expect(late).toMatchObject({ status: 200, body: { reason: 'ACCEPTED', task: { state: 'completed' } } })
    await w.call('PATCH', '/limits', { lateResults: false })
    const strict = await w.expired()
    const refused = await w.on(strict, 'submit', { ...fence('s-alpha', 1), result: 'late' })
    expectRefusal(refused, 409, 'NO_CLAIM', { workLost: true })
    const last = await w.expired({ maxRetries: 0 })
    expect(await w.read(last)).toMatchObject({ state: 'failed', attempt: 1 })
  })

  test('a renewal with a shorter lease does not shorten the one promised before', async () => {
    const w = await workspace()
    const task = await w.make()
    const { leaseExpiresAt } = (await w.claim(task, 'alpha', { leaseSeconds: 3_600 })).body.claim
    const renewed = await w.on(task, 'renew', { ...fence('s-alpha', 1), leaseSeconds: 30 })
    expect(renewed.body).toMatchObject({ reason: 'RENEWED', leaseExpiresAt })
    expect((await w.read(task)).holder).toMatchObject({ leaseExpiresAt })
  })

  test('a result that is too large is refused and leaves the claim active', async () => {
    const w = await workspace({ maxResultBytes: 1024 })
    const task = await w.make()
    await w.claim(task)
    const large = await w.on(task, 'submit', { ...fence('s-alpha', 1), result: 'é'.repeat(512) })
    expectRefusal(large, 413, 'RESULT_TOO_LARGE', { errors: [{ field: 'result' }] })
    const fits = await w.on(task, 'submit', { ...fence('s-alpha', 1), result: 'é'.repeat(511) })
    expect(fits.body.reason).toBe('ACCEPTED')
  })
})

test('the same submission twice, or twenty times at once, gets one answer and is one result', async () => {
  const w = await workspace()
  const task = await w.make()
  await w.claim(task)
  const submit = () => w.on(task, 'submit', { ...fence('s-alpha', 1), result: { a: 1 } })
  const answers = [...(await Promise.all(Array.from({ length: 20 }, submit))), await submit()]
  expect(new Set(answers.map(({ status, body }) => JSON.stringify([status, body]))).size).toBe(1)
  expect(answers[0]!.body.reason).toBe('ACCEPTED')
  expect((await w.read(task, '/results')).items).toHaveLength(1)
  expect(await w.count('task_completed')).toBe(1)
})

describe('a claim', () => {
  test('with metadata shows it to everybody while it is held, keeps it in its event, and passes it on to nobody', async () => {
    const w = await workspace()
    const task = await w.make()
    const metadata = { host: 'pod-7', region: { name: 'eu' } }
    const claim = { agent: 'alpha', session: 's-alpha' }
    for (const bad of ['pod-7', ['pod-7'], { note: 'x'.repeat(4_096) }])
      expectRefusal(await w.on(task, 'claim', { ...claim, metadata: bad }), 400, 'VALIDATION_FAILED')
    expect((await w.on(task, 'claim', { ...claim, metadata })).status).toBe(200)
    expect((await w.read(task)).holder).toMatchObject({ agent: 'alpha', metadata })
    const [assigned] = await w.happens('task_assigned')
    expect(assigned!.payload).toMatchObject({ agent: 'alpha', metadata })
    await w.on(task, 'release', fence('s-alpha', 1))
    const [next] = (await w.next({ agent: 'beta', session: 's-beta' })).claims
    expect(next).toMatchObject({ taskId: task.id })
    expect((await w.read(task)).holder).not.toHaveProperty('metadata')
  })

  test('says in the log what kind of agent has it and with which model, where that is known', async () => {
    const w = await workspace()
    const claimedBy = async (agent: string) => {
      const task = await w.make()
      expect((await w.on(task, 'claim', { agent, session: `s-${agent}` })).status).toBe(200)
      const made = await w.happens('task_assigned')
      return made.find(({ taskId }) => taskId === task.id)!.payload
    }
    await w.call('PUT', '/agents/opus', { name: 'Opus', model: 'claude-opus-4-5' })
    expect(await claimedBy('opus')).toMatchObject({ agentType: 'roster', model: 'claude-opus-4-5' })
    // Baton knows nothing of an agent that only claims.
    const stranger = await claimedBy('stranger')
    expect(stranger).not.toHaveProperty('agentType')
    expect(stranger).not.toHaveProperty('model')
  })

  test('that asks for no lease gets one that fits the estimate of the task, and never more than the workspace allows', async () => {
    const w = await workspace({ maxLeaseSeconds: 3_000 })
    const leaseOf = async (minutes: number | undefined, more: Json = {}) => {
      const task = await w.make({ ...(minutes && { estimatedDurationMinutes: minutes }) })
      const claimed = await w.on(task, 'claim', { agent: 'alpha', session: 's', ...more })
      expect(claimed.status).toBe(200)
      const made = await w.happens('task_assigned')
      return made.find(({ taskId }) => taskId === task.id)!.payload.leaseMs
    }
    const usual = await leaseOf(undefined)
    expect(await leaseOf(40)).toBe(40 * 60_000)
    expect(await leaseOf(600)).toBe(3_000_000)
    expect(await leaseOf(0.05)).toBe(usual)
    expect(await leaseOf(40, { leaseSeconds: 120 })).toBe(120_000)
  })
})

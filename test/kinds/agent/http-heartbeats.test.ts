import { describe, expect, test } from 'vitest'
import {
  expectRefusal,
  fence,
  type Json,
  openWorkspace,
  type Task,
  useServer,
  type Workspace,
} from '../../support/http-workspace.ts'
import { superuser, until } from '../../support/nodes.ts'

/** Heartbeats, floods of them, and what their absence costs. */

const { served, workspace } = useServer()
const put = (w: Workspace, slug: string, body: Json = {}) => w.call('PUT', `/agents/${slug}`, body)
const heartbeat = (w: Workspace, slug = 'alpha', body?: Json) =>
  w.call('POST', `/agents/${slug}/heartbeat`, body)
const health = async (w: Workspace, slug = 'alpha') => (await w.call('GET', `/agents/${slug}/health`)).body
const stateOf = async (w: Workspace, slug = 'alpha') => (await w.call('GET', `/agents/${slug}`)).body.state
const sql = <T = Json>(text: string, values: unknown[] = []): Promise<T[]> =>
  superuser(served().databaseUrl, async (client) => (await client.query(text, values)).rows)
/** The leases of these tasks have only so much of their 300 seconds left. */
const leaseLeft = (tasks: readonly Task[], seconds: number) =>
  sql(
    `update baton.tasks set lease_expires_at = clock_timestamp() + $2 * interval '1 s' where uuid = any($1::uuid[])`,
    [tasks.map(({ id }) => id), seconds],
  )
const inMs = (ms: number) => new Date(Date.now() + ms).toISOString()

describe('a heartbeat', () => {
  test('reports the agent’s health, and is answered with its status and what it holds', async () => {
    const w = await workspace()
    await put(w, 'alpha')
    const task = await w.held()
    const reported = {
      status: 'degraded',
      session: 's-alpha',
      currentTaskId: task.id,
      progressPercent: 42.5,
      currentStep: 'writing tests',
      memoryMb: 512,
      cpuPercent: 180,
      metadata: { tokens: 12_000 },
    }
    const answer = await heartbeat(w, 'alpha', reported)
    expect(answer).toMatchObject({
      status: 200,
      body: {
        agent: 'alpha',
        state: 'running',
        leaving: false,
        claims: [{ taskId: task.id, generation: 1, session: 's-alpha', state: 'assigned', attempt: 1 }],
        renewed: [],
      },
    })
    const { lastSeenAt, nextExpectedAt } = answer.body
    expect(Date.parse(nextExpectedAt) - Date.parse(lastSeenAt)).toBe(30_000)
    const shown = await health(w)
    expect(shown).toMatchObject({ ...reported, state: 'running', lastSeenAt, nextExpectedAt, activeTasks: 1 })
    expect(Date.parse(shown.staleAt) - Date.parse(lastSeenAt)).toBe(180_000)
    expect(shown.silentForMs).toBeGreaterThanOrEqual(0)
  })

  test('needs no body, and may use the agent’s id', async () => {
    const w = await workspace()
    const { id } = (await put(w, 'alpha')).body
    const events = await w.events()
    for (const name of ['alpha', id]) expect((await heartbeat(w, name)).body.agent).toBe('alpha')
    expect(await health(w)).toMatchObject({ status: 'healthy', progressPercent: null })
    expect(await w.events(), 'nothing happened').toEqual(events)
  })
  test('of another workspace’s agent of that name has no effect here', async () => {
    const [w, elsewhere] = [await workspace(), await workspace()]
    for (const one of [w, elsewhere]) await put(one, 'alpha')
    const before = await health(w)
    await until(async () => {
      await heartbeat(elsewhere, 'alpha', { currentStep: 'theirs' })
      return (await health(elsewhere)).lastSeenAt > before.lastSeenAt
    })
    expect(await health(w)).toMatchObject({ lastSeenAt: before.lastSeenAt, currentStep: null })
  })

  test.each([
    ['progressPercent', 101],
    ['progressPercent', -1],
    ['memoryMb', -0.1],
    ['cpuPercent', -1],
    ['status', 'stale'],
    ['status', 'unknown'],
    ['sentAt', 'yesterday'],
    ['sentAt', 1],
    ['currentTaskId', 'x'],
    ['currentStep', 'x'.repeat(2_001)],
    ['currentStep', 'a\u0000b'],
    ['metadata', ['x']],
    ['nonsense', 1],
  ])('with %s %j is refused by name', async (field, value) => {
    const w = await workspace()
    await put(w, 'alpha')
    const refused = await heartbeat(w, 'alpha', { [field]: value })
    expectRefusal(refused, 400, 'VALIDATION_FAILED')
    expect(refused.body.errors[0].field).toBe(field)
    expect((await health(w)).currentStep).toBeNull()
  })

  test('from the future is refused, a clock that is a little ahead is not', async () => {
    const w = await workspace()
    await put(w, 'alpha')
    const ahead = await heartbeat(w, 'alpha', { sentAt: inMs(90_000) })
    expectRefusal(ahead, 400, 'VALIDATION_FAILED', { errors: [{ field: 'sentAt' }] })
    expect((await heartbeat(w, 'alpha', { sentAt: inMs(30_000) })).status).toBe(200)
  })

  test('that was overtaken by a later one is refused, and changes nothing', async () => {
    const w = await workspace()
    await put(w, 'alpha')
    await heartbeat(w, 'alpha', { sentAt: inMs(-5_000), currentStep: 'later' })
    const sentAt = inMs(-10_000)
    await until(async () => {
      const late = await heartbeat(w, 'alpha', { sentAt, currentStep: 'earlier' })
      expectRefusal(late, 409, 'OUT_OF_ORDER')
      return true
    })
    expect((await health(w)).currentStep).toBe('later')
  })

  test('that is invalid does not fail others in the same batch', async () => {
    const w = await workspace()
    await put(w, 'alpha')
    for (let round = 0; round < 5; round++) {
      const [first, right, wrong, after] = await Promise.all([
        heartbeat(w, 'alpha'),
        heartbeat(w, 'alpha', { currentStep: 'right' }),
        heartbeat(w, 'alpha', { sentAt: inMs(3_600_000) }),
        heartbeat(w, 'alpha', { sentAt: new Date().toISOString() }),
      ])
      expect([first.status, right.status, wrong.status, after.status], JSON.stringify(right.body)).toEqual([
        ...[200, 200, 400, 200],
      ])
    }
  })

  test('renews leases that are past 40 %, those of its session if it names one', async () => {
    const w = await workspace()
    await put(w, 'alpha', { maxConcurrentTasks: null })
    const [one, other, young] = [await w.make(), await w.make(), await w.make()]
    for (const [task, session] of [
      [one, 's-1'],
      [other, 's-2'],
      [young, 's-1'],
    ] as const)
      await w.claim(task, 'alpha', { session })
    await leaseLeft([one, other], 170)
    const named = await heartbeat(w, 'alpha', { session: 's-1' })
    expect(named.body.renewed).toMatchObject([{ taskId: one.id, generation: 1, ttlMs: 300_000 }])
    expect(named.body.claims).toHaveLength(3)
    const all = await until(async () => {
      const { body } = await heartbeat(w, 'alpha')
      return body.renewed.length > 0 && body
    })
    expect(all.renewed).toMatchObject([{ taskId: other.id }])
    expect(await w.count('claim_renewed')).toBe(2)
  })
})

describe('a flood of heartbeats', () => {
  const sizeOf = async (table: string) =>
    (await sql<{ bytes: number }>(`select pg_total_relation_size($1)::int as bytes`, [`baton.${table}`]))[0]!
      .bytes

  test('is answered, stores only the last one, and does not delay claims', {
    timeout: 120_000,
  }, async () => {
    const w = await workspace({ maxConcurrentClaims: 10_000 })
    const count = 5
    for (let i = 0; i < count; i++) await put(w, `a-${i}`, { coordinatorEnabled: false })
    await heartbeat(w, 'a-0')
    const tasks = await Promise.all(Array.from({ length: 120 }, () => w.make()))
    const claimAll = async (some: readonly Task[]) => {
      for (const task of some) expect((await w.claim(task, 'claimant')).status).toBe(200)
    }
    await claimAll(tasks.slice(0, 80))
    const before = { health: await sizeOf('agent_health'), events: await sizeOf('events') }
    // Of this workspace alone: what other tests left on this server continues.
    const { id } = (await w.call('GET', '/agents/a-0')).body
    const own = '(select workspace_id from baton.agents where agent_id = $1)'
    const eventsSoFar = async () => {
      const text = `select count(*)::int as n from baton.events where workspace_id = ${own}`
      return (await sql<{ n: number }>(text, [id]))[0]!.n
    }
    const eventsBefore = await eventsSoFar()
    // For as long as there are claims to make: if heartbeats delayed claims, they would never end.
    let isOver = false
    const flood = Promise.all(
      Array.from({ length: 20 }, async (_, i) => {
        for (let n = 0; n < 5 || !isOver; n++) {
          const answer = await heartbeat(w, `a-${i % count}`, { currentStep: `step ${n}` })
          expect(answer.status).toBe(200)
        }
      }),
    )
    await claimAll(tasks.slice(80))
    isOver = true
    await flood
    await heartbeat(w, 'a-0', { currentStep: 'the last step' })
    const claimed = 40
    expect((await eventsSoFar()) - eventsBefore).toBeLessThanOrEqual(claimed + 2)
    expect(await sizeOf('agent_health')).toBeLessThanOrEqual(before.health + 64 * 1024)
    const rows = await sql(`select slug from baton.agent_health where workspace_id = ${own}`, [id])
    expect(rows).toHaveLength(count)
    expect((await health(w, 'a-0')).currentStep).toBe('the last step')
  })

  test('within a moment causes a handful of writes, and all are answered', async () => {
    const w = await workspace()
    await put(w, 'alpha')
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, i) => heartbeat(w, 'alpha', { progressPercent: i })),
    )
    expect(answers.every(({ status }) => status === 200)).toBe(true)
    const writes = new Set(answers.map(({ body }) => body.lastSeenAt))
    expect(writes.size).toBeLessThan(30)
  })
})

describe('an agent that goes silent', () => {
  const quick = { heartbeatIntervalSeconds: 1, staleThresholdSeconds: 1, maxConcurrentTasks: null }

  test('with work loses it to others, long before its leases end; a heartbeat brings it back', async () => {
    const w = await workspace()
    await put(w, 'alpha', quick)
    const tasks = [await w.held(), await w.held()]
    await heartbeat(w)
    const [stale] = await w.happens('agent_stale')
    expect(stale).toMatchObject({ actor: 'system', payload: { agent: 'alpha', claims: 2 } })
    expect(stale!.payload.silentMs).toBeGreaterThanOrEqual(1_000)
    const lost = await w.happens('task_agent_lost', 2)
    expect(lost.map(({ taskId }) => taskId).toSorted()).toEqual(tasks.map(({ id }) => id).toSorted())
    expect(await stateOf(w)).toBe('error')
    expect(await health(w)).toMatchObject({ status: 'stale', activeTasks: 0 })
    for (const { taskId, at } of lost) {
      const task = await w.read({ id: taskId! })
      expect(task).toMatchObject({ state: 'awaiting_retry', attempt: 1, holder: null })
      const wait = Date.parse(task.dueAt) - Date.parse(at)
      expect(wait).toBeGreaterThanOrEqual(7_500)
      expect(wait).toBeLessThanOrEqual(12_500)
      expect((await w.read({ id: taskId! }, '/claims')).items).toMatchObject([
        { state: 'expired', releaseReason: 'AGENT_LOST' },
      ])
    }
    expectRefusal(await w.on(tasks[0]!, 'renew', fence('s-alpha', 1)), 409, 'ALREADY_EXPIRED')
    expect((await heartbeat(w)).body).toMatchObject({ state: 'idle', claims: [] })
    expect(await w.happens('agent_recovered')).toMatchObject([{ payload: { after: 'error' } }])
  })

  test('without work is offline, and back with its next heartbeat', async () => {
    const w = await workspace()
    await put(w, 'alpha', { ...quick, coordinatorEnabled: false })
    await heartbeat(w)
    await until(async () => (await stateOf(w)) === 'offline')
    expect((await heartbeat(w)).body.state).toBe('idle')
    expect(await w.happens('agent_recovered')).toMatchObject([{ payload: { after: 'offline' } }])
  })

  test('and never sent a heartbeat, or is not monitored, keeps what it holds as long as its leases last', async () => {
    const w = await workspace()
    await put(w, 'alpha', quick)
    await put(w, 'beta', { ...quick, coordinatorEnabled: false })
    await heartbeat(w, 'beta')
    const [own, theirs] = [await w.held(), await w.make()]
    await w.claim(theirs, 'beta')
    for (const slug of ['alpha', 'beta']) await until(async () => (await stateOf(w, slug)) === 'offline')
    for (const task of [own, theirs]) expect((await w.read(task)).state).toBe('assigned')
    expect(await w.happens('agent_stale', 2)).toMatchObject([
      { payload: { claims: 0 } },
      { payload: { claims: 0 } },
    ])
  })

  test('is not one that writes for the work it has started', async () => {
    const w = await workspace()
    await put(w, 'alpha', { ...quick, staleThresholdSeconds: 2 })
    const task = await w.held()
    await w.on(task, 'start', fence('s-alpha', 1))
    await heartbeat(w)
    const other = await openWorkspace(served())
    for (let round = 0; round < 2; round++) {
      // While another is lost after the same silence, this one keeps working.
      await put(other, `other-${round}`, { ...quick, staleThresholdSeconds: 2 })
      await heartbeat(other, `other-${round}`)
      await until(async () => {
        expect((await w.on(task, 'progress', { ...fence('s-alpha', 1), percent: round })).status).toBe(200)
        return (await stateOf(other, `other-${round}`)) === 'offline'
      })
    }
    expect(await stateOf(w)).toBe('running')
    expect(await w.count('agent_stale')).toBe(0)
  })

  test('is lost as soon as a lowered threshold says so', async () => {
    const w = await workspace()
    await put(w, 'alpha', { maxConcurrentTasks: null })
    const task = await w.held()
    await heartbeat(w)
    expect(await stateOf(w)).toBe('running')
    // From 180.
    await put(w, 'alpha', { staleThresholdSeconds: 1 })
    await w.reaches(task, 'awaiting_retry')
    expect(await stateOf(w)).toBe('error')
  })

  test('while it finishes its work is terminated for the reason given with the request', async () => {
    const w = await workspace()
    await put(w, 'alpha', quick)
    await w.held()
    await heartbeat(w)
    await w.post('/agents/alpha/terminate', { reason: 'too dear' })
    const [ended] = await w.happens('agent_terminated')
    expect(ended!.payload.reason).toBe('too dear')
  })
})

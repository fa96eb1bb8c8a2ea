import { describe, expect, test } from 'vitest'
import {
  expectRefusal,
  fence,
  type Json,
  KEY,
  type Task,
  useServer,
  type Workspace,
} from '../../support/http-workspace.ts'
import { superuser, until } from '../../support/nodes.ts'

/** Workers (ADE 4): sessions with a capacity, which lose their claims when they go silent. */

const { served, workspace } = useServer()
const by = (worker: string, more: Json = {}) => ({ agent: 'alpha', session: worker, ...more })
const claimBy = (w: Workspace, task: Task, worker: string) => w.on(task, 'claim', by(worker))
const register = async (w: Workspace, worker: string, capacity: number, more: Json = {}) =>
  w.post('/workers', { worker, agent: 'alpha', capacity, ...more })
const show = async (w: Workspace, worker: string) => (await w.call('GET', `/workers/${worker}`)).body
const makeAll = async (w: Workspace, count: number, more: Json = {}): Promise<Task[]> =>
  (await w.post('/tasks/batch', { tasks: Array.from({ length: count }, () => ({ title: 'x', ...more })) }))
    .body.items

describe('a worker', () => {
  test('registers with its capacity and capabilities, and is found by its name', async () => {
    const w = await workspace()
    const made = await register(w, 'w-1', 2, {
      capabilities: ['rust', 'go', 'rust'],
      userId: 'ann',
      heartbeatSeconds: 30,
    })
    expect(made).toMatchObject({
      status: 201,
      body: {
        session: 'w-1',
        agent: 'alpha',
        userId: 'ann',
        state: 'active',
        capacity: 2,
        capabilities: ['go', 'rust'],
        silenceSeconds: 30,
        endedAt: null,
      },
    })
    const { lastSeenAt, expiresAt } = made.body
    expect(Date.parse(expiresAt) - Date.parse(lastSeenAt)).toBe(30_000)
    expect(await show(w, 'w-1')).toEqual(made.body)
    expect(await w.happens('worker_registered')).toMatchObject([
      { payload: { session: 'w-1', capacity: 2, capabilities: ['go', 'rust'] } },
    ])
  })

  test('that registers again is the same one with the new values', async () => {
    const w = await workspace()
    const first = await register(w, 'w-1', 2, { userId: 'ann' })
    const again = await w.post('/workers', { worker: 'w-1', capacity: 5 })
    expect(again).toMatchObject({
      status: 200,
      body: { id: first.body.id, capacity: 5, userId: 'ann', agent: 'alpha' },
    })
    expect((await w.call('GET', '/workers')).body.items).toHaveLength(1)
  })

  test('without a name gets one, the same one under the same idempotency key', async () => {
    const w = await workspace()
    const make = (key: string) => w.post('/workers', { capacity: 1 }, { 'idempotency-key': key })
    const [one, again, other] = [await make('k-1'), await make('k-1'), await make('k-2')]
    expect([one.status, again.status, other.status]).toEqual([201, 201, 201])
    expect(again.body.session).toBe(one.body.session)
    expect(other.body.session).not.toBe(one.body.session)
  })

  test('is listed with the others, newest first; sessions that are no workers are not', async () => {
    const w = await workspace()
    for (const name of ['w-1', 'w-2', 'w-3']) await register(w, name, 1)
    await w.post('/sessions', { session: 's-1' })
    const { items } = (await w.call('GET', '/workers')).body
    expect(items.map(({ session }: Json) => session)).toEqual(['w-3', 'w-2', 'w-1'])
    for (const [method, path] of [
      ['GET', ''],
      ['DELETE', ''],
      ['POST', '/heartbeat'],
      ['POST', '/drain'],
    ] as const)
      for (const name of ['s-1', 'nobody'])
        expectRefusal(await w.call(method, `/workers/${name}${path}`), 404, 'NOT_FOUND')
  })

  test('gets what its own capabilities allow', async () => {
    const w = await workspace()
    await register(w, 'w-1', 9, { capabilities: ['rust'] })
    const [first, second] = await makeAll(w, 2, { requiredCapabilities: ['rust'] })
    expectRefusal(await w.claim(first!), 409, 'MISSING_CAPABILITY')
    expect((await claimBy(w, first!, 'w-1')).body.reason).toBe('GRANTED')
    expect((await w.next(by('w-1'))).claims).toMatchObject([{ taskId: second!.id }])
  })

  test('keeps all it holds with a heartbeat, and gets the list of it', async () => {
    const w = await workspace()
    const { expiresAt: before } = (await register(w, 'w-1', 2)).body
    const tasks = await makeAll(w, 2)
    for (const task of tasks) await claimBy(w, task, 'w-1')
    const heartbeat = await until(async () => {
      const { body } = await w.call('POST', '/workers/w-1/heartbeat')
      return body.expiresAt > before && body
    })
    expect(heartbeat).toMatchObject({ worker: 'w-1', state: 'active', lost: [] })
    expect(heartbeat.renewed).toMatchObject(
      tasks.map(({ id }) => ({ taskId: id, generation: 1, reason: 'RENEWED', ttlMs: 300_000 })),
    )
  })

  test('that drains gets nothing new, keeps what it holds and finishes it', async () => {
    const w = await workspace()
    await register(w, 'w-1', 9)
    const [held, waiting] = await makeAll(w, 2)
    await claimBy(w, held!, 'w-1')
    for (let twice = 0; twice < 2; twice++)
      expect((await w.call('POST', '/workers/w-1/drain')).body).toMatchObject({ state: 'draining', holds: 1 })
    expect(await w.count('worker_draining')).toBe(1)
    expectRefusal(await claimBy(w, waiting!, 'w-1'), 409, 'WORKER_DRAINING')
    expectRefusal(await w.post('/claims/next', by('w-1')), 409, 'WORKER_DRAINING')
    const batch = await w.post('/claims/batch', by('w-1', { taskIds: [waiting!.id] }))
    expect(batch.body.results).toMatchObject([{ reason: 'WORKER_DRAINING', status: 409 }])
    expect((await w.call('POST', '/workers/w-1/heartbeat')).body).toMatchObject({
      state: 'draining',
      renewed: [{ taskId: held!.id }],
    })
    const done = await w.on(held!, 'submit', { ...fence('w-1', 1), result: 1 })
    expect(done.body.reason).toBe('ACCEPTED')
    expect((await register(w, 'w-1', 9)).body.state, 'by registering it gets work again').toBe('active')
    expect((await claimBy(w, waiting!, 'w-1')).body.reason).toBe('GRANTED')
  })

  test('that is unregistered releases all it holds without a spent attempt, and comes back only by registering', async () => {
    const w = await workspace()
    await register(w, 'w-1', 9)
    const tasks = await makeAll(w, 2)
    for (const task of tasks) await claimBy(w, task, 'w-1')
    expect((await w.call('DELETE', '/workers/w-1?reason=scaled%20down')).status).toBe(204)
    expect(await show(w, 'w-1')).toMatchObject({ state: 'ended', endReason: 'scaled down', expiresAt: null })
    expect(await w.happens('session_ended')).toMatchObject([
      { payload: { session: 'w-1', reason: 'scaled down' } },
    ])
    for (const task of tasks) {
      expect(await w.read(task)).toMatchObject({ state: 'queued', attempt: 0, generation: 1, holder: null })
      expect((await w.read(task, '/claims')).items).toMatchObject([{ state: 'released', agent: 'alpha' }])
    }
    expectRefusal(await claimBy(w, tasks[0]!, 'w-1'), 409, 'WORKER_GONE')
    expectRefusal(await w.call('POST', '/workers/w-1/heartbeat'), 409, 'WORKER_GONE')
    expectRefusal(await w.call('POST', '/workers/w-1/drain'), 409, 'WRONG_STATE')
    expect((await w.call('DELETE', '/workers/w-1?reason=again')).status, 'twice is once').toBe(204)
    expect((await show(w, 'w-1')).endReason).toBe('scaled down')
    expect(await register(w, 'w-1', 9)).toMatchObject({
      status: 200,
      body: { state: 'active', endReason: null },
    })
    expect((await claimBy(w, tasks[0]!, 'w-1')).body).toMatchObject({
      reason: 'GRANTED',
      claim: { generation: 2 },
    })
  })
})

describe('the capacity of a worker', () => {
  test('is never exceeded: by id, from the queue, in a batch and by many claims at once', async () => {
    const w = await workspace()
    await register(w, 'w-1', 2)
    const tasks = await makeAll(w, 12)
    const answers = await Promise.all(tasks.map((task) => claimBy(w, task, 'w-1')))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(2)
    for (const answer of answers.filter(({ status }) => status !== 200))
      expectRefusal(answer, 409, 'NO_CAPACITY', { capacity: 2, held: 2 })
    const left = tasks.filter((_task, i) => answers[i]!.status !== 200)
    expectRefusal(await w.post('/claims/next', by('w-1')), 409, 'NO_CAPACITY')
    await register(w, 'w-2', 3)
    const batch = await w.post('/claims/batch', by('w-2', { taskIds: left.slice(0, 4).map(({ id }) => id) }))
    expect(batch.body.results.map(({ reason }: Json) => reason)).toEqual([
      ...['GRANTED', 'GRANTED', 'GRANTED'],
      'NO_CAPACITY',
    ])
    await register(w, 'w-3', 3)
    expect((await w.next(by('w-3', { limit: 10 }))).claims).toHaveLength(3)
  })

  test('is free again when a task is done, and grows by registering', async () => {
    const w = await workspace()
    await register(w, 'w-1', 1)
    const [first, second, third] = await makeAll(w, 3)
    await claimBy(w, first!, 'w-1')
    expectRefusal(await claimBy(w, second!, 'w-1'), 409, 'NO_CAPACITY')
    await w.on(first!, 'submit', { ...fence('w-1', 1), result: 1 })
    expect((await claimBy(w, second!, 'w-1')).body.reason).toBe('GRANTED')
    expectRefusal(await claimBy(w, third!, 'w-1'), 409, 'NO_CAPACITY')
    await register(w, 'w-1', 2)
    expect((await claimBy(w, third!, 'w-1')).body.reason).toBe('GRANTED')
  })

  test('does not apply to sessions that are no workers', async () => {
    const w = await workspace()
    await makeAll(w, 50)
    expect((await w.next({ limit: 50 })).claims).toHaveLength(50)
  })
})

describe('a worker that goes silent', () => {
  /** A worker whose silence is noticed after a second, with so many tasks claimed. */
  async function silent(w: Workspace, count: number, more: Json = {}): Promise<Task[]> {
    const tasks = await makeAll(w, count, more)
    await register(w, 'w-1', count, { heartbeatSeconds: 1 })
    const { body } = await w.post('/claims/batch', by('w-1', { taskIds: tasks.map(({ id }) => id) }))
    expect(body.results.map(({ reason }: Json) => reason)).toEqual(Array(count).fill('GRANTED'))
    return tasks
  }

  test('loses what it holds, long before its leases end, and all of it is recorded', async () => {
    const w = await workspace()
    const tasks = await silent(w, 2)
    const [lost] = await w.happens('worker_lost')
    expect(lost).toMatchObject({ actor: 'system', payload: { session: 'w-1', claims: 2 } })
    expect(lost!.payload.silentMs).toBeGreaterThanOrEqual(1_000)
    expect(await show(w, 'w-1')).toMatchObject({ state: 'lost', endReason: 'silent', expiresAt: null })
    const taken = await w.happens('task_worker_lost', 2)
    expect(taken.map(({ taskId }) => taskId).sort()).toEqual(tasks.map(({ id }) => id).sort())
    for (const { taskId, payload, at } of taken) {
      expect(payload).toMatchObject({
        agent: 'alpha',
        session: 'w-1',
        attempt: 1,
        silentMs: lost!.payload.silentMs,
      })
      const task = await w.read({ id: taskId! })
      expect(task).toMatchObject({ state: 'awaiting_retry', attempt: 1, holder: null })
      const waitMs = Date.parse(task.dueAt) - Date.parse(at)
      expect(
        Math.abs(waitMs - 10_000),
        'retried as after any crash, but not all at once',
      ).toBeLessThanOrEqual(2_500)
      expect((await w.read({ id: taskId! }, '/claims')).items).toMatchObject([
        { generation: 1, state: 'expired', releaseReason: 'WORKER_LOST' },
      ])
    }
    expect((await w.call('GET', '/limits')).body.usage).toEqual({ activeClaims: 0, activeSessions: 0 })
    expectRefusal(await w.call('POST', '/workers/w-1/heartbeat'), 409, 'WORKER_GONE')
    expectRefusal(await w.on(tasks[0]!, 'renew', fence('w-1', 1)), 409, 'ALREADY_EXPIRED')
  })

  test('may still submit its result while no one has claimed since, and not after', async () => {
    const w = await workspace()
    const [untouched, taken] = await silent(w, 2)
    await w.happens('task_worker_lost', 2)
    const late = await w.on(untouched!, 'submit', { ...fence('w-1', 1), result: 'late but good' })
    expect(late).toMatchObject({ status: 200, body: { reason: 'ACCEPTED', task: { state: 'completed' } } })
    expect(await w.happens('task_completed')).toMatchObject([{ payload: { late: true, session: 'w-1' } }])
    await w.on(taken!, 'retry')
    await w.claim(taken!, 'beta')
    const later = await w.on(taken!, 'submit', { ...fence('w-1', 1), result: 'too late' })
    expectRefusal(later, 409, 'STALE_GENERATION', { workLost: true, currentGeneration: 2 })
  })

  test('leaves a dead letter when the task has no attempt left', async () => {
    const w = await workspace()
    const [task] = await silent(w, 1, { maxRetries: 0 })
    await w.reaches(task!, 'failed')
    expect((await w.call('GET', '/dead-letters')).body.items).toMatchObject([
      { id: task!.id, failureClass: 'infrastructure', error: 'The worker went silent.', attempt: 1 },
    ])
  })

  test('is not one that heartbeats, even if another goes silent in the meantime', async () => {
    const w = await workspace()
    await register(w, 'beating', 1, { heartbeatSeconds: 3 })
    const [kept] = await makeAll(w, 1)
    await claimBy(w, kept!, 'beating')
    for (let round = 1; round <= 4; round++) {
      await register(w, `silent-${round}`, 1, { heartbeatSeconds: 1 })
      await until(async () => {
        expect((await w.call('POST', '/workers/beating/heartbeat')).body.renewed).toHaveLength(1)
        return (await show(w, `silent-${round}`)).state === 'lost'
      })
    }
    expect(await show(w, 'beating')).toMatchObject({ state: 'active' })
    expect(await w.read(kept!)).toMatchObject({ state: 'assigned', generation: 1 })
  })
})

describe('stalled work', () => {
  const requeue = async (w: Workspace, body?: Json) =>
    (await w.call('POST', '/workers/requeue-stalled', body)).body.requeued
  const agoMs = (task: Task, ms: number) =>
    superuser(served().databaseUrl, (client) =>
      client.query(`update baton.tasks set updated_at = updated_at - $2 * interval '1 ms' where uuid = $1`, [
        task.id,
        ms,
      ]),
    )

  test('is revoked from holders without a sign of life for so long, and from no one else', async () => {
    const w = await workspace()
    const [quiet, renewed, alive] = [await w.held(), await w.held(), await w.held()]
    await agoMs(quiet, 61_000)
    await agoMs(renewed, 61_000)
    await w.on(renewed, 'renew', fence('s-alpha', 1))
    expect(await requeue(w, { silentMs: 3_600_000 })).toBe(0)
    expect(await requeue(w), 'a minute by default').toBe(1)
    expect(await w.read(quiet)).toMatchObject({ state: 'awaiting_retry', attempt: 1, holder: null })
    for (const task of [renewed, alive]) expect((await w.read(task)).state).toBe('assigned')
    const [stalled] = await w.happens('task_stalled')
    expect(stalled).toMatchObject({
      taskId: quiet.id,
      ...{ actor: expect.stringMatching(KEY), actorName: 'owner' },
      payload: { agent: 'alpha', attempt: 1 },
    })
    expect(stalled!.payload.silentMs).toBeGreaterThanOrEqual(61_000)
    expect((await w.read(quiet, '/claims')).items).toMatchObject([
      { state: 'expired', releaseReason: 'STALLED' },
    ])
    expect(await requeue(w, { silentMs: 60_000 }), 'once').toBe(0)
    const late = await w.on(quiet, 'submit', { ...fence('s-alpha', 1), result: 'I was only slow' })
    expect(late.body.reason).toBe('ACCEPTED')
  })

  test('of a whole fleet is revoked at once, and tasks that wait for dead letters among it continue', async () => {
    const w = await workspace({ maxConcurrentClaims: 2_000 })
    const tasks = await makeAll(w, 1_100, { maxRetries: 0 })
    const after = await w.make({ dependsOn: [tasks[0]!.id], triggerRule: 'all_done' })
    for (let claimed = 0; claimed < 1_100; ) claimed += (await w.next({ limit: 550 })).claims.length
    expect(await requeue(w, { silentMs: 0 })).toBe(1_100)
    await w.reaches(after, 'queued')
    expect((await w.call('GET', '/limits')).body.usage.activeClaims).toBe(0)
  })
})

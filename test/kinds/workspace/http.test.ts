import { describe, expect, test } from 'vitest'
import { PostgresStore } from '../../../src/store/store.ts'
import {
  expectRefusal,
  fence,
  type Json,
  KEY,
  type Task,
  useServer,
  type Workspace,
} from '../../support/http-workspace.ts'
import { superuser } from '../../support/nodes.ts'

/** Limits of a workspace (Coditect 7.2): each limit is shown, holds, and is never set below what is in use. */

const { served, workspace } = useServer()
const limitsOf = async (w: Workspace) => (await w.call('GET', '/limits')).body
/** As whoever runs the server; what owners may change themselves is tested in hostile-sessions. */
const change = (w: Workspace, limits: Json) => w.setLimits(limits)

const CODITECT_7_2 = {
  maxConcurrentClaims: 100,
  maxLeaseSeconds: 3_600,
  minLeaseSeconds: 30,
  maxGenerationsPerTask: 100,
  claimHistoryRetentionDays: 90,
  maxResultBytes: 10 * 1_024 * 1_024,
  maxActiveSessions: 50,
}

const MOSAIC_AND_AUTOMATOS = {
  assignTimeoutSeconds: 120,
  stallTimeoutSeconds: null,
  verifyTimeoutSeconds: 180,
  hangGraceSeconds: 1_800,
  hangAbortSeconds: 600,
}

test('a new workspace has the limits of Coditect 7.2, and shows how much of them is in use', async () => {
  const w = await workspace()
  expect(await limitsOf(w)).toEqual({
    ...CODITECT_7_2,
    ...MOSAIC_AND_AUTOMATOS,
    lateResults: true,
    queueOrder: 'priority',
    timeZone: 'UTC',
    branchRetentionDays: 30,
    usage: { activeClaims: 0, activeSessions: 0 },
  })
  const [task] = [await w.held(), await w.held(), await w.held()]
  await w.post('/sessions', { session: 's-1' })
  await w.post('/workers', { capacity: 1 })
  expect((await limitsOf(w)).usage).toEqual({ activeClaims: 3, activeSessions: 2 })
  await w.on(task, 'submit', { ...fence('s-alpha', 1), result: 1 })
  await w.call('DELETE', '/sessions/s-1')
  expect((await limitsOf(w)).usage).toEqual({ activeClaims: 2, activeSessions: 1 })
})

test('a change is visible at once, is recorded and leaves the rest; the enterprise’s figures may be set', async () => {
  const w = await workspace()
  const enterprise = {
    maxConcurrentClaims: 1_000,
    maxLeaseSeconds: 7_200,
    minLeaseSeconds: 30,
    maxGenerationsPerTask: 1_000,
    claimHistoryRetentionDays: 365,
    maxResultBytes: 100 * 1_024 * 1_024,
    maxActiveSessions: 500,
  }
  expect(await change(w, enterprise)).toMatchObject({
    status: 200,
    body: { ...enterprise, lateResults: true },
  })
  expect(await limitsOf(w)).toMatchObject(enterprise)
  expect((await change(w, { maxActiveSessions: 7 })).body).toMatchObject({
    ...enterprise,
    maxActiveSessions: 7,
  })
  expect((await w.happens('limits_changed', 2))[1]).toMatchObject({
    // The key is of another workspace, so its name is not known here.
    ...{ actor: expect.stringMatching(KEY), actorName: null },
    payload: { changed: { maxActiveSessions: 7 } },
  })
})

describe('a limit holds:', () => {
  test('maxConcurrentClaims, for all concurrent claims, and a released one is free again', async () => {
    const w = await workspace({ maxConcurrentClaims: 3 })
    const tasks: Task[] = []
    for (let i = 0; i < 9; i++) tasks.push(await w.make())
    const answers = await Promise.all(tasks.map((task, i) => w.claim(task, `agent-${i}`)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(3)
    for (const answer of answers.filter(({ status }) => status !== 200))
      expectRefusal(answer, 409, 'LIMIT_REACHED', { limit: 'maxConcurrentClaims' })
    expect((await limitsOf(w)).usage.activeClaims).toBe(3)
    const held = answers.findIndex(({ status }) => status === 200)
    await w.on(tasks[held]!, 'release', fence(`s-agent-${held}`, 1))
    expect((await w.next()).claims).toHaveLength(1)
  })

  test('minLeaseSeconds and maxLeaseSeconds, for claims and renewals', async () => {
    const w = await workspace({ minLeaseSeconds: 40, maxLeaseSeconds: 50 })
    const task = await w.make()
    for (const leaseSeconds of [39, 51])
      expectRefusal(await w.claim(task, 'alpha', { leaseSeconds }), 400, 'LEASE_OUT_OF_RANGE')
    for (const [generation, leaseSeconds] of [
      [1, 40],
      [2, 50],
    ] as const) {
      expect((await w.claim(task, 'alpha', { leaseSeconds })).body.claim.ttlMs).toBe(leaseSeconds * 1_000)
      expectRefusal(
        await w.on(task, 'renew', { ...fence('s-alpha', generation), leaseSeconds: 51 }),
        400,
        'LEASE_OUT_OF_RANGE',
      )
      await w.on(task, 'release', fence('s-alpha', generation))
    }
  })

  test('maxGenerationsPerTask: a task claimed so often fails, and says so', async () => {
    const w = await workspace({ maxGenerationsPerTask: 3 })
    const task = await w.make({ maxRetries: 100 })
    for (let generation = 1; generation <= 3; generation++) {
      expect((await w.claim(task)).body.claim.generation).toBe(generation)
      await w.on(task, 'release', fence('s-alpha', generation))
    }
    expect(await w.read(task)).toMatchObject({ state: 'failed', generation: 3 })
    expect((await w.call('GET', '/dead-letters')).body.items).toMatchObject([{ id: task.id }])
    await w.on(task, 'retry')
    expectRefusal(await w.claim(task), 409, 'NOT_READY', { taskState: 'failed' })
    await change(w, { maxGenerationsPerTask: 4 })
    await w.on(task, 'retry')
    expect((await w.claim(task)).body.claim.generation).toBe(4)
  })

  test('maxResultBytes, to the byte', async () => {
    const w = await workspace({ maxResultBytes: 2_000 })
    const task = await w.held()
    const result = (bytes: number) => 'x'.repeat(bytes - 2)
    const submit = (bytes: number) => w.on(task, 'submit', { ...fence('s-alpha', 1), result: result(bytes) })
    expectRefusal(await submit(2_001), 413, 'RESULT_TOO_LARGE')
    expect((await submit(2_000)).body.reason).toBe('ACCEPTED')
  })

  test('maxActiveSessions, for sessions and workers', async () => {
    const w = await workspace({ maxActiveSessions: 1 })
    expect((await w.post('/sessions', { session: 's-1' })).status).toBe(201)
    for (const [path, body] of [
      ['/sessions', { session: 's-2' }],
      ['/workers', { worker: 'w-1', capacity: 1 }],
    ] as const)
      expectRefusal(await w.post(path, body), 409, 'LIMIT_REACHED', { limit: 'maxActiveSessions' })
  })

  test('claimHistoryRetentionDays: of finished tasks, older claims are deleted; results and the log stay', async () => {
    const [w, longRetention] = [await workspace(), await workspace({ claimHistoryRetentionDays: 365 })]
    /** A task with two generations, the first of them long ago. */
    const aged = async (of: Workspace, days: number, end: (task: Task) => Promise<unknown>) => {
      const task = await of.held()
      await of.on(task, 'release', fence('s-alpha', 1))
      await of.on(task, 'submit', { ...fence('s-alpha', 1), result: 'late' })
      await of.claim(task)
      await end(task)
      await age(task, 1, days)
      return task
    }
    const age = (task: Task, generation: number, days: number) =>
      superuser(served().databaseUrl, (client) =>
        client.query(
          `update baton.attempts c set acquired_at = c.acquired_at - $2 * interval '1 day', ended_at = c.ended_at - $2 * interval '1 day'
             from baton.tasks t where t.uuid = $1 and c.workspace_id = t.workspace_id and c.task_id = t.id and c.generation = $3`,
          [task.id, days, generation],
        ),
      )
    const complete = (of: Workspace) => (task: Task) =>
      of.on(task, 'submit', { ...fence('s-alpha', 2), result: 1 })
    const old = await aged(w, 91, complete(w))
    const young = await aged(w, 89, complete(w))
    const unfinished = await aged(w, 91, async () => undefined)
    const kept = await aged(longRetention, 91, complete(longRetention))
    const older = await aged(longRetention, 366, complete(longRetention))
    const before = [await w.read(old, '/results'), await w.read(old, '/events')]
    const applyRetention = async () => {
      const store = await PostgresStore.open(served().databaseUrl)
      await store.applyRetention().finally(() => store.close())
    }
    await applyRetention()
    const generations = async (of: Workspace, task: Task) =>
      (await of.read(task, '/claims')).items.map(({ generation }: Json) => generation)
    expect(await generations(w, old)).toEqual([2])
    expect(await generations(w, young)).toEqual([1, 2])
    expect(await generations(w, unfinished)).toEqual([1, 2])
    expect(await generations(longRetention, kept)).toEqual([1, 2])
    expect(await generations(longRetention, older)).toEqual([2])
    expect([await w.read(old, '/results'), await w.read(old, '/events')]).toEqual(before)
    // The claim that produced the accepted result is forgotten, too, and the result is not.
    await age(old, 2, 91)
    await applyRetention()
    expect(await generations(w, old)).toEqual([])
    const { items } = await w.read(old, '/results')
    // How long accepted work took is known by its claim; a rejected result keeps it.
    const forgotten = (result: Json) => (result.accepted ? { ...result, processingMs: null } : result)
    expect(items).toEqual(before[0]!.items.map(forgotten))
    expect(await w.read(old, '/events')).toEqual(before[1])
  })
})

describe('a limit below what is in use', () => {
  /** Three claims, two sessions, and a task at its third generation. */
  async function busy() {
    const w = await workspace()
    const task = await w.held()
    for (let generation = 1; generation < 3; generation++) {
      await w.on(task, 'release', fence('s-alpha', generation))
      await w.claim(task)
    }
    await w.held()
    await w.held()
    await w.post('/sessions', { session: 's-1' })
    await w.post('/workers', { capacity: 1 })
    return w
  }

  test('is refused, each by its name and number, and none of the change is made', async () => {
    const w = await busy()
    const before = await limitsOf(w)
    const refused = await change(w, {
      maxConcurrentClaims: 2,
      maxActiveSessions: 1,
      maxGenerationsPerTask: 2,
      maxResultBytes: 5_000,
    })
    expectRefusal(refused, 409, 'LIMIT_BELOW_USE')
    expect(refused.body.errors).toEqual([
      { field: 'maxConcurrentClaims', message: 'would be 2, and 3 are in use' },
      { field: 'maxActiveSessions', message: 'would be 1, and 2 are in use' },
      { field: 'maxGenerationsPerTask', message: 'would be 2, and 3 are in use' },
    ])
    for (const { field } of refused.body.errors) expect(refused.body.detail).toContain(field)
    expect(await limitsOf(w)).toEqual(before)
    expect(await w.count('limits_changed')).toBe(0)
    const one = await change(w, { maxActiveSessions: 1, maxConcurrentClaims: 50 })
    expect(
      one.body.errors.map(({ field }: Json) => field),
      'only what is too low',
    ).toEqual(['maxActiveSessions'])
  })

  test('may be equal to it', async () => {
    const w = await busy()
    const exact = { maxConcurrentClaims: 3, maxActiveSessions: 2, maxGenerationsPerTask: 3 }
    expect(await change(w, exact)).toMatchObject({ status: 200, body: exact })
    expectRefusal(await w.claim(await w.make()), 409, 'LIMIT_REACHED')
  })

  test('is allowed when what was in use has ended', async () => {
    const w = await busy()
    await w.call('DELETE', '/sessions/s-1')
    await w.call('DELETE', '/sessions/s-alpha')
    expect((await change(w, { maxConcurrentClaims: 1, maxActiveSessions: 1 })).status).toBe(200)
    expectRefusal(await change(w, { maxGenerationsPerTask: 2 }), 409, 'LIMIT_BELOW_USE')
    for (const { id } of (await w.call('GET', '/tasks?stateType=pending')).body.items)
      await w.on({ id }, 'cancel')
    expect((await change(w, { maxGenerationsPerTask: 2 })).status).toBe(200)
  })

  test('and leases with minimum above maximum are refused', async () => {
    const w = await workspace()
    expectRefusal(await change(w, { minLeaseSeconds: 3_601 }), 400, 'VALIDATION_FAILED')
    expectRefusal(await change(w, { minLeaseSeconds: 100, maxLeaseSeconds: 99 }), 400, 'VALIDATION_FAILED', {
      errors: [{ field: 'minLeaseSeconds' }],
    })
    expectRefusal(await change(w, { maxLeaseSeconds: 29 }), 400, 'VALIDATION_FAILED', {
      errors: [{ field: 'maxLeaseSeconds' }],
    })
  })
})

test('a change of limits is recorded with the key and the address it came from', async () => {
  const w = await workspace()
  await w.call('PATCH', '/limits', { maxActiveSessions: 40 })
  const [event] = (await w.events()).filter(({ type }: { type: string }) => type === 'limits_changed')
  const rows = await superuser(served().databaseUrl, async (client) => {
    const text = `select o.key_id as key, o.address, e.actor from baton.event_origins o
      join baton.events e using (workspace_id, seq) where e.type = 'limits_changed' and e.actor = $1`
    return (await client.query(text, [event.actor])).rows
  })
  expect(rows).toEqual([{ key: event.actor.slice('key:'.length), address: '127.0.0.1', actor: event.actor }])
})

import { describe, expect, test } from 'vitest'
import {
  expectRefusal,
  fence,
  inOneHour,
  type Json,
  KEY,
  type Task,
  useServer,
  type Workspace,
} from '../../support/http-workspace.ts'

/** Creating tasks: scheduled, with an expiry time, once per idempotency key, and many at a time. */

const { workspace } = useServer()
const inMs = (ms: number) => new Date(Date.now() + ms).toISOString()

describe('a task with an expiry time', () => {
  test('is cancelled when it is unclaimed by then, and its downstream tasks are skipped', async () => {
    const w = await workspace()
    const expiresAt = inMs(1_000)
    const task = await w.make({ expiresAt })
    expect(task).toMatchObject({ state: 'queued', expiresAt, dueAt: expiresAt })
    const waiting = await w.make({ dependsOn: [task.id] })
    const [expired] = await w.happens('task_expired')
    expect(expired).toMatchObject({
      taskId: task.id,
      actor: 'system',
      payload: { expiresAt: Date.parse(expiresAt) },
    })
    expect(Date.parse(expired!.at)).toBeGreaterThanOrEqual(Date.parse(expiresAt))
    expect(await w.read(task)).toMatchObject({ state: 'cancelled', stateType: 'terminal', dueAt: null })
    await w.reaches(waiting, 'skipped')
  })

  test('stays with a holder that claimed it in time', async () => {
    const w = await workspace()
    const expiresAt = inMs(1_500)
    const [held, released] = [await w.held({ expiresAt }), await w.held({ expiresAt })]
    const sibling = await w.make({ expiresAt })
    await w.reaches(sibling, 'cancelled')
    for (const task of [held, released]) expect((await w.read(task)).state).toBe('assigned')
    const done = await w.on(held, 'submit', { ...fence('s-alpha', 1), result: 1 })
    expect(done.body.task.state).toBe('completed')
    await w.on(released, 'release', fence('s-alpha', 1))
    await w.reaches(released, 'cancelled')
  })

  test('is not assigned after that time, even before upkeep removes it', async () => {
    const w = await workspace()
    const { items } = (
      await w.post('/tasks/batch', {
        tasks: [
          { title: 'past', expiresAt: inMs(-60_000) },
          { title: 'past too', expiresAt: inMs(-60_000) },
          { title: 'fresh', expiresAt: inOneHour() },
        ],
      })
    ).body
    const [next, byId] = await Promise.all([w.next({ limit: 3 }), w.claim(items[1], 'beta')])
    expect(next.claims.map(({ task }: { task: Json }) => task.title)).toEqual(['fresh'])
    expectRefusal(byId, 409, 'NOT_READY', { taskState: 'cancelled' })
    for (const task of items.slice(0, 2)) await w.reaches(task, 'cancelled')
  })

  test('is cancelled when it is ready too late: after its retry, or after its dependencies', async () => {
    const w = await workspace()
    const expiresAt = inMs(1_000)
    const retried = await w.held({ expiresAt })
    await w.on(retried, 'fail', { ...fence('s-alpha', 1), retryAt: inMs(1_500) })
    const upstream = await w.held()
    const blocked = await w.make({ expiresAt, dependsOn: [upstream.id] })
    const sibling = await w.make({ expiresAt })
    await w.reaches(sibling, 'cancelled')
    expect((await w.read(blocked)).state, 'it is not in the queue yet').toBe('pending')
    await w.on(upstream, 'submit', { ...fence('s-alpha', 1), result: 1 })
    for (const task of [retried, blocked]) await w.reaches(task, 'cancelled')
    expect(await w.happens('task_expired', 3)).toHaveLength(3)
  })
})

describe('a scheduled task', () => {
  test('waits for its time, and is in the queue then', async () => {
    const w = await workspace()
    const runAt = inMs(1_000)
    const task = await w.make({ runAt })
    expect(task).toMatchObject({ state: 'pending', dueAt: runAt })
    expectRefusal(await w.claim(task), 409, 'NOT_READY', { taskState: 'pending' })
    const { claims } = await w.next({ waitMs: 30_000 })
    expect(claims).toMatchObject([{ taskId: task.id }])
    const [queued] = await w.happens('task_queued')
    expect(queued).toMatchObject({ taskId: task.id, payload: { because: 'due' } })
    expect(Date.parse(queued!.at)).toBeGreaterThanOrEqual(Date.parse(runAt))
  })

  test('with a time in the past is in the queue at once, and times in other zones are converted', async () => {
    const w = await workspace()
    expect(await w.make({ runAt: inMs(-1) })).toMatchObject({ state: 'queued', dueAt: null })
    const later = await w.make({ runAt: '2099-12-31T23:00:00-02:00' })
    expect(later).toMatchObject({ state: 'pending', dueAt: '2100-01-01T01:00:00.000Z' })
  })

  test('with dependencies waits for both, whichever comes first', async () => {
    const w = await workspace()
    const [early, late] = [await w.held(), await w.held()]
    const runAt = inMs(1_000)
    const afterEarly = await w.make({ runAt, dependsOn: [early.id] })
    const afterLate = await w.make({ runAt, dependsOn: [late.id] })
    await w.on(early, 'submit', { ...fence('s-alpha', 1), result: 1 })
    await w.reaches(afterEarly, 'queued')
    expect(Date.parse((await w.read(afterEarly)).updatedAt)).toBeGreaterThanOrEqual(Date.parse(runAt))
    expect((await w.read(afterLate)).state).toBe('pending')
    await w.on(late, 'submit', { ...fence('s-alpha', 1), result: 1 })
    await w.reaches(afterLate, 'queued')
  })
})

describe('a task with its own idempotency key', () => {
  const once = (more: Json = {}) => ({ title: 'once', idempotencyKey: 'k-1', ...more })
  const create = (w: Workspace, ...tasks: Json[]) => w.post('/tasks/batch', { tasks })
  const idsOf = ({ body }: { body: { items: Task[] } }) => body.items.map(({ id }) => id)

  test('is created once, however often and together with whatever tasks it is requested', async () => {
    const w = await workspace()
    const first = await w.post('/tasks', once())
    const again = await w.post('/tasks', once())
    expect([first.status, again.status, again.body]).toEqual([201, 201, first.body])
    const batch = await create(w, { title: 'before' }, once(), { title: 'after' })
    expect(idsOf(batch)[1]).toBe(first.body.id)
    const many = await Promise.all(
      Array.from({ length: 20 }, () => w.post('/tasks', once({ idempotencyKey: 'k-2' }))),
    )
    expect(new Set(many.map(({ body }) => body.id)).size).toBe(1)
    expect(await w.count('task_created')).toBe(4)
  })

  test('is still the answer when it is long done', async () => {
    const w = await workspace()
    const { body: task } = await w.post('/tasks', once({ key: 'A-001-x' }))
    await w.claim(task)
    await w.on(task, 'submit', { ...fence('s-alpha', 1), result: 1 })
    expect((await w.post('/tasks', once({ key: 'A-001-x' }))).body.id).toBe(task.id)
    expect((await w.next()).claims).toEqual([])
  })

  test('with another body is refused by name, and with it the whole request', async () => {
    const w = await workspace()
    await w.post('/tasks', once())
    expectRefusal(await w.post('/tasks', once({ title: 'other' })), 422, 'IDEMPOTENCY_KEY_REUSED', {
      errors: [{ field: 'idempotencyKey', message: expect.any(String) }],
    })
    expectRefusal(await create(w, { title: 'new' }, once({ priority: 9 })), 422, 'IDEMPOTENCY_KEY_REUSED', {
      errors: [{ field: 'tasks[1].idempotencyKey', message: expect.any(String) }],
    })
    expectRefusal(
      await create(w, once({ idempotencyKey: 'k-3' }), once({ idempotencyKey: 'k-3' })),
      400,
      'VALIDATION_FAILED',
      {
        errors: [{ field: 'tasks[1].idempotencyKey', message: expect.any(String) }],
      },
    )
    expect(await w.count('task_created')).toBe(1)
  })

  test('is a different one in another workspace, and independent of the key of a request', async () => {
    const [w, other] = [await workspace(), await workspace()]
    const first = (await w.post('/tasks', once())).body
    expect((await other.post('/tasks', once())).body.id).not.toBe(first.id)
    const request = await w.post('/tasks', { title: 'by header' }, { 'idempotency-key': 'k-1' })
    expect([request.status, request.body.title]).toEqual([201, 'by header'])
  })
})

describe('tasks in bulk', () => {
  test('may be ten thousand, created in order and all at once', async () => {
    const w = await workspace({ maxConcurrentClaims: 20_000 })
    const tasks = Array.from({ length: 10_000 }, (_, i) => ({ title: `task ${i}` }))
    const made = await w.post('/tasks/batch', { tasks })
    expect(made.status).toBe(201)
    expect(made.body.items.map(({ title }: Json) => title)).toEqual(tasks.map(({ title }) => title))
    expect(new Set(made.body.items.map(({ id }: Task) => id)).size).toBe(10_000)
    const { claims } = await w.next({ limit: 1_000 })
    expect(claims.map(({ task }: { task: Json }) => task.title)).toEqual(
      tasks.slice(0, 1_000).map(({ title }) => title),
    )
    const last = (await w.call('GET', '/tasks?limit=1')).body.items[0]
    expect(last.title).toBe('task 9999')
  })

  test('may not be ten thousand and one, and then none is created', async () => {
    const w = await workspace()
    const tasks = Array.from({ length: 10_001 }, () => ({ title: 'x' }))
    expectRefusal(await w.post('/tasks/batch', { tasks }), 400, 'VALIDATION_FAILED', {
      errors: [{ field: 'tasks', message: expect.any(String) }],
    })
    expectRefusal(await w.post('/tasks/batch', { tasks: [] }), 400, 'VALIDATION_FAILED')
    expect((await w.call('GET', '/tasks')).body.items).toEqual([])
    expect(await w.count('task_created')).toBe(0)
  })
})

test('a task says who created it and when, and keeps that', async () => {
  const w = await workspace()
  const member = await w.post('/keys', { name: 'member', role: 'member' })
  const headers = { authorization: `Bearer ${member.body.key}` }
  const { body: task } = await w.post('/tasks', { title: 'Fix login' }, headers)
  expect(task.createdBy).toBe(`key:${member.body.id}`)
  expect(Math.abs(Date.parse(task.createdAt) - Date.now())).toBeLessThan(600_000)
  await w.call('PATCH', `/tasks/${task.id}`, { title: 'Fix the login' })
  await w.claim(task)
  const { createdBy, createdAt } = task
  expect(await w.read(task)).toMatchObject({ title: 'Fix the login', createdBy, createdAt })
  expect((await w.call('GET', '/tasks')).body.items).toMatchObject([{ createdBy, createdAt }])
  const own = await w.make()
  expect(own.createdBy).toMatch(KEY)
  expect(own.createdBy).not.toBe(createdBy)
})

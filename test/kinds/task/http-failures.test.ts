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
import { superuser } from '../../support/nodes.ts'

/** What happens to failed work: retried, failed at once, or left for a person as a dead letter (ADE 7 and 8). */

const { served, workspace } = useServer()
const UNKNOWN_ID = '01890000-0000-7000-8000-00000000ffff'
const longAgo = () => new Date(Date.now() - 3_600_000).toISOString()
const fail = (w: Workspace, task: Task, generation: number, more: Json) =>
  w.on(task, 'fail', { ...fence('s-alpha', generation), ...more })
/** The clock cannot be moved, so the end of the wait is. */
const endTheWait = (task: Task) =>
  superuser(served().databaseUrl, (client) =>
    client.query('update baton.tasks set due_at = now() where uuid = $1', [task.id]),
  )
const deadLetters = async (w: Workspace, query = '') => (await w.call('GET', `/dead-letters${query}`)).body
const idsOf = ({ items }: { items: Task[] }) => items.map(({ id }) => id)

describe('a failure', () => {
  test('may come with its stack trace, which stays with the event of its attempt', async () => {
    const w = await workspace()
    const task = await w.held({ maxRetries: 1 })
    const stack = 'TypeError: x is undefined\n    at login (login.ts:7:3)'
    const failed = { failureClass: 'infrastructure', error: 'x is undefined', stack }
    expect((await fail(w, task, 1, failed)).status).toBe(200)
    await endTheWait(task)
    await w.claim(task)
    expect((await fail(w, task, 2, failed)).status).toBe(200)
    const { items } = await w.read(task, '/events?limit=100')
    const kept = items.filter(({ payload }: { payload: Json }) => payload.stack === stack)
    expect(kept.map(({ type }: { type: string }) => type)).toEqual(['task_retrying', 'task_failed'])
    expectRefusal(await fail(w, task, 2, { ...failed, stack: 'x'.repeat(16_385) }), 400, 'VALIDATION_FAILED')
  })

  test('leaves the task its priority, and its times: created, first started, and ended', async () => {
    const w = await workspace()
    const task = await w.held({ priority: 8 })
    expect(task).toMatchObject({ startedAt: null, completedAt: null })
    const { task: started } = (await w.on(task, 'start', fence('s-alpha', 1))).body
    expect(Date.parse(started.startedAt)).toBeGreaterThanOrEqual(Date.parse(task.createdAt))
    await fail(w, task, 1, { failureClass: 'infrastructure' })
    expect(await w.read(task)).toMatchObject({ state: 'awaiting_retry', priority: 8, completedAt: null })
    await endTheWait(task)
    await w.reaches(task, 'queued')
    await w.make({ priority: 7 })
    const [claim] = (await w.next()).claims
    expect(claim).toMatchObject({ taskId: task.id, task: { priority: 8 } })
    await w.on(task, 'start', fence('s-alpha', 2))
    await w.on(task, 'submit', { ...fence('s-alpha', 2), result: 1 })
    const ended = await w.read(task)
    expect(ended).toMatchObject({ createdAt: task.createdAt, startedAt: started.startedAt })
    expect(Date.parse(ended.completedAt)).toBeGreaterThanOrEqual(Date.parse(ended.startedAt))
  })

  test('that is a crash is retried, each time after twice as long, up to five minutes', async () => {
    const w = await workspace()
    const task = await w.make({ maxRetries: 7 })
    for (let attempt = 1; attempt <= 7; attempt++) {
      expect((await w.claim(task)).body.claim).toMatchObject({ generation: attempt, attempt })
      const { body } = await fail(w, task, attempt, {
        failureClass: 'infrastructure',
        error: `crash ${attempt}`,
      })
      expect(body.task).toMatchObject({ state: 'awaiting_retry', attempt })
      if (attempt < 7) await endTheWait(task)
    }
    const retries = await w.happens('task_retrying', 7)
    expect(retries.map(({ payload }) => payload.waitMs)).toEqual(
      [10, 20, 40, 80, 160, 300, 300].map((seconds) => seconds * 1_000),
    )
    const last = retries.at(-1)!
    const now = await w.read(task)
    expect(now).toMatchObject({ error: 'crash 7', failureClass: 'infrastructure' })
    expect(Date.parse(now.dueAt) - Date.parse(last.at)).toBe(300_000)
    expectRefusal(await w.claim(task), 409, 'NOT_READY', { dueAt: now.dueAt })
  })

  test('that is a mistake in the task fails at once, however many attempts are left', async () => {
    const w = await workspace()
    const task = await w.held({ maxRetries: 9 })
    const { body } = await fail(w, task, 1, { failureClass: 'invalid', error: 'SyntaxError' })
    expect(body.task).toMatchObject({ state: 'failed', attempt: 1, dueAt: null })
    expect(await w.read(task)).toMatchObject({ error: 'SyntaxError', failureClass: 'invalid' })
    expect(await w.happens('task_failed')).toMatchObject([
      { payload: { reason: 'invalid', error: 'SyntaxError' } },
    ])
    expect((await deadLetters(w)).items, 'nothing ran out').toEqual([])
  })

  test('that is a timeout is retried with twice the time, as far as the workspace allows', async () => {
    const w = await workspace({ maxLeaseSeconds: 200 })
    const task = await w.make()
    const leases: number[] = []
    for (let generation = 1; generation <= 3; generation++) {
      leases.push((await w.claim(task, 'alpha', { leaseSeconds: 60 })).body.claim.ttlMs)
      const { body } = await fail(w, task, generation, { failureClass: 'timeout', retryAt: longAgo() })
      expect(body.task).toMatchObject({ state: 'awaiting_retry', attempt: generation })
    }
    leases.push((await w.claim(task, 'alpha', { leaseSeconds: 60 })).body.claim.ttlMs)
    expect(leases).toEqual([60_000, 120_000, 200_000, 200_000])
    const patient = await w.make()
    await w.claim(patient, 'alpha', { leaseSeconds: 60 })
    await fail(w, patient, 1, { failureClass: 'timeout', retryAt: longAgo() })
    const more = await w.claim(patient, 'alpha', { leaseSeconds: 180 })
    expect(more.body.claim.ttlMs, 'a holder that asks for more gets it').toBe(180_000)
  })

  test('that is a rate limit is parked until the limit is over, and spends no attempt', async () => {
    const w = await workspace()
    const task = await w.make({ maxRetries: 0 })
    for (let generation = 1; generation <= 3; generation++) {
      expect((await w.claim(task)).body.claim).toMatchObject({ generation, attempt: 1 })
      const { body } = await fail(w, task, generation, { failureClass: 'rate_limited', retryAt: longAgo() })
      expect(body.task).toMatchObject({ state: 'awaiting_retry', attempt: 0 })
    }
    await w.claim(task)
    const retryAt = new Date(Date.now() + 3_600_000).toISOString()
    const { body } = await fail(w, task, 4, { failureClass: 'rate_limited', retryAt, error: '429' })
    expect(body.task).toMatchObject({ state: 'awaiting_retry', attempt: 0, dueAt: retryAt })
    expect(await w.read(task)).toMatchObject({ error: '429', failureClass: 'rate_limited' })
    expectRefusal(await w.claim(task), 409, 'NOT_READY', { dueAt: retryAt })
  })

  test('that is a lack of memory fails at once, and raises an alert', async () => {
    const w = await workspace()
    const task = await w.held({ maxRetries: 9 })
    const { body } = await fail(w, task, 1, { failureClass: 'out_of_memory', error: 'killed at 16 GB' })
    expect(body.task).toMatchObject({ state: 'failed', dueAt: null })
    expect(await w.happens('alert_raised')).toMatchObject([
      {
        taskId: task.id,
        payload: { alert: 'out_of_memory', error: 'killed at 16 GB' },
      },
    ])
    expect(await w.read(task)).toMatchObject({ error: 'killed at 16 GB', failureClass: 'out_of_memory' })
    expect((await deadLetters(w)).items).toEqual([])
    expect((await w.on(task, 'retry')).body.state, 'which may then retry it').toBe('queued')
  })

  test('of any other class raises no alert', async () => {
    const w = await workspace()
    for (const failureClass of ['infrastructure', 'timeout', 'rate_limited', 'invalid', 'quality'])
      await fail(w, await w.held(), 1, { failureClass })
    // Which one it would have: after one that does, all before it were looked at.
    await fail(w, await w.held(), 1, { failureClass: 'out_of_memory' })
    await w.happens('alert_raised')
    expect(await w.count('alert_raised')).toBe(1)
  })
})

describe('a dead letter', () => {
  const dead = async (w: Workspace, title = 'x', more: Json = {}) => {
    const task = await w.held({ title, maxRetries: 0 })
    expect((await fail(w, task, 1, { error: `${title} broke`, ...more })).body.task.state).toBe('failed')
    return task
  }

  test('is a task whose attempts or generations ran out, with its last error', async () => {
    const w = await workspace({ maxGenerationsPerTask: 2 })
    const attempts = await dead(w, 'attempts', { failureClass: 'quality' })
    const generations = await w.held({ title: 'generations', maxRetries: 9 })
    await w.on(generations, 'release', fence('s-alpha', 1))
    await w.claim(generations)
    await fail(w, generations, 2, { error: 'again' })
    await fail(w, await w.held(), 1, { failureClass: 'invalid' })
    const { items, nextCursor } = await deadLetters(w)
    expect(items).toMatchObject([
      { id: generations.id, state: 'failed', error: 'again', failureClass: 'infrastructure', generation: 2 },
      { id: attempts.id, state: 'failed', error: 'attempts broke', failureClass: 'quality', attempt: 1 },
    ])
    expect(nextCursor).toBeNull()
    const failed = await w.happens('task_failed', 3)
    expect(failed.map(({ payload }) => payload.reason)).toEqual(['attempts', 'generations', 'invalid'])
  })

  test('is retried by its id; the others get a reason why not', async () => {
    const w = await workspace()
    const [one, other, held] = [await dead(w), await dead(w), await w.held()]
    const answer = await w.post('/dead-letters/retry', {
      taskIds: [one.id, held.id, UNKNOWN_ID],
      reason: 'fixed',
    })
    expect(answer).toMatchObject({ status: 200, body: { retried: 1 } })
    expect(answer.body.results).toMatchObject([
      { taskId: one.id, reason: 'DONE', task: { state: 'queued', attempt: 0, generation: 1 } },
      { taskId: held.id, reason: 'WRONG_STATE', status: 409, taskState: 'assigned' },
      { taskId: UNKNOWN_ID, reason: 'NOT_FOUND', status: 404 },
    ])
    expect(idsOf(await deadLetters(w))).toEqual([other.id])
    expect(await w.happens('task_retried')).toMatchObject([
      {
        taskId: one.id,
        actor: expect.stringMatching(KEY),
        actorName: 'owner',
        payload: { reason: 'fixed' },
      },
    ])
    expect((await w.claim(one)).body.claim, 'with all its attempts').toMatchObject({
      generation: 2,
      attempt: 1,
    })
  })

  test('is retried with all the others, newest first, or as many as requested', async () => {
    const w = await workspace()
    const all: Task[] = []
    for (let i = 0; i < 5; i++) all.push(await dead(w))
    const two = await w.post('/dead-letters/retry', { limit: 2 })
    expect(two.body.results.map(({ taskId }: Json) => taskId)).toEqual([all[4]!.id, all[3]!.id])
    const rest = await w.call('POST', '/dead-letters/retry')
    expect(rest.body).toMatchObject({ retried: 3 })
    expect(await deadLetters(w)).toEqual({ items: [], nextCursor: null })
    expect((await w.call('POST', '/dead-letters/retry')).body).toEqual({ retried: 0, results: [] })
    expect(await w.count('task_retried')).toBe(5)
  })

  test('is on exactly one page, however many there are and however they grow', async () => {
    const w = await workspace()
    const all: Task[] = []
    for (let i = 0; i < 7; i++) all.push(await dead(w))
    const seen: string[] = []
    for (let query = '?limit=3'; ; ) {
      const page = await deadLetters(w, query)
      seen.push(...idsOf(page))
      await dead(w, 'newer')
      if (page.nextCursor === null) break
      expect(page.items).toHaveLength(3)
      query = `?limit=3&cursor=${page.nextCursor}`
    }
    expect(seen).toEqual(all.map(({ id }) => id).reverse())
  })

  test('among hundreds under an idempotency key is retried like the first of them', async () => {
    const w = await workspace({ maxConcurrentClaims: 1_000 })
    const tasks = Array.from({ length: 600 }, () => ({ title: 'x', maxRetries: 0 }))
    await w.post('/tasks/batch', { tasks })
    const { claims } = await w.next({ limit: 600 })
    await Promise.all(claims.map(({ taskId }: Json) => fail(w, { id: String(taskId) }, 1, {})))
    const retry = () => w.post('/dead-letters/retry', {}, { 'idempotency-key': 'k-1' })
    const { body } = await retry()
    expect(body.retried).toBe(600)
    expect(new Set(body.results.map(({ taskId }: Json) => taskId)).size).toBe(600)
    for (const { taskId, task } of body.results) expect(task).toMatchObject({ id: taskId, state: 'queued' })
    expect(idsOf(await deadLetters(w))).toEqual([])
    expect((await w.call('GET', '/tasks?state=queued&limit=1')).body.items).toHaveLength(1)
    expect((await w.next({ limit: 1000 })).claims).toHaveLength(600)
  })
})

import fc from 'fast-check'
import { applyPatch, type Operation } from 'rfc6902'
import { describe, expect, test } from 'vitest'
import { patchTo } from '../../../src/kinds/task/acts/rejected-results.ts'
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

/** Work that came too late: stored, listed, compared with the accepted result, and accepted after all. */

const { served, workspace } = useServer()
const rejected = async (w: Workspace, query = '') => (await w.call('GET', `/results${query}`)).body
const promote = (w: Workspace, task: Task, ref: string, body?: Json) =>
  w.call('POST', `/tasks/${task.id}/results/${ref}/promote`, body)
const diff = async (w: Workspace, task: Task, ref: string) =>
  (await w.call('GET', `/tasks/${task.id}/results/${ref}/diff`)).body
const submit = (
  w: Workspace,
  task: Task,
  agent: string,
  generation: number,
  result: unknown,
  more: Json = {},
) => w.on(task, 'submit', { ...fence(`s-${agent}`, generation), result, ...more })

/** A zombie's result, and the one that was accepted instead: alpha lost the task, beta did it. */
async function zombie(w: Workspace, late: unknown, accepted: unknown) {
  const task = await w.held()
  await w.on(task, 'release', fence('s-alpha', 1))
  await w.claim(task, 'beta')
  const taken = await submit(w, task, 'beta', 2, accepted)
  expect(taken.body.reason).toBe('ACCEPTED')
  expectRefusal(await submit(w, task, 'alpha', 1, late, { summary: 'late' }), 409, 'STALE_GENERATION', {
    workLost: true,
  })
  const { items } = await w.read(task, '/results')
  const lateRef: string = items.find(({ generation }: Json) => generation === 1).workProductRef
  return { task, lateRef, acceptedRef: taken.body.workProductRef as string }
}

/** What a client would do with a patch. The library cannot replace a whole document, so it is put into another. */
function patched(document: unknown, patch: Operation[]): unknown {
  const inside = { document: structuredClone(document) }
  const failures = applyPatch(
    inside,
    patch.map((operation) => ({ ...operation, path: `/document${operation.path}` })),
  )
  expect(failures.filter((failure) => failure !== null)).toEqual([])
  return inside.document
}

describe('a zombie’s result', () => {
  test('is listed with its content, the reason of its refusal and its author', async () => {
    const w = await workspace({ minLeaseSeconds: 1 })
    const task = await w.expired()
    await w.claim(task, 'beta')
    await submit(w, task, 'beta', 2, { by: 'beta' })
    await submit(w, task, 'alpha', 1, { by: 'alpha' }, { summary: 'late' })
    const { items, nextCursor } = await rejected(w, '?include=result')
    expect(items).toEqual([
      expect.objectContaining({
        taskId: task.id,
        workProductRef: expect.stringMatching(new RegExp(`^wp-${task.id}-gen1-[0-9a-f]{6}$`)),
        generation: 1,
        session: 's-alpha',
        accepted: false,
        rejectionReason: 'STALE_GENERATION',
        result: { by: 'alpha' },
        summary: 'late',
        submittedAt: expect.any(String),
      }),
    ])
    expect(nextCursor).toBeNull()
    expect(await rejected(w, '?accepted=false&include=result'), 'given or not').toEqual({ items, nextCursor })
    expect((await rejected(await workspace())).items, 'no one else’s').toEqual([])
  })

  test('has its size in the event of its refusal', async () => {
    const w = await workspace({ minLeaseSeconds: 1 })
    const task = await w.expired()
    await w.claim(task, 'beta')
    await submit(w, task, 'alpha', 1, { by: 'älpha' })
    const [refused] = await w.happens('task_result_rejected')
    expect(refused).toMatchObject({ taskId: task.id, payload: { resultBytes: 15 } })
  })

  test('keeps how long the work took, when it was rejected, accepted after all, and replaced again', async () => {
    const w = await workspace()
    const { task, lateRef, acceptedRef } = await zombie(w, { by: 'alpha' }, { by: 'beta' })
    const timeOf = async (ref: string) =>
      (await w.read(task, '/results')).items.find((one: Json) => one.workProductRef === ref).processingMs
    const [refused] = await w.happens('task_result_rejected')
    const { processingMs } = refused!.payload
    expect(processingMs).toBeGreaterThan(0)
    const acceptedMs = await timeOf(acceptedRef)
    expect([await timeOf(lateRef), acceptedMs]).toEqual([processingMs, expect.any(Number)])
    expect((await rejected(w)).items).toMatchObject([{ workProductRef: lateRef, processingMs }])
    expect((await promote(w, task, lateRef)).status).toBe(200)
    expect([await timeOf(lateRef), await timeOf(acceptedRef)]).toEqual([processingMs, acceptedMs])
    expect((await promote(w, task, acceptedRef)).status).toBe(200)
    expect([await timeOf(lateRef), await timeOf(acceptedRef)]).toEqual([processingMs, acceptedMs])
    // Claims are forgotten after a while; what was rejected keeps its time.
    await superuser(served().databaseUrl, (client) =>
      client.query(
        `update baton.attempts set state = null, acquired_at = null, ended_at = null, end_reason = null
          where task_id = (select id from baton.tasks where uuid = $1)`,
        [task.id],
      ),
    )
    expect(await timeOf(lateRef)).toBe(processingMs)
  })

  test('that did not pass its review keeps how long the work took', async () => {
    const w = await workspace()
    const task = await w.held({ verification: { kind: 'human' } })
    await submit(w, task, 'alpha', 1, 1)
    const before = (await w.read(task, '/results')).items[0]
    await w.on(task, 'reject', { comment: 'no' })
    const { processingMs, accepted } = (await w.read(task, '/results')).items[0]
    expect(accepted).toBe(false)
    expect([before.processingMs, processingMs]).toEqual([expect.any(Number), before.processingMs])
  })

  const count = (to: number, step: number) => Array.from({ length: to }, (_, i) => (i + 1) * step)
  const PAIRS: [what: string, late: unknown, accepted: unknown][] = [
    ['an object', { a: 1, b: [1, 2, 3], c: { d: null } }, { a: 2, b: [1, 3], c: { d: 1, e: 'x' } }],
    ['a list', [1, 2, 3, 4], [4, 3, 2, 1, 0]],
    ['odd names', { 'a/b': 1, 'c~d': 2, '': 3, '0': 4 }, { 'a/b': 2, 'c~d': 1, '': 0 }],
    ['a text instead of an object', 'a text', { an: 'object' }],
    ['nothing instead of a list', null, [null]],
    ['objects in lists', [{ id: 1, tags: ['x'] }, { id: 2 }], [{ id: 2 }, { id: 1, tags: ['y', 'x'] }]],
    ['a long list', { list: count(5_000, 1) }, { list: count(5_000, -1) }],
  ]
  test.each(PAIRS)(
    '(%s) is compared with the accepted one: patched, that is this one',
    async (_what, late, accepted) => {
      const w = await workspace()
      const { task, lateRef, acceptedRef } = await zombie(w, late, accepted)
      const compared = await diff(w, task, lateRef)
      expect(compared).toMatchObject({
        isEqual: false,
        result: { workProductRef: lateRef, accepted: false, generation: 1 },
        accepted: { workProductRef: acceptedRef, accepted: true, generation: 2 },
      })
      expect([compared.result.result, compared.accepted.result]).toEqual([late, accepted])
      expect(patched(accepted, compared.patch)).toEqual(late)
      expect(await diff(w, task, acceptedRef), 'with itself').toMatchObject({ isEqual: true, patch: [] })
    },
  )

  test('with the same content in another order is equal', async () => {
    const w = await workspace()
    const { task, lateRef } = await zombie(w, { a: 1, b: [{ c: 1, d: 2 }] }, { b: [{ d: 2, c: 1 }], a: 1 })
    expect(await diff(w, task, lateRef)).toMatchObject({ isEqual: true, patch: [] })
  })

  test('is compared with nothing while nothing is accepted', async () => {
    const w = await workspace()
    const task = await w.held()
    await w.on(task, 'release', fence('s-alpha', 1))
    await submit(w, task, 'alpha', 1, 'too late')
    const [{ workProductRef }] = (await rejected(w)).items
    expect(await diff(w, task, workProductRef)).toMatchObject({ accepted: null, patch: null, isEqual: false })
    const none = `wp-${task.id}-gen1-ffffff`
    expectRefusal(await w.call('GET', `/tasks/${task.id}/results/${none}/diff`), 404, 'NOT_FOUND')
    expectRefusal(await promote(w, task, none), 404, 'NOT_FOUND')
  })
})

/** Names that reach into the prototypes of objects are refused by the parser. */
const anyResult = fc
  .jsonValue({ maxDepth: 4 })
  .filter((value) => !JSON.stringify(value).includes('"__proto__"'))

test('a patch leads from any result to any other', () => {
  fc.assert(
    fc.property(anyResult, anyResult, (from, to) => {
      const [one, other] = [from, to].map((value) => JSON.parse(JSON.stringify(value)))
      expect(patched(one, patchTo(one, other))).toEqual(other)
      expect(patchTo(other, structuredClone(other))).toEqual([])
    }),
  )
})

test.each([
  ['lists of a hundred thousand', (i: number) => Array.from({ length: 100_000 }, (_, n) => n * i)],
  ['lists of lists of lists', (i: number) => cube(40, (n) => n * i)],
  ['wide objects in lists', (i: number) => Array.from({ length: 50 }, () => wide(2_000, i))],
])('a patch between %s is found in bounded time and memory', (_what, make) => {
  const [one, other] = [make(1), make(-1)]
  expect(patched(one, patchTo(one, other))).toEqual(other)
})
const cube = (n: number, value: (n: number) => unknown, depth = 3): unknown =>
  depth === 0 ? value(n) : Array.from({ length: n }, (_, i) => cube(n, (m) => value(m + i), depth - 1))
const wide = (n: number, value: unknown) =>
  Object.fromEntries(Array.from({ length: n }, (_, i) => [`k${i}`, value]))

describe('a rejected result that is promoted', () => {
  test('becomes the task’s result, the accepted one before is replaced, and it is recorded', async () => {
    const w = await workspace()
    const { task, lateRef, acceptedRef } = await zombie(w, 'the better one', 'the first one')
    const answer = await promote(w, task, lateRef, { reason: 'it is better' })
    expect(answer).toMatchObject({
      status: 200,
      body: {
        reason: 'PROMOTED',
        workProductRef: lateRef,
        task: { id: task.id, state: 'completed', generation: 2 },
      },
    })
    const { items } = await w.read(task, '/results')
    const byRef = (ref: string) => items.find((one: Json) => one.workProductRef === ref)
    expect(byRef(lateRef)).toMatchObject({ accepted: true, rejectionReason: null, result: 'the better one' })
    expect(byRef(acceptedRef)).toMatchObject({
      accepted: false,
      rejectionReason: 'REPLACED',
      result: 'the first one',
    })
    expect((await w.read(task, '/claims')).items).toMatchObject([
      { generation: 1, resultAccepted: true, workProductRef: lateRef },
      { generation: 2, resultAccepted: false, workProductRef: null },
    ])
    expect((await rejected(w)).items).toMatchObject([
      { workProductRef: acceptedRef, rejectionReason: 'REPLACED' },
    ])
    expect(await w.happens('task_result_promoted')).toMatchObject([
      {
        taskId: task.id,
        ...{ actor: expect.stringMatching(KEY), actorName: 'owner' },
        payload: {
          promotedGeneration: 1,
          promotedSession: 's-alpha',
          workProductRef: lateRef,
          replaced: true,
          reason: 'it is better',
        },
      },
    ])
  })

  test('twice is promoted once, and the other one may be restored', async () => {
    const w = await workspace()
    const { task, lateRef, acceptedRef } = await zombie(w, 1, 2)
    for (let twice = 0; twice < 2; twice++)
      expect((await promote(w, task, lateRef)).body.reason).toBe('PROMOTED')
    expect(await w.count('task_result_promoted')).toBe(1)
    expect((await promote(w, task, acceptedRef)).status).toBe(200)
    expect((await rejected(w)).items).toMatchObject([
      { workProductRef: lateRef, rejectionReason: 'REPLACED' },
    ])
    expect((await diff(w, task, lateRef)).accepted.workProductRef).toBe(acceptedRef)
  })

  test('needs a key that may operate: one that may only read or work is refused', async () => {
    const w = await workspace()
    const { task, lateRef } = await zombie(w, 1, 2)
    const keyWith = async (more: Json) => (await w.post('/keys', { name: 'k', ...more })).body.key
    const path = `/tasks/${task.id}/results/${lateRef}/promote`
    for (const more of [{ role: 'viewer' }, { role: 'member', scopes: ['read', 'work'] }])
      expectRefusal(await served().call('POST', path, {}, { key: await keyWith(more) }), 403, 'FORBIDDEN')
    expect(await w.count('task_result_promoted')).toBe(0)
    const member = await keyWith({ role: 'member' })
    expect((await served().call('POST', path, {}, { key: member })).status).toBe(200)
  })

  test('ends the current claim, whose holder learns it, and tasks that wait for it continue', async () => {
    const w = await workspace()
    const task = await w.held()
    await w.on(task, 'release', fence('s-alpha', 1))
    await submit(w, task, 'alpha', 1, 'good enough')
    const waiting = await w.make({ dependsOn: [task.id] })
    await w.claim(task, 'beta')
    const [{ workProductRef }] = (await rejected(w)).items
    expect((await promote(w, task, workProductRef)).body.task).toMatchObject({
      state: 'completed',
      holder: null,
    })
    await w.reaches(waiting, 'queued')
    expect(await w.happens('task_result_promoted')).toMatchObject([
      { payload: { replaced: false, reason: null } },
    ])
    expectRefusal(await w.on(task, 'renew', fence('s-beta', 2)), 409, 'NO_CLAIM', { taskState: 'completed' })
    expect((await w.call('POST', '/sessions/s-beta/heartbeat')).body.lost).toMatchObject([
      { taskId: task.id, generation: 2, reason: 'PROMOTED' },
    ])
    expectRefusal(await submit(w, task, 'beta', 2, 'also good'), 409, 'TASK_ALREADY_COMPLETED', {
      workLost: true,
    })
    expect((await w.read(task, '/claims')).items).toMatchObject([
      { generation: 1, state: 'released' },
      { generation: 2, state: 'superseded', releaseReason: 'PROMOTED' },
    ])
    expect((await w.call('GET', '/limits')).body.usage.activeClaims).toBe(0)
  })

  test('after a reset is the result of the new epoch, and the one to compare with', async () => {
    const w = await workspace()
    const task = await w.held()
    await w.on(task, 'release', fence('s-alpha', 1))
    await submit(w, task, 'alpha', 1, 'first')
    await w.claim(task, 'beta')
    const old = (await submit(w, task, 'beta', 2, 'second')).body.workProductRef
    await w.on(task, 'reset')
    const [{ workProductRef: first }] = (await rejected(w)).items
    await promote(w, task, first)
    const { items } = await w.read(task, '/results')
    expect(items).toMatchObject([
      { workProductRef: first, accepted: true, epoch: 2 },
      { workProductRef: old, accepted: true, epoch: 1 },
    ])
    expect(await diff(w, task, old)).toMatchObject({ accepted: { workProductRef: first }, isEqual: false })
  })

  test('is refused while it waits for a verdict: that is for approving or rejecting', async () => {
    const w = await workspace()
    const task = await w.held({ verification: { kind: 'human' } })
    const { workProductRef } = (await submit(w, task, 'alpha', 1, 'look')).body
    expectRefusal(await promote(w, task, workProductRef), 409, 'WRONG_STATE')
    await w.on(task, 'reject')
    expect((await promote(w, task, workProductRef)).body.task.state, 'rejected, it may be').toBe('completed')
  })
})

test('rejected results of one millisecond are each on one page, newest first, whatever is added meanwhile', async () => {
  const w = await workspace({ maxConcurrentClaims: 1_000 })
  const { items: tasks } = (
    await w.post('/tasks/batch', { tasks: Array.from({ length: 25 }, () => ({ title: 'x' })) })
  ).body
  for (const task of tasks) {
    await w.claim(task)
    await w.on(task, 'release', fence('s-alpha', 1))
  }
  const late = (result: unknown) =>
    tasks.map(({ id }: Task) => ({ taskId: id, ...fence('s-alpha', 1), result }))
  // One request has one timestamp: 25 tasks, two results each.
  await w.post('/results/batch', { results: [...late('one'), ...late('other')] })
  const all = (await rejected(w, '?limit=200')).items
  expect(all).toHaveLength(50)
  expect(new Set(all.map(({ submittedAt }: Json) => submittedAt)).size).toBe(1)
  const seen: string[] = []
  for (let query = '?limit=7'; ; ) {
    const { items, nextCursor } = await rejected(w, query)
    seen.push(...items.map(({ workProductRef }: Json) => workProductRef))
    if (nextCursor === null) break
    expect(items).toHaveLength(7)
    await submit(w, tasks[0], 'alpha', 1, `newer ${seen.length}`)
    query = `?limit=7&cursor=${nextCursor}`
  }
  expect(seen).toEqual(all.map(({ workProductRef }: Json) => workProductRef))
})

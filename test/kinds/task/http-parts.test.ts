import { describe, expect, test } from 'vitest'
import { openProject, putPlan, tasksByKey } from '../../support/http-plans.ts'
import {
  expectRefusal,
  fence,
  type Json,
  type Task,
  useServer,
  type Workspace,
} from '../../support/http-workspace.ts'
import { until } from '../../support/nodes.ts'

/** Tasks in parts (Coditect 4.4): shared among agents, and merged when all of them are done. */

const { served, workspace } = useServer()
type Made = Task & { key: string | null; state: string; parentId: string | null } & Json
const makeAll = async (w: Workspace, tasks: Json[]): Promise<Made[]> =>
  (await w.post('/tasks/batch', { tasks })).body.items
/** A task and so many parts of it, created at once. */
async function divided(w: Workspace, count: number, more: Json = {}) {
  const [whole, ...parts] = await makeAll(w, [
    { title: 'whole', key: 'A-101-dashboard' },
    ...Array.from({ length: count }, (_, i) => ({
      title: `part ${i + 1}`,
      key: `A-101-dashboard::${i + 1}`,
      ...more,
    })),
  ])
  return { whole: whole!, parts }
}
async function complete(w: Workspace, task: Task, result: unknown, agent = 'alpha') {
  const { generation } = (await w.claim(task, agent)).body.claim
  return w.on(task, 'submit', { ...fence(`s-${agent}`, generation), result })
}
const accepted = async (w: Workspace, task: Task) =>
  (await w.read(task, '/results')).items.find((result: Json) => result.accepted)

test('two agents share the parts of a task word for word as in Coditect 4.4, and the task’s result is theirs', async () => {
  const w = await openProject(served(), 'shop', { minLeaseSeconds: 1 })
  const plan =
    'project: shop\ntracks: {A: [{id: A-101-dashboard, subtasks: [{}, {}, {}, {}, {}]}, {id: A-102-after, depends_on: [A-101-dashboard]}]}'
  expect((await putPlan(w, 'shop', plan)).body).toMatchObject({ created: 7 })
  const tasks = await tasksByKey(w)
  const part = (i: number) => tasks.get(`A-101-dashboard::${i}`)!
  const claim = async (agent: string, parts: number[], more: Json = {}) => {
    const taskIds = parts.map((i) => part(i).id)
    const { results } = (await w.post('/claims/batch', { agent, session: `s-${agent}`, taskIds, ...more }))
      .body
    return results.map(({ reason, claim, currentHolder }: Json) => [
      reason,
      (claim as Json | undefined)?.generation ?? currentHolder,
    ])
  }
  const submit = async (agent: string, results: [part: number, generation: number][]) => {
    const items = results.map(([i, generation]) => ({
      taskId: part(i).id,
      ...fence(`s-${agent}`, generation),
      result: `${i} by ${agent}`,
    }))
    return (await w.post('/results/batch', { results: items })).body.results.map(({ reason }: Json) => reason)
  }
  // T=0 and T=1. The track is for one agent, but parts are meant to be shared.
  expect(await claim('agent-a', [1, 2, 3], { leaseSeconds: 1 })).toEqual([
    ['GRANTED', 1],
    ['GRANTED', 1],
    ['GRANTED', 1],
  ])
  expect(await claim('agent-b', [3, 4, 5])).toEqual([
    ['DENIED_ACTIVE_CLAIM', 'agent-a'],
    ['GRANTED', 1],
    ['GRANTED', 1],
  ])
  // T=5 to T=7.
  expect(
    await submit('agent-a', [
      [1, 1],
      [2, 1],
    ]),
  ).toEqual(['ACCEPTED', 'ACCEPTED'])
  await until(async () => (await w.read(part(3))).holder === null)
  expect(await claim('agent-b', [3])).toEqual([['GRANTED', 2]])
  // T=10 and T=12.
  expect(
    await submit('agent-b', [
      [3, 2],
      [4, 1],
      [5, 1],
    ]),
  ).toEqual(['ACCEPTED', 'ACCEPTED', 'ACCEPTED'])
  expect(await submit('agent-a', [[3, 1]])).toEqual(['STALE_GENERATION'])

  const whole = tasks.get('A-101-dashboard')!
  await w.reaches(whole, 'completed')
  const { result, agent, generation, workProductRef } = await accepted(w, whole)
  const merged = {
    'A-101-dashboard::1': '1 by agent-a',
    'A-101-dashboard::2': '2 by agent-a',
    'A-101-dashboard::3': '3 by agent-b',
    'A-101-dashboard::4': '4 by agent-b',
    'A-101-dashboard::5': '5 by agent-b',
  }
  expect(JSON.stringify(result), 'in their order').toBe(JSON.stringify(merged))
  expect([agent, generation, workProductRef]).toEqual([
    'baton',
    1,
    expect.stringMatching(/^wp-A-101-dashboard-gen1-[0-9a-f]{6}$/),
  ])
  expect(await w.happens('task_merged')).toMatchObject([
    { taskId: whole.id, payload: { parts: 5, workProductRef } },
  ])
  expect((await w.read(whole, '/claims')).items).toMatchObject([
    { generation: 1, agent: 'baton', state: 'released', releaseReason: 'MERGED', resultAccepted: true },
  ])
  await w.reaches(tasks.get('A-102-after')!, 'queued')
  expect((await w.call('GET', '/limits')).body.usage.activeClaims).toBe(0)
})

describe('a task in parts', () => {
  test('waits for all of them, and is merged in the order of their numbers', async () => {
    const w = await workspace()
    const numbers = Array.from({ length: 12 }, (_, i) => i + 1)
    const named = (i: number) => ({ title: `part ${i}`, key: `A-101-dashboard::${i}` })
    // Created and done in a different order.
    const made = await makeAll(w, [
      ...numbers.toReversed().map(named),
      { title: 'whole', key: 'A-101-dashboard' },
    ])
    const [whole, parts] = [made.at(-1)!, made.slice(0, -1)]
    expect(await w.read(whole)).toMatchObject({ state: 'pending', merge: 'object' })
    expectRefusal(await w.claim(whole), 409, 'NOT_READY', { taskState: 'pending' })
    for (const part of [...parts.slice(6), ...parts.slice(0, 6)]) {
      expect((await w.read(whole)).state).toBe('pending')
      await complete(w, part, { part: part.title })
    }
    await w.reaches(whole, 'completed')
    const { result } = await accepted(w, whole)
    expect(JSON.stringify(result)).toBe(
      JSON.stringify(Object.fromEntries(numbers.map((i) => [named(i).key, { part: `part ${i}` }]))),
    )
    expect((await w.call('GET', `/tasks?parentId=${whole.id}`)).body.items).toHaveLength(12)
  })

  test('may be divided later, by the ids of its parts, and further while it waits', async () => {
    const w = await workspace()
    const whole = await w.make()
    const first = await w.make({ title: 'first', parentId: whole.id })
    expect(first).toMatchObject({ parentId: whole.id, state: 'queued' })
    expect(await w.read(whole)).toMatchObject({ state: 'pending', merge: 'object', dependsOn: [first.id] })
    const second = await w.make({ title: 'second', parentId: whole.id, merge: 'task' })
    expect((await w.happens('task_divided', 2)).map(({ payload }) => payload)).toEqual([
      { parts: 1, merge: 'object' },
      { parts: 1, merge: 'object' },
    ])
    await complete(w, first, 1)
    expect((await w.read(whole)).state).toBe('pending')
    await complete(w, second, 2)
    await w.reaches(whole, 'completed')
    expect((await accepted(w, whole)).result).toEqual({ [first.id]: 1, [second.id]: 2 })
  })

  test('finds its parts by their keys, when they are created after it', async () => {
    const w = await workspace()
    const whole = await w.make({ key: 'B-003-x' })
    const part = await w.make({ key: 'B-003-x::1' })
    expect(part.parentId).toBe(whole.id)
    expect((await w.make({ key: 'B-004-x::1' })).parentId, 'one without a whole stands alone').toBeNull()
    await complete(w, part, 'done')
    await w.reaches(whole, 'completed')
  })

  test('that an agent must join is offered in the queue when its parts are done', async () => {
    const w = await workspace()
    const { whole, parts } = await divided(w, 3, { merge: 'task' })
    for (const part of parts) await complete(w, part, part.key)
    await w.reaches(whole, 'queued')
    expect(await w.count('task_merged')).toBe(0)
    const { claims } = await w.next({ agent: 'joiner', session: 's-joiner' })
    expect(claims).toMatchObject([{ taskId: whole.id, generation: 1, task: { merge: 'task' } }])
    const read = (await w.call('GET', `/tasks?parentId=${whole.id}`)).body.items as Made[]
    const results = await Promise.all(read.map(async (part) => (await accepted(w, part)).result))
    expect(results.sort()).toEqual(parts.map(({ key }) => key))
    const joined = await w.on(whole, 'submit', { ...fence('s-joiner', 1), result: results.join(' + ') })
    expect(joined.body).toMatchObject({ reason: 'ACCEPTED', task: { state: 'completed' } })
  })

  test('fails when one of them fails for good, and is merged after all when that is retried', async () => {
    const w = await workspace()
    const { whole, parts } = await divided(w, 2)
    const [good, bad] = parts
    await complete(w, good!, 'good')
    await w.claim(bad!)
    await w.on(bad!, 'fail', { ...fence('s-alpha', 1), failureClass: 'invalid', error: 'no way' })
    await w.reaches(whole, 'failed')
    expect(await w.read(whole)).toMatchObject({
      failureClass: 'dependency',
      error: expect.stringContaining('failed'),
    })
    expect((await w.on(bad!, 'retry')).body.state).toBe('queued')
    expect((await w.on(whole, 'retry')).body.state).toBe('pending')
    await complete(w, bad!, 'better')
    await w.reaches(whole, 'completed')
    expect((await accepted(w, whole)).result).toEqual({
      'A-101-dashboard::1': 'good',
      'A-101-dashboard::2': 'better',
    })
  })

  test('fails when its results together exceed the size of a result', async () => {
    const w = await workspace({ maxResultBytes: 1_024 })
    const { whole, parts } = await divided(w, 2)
    for (const part of parts) expect((await complete(w, part, 'x'.repeat(600))).body.reason).toBe('ACCEPTED')
    await w.reaches(whole, 'failed')
    expect(await w.read(whole)).toMatchObject({
      failureClass: 'invalid',
      error: expect.stringContaining('1024 are allowed'),
    })
  })

  test('cannot be divided once it is running or done, and parts cannot be divided at all', async () => {
    const w = await workspace()
    const [held, done] = [await w.held(), await w.make()]
    await complete(w, done, 1)
    for (const task of [held, done])
      expectRefusal(await w.post('/tasks', { title: 'x', parentId: task.id }), 409, 'WRONG_STATE', {
        errors: [{ field: 'parentId' }],
      })
    const { parts } = await divided(w, 1)
    expectRefusal(await w.post('/tasks', { title: 'x', parentId: parts[0]!.id }), 400, 'VALIDATION_FAILED', {
      errors: [{ field: 'parentId' }],
    })
    const unknownId = '01890000-0000-7000-8000-00000000ffff'
    expectRefusal(await w.post('/tasks', { title: 'x', parentId: unknownId }), 400, 'VALIDATION_FAILED', {
      errors: [{ field: 'parentId' }],
    })
    expect((await w.read(held)).state).toBe('assigned')
  })

  test('is merged once, even if its last parts are done at the same moment', async () => {
    const w = await workspace()
    for (let round = 0; round < 5; round++) {
      const whole = await w.make()
      const parts = await makeAll(
        w,
        Array.from({ length: 20 }, () => ({ title: 'x', parentId: whole.id })),
      )
      for (const part of parts) await w.claim(part)
      await Promise.all(
        parts.map((part) => w.on(part, 'submit', { ...fence('s-alpha', 1), result: part.id })),
      )
      await w.reaches(whole, 'completed')
      const { items } = await w.read(whole, '/results')
      expect(items).toHaveLength(1)
      expect(items[0].result).toEqual(Object.fromEntries(parts.map(({ id }) => [id, id])))
    }
  })
})

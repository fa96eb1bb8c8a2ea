import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  expectRefusal,
  fence,
  inOneHour,
  inState,
  type Json,
  openWorkspace,
} from '../../support/http-workspace.ts'
import { until } from '../../support/nodes.ts'
import { type ServerUnderTest, startServer } from '../../support/server.ts'

let server: ServerUnderTest
beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server.close())
const workspace = () => openWorkspace(server)
const UNKNOWN_ID = '01890000-0000-7000-8000-00000000ffff'

describe('POST /tasks/:id/dependencies', () => {
  test('adds dependencies to a task, and it continues when they are done', async () => {
    const w = await workspace()
    const [first, second, task] = [await w.make(), await w.make(), await w.make()]
    const waits = await w.on(task, 'dependencies', { dependsOn: [first.id, second.id] })
    expect(waits).toMatchObject({ status: 200, body: { id: task.id, state: 'pending' } })
    expect(new Set(waits.body.dependsOn)).toEqual(new Set([first.id, second.id]))
    expect(waits.headers.get('etag')).toBe(`"${waits.body.version}"`)
    const { items } = await w.read(task, '/dependencies')
    const named = { key: null, title: 'Fix login', kind: 'data' }
    const dependency = { ...named, taskId: first.id, state: 'queued', triggerRule: 'all_success' }
    expect(items).toContainEqual(dependency)
    const { blocks } = await w.read(first, '/dependencies')
    expect(blocks).toEqual([{ ...named, taskId: task.id, state: 'pending' }])
    for (const one of [first, second]) {
      expectRefusal(await w.claim(task), 409, 'NOT_READY')
      await w.claim(one)
      await w.on(one, 'submit', { ...fence('s-alpha', 1), result: 1 })
    }
    await w.reaches(task, 'queued')
    expect((await w.happens('task_held_back'))[0]).toMatchObject({
      taskId: task.id,
      payload: { dependsOn: [first.id, second.id] },
    })
  })

  test('takes kinds, and a task shows what is around it on both sides', async () => {
    const w = await workspace()
    const [first, second] = [await w.make({ title: 'first' }), await w.make({ title: 'second' })]
    const task = await w.make({ title: 'task', dependsOn: [first.id, { on: second.id, kind: 'order' }] })
    expect(new Set(task.dependsOn)).toEqual(new Set([first.id, second.id]))
    const last = await w.make({ title: 'last', key: 'A-001-last', dependsOn: [{ on: task.id }] })
    await w.on(last, 'dependencies', { dependsOn: [{ on: first.id, kind: 'order' }] })
    expect(await w.read(task)).toMatchObject({
      blockedBy: [
        { taskId: first.id, key: null, title: 'first', state: 'queued', kind: 'data' },
        { taskId: second.id, title: 'second', kind: 'order' },
      ],
      blocks: [{ taskId: last.id, key: 'A-001-last', title: 'last', state: 'pending', kind: 'data' }],
    })
    const { blocks } = await w.read(first)
    expect(blocks.map(({ title, kind }: Json) => [title, kind])).toEqual([
      ['task', 'data'],
      ['last', 'order'],
    ])
    const { items } = await w.read(last, '/dependencies')
    expect(items.map(({ kind }: Json) => kind)).toEqual(['order', 'data'])
    for (const dependsOn of [
      [{ on: first.id, kind: 'whim' }],
      [{ on: 'nobody' }],
      [first.id, { on: first.id }],
    ])
      expectRefusal(await w.post('/tasks', { title: 'bad', dependsOn }), 400, 'VALIDATION_FAILED')
  })

  test('keeps existing ones, adds new ones, and can be repeated without harm', async () => {
    const w = await workspace()
    const [first, second] = [await w.make(), await w.make()]
    const task = await w.make({ dependsOn: [first.id], triggerRule: 'all_done' })
    const both = { dependsOn: [first.id, second.id] }
    expect((await w.on(task, 'dependencies', both)).status).toBe(200)
    // It was checked for a cycle.
    const before = await until(async () => {
      const seen = await w.read(task)
      return seen.dueAt === null && seen
    })
    const again = await w.on(task, 'dependencies', { ...both, triggerRule: 'all_done' })
    expect(again.body).toMatchObject({ version: before.version, dependsOn: before.dependsOn })
    const { items } = await w.read(task, '/dependencies')
    expect(items.map(({ triggerRule }: Json) => triggerRule)).toEqual(['all_done', 'all_done'])
    expect(await w.count('task_held_back')).toBe(1)
  })

  test('applies ended ones at once', async () => {
    const w = await workspace()
    const [done, failed] = [await inState.completed(w), await inState.failed(w)]
    const on = async (upstream: { id: string }, more: Json = {}) =>
      (await w.on(await w.make(), 'dependencies', { dependsOn: [upstream.id], ...more })).body.state
    expect(await on(done)).toBe('queued')
    expect(await on(failed)).toBe('skipped')
    expect(await on(failed, { triggerRule: 'all_done' })).toBe('queued')
    const below = await w.make({ dependsOn: [(await w.make()).id] })
    const upstream = await w.make()
    const waiting = await w.make({ dependsOn: [upstream.id] })
    await w.on(upstream, 'dependencies', { dependsOn: [failed.id] })
    await w.reaches(waiting, 'skipped')
    expect((await w.read(below)).state).toBe('pending')
  })

  test('refuses invalid ones, by the name of the field, and writes nothing', async () => {
    const w = await workspace()
    const foreign = await (await workspace()).make()
    const [task, upstream] = [await w.make(), await w.make()]
    const wrong: [Json, string][] = [
      [{ dependsOn: [upstream.id, UNKNOWN_ID] }, 'dependsOn[1]'],
      [{ dependsOn: [foreign.id] }, 'dependsOn[0]'],
      [{ dependsOn: ['00000000-0000-4000-8000-000000000000'] }, 'dependsOn[0]'],
      [{ dependsOn: [upstream.id, task.id] }, 'dependsOn[1]'],
      [{ dependsOn: [upstream.id, upstream.id] }, 'dependsOn[1]'],
      [{ dependsOn: [] }, 'dependsOn'],
      [{ dependsOn: [upstream.id], triggerRule: 'sometimes' }, 'triggerRule'],
    ]
    for (const [body, field] of wrong) {
      const answer = await w.on(task, 'dependencies', body)
      expectRefusal(answer, 400, 'VALIDATION_FAILED')
      expect(answer.body.errors[0].field).toBe(field)
    }
    expectRefusal(
      await w.post(`/tasks/${UNKNOWN_ID}/dependencies`, { dependsOn: [upstream.id] }),
      404,
      'NOT_FOUND',
    )
    expect(await w.read(task)).toMatchObject({ version: task.version, dependsOn: [], state: 'queued' })
  })

  test('refuses another rule than the one the task has', async () => {
    const w = await workspace()
    const [first, second] = [await w.make(), await w.make()]
    const task = await w.make({ dependsOn: [first.id] })
    const answer = await w.on(task, 'dependencies', { dependsOn: [second.id], triggerRule: 'all_done' })
    expectRefusal(answer, 409, 'WRONG_STATE')
    expect(answer.body.errors).toEqual([
      { field: 'triggerRule', message: 'is already all_success for this task' },
    ])
    expect((await w.read(task)).dependsOn).toEqual([first.id])
  })

  const FREE = ['pending', 'queued']
  test.each(Object.keys(inState) as (keyof typeof inState)[])('of a task that is %s', async (state) => {
    const w = await workspace()
    const upstream = await w.make()
    const task = await inState[state](w)
    const answer = await w.on(task, 'dependencies', { dependsOn: [upstream.id] })
    if (FREE.includes(state)) expect(answer).toMatchObject({ status: 200, body: { state: 'pending' } })
    else expectRefusal(answer, 409, 'WRONG_STATE', { taskState: state })
  })

  test('keeps the scheduled time of a task', async () => {
    const w = await workspace()
    const upstream = await w.make()
    const task = await w.make({ runAt: inOneHour() })
    const answer = await w.on(task, 'dependencies', { dependsOn: [upstream.id] })
    expect(answer.body).toMatchObject({ state: 'pending', dueAt: task.dueAt })
  })

  test('gives the first answer again under the same key', async () => {
    const w = await workspace()
    const [upstream, task] = [await w.make(), await w.make()]
    const body = { dependsOn: [upstream.id] }
    const key = { 'idempotency-key': 'once' }
    expect((await w.on(task, 'dependencies', body, key)).status).toBe(200)
    await w.on(task, 'cancel')
    expect((await w.on(task, 'dependencies', body, key)).status).toBe(200)
    expect(await w.count('task_held_back')).toBe(1)
  })

  test('refuses a visible cycle, with its tasks in order', async () => {
    const w = await workspace()
    const a = await w.make()
    const b = await w.make({ dependsOn: [a.id] })
    const c = await w.make({ dependsOn: [b.id] })
    const answer = await w.on(a, 'dependencies', { dependsOn: [c.id] })
    expectRefusal(answer, 409, 'DEPENDENCY_CYCLE', { cycle: [a.id, c.id, b.id] })
    expect(await w.read(a)).toMatchObject({ state: 'queued', version: a.version, dependsOn: [] })
    const whole = await w.make()
    const part = await w.make({ parentId: whole.id })
    expectRefusal(await w.on(part, 'dependencies', { dependsOn: [whole.id] }), 409, 'DEPENDENCY_CYCLE', {
      cycle: [part.id, whole.id],
    })
  })

  test('of many at once leaves no cycle: one of two is refused, or both fail', async () => {
    const w = await workspace()
    const pairs = await Promise.all(
      Array.from({ length: 10 }, async () => [await w.make(), await w.make()] as const),
    )
    const statuses = await Promise.all(
      pairs.map(([a, b]) =>
        Promise.all([
          w.on(a, 'dependencies', { dependsOn: [b.id] }),
          w.on(b, 'dependencies', { dependsOn: [a.id] }),
        ]),
      ),
    )
    for (const [i, answers] of statuses.entries()) {
      const refused = answers.filter(({ status }) => status !== 200)
      for (const answer of refused) expectRefusal(answer, 409, 'DEPENDENCY_CYCLE')
      if (refused.length > 0) continue
      for (const task of pairs[i]!) {
        await w.reaches(task, 'failed')
        const { error } = await w.read(task)
        for (const { id } of pairs[i]!) expect(error).toContain(id)
      }
    }
  })
})

describe('PATCH /tasks/:id with dependsOn', () => {
  const patch = (w: Awaited<ReturnType<typeof workspace>>, task: Json, body: Json, headers = {}) =>
    w.call('PATCH', `/tasks/${task.id}`, body, headers)

  test('adds them with any other changes', async () => {
    const w = await workspace()
    const [upstream, task] = [await w.make(), await w.make()]
    const body = { title: 'Later', priority: 9, dependsOn: [upstream.id] }
    const answer = await patch(w, task, body, { 'if-match': `"${task.version}"` })
    expect(answer).toMatchObject({
      status: 200,
      body: { title: 'Later', priority: 9, state: 'pending', dependsOn: [upstream.id] },
    })
    const other = await patch(w, task, { title: 'Later still', dependsOn: [upstream.id] })
    expect(other.body).toMatchObject({ title: 'Later still', dependsOn: [upstream.id] })
    expect((await patch(w, task, { title: 'Last', dependsOn: [] })).body.title).toBe('Last')
  })

  test('changes nothing at all when they are refused', async () => {
    const w = await workspace()
    const [upstream, task, held] = [await w.make(), await w.make(), await w.held()]
    const below = await w.make({ dependsOn: [task.id] })
    const before = [await w.read(task), await w.read(held)]
    const body = { title: 'Later', dependsOn: [upstream.id] }
    expectRefusal(await patch(w, task, body, { 'if-match': '"99"' }), 412, 'VERSION_MISMATCH', {
      currentVersion: task.version,
    })
    expectRefusal(await patch(w, held, body), 409, 'WRONG_STATE')
    expectRefusal(await patch(w, task, { ...body, dependsOn: [below.id] }), 409, 'DEPENDENCY_CYCLE')
    expectRefusal(await patch(w, task, { ...body, dependsOn: [UNKNOWN_ID] }), 400, 'VALIDATION_FAILED')
    expect([await w.read(task), await w.read(held)]).toEqual(before)
  })
})

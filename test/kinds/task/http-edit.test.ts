import { describe, expect, test } from 'vitest'
import { expectRefusal, fence, type Json, useServer, type Workspace } from '../../support/http-workspace.ts'

const { served, workspace } = useServer()
const UNKNOWN_ID = '01890000-0000-7000-8000-00000000ffff'

describe('PATCH /tasks/:id', () => {
  test('changes the type of a task, and its event says from what to what', async () => {
    const w = await workspace()
    const task = await w.make({ taskType: 'coding', tags: ['a'] })
    const patch = { taskType: 'docs', title: 'Write it', tags: ['b'], priority: 8, agent: 'beta' }
    const changed = await w.call('PATCH', `/tasks/${task.id}`, patch)
    expect(changed).toMatchObject({ status: 200, body: { taskType: 'docs', title: 'Write it', tags: ['b'] } })
    const [event] = await w.happens('task_updated')
    expect(event!.payload).toEqual({
      fields: ['taskType', 'title', 'tags', 'priority', 'onlyAgent'],
      changes: {
        taskType: { from: 'coding', to: 'docs' },
        title: { from: 'Fix login', to: 'Write it' },
        tags: { from: ['a'], to: ['b'] },
        priority: { from: 5, to: 8 },
        onlyAgent: { from: null, to: 'beta' },
      },
    })
  })

  test('keeps the type of a task that an agent works on, and all else of that request', async () => {
    const w = await workspace()
    const task = await w.held()
    const refused = await w.call('PATCH', `/tasks/${task.id}`, { taskType: 'docs', title: 'Write it' })
    expectRefusal(refused, 409, 'WRONG_STATE', { taskState: 'assigned' })
    expect(await w.read(task)).toMatchObject({ taskType: 'other', title: 'Fix login' })
    await w.on(task, 'submit', { ...fence('s-alpha', 1), result: 1 })
    expect((await w.call('PATCH', `/tasks/${task.id}`, { taskType: 'docs' })).status).toBe(200)
  })

  test('removes dependencies: the task is queued when none is left', async () => {
    const w = await workspace()
    const [first, second] = [await w.make(), await w.make()]
    const task = await w.make({ dependsOn: [first.id, second.id] })
    const one = await w.call('PATCH', `/tasks/${task.id}`, { removeDependsOn: [first.id], priority: 9 })
    expect(one.body).toMatchObject({ state: 'pending', dependsOn: [second.id], priority: 9 })
    const last = await w.call('PATCH', `/tasks/${task.id}`, { removeDependsOn: [second.id] })
    expect(last.body).toMatchObject({ state: 'queued', dependsOn: [] })
    expect(last.headers.get('etag')).toBe(`"${last.body.version}"`)
    const events = (await w.happens('task_updated', 3)).map(({ payload }) => payload)
    expect(events).toContainEqual({ fields: ['dependsOn'], removedDependencies: [second.id] })
    expect((await w.read(first, '/dependencies')).blocks).toEqual([])
  })

  test('exchanges one dependency for another', async () => {
    const w = await workspace()
    const [first, second] = [await w.make(), await w.make()]
    const task = await w.make({ dependsOn: [first.id] })
    const body = { dependsOn: [second.id], removeDependsOn: [first.id] }
    const { status, body: after } = await w.call('PATCH', `/tasks/${task.id}`, body)
    expect({ status, ...after }).toMatchObject({ status: 200, state: 'pending', dependsOn: [second.id] })
  })

  test('refuses to remove what is not there, or added, or named twice, and by somebody who saw another version', async () => {
    const w = await workspace()
    const first = await w.make()
    const task = await w.make({ dependsOn: [first.id] })
    const patch = (body: Json, headers: Record<string, string> = {}) =>
      w.call('PATCH', `/tasks/${task.id}`, body, headers)
    for (const removeDependsOn of [
      [first.id, UNKNOWN_ID],
      [first.id, task.id],
      [first.id, first.id],
    ])
      expectRefusal(await patch({ removeDependsOn }), 400, 'VALIDATION_FAILED', {
        errors: [{ field: 'removeDependsOn[1]' }],
      })
    const both = { dependsOn: [first.id], removeDependsOn: [first.id] }
    expectRefusal(await patch(both), 400, 'VALIDATION_FAILED', { errors: [{ field: 'removeDependsOn[0]' }] })
    const stale = await patch({ removeDependsOn: [first.id] }, { 'if-match': '"7"' })
    expectRefusal(stale, 412, 'VERSION_MISMATCH')
    expect((await w.read(task)).dependsOn).toEqual([first.id])
  })
})

describe('the act update of POST /tasks/act', () => {
  const update = (w: Workspace, ids: string[], fields: Json) =>
    w.post('/tasks/act', { act: 'update', ids, fields })

  test('changes agent, priority, type and tags of several tasks, and says which it refused', async () => {
    const w = await workspace()
    const [a, held] = [await w.make({ tags: ['x', 'old'] }), await w.held()]
    const fields = {
      priority: 9,
      agent: 'beta',
      taskType: 'docs',
      tags: { add: ['new', 'x'], remove: ['old'] },
    }
    const { status, body } = await update(w, [a.id, held.id, UNKNOWN_ID], fields)
    expect({ status, ...body }).toMatchObject({
      status: 200,
      done: 1,
      items: [
        { id: a.id, done: true, state: 'queued' },
        { id: held.id, done: false, code: 'WRONG_STATE', state: 'assigned' },
        { id: UNKNOWN_ID, done: false, code: 'NOT_FOUND', state: null },
      ],
    })
    const after = { priority: 9, agent: 'beta', taskType: 'docs', tags: ['x', 'new'] }
    expect(await w.read(a)).toMatchObject(after)
    expect(await w.read(held), 'all of it or nothing').toMatchObject({
      priority: 5,
      taskType: 'other',
      tags: [],
    })
    expect((await update(w, [held.id], { tags: { add: ['new'] } })).body).toMatchObject({ done: 1 })
  })

  test('gives no task more tags than it may have', async () => {
    const w = await workspace()
    const full = await w.make({ tags: Array.from({ length: 50 }, (_, i) => `t-${i}`) })
    const { body } = await update(w, [full.id], { tags: { add: ['one-more'] } })
    expect(body.items).toMatchObject([{ done: false, code: 'VALIDATION_FAILED' }])
    const { body: exchanged } = await update(w, [full.id], { tags: { add: ['one-more'], remove: ['t-0'] } })
    expect(exchanged).toMatchObject({ done: 1 })
  })

  test('needs something to change, and no other act takes fields', async () => {
    const w = await workspace()
    const { id } = await w.make()
    expectRefusal(await w.post('/tasks/act', { act: 'update', ids: [id] }), 400, 'VALIDATION_FAILED')
    expectRefusal(await update(w, [id], {}), 400, 'VALIDATION_FAILED')
    const pause = { act: 'pause', ids: [id], fields: { priority: 9 } }
    expectRefusal(await w.post('/tasks/act', pause), 400, 'VALIDATION_FAILED')
  })
})

describe('a comment for the present holder', () => {
  test('is a request to it until its claim ends, and is refused when nobody works on the task', async () => {
    const w = await workspace()
    const task = await w.held()
    const say = (text: string) => w.on(task, 'comments', { text, toHolder: true })
    const worker = (await w.post('/keys', { name: 'worker', role: 'member', scopes: ['read', 'work'] })).body
    const posing = { text: 'I am a person', toHolder: true }
    const posed = await served().call('POST', `/tasks/${task.id}/comments`, posing, { key: worker.key })
    expectRefusal(posed, 403, 'FORBIDDEN')
    for (const text of ['1', '2', '3', '4', '5', 'use the other branch'])
      expect((await say(text)).status).toBe(201)
    const renewed = await w.on(task, 'renew', fence('s-alpha', 1))
    const messages = renewed.body.messages.map(({ text }: Json) => text)
    expect(messages).toEqual(['2', '3', '4', '5', 'use the other branch'])
    expect((await w.happens('comment_added', 6)).every(({ payload }) => payload.toHolder === true)).toBe(true)
    await w.on(task, 'release', { ...fence('s-alpha', 1), reason: 'later' })
    expectRefusal(await say('too late'), 409, 'WRONG_STATE')
    const again = await w.claim(task, 'beta')
    const { session, generation } = again.body.claim
    expect((await w.on(task, 'renew', { session, generation })).body.messages).toEqual([])
  })
})

test('after an attempt failed there is no progress until the next one reports some', async () => {
  const w = await workspace()
  const task = await w.held()
  await w.on(task, 'progress', { ...fence('s-alpha', 1), percent: 60, step: 'half' })
  await w.on(task, 'fail', { ...fence('s-alpha', 1), failureClass: 'quality', error: 'exit 1' })
  const { progress } = await w.read(task)
  expect(progress?.percent ?? null).toBeNull()
  const { body } = await w.post('/tasks/cards', { ids: [task.id] })
  expect(body.items).toMatchObject([{ percent: null, step: null }])
})

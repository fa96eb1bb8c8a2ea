import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { TASK_STATES, taskStates } from '../../src/pure/states.ts'
import { actOn, finish, makeMission, submit, take, tasksByTitle } from '../support/http-missions.ts'
import {
  expectRefusal,
  inState,
  type Json,
  type ReachableState,
  useServer,
  type Workspace,
} from '../support/http-workspace.ts'
import { superuser } from '../support/nodes.ts'

/** The board: tasks by column, with exact counts, as of one event. */

const { workspace, served } = useServer()
const COLUMNS = ['inbox', 'assigned', 'in_progress', 'review', 'done']

const board = async (w: Workspace, query = ''): Promise<Json & { columns: Record<string, Json> }> => {
  const answer = await w.call('GET', `/board${query}`)
  expect(answer).toMatchObject({ status: 200 })
  return answer.body
}
const titles = ({ items }: Json) => (items as Json[]).map(({ title }) => title)
const make = async (w: Workspace, title: string, more: Json = {}) =>
  (await w.post('/tasks', { title, ...more })).body as Json & { id: string }

describe('the board', () => {
  test('shows a task of every state in its column, once', async () => {
    const w = await workspace()
    const states = Object.keys(inState) as ReachableState[]
    const tasks = new Map<string, string>()
    for (const state of states) tasks.set((await inState[state](w)).id, state)
    const { columns, counts, seq } = await board(w)
    expect(Object.keys(columns)).toEqual(COLUMNS)
    const shown = COLUMNS.flatMap((name) =>
      (columns[name]!.items as Json[]).map((card) => ({ ...card, name })),
    )
    for (const [id, state] of tasks) {
      const cards = shown.filter((card) => (card as Json).id === id)
      expect(cards, state).toMatchObject([
        { state, name: TASK_STATES[state as 'queued'].board, board: cards[0]!.name },
      ])
    }
    for (const name of COLUMNS) expect(columns[name]!.count).toBe((columns[name]!.items as Json[]).length)
    expect(Object.values(counts as Record<string, number>).reduce((a, b) => a + b)).toBe(shown.length)
    expect(seq).toBe((await w.events()).at(-1).seq)
  })

  test('orders each column: urgent and old ones first, then by time in the state, and what was done last first', async () => {
    const w = await workspace()
    await make(w, 'later', { priority: 5 })
    await make(w, 'urgent', { priority: 9 })
    await make(w, 'last', { priority: 5 })
    expect(titles((await board(w)).columns.inbox!)).toEqual(['urgent', 'later', 'last'])
    const [first, second] = [await take(w), await take(w, 'beta')]
    expect(titles((await board(w)).columns.assigned!)).toEqual(['urgent', 'later'])
    await submit(w, first)
    await submit(w, second, 'beta')
    expect(titles((await board(w)).columns.done!)).toEqual(['later', 'urgent'])
    expect((await board(w)).columns).toMatchObject({
      inbox: { sort: 'priority' },
      review: { sort: 'stateSince' },
      done: { sort: 'completedAt' },
    })
  })

  test('is read page by page, each task once, while others are added and finished', async () => {
    const w = await workspace()
    for (let n = 0; n < 7; n++) await make(w, `t${n}`, { priority: (n % 3) + 1 })
    const all = titles((await board(w)).columns.inbox!)
    const read: unknown[] = []
    let cursor: unknown = null
    do {
      const query = cursor === null ? '' : `&cursor=${cursor}`
      const { columns } = await board(w, `?column=inbox&limit=2${query}`)
      expect(Object.keys(columns)).toEqual(['inbox'])
      read.push(...titles(columns.inbox!))
      cursor = columns.inbox!.nextCursor
      await make(w, 'urgent', { priority: 10 })
    } while (cursor !== null)
    expect(read).toEqual(all)

    await finish(w, 5)
    const done = titles((await board(w)).columns.done!)
    const first = (await board(w, '?column=done&limit=3')).columns.done!
    await finish(w, 1)
    const rest = (await board(w, `?column=done&limit=100&cursor=${first.nextCursor}`)).columns.done!
    expect([...titles(first), ...titles(rest)]).toEqual(done)
  })

  test('has a card with all that a person needs to see', async () => {
    const w = await workspace()
    const mission = await makeMission(w, [
      { tempId: 'a', priority: 7, tags: ['x'] },
      { tempId: 'b', dependsOn: ['a'] },
    ])
    const { a, b } = await tasksByTitle(w, mission)
    const held = await take(w)
    const fenced = { session: 's-alpha', generation: held.generation }
    await w.post(`/tasks/${a!.id}/start`, fenced)
    await w.post(`/tasks/${a!.id}/progress`, { ...fenced, percent: 40, step: 'half' })
    const { columns } = await board(w, `?mission=${mission.id}`)
    expect(columns.in_progress!.items).toMatchObject([
      {
        id: a!.id,
        number: 1,
        title: 'a',
        state: 'running',
        holder: { agent: 'alpha', leaseExpiresAt: expect.any(String) },
        generation: 1,
        attempt: 1,
        percent: 40,
        step: 'half',
        missionId: mission.id,
        waitsFor: [],
        openDeps: 0,
        tokensUsed: null,
        costUsd: null,
        runId: null,
        awaits: null,
      },
    ])
    expect(columns.inbox!.items).toMatchObject([{ id: b!.id, waitsFor: [a!.id], openDeps: 1, number: 2 }])
  })

  test('says of a task what it waits for, until it is cancelled', async () => {
    const w = await workspace()
    const first = await w.make()
    const second = await w.make({ dependsOn: [first.id] })
    const cardOf = async () => (await w.post('/tasks/cards', { ids: [second.id] })).body.items[0]
    expect(await cardOf()).toMatchObject({ waitsFor: [first.id], openDeps: 1 })
    await w.on(second, 'cancel')
    expect(await cardOf()).toMatchObject({ state: 'cancelled', waitsFor: [], openDeps: 0 })
  })

  test('counts the comments on a task, also those that are said with an act on many', async () => {
    const w = await workspace()
    const [a, b] = [await make(w, 'a'), await make(w, 'b')]
    await w.post(`/tasks/${a.id}/comments`, { text: 'Look.' })
    const act = { act: 'pause', ids: [a.id, b.id], reason: 'lunch', comment: 'Back at two.' }
    expect((await w.post('/tasks/act', act)).body).toMatchObject({ done: 2 })
    const { items } = (await w.post('/tasks/cards', { ids: [a.id, b.id] })).body
    expect(items).toMatchObject([
      { id: a.id, commentCount: 2 },
      { id: b.id, commentCount: 1 },
    ])
    await w.post('/tasks/act', { ...act, act: 'retry' })
    expect((await w.post('/tasks/cards', { ids: [b.id] })).body.items).toMatchObject([{ commentCount: 1 }])
    const { items: said } = (await w.call('GET', `/tasks/${b.id}/comments`)).body
    expect(said).toMatchObject([{ text: 'Back at two.' }])
  })

  test('says since when a task is in its state, and a renewal or an edit changes nothing about that', async () => {
    const w = await workspace()
    const { id } = await make(w, 'edited')
    const since = async (column: string) => ((await board(w)).columns[column]!.items as Json[])[0]!.stateSince
    const before = await since('inbox')
    await w.call('PATCH', `/tasks/${id}`, { priority: 9 })
    await w.call('PATCH', `/tasks/${id}`, { priority: 8 })
    expect(await since('inbox')).toBe(before)
    const { generation } = await take(w)
    const claimed = await since('assigned')
    await w.post(`/tasks/${id}/renew`, { session: 's-alpha', generation })
    expect(await since('assigned')).toBe(claimed)
    expect(Date.parse(String(claimed))).toBeGreaterThanOrEqual(Date.parse(String(before)))
  })

  test('filters by mission, project, agent, tag and text', async () => {
    const w = await workspace()
    const mission = await makeMission(w, [{ tempId: 'm' }])
    await w.post('/projects', { slug: 'shop', name: 'Shop' })
    await make(w, 'in the shop', { project: 'shop' })
    await make(w, 'for beta', { agent: 'beta' })
    await make(w, 'Tagged', { tags: ['red', 'blue'] })
    await make(w, '100% sure_thing')
    const found = async (query: string) => {
      const { columns, counts } = await board(w, `?${query}`)
      const items = Object.values(columns).flatMap(titles)
      expect(Object.values(counts as Record<string, number>).reduce((a, b) => a + b, 0)).toBe(items.length)
      return items
    }
    expect(await found(`mission=${mission.id}`)).toEqual(['m'])
    expect(await found('project=shop')).toEqual(['in the shop'])
    expect(await found('agent=beta')).toEqual(['for beta'])
    expect(await found('tag=blue')).toEqual(['Tagged'])
    expect(await found('q=tAGG')).toEqual(['Tagged'])
    expect(await found('q=%25%20sure_')).toEqual(['100% sure_thing'])
    expect(await found('q=%25x')).toEqual([])
    await finish(w, 1, 'beta')
    expect(await found('q=for%20beta')).toEqual(['for beta'])
    expect(await found(`mission=${randomUUID()}`)).toEqual([])
  })

  test('counts work that is not archived, whatever happens to it', async () => {
    const w = await workspace()
    const mission = await makeMission(w, [{ tempId: 'a' }, { tempId: 'b', dependsOn: ['a'] }])
    const single = await make(w, 'single')
    await make(w, 'judged', { verification: { kind: 'human' } })
    await finish(w, 3)
    await actOn(w, mission, 'pause')
    await w.post(`/tasks/${single.id}/archive`)
    const { counts } = await board(w, '?counts=1')
    const items = (await w.call('GET', '/tasks?limit=200')).body.items as Json[]
    for (const state of taskStates)
      expect([state, (counts as Json)[state]]).toEqual([
        state,
        items.filter((one) => one.state === state).length,
      ])
    expect((await board(w, '?counts=1')).columns.done).toMatchObject({ items: [] })
  })

  test('is corrected with an alert when its numbers are wrong', async () => {
    const w = await workspace()
    await make(w, 'a')
    const { id } = await make(w, 'b')
    await superuser(served().databaseUrl, (client) =>
      client.query(
        `update baton.workspace_counters set queued = 7, failed = 1
          where workspace_id = (select workspace_id from baton.tasks where uuid = $1)`,
        [id],
      ),
    )
    await w.post('/coordinator/recover')
    expect((await board(w, '?counts=1')).counts).toMatchObject({ queued: 2, failed: 0 })
    const [alert] = await w.happens('alert_raised')
    expect(alert!.payload).toMatchObject({
      ...{ alert: 'counter_drift', subject: 'COUNTER_DRIFT' },
      error: 'The numbers of tasks by state were wrong: queued 7 instead of 2, failed 1 instead of 0.',
    })
  })

  test('that is asked for nonsense refuses with one sentence', async () => {
    const w = await workspace()
    for (let n = 0; n < 2; n++) await make(w, `t${n}`)
    const { nextCursor } = (await board(w, '?column=inbox&limit=1')).columns.inbox!
    for (const query of [
      'column=attic',
      'limit=-1',
      'counts=2',
      'mission=x',
      `cursor=${nextCursor}`,
      `column=done&cursor=${nextCursor}`,
      'column=inbox&cursor=nonsense',
      `column=inbox&cursor=${Buffer.from('["inbox",-99999999999,1,1]').toString('base64url')}`,
    ])
      expectRefusal(await w.call('GET', `/board?${query}`), 400, 'VALIDATION_FAILED')
    expectRefusal(await w.call('GET', '/board?project=nowhere'), 404, 'NOT_FOUND')
  })
})

test('the cards of some tasks are those of the board, and unknown tasks are left out', async () => {
  const w = await workspace()
  const [a, b] = [await make(w, 'a'), await make(w, 'b')]
  const { body } = await w.post('/tasks/cards', { ids: [b.id, randomUUID(), a.id] })
  const { columns, seq } = await board(w)
  expect(body).toEqual({ items: columns.inbox!.items, seq })
  expectRefusal(await w.post('/tasks/cards', { ids: [] }), 400, 'VALIDATION_FAILED')
  // As many as a graph draws are one request.
  const unknown = (count: number) => ({ ids: Array.from({ length: count }, () => randomUUID()) })
  expect((await w.post('/tasks/cards', unknown(400))).body.items).toEqual([])
  expectRefusal(await w.post('/tasks/cards', unknown(401)), 400, 'VALIDATION_FAILED')
})

describe('an act on several tasks', () => {
  test('is decided for each of them, and says what has become of it', async () => {
    const w = await workspace()
    const [a, b] = [await make(w, 'a'), await make(w, 'b')]
    const held = await take(w)
    await submit(w, held)
    const { status, body } = await w.post('/tasks/act', { act: 'pause', ids: [a.id, b.id], reason: 'lunch' })
    expect(status).toBe(200)
    expect(body).toMatchObject({
      done: 1,
      items: [
        { id: a.id, done: false, code: 'WRONG_STATE', state: 'completed' },
        { id: b.id, done: true, code: null, state: 'paused' },
      ],
    })
  })

  test('is refused for a task that is at another generation than was seen', async () => {
    const w = await workspace()
    const a = await make(w, 'a')
    await take(w)
    for (const act of ['cancel', 'pause']) {
      const { body } = await w.post('/tasks/act', { act, items: [{ id: a.id, generation: 2 }] })
      expect(body.items).toMatchObject([{ done: false, code: 'STALE_GENERATION', generation: 1 }])
    }
    expectRefusal(await w.post(`/tasks/${a.id}/pause`, { generation: 2 }), 409, 'STALE_GENERATION')
    await w.post('/tasks/act', { act: 'cancel', items: [{ id: a.id, generation: 1 }] })
    expectRefusal(await w.post(`/tasks/${a.id}/archive`, { generation: 2 }), 409, 'STALE_GENERATION')
    const stale = await w.post('/tasks/act', { act: 'archive', items: [{ id: a.id, generation: 2 }] })
    expect(stale.body.items).toMatchObject([{ done: false, code: 'STALE_GENERATION', state: 'cancelled' }])
  })

  test('is done once, however often it is sent under one idempotency key', async () => {
    const w = await workspace()
    const a = await make(w, 'a')
    await w.post(`/tasks/${a.id}/cancel`)
    const key = { 'idempotency-key': randomUUID() }
    const act = () => w.call('POST', '/tasks/act', { act: 'reset', ids: [a.id] }, key)
    const first = await act()
    expect(first.body).toMatchObject({ done: 1, items: [{ state: 'queued' }] })
    await w.post(`/tasks/${a.id}/cancel`)
    expect((await act()).body).toMatchObject({ done: 1, items: [{ state: 'cancelled' }] })
  })

  test('names at least one task', async () => {
    const w = await workspace()
    expectRefusal(await w.post('/tasks/act', { act: 'pause' }), 400, 'VALIDATION_FAILED')
    const [a, b] = [await make(w, 'a'), await make(w, 'b')]
    const both = { act: 'pause', ids: [a.id], items: [{ id: b.id }] }
    expect((await w.post('/tasks/act', both)).body).toMatchObject({ done: 2 })
  })
})

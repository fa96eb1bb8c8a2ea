import { expect, onTestFinished, test, vi } from 'vitest'
import { BOARD_COLUMNS } from '../../src/views/board/columns.ts'
import type { CardFilter } from '../../src/views/board/filter.ts'
import type { BoardQuery } from '../../web/src/live/boards.ts'
import { type Card, cardFrom, type LiveEvent } from '../../web/src/live/card.ts'
import { browserClock } from '../../web/src/live/clock.ts'
import type { OpenBoard } from '../../web/src/live/open-board.ts'
import { World } from '../../web/src/live/world.ts'
import { makeMission } from '../support/http-missions.ts'
import { type Json, useServer, type Workspace } from '../support/http-workspace.ts'

/** The store of the web app on a real server: after the real events it shows what a fresh answer shows. */

const { workspace } = useServer()
const pick = <T>(list: readonly T[]): T => list[Math.floor(Math.random() * list.length)]!

/** Whatever people and agents may do to a task, lawful or not. */
async function actAtRandom(w: Workspace, ids: string[]): Promise<void> {
  if (ids.length === 0 || Math.random() < 0.15) {
    const more = {
      priority: pick([1, 5, 9]),
      tags: [pick(['red', 'blue'])],
      ...pick([{}, {}, { agent: 'alpha' }, { agent: 'beta' }]),
    }
    const after = ids.length > 0 && Math.random() < 0.3 ? { dependsOn: [pick(ids)] } : {}
    const review = Math.random() < 0.3 ? { verification: { kind: 'human' } } : {}
    const project = Math.random() < 0.3 ? { project: 'shop' } : {}
    const title = `${pick(['Fix', 'Port', 'Test'])} it`
    const { status, body } = await w.post('/tasks', { title, ...more, ...after, ...review, ...project })
    expect([status, body]).toEqual([201, expect.anything()])
    ids.push(body.id)
    return
  }
  const id = pick(ids)
  const { generation } = (await w.call('GET', `/tasks/${id}`)).body
  const agent = pick(['alpha', 'beta'])
  const held = { session: `s-${agent}`, generation }
  const acts: [path: string, body?: Json][] = [
    ['claim', { agent, session: `s-${agent}` }],
    ['claim', { agent, session: `s-${agent}` }],
    ['claim', { agent, session: `s-${agent}` }],
    ['start', held],
    ['progress', { ...held, percent: pick([10, 20, 30]), step: 'works' }],
    ['renew', held],
    ['continue', held],
    ['release', { ...held, reason: 'busy' }],
    ['ask', { ...held, question: 'Which one?' }],
    ['submit', { ...held, result: 1 }],
    ['submit', { ...held, result: 1 }],
    [
      'fail',
      {
        ...held,
        failureClass: pick(['infrastructure', 'human', 'budget', 'invalid', 'quality']),
        error: 'It broke.',
      },
    ],
    ['answer', { answer: 'This one.' }],
    ['comments', { text: 'Look.' }],
    ['skip', { reason: 'No need.' }],
    ...(['pause', 'resume', 'cancel', 'retry', 'reset', 'archive', 'approve', 'reject'] as const).map(
      (act): [string] => [act],
    ),
  ]
  if (Math.random() < 0.1)
    await w.call(
      'PATCH',
      `/tasks/${id}`,
      pick([{ priority: 7 }, { title: 'Renamed' }, { tags: ['red'] }, { agent: pick([null, 'alpha']) }]),
    )
  else {
    const [path, body] = pick(acts)
    await w.post(`/tasks/${id}/${path}`, body)
  }
}

const comparable = ({ updatedAt: _touched, resultDigest: _digest, dueAt, ...card }: Card) => ({
  ...card,
  // In other states it is a deadline that no card shows.
  dueAt: card.state === 'awaiting_retry' ? dueAt : null,
})

async function eventsAfter(w: Workspace, after: number): Promise<LiveEvent[]> {
  const { items } = (await w.call('GET', `/events?limit=200&after=${after}`)).body
  return items
}

/** Boards with these filters, open in one store, and a check that they show what fresh answers show. */
async function openBoards(w: Workspace, filters: readonly CardFilter[]) {
  const readBoard = async (query: BoardQuery) => {
    const given = Object.entries(query).filter(([, value]) => value !== undefined) as [string, string][]
    return (await w.call('GET', `/board?${new URLSearchParams(given)}`)).body
  }
  const readCards = async (ids: readonly string[]) => (await w.post('/tasks/cards', { ids })).body
  const world = new World({ readBoard, readCards }, browserClock, () => undefined)
  onTestFinished(() => world.close())
  const boards = filters.map((filter) => world.boards.board(filter))
  for (const board of boards) world.boards.watch(board)
  await expect.poll(() => boards.map(({ status }) => status)).toEqual(filters.map(() => 'ready'))
  let last = Math.min(...boards.map(({ countedUpTo }) => countedUpTo))
  const catchUp = async () => {
    for (const event of await eventsAfter(w, last)) {
      world.take(event)
      last = event.seq
    }
    world.flush()
  }
  // A card that is drawn is read again when it is old; one that is not, when it is drawn.
  const drawn = new Set<string>()
  const draw = (id: string) => {
    if (!drawn.has(id)) onTestFinished(world.entities.subscribe('card', id, () => undefined))
    drawn.add(id)
    return comparable(world.shown(id)!)
  }
  const screen = (board: OpenBoard) =>
    BOARD_COLUMNS.map((name) => {
      const { ids: shown, count } = board.column(name)
      return { name, count, cards: shown.map(draw) }
    })
  const answer = async (board: OpenBoard) => {
    const { columns } = await readBoard({ ...board.filter, limit: '1000' })
    return BOARD_COLUMNS.map((name) => {
      const { hasMore, ids: shown } = board.column(name)
      const { count, items } = columns[name]!
      const loaded = hasMore ? items.slice(0, shown.length) : items
      return {
        name,
        count,
        cards: loaded.map((item: Parameters<typeof cardFrom>[0]) => comparable(cardFrom(item))),
      }
    })
  }
  // Cards and counts that events do not tell are read a moment later.
  const areTrue = () =>
    vi.waitFor(
      async () => {
        await catchUp()
        for (const board of boards)
          expect(screen(board), JSON.stringify(board.filter)).toEqual(await answer(board))
      },
      { timeout: 120_000, interval: 200 },
    )
  return { boards, areTrue }
}

test('the store shows what a fresh board shows, at random moments and for any filter', {
  timeout: 180_000,
}, async () => {
  const w = await workspace()
  await w.post('/projects', { slug: 'shop', name: 'Shop' })
  const mission = await makeMission(w, [
    { tempId: 'a' },
    { tempId: 'b', dependsOn: ['a'] },
    { tempId: 'c', dependsOn: ['a'] },
  ])
  const ids: string[] = (await w.call('GET', '/tasks')).body.items.map(({ id }: { id: string }) => id)
  for (let n = 0; n < 40; n++) await actAtRandom(w, ids)
  const some = [{ mission: String(mission.id) }, { project: 'shop' }, { agent: 'alpha' }, { tag: 'red' }]
  const { areTrue } = await openBoards(w, [{}, ...some, { q: 'fix' }])
  for (let round = 0; round < 5; round++) {
    for (let n = 0; n < 8; n++) await Promise.all(Array.from({ length: 8 }, () => actAtRandom(w, ids)))
    await areTrue()
  }
})

test('a card that waits for an agent says so no longer when the agent is there', async () => {
  const w = await workspace()
  await w.make({ agent: 'beta' })
  const other = await w.make()
  const { areTrue } = await openBoards(w, [{}])
  await areTrue()
  expect((await w.on(other, 'claim', { agent: 'beta', session: 's-beta' })).status).toBe(200)
  await areTrue()
})

test('the board of an agent gets back a task that is reserved for it after its question was answered', async () => {
  const w = await workspace()
  const task = await w.held()
  const { boards, areTrue } = await openBoards(w, [{ agent: 'alpha' }])
  const held = { session: 's-alpha', generation: 1 }
  expect((await w.on(task, 'ask', { ...held, question: 'Which one?' })).status).toBe(200)
  await areTrue()
  expect(boards[0]!.list.has(task.id)).toBe(false)
  expect((await w.on(task, 'answer', { answer: 'This one.' })).status).toBe(200)
  await areTrue()
  expect(boards[0]!.list.has(task.id)).toBe(true)
})

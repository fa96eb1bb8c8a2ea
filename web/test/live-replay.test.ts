import { describe, expect, test } from 'vitest'
import { LivePage, onScreen, onServer } from './support/live-page.ts'
import { ManualClock, seeded } from './support/manual-clock.ts'
import { ModelServer } from './support/model-server.ts'

/** In whatever order answers and events arrive, the screen shows what the server has. */

const FILTERS = (server: ModelServer) => [
  {},
  { mission: server.missions[0] },
  { project: 'shop' },
  { agent: 'alpha' },
  { tag: 'red' },
  { q: 'BLUE' },
  { mission: server.missions[1], agent: 'beta' },
  { state: 'queued,failed' },
  { state: '!completed', mission: `!${server.missions[0]}` },
  { type: 'test', priority: '!1,!2' },
  { project: '!shop', state: 'cancelled,running' },
  { tag: 'red,blue', agent: '!alpha' },
]

async function follows(seed: number, events: number): Promise<number> {
  const random = seeded(seed)
  const server = new ModelServer(random)
  // Half of the boards are longer than their first page.
  for (let n = 0; n < (seed % 2) * 250; n++) server.create()
  for (let n = 0; n < 150; n++) server.act()
  const page = new LivePage(server, new ManualClock(random))
  await page.start()
  const boards = FILTERS(server).map((filter) => page.board(filter))
  await page.clock.pass(100)
  let delivered = page.socket.after
  let compared = 0
  page.delayMs = () => Math.floor(random() * 80)
  for (const begin = server.seq; server.seq < begin + events; ) {
    for (let n = random() * 12; n > 0; n--) server.act()
    // Frames are late, and come in pieces.
    if (random() < 0.7) {
      const events = server.log.slice(delivered, delivered + Math.ceil(random() * 30))
      if (events.length > 0) page.socket.say({ events, upTo: events.at(-1)!.seq })
      delivered += events.length
    }
    if (random() < 0.02)
      void page.live.world.boards.loadMore(server.pick(boards), server.pick(['inbox', 'done']))
    await page.clock.pass(Math.floor(random() * 60))
    if (random() > 0.02) continue
    page.deliver(delivered)
    delivered = server.seq
    // Until nothing is in flight.
    await page.clock.pass(5_000)
    for (const board of boards)
      expect(onScreen(page, board), `seed ${seed}, ${JSON.stringify(board.filter)}`).toEqual(
        onServer(server, board),
      )
    compared += 1
  }
  page.live.stop()
  return compared
}

describe('a store that follows the log', () => {
  test('shows what a fresh snapshot shows, through ten thousand random events', async () => {
    let compared = 0
    for (const seed of [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]) compared += await follows(seed, 1_000)
    expect(compared).toBeGreaterThan(20)
  })
})

/** A finished task that is archived, and a page whose board does not show it. */
async function archived() {
  const server = new ModelServer(seeded(5))
  const task = server.create({ purpose: 'work' })
  server.move(task, 'task_cancelled')
  server.archive(task)
  const page = new LivePage(server)
  await page.start()
  const board = page.board()
  await page.clock.pass(100)
  const isTrue = () => expect(onScreen(page, board)).toEqual(onServer(server, board))
  return { server, task, page, isTrue }
}

describe('a task that is archived', () => {
  test('and done again is counted once, whenever its card was read', async () => {
    for (const read of ['never', 'before', 'after'] as const) {
      const { server, task, page, isTrue } = await archived()
      const last = server.seq
      if (read === 'before') page.live.world.wantCard(task.id)
      await page.clock.pass(500)
      server.move(task, 'task_reset')
      if (read === 'after') page.live.world.wantCard(task.id)
      await page.clock.pass(500)
      page.deliver(last)
      await page.clock.pass(3_000)
      isTrue()
    }
  })

  test('before its card is read does not come back with it', async () => {
    const { server, page, isTrue } = await archived()
    const last = server.seq
    const task = server.create({ purpose: 'work' })
    server.move(task, 'task_cancelled')
    page.delayMs = () => 100
    page.deliver(last)
    // The request is on its way: the answer will contain the archived task, and not say so.
    await page.clock.pass(150)
    server.archive(task)
    page.deliver(last)
    await page.clock.pass(3_000)
    isTrue()
  })
})

describe('a task that is done, and edited so that a board no longer shows it', () => {
  async function edited(whileBoardIsRead: boolean) {
    const server = new ModelServer(seeded(6))
    const task = server.create({ purpose: 'work', tags: ['red'] })
    server.move(task, 'task_cancelled')
    const page = new LivePage(server)
    await page.start()
    const board = page.board({ tag: 'red' })
    await page.clock.pass(100)
    expect(board.column('done').count).toBe(1)
    if (whileBoardIsRead) {
      // The answer is made at once, and comes late.
      const delays = [0, 5_000]
      page.delayMs = () => delays.shift() ?? 0
      void page.live.world.boards.load(board)
      await page.clock.pass(0)
    }
    const last = server.seq
    server.edit(task, { tags: ['blue'] })
    page.deliver(last)
    await page.clock.pass(10_000)
    expect(board.column('done').count).toBe(0)
    expect(onScreen(page, board)).toEqual(onServer(server, board))
  }

  test('is no longer counted there', () => edited(false))
  test('is not counted again by an answer that is older than its edit', () => edited(true))
})

/** A task that was archived before its card was read: events do not say that it was not counted. */
test('counts are read again if the board was read while they were on their way, and changed since', async () => {
  const server = new ModelServer(seeded(6))
  const tasks = [1, 2].map(() => server.create({ purpose: 'work' }))
  for (const task of tasks) {
    server.move(task, 'task_cancelled')
    server.archive(task)
  }
  const page = new LivePage(server)
  await page.start()
  const board = page.board()
  await page.clock.pass(100)
  const reset = (task: (typeof tasks)[number]) => {
    const last = server.seq
    server.move(task, 'task_reset')
    page.deliver(last)
  }
  reset(tasks[0]!)
  page.delayMs = () => 500
  // Counts are asked for after a second.
  await page.clock.pass(1_100)
  expect(page.calls.filter((call) => call === 'counts')).toHaveLength(1)
  page.delayMs = () => 0
  void page.live.world.boards.load(board)
  await page.clock.pass(100)
  reset(tasks[1]!)
  await page.clock.pass(5_000)
  expect(onScreen(page, board)).toEqual(onServer(server, board))
})

test('a graph of 400 tasks reads their cards with one request', async () => {
  const server = new ModelServer(seeded(3))
  const tasks = Array.from({ length: 400 }, () => server.create())
  const page = new LivePage(server)
  await page.start()
  for (const { id } of tasks) page.live.world.wantCard(id)
  await page.clock.pass(1_000)
  expect(page.calls.filter((call) => call === 'cards')).toHaveLength(1)
  expect(tasks.every(({ id }) => page.live.world.shown(id))).toBe(true)
})

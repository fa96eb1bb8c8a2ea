import { describe, expect, test } from 'vitest'
import { MOST_QUEUED } from '../src/live/event-queue.ts'
import { LivePage, onScreen, onServer, Refused } from './support/live-page.ts'
import { seeded } from './support/manual-clock.ts'
import { ModelServer } from './support/model-server.ts'

/** The one socket of a page: what it does when anything between it and the server goes wrong. */

async function opened(acts = 30) {
  const server = new ModelServer(seeded(3))
  for (let n = 0; n < acts; n++) server.act()
  const page = new LivePage(server)
  await page.start()
  const board = page.board()
  await page.clock.pass(100)
  const happen = (times: number) => {
    for (let n = 0; n < times; n++) server.act()
  }
  const isTrue = () => expect(onScreen(page, board)).toEqual(onServer(server, board))
  const freshness = () => page.live.freshness.get().freshness
  return { server, page, board, happen, isTrue, freshness }
}

describe('the numbers of the log', () => {
  test('a hole is noticed, and the log is asked for again from the last event before it', async () => {
    const { server, page, happen, isTrue } = await opened()
    const last = server.seq
    happen(10)
    page.socket.say({ events: server.log.slice(last + 1), upTo: server.seq })
    await page.clock.pass(10)
    expect(page.sockets.map(({ after }) => after)).toEqual([last, last])
    page.deliver(last)
    await page.clock.pass(3_000)
    isTrue()
  })

  test('what comes twice counts once', async () => {
    const { server, page, happen, isTrue } = await opened()
    const last = server.seq
    happen(20)
    page.deliver(last)
    page.deliver(last)
    page.deliver(last + 5)
    await page.clock.pass(3_000)
    isTrue()
    expect(page.sockets).toHaveLength(1)
  })

  test('far behind, pages are read again instead of applying thousands of events', async () => {
    const { server, page, happen, isTrue } = await opened()
    const reads = () => page.calls.filter((call) => call === 'board').length
    const before = reads()
    while (server.seq < 5_100) happen(100)
    page.hello()
    await page.clock.pass(1_000)
    expect(reads()).toBe(before + 1)
    expect(page.socket.after).toBe(server.seq)
    isTrue()
  })

  test('a restored database, whose log is shorter, is read again, and its events count', async () => {
    const { server, page, board, happen, isTrue } = await opened(60)
    server.restore(5, 20)
    page.hello()
    await page.clock.pass(1_000)
    isTrue()
    const restored = server.seq
    happen(10)
    page.deliver(restored)
    await page.clock.pass(3_000)
    isTrue()
    expect(board.status).toBe('ready')
  })

  test('a card that the database before it answered changes nothing', async () => {
    const { server, page, isTrue } = await opened(60)
    const last = server.seq
    const task = server.create({ purpose: 'work' })
    for (let n = 0; n < 5; n++) server.create()
    page.deliver(last)
    await page.clock.pass(500)
    // The answer is made at once, and comes late.
    const delays = [0, 2_000]
    page.delayMs = () => delays.shift() ?? 0
    page.live.world.readCardAgain(task.id)
    await page.clock.pass(200)
    expect(page.calls.at(-1)).toBe('cards')
    server.restore(5, 20)
    page.hello()
    await page.clock.pass(3_000)
    const restored = server.seq
    server.move(task, 'task_assigned')
    page.deliver(restored)
    await page.clock.pass(3_000)
    isTrue()
  })

  test('a head that the events after it overtook on the way is no shorter log', async () => {
    const { server, page, happen, isTrue } = await opened()
    const last = server.seq
    happen(10)
    page.deliver(last)
    await page.clock.pass(100)
    page.socket.say({ head: last + 5, now: page.clock.now(), instance: page.instance })
    await page.clock.pass(1_000)
    expect(page.sockets).toHaveLength(1)
    expect(page.calls).not.toContain('session')
    isTrue()
  })

  test('another database under the same address is read again, even with as many events', async () => {
    const { page } = await opened()
    const reads = () => page.calls.filter((call) => call === 'board').length
    const before = reads()
    page.hello()
    await page.clock.pass(100)
    expect(reads()).toBe(before)
    page.instance = 'two'
    page.hello()
    await page.clock.pass(100)
    expect(reads()).toBe(before + 1)
  })
})

describe('a connection that is lost', () => {
  test('is retried with growing delays, ten seconds at most, and catches up', async () => {
    const { server, page, happen, isTrue, freshness } = await opened()
    const last = server.seq
    page.failing = new Error('no answer')
    page.socket.end(1001)
    const waits: number[] = []
    for (let n = 0; n < 9; n++) {
      await page.clock.pass(0)
      const state = freshness()
      expect(state.kind).toBe('again')
      const waitMs = state.kind === 'again' ? state.at - page.clock.now() : 0
      waits.push(waitMs)
      await page.clock.pass(waitMs)
    }
    expect(waits.slice(1, 4)).toEqual([waits[0]! * 2, waits[0]! * 4, waits[0]! * 8])
    expect(Math.max(...waits)).toBeLessThanOrEqual(10_000)
    page.failing = null
    happen(10)
    await page.clock.pass(10_000)
    page.hello()
    page.deliver(last)
    await page.clock.pass(3_000)
    expect(freshness().kind).toBe('live')
    isTrue()
  })

  test('is noticed when nothing was heard for 40 seconds', async () => {
    const { page } = await opened()
    await page.clock.pass(30_000)
    page.hello()
    await page.clock.pass(39_000)
    expect(page.sockets).toHaveLength(1)
    await page.clock.pass(2_000)
    expect(page.sockets).toHaveLength(2)
    expect(page.sockets[0]!.isClosed).toBe(true)
  })

  test('is tried at once when the network is back, and says since when it was away', async () => {
    const { page, freshness } = await opened()
    page.isOnline = false
    page.live.online(false)
    expect(freshness()).toEqual({ kind: 'offline', since: page.clock.now() })
    await page.clock.pass(60_000)
    expect(page.sockets).toHaveLength(1)
    page.isOnline = true
    page.live.online(true)
    await page.clock.pass(0)
    expect(page.sockets).toHaveLength(2)
  })

  test('asks for the session when it broke without a reason, and signs out when that is over', async () => {
    const { page, freshness } = await opened()
    page.failing = new Refused(401)
    page.socket.end(1006)
    await page.clock.pass(0)
    expect(page.calls.at(-1)).toBe('session')
    expect(page.isSignedOut).toBe(true)
    expect(freshness().kind).toBe('signed_out')
    await page.clock.pass(60_000)
    expect(page.sockets).toHaveLength(1)
  })

  test('signs out at once when the server says that the session is over', async () => {
    const { page } = await opened()
    page.socket.end(4401)
    await page.clock.pass(60_000)
    expect([page.isSignedOut, page.sockets.length]).toEqual([true, 1])
  })

  test('polls the log when sockets are refused twice, says so, and tries a socket again after a minute', async () => {
    const { server, page, happen, isTrue, freshness } = await opened()
    page.socket.end(1001)
    for (let n = 0; n < 2; n++) {
      await page.clock.pass(1_000)
      page.socket.end(1006)
      await page.clock.pass(0)
    }
    expect(freshness()).toEqual({ kind: 'polling' })
    happen(10)
    await page.clock.pass(5_000)
    isTrue()
    const tried = page.sockets.length
    await page.clock.pass(60_000)
    expect(page.sockets.length).toBe(tried + 1)
    page.hello()
    page.deliver(server.seq)
    await page.clock.pass(100)
    expect(freshness().kind).toBe('live')
    const polls = page.calls.filter((call) => call === 'events').length
    await page.clock.pass(10_000)
    expect(page.calls.filter((call) => call === 'events').length).toBe(polls)
  })
})

describe('a hidden page', () => {
  test('keeps its socket for five minutes, closes it then, and catches up when it is shown', async () => {
    const { server, page, happen, isTrue } = await opened()
    const last = server.seq
    page.live.shown(false)
    for (let n = 0; n < 11; n++) {
      await page.clock.pass(25_000)
      page.hello()
    }
    expect(page.socket.isClosed).toBe(false)
    await page.clock.pass(30_000)
    expect(page.socket.isClosed).toBe(true)
    happen(10)
    await page.clock.pass(600_000)
    expect(page.sockets).toHaveLength(1)
    page.live.shown(true)
    await page.clock.pass(0)
    expect(page.socket.after).toBe(last)
    page.hello()
    page.deliver(last)
    await page.clock.pass(3_000)
    isTrue()
  })

  test('that tells of what waits keeps its socket, also when its turn to tell comes after it was closed', async () => {
    const { page } = await opened()
    const passHidden = async (times: number) => {
      for (let n = 0; n < times; n++) {
        await page.clock.pass(25_000)
        page.hello()
      }
    }
    page.live.shown(false)
    page.live.staysWhileHidden(true)
    await passHidden(20)
    expect(page.sockets).toHaveLength(1)
    expect(page.socket.isClosed).toBe(false)
    page.live.staysWhileHidden(false)
    await passHidden(11)
    await page.clock.pass(30_000)
    expect(page.socket.isClosed).toBe(true)
    page.live.staysWhileHidden(true)
    await page.clock.pass(0)
    expect(page.sockets).toHaveLength(2)
    expect(page.socket.isClosed).toBe(false)
  })

  test('that is hidden for a moment keeps its socket', async () => {
    const { page } = await opened()
    page.live.shown(false)
    await page.clock.pass(10_000)
    page.live.shown(true)
    for (let n = 0; n < 20; n++) {
      await page.clock.pass(25_000)
      page.hello()
    }
    expect(page.sockets).toHaveLength(1)
  })
})

test('a clock that is wrong by an hour is corrected by what the server says', async () => {
  const { page } = await opened()
  const serverNow = page.clock.now() - 3_600_000
  let redrawn = 0
  page.live.freshness.subscribe(() => {
    redrawn += 1
  })
  const say = (now: number) => page.socket.say({ head: page.socket.after, now, instance: 'one' })
  say(serverNow)
  expect(page.live.now()).toBe(serverNow)
  // At once, and not again while the line is only a little slower or quicker.
  expect([redrawn, page.live.freshness.offsetSteps]).toEqual([1, 1])
  say(serverNow + 500)
  expect([redrawn, page.live.freshness.offsetSteps]).toEqual([1, 1])
  await page.clock.pass(5_000)
  expect(page.live.now()).toBe(serverNow + 5_500)
})

test('more events than can be applied are not: pages are read again', async () => {
  const { server, page, happen, isTrue } = await opened()
  const last = server.seq
  const reads = () => page.calls.filter((call) => call === 'board').length
  const before = reads()
  while (server.seq < last + MOST_QUEUED + 1) happen(100)
  for (let n = last; n < server.seq; n += 500)
    page.socket.say({ events: server.log.slice(n, n + 500), upTo: Math.min(n + 500, server.seq) })
  await page.clock.pass(5_000)
  expect(reads()).toBeGreaterThan(before)
  isTrue()
})

test('applying events yields after eight milliseconds, and continues', async () => {
  const { server, page, happen } = await opened()
  const last = server.seq
  happen(50)
  let applied = 0
  let flushed = 0
  page.live.follow({
    event: () => {
      applied += 1
      page.clock.jump(3)
    },
    flush: () => {
      flushed += 1
      expect(applied).toBeLessThanOrEqual(flushed * 3)
    },
    resync: () => undefined,
  })
  page.deliver(last)
  await page.clock.pass(1_000)
  expect(applied).toBe(server.seq - last)
  expect(flushed).toBeGreaterThan(10)
})

test('the output of runs is followed for all who ask, sixteen runs at most, also on the next socket', async () => {
  const { page } = await opened()
  const heard: string[] = []
  const leave = page.live.output.follow(['a', 'b'], ({ chunk }) => heard.push(chunk))
  page.live.output.follow(['b', 'c'], ({ chunk }) => heard.push(chunk.toUpperCase()))
  const many = Array.from({ length: 20 }, (_, n) => `r${n}`)
  const unfollow = page.live.output.follow(many, () => undefined)
  expect((page.socket.sent.at(-1) as { output: string[] }).output).toEqual(many.slice(0, 16))
  unfollow()
  page.socket.say({ output: { runId: 'b', agent: 'x', stream: 'stdout', chunk: 'hi', offset: 0 } })
  expect(heard).toEqual(['hi', 'HI'])
  leave()
  expect(page.socket.sent.at(-1)).toEqual({ output: ['b', 'c'] })
  page.socket.end(1001)
  await page.clock.pass(1_000)
  page.hello()
  expect(page.socket.sent.at(-1)).toEqual({ output: ['b', 'c'] })
})

test('unknown messages break nothing', async () => {
  const { server, page, happen, isTrue } = await opened()
  page.socket.say('nonsense')
  page.socket.onmessage?.({ data: '{' })
  const last = server.seq
  happen(3)
  server.log[last] = { ...server.log[last]!, type: 'task_teleported' as never }
  page.deliver(last)
  await page.clock.pass(5_000)
  isTrue()
})

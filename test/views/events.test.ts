import { subscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { get, type IncomingMessage, type ServerResponse } from 'node:http'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { WebSocket } from 'ws'
import { PostgresStore } from '../../src/store/store.ts'
import { expectRefusal, type Json, openWorkspace, type Workspace } from '../support/http-workspace.ts'
import { superuser, until } from '../support/nodes.ts'
import { rounds } from '../support/rounds.ts'
import { type ServerUnderTest, startServer } from '../support/server.ts'

/** The log as its readers see it: page by page, as a stream and over a socket. */

let server: ServerUnderTest
beforeAll(async () => {
  server = await startServer()
})
let stopping: Promise<void> | undefined
const stop = () => (stopping ??= server.close())
afterAll(stop, 20_000)

const workspace = () => openWorkspace(server)
interface Event {
  seq: number
  type: string
  taskId: string | null
  payload: Json
  at: string
}

/** A reader that follows the log, and what it has read so far. */
interface Reader {
  events: Event[]
  leave(): Promise<unknown>
}
const seqs = ({ events }: { events: Event[] }) => events.map(({ seq }) => seq)
const upTo = (last: number, after = 0) => Array.from({ length: last - after }, (_, i) => after + i + 1)
const hasRead = (reader: Reader, seq: number) => until(async () => (reader.events.at(-1)?.seq ?? 0) >= seq)
const lastSeq = async (w: Workspace) => (await readPages(w)).events.at(-1)!.seq

async function readPages(w: Workspace, size = 200): Promise<{ events: Event[]; pages: number }> {
  const events: Event[] = []
  for (let pages = 1, after = '0'; ; pages++) {
    const { items, nextCursor } = (await w.call('GET', `/events?after=${after}&limit=${size}`)).body
    expect(items.length).toBeLessThanOrEqual(size)
    events.push(...items)
    if (nextCursor === null) return { events, pages }
    after = nextCursor
  }
}

async function openStream(
  w: Workspace,
  query = '',
  headers: Record<string, string> = {},
): Promise<IncomingMessage> {
  const auth = { authorization: `Bearer ${w.ownerKey}` }
  const sent = get(`${server.api}/events/stream${query}`, { headers: { ...auth, ...headers }, agent: false })
  sent.on('error', () => undefined)
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  expect([response.statusCode, response.headers['content-type']]).toEqual([200, 'text/event-stream'])
  return response
}

function collect(response: IncomingMessage): Reader {
  const events: Event[] = []
  let text = ''
  response.setEncoding('utf8').on('data', (chunk) => {
    const frames = (text + chunk).split('\n\n')
    text = frames.pop()!
    for (const frame of frames) {
      if (frame.startsWith(':')) continue
      const fields = Object.fromEntries(
        frame.split('\n').map((line) => [line.split(': ', 1)[0]!, line.slice(line.indexOf(': ') + 2)]),
      )
      const event = JSON.parse(fields.data!)
      expect([fields.id, fields.event]).toEqual([String(event.seq), event.type])
      events.push(event)
    }
  })
  response.on('error', () => undefined).resume()
  return {
    events,
    leave: () => {
      const closed = once(response, 'close')
      response.destroy()
      return closed
    },
  }
}
const stream = async (w: Workspace, query?: string, headers?: Record<string, string>) =>
  collect(await openStream(w, query, headers))

async function socket(w: Workspace, query = ''): Promise<Reader> {
  const ws = new WebSocket(`${server.api.replace('http', 'ws')}/events/ws${query}`, {
    headers: { authorization: `Bearer ${w.ownerKey}` },
  })
  const events: Event[] = []
  ws.on('message', (data) => events.push(...(JSON.parse(data.toString()).events ?? [])))
  await once(ws, 'open')
  return {
    events,
    leave: () => {
      const closed = once(ws, 'close')
      ws.close()
      return closed
    },
  }
}

/** Many clients at once: new tasks, claims by new agents, and changes that belong to no task. */
function write(w: Workspace, count: number): Promise<unknown>[] {
  return Array.from({ length: count }, async (_, i) => {
    if (i % 50 === 7) return w.setLimits({ maxConcurrentClaims: 1000 + i })
    const task = await w.make({ title: `task ${i}` })
    if (i % 3 === 0) return w.claim(task, `agent-${i}`)
  })
}

/** A log that is longer than socket buffers: ten megabytes of it. Written once, for the tests that need one. */
const LONG = 10_000
let longLog: Promise<{ w: Workspace }> | undefined
function aLongLog() {
  longLog ??= (async () => {
    const w = await workspace()
    const tasks = Array.from({ length: LONG }, (_, i) => ({ title: `${'😀'.repeat(190)} ${i}` }))
    expect((await w.post('/tasks/batch', { tasks })).status).toBe(201)
    return { w }
  })()
  return longLog
}

describe('page by page', () => {
  test('the log has no gap and no duplicate, whatever the size of a page', async () => {
    const w = await workspace()
    await Promise.all(write(w, 40))
    const whole = await readPages(w)
    const last = whole.events.length
    expect(last).toBeGreaterThan(60)
    expect(seqs(whole)).toEqual(upTo(last))
    for (const size of [1, 7, last]) {
      const read = await readPages(w, size)
      expect(read.events).toEqual(whole.events)
      expect(read.pages).toBeGreaterThanOrEqual(Math.ceil(last / size))
    }
    expect((await w.call('GET', '/events')).body.items).toHaveLength(Math.min(50, last))
    expect((await w.call('GET', `/events?after=${last}`)).body).toEqual({
      items: [],
      nextCursor: null,
      upTo: last,
    })
    expect((await w.call('GET', '/events?after=999999999999999')).body.items).toEqual([])
  })

  test('a task’s own log is the part of the whole that is about it', async () => {
    const w = await workspace()
    const [task] = await Promise.all([w.held(), w.held(), w.held()])
    await w.on(task, 'submit', { session: 's-alpha', generation: 1, result: 1 })
    const own = (await readPages(w)).events.filter(({ taskId }) => taskId === task.id)
    expect(own.map(({ type }) => type)).toEqual(['task_created', 'task_assigned', 'task_completed'])
    expect((await w.read(task, '/events')).items).toEqual(own)
    const page = await w.read(task, '/events?limit=2')
    expect((await w.read(task, `/events?limit=2&after=${page.nextCursor}`)).items).toEqual(own.slice(2))
  })
})

describe('as a stream', () => {
  test('events arrive as they happen, from now on or from a given seq', async () => {
    const w = await workspace()
    await w.make()
    const before = await lastSeq(w)
    const [fromNow, fromStart] = [await stream(w), await stream(w, '?after=0')]
    const byHeader = await stream(w, '?after=0', { 'last-event-id': String(before - 1) })
    await until(async () => byHeader.events.length === 1)
    await w.held()
    await w.setLimits({ maxConcurrentClaims: 7 })
    const last = await lastSeq(w)
    for (const reader of [fromNow, fromStart, byHeader]) await hasRead(reader, last)
    expect(fromStart.events).toEqual((await readPages(w)).events)
    expect(seqs(byHeader), 'the header wins over the query').toEqual(upTo(last, before - 1))
    expect(seqs(fromNow)).toEqual(upTo(last, before))
    await Promise.all([fromNow, fromStart, byHeader].map((reader) => reader.leave()))
  })

  test.each(['as a stream', 'over a socket'])('%s, "from now on" is from the answer on', async (how) => {
    const w = await workspace()
    const read = PostgresStore.prototype.lastSeq
    let release!: () => void
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    const asked = vi.spyOn(PostgresStore.prototype, 'lastSeq')
    asked.mockImplementation(async function (this: PostgresStore, ...about) {
      await released
      return read.apply(this, about)
    })
    try {
      let isAnswered = false
      const opening = (how === 'as a stream' ? stream(w) : socket(w)).finally(() => {
        isAnswered = true
      })
      await until(async () => asked.mock.calls.length > 0)
      // What this creates would be lost to a reader that had its answer already.
      await w.make()
      expect(isAnswered, 'before the reader’s position is known').toBe(false)
      release()
      const reader = await opening
      await w.make({ title: 'from now on' })
      await until(async () => reader.events.length > 0)
      expect(reader.events[0]).toMatchObject({ payload: { title: 'from now on' } })
      await reader.leave()
    } finally {
      asked.mockRestore()
    }
  })

  test.each(['x', '-1', '1.5', '9'.repeat(16), '1 2'])(
    'a reader with the position "%s" is refused',
    async (id) => {
      const w = await workspace()
      const refused = await w.call('GET', '/events/stream', undefined, { 'last-event-id': id })
      expectRefusal(refused, 400, 'VALIDATION_FAILED', { errors: [{ field: 'Last-Event-ID' }] })
    },
  )

  test('a reader that is disconnected repeatedly while others write loses and duplicates nothing', async () => {
    const w = await workspace()
    const writing = write(w, 150)
    const read: number[] = []
    let done = false
    const finished = Promise.all(writing).then(() => (done = true))
    for (let cuts = 0; !done || cuts < 5; cuts++) {
      const reader = await stream(w, '?after=0', read.length ? { 'last-event-id': String(read.at(-1)) } : {})
      await until(async () => reader.events.length > 3 || done)
      await reader.leave()
      read.push(...seqs(reader))
    }
    await finished
    const last = await lastSeq(w)
    const rest = await stream(w, `?after=${read.at(-1) ?? 0}`)
    if (read.at(-1) !== last) await hasRead(rest, last)
    await rest.leave()
    expect([...read, ...seqs(rest)]).toEqual(upTo(last))
  })

  test('a reader that does not read delays no one, and finds everything when it does', async () => {
    const { w } = await aLongLog()
    await superuser(server.databaseUrl, (client) => client.query('analyze'))
    const asleep = (await openStream(w, '?after=0')).pause()
    const awake = await stream(w, '?after=0')
    await w.make()
    const last = LONG + 3
    await hasRead(awake, last)
    const late = collect(asleep)
    await hasRead(late, last)
    expect(seqs(awake)).toEqual(upTo(last))
    expect(late.events).toEqual(awake.events)
    await Promise.all([awake.leave(), late.leave()])
  })

  test('readers that disconnect leave no timers and sockets behind', async () => {
    const w = await workspace()
    const open = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length
    const before = open()
    const readers = await Promise.all([
      ...Array.from({ length: 25 }, () => stream(w, '?after=0')),
      ...Array.from({ length: 25 }, () => socket(w, '?after=0')),
    ])
    for (const reader of readers) await hasRead(reader, 1)
    expect(open(), 'each has a timer for its heartbeat').toBeGreaterThan(before + 30)
    await Promise.all(readers.map((reader) => reader.leave()))
    await until(async () => open() < before + 15)
  })
})

describe('over a socket', () => {
  test('history comes first, then new events, in one order and the same for every reader', async () => {
    const w = await workspace()
    await Promise.all(write(w, 30))
    const replayed = await lastSeq(w)
    const [one, two] = [await socket(w, '?after=0'), await socket(w, '?after=0')]
    await hasRead(one, replayed)
    const fromNow = await socket(w)
    await Promise.all(write(w, 30))
    const last = await lastSeq(w)
    for (const reader of [one, two, fromNow]) await hasRead(reader, last)
    expect(one.events).toEqual((await readPages(w)).events)
    expect(two.events).toEqual(one.events)
    expect(fromNow.events).toEqual(one.events.filter(({ seq }) => seq > last - fromNow.events.length))
    await Promise.all([one, two, fromNow].map((reader) => reader.leave()))
  })

  test('it begins with the head of the log, the time and the id of the database, which all connections share', async () => {
    const w = await workspace()
    await w.make()
    const first = async (query: string) => {
      const ws = new WebSocket(`${server.api.replace('http', 'ws')}/events/ws${query}`, {
        headers: { authorization: `Bearer ${w.ownerKey}` },
      })
      const [data] = await once(ws, 'message')
      ws.terminate()
      return JSON.parse(data.toString())
    }
    const head = (await readPages(w)).events.length
    const [one, two] = [await first('?after=0'), await first('')]
    expect(one).toEqual({ head, now: expect.any(Number), instance: expect.stringMatching(/^[0-9a-f-]{36}$/) })
    expect(two).toMatchObject({ head, instance: one.instance })
    expect(Math.abs(one.now - Date.now())).toBeLessThan(3_600_000)
  })

  test('what a client sends is ignored, and too much of it ends the connection', async () => {
    const w = await workspace()
    const ws = new WebSocket(`${server.api.replace('http', 'ws')}/events/ws?after=0`, {
      headers: { authorization: `Bearer ${w.ownerKey}` },
    })
    const frames: Json[] = []
    ws.on('message', (data) => frames.push(JSON.parse(data.toString())))
    await until(async () => frames.length === 2)
    for (const noise of ['{"after":0}', 'x', Buffer.alloc(1000)]) ws.send(noise)
    await w.make()
    await until(async () => frames.length === 3)
    expect(frames[2]!.events).toMatchObject([{ type: 'task_created' }])
    ws.send('x'.repeat(100_000))
    const [code] = await once(ws, 'close')
    expect(code, 'message too big').toBe(1009)
  })
})

const WRITES = rounds(120, 300)
test(`with ${WRITES} writes at once every reader sees every event exactly once and in order`, async () => {
  const w = await workspace()
  const early = [await stream(w, '?after=0'), await stream(w, '?after=0'), await socket(w, '?after=0')]
  const writing = write(w, WRITES)
  await Promise.race(writing)
  const late = [await stream(w, '?after=0'), await socket(w, '?after=0'), await socket(w, '?after=5')]
  await Promise.all(writing)
  const whole = await readPages(w)
  const last = whole.events.length
  expect(last).toBeGreaterThan((WRITES * 5) / 3)
  expect(seqs(whole)).toEqual(upTo(last))
  const readers = [...early, ...late]
  for (const reader of readers) await hasRead(reader, last)
  for (const reader of readers.slice(0, -1)) expect(reader.events).toEqual(whole.events)
  expect(seqs(readers.at(-1)!)).toEqual(upTo(last, 5))
  await Promise.all(readers.map((reader) => reader.leave()))
})

test('two workspaces write at once, and no reader of one sees anything of the other', async () => {
  const [one, two] = [await workspace(), await workspace()]
  const readers = await Promise.all([one, two].flatMap((w) => [stream(w, '?after=0'), socket(w, '?after=0')]))
  await Promise.all([...write(one, 50), ...write(two, 50)])
  const logs = [await readPages(one), await readPages(two)]
  for (const [i, reader] of readers.entries()) {
    const { events } = logs[i >> 1]!
    await hasRead(reader, events.length)
    expect(reader.events).toEqual(events)
  }
  const tasks = logs.map(({ events }) => new Set(events.flatMap(({ taskId }) => taskId ?? [])))
  expect(tasks.map(({ size }) => size)).toEqual([49, 49])
  expect([...tasks[0]!].filter((id) => tasks[1]!.has(id))).toEqual([])
  await Promise.all(readers.map((reader) => reader.leave()))
})

// The last one, since it stops the server.
test('readers, whether they read or not, are disconnected when the server stops', async () => {
  const { w } = await aLongLog()
  await superuser(server.databaseUrl, (client) => client.query('analyze'))
  const awake = await openStream(w)
  const waiting = await socket(w)
  let unread: ServerResponse | undefined
  subscribe('http.server.request.start', (message) => {
    unread = (message as { response: ServerResponse }).response
  })
  const asleep = (await openStream(w, '?after=0')).pause()
  await until(async () => unread?.writableNeedDrain)
  // A reader that did not read is disconnected, which it sees as an error first.
  const ended = [asleep, awake].map(
    (response) => new Promise((resolve) => response.on('error', () => undefined).on('close', resolve)),
  )
  await stop()
  for (const response of [asleep, awake]) response.resume()
  await Promise.all(ended)
  expect(waiting.events).toEqual([])
})

import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { expectRefusal, fence, type Json, useServer, type Workspace } from '../support/http-workspace.ts'
import { superuser, until } from '../support/nodes.ts'

/** Parts of the log: page by page, as a stream and over a socket. */

const { served, workspace } = useServer()

interface Event {
  seq: number
  type: string
  entityType: string
  entityId: string | null
  taskId: string | null
  missionId: string | null
  actor: string
  by: Json
  payload: Json
  level: string
  message?: string
  at: string
}

async function readAll(w: Workspace, path: string, size = 200) {
  const events: Event[] = []
  for (let after = '0', pages = 1; ; pages++) {
    const sign = path.includes('?') ? '&' : '?'
    const { items, nextCursor, upTo } = (await w.call('GET', `${path}${sign}after=${after}&limit=${size}`))
      .body
    events.push(...items)
    expect(upTo).toBeGreaterThanOrEqual(items.at(-1)?.seq ?? Number(after))
    if (nextCursor === null) return { events, pages, upTo }
    after = nextCursor
  }
}

interface Reader {
  events: Event[]
  /** How far the log was read for it, as it learned. */
  upTo(): number
  leave(): Promise<unknown>
}

async function stream(w: Workspace, query: string, headers: Record<string, string> = {}): Promise<Reader> {
  const auth = { authorization: `Bearer ${w.ownerKey}` }
  const sent = get(`${served().api}/events/stream${query}`, {
    headers: { ...auth, ...headers },
    agent: false,
  })
  sent.on('error', () => undefined)
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  expect(response.statusCode).toBe(200)
  const events: Event[] = []
  let [text, upTo] = ['', 0]
  response.setEncoding('utf8').on('data', (chunk) => {
    const frames = (text + chunk).split('\n\n')
    text = frames.pop()!
    for (const frame of frames) {
      const [, id, type, data] = /^id: (\d+)\nevent: (\w+)\ndata: (.*)$/.exec(frame) ?? []
      if (id === undefined) continue
      upTo = Number(id)
      if (type === 'looked') expect(JSON.parse(data!)).toEqual({ upTo })
      else events.push(JSON.parse(data!))
    }
  })
  response.on('error', () => undefined).resume()
  return {
    events,
    upTo: () => upTo,
    leave: () => {
      const closed = once(response, 'close')
      response.destroy()
      return closed
    },
  }
}

async function socket(w: Workspace, query: string): Promise<Reader> {
  const ws = new WebSocket(`${served().api.replace('http', 'ws')}/events/ws${query}`, {
    headers: { authorization: `Bearer ${w.ownerKey}` },
  })
  const events: Event[] = []
  let told = 0
  ws.on('message', (data) => {
    const frame = JSON.parse(data.toString())
    if (!frame.events) return
    events.push(...frame.events)
    expect(frame.upTo).toBeGreaterThan(told)
    told = frame.upTo
  })
  await once(ws, 'open')
  return {
    events,
    upTo: () => told,
    leave: () => {
      const closed = once(ws, 'close')
      ws.close()
      return closed
    },
  }
}

const PLAN = {
  tasks: [
    { tempId: 'a', title: 'first' },
    { tempId: 'b', title: 'second', dependsOn: ['a'] },
  ],
}
const launch = async (w: Workspace): Promise<Json> => {
  const body = { goal: 'Go', plan: PLAN, config: { autonomy: 'full_auto' } }
  return (await w.post('/missions', body)).body
}

/** A workspace in which something of every kind has happened. */
async function busy() {
  const w = await workspace()
  await w.on(await w.held(), 'fail', { ...fence('s-alpha', 1), failureClass: 'invalid' })
  const [mission, other] = [await launch(w), await launch(w)]
  const { items } = (await w.call('GET', `/tasks?mission=${mission.id}&state=queued`)).body
  const [task] = items
  await w.claim(task, 'alpha')
  await w.on(task, 'submit', { ...fence('s-alpha', 1), result: 1 })
  // It comes unasked: after it nothing is written unless somebody asks.
  await w.happens('report_written')
  await w.held()
  await w.claim(await w.make(), 'beta')
  await w.post(`/missions/${other.id}/pause`)
  await w.setLimits({ maxConcurrentClaims: 77 })
  await w.call('PUT', '/agents/alpha', { name: 'Alpha' })
  await w.post('/projects', { slug: 'shop', name: 'Shop' })
  return { w, mission, other, task }
}

describe('a part of the log', () => {
  let all: Awaited<ReturnType<typeof busy>>
  let log: Event[]
  beforeAll(async () => {
    all = await busy()
    log = (await readAll(all.w, '/events')).events
  })

  const about = (agent: string) => (event: Event) =>
    event.actor === `agent:${agent}` || event.payload.agent === agent
  const PARTS: [query: string, isMeant: (event: Event) => boolean][] = [
    ['mission=<mission>', (event) => event.missionId === all.mission.id],
    ['task=<task>', (event) => event.taskId === all.task.id],
    ['agent=alpha', about('alpha')],
    ['type=mission_*', ({ type }) => type.startsWith('mission_')],
    ['type=task_assigned,key_*', ({ type }) => type === 'task_assigned' || type.startsWith('key_')],
    ['entity=mission', ({ type }) => type.startsWith('mission_')],
    ['entity=workspace', ({ type }) => /^(workspace|limits)_/.test(type)],
    ['entity=agent:alpha', ({ type, payload }) => /^agent_/.test(type) && payload.agent === 'alpha'],
    ['entity=project:shop', ({ type }) => type === 'project_created'],
    ['entity=task:<task>', ({ taskId }) => taskId === all.task.id],
    ['entity=mission:<other>', ({ taskId, missionId }) => missionId === all.other.id && !taskId],
    [
      'mission=<mission>&type=task_*&agent=alpha',
      (event) => event.missionId === all.mission.id && about('alpha')(event) && /^task_/.test(event.type),
    ],
    ['entity=run&type=task_*', () => false],
    ['by=key', ({ actor }) => actor.startsWith('key:')],
    ['by=agent:beta', ({ actor }) => actor === 'agent:beta'],
    ['level=WARN,ERROR', ({ level }) => level === 'WARN' || level === 'ERROR'],
    ['by=key&type=mission_*', ({ actor, type }) => actor.startsWith('key:') && type.startsWith('mission_')],
  ]

  test.each(PARTS)('%s is the same page by page, as a stream and over a socket', async (named, isMeant) => {
    const { w, mission, other, task } = all
    const query = named
      .replace('<mission>', String(mission.id))
      .replace('<other>', String(other.id))
      .replace('<task>', task.id)
    const meant = log.filter(isMeant)
    if (!named.startsWith('entity=run')) expect(meant.length).toBeGreaterThan(0)
    expect(meant.length).toBeLessThan(log.length)
    for (const size of [1, 200]) {
      const read = await readAll(w, `/events?${query}`, size)
      expect(read.events).toEqual(meant)
      expect(read.upTo).toBe(log.length)
    }
    for (const open of [stream, socket]) {
      const reader = await open(w, `?after=0&${query}`)
      if (meant.length > 0) await until(async () => reader.upTo() >= log.length)
      await reader.leave()
      expect(reader.events).toEqual(meant)
    }
  })

  test.each(PARTS)('%s is the same from its end', async (named, isMeant) => {
    const { w, mission, other, task } = all
    const query = named
      .replace('<mission>', String(mission.id))
      .replace('<other>', String(other.id))
      .replace('<task>', task.id)
    const read: Event[] = []
    for (let after: string | null = String(log.length + 1); after !== null; ) {
      const page: Json & { items: Event[]; nextCursor: string | null } = (
        await w.call('GET', `/events?order=desc&limit=7&after=${after}&${query}`)
      ).body
      read.push(...page.items)
      after = page.nextCursor
    }
    expect(read).toEqual(log.filter(isMeant).reverse())
  })

  test('a list has a sentence for each event, and begins with the newest on request', async () => {
    const { w } = all
    const { items, nextCursor } = (await w.call('GET', '/events?order=desc&limit=3&include=message')).body
    expect(items).toMatchObject(log.slice(-3).reverse())
    expect(nextCursor).toBe(String(items[2].seq))
    const created = items.find(({ type }: Event) => type === 'project_created')
    expect(created.message).toContain('shop')
    expect(created.level).toBe('INFO')
    expectRefusal(await w.call('GET', '/events?include=weather'), 400, 'VALIDATION_FAILED')
  })

  test('a period has the events of that time, from either end', async () => {
    const { w } = all
    const [from, to] = [log[5]!.at, log.at(-5)!.at]
    const meant = log.filter(({ at }) => at >= from && at < to)
    expect(meant.length).toBeGreaterThan(0)
    const period = `from=${from}&to=${to}&limit=200`
    expect((await w.call('GET', `/events?${period}`)).body.items).toEqual(meant)
    const back = (await w.call('GET', `/events?order=desc&${period}`)).body
    expect(back).toMatchObject({ nextCursor: null })
    expect(back.items).toEqual([...meant].reverse())
    expectRefusal(await w.call('GET', `/events?from=${to}&to=${from}`), 400, 'VALIDATION_FAILED')
  })

  test('the logs of a task and of a mission are filtered alike', async () => {
    const { w, mission, task } = all
    const own = await readAll(w, `/tasks/${task.id}/events?type=task_*`)
    expect(own.events).toEqual(log.filter(({ taskId, type }) => taskId === task.id && /^task_/.test(type)))
    const assigned = await readAll(
      w,
      `/missions/${mission.id}/events?type=task_assigned,mission_*&agent=alpha`,
    )
    expect(assigned.events).toMatchObject([{ type: 'task_assigned', taskId: task.id }])
  })

  test('each event says what it is about and who caused it', () => {
    const { mission, task } = all
    const first = (type: string, taskId?: unknown) =>
      log.find((event) => event.type === type && (!taskId || event.taskId === taskId))
    expect(first('task_assigned', task.id)).toMatchObject({
      entityType: 'task',
      entityId: task.id,
      missionId: mission.id,
      runId: null,
      actor: 'agent:alpha',
      by: { kind: 'agent', id: 'alpha', name: 'alpha' },
    })
    expect(first('mission_created')).toMatchObject({ entityType: 'mission', entityId: mission.id })
    expect(first('mission_created')!.by).toEqual({
      kind: 'key',
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name: expect.any(String),
    })
    expect(first('agent_registered')).toMatchObject({ entityType: 'agent', entityId: 'alpha' })
    expect(first('limits_changed')).toMatchObject({ entityType: 'workspace', entityId: null })
  })

  test.each([
    ['type=task', 'type'],
    ['type=TASK_*', 'type'],
    ['type=task_*_*', 'type'],
    ['entity=planet', 'entity'],
    ['entity=workspace:1', 'entity'],
    ['task=x', 'task'],
    ['mission=1', 'mission'],
    ['by=somebody', 'by'],
    ['level=LOUD', 'level'],
  ])('%s is refused, wherever the log is read', async (query, field) => {
    const { w } = all
    for (const path of ['/events', '/events/stream']) {
      const refused = await w.call('GET', `${path}?${query}`)
      expectRefusal(refused, 400, 'VALIDATION_FAILED', {
        errors: [{ field: expect.stringContaining(field) }],
      })
    }
  })

  test('a task or a mission of another workspace is not found', async () => {
    const stranger = await workspace()
    const { mission, task } = all
    const unknown = randomUUID()
    for (const query of [
      `task=${task.id}`,
      `mission=${mission.id}`,
      `entity=task:${task.id}`,
      `task=${unknown}`,
    ])
      for (const path of ['/events', '/events/stream'])
        expectRefusal(await stranger.call('GET', `${path}?${query}`), 404, 'NOT_FOUND')
  })
})

test('an agent is named by text, whatever it looks like', async () => {
  const w = await workspace()
  for (const agent of ['%25', "'%3B--", '__proto__', '%F0%9F%98%80', '%5C', '{}']) {
    const readers = [await stream(w, `?agent=${agent}`), await socket(w, `?agent=${agent}`)]
    await Promise.all(readers.map((reader) => reader.leave()))
  }
})

describe('while others write', () => {
  test('a reader that is disconnected repeatedly resumes at the reported number, and loses nothing', async () => {
    const w = await workspace()
    let isDone = false
    const writing = Array.from({ length: 120 }, async (_, i) => {
      if (i % 10 === 3) await w.setLimits({ maxConcurrentClaims: 500 + i })
      else await w.make()
    })
    const finished = Promise.all(writing).then(() => (isDone = true))
    const read: Event[] = []
    let position = 0
    for (let cuts = 0; !isDone || cuts < 5; cuts++) {
      const reader = await stream(w, '?type=limits_changed&after=0', { 'last-event-id': String(position) })
      await until(async () => reader.upTo() > position || isDone)
      await reader.leave()
      read.push(...reader.events)
      position = Math.max(position, reader.upTo())
    }
    await finished
    const rest = await stream(w, `?type=limits_changed&after=${position}`)
    const meant = (await readAll(w, '/events?type=limits_changed')).events
    await until(async () => read.length + rest.events.length >= meant.length)
    await rest.leave()
    expect([...read, ...rest.events]).toEqual(meant)
    expect(meant).toHaveLength(12)
  })

  test('a reader of which nothing happens learns how far the log was read', async () => {
    const w = await workspace()
    const readers = [await stream(w, '?type=mission_*'), await socket(w, '?type=mission_*')]
    await until(async () => {
      await w.make()
      return readers.every((reader) => reader.upTo() > 0)
    })
    for (const reader of readers) expect(reader.events).toEqual([])
    await Promise.all(readers.map((reader) => reader.leave()))
  })
})

test('in a long log a page is found by an index, or says how far it has looked', async () => {
  const w = await workspace()
  const mission = await launch(w)
  const task = await w.held()
  await w.setLimits({ maxConcurrentClaims: 77 })
  const before = (await readAll(w, '/events')).upTo
  await superuser(served().databaseUrl, async (client) => {
    await client.query('set search_path = baton')
    const { rows } = await client.query(`select workspace_id as id from tasks where uuid = $1`, [task.id])
    await client.query(
      `insert into events (workspace_id, seq, at, type, actor, payload, task_id)
       select $1, $2::bigint + n, now(), 'claim_renewed', 'agent:other', '{}', 1 from generate_series(1, 45000) n`,
      [rows[0].id, before],
    )
    await client.query('update workspace_counters set last_seq = $2 where workspace_id = $1', [
      rows[0].id,
      before + 45_000,
    ])
  })
  await w.on(task, 'submit', { ...fence('s-alpha', 1), result: 1 })
  await w.post(`/missions/${mission.id}/pause`)
  const byIndex = [`mission=${mission.id}`, `task=${task.id}`, 'type=mission_*,limits_changed', 'entity=key']
  for (const query of byIndex) {
    const read = await readAll(w, `/events?${query}`)
    expect([query, read.pages]).toEqual([query, 1])
  }
  const read = await readAll(w, '/events?agent=alpha&type=task_*')
  expect(read.events.map(({ type }) => type)).toEqual(['task_assigned', 'task_completed'])
  expect(read.pages, 'of 20,000 events each').toBe(3)
  // From its end the two are found first; what is before them takes two more looks.
  const back: Event[] = []
  let [pages, after] = [0, '']
  do {
    const page = (await w.call('GET', `/events?order=desc&agent=alpha&type=task_*${after}`)).body
    back.push(...page.items)
    pages++
    after = page.nextCursor === null ? '' : `&after=${page.nextCursor}`
  } while (after !== '')
  expect(back.map(({ type }) => type)).toEqual(['task_completed', 'task_assigned'])
  expect(pages).toBe(3)
})

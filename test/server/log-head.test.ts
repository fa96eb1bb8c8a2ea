import { describe, expect, test } from 'vitest'
import { LogHeads } from '../../src/postgres/connection/log-heads.ts'
import { makeMission } from '../support/http-missions.ts'
import { fence, type Json, useServer, type Workspace } from '../support/http-workspace.ts'
import { until } from '../support/nodes.ts'
import { startAnother, startServer } from '../support/server.ts'

/** `Baton-Seq`: an answer and the events after its number are all that a reader needs. */

const { workspace } = useServer()

const seqOf = ({ headers }: { headers: Headers }) => Number(headers.get('baton-seq') ?? Number.NaN)

interface Event {
  seq: number
  type: string
  taskId: string | null
  to: string | null
  generation: number
  /** Null: it changed nothing of the task. */
  version: number | null
  payload: Json
}

async function logOf(w: Workspace): Promise<Event[]> {
  const events: Event[] = []
  for (;;) {
    const page = (await w.call('GET', `/events?limit=200&after=${events.at(-1)?.seq ?? 0}`)).body
    events.push(...page.items)
    if (page.nextCursor === null) return events
  }
}

describe('a read', () => {
  test('names an event that has happened, and none that is missing from it', async () => {
    const w = await workspace()
    const task = await w.make()
    const { seq } = (await w.events()).at(-1)
    for (const path of [
      `/tasks/${task.id}`,
      '/tasks',
      '/board',
      '/inbox',
      '/search?q=a',
      '/agents',
      '/limits',
    ])
      expect(seqOf(await w.call('GET', path)), path).toBe(seq)
    expect(seqOf(await w.post('/tasks/cards', { ids: [task.id] }))).toBe(seq)
    expect(seqOf(await w.post('/tasks/states', { taskIds: [task.id] }))).toBe(seq)
  })

  test('on another node names what was committed here as soon as that is heard of', async () => {
    const here = await startServer()
    const there = await startAnother(here)
    try {
      for (let n = 0; n < 3; n++) {
        await here.call('POST', '/tasks', { title: 'a' })
        const { items } = (await here.call('GET', '/events?limit=200')).body
        await until(async () => seqOf(await there.call('GET', '/tasks')) >= items.at(-1).seq)
      }
    } finally {
      await there.close()
      await here.close()
    }
  })

  test('that waited for the end of a task names that end', async () => {
    const w = await workspace()
    const task = await w.held()
    const waiting = w.call('GET', `/tasks/${task.id}?waitMs=20000`)
    await w.on(task, 'submit', { ...fence('s-alpha', 1), result: 1 })
    const answer = await waiting
    expect(answer.body.state).toBe('completed')
    const ended = (await logOf(w)).find(({ type }) => type === 'task_completed')!
    expect(seqOf(answer)).toBeGreaterThanOrEqual(ended.seq)
  })

  test('of a workspace without events, and a change, name none', async () => {
    const w = await workspace()
    expect(seqOf(await w.post('/tasks', { title: 'a' }))).toBeNaN()
  })
})

describe('what a node knows of the end of a log', () => {
  test('is asked for once, grows with commits, and is not lowered by one that is acknowledged late', async () => {
    let asked = 0
    const heads = new LogHeads(async () => {
      asked += 1
      return 5
    })
    expect(await heads.of(1)).toBe(5)
    heads.learn(1, 9)
    heads.learn(1, 8)
    expect([heads.of(1), asked]).toEqual([9, 1])
    expect(await heads.of(2)).toBe(5)
  })
})

/** What a page shows of a task. */
interface Shown {
  state: string
  generation: number
  version: number
  attempt: number
  holder: string | null
  retryAt: number | null
  percent: number | null
}

const HELD = ['assigned', 'running', 'continuing']

/** As a page applies an event: all values are what they are now, so an event that is in the row already does no harm. */
function apply(row: Shown, { to, generation, version, type, payload }: Event): Shown {
  const seen = { ...row, version: version ?? row.version }
  if (type === 'task_progress') return { ...seen, percent: (payload.percent as number) ?? row.percent }
  if (to === null) return seen
  return {
    ...seen,
    ...{ state: to, generation },
    attempt: (payload.attemptsSpent ?? payload.attempt ?? row.attempt) as number,
    holder: HELD.includes(to) ? ((payload.agent ?? row.holder) as string) : null,
    retryAt: to === 'awaiting_retry' ? (payload.retryAt as number) : null,
  }
}

const shown = (task: Json): Shown => ({
  ...{ state: task.state as string, generation: task.generation as number, version: task.version as number },
  attempt: task.attempt as number,
  holder: (task.holder as { agent: string } | null)?.agent ?? null,
  retryAt: task.state === 'awaiting_retry' ? Date.parse(task.dueAt as string) : null,
  percent: (task.percent ?? (task.progress as Json | null)?.percent ?? null) as number | null,
})

const pick = <T>(list: readonly T[]): T => list[Math.floor(Math.random() * list.length)]!

/** Whatever may be done to a task, lawful or not. */
function actAtRandom(w: Workspace, task: Json): Promise<unknown> {
  const agent = pick(['alpha', 'beta'])
  const held = { session: `s-${agent}`, generation: (task.generation as number) + pick([0, 0, 0, 1]) }
  const acts: [string, Json?][] = [
    ...(['claim', 'claim', 'claim'].map((act) => [act, { agent, session: `s-${agent}` }]) as [
      string,
      Json,
    ][]),
    ['start', held],
    ['progress', { ...held, percent: pick([10, 20, 30]) }],
    ['renew', held],
    ['continue', held],
    ['release', { ...held, reason: 'busy' }],
    ...(['infrastructure', 'rate_limited', 'human', 'budget', 'invalid', 'quality'].map((failureClass) => [
      'fail',
      { ...held, failureClass, error: 'no' },
    ]) as [string, Json][]),
    ['submit', { ...held, result: 1 }],
    ['ask', { ...held, question: 'Which?' }],
    ['answer', { answer: 'this' }],
    ['approve', {}],
    ['reject', { comment: 'no' }],
    ...(['pause', 'resume', 'retry', 'retry', 'reset', 'cancel'].map((act) => [act]) as [string][]),
  ]
  const [act, body] = pick(acts)
  return w.on(task as { id: string }, act, body)
}

describe('while others write', () => {
  const READS: Record<string, (w: Workspace, ids: string[]) => Promise<{ seq: number; rows: Json[] }>> = {
    'one task': async (w, ids) => {
      const answer = await w.call('GET', `/tasks/${pick(ids)}`)
      return { seq: seqOf(answer), rows: [answer.body] }
    },
    'a list': async (w) => {
      const answer = await w.call('GET', '/tasks?limit=100')
      return { seq: seqOf(answer), rows: answer.body.items }
    },
    cards: async (w, ids) => {
      const answer = await w.post('/tasks/cards', { ids })
      expect(seqOf(answer)).toBe(answer.body.seq)
      return { seq: seqOf(answer), rows: answer.body.items }
    },
    'the board': async (w) => {
      const answer = await w.call('GET', '/board')
      const columns = Object.values(answer.body.columns as Record<string, { items: Json[] }>)
      return { seq: seqOf(answer), rows: columns.flatMap(({ items }) => items) }
    },
  }

  test('rows, with the events after their number, are what is read at the end; and no event up to it is missing', async () => {
    const w = await workspace()
    const mission = await makeMission(w, [{ tempId: 'a' }, { tempId: 'b' }])
    const own = [await w.make(), await w.make({ verification: { kind: 'human' } }), await w.make()]
    const ofMission = (await w.call('GET', `/missions/${mission.id}/tasks`)).body.items
    const tasks: Json[] = [...own, ...ofMission]
    const ids = tasks.map(({ id }) => id as string)
    const reads: { what: string; seq: number; rows: Json[] }[] = []
    let writing = 3
    const writer = async () => {
      for (let n = 0; n < 120; n++) {
        const task = pick(tasks)
        await actAtRandom(w, task)
        if (n % 4 === 0) Object.assign(task, await w.read(task as { id: string }))
      }
      writing -= 1
    }
    const reader = async () => {
      while (writing > 0) {
        const what = pick(Object.keys(READS))
        reads.push({ what, ...(await READS[what]!(w, ids)) })
      }
    }
    await Promise.all([writer(), writer(), writer(), reader(), reader()])
    for (const id of ids) await w.on({ id }, 'cancel')
    const events = await logOf(w)
    const end = new Map<string, Shown>()
    for (const id of ids) end.set(id, shown(await w.read({ id })))
    const moved = new Set(events.map(({ type }) => type))
    expect(moved.size, [...moved].join()).toBeGreaterThan(12)
    for (const { what, seq, rows } of reads)
      for (const row of rows.filter(({ id }) => end.has(id as string))) {
        const own = events.filter(({ taskId }) => taskId === row.id)
        const known = own.filter((event) => event.seq <= seq).map(({ version }) => version ?? 0)
        expect(row.version, `${what} misses an event up to ${seq}`).toBeGreaterThanOrEqual(Math.max(...known))
        const later = own.filter((event) => event.seq > seq)
        const after = later.reduce(apply, shown(row))
        const { percent: _percent, ...rest } = end.get(row.id as string)!
        expect(after, `${what} at ${seq}, ${later.map(({ type }) => type)}`).toMatchObject(rest)
      }
  })
})

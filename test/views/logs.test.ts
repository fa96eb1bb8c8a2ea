import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { COORDINATOR_EVENTS } from '../../src/kinds/log.ts'
import {
  expectRefusal,
  fence,
  type Json,
  openWorkspace,
  type Task,
  type Workspace,
} from '../support/http-workspace.ts'
import { superuser, until } from '../support/nodes.ts'
import { type ServerUnderTest, startServer } from '../support/server.ts'

/** The log of a task and the coordinator's, as people read them; and what holders add to it. */

let server: ServerUnderTest
beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server.close(), 20_000)

interface Entry {
  seq: number
  level: string
  event: string
  message: string
  details: Json | null
  taskId?: string | null
}

const first = fence('s-alpha', 1)
const logOf = async (w: Workspace, task: Task, query = ''): Promise<Entry[]> => {
  const answer = await w.call('GET', `/tasks/${task.id}/logs${query}`)
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  return answer.body.items
}
const coordinatorLog = async (w: Workspace, query = ''): Promise<Entry[]> => {
  const answer = await w.call('GET', `/coordinator/logs${query}`)
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  return answer.body.items
}
const names = (entries: readonly Entry[]) => entries.map(({ event }) => event)
const say = (w: Workspace, task: Task, entries: Json[], holder = first) =>
  w.on(task, 'logs', { ...holder, entries })

/** Held, renewed, with two lines of its holder, and failed for good. */
async function failedTask(w: Workspace): Promise<Task> {
  const task = await w.held()
  await w.on(task, 'start', first)
  await w.on(task, 'renew', first)
  const said = await say(w, task, [
    { message: 'Three tests fail', event: 'tests_run', level: 'WARN', details: { failing: 3 } },
    { message: 'Looking into it' },
  ])
  expect(said).toMatchObject({ status: 200, body: { reason: 'NOTED', task: { id: task.id } } })
  await w.on(task, 'fail', { ...first, failureClass: 'out_of_memory', error: 'heap\nfull' })
  // The alert about it, and its item of the inbox.
  await until(async () => (await logOf(w, task, '?event=inbox_added')).length > 0)
  return task
}
const ITS_LOG = [
  'task_created',
  'task_assigned',
  'task_started',
  'claim_renewed',
  'tests_run',
  'note',
  'task_failed',
  'alert_raised',
  'inbox_added',
]

describe('the log of a task', () => {
  let w: Workspace
  let task: Task
  beforeAll(async () => {
    w = await openWorkspace(server)
    task = await failedTask(w)
    await failedTask(w)
  })

  test('shows what happened to it, newest first, with a level and a sentence', async () => {
    const entries = await logOf(w, task)
    expect(names(entries)).toEqual([...ITS_LOG].reverse())
    expect(entries[2]).toMatchObject({
      level: 'ERROR',
      event: 'task_failed',
      message: 'The task failed for good (it ran out of memory, attempt 1): heap full.',
      details: { failureClass: 'out_of_memory', attempt: 1 },
      previousState: 'running',
      newState: 'failed',
      agent: 'alpha',
      session: null,
      generation: 1,
      actor: 'agent:alpha',
      createdAt: expect.stringMatching(/^\d{4}-.*Z$/),
    })
    expect(entries[4]).toMatchObject({
      level: 'WARN',
      event: 'tests_run',
      message: 'Three tests fail',
      details: { failing: 3 },
      previousState: null,
      newState: null,
      agent: 'alpha',
      session: 's-alpha',
      generation: 1,
    })
    expect(entries[3]).toMatchObject({ level: 'INFO', event: 'note', details: null })
    expect(names(await logOf(w, task, '?order=asc'))).toEqual(ITS_LOG)
  })

  test.each([
    ['level=ERROR', ['task_failed']],
    ['level=ERROR&limit=100', ['task_failed']],
    ['level=WARN', ['tests_run']],
    ['level=DEBUG', ['claim_renewed']],
    ['level=WARN,CRITICAL', ['alert_raised', 'tests_run']],
    ['minLevel=WARN', ['alert_raised', 'task_failed', 'tests_run']],
    ['minLevel=ERROR&level=WARN,ERROR', ['task_failed']],
    ['minLevel=CRITICAL&level=INFO', []],
    ['event=task_started', ['task_started']],
    ['event=task_started,tests_run,claim_renewed', ['tests_run', 'claim_renewed', 'task_started']],
    ['event=task_logged', ['note', 'tests_run']],
    ['event=task_logged&level=INFO', ['note']],
    ['event=tests_run,task_logged', ['note', 'tests_run']],
    ['event=note&level=WARN', []],
    ['event=task_failed&level=INFO', []],
    ['event=never_said', []],
    ['event=agent_stale', []],
    ['event=note,task_created&order=asc', ['task_created', 'note']],
  ])('is filtered by %s', async (query, expected) => {
    expect(names(await logOf(w, task, `?${query}`))).toEqual(expected)
  })

  test.each(['asc', 'desc'])('is read page by page without gaps or duplicates, %s', async (order) => {
    const whole = await logOf(w, task, `?order=${order}`)
    for (const size of [1, 3, 4, 8, 9]) {
      const read: Entry[] = []
      for (let after = '', pages = 1; ; pages++) {
        const query = `?order=${order}&limit=${size}${after}`
        const { items, nextCursor } = (await w.call('GET', `/tasks/${task.id}/logs${query}`)).body
        expect(items.length).toBeLessThanOrEqual(size)
        read.push(...items)
        if (nextCursor === null) {
          expect(pages).toBe(Math.ceil(whole.length / size))
          break
        }
        after = `&after=${nextCursor}`
      }
      expect(read).toEqual(whole)
    }
  })

  test('is filtered and paged at once', async () => {
    const query = `/tasks/${task.id}/logs?minLevel=WARN&limit=2`
    const page = (await w.call('GET', query)).body
    expect(names(page.items)).toEqual(['alert_raised', 'task_failed'])
    const next = (await w.call('GET', `${query}&after=${page.nextCursor}`)).body
    expect([names(next.items), next.nextCursor]).toEqual([['tests_run'], null])
  })

  test.each([
    ['level', 'level=LOUD'],
    ['level', 'level=ERROR,'],
    ['level', 'level=error'],
    ['level', 'level='],
    ['level', 'level=ERROR&level=WARN'],
    ['minLevel', 'minLevel=ERROR,WARN'],
    ['minLevel', 'minLevel=loud'],
    ['event', 'event=task_faild'],
    ['event', 'event=agent_'],
    ['event', 'event=task_failed,'],
    ['event', 'event=a%20b'],
    ['event', 'event=%00'],
    ['event', 'event=1.5'],
    ['event', `event=${'x'.repeat(101)}`],
    ['after', 'after=x'],
    ['after', 'after=-1'],
    ['limit', 'limit=many'],
    ['order', 'order=up'],
    ['since', 'since=1'],
  ])('refuses a request whose %s is wrong: %s', async (field, query) => {
    for (const path of [`/tasks/${task.id}/logs`, '/coordinator/logs'])
      expectRefusal(await w.call('GET', `${path}?${query}`), 400, 'VALIDATION_FAILED', {
        errors: [{ field, message: expect.any(String) }],
      })
  })
})

describe('a holder adds lines', () => {
  let w: Workspace
  beforeAll(async () => {
    w = await openWorkspace(server)
  })

  test('many at once, in the given order', async () => {
    const task = await w.held()
    const entries = Array.from({ length: 100 }, (_, i) => ({ message: `line ${i}` }))
    expect((await say(w, task, entries)).status).toBe(200)
    const lines = await logOf(w, task, '?event=task_logged&order=asc&limit=200')
    expect(lines.map(({ message }) => message)).toEqual(entries.map(({ message }) => message))
  })

  test('and can repeat the request safely under one key', async () => {
    const task = await w.held()
    const body = { ...first, entries: [{ message: 'once' }] }
    const answers = [1, 2].map(() => w.on(task, 'logs', body, { 'idempotency-key': `once-${task.id}` }))
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([200, 200])
    expect(await logOf(w, task, '?event=note')).toHaveLength(1)
  })

  test('of up to 2000 characters, with up to 16 KiB of details', async () => {
    const task = await w.held()
    const details = 'é'.repeat((16 * 1024 - 2) / 2)
    expect((await say(w, task, [{ message: '😀'.repeat(2_000), details }])).status).toBe(200)
    expect((await logOf(w, task, '?event=note'))[0]).toMatchObject({
      message: '😀'.repeat(2_000),
      details,
    })
    const over = await say(w, task, [{ message: 'fits' }, { message: 'not', details: `${details}x` }])
    expectRefusal(over, 400, 'VALIDATION_FAILED', { errors: [{ field: 'entries[1].details' }] })
    const flood = Array.from({ length: 100 }, () => ({ message: 'x', details: 'x'.repeat(12_000) }))
    expectRefusal(await say(w, task, flood), 413, 'BODY_TOO_LARGE')
    expect(await logOf(w, task, '?event=note')).toHaveLength(1)
  })

  test.each([
    ['entries', {}],
    ['entries', { entries: [] }],
    ['entries', { entries: Array(101).fill({ message: 'x' }) }],
    ['entries[0].message', { entries: [{}] }],
    ['entries[0].message', { entries: [{ message: '' }] }],
    ['entries[0].message', { entries: [{ message: 'x'.repeat(2_001) }] }],
    ['entries[0].level', { entries: [{ message: 'x', level: 'LOUD' }] }],
    ['entries[0].event', { entries: [{ message: 'x', event: 'x'.repeat(101) }] }],
    ['entries[0].event', { entries: [{ message: 'x', event: 'a,b' }] }],
    ['entries[0].event', { entries: [{ message: 'x', event: '' }] }],
    ['entries[1].event', { entries: [{ message: 'x' }, { message: 'x', event: 'task_completed' }] }],
    ['entries[0].event', { entries: [{ message: 'x', event: 'agent_happy' }] }],
    ['entries[0].more', { entries: [{ message: 'x', more: 1 }] }],
    ['message', { entries: [{ message: 'x' }], message: 'x' }],
  ])('but none with a wrong %s (case %#)', async (field, body) => {
    const task = await w.held()
    expectRefusal(await w.on(task, 'logs', { ...first, ...body }), 400, 'VALIDATION_FAILED', {
      errors: [{ field, message: expect.any(String) }],
    })
    expect(names(await logOf(w, task))).toEqual(['task_assigned', 'task_created'])
  })

  test('but none when the claim is no longer its own: one refusal is recorded, and no line', async () => {
    const task = await w.held()
    await w.on(task, 'release', first)
    await w.claim(task, 'beta')
    const entries = [{ message: 'one' }, { message: 'two' }, { message: 'three' }]
    expectRefusal(await say(w, task, entries), 409, 'STALE_GENERATION')
    expectRefusal(await say(w, task, entries, fence('s-alpha', 2)), 409, 'SESSION_MISMATCH')
    expectRefusal(await say(w, task, entries, fence('s-beta', 3)), 409, 'FUTURE_GENERATION')
    const refused = await logOf(w, task, '?event=claim_write_refused,task_logged')
    expect(refused.map(({ level, message }) => [level, message])).toEqual([
      ['WARN', '"log" by s-beta at generation 3 was refused (This generation has not been granted yet).'],
      ['WARN', '"log" by s-alpha at generation 2 was refused (Another session holds this claim).'],
      ['WARN', '"log" by s-alpha at generation 1 was refused (A newer claim has been granted since).'],
    ])
  })

  test('but none to a task without a holder', async () => {
    const task = await w.make()
    expectRefusal(await say(w, task, [{ message: 'x' }], fence('s-alpha', 0)), 409, 'NO_CLAIM')
  })

  test('and leaves the task unchanged', async () => {
    const task = await w.held()
    const before = await w.read(task)
    await say(w, task, [{ message: 'only said' }])
    expect(await w.read(task)).toEqual(before)
  })

  test('and a viewer does not, but reads them', async () => {
    const task = await w.held()
    const { key } = (await w.post('/keys', { name: 'looker', role: 'viewer' })).body
    const as = (method: string, path: string, body?: Json) => server.call(method, path, body, { key })
    const body = { ...first, entries: [{ message: 'x' }] }
    expectRefusal(await as('POST', `/tasks/${task.id}/logs`, body), 403, 'FORBIDDEN')
    expect((await as('GET', `/tasks/${task.id}/logs`)).body.items).toHaveLength(2)
    expectRefusal(await as('GET', '/coordinator/logs'), 403, 'FORBIDDEN')
  })
})

describe("the coordinator's log", () => {
  let w: Workspace
  let failed: Task
  let expired: Task
  beforeAll(async () => {
    w = await openWorkspace(server, { minLeaseSeconds: 1 })
    failed = await failedTask(w)
    await w.post('/workers', { worker: 'w-1', capacity: 2 })
    expired = await w.expired()
  })

  test('shows the workspace, its agents and workers, and what happened to tasks without a holder', async () => {
    const entries = await coordinatorLog(w, '?order=asc&limit=200')
    expect(new Set(names(entries))).toEqual(
      new Set([
        'workspace_created',
        'key_created',
        'limits_changed',
        'agent_registered',
        'session_started',
        'alert_raised',
        'task_failed',
        'worker_registered',
        'task_lease_expired',
      ]),
    )
    const seqs = entries.map(({ seq }) => seq)
    expect(seqs).toEqual([...seqs].sort((a, b) => a - b))
    expect(entries.find(({ event }) => event === 'task_failed')).toMatchObject({ taskId: failed.id })
    expect(entries.find(({ event }) => event === 'worker_registered')).toMatchObject({
      taskId: null,
      session: 'w-1',
      message: 'The worker w-1 was registered; it can hold 2 tasks.',
    })
    expect(await coordinatorLog(w)).toEqual([...entries].reverse())
  })

  test.each([
    ['level=ERROR', ['task_failed']],
    ['minLevel=WARN', ['task_lease_expired', 'alert_raised', 'task_failed']],
    ['event=worker_registered,task_lease_expired', ['task_lease_expired', 'worker_registered']],
    ['event=task_started', []],
  ])('is filtered by %s', async (query, expected) => {
    expect(names(await coordinatorLog(w, `?${query}`))).toEqual(expected)
  })

  test('has no lines of holders, and accepts no names of theirs', async () => {
    expect(await coordinatorLog(w, '?event=task_logged')).toEqual([])
    expectRefusal(await w.call('GET', '/coordinator/logs?event=tests_run'), 400, 'VALIDATION_FAILED', {
      errors: [{ field: 'event', message: 'has an unknown event: "tests_run"' }],
    })
  })

  test.each(['asc', 'desc'])('is read page by page, %s', async (order) => {
    const whole = await coordinatorLog(w, `?order=${order}&limit=200`)
    const read: Entry[] = []
    for (let after = ''; ; ) {
      const page = (await w.call('GET', `/coordinator/logs?order=${order}&limit=2${after}`)).body
      read.push(...page.items)
      if (page.nextCursor === null) break
      after = `&after=${page.nextCursor}`
    }
    expect(read).toEqual(whole)
  })

  test('has one workspace only', async () => {
    const other = await openWorkspace(server)
    expect(names(await coordinatorLog(other, '?order=asc'))).toEqual(['workspace_created', 'key_created'])
    const ids = (await coordinatorLog(w)).map(({ taskId }) => taskId).filter((id) => id !== null)
    expect(new Set(ids)).toEqual(new Set([failed.id, expired.id]))
  })

  test('has an index that names the same types', async () => {
    const [{ definition }] = await superuser(
      server.databaseUrl,
      async (client) =>
        (await client.query(`select pg_get_indexdef('baton.events_of_workspace'::regclass) as definition`))
          .rows,
    )
    const named = [...definition.matchAll(/'(\w+)'/g)].map(([, type]) => type)
    expect(named.sort()).toEqual([...COORDINATOR_EVENTS].sort())
  })
})

import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { pageOfTasks } from '../../src/kinds/task/postgres/reader.ts'
import { PostgresStore } from '../../src/store/store.ts'
import {
  expectRefusal,
  fence,
  type Json,
  type Task,
  useServer,
  type Workspace,
} from '../support/http-workspace.ts'
import { superuser } from '../support/nodes.ts'

/** Lists show small fields; large ones only on request, and never more than fits an answer. */

const { served, workspace } = useServer()

const PAGE_BYTES = 8_000_000
const ABOUT_A_MEGABYTE = 1_000_000
/** Well compressed by the database: a page is measured as it is sent, not as it is stored. */
const large = (bytes = ABOUT_A_MEGABYTE) => 'x'.repeat(bytes)

/** The pages of a list, from its first to its last; each with its size. */
async function pagesOf(w: Workspace, path: string, key = 'id') {
  const pages: { ids: unknown[]; bytes: number }[] = []
  let cursor: string | null = null
  do {
    const next: string =
      cursor === null ? '' : `&${path.includes('/events') ? 'afterSeq' : 'cursor'}=${cursor}`
    const { status, body } = await w.call('GET', `${path}${next}`)
    expect(status).toBe(200)
    pages.push({
      ids: body.items.map((item: Json) => item[key]),
      bytes: Buffer.byteLength(JSON.stringify(body)),
    })
    cursor = body.nextCursor
  } while (cursor !== null)
  return pages
}

/** Of ten rows of a megabyte, eight are not more than a page holds, overhead included: seven or eight fit. */
async function endsEarly(w: Workspace, path: string, ids: readonly unknown[], key?: string) {
  const pages = await pagesOf(w, path, key)
  expect(pages.flatMap((page) => page.ids)).toEqual(ids)
  expect(pages.map((page) => page.ids.length)).toEqual([7, ids.length - 7])
  for (const { bytes } of pages) expect(bytes).toBeLessThan(PAGE_BYTES)
}

const TEN = Array.from({ length: 10 }, (_, i) => i)

async function tasksWith(w: Workspace, more: () => Json): Promise<string[]> {
  const ids: string[] = []
  for (const _ of TEN) ids.unshift((await w.make(more())).id)
  return ids
}

describe('a list of tasks', () => {
  async function seen(w: Workspace, path: string) {
    const { items } = (await w.call('GET', path)).body
    expect(items).toHaveLength(1)
    const [{ title, input, checkpointData }] = items
    return { title, input, checkpointData }
  }

  test('has no inputs and no checkpoints unless requested', async () => {
    const w = await workspace()
    const task = await w.held({ input: { do: 'it' }, maxRetries: 0 })
    await w.on(task, 'progress', { ...fence('s-alpha', 1), checkpointData: { step: 1 } })
    const lists = ['/tasks?', '/agents/alpha/tasks?']
    for (const path of lists) {
      expect(await seen(w, path)).toEqual({ title: 'Fix login' })
      expect(await seen(w, `${path}include=input`)).toEqual({ title: 'Fix login', input: { do: 'it' } })
      expect(await seen(w, `${path}include=checkpointData,input`)).toEqual({
        title: 'Fix login',
        input: { do: 'it' },
        checkpointData: { step: 1 },
      })
    }
    expect(await w.read(task)).toMatchObject({ input: { do: 'it' }, checkpointData: { step: 1 } })
    await w.on(task, 'fail', { ...fence('s-alpha', 1) })
    expect(await seen(w, '/dead-letters?')).toEqual({ title: 'Fix login' })
    expect(await seen(w, '/dead-letters?include=input')).toEqual({ title: 'Fix login', input: { do: 'it' } })
  })

  test('has the summaries of results on request: of accepted ones, and of those that await a verdict', async () => {
    const w = await workspace()
    const first = fence('s-alpha', 1)
    const done = await w.held({ title: 'done' })
    await w.on(done, 'submit', { ...first, result: { large: large(1_000) }, summary: 'It works.' })
    const judged = await w.held({ title: 'judged', verification: { kind: 'human' } })
    await w.on(judged, 'submit', { ...first, result: 1, summary: 'Look at it.' })
    const rejected = await w.held({ title: 'rejected', verification: { kind: 'human' } })
    await w.on(rejected, 'submit', { ...first, result: 1, summary: 'Not good.' })
    await w.on(rejected, 'reject', { generation: 1 })
    const again = await w.held({ title: 'again' })
    await w.on(again, 'submit', { ...first, result: 1, summary: 'The first.' })
    await w.on(again, 'reset')
    await w.make({ title: 'waits' })
    const summaries = async (path: string) =>
      Object.fromEntries(
        (await w.call('GET', path)).body.items.map(({ title, summary }: Json) => [title, summary]),
      )
    const known = { done: 'It works.', judged: 'Look at it.', rejected: null, again: null, waits: null }
    expect(await summaries('/tasks?include=summary')).toEqual(known)
    expect(await summaries('/tasks?include=summary,input&state=completed')).toEqual({ done: 'It works.' })
    expect(Object.values(await summaries('/tasks'))).toEqual(Array(5).fill(undefined))
    for (const task of [done, judged, rejected, again])
      expect((await w.read(task)).summary).toBe(known[task.title as keyof typeof known])
    await w.claim(again)
    await w.on(again, 'submit', { ...fence('s-alpha', 2), result: 2, summary: 'The second.' })
    expect(await summaries('/tasks?include=summary&state=completed')).toEqual({
      done: 'It works.',
      again: 'The second.',
    })
  })

  test('is narrowed by state, least priority and tag, each alone and all together', async () => {
    const w = await workspace()
    await w.make({ title: 'plain' })
    await w.make({ title: 'urgent', priority: 9 })
    await w.make({ title: 'tagged', tags: ['blue', 'red'] })
    await w.make({ title: 'both', priority: 8, tags: ['blue'] })
    await w.held({ title: 'held', priority: 10, tags: ['blue'] })
    const titles = async (query: string) =>
      (await w.call('GET', `/tasks?${query}`)).body.items.map(({ title }: Json) => title)
    expect(await titles('state=queued')).toEqual(['both', 'tagged', 'urgent', 'plain'])
    expect(await titles('stateType=running')).toEqual(['held'])
    expect(await titles('priorityMin=8')).toEqual(['held', 'both', 'urgent'])
    expect(await titles('tag=blue')).toEqual(['held', 'both', 'tagged'])
    expect(await titles('tag=blu')).toEqual([])
    expect(await titles('tag=blue&priorityMin=8&state=queued')).toEqual(['both'])
    for (const wrong of ['state=done', 'priorityMin=11', 'priorityMin=high', 'tag='])
      expectRefusal(await w.call('GET', `/tasks?${wrong}`), 400, 'VALIDATION_FAILED')
  })

  test('a claim returns the input of its task, as before', async () => {
    const w = await workspace()
    await w.make({ input: { do: 'it' } })
    expect((await w.next()).claims).toMatchObject([{ task: { input: { do: 'it' } } }])
  })

  test('does not read from the database what it does not show', async () => {
    const w = await workspace()
    const task = await w.make({ input: { do: 'it' }, metadata: { a: 1 } })
    const store = await PostgresStore.open(served().databaseUrl)
    try {
      const [id] = await inside(w)
      const page = await pageOfTasks(store.readers, id!, {}, 10, new Set())
      expect(page.rows).toMatchObject([
        { record: { uuid: task.id }, details: { input: null, checkpoint: null } },
      ])
      expect(page.rows[0]!.details.metadata).toEqual({ a: 1 })
    } finally {
      await store.close()
    }
  })

  test('ends where eight megabytes are full, and continues from there', async () => {
    const w = await workspace()
    const ids = await tasksWith(w, () => ({ input: large() }))
    await endsEarly(w, '/tasks?limit=200&include=input', ids)
    const [whole] = await pagesOf(w, '/tasks?limit=200')
    expect([whole!.ids, whole!.bytes < 20_000]).toEqual([ids, true])
    expect((await pagesOf(w, '/tasks?limit=3&include=input')).map((page) => page.ids.length)).toEqual([
      3, 3, 3, 1,
    ])
  })

  test('ends there whichever field is large', async () => {
    const w = await workspace()
    await endsEarly(w, '/tasks?limit=200', await tasksWith(w, () => ({ metadata: { text: large() } })))
    const described = await workspace()
    // Each of these takes six bytes when it is written as JSON.
    const description = '\u0001'.repeat(100_000)
    for (const _ of TEN.slice(1))
      await described.post('/tasks/batch', {
        tasks: [
          { title: 'a', description },
          { title: 'b', description },
        ],
      })
    const pages = await pagesOf(described, '/tasks?limit=200')
    expect(pages.map((page) => page.ids.length)).toEqual([13, 5])
    for (const { bytes } of pages) expect(bytes).toBeLessThan(PAGE_BYTES)
  })

  test('refuses to include an unknown field', async () => {
    const w = await workspace()
    for (const [path, given, known] of [
      ['/tasks', 'result', 'input, checkpointData, summary'],
      ['/tasks', 'input,', 'input, checkpointData, summary'],
      ['/dead-letters', 'everything', 'input, checkpointData, summary'],
      ['/runs', 'input', 'result'],
      ['/results', 'data', 'result'],
    ]) {
      const unknown = given!.split(',').at(-1)
      expectRefusal(await w.call('GET', `${path}?include=${given}`), 400, 'VALIDATION_FAILED', {
        errors: [{ field: 'include', message: `has an unknown field: "${unknown}" (use ${known})` }],
      })
    }
  })
})

/** Late work: the task was released before it was submitted. */
async function tooLate(w: Workspace, result: unknown): Promise<Task> {
  const task = await w.held()
  await w.on(task, 'release', fence('s-alpha', 1))
  expectRefusal(await w.on(task, 'submit', { ...fence('s-alpha', 1), result }), 409, 'NO_CLAIM')
  return task
}

describe('a list of results', () => {
  test('of all tasks is without them unless requested, and each can be read', async () => {
    const w = await workspace()
    const task = await tooLate(w, { by: 'alpha' })
    const [listed] = (await w.call('GET', '/results')).body.items
    expect(listed).toMatchObject({ taskId: task.id, accepted: false })
    expect(listed).not.toHaveProperty('result')
    const [asked] = (await w.call('GET', '/results?include=result')).body.items
    expect(asked).toEqual({ ...listed, result: { by: 'alpha' } })
    expect(await w.read(task, `/results/${listed.workProductRef}`)).toEqual(asked)
    expectRefusal(await w.call('GET', `/tasks/${task.id}/results/none`), 404, 'NOT_FOUND')
  })

  test('a result that is larger than a page is a page of its own', async () => {
    const w = await workspace()
    const ids: string[] = []
    for (let i = 0; i < 3; i++) ids.unshift((await tooLate(w, large(i === 1 ? 9_000_000 : 10))).id)
    const pages = await pagesOf(w, '/results?include=result', 'taskId')
    expect(pages.map((page) => page.ids)).toEqual(ids.map((id) => [id]))
  })

  test('of one task shows them, and ends where eight megabytes are full', async () => {
    const w = await workspace()
    const task = await w.make()
    for (const i of TEN) {
      await w.claim(task)
      await w.on(task, 'release', fence('s-alpha', i + 1))
      await w.on(task, 'submit', { ...fence('s-alpha', i + 1), result: large() })
    }
    await endsEarly(
      w,
      `/tasks/${task.id}/results?limit=200`,
      TEN.map((i) => i + 1),
      'generation',
    )
    const [first] = (await w.read(task, '/results?limit=1')).items
    expect(first.result).toHaveLength(ABOUT_A_MEGABYTE)
  })
})

/** The internal number of a workspace. */
const inside = async (w: Workspace): Promise<number[]> => {
  const [{ id }] = (await w.call('GET', '/workspaces')).body.items
  const rows = await superuser(served().databaseUrl, (client) =>
    client.query('select workspace_id as id from baton.workspaces where uuid = $1', [id]),
  )
  return rows.rows.map((row: { id: number }) => Number(row.id))
}

describe('a list of runs', () => {
  /** Ten runs with a result of a megabyte each, the newest first. */
  async function withRuns(w: Workspace): Promise<string[]> {
    await w.call('PUT', '/agents/dev', { name: 'Dev' })
    const [workspaceId] = await inside(w)
    const ids = TEN.map(
      (i) => `01890000-0000-7000-8000-${String(workspaceId! * 100 + 99 - i).padStart(12, '0')}`,
    )
    await superuser(served().databaseUrl, (client) =>
      client.query(
        `insert into baton.runs (workspace_id, run_id, agent, agent_id, adapter_type, source, status, node_id, result, created_at,
           started_at, finished_at)
         select $1, id, 'dev', gen_random_uuid(), 'process', 'timer', 'succeeded', gen_random_uuid(), to_json($3::text), now(), now(), now()
           from unnest($2::uuid[]) id`,
        [workspaceId, ids, large()],
      ),
    )
    return ids
  }

  test('has no results unless requested, and ends where eight megabytes are full', async () => {
    const w = await workspace()
    const ids = await withRuns(w)
    for (const path of ['/runs', '/agents/dev/runs']) {
      const { items } = (await w.call('GET', `${path}?limit=200`)).body
      expect(items.map(({ id, result }: Json) => [id, result])).toEqual(ids.map((id) => [id, undefined]))
      await endsEarly(w, `${path}?limit=200&include=result`, ids)
    }
    expect((await w.call('GET', `/runs/${ids[0]}`)).body.result).toBe(large())
  })

  test('the timeline of a run ends there, too', async () => {
    const w = await workspace()
    const [run] = await withRuns(w)
    const [workspaceId] = await inside(w)
    await superuser(served().databaseUrl, (client) =>
      client.query(
        `insert into baton.run_events (workspace_id, run_id, seq, event_type, payload)
         select $1, $2, n, 'structured', to_json($3::text) from generate_series(1, 10) n`,
        [workspaceId, run, large()],
      ),
    )
    await endsEarly(
      w,
      `/runs/${run}/events?limit=200`,
      TEN.map((i) => i + 1),
      'seq',
    )
  })
})

describe('events', () => {
  test('mention inputs, checkpoints, payloads and results, never their content', async () => {
    const w = await workspace()
    const planted = `planted-${randomUUID()}`
    const held = fence('s-alpha', 1)
    await w.call('PUT', '/agents/dev', { runtimeConfig: { heartbeat: { enabled: false } } })
    await w.post('/agents/dev/wakeup', { payload: { planted } })
    const task = await w.held({ input: { planted }, metadata: { planted } })
    await w.on(task, 'progress', { ...held, percent: 10, checkpointData: { planted } })
    await w.on(task, 'release', held)
    await w.on(task, 'submit', { ...held, result: { planted } })
    await w.claim(task, 'beta')
    await w.on(task, 'submit', { ...fence('s-beta', 2), result: [planted] })
    const reported = await w.events()
    expect(reported.map(({ type }: Json) => type)).toEqual(
      expect.arrayContaining([
        'wakeup_skipped',
        'task_created',
        'task_progress',
        'task_result_rejected',
        'task_completed',
      ]),
    )
    expect(JSON.stringify(reported)).not.toContain(planted)
    expect(JSON.stringify(await w.read(task, '/logs?limit=200'))).not.toContain(planted)
  })
})

describe('other lists', () => {
  test('of wakeups have no payloads unless requested, and end where eight megabytes are full', async () => {
    const w = await workspace()
    await w.call('PUT', '/agents/dev', { runtimeConfig: { heartbeat: { enabled: false } } })
    const ids: string[] = []
    for (const _ of TEN) {
      const { body } = await w.post('/agents/dev/wakeup', { payload: large(), idempotencyKey: randomUUID() })
      expect(body.wakeup.payload).toHaveLength(ABOUT_A_MEGABYTE)
      ids.unshift(body.wakeup.id)
    }
    const { items } = (await w.call('GET', '/agents/dev/wakeups?limit=200')).body
    expect(items.map(({ id, payload }: Json) => [id, payload])).toEqual(ids.map((id) => [id, undefined]))
    await endsEarly(w, '/agents/dev/wakeups?limit=200&include=payload', ids)
  })

  test('of agents end where eight megabytes are full', async () => {
    const w = await workspace()
    const slugs = TEN.map((i) => `dev-${i}`)
    for (const slug of slugs) await w.call('PUT', `/agents/${slug}`, { adapterConfig: { note: large() } })
    await endsEarly(w, '/agents?limit=200', slugs, 'slug')
  })
})

describe('a limit', () => {
  const LISTS: [path: string, most: number][] = [
    ...[
      '/tasks',
      '/agents',
      '/runs',
      '/missions',
      '/projects',
      '/routines',
      '/inbox',
      '/events',
      '/coordinator/logs',
    ].map((path): [string, number] => [path, 200]),
    ['/search?q=x', 20],
    ['/board', 1_000],
  ]

  test.each(LISTS)('of %s above %i is refused with the bound, not cut', async (path, most) => {
    const w = await workspace()
    const at = (limit: number) => w.call('GET', `${path}${path.includes('?') ? '&' : '?'}limit=${limit}`)
    expect((await at(most)).status).toBe(200)
    const refused = await at(most + 1)
    expectRefusal(refused, 400, 'VALIDATION_FAILED', {
      errors: [expect.objectContaining({ field: 'limit', message: `must be at most ${most}` })],
    })
    expect(refused.body.detail).toContain(`at most ${most}`)
  })

  test('has its bound in the API document', async () => {
    const document = (await (await fetch(`${served().url}/openapi.json`)).json()) as Json & {
      paths: Record<string, { get: { parameters: { name: string; schema: Json }[] } }>
    }
    const { parameters } = document.paths['/api/v1/tasks']!.get
    const limit = parameters.find(({ name }) => name === 'limit')
    expect(limit!.schema).toMatchObject({ maximum: 200 })
  })
})

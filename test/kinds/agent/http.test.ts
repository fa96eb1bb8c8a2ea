import { describe, expect, test } from 'vitest'
import {
  expectRefusal,
  fence,
  type Json,
  type Task,
  useServer,
  type Workspace,
} from '../../support/http-workspace.ts'
import { superuser, until } from '../../support/nodes.ts'

/** Agents over HTTP: registration, and what people do to them. */

const { served, workspace } = useServer()
const put = (w: Workspace, slug: string, body: Json = {}, headers?: Record<string, string>) =>
  w.call('PUT', `/agents/${slug}`, body, headers)
const get = (w: Workspace, path: string) => w.call('GET', `/agents${path}`)
const act = (w: Workspace, slug: string, what: string, body?: Json) =>
  w.call('POST', `/agents/${slug}/${what}`, body)
const slugs = ({ body }: { body: { items: Json[] } }) => body.items.map(({ slug }) => slug)
const released = (w: Workspace, task: Task, agent = 'alpha', generation = 1) =>
  w.on(task, 'release', fence(`s-${agent}`, generation))

describe('an agent', () => {
  test('is registered by its slug, and found by it and by its id', async () => {
    const w = await workspace()
    const made = await put(w, 'dev-1', {
      name: 'Dev 1',
      model: 'opus',
      adapterType: 'process',
      adapterConfig: { command: 'node', args: ['work.mjs'] },
      runtimeConfig: { heartbeat: { enabled: true } },
      capabilities: ['typescript', 'sql', 'sql'],
      maxConcurrentTasks: 3,
      heartbeatIntervalSeconds: 20,
      staleThresholdSeconds: 90,
      coordinatorEnabled: false,
      batchSize: 5,
    })
    expect(made.status).toBe(201)
    expect(made.headers.get('etag')).toBe('"1"')
    expect(made.body).toMatchObject({
      slug: 'dev-1',
      name: 'Dev 1',
      model: 'opus',
      adapterType: 'process',
      adapterConfig: { command: 'node', args: ['work.mjs'] },
      runtimeConfig: { heartbeat: { enabled: true } },
      capabilities: ['sql', 'typescript'],
      maxConcurrentTasks: 3,
      heartbeatIntervalSeconds: 20,
      staleThresholdSeconds: 90,
      coordinatorEnabled: false,
      batchSize: 5,
      state: 'idle',
      status: 'idle',
      leaving: false,
      activeTasks: 0,
      version: 1,
    })
    for (const name of ['dev-1', made.body.id])
      expect((await get(w, `/${name}`)).body).toMatchObject(made.body)
    expect(await w.happens('agent_registered')).toMatchObject([{ payload: { agent: 'dev-1' } }])
  })

  test('has the document’s defaults, and omitted fields stay', async () => {
    const w = await workspace()
    expect((await put(w, 'a')).body).toMatchObject({
      name: 'a',
      adapterType: 'external',
      capabilities: [],
      maxConcurrentTasks: 1,
      heartbeatIntervalSeconds: 30,
      staleThresholdSeconds: 180,
      coordinatorEnabled: true,
      batchSize: 1,
    })
    const changed = await put(w, 'a', { model: 'haiku', maxConcurrentTasks: null })
    expect([changed.status, changed.headers.get('etag')]).toEqual([200, '"2"'])
    const more = await put(w, 'a', { capabilities: ['go'], model: null })
    expect(more.body).toMatchObject({
      maxConcurrentTasks: null,
      model: null,
      capabilities: ['go'],
      version: 3,
    })
    const byId = await put(w, more.body.id, { name: 'by id' })
    expect(byId).toMatchObject({ status: 200, body: { slug: 'a', id: more.body.id, name: 'by id' } })
  })

  test('is changed under If-Match only with its current version', async () => {
    const w = await workspace()
    expectRefusal(await put(w, 'a', {}, { 'if-match': '"1"' }), 412, 'VERSION_MISMATCH')
    await put(w, 'a')
    await put(w, 'a', { name: 'new' }, { 'if-match': '"1"' })
    const late = await put(w, 'a', { name: 'late' }, { 'if-match': '"1"' })
    expectRefusal(late, 412, 'VERSION_MISMATCH', { currentVersion: 2 })
    expect((await get(w, '/a')).body.name).toBe('new')
    for (const bad of ['1', 'x', '""', '"-1"'])
      expect([400, 412], bad).toContain((await put(w, 'a', {}, { 'if-match': bad })).status)
  })

  test.each([
    ['maxConcurrentTasks', 0],
    ['maxConcurrentTasks', 1.5],
    ['batchSize', 0],
    ['heartbeatIntervalSeconds', 0],
    ['staleThresholdSeconds', -1],
    ['adapterType', 'Not A Type'],
    ['capabilities', ['']],
    ['capabilities', Array(51).fill('x')],
    ['adapterConfig', []],
    ['nonsense', 1],
    ['state', 'idle'],
  ])('is refused with %s %j, by name', async (field, value) => {
    const w = await workspace()
    const refused = await put(w, 'a', { [field]: value })
    expectRefusal(refused, 400, 'VALIDATION_FAILED')
    expect(refused.body.errors[0].field).toMatch(new RegExp(`^${field}`))
    expectRefusal(await get(w, '/a'), 404, 'NOT_FOUND')
  })

  test.each(['-a', 'a b', 'ä', '.', 'a/b', 'x'.repeat(101), '%00'])(
    'may not be called "%s"',
    async (slug) => {
      const w = await workspace()
      const { status } = await put(w, encodeURIComponent(slug))
      expect([400, 404]).toContain(status)
      expect((await get(w, '')).body.items).toEqual([])
    },
  )

  test('cannot have the form of an id as its name: it could not be found again', async () => {
    const w = await workspace()
    const unknownId = '01890000-0000-7000-8000-00000000ffff'
    const { status } = await put(w, unknownId)
    expect([400, 404]).toContain(status)
    expect((await get(w, '')).body.items).toEqual([])
  })

  test('that is only known by claiming has no limit and is not monitored; registered, it is like others', async () => {
    const w = await workspace()
    for (let i = 0; i < 3; i++) await w.claim(await w.make())
    expect((await get(w, '/alpha')).body).toMatchObject({
      maxConcurrentTasks: null,
      coordinatorEnabled: false,
      state: 'running',
      activeTasks: 3,
      lastSeenAt: null,
    })
    expect((await get(w, '/alpha/health')).body).toMatchObject({ status: 'unknown', lastSeenAt: null })
    const registered = await put(w, 'alpha', { name: 'Alpha' })
    expect(registered).toMatchObject({ status: 200, body: { maxConcurrentTasks: 1, activeTasks: 3 } })
    expect(registered.body.coordinatorEnabled).toBe(true)
  })
})

describe('the list of agents', () => {
  test('is by slug, page by page, with filters', async () => {
    const w = await workspace()
    for (const slug of ['d', 'b', 'a', 'c']) await put(w, slug, { capabilities: slug < 'c' ? ['go'] : [] })
    await put(w, 'd', { coordinatorEnabled: false })
    await act(w, 'b', 'pause')
    await w.claim(await w.make(), 'c')
    expect(slugs(await get(w, ''))).toEqual(['a', 'b', 'c', 'd'])
    const first = await get(w, '?limit=3')
    expect(slugs(first)).toEqual(['a', 'b', 'c'])
    const second = await get(w, `?limit=3&cursor=${first.body.nextCursor}`)
    expect([slugs(second), second.body.nextCursor]).toEqual([['d'], null])
    expect((await get(w, '?limit=4')).body.nextCursor, 'no empty page to come').toBeNull()
    expect(slugs(await get(w, '?state=paused'))).toEqual(['b'])
    expect(slugs(await get(w, '?status=running'))).toEqual(['c'])
    expect(slugs(await get(w, '?state=idle,running'))).toEqual(['a', 'c', 'd'])
    expect(slugs(await get(w, '?coordinatorEnabled=false'))).toEqual(['d'])
    expect(slugs(await get(w, '?capability=go&state=idle'))).toEqual(['a'])
    for (const query of ['state=nonsense', 'coordinatorEnabled=1', 'cursor=!'])
      expectRefusal(await get(w, `?${query}`), 400, 'VALIDATION_FAILED')
  })

  test('has its own workspace only: the same slug elsewhere is another agent', async () => {
    const [w, elsewhere] = [await workspace(), await workspace()]
    const own = (await put(w, 'a', { model: 'own' })).body
    for (const [method, path] of [
      ['GET', ''],
      ['GET', '/health'],
      ['GET', '/tasks'],
      ['GET', '/assignments'],
      ['POST', '/heartbeat'],
      ['POST', '/pause'],
      ['POST', '/resume'],
      ['POST', '/terminate'],
      ['DELETE', ''],
    ] as const)
      for (const name of ['a', own.id])
        expectRefusal(await elsewhere.call(method, `/agents/${name}${path}`), 404, 'NOT_FOUND')
    const theirs = (await put(elsewhere, 'a')).body
    expect(theirs.id).not.toBe(own.id)
    await act(elsewhere, 'a', 'terminate')
    expect((await get(w, '/a')).body).toMatchObject(own)
    expect(slugs(await get(elsewhere, ''))).toEqual(['a'])
  })
})

describe('the secrets of an agent’s configuration', () => {
  const SECRET = 'hunter2-hunter2'
  const env = { API_KEY: SECRET, NESTED: { deep: SECRET } }

  test('are shown as set and no more, in no answer and no event; sent back masked they stay unchanged', async () => {
    const w = await workspace()
    const made = await put(w, 'a', { adapterConfig: { command: 'node', env } })
    expect(made.body.adapterConfig).toEqual({
      command: 'node',
      env: { API_KEY: '********', NESTED: '********' },
    })
    const again = await put(w, 'a', { adapterConfig: { ...made.body.adapterConfig, promptTemplate: 'Go' } })
    const answers = [
      made.body,
      again.body,
      (await get(w, '/a')).body,
      (await get(w, '')).body,
      (await act(w, 'a', 'pause')).body,
      (await act(w, 'a', 'heartbeat')).body,
      (await get(w, '/a/health')).body,
      (await w.call('GET', '/coordinator/status')).body,
      await w.events(),
    ]
    expect(JSON.stringify(answers)).not.toContain(SECRET)
    const [row] = await superuser(served().databaseUrl, async (client) => {
      const { rows } = await client.query('select adapter_config from baton.agents where agent_id = $1', [
        made.body.id,
      ])
      return rows
    })
    expect(row.adapter_config).toEqual({ command: 'node', promptTemplate: 'Go', env })
  })

  test.each([`API_KEY=${SECRET}`, [`API_KEY=${SECRET}`], [{ name: 'API_KEY', value: SECRET }]])(
    'are not shown either when env is %j, whether that is accepted or not',
    async (odd) => {
      const w = await workspace()
      const made = await put(w, 'a', { adapterConfig: { env: odd } })
      expect([201, 400]).toContain(made.status)
      expect(JSON.stringify([made.body, (await get(w, '')).body])).not.toContain(SECRET)
    },
  )
})

describe('people', () => {
  test('pause an agent: no claims of any kind, but it finishes what it holds; and resume it', async () => {
    const w = await workspace()
    await put(w, 'alpha', { maxConcurrentTasks: 9 })
    const held = await w.held()
    const waiting = await w.make()
    const by = { agent: 'alpha', session: 's-alpha' }
    expect((await act(w, 'alpha', 'pause', { reason: 'lunch' })).body).toMatchObject({
      state: 'paused',
      stateReason: 'lunch',
    })
    expectRefusal(await w.claim(waiting), 409, 'AGENT_PAUSED')
    expectRefusal(await w.post('/claims/next', by), 409, 'AGENT_PAUSED')
    const { results } = (await w.post('/claims/batch', { ...by, taskIds: [waiting.id] })).body
    expect(results).toMatchObject([{ reason: 'AGENT_PAUSED', status: 409 }])
    expect((await w.on(held, 'submit', { ...fence('s-alpha', 1), result: 1 })).body.reason).toBe('ACCEPTED')
    expect(await w.happens('agent_paused')).toMatchObject([{ payload: { reason: 'lunch' } }])
    expect((await act(w, 'alpha', 'resume')).body).toMatchObject({ state: 'idle', stateReason: null })
    expectRefusal(await act(w, 'alpha', 'resume'), 409, 'WRONG_STATE')
    expect((await w.claim(waiting)).body.reason).toBe('GRANTED')
  })

  test('pause an agent that waits for work: later work is not assigned to it', async () => {
    const w = await workspace()
    await put(w, 'alpha')
    const waiting = w.post('/claims/next', { agent: 'alpha', session: 's', waitMs: 50_000 })
    await until(async () => (await w.count('session_started')) > 0)
    await act(w, 'alpha', 'pause')
    const task = await w.make()
    expectRefusal(await waiting, 409, 'AGENT_PAUSED')
    expect((await w.read(task)).state).toBe('queued')
  })

  test('terminate an agent gracefully: it finishes, and then the coordinator terminates it', async () => {
    const w = await workspace()
    await put(w, 'alpha')
    const held = await w.held()
    const leaving = await act(w, 'alpha', 'terminate', { reason: 'too dear' })
    expect(leaving.body).toMatchObject({ state: 'running', leaving: true, activeTasks: 1 })
    expectRefusal(await w.claim(await w.make()), 409, 'AGENT_TERMINATED')
    expect((await w.on(held, 'renew', fence('s-alpha', 1))).status).toBe(200)
    await w.on(held, 'submit', { ...fence('s-alpha', 1), result: 1 })
    const [ended] = await w.happens('agent_terminated')
    expect(ended).toMatchObject({ actor: 'system', payload: { reason: 'too dear', claims: 0 } })
    expect((await get(w, '/alpha')).body).toMatchObject({ state: 'terminated', leaving: false })
    expect(await put(w, 'alpha')).toMatchObject({ status: 200, body: { state: 'idle' } })
    expect((await w.claim(await w.make())).body.reason).toBe('GRANTED')
  })

  test('terminate an agent at once: its tasks are requeued without a spent attempt', async () => {
    const w = await workspace()
    await put(w, 'alpha', { maxConcurrentTasks: 2 })
    const tasks = [await w.held(), await w.held()]
    await w.on(tasks[0]!, 'start', fence('s-alpha', 1))
    const ended = await act(w, 'alpha', 'terminate', { graceful: false, reason: 'gone mad' })
    expect(ended.body).toMatchObject({ state: 'terminated', activeTasks: 0, stateReason: 'gone mad' })
    for (const task of tasks) {
      expect(await w.read(task)).toMatchObject({ state: 'queued', attempt: 0, holder: null })
      expect((await w.read(task, '/claims')).items).toMatchObject([{ releaseReason: 'AGENT_TERMINATED' }])
      expect((await w.claim(task, 'beta')).body).toMatchObject({ reason: 'GRANTED', claim: { attempt: 1 } })
    }
    expectRefusal(await act(w, 'alpha', 'heartbeat'), 409, 'AGENT_TERMINATED')
    expectRefusal(await w.claim(await w.make()), 409, 'AGENT_TERMINATED')
    expect((await act(w, 'alpha', 'terminate')).status, 'twice is once').toBe(200)
    expect(await w.count('agent_terminated')).toBe(1)
  })

  test('pause an agent at once: its tasks are requeued without a spent attempt, also when it was paused before', async () => {
    const w = await workspace()
    await put(w, 'alpha', { maxConcurrentTasks: 2 })
    const task = await w.held()
    await w.on(task, 'start', fence('s-alpha', 1))
    expect((await act(w, 'alpha', 'pause', { reason: 'lunch' })).body).toMatchObject({ activeTasks: 1 })
    expect(await w.read(task)).toMatchObject({ state: 'running', attempt: 1 })
    const stopped = await act(w, 'alpha', 'pause', { graceful: false })
    expect(stopped.body).toMatchObject({ state: 'paused', activeTasks: 0, stateReason: 'lunch' })
    expect(await w.read(task)).toMatchObject({ state: 'queued', attempt: 0, holder: null })
    expect((await w.read(task, '/claims')).items).toMatchObject([{ releaseReason: 'AGENT_PAUSED' }])
    expect((await w.claim(task, 'beta')).body).toMatchObject({ reason: 'GRANTED', claim: { attempt: 1 } })
    expectRefusal(await act(w, 'alpha', 'pause', { graceful: 'no' }), 400, 'VALIDATION_FAILED')
  })

  test('remove an agent that holds nothing; a later claim under its name or id is of an unknown agent', async () => {
    const w = await workspace()
    const { id } = (await put(w, 'alpha', { capabilities: ['go'] })).body
    const task = await w.make({ requiredCapabilities: ['go'] })
    expect((await w.claim(task, id, { session: 's-alpha' })).body.claim.agent).toBe('alpha')
    expectRefusal(await w.call('DELETE', '/agents/alpha'), 409, 'WRONG_STATE')
    await released(w, task)
    expect((await w.call('DELETE', '/agents/alpha')).status).toBe(204)
    for (const method of ['GET', 'DELETE'])
      for (const name of ['alpha', id])
        expectRefusal(await w.call(method, `/agents/${name}`), 404, 'NOT_FOUND')
    expect((await w.claim(task, 'alpha')).body.code).toBe('MISSING_CAPABILITY')
    const byId = await w.claim(task, id, { session: 's-other' })
    expect(byId.status, `by an unknown id: ${JSON.stringify(byId.body)}`).toBeGreaterThanOrEqual(400)
  })

  test('change an agent’s capabilities, and the next claim uses them, by slug and by id', async () => {
    const w = await workspace()
    const { id } = (await put(w, 'alpha', { capabilities: ['go'], maxConcurrentTasks: null })).body
    const task = await w.make({ requiredCapabilities: ['go'] })
    for (const name of ['alpha', id]) {
      const { generation } = (await w.claim(task, name, { session: 's-alpha' })).body.claim
      await released(w, task, 'alpha', generation)
    }
    await put(w, 'alpha', { capabilities: [] })
    for (const name of ['alpha', id])
      expectRefusal(await w.claim(task, name, { session: 's-alpha' }), 409, 'MISSING_CAPABILITY')
  })
})

describe('an agent’s limit of tasks', () => {
  test('holds for many requests at once, and is shown with what it holds', async () => {
    const w = await workspace()
    await put(w, 'alpha', { maxConcurrentTasks: 2 })
    const tasks = await Promise.all(Array.from({ length: 12 }, () => w.make()))
    const answers = await Promise.all(tasks.map((task) => w.claim(task)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(2)
    for (const answer of answers.filter(({ status }) => status !== 200))
      expectRefusal(answer, 409, 'NO_CAPACITY', { capacity: 2, held: 2 })
    expect((await get(w, '/alpha')).body).toMatchObject({ state: 'running', activeTasks: 2 })
    const own = await get(w, '/alpha/tasks?state=assigned')
    expect(own.body.items).toHaveLength(2)
    const page = await get(w, '/alpha/tasks?limit=1')
    const next = await get(w, `/alpha/tasks?limit=1&cursor=${page.body.nextCursor}`)
    expect(new Set([...page.body.items, ...next.body.items].map(({ id }) => id)).size).toBe(2)
    await until(async () => (await w.call('GET', '/coordinator/status')).body.active)
  })
})

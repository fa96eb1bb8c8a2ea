import { describe, expect, test } from 'vitest'
import {
  expectRefusal,
  fence,
  type Json,
  type Task,
  useServer,
  type Workspace,
} from '../../support/http-workspace.ts'
import { until } from '../../support/nodes.ts'

/** The coordinator assigns work to agents that heartbeat. */

const { served, workspace } = useServer()
const put = (w: Workspace, slug: string, body: Json = {}) => w.call('PUT', `/agents/${slug}`, body)
const heartbeat = async (w: Workspace, slug: string, body: Json = {}) =>
  (await w.call('POST', `/agents/${slug}/heartbeat`, body)).body
/** An agent that is ready for work. */
async function ready(w: Workspace, slug: string, profile: Json = {}, reported: Json = {}) {
  expect((await put(w, slug, profile)).status).toBeLessThan(300)
  expect((await heartbeat(w, slug, reported)).agent).toBe(slug)
}
const makeAll = async (w: Workspace, tasks: readonly Json[]): Promise<Task[]> =>
  (await w.post('/tasks/batch', { tasks: tasks.map((task) => ({ title: 'x', ...task })) })).body.items
const times = (count: number, task: Json = {}) => Array.from({ length: count }, () => task)
/** A whole pass, now. */
const recover = async (w: Workspace) => {
  const answer = await w.post('/coordinator/recover')
  expect(answer.status).toBe(200)
  return answer.body.did
}
const holderOf = async (w: Workspace, task: Task): Promise<string | null> =>
  (await w.read(task)).holder?.agent ?? null
/** The holder of each of these, once all of them are held. */
const holders = (w: Workspace, tasks: readonly Task[]): Promise<string[]> =>
  until(async () => {
    const found = await Promise.all(tasks.map((task) => holderOf(w, task)))
    return found.every((agent) => agent !== null) && (found as string[])
  })
/** The holder of each of these after the coordinator had every chance. */
async function holdersNow(w: Workspace, tasks: readonly Task[]) {
  for (let i = 0; i < 4; i++) await recover(w)
  return Promise.all(tasks.map((task) => holderOf(w, task)))
}
const assignments = async (w: Workspace, slug: string, waitMs = 0) =>
  (await w.call('GET', `/agents/${slug}/assignments?waitMs=${waitMs}`)).body.claims

describe('an agent that heartbeats', () => {
  test('is assigned waiting work, learns it from its next heartbeat, and finishes it', async () => {
    const w = await workspace()
    const task = await w.make({ description: 'all of it' })
    await ready(w, 'alpha')
    const given = await until(async () => (await heartbeat(w, 'alpha')).claims[0])
    expect(given).toMatchObject({
      taskId: task.id,
      generation: 1,
      session: 'agent:alpha',
      state: 'assigned',
      attempt: 1,
    })
    const [assigned] = await w.happens('task_assigned')
    expect(assigned).toMatchObject({
      actor: 'coordinator',
      taskId: task.id,
      payload: { agent: 'alpha', session: 'agent:alpha' },
    })
    expect(await assignments(w, 'alpha')).toMatchObject([
      { taskId: task.id, agent: 'alpha', task: { id: task.id, description: 'all of it' } },
    ])
    const held = fence('agent:alpha', 1)
    expect((await w.on(task, 'start', held)).status).toBe(200)
    expect(await assignments(w, 'alpha'), 'begun').toEqual([])
    expect((await w.on(task, 'submit', { ...held, result: 1 })).body.reason).toBe('ACCEPTED')
  })

  test('holds it under the session that its heartbeats name', async () => {
    const w = await workspace()
    await ready(w, 'alpha', {}, { session: 'pod-7' })
    const task = await w.make()
    await holders(w, [task])
    expect((await w.read(task)).holder).toMatchObject({ agent: 'alpha', session: 'pod-7' })
    expect((await w.on(task, 'submit', { ...fence('pod-7', 1), result: 1 })).status).toBe(200)
  })

  test('and waits for its assignments is answered when one comes, and no other agent is', async () => {
    const w = await workspace()
    await ready(w, 'alpha', { capabilities: ['go'] })
    await ready(w, 'beta')
    const [alpha, beta] = [assignments(w, 'alpha', 50_000), assignments(w, 'beta', 300)]
    const task = await w.make({ requiredCapabilities: ['go'] })
    expect(await alpha).toMatchObject([{ taskId: task.id, agent: 'alpha' }])
    expect(await beta).toEqual([])
    expectRefusal(await w.call('GET', '/agents/nobody/assignments'), 404, 'NOT_FOUND')
    expectRefusal(await w.call('GET', '/agents/alpha/assignments?waitMs=x'), 400, 'VALIDATION_FAILED')
  })

  test('does not get as an assignment what it claimed itself', async () => {
    const w = await workspace()
    await put(w, 'alpha', { coordinatorEnabled: false })
    const task = await w.held()
    expect((await heartbeat(w, 'alpha')).claims).toMatchObject([{ taskId: task.id }])
    expect(await assignments(w, 'alpha')).toEqual([])
  })

  test('gets only up to its limit, whatever it claims besides', async () => {
    const w = await workspace()
    await ready(w, 'alpha', { maxConcurrentTasks: 3 })
    await makeAll(w, times(10))
    const claims = Promise.all(times(6).map(() => w.next()))
    await until(async () => (await heartbeat(w, 'alpha')).claims.length === 3)
    await claims
    await recover(w)
    expect((await w.call('GET', '/agents/alpha')).body.activeTasks).toBe(3)
    const [first] = (await heartbeat(w, 'alpha')).claims
    await w.on({ id: first.taskId }, 'submit', { ...fence(first.session, first.generation), result: 1 })
    await until(async () => {
      const { claims: now } = await heartbeat(w, 'alpha')
      return now.length === 3 && now.every(({ taskId }: Json) => taskId !== first.taskId)
    })
  })

  test('is assigned work of its own workspace alone', async () => {
    const [w, elsewhere] = [await workspace(), await workspace()]
    const theirs = await elsewhere.make()
    await ready(w, 'alpha', { maxConcurrentTasks: null })
    const own = await w.make()
    expect(await holders(w, [own])).toEqual(['alpha'])
    expect(await holdersNow(elsewhere, [theirs])).toEqual([null])
  })
})

describe('nothing is assigned to an agent', () => {
  const able = { capabilities: ['go'] }
  const BAD: [what: string, make: (w: Workspace) => Promise<unknown>][] = [
    ['that never sent a heartbeat', (w) => put(w, 'bad', able)],
    ['that the coordinator does not monitor', (w) => ready(w, 'bad', { ...able, coordinatorEnabled: false })],
    [
      'that Baton runs, and that work does not wake',
      (w) =>
        ready(w, 'bad', {
          ...{ ...able, adapterType: 'simulated', adapterConfig: { steps: [] } },
          runtimeConfig: { heartbeat: { wakeOnAssignment: false } },
        }),
    ],
    [
      'that is paused',
      async (w) => {
        await put(w, 'bad', able)
        await w.post('/agents/bad/pause')
        await heartbeat(w, 'bad')
      },
    ],
    [
      'that leaves',
      async (w) => {
        await put(w, 'bad', { ...able, maxConcurrentTasks: 5 })
        await w.claim(await w.make({ agent: 'bad' }), 'bad')
        await w.post('/agents/bad/terminate')
        await heartbeat(w, 'bad')
      },
    ],
    [
      'that is terminated',
      async (w) => {
        await ready(w, 'bad', able)
        await w.post('/agents/bad/terminate')
      },
    ],
    [
      'that is silent',
      async (w) => {
        await ready(w, 'bad', { ...able, heartbeatIntervalSeconds: 1, staleThresholdSeconds: 1 })
        await until(async () => (await w.call('GET', '/agents/bad')).body.state === 'offline')
      },
    ],
    ['that cannot do it', (w) => ready(w, 'bad', { capabilities: ['cobol'] })],
    [
      'that gets only what names it',
      (w) => ready(w, 'bad', { ...able, runtimeConfig: { reservedOnly: true } }),
    ],
  ]
  test.each(BAD)('%s, but to one that is ready for it', async (_what, make) => {
    const w = await workspace()
    await make(w)
    const tasks = await makeAll(w, times(3, { requiredCapabilities: ['go'] }))
    expect(await holdersNow(w, tasks)).toEqual([null, null, null])
    await ready(w, 'good', { maxConcurrentTasks: 9, capabilities: ['go', 'rust'] })
    expect(await holders(w, tasks)).toEqual(['good', 'good', 'good'])
  })

  test('that another could have: what one free agent cannot take goes to the next', async () => {
    const w = await workspace()
    // Its heartbeats name a lost worker, so that none of its claims succeeds.
    await w.post('/workers', { worker: 'gone', capacity: 1 })
    await w.call('DELETE', '/workers/gone')
    await ready(w, 'aaa-broken', {}, { session: 'gone' })
    await ready(w, 'good', { capabilities: ['go'] })
    const task = await w.make()
    expect(await holdersNow(w, [task])).toEqual(['good'])
  })
})

describe('among free agents', () => {
  test('each gets one before any gets two, and the healthy before the degraded', async () => {
    const w = await workspace()
    await ready(w, 'a-sick', { maxConcurrentTasks: 2 }, { status: 'degraded' })
    await ready(w, 'b', { maxConcurrentTasks: 2 })
    await ready(w, 'c', { maxConcurrentTasks: 2 })
    const tasks = await makeAll(w, times(2))
    expect((await holders(w, tasks)).toSorted()).toEqual(['b', 'c'])
    const more = await makeAll(w, times(3))
    expect((await holders(w, more)).toSorted()).toEqual(['a-sick', 'b', 'c'])
  })

  test('the one with fewer capabilities gets the general work', async () => {
    const w = await workspace()
    await ready(w, 'able', { capabilities: ['go', 'rust'] })
    await ready(w, 'plain')
    const [any] = await makeAll(w, [{}])
    expect(await holders(w, [any!])).toEqual(['plain'])
    const [needy] = await makeAll(w, [{ requiredCapabilities: ['go'] }])
    expect(await holders(w, [needy!])).toEqual(['able'])
  })

  test('reserved work is assigned to its agent alone', async () => {
    const w = await workspace()
    await ready(w, 'other', { maxConcurrentTasks: 9 })
    await ready(w, 'own', { maxConcurrentTasks: 2 })
    const tasks = await makeAll(w, times(3, { agent: 'own' }))
    const found = await until(async () => {
      const who = await holdersNow(w, tasks)
      return who.filter((agent) => agent !== null).length === 2 && who
    })
    expect(found.toSorted()).toEqual(['own', 'own', null].toSorted())
  })

  test('one that gets only what names it takes nothing else, even when it is woken', async () => {
    const w = await workspace()
    const settings = { adapterType: 'simulated', adapterConfig: { steps: [{ result: 1 }] } }
    const runtimeConfig = { reservedOnly: true, heartbeat: { wakeOnAssignment: false } }
    await put(w, 'own', { ...settings, runtimeConfig })
    const [free, named] = await makeAll(w, [{ priority: 10 }, { agent: 'own' }])
    for (const finished of [1, 2]) {
      expect((await w.post('/agents/own/wakeup', { reason: 'look' })).status).toBe(202)
      await w.happens('run_finished', finished)
    }
    expect((await w.read(named!)).state).toBe('completed')
    expect((await w.read(free!)).state).toBe('queued')
  })

  test('the oldest work of the highest priority goes first, and projects alternate fairly', async () => {
    const w = await workspace()
    for (const slug of ['shop', 'blog']) await w.post('/projects', { slug })
    const shop = await makeAll(w, times(4, { project: 'shop' }))
    const blog = await makeAll(w, times(4, { project: 'blog' }))
    const [urgent] = await makeAll(w, [{ project: 'blog', priority: 10 }])
    await ready(w, 'alpha', { maxConcurrentTasks: 4 })
    await until(async () => (await heartbeat(w, 'alpha')).claims.length === 4)
    const held = await holdersNow(w, [...shop, ...blog, urgent!])
    expect(held.slice(0, 4).filter(Boolean), 'of shop').toHaveLength(2)
    expect(held.slice(0, 2), 'the first of them first').toEqual(['alpha', 'alpha'])
    expect(held[8], 'the urgent one').toBe('alpha')
  })

  test('several tasks of a kind go to an agent that takes several at a time, and others to others', async () => {
    const w = await workspace()
    for (const slug of ['a', 'b']) await ready(w, slug, { maxConcurrentTasks: 3, batchSize: 3 })
    const tasks = await makeAll(w, [
      ...[{ taskType: 'research' }, { taskType: 'coding' }],
      ...[{ taskType: 'research' }, { taskType: 'coding' }],
      ...[{ taskType: 'research' }, { taskType: 'coding' }],
    ])
    const who = await holders(w, tasks)
    const [research, coding] = [0, 1].map((n) => who.filter((_, i) => i % 2 === n))
    expect([new Set(research).size, new Set(coding).size], JSON.stringify(who)).toEqual([1, 1])
  })

  test('a track has no more agents than its limit, and its own agent continues on it', async () => {
    const w = await workspace()
    await w.post('/projects', { slug: 'shop' })
    await w.call('PUT', '/projects/shop/tracks/A', { maxAgents: 1 })
    const [first] = await makeAll(w, [{ project: 'shop', key: 'A-001-one' }])
    await ready(w, 'own', { maxConcurrentTasks: 3 })
    expect(await holders(w, [first!])).toEqual(['own'])
    for (const slug of ['a', 'b']) await ready(w, slug, { maxConcurrentTasks: 3 })
    const more = await makeAll(w, [
      { project: 'shop', key: 'A-002-two' },
      { project: 'shop', key: 'A-003-three' },
    ])
    const who = await holdersNow(w, more)
    for (const agent of who) expect([null, 'own'], 'no one else may').toContain(agent)
    expect(who, 'it has room for more').toEqual(['own', 'own'])
  })
})

describe('the coordinator', () => {
  test('shows the leader and the status, to those who may administer the cluster', async () => {
    const w = await workspace()
    const { body } = await until(async () => {
      const answer = await w.call('GET', '/coordinator/status')
      return answer.body.active && answer
    })
    expect(body).toMatchObject({ thisNode: { id: body.instanceId, leads: true } })
    expect(body.term).toBeGreaterThanOrEqual(1)
    const nodes = (await served().call('GET', '/nodes')).body
    expect(nodes).toMatchObject({
      items: [{ id: body.instanceId, leads: true, state: 'alive' }],
      nextCursor: null,
    })
    const { key } = (await w.post('/keys', { name: 'member', role: 'member' })).body
    for (const [method, path] of [
      ['GET', '/coordinator/status'],
      ['GET', '/nodes'],
      ['POST', '/coordinator/recover'],
    ] as const)
      expectRefusal(await served().call(method, path, undefined, { key }), 403, 'FORBIDDEN')
  })

  test('is healthy for any caller', async () => {
    const answer = await until(async () => {
      const response = await fetch(`${served().api}/health/coordinator`)
      return response.status === 200 && response
    })
    expect(await answer.json()).toMatchObject({
      status: 'healthy',
      coordinator: { active: true, leads: true },
    })
  })

  test('checks a workspace at once on request, on record, and no other workspace', async () => {
    const [w, elsewhere] = [await workspace(), await workspace()]
    const id = (await w.call('GET', '/workspaces')).body.items[0].id
    expect((await w.post('/coordinator/recover', { workspaceId: id })).body.did).toMatchObject({
      tasksAssigned: 0,
      agentsJudged: 0,
    })
    expect(await w.count('recovery_forced')).toBe(1)
    const other = await elsewhere.post('/coordinator/recover', { workspaceId: id })
    expectRefusal(other, 404, 'NOT_FOUND')
    expectRefusal(await w.post('/coordinator/recover', { nonsense: 1 }), 400, 'VALIDATION_FAILED')
    expect(await elsewhere.count('recovery_forced')).toBe(0)
  })
})

describe('an agent that lists the types of work it takes', () => {
  const LISTED = { taskTypes: ['docs', 'review', 'docs'] }
  const titles = (claims: Json[]) => claims.map(({ task }) => (task as Json).title)

  test('is assigned only such work, and anything that is reserved for it', async () => {
    const w = await workspace()
    await ready(w, 'writer', { ...LISTED, maxConcurrentTasks: null })
    expect((await w.call('GET', '/agents/writer')).body.taskTypes).toEqual(['docs', 'review'])
    const tasks = await makeAll(w, [
      { taskType: 'feature' },
      { taskType: 'docs' },
      {},
      { taskType: 'feature', agent: 'writer' },
    ])
    expect(await holdersNow(w, tasks)).toEqual([null, 'writer', null, 'writer'])
    await ready(w, 'anyone', { maxConcurrentTasks: null })
    expect(await holdersNow(w, tasks)).toEqual(['anyone', 'writer', 'anyone', 'writer'])
  })

  test('gets only such work from the queue, also behind other work, and an agent without a list gets the rest', async () => {
    const w = await workspace()
    await put(w, 'writer', { ...LISTED, maxConcurrentTasks: null, coordinatorEnabled: false })
    await makeAll(w, [
      ...times(3, { title: 'build', taskType: 'feature', priority: 9 }),
      { title: 'write', taskType: 'docs' },
      { title: 'judge', taskType: 'review' },
    ])
    const next = (agent: string, limit: number) =>
      w.post('/claims/next', { agent, session: `s-${agent}`, limit }).then(({ body }) => body.claims)
    const [own, others] = await Promise.all([next('writer', 5), next('anyone', 3)])
    expect(titles(own).sort()).toEqual(['judge', 'write'])
    expect(titles(others)).toEqual(['build', 'build', 'build'])
  })

  test('is told of no task of another type as one that it may claim', async () => {
    const w = await workspace()
    await put(w, 'writer', { ...LISTED, coordinatorEnabled: false })
    const eligible = async (taskType: string) => {
      const { agents } = (await w.read(await w.make({ taskType }))).eligible as { agents: Json[] }
      return agents.map(({ slug }) => slug)
    }
    expect(await eligible('docs')).toContain('writer')
    expect(await eligible('feature')).not.toContain('writer')
  })

  test('takes any again with an empty list; a list of things that are no types is refused', async () => {
    const w = await workspace()
    await put(w, 'writer', { ...LISTED, coordinatorEnabled: false })
    for (const taskTypes of ['docs', [7], [''], times(51, {}).map((_, i) => `t${i}`)])
      expectRefusal(await put(w, 'writer', { taskTypes } as Json), 400, 'VALIDATION_FAILED')
    const task = await w.make({ taskType: 'feature' })
    const next = () => w.post('/claims/next', { agent: 'writer', session: 's' })
    expect((await next()).body.claims).toEqual([])
    await put(w, 'writer', { taskTypes: [] })
    expect((await next()).body.claims).toMatchObject([{ taskId: task.id }])
  })
})

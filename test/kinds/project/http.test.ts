import { describe, expect, test } from 'vitest'
import { openProject, putPlan, tasksByKey } from '../../support/http-plans.ts'
import {
  expectRefusal,
  fence,
  type Json,
  type Task,
  useServer,
  type Workspace,
} from '../../support/http-workspace.ts'
import { superuser, until } from '../../support/nodes.ts'

/** Projects and their tracks: which agents may work where, and which project is next. */

const { served, workspace } = useServer()
const who = (agent: string, more: Json = {}) => ({ agent, session: `s-${agent}`, ...more })
const show = async (w: Workspace, slug = 'shop') => (await w.call('GET', `/projects/${slug}`)).body
const setAgents = (w: Workspace, track: string, maxAgents: number | null, slug = 'shop') =>
  w.call('PUT', `/projects/${slug}/tracks/${track}`, { maxAgents })
const titles = ({ claims }: { claims: { task: { title: string } }[] }) => claims.map(({ task }) => task.title)

describe('a project', () => {
  test('is created once, shown and listed page by page, each in its own workspace', async () => {
    const [w, other] = [await workspace(), await workspace()]
    const made = await w.post('/projects', { slug: 'shop', name: 'The Shop' })
    expect(made).toMatchObject({
      status: 201,
      body: { slug: 'shop', name: 'The Shop', createdAt: expect.any(String) },
    })
    expect(await show(w)).toEqual({ ...made.body, tracks: [] })
    expect((await w.post('/projects', { slug: 'plain' })).body.name, 'called like its slug').toBe('plain')
    expectRefusal(await w.post('/projects', { slug: 'shop' }), 409, 'ALREADY_EXISTS', {
      errors: [{ field: 'slug' }],
    })
    expect((await other.post('/projects', { slug: 'shop' })).status, 'a slug is free elsewhere').toBe(201)
    for (const slug of ['c', 'd', 'e']) await w.post('/projects', { slug })
    const seen: string[] = []
    for (let query = '?limit=2'; ; ) {
      const { items, nextCursor } = (await w.call('GET', `/projects${query}`)).body
      seen.push(...items.map(({ slug }: Json) => slug))
      if (nextCursor === null) break
      query = `?limit=2&cursor=${nextCursor}`
    }
    expect(seen).toEqual(['shop', 'plain', 'c', 'd', 'e'])
    expect(await w.happens('project_created', 5)).toHaveLength(5)
    expectRefusal(await other.call('GET', '/projects/plain'), 404, 'NOT_FOUND')
  })

  test('is created once when many requests create it at once', async () => {
    const w = await workspace()
    const answers = await Promise.all(Array.from({ length: 10 }, () => w.post('/projects', { slug: 'shop' })))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(9).fill(409)])
  })

  test('has its own keys: the same one may exist in another, and outside', async () => {
    const w = await openProject(served())
    await w.post('/projects', { slug: 'other' })
    const key = 'A-001-x'
    for (const more of [{}, { project: 'shop' }, { project: 'other' }]) {
      expect((await w.post('/tasks', { title: 'x', key, ...more })).status).toBe(201)
      expectRefusal(await w.post('/tasks', { title: 'x', key, ...more }), 409, 'ALREADY_EXISTS')
    }
  })

  test('shows for each track its limit, its agents and its progress', async () => {
    const w = await openProject(served())
    await setAgents(w, 'B', 2)
    const task = (key: string, more: Json = {}) => w.make({ key, project: 'shop', ...more })
    const done = await task('A-001-a')
    await w.claim(done)
    await w.on(done, 'submit', { ...fence('s-alpha', 1), result: 1 })
    const reviewed = await task('A-002-b', { verification: { kind: 'human' } })
    await w.claim(reviewed)
    await w.on(reviewed, 'submit', { ...fence('s-alpha', 1), result: 1 })
    await w.claim(await task('A-003-c'), 'gamma')
    await w.claim(await task('A-004-d'), 'beta')
    await task('A-005-e')
    await w.on(await task('A-006-f'), 'pause')
    await w.on(await task('A-007-g'), 'cancel')
    await w.make({ project: 'shop', title: 'without a key' })
    await w.make({ key: 'A-001-a', title: 'in no project' })
    expect((await show(w)).tracks).toEqual([
      {
        track: 'A',
        maxAgents: null,
        sequential: false,
        purpose: null,
        agents: ['beta', 'gamma'],
        completed: 1,
        inProgress: 3,
        pending: 2,
        failed: 0,
        holding: [
          { taskId: expect.any(String), key: 'A-003-c', title: 'Fix login', agent: 'gamma' },
          { taskId: expect.any(String), key: 'A-004-d', title: 'Fix login', agent: 'beta' },
        ],
      },
      {
        ...{ track: 'B', maxAgents: 2, sequential: false, purpose: null },
        ...{ agents: [], completed: 0, inProgress: 0, pending: 0, failed: 0, holding: [] },
      },
    ])
    const [listed] = (await w.call('GET', '/projects?include=progress')).body.items
    expect(listed).toMatchObject({
      slug: 'shop',
      trackCount: 2,
      completed: 1,
      inProgress: 3,
      pending: 3,
      failed: 0,
    })
    expect(
      (await w.call('GET', '/projects')).body.items[0],
      'progress is read on request',
    ).not.toHaveProperty('completed')
  })

  test('and its track, its users and its parents are filters for lists of tasks', async () => {
    const w = await openProject(served())
    const whole = await w.make({ title: 'whole', project: 'shop', key: 'A-001-a', userId: 'ann' })
    await w.make({ title: 'part', project: 'shop', key: 'A-001-a::1', userId: 'bob' })
    await w.make({ title: 'other', project: 'shop', key: 'B-001-b', userId: 'ann' })
    await w.make({ title: 'outside', key: 'A-001-a', userId: 'ann' })
    const list = async (query: string) =>
      (await w.call('GET', `/tasks?${query}`)).body.items.map(({ title }: Json) => title)
    expect(await list('project=shop')).toEqual(['other', 'part', 'whole'])
    expect(await list('project=shop&track=A')).toEqual(['part', 'whole'])
    expect(await list('track=A')).toEqual(['outside', 'part', 'whole'])
    expect(await list('userId=ann')).toEqual(['outside', 'other', 'whole'])
    expect(await list('userId=ann&project=shop&track=B')).toEqual(['other'])
    expect(await list(`parentId=${whole.id}`)).toEqual(['part'])
    expect(await list('userId=nobody')).toEqual([])
    expectRefusal(await w.call('GET', '/tasks?project=nothing'), 404, 'NOT_FOUND')
  })
})

describe('a track', () => {
  const plan = (tracks: string) => `project: shop\ntracks:\n${tracks}`
  const THREE = plan('  A: [{id: A-001-a}, {id: A-002-b}, {id: A-003-c}]\n')

  test('of a plan is for one agent, which may hold many of its tasks', async () => {
    const w = await openProject(served())
    await putPlan(w, 'shop', THREE)
    const tasks = [...(await tasksByKey(w)).values()]
    expect((await w.claim(tasks[0]!)).status).toBe(200)
    expect((await w.claim(tasks[1]!)).status).toBe(200)
    const full = { track: 'A', maxAgents: 1 }
    expectRefusal(await w.claim(tasks[2]!, 'beta'), 409, 'TRACK_FULL', full)
    const batch = await w.post('/claims/batch', who('beta', { taskIds: [tasks[2]!.id] }))
    expect(batch.body.results).toMatchObject([{ reason: 'TRACK_FULL', status: 409, ...full }])
    expect(await w.next(who('beta'))).toEqual({ claims: [] })
    expect((await show(w)).tracks).toMatchObject([
      { track: 'A', agents: ['alpha'], inProgress: 2, pending: 1 },
    ])
  })

  test('is free for the next agent when the last one has released it, by any means', async () => {
    const w = await openProject(served(), 'shop', { minLeaseSeconds: 1 })
    const ways: ((task: Task) => Promise<unknown>)[] = [
      (task) => w.on(task, 'submit', { ...fence('s-alpha', 1), result: 1 }),
      (task) => w.on(task, 'release', fence('s-alpha', 1)),
      (task) => w.on(task, 'fail', { ...fence('s-alpha', 1), failureClass: 'invalid' }),
      (task) => w.on(task, 'cancel'),
      (task) => w.on(task, 'pause'),
      (task) => w.call('PATCH', `/tasks/${task.id}`, { agent: 'gamma' }),
      () => w.call('DELETE', '/sessions/s-alpha'),
      (task) => until(async () => (await w.read(task)).holder === null),
    ]
    for (const [i, release] of ways.entries()) {
      const track = 'ABCDEFGH'[i]!
      await setAgents(w, track, 1)
      const make = (place: string) => w.make({ project: 'shop', key: `${track}-00${place}-x` })
      const [held, waiting] = [await make('1'), await make('2')]
      await w.claim(held, 'alpha', { leaseSeconds: 1 })
      await w.on(held, 'renew', { ...fence('s-alpha', 1), leaseSeconds: i === ways.length - 1 ? 1 : 60 })
      expectRefusal(await w.claim(waiting, 'beta'), 409, 'TRACK_FULL')
      await release(held)
      expect((await w.claim(waiting, 'beta')).status, `way ${i}`).toBe(200)
    }
  })

  test('accepts as many agents as it is set to, from that moment on; those that are on it stay', async () => {
    const w = await openProject(served())
    await putPlan(
      w,
      'shop',
      plan('  A: {agents: 2, tasks: [{id: A-001-a}, {id: A-002-b}, {id: A-003-c}, {id: A-004-d}]}\n'),
    )
    const tasks = [...(await tasksByKey(w)).values()]
    await w.claim(tasks[0]!, 'alpha')
    await w.claim(tasks[1]!, 'beta')
    expectRefusal(await w.claim(tasks[2]!, 'gamma'), 409, 'TRACK_FULL', { maxAgents: 2 })
    const changed = await setAgents(w, 'A', 3)
    expect(changed.body.tracks).toMatchObject([{ track: 'A', maxAgents: 3, agents: ['alpha', 'beta'] }])
    expect((await w.claim(tasks[2]!, 'gamma')).status).toBe(200)
    await setAgents(w, 'A', 1)
    expect((await show(w)).tracks[0].agents).toEqual(['alpha', 'beta', 'gamma'])
    expect((await w.on(tasks[2]!, 'renew', fence('s-gamma', 1))).status).toBe(200)
    expectRefusal(await w.claim(tasks[3]!, 'delta'), 409, 'TRACK_FULL', { maxAgents: 1 })
    expect((await w.claim(tasks[3]!, 'alpha')).status, 'an agent on it may have more').toBe(200)
    await setAgents(w, 'A', null)
    const more = await w.make({ project: 'shop', key: 'A-005-e' })
    expect((await w.claim(more, 'delta')).status).toBe(200)
    expect((await w.happens('track_changed', 4)).map(({ payload }) => payload.maxAgents)).toEqual([
      2,
      3,
      1,
      null,
    ])
  })

  test('never has more agents than its limit, however many claim at once', async () => {
    const w = await openProject(served(), 'shop', { maxConcurrentClaims: 1_000 })
    await setAgents(w, 'A', 3)
    const tasks: Task[] = []
    for (let i = 1; i <= 30; i++)
      tasks.push(await w.make({ project: 'shop', key: `A-${String(i).padStart(3, '0')}-x` }))
    await Promise.all(tasks.map((task, i) => w.claim(task, `agent-${i}`)))
    expect((await show(w)).tracks[0].agents).toHaveLength(3)
    await Promise.all(tasks.map((_task, i) => w.next(who(`other-${i}`))))
    expect((await show(w)).tracks[0]).toMatchObject({ agents: expect.any(Array), inProgress: 3 })
    expect((await show(w)).tracks[0].agents).toHaveLength(3)
  })

  test('that is undeclared, of no project or of another is not limited by it', async () => {
    const w = await openProject(served())
    await w.post('/projects', { slug: 'other' })
    await setAgents(w, 'A', 1)
    const keys = [
      { project: 'other', key: 'A-001-x' },
      { project: 'other', key: 'A-002-x' },
      { project: 'shop', key: 'B-001-x' },
      { project: 'shop', key: 'B-002-x' },
      { key: 'A-001-x' },
      { key: 'A-002-x' },
      { project: 'shop' },
      { project: 'shop' },
    ]
    for (const [i, more] of keys.entries())
      expect((await w.claim(await w.make(more), `agent-${i}`)).status, JSON.stringify(more)).toBe(200)
  })

  test('that is full hides nothing behind it: the queue continues with the others', async () => {
    const w = await openProject(served())
    await setAgents(w, 'A', 1)
    for (let i = 1; i <= 9; i++)
      await w.make({ title: `A${i}`, project: 'shop', key: `A-00${i}-x`, priority: 9 })
    await w.make({ title: 'B1', project: 'shop', key: 'B-001-x' })
    await w.make({ title: 'free', priority: 1 })
    expect(titles(await w.next(who('alpha')))).toEqual(['A1'])
    expect(titles(await w.next(who('beta', { limit: 5 }))).sort()).toEqual(['B1', 'free'])
    expect(titles(await w.next(who('alpha', { limit: 2 })))).toEqual(['A2', 'A3'])
  })
})

describe('the queue', () => {
  test('returns only tasks of the requested project and tracks', async () => {
    const w = await openProject(served())
    await w.post('/projects', { slug: 'other' })
    const all: [title: string, more: Json][] = [
      ['shop A', { project: 'shop', key: 'A-001-x' }],
      ['shop A part', { project: 'shop', key: 'A-009-x::1' }],
      ['shop B', { project: 'shop', key: 'B-001-x' }],
      ['shop', { project: 'shop' }],
      ['other A', { project: 'other', key: 'A-001-x' }],
      ['A', { key: 'A-001-x' }],
      ['kept', { project: 'other', key: 'C-001-x', agent: 'alpha' }],
    ]
    for (const [title, more] of all) await w.make({ title, ...more })
    const given = async (more: Json) => {
      const { claims } = await w.next({ limit: 20, ...more })
      for (const { taskId, generation } of claims)
        await w.on({ id: taskId }, 'release', fence('s-alpha', generation))
      return claims.map(({ task }: { task: Json }) => task.title).sort()
    }
    expect(await given({ project: 'shop' })).toEqual(['shop', 'shop A', 'shop A part', 'shop B'])
    expect(await given({ project: 'shop', tracks: ['A'] })).toEqual(['shop A', 'shop A part'])
    expect(await given({ tracks: ['A'] })).toEqual(['A', 'other A', 'shop A', 'shop A part'])
    expect(await given({ tracks: ['B', 'C'] })).toEqual(['kept', 'shop B'])
    expect(await given({ project: 'other' })).toEqual(['kept', 'other A'])
    expect(await given({ project: 'other', tracks: ['B'] })).toEqual([])
    expect(await given({})).toEqual(all.map(([title]) => title).sort())
    expectRefusal(await w.post('/claims/next', who('alpha', { project: 'nothing' })), 404, 'NOT_FOUND')
  })

  test('lets a caller wait for the work of one project, and passes over that of others', async () => {
    const w = await openProject(served())
    const waiting = w.next(who('alpha', { project: 'shop', tracks: ['B'], waitMs: 60_000 }))
    await w.make({ title: 'outside' })
    await w.make({ title: 'shop A', project: 'shop', key: 'A-001-x' })
    await w.make({ title: 'shop B', project: 'shop', key: 'B-001-x' })
    expect(titles(await waiting)).toEqual(['shop B'])
  })

  const flood = async (w: Workspace, project: string, count: number, more: Json = {}) => {
    const tasks = Array.from({ length: count }, () => ({ title: project, project, ...more }))
    expect((await w.post('/tasks/batch', { tasks })).status).toBe(201)
  }

  test.each([
    ['one by one', 20, 1],
    ['all at once', 1, 20],
    ['a few at a time', 4, 5],
  ])(
    'is fair: of 500 tasks of one project and 10 of another, the 10 are among the first 20, claimed %s',
    async (_how, times, limit) => {
      const w = await openProject(served(), 'a')
      await w.post('/projects', { slug: 'b' })
      await flood(w, 'a', 500)
      await flood(w, 'b', 10)
      const given: string[] = []
      for (let i = 0; i < times; i++) given.push(...titles(await w.next(who(`agent-${i}`, { limit }))))
      expect(given).toHaveLength(20)
      expect(given.filter((title) => title === 'b')).toHaveLength(10)
    },
  )

  test('is fair to concurrent callers, and an urgent project does not starve others', async () => {
    const w = await openProject(served(), 'a')
    await w.post('/projects', { slug: 'b' })
    await flood(w, 'a', 500, { priority: 10 })
    await flood(w, 'b', 10, { priority: 1 })
    const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => w.next(who(`agent-${i}`))))
    expect(answers.flatMap(titles).filter((title) => title === 'b').length).toBeGreaterThanOrEqual(9)
  })
})

describe('a workspace', () => {
  test('does not wait for another one whose requests are blocked', async () => {
    const [busy, other] = [await workspace(), await workspace()]
    const task = await other.make()
    await other.held()
    const busyTasks = [await busy.held(), await busy.held()]
    const owner = (await busy.call('GET', '/workspaces')).body.items[0].id
    await superuser(served().databaseUrl, async (client) => {
      // Every write of the busy workspace ends with this row, so all of them wait from here on.
      await client.query('begin')
      await client.query(
        `select from baton.workspace_counters where workspace_id = (
           select workspace_id from baton.workspaces where uuid = $1) for update`,
        [owner],
      )
      let answered = 0
      const stuck = Array.from({ length: 200 }, (_, i) =>
        busy.on(busyTasks[i % 2]!, 'renew', fence('s-alpha', 1)).then(() => answered++),
      )
      expect((await other.claim(task)).body.reason).toBe('GRANTED')
      expect((await other.on(task, 'submit', { ...fence('s-alpha', 1), result: 1 })).body.reason).toBe(
        'ACCEPTED',
      )
      expect(answered).toBe(0)
      await client.query('rollback')
      await Promise.all(stuck)
    })
  })

  test('with a flood of requests under way does not make another one wait for all of them', async () => {
    const [busy, other] = [await workspace(), await workspace()]
    const task = await other.make()
    await other.held()
    let answered = 0
    const tasks = Array.from({ length: 1_000 }, () => ({ title: 'x' }))
    const flood = Array.from({ length: 20 }, () =>
      busy.post('/tasks/batch', { tasks }).then(() => answered++),
    )
    expect((await other.claim(task)).body.reason).toBe('GRANTED')
    expect(answered, 'of 20 that came before').toBeLessThan(20)
    await Promise.all(flood)
  })
})

test('a track has a purpose, from its plan or from a person, and a plan that does not say keeps it', async () => {
  const w = await workspace()
  await w.post('/projects', { slug: 'shop' })
  const plan = (track: string) =>
    putPlan(w, 'shop', `project: shop\ntracks:\n  A:\n${track}    tasks:\n      - id: A-001-a\n`)
  const purpose = async () => (await show(w)).tracks[0].purpose
  expect((await plan('    purpose: Core architecture\n')).status).toBeLessThan(300)
  expect(await purpose()).toBe('Core architecture')
  expect((await plan('')).status).toBeLessThan(300)
  expect(await purpose()).toBe('Core architecture')
  const set = (body: Json) => w.call('PUT', '/projects/shop/tracks/A', body)
  expect((await set({ maxAgents: 2 })).body.tracks).toMatchObject([{ purpose: 'Core architecture' }])
  expect((await set({ maxAgents: 2, purpose: 'Data' })).body.tracks).toMatchObject([{ purpose: 'Data' }])
  const written = (await w.call('GET', '/projects/shop/plan')).body
  expect(written.tracks.A).toMatchObject({ purpose: 'Data', agents: 2 })
  expectRefusal(await set({ maxAgents: 2, purpose: 7 }), 400, 'VALIDATION_FAILED')
  await set({ maxAgents: 2, purpose: null })
  expect(await purpose()).toBeNull()
})

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

/** Sessions and their memory, as in Coditect 3.5. */

const { workspace } = useServer()
const memory = async (w: Workspace, session: string) => (await w.call('GET', `/sessions/${session}`)).body
const heartbeat = async (w: Workspace, session: string) =>
  (await w.call('POST', `/sessions/${session}/heartbeat`)).body
/** The entries of a log, without times and details. */
const reported = ({ taskLog }: { taskLog: Json[] }) => taskLog.map(({ event, outcome }) => [event, outcome])

describe('session memory, as in the example of Coditect 3.5,', () => {
  const SESSION = 'sess-alice-20260104-001'
  const NAMED: Record<string, string> = { B1: 'schema-design', B2: 'entity-models', B3: 'repositories' }
  const track = (name: string, count: number) =>
    Array.from({ length: count }, (_, i) => {
      const words = NAMED[`${name}${i + 1}`] ?? 'step'
      return { id: `${name}-${String(i + 1).padStart(3, '0')}-${words}` }
    })

  /** Track A has three of its eight tasks running; of track B, Alice's agent has done two and does the third. */
  async function example() {
    const w = await workspace()
    await w.post('/projects', { slug: 'ecommerce-rebuild' })
    const tracks = { A: track('A', 8), B: track('B', 7), C: track('C', 8), D: track('D', 6) }
    const planned = await w.call('PUT', '/projects/ecommerce-rebuild/plan', {
      project: 'ecommerce-rebuild',
      tracks,
    })
    expect(planned.body).toMatchObject({ created: 29 })
    const items = (await w.call('GET', '/tasks?limit=200')).body.items as (Task & { key: string })[]
    const task = (key: string) => items.find((one) => one.key === key)!
    await w.post('/claims/next', { agent: 'agent-alpha', session: 'sess-bob', tracks: ['A'], limit: 3 })
    const opened = await w.post('/sessions', {
      session: SESSION,
      userId: 'alice@acme.com',
      project: 'ecommerce-rebuild',
      agent: 'agent-beta',
    })
    expect(opened.status).toBe(201)
    const claim = (key: string) => w.on(task(key), 'claim', { agent: 'agent-beta', session: SESSION })
    const refs: string[] = []
    for (const key of ['B-001-schema-design', 'B-002-entity-models']) {
      await claim(key)
      const done = await w.on(task(key), 'submit', { ...fence(SESSION, 1), result: key })
      refs.push(done.body.workProductRef)
    }
    await claim('B-003-repositories')
    return { w, task, refs }
  }
  const entry = (
    event: string,
    key: string,
    sequence: number,
    outcome: string | null,
    workProductRef: string | null,
  ) => ({
    timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    event,
    key,
    track: 'B',
    sequence,
    generation: 1,
    agent: 'agent-beta',
    outcome,
    workProductRef,
  })

  test('shows its owner, its log in order, its claims, what it completed and the status of the tracks', async () => {
    const { w, task, refs } = await example()
    const now = await memory(w, SESSION)
    expect(now).toMatchObject({
      session: SESSION,
      project: 'ecommerce-rebuild',
      userId: 'alice@acme.com',
      agent: 'agent-beta',
      state: 'active',
      taskLogIsWhole: true,
    })
    expect(refs[1]).toMatch(/^wp-B-002-entity-models-gen1-[0-9a-f]{6}$/)
    const [first, second, third] = ['B-001-schema-design', 'B-002-entity-models', 'B-003-repositories']
    expect(now.taskLog).toEqual(
      [
        entry('CLAIM_ACQUIRED', first!, 1, null, null),
        entry('RESULT_SUBMITTED', first!, 1, 'ACCEPTED', refs[0]!),
        entry('CLAIM_ACQUIRED', second!, 2, null, null),
        entry('RESULT_SUBMITTED', second!, 2, 'ACCEPTED', refs[1]!),
        entry('CLAIM_ACQUIRED', third!, 3, null, null),
      ].map((one) => ({ ...one, taskId: task(one.key).id, details: expect.any(Object) })),
    )
    const times = now.taskLog.map(({ timestamp }: Json) => timestamp)
    expect(times).toEqual(times.toSorted())
    expect(now.lastActivity >= times.at(-1), 'the last thing it did').toBe(true)
    const { leaseExpiresAt } = (await w.read(task(third!))).holder
    expect(now.activeClaims).toEqual([
      {
        taskId: task(third!).id,
        key: third,
        generation: 1,
        agent: 'agent-beta',
        expiresAt: leaseExpiresAt,
        leaseExpiresAt,
      },
    ])
    expect(now.completedTasks).toEqual([first, second])
    expect(now.trackAssignments).toEqual({ A: ['agent-alpha'], B: ['agent-beta'] })
    expect(now.trackProgress).toEqual({
      A: { completed: 0, inProgress: 3, pending: 5 },
      B: { completed: 2, inProgress: 1, pending: 4 },
      C: { completed: 0, inProgress: 0, pending: 8 },
      D: { completed: 0, inProgress: 0, pending: 6 },
    })
  })

  test('still exists when the session is over', async () => {
    const { w } = await example()
    const before = await memory(w, SESSION)
    expect((await w.call('DELETE', `/sessions/${SESSION}`)).status).toBe(204)
    const after = await memory(w, SESSION)
    expect(after).toMatchObject({ state: 'ended', endReason: 'closed', activeClaims: [], expiresAt: null })
    expect(after.taskLog.slice(0, -1)).toEqual(before.taskLog)
    expect(after.taskLog.at(-1)).toMatchObject({
      event: 'CLAIM_RELEASED',
      key: 'B-003-repositories',
      generation: 1,
    })
    expect(after.completedTasks).toEqual(before.completedTasks)
    expect(after.trackProgress.B).toEqual({ completed: 2, inProgress: 0, pending: 5 })
    expect(after.trackAssignments).toEqual({ A: ['agent-alpha'] })
    const byId = await memory(w, before.id)
    expect(byId, 'by its id too').toEqual(after)
  })

  test('of one session is not that of another', async () => {
    const { w } = await example()
    const other = await memory(w, 'sess-bob')
    expect(other.taskLog.map(({ track, agent }: Json) => [track, agent])).toEqual(
      Array(3).fill(['A', 'agent-alpha']),
    )
    expect([other.completedTasks, other.activeClaims.length]).toEqual([[], 3])
    expect(other.trackProgress.B, 'but they see the same project').toMatchObject({ completed: 2 })
    const elsewhere = await workspace()
    expectRefusal(await elsewhere.call('GET', `/sessions/${SESSION}`), 404, 'NOT_FOUND')
  })
})

describe('sessions', () => {
  test('are listed newest first with what they hold, page by page, by state and by project', async () => {
    const w = await workspace()
    await w.post('/projects', { slug: 'shop' })
    const names = ['s-one', 's-two', 's-three']
    for (const session of names) await w.post('/sessions', { session })
    await w.post('/sessions', { session: 's-named', project: 'shop' })
    await w.call('DELETE', '/sessions/s-two')
    const task = await w.make({ title: 'Add a cache', key: 'A-001-cache', project: 'shop' })
    await w.claim(task, 'alpha', { session: 's-one' })
    const list = async (query = '') => (await w.call('GET', `/sessions${query}`)).body
    const all = (await list()).items
    expect(all.map(({ session }: Json) => session)).toEqual(['s-named', ...names.toReversed()])
    expect(all.at(-1)).toMatchObject({
      ...{ session: 's-one', state: 'active', holds: 1 },
      holding: [
        { taskId: task.id, key: 'A-001-cache', title: 'Add a cache', state: 'assigned', agent: 'alpha' },
      ],
    })
    expect((await list('?state=ended')).items).toMatchObject([{ session: 's-two', holds: 0, holding: [] }])
    const ofShop = (await list('?project=shop')).items
    expect(ofShop.map(({ session }: Json) => session)).toEqual(['s-named', 's-one'])
    expectRefusal(await w.call('GET', '/sessions?project=nothing'), 404, 'NOT_FOUND')
    const first = await list('?limit=3')
    const rest = await list(`?limit=3&cursor=${first.nextCursor}`)
    expect([first.items.length, rest.items.length, rest.nextCursor]).toEqual([3, 1, null])
    expect([...first.items, ...rest.items]).toEqual(all)
  })
})

describe('the log of a session', () => {
  test('shows renewals, results that were refused or wait for a verdict, and released claims', async () => {
    const w = await workspace()
    const task = await w.held()
    await w.on(task, 'renew', fence('s-alpha', 1))
    await w.on(task, 'release', fence('s-alpha', 1))
    await w.claim(task, 'beta')
    await w.on(task, 'submit', { ...fence('s-alpha', 1), result: 'zombie' })
    const reviewed = await w.held({ verification: { kind: 'human' } })
    await w.on(reviewed, 'submit', { ...fence('s-alpha', 1), result: 'look at this' })
    const failing = await w.held()
    await w.on(failing, 'fail', { ...fence('s-alpha', 1), error: 'broke' })
    const log = await memory(w, 's-alpha')
    expect(reported(log)).toEqual([
      ['CLAIM_ACQUIRED', null],
      ['LEASE_RENEWED', null],
      ['CLAIM_RELEASED', null],
      ['RESULT_SUBMITTED', 'REJECTED'],
      ['CLAIM_ACQUIRED', null],
      ['RESULT_SUBMITTED', 'PENDING'],
      ['CLAIM_ACQUIRED', null],
      ['CLAIM_RELEASED', null],
    ])
    const refused = log.taskLog[3]
    expect(refused).toMatchObject({
      taskId: task.id,
      generation: 1,
      agent: 'alpha',
      details: { code: 'STALE_GENERATION' },
    })
    expect(refused.workProductRef).toMatch(/-gen1-/)
    expect(log.taskLog.at(-1).details).toMatchObject({ error: 'broke', failureClass: 'infrastructure' })
    expect(reported(await memory(w, 's-beta')), 'each has its own').toEqual([['CLAIM_ACQUIRED', null]])
  })

  test('shows claims that were lost: expired, cancelled, paused or reassigned', async () => {
    const w = await workspace({ minLeaseSeconds: 1 })
    const expired = await w.expired()
    const [cancelled, paused, reassigned] = [await w.held(), await w.held(), await w.held()]
    await w.on(cancelled, 'cancel', { reason: 'no longer needed' })
    await w.on(paused, 'pause')
    await w.call('PATCH', `/tasks/${reassigned.id}`, { agent: 'beta' })
    const { taskLog } = await memory(w, 's-alpha')
    const lost = taskLog.filter(({ event }: Json) => event === 'CLAIM_LOST')
    expect(lost.map(({ taskId }: Json) => taskId)).toEqual(
      [expired, cancelled, paused, reassigned].map(({ id }) => id),
    )
    expect(lost[1].details).toMatchObject({ reason: 'no longer needed' })
  })

  test('of a very long session ends with the newest, and says that its beginning is left out', async () => {
    const w = await workspace({ maxConcurrentClaims: 1_000 })
    await w.post('/tasks/batch', { tasks: Array.from({ length: 501 }, (_, i) => ({ title: `t${i}` })) })
    const { claims } = await w.next({ limit: 501 })
    const results = claims.map(({ taskId }: Json) => ({ taskId, ...fence('s-alpha', 1), result: 1 }))
    await w.post('/results/batch', { results })
    const { taskLog, taskLogIsWhole, completedTasks } = await memory(w, 's-alpha')
    expect([taskLog.length, taskLogIsWhole, completedTasks.length]).toEqual([1_000, false, 501])
    expect(taskLog.slice(-501).every(({ event }: Json) => event === 'RESULT_SUBMITTED')).toBe(true)
  })
})

describe('a heartbeat', () => {
  test('renews all the session holds, and lists what it has lost and why, once', async () => {
    const w = await workspace({ minLeaseSeconds: 1 })
    await w.post('/sessions', { session: 's-alpha' })
    const [kept, cancelled, paused, reassigned] = [
      await w.held(),
      await w.held(),
      await w.held(),
      await w.held(),
    ]
    const expired = await w.expired()
    await w.on(cancelled, 'cancel')
    await w.on(paused, 'pause')
    await w.call('PATCH', `/tasks/${reassigned.id}`, { agent: 'beta' })
    const { renewed, lost, state } = await heartbeat(w, 's-alpha')
    expect(state).toBe('active')
    expect(renewed).toMatchObject([{ taskId: kept.id, generation: 1, reason: 'RENEWED', ttlMs: 300_000 }])
    const why = (task: Task, reason: string) => ({
      taskId: task.id,
      generation: 1,
      reason,
      at: expect.any(String),
    })
    expect(lost).toEqual([
      why(expired, 'EXPIRED'),
      why(cancelled, 'CANCELLED'),
      why(paused, 'PAUSED'),
      why(reassigned, 'REASSIGNED'),
    ])
    expect((await heartbeat(w, 's-alpha')).lost).toEqual([])
  })

  test('does not list what was done, released or failed: that is no loss', async () => {
    const w = await workspace()
    const [done, released, failed] = [await w.held(), await w.held(), await w.held()]
    await w.on(done, 'submit', { ...fence('s-alpha', 1), result: 1 })
    await w.on(released, 'release', fence('s-alpha', 1))
    await w.on(failed, 'fail', fence('s-alpha', 1))
    expect(await heartbeat(w, 's-alpha')).toMatchObject({ renewed: [], lost: [] })
  })

  test('lists a task that another agent has claimed since', async () => {
    const w = await workspace({ minLeaseSeconds: 1 })
    const task = await w.expired()
    await w.claim(task, 'beta')
    expect(await heartbeat(w, 's-alpha')).toMatchObject({
      renewed: [],
      lost: [{ taskId: task.id, generation: 1 }],
    })
    expect((await heartbeat(w, 's-beta')).renewed).toMatchObject([{ taskId: task.id, generation: 2 }])
  })

  test('of a session that ended opens it again', async () => {
    const w = await workspace()
    await w.post('/sessions', { session: 's-1' })
    await w.call('DELETE', '/sessions/s-1')
    expect(await heartbeat(w, 's-1')).toMatchObject({ state: 'active', renewed: [], lost: [] })
  })
})

describe('a session that is silent for longer than its limit', () => {
  test('ends, unless it holds something: then it stays until it does not', async () => {
    const w = await workspace()
    await w.post('/sessions', { session: 's-alpha', ttlSeconds: 1 })
    const task = await w.held()
    const { expiresAt } = await memory(w, 's-alpha')
    const idle = (await w.post('/sessions', { session: 's-idle', ttlSeconds: 1 })).body
    expect(Date.parse(idle.expiresAt) - Date.parse(idle.lastSeenAt)).toBe(1_000)
    const [ended] = await w.happens('session_ended')
    expect(ended).toMatchObject({ actor: 'system', payload: { session: 's-idle', reason: 'expired' } })
    expect(await memory(w, 's-idle')).toMatchObject({ state: 'ended', endReason: 'expired', expiresAt: null })
    const checked = await until(async () => {
      const now = await memory(w, 's-alpha')
      return now.expiresAt !== expiresAt && now
    })
    expect(checked).toMatchObject({ state: 'active', activeClaims: [{ taskId: task.id }] })
    await w.on(task, 'submit', { ...fence('s-alpha', 1), result: 1 })
    await until(async () => (await memory(w, 's-alpha')).state === 'ended')
    expect((await memory(w, 's-alpha')).completedTasks).toEqual([task.id])
  })

  test('does not end while it heartbeats', async () => {
    const w = await workspace()
    await w.post('/sessions', { session: 's-beating', ttlSeconds: 3 })
    for (let round = 0; round < 4; round++) {
      await w.post('/sessions', { session: `s-${round}`, ttlSeconds: 1 })
      await until(async () => {
        expect((await heartbeat(w, 's-beating')).state).toBe('active')
        return (await memory(w, `s-${round}`)).state === 'ended'
      })
    }
    expect(await w.happens('session_started', 5)).toHaveLength(5)
  })
})

describe('the number of active sessions', () => {
  const open = (w: Workspace, session: string, more: Json = {}) => w.post('/sessions', { session, ...more })

  test('is limited: one more is refused, until one ends', async () => {
    const w = await workspace({ maxActiveSessions: 2 })
    const answers = await Promise.all(Array.from({ length: 10 }, (_, i) => open(w, `s-${i}`)))
    const [opened, refused] = [201, 409].map((status) => answers.filter((answer) => answer.status === status))
    expect([opened!.length, refused!.length]).toEqual([2, 8])
    for (const answer of refused!) expectRefusal(answer, 409, 'LIMIT_REACHED', { limit: 'maxActiveSessions' })
    expectRefusal(await w.post('/workers', { capacity: 1 }), 409, 'LIMIT_REACHED', {
      limit: 'maxActiveSessions',
    })
    const first = opened![0]!.body.session
    expect((await open(w, first)).status, 'one that is open is found again').toBe(200)
    expect((await w.call('GET', '/limits')).body.usage.activeSessions).toBe(2)
    await w.call('DELETE', `/sessions/${first}`)
    expect((await open(w, 's-new')).status).toBe(201)
    expectRefusal(await open(w, first), 409, 'LIMIT_REACHED')
  })

  test('counts workers, and not sessions that only claim', async () => {
    const w = await workspace({ maxActiveSessions: 1 })
    for (let i = 0; i < 5; i++) expect((await w.claim(await w.make(), `agent-${i}`)).status).toBe(200)
    expect((await w.post('/workers', { worker: 'w-1', capacity: 1 })).status).toBe(201)
    expectRefusal(await open(w, 's-agent-1'), 409, 'LIMIT_REACHED')
    await w.call('DELETE', '/workers/w-1')
    expect((await open(w, 's-agent-1')).status).toBe(200)
  })

  test('falls when a session expires', async () => {
    const w = await workspace({ maxActiveSessions: 1 })
    await open(w, 's-1', { ttlSeconds: 1 })
    await until(async () => (await open(w, 's-2')).status === 201)
    expect((await memory(w, 's-1')).endReason).toBe('expired')
  })
})

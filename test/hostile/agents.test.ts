import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { expectRefusal, fence, type Json } from '../support/http-workspace.ts'
import { superuser } from '../support/nodes.ts'
import { eventually } from '../support/recovery.ts'
import { type Fleet, type Seen, useFleets } from '../support/runs.ts'

/** What agents, members and keys for work try in order to run commands as Baton, or to judge in the name of others. */

const { served, fleet } = useFleets()

const RESERVED = 'AGENT_RESERVED'
const BOUND = 'BOUND_TO_ANOTHER_AGENT'
const SENTENCE = 'is Baton’s own agent, which only runs the commands that verify results'
const WORK = { role: 'member', scopes: ['read', 'work'] }

/** A caller with a new key. */
async function keyed(w: Fleet, more: Json) {
  const made = await w.post('/keys', { name: 'a key', ...more })
  expect(made).toMatchObject({ status: 201 })
  return as(made.body.key)
}
const as = (key: string) => ({
  key,
  call: (method: string, path: string, body?: unknown) => served().call(method, path, body, { key }),
  post: (path: string, body: Json = {}) => served().call('POST', path, body, { key }),
})
type Keyed = ReturnType<typeof as>

const sql = (text: string, values: unknown[] = []) =>
  superuser(served().databaseUrl, (client) => client.query(text, values))

const command = (text: string) => ({ kind: 'command', command: text })
const MAKES = `import { writeFileSync } from 'node:fs'; writeFileSync('made.txt', 'x')`

/** A task that `dev` makes and that a command verifies: Baton's own agent exists from then on. */
async function checked(w: Fleet, text = 'true'): Promise<Seen> {
  const { home } = await w.script('dev', MAKES)
  const task = await w.assign('dev', { verification: command(text) })
  return { task, home }
}
async function withOwnAgent(w: Fleet): Promise<string> {
  const { task } = await checked(w)
  await w.taskIn(task, 'completed')
  return (await w.agent('baton')).id
}
/** The verification of a task, once it exists. */
const verificationOf = (w: Fleet, task: Seen): Promise<Seen> =>
  eventually(async () => (await w.read(task)).verifications?.[0]?.taskId).then(async (id) => w.read({ id }))

describe('Baton’s own agent is no shell', () => {
  const INPUT = { command: 'touch owned', taskId: 1, generation: 1 }
  const plan = (task: Json) => ({ tasks: [{ tempId: 'a', title: 'Work', ...task }] })

  test('no member names it in a task, a plan, a mission or a routine, by slug or by id', async () => {
    const w = await fleet()
    const id = await withOwnAgent(w)
    const member = await keyed(w, { role: 'member' })
    const plain = await w.make({ agent: 'nobody' })
    for (const agent of ['baton', id]) {
      const refused: [string, string, Json][] = [
        ['POST', '/tasks', { title: 'x', agent, input: INPUT }],
        ['POST', '/tasks', { title: 'x', verification: { kind: 'agent', agent } }],
        ['POST', '/tasks/batch', { tasks: [{ title: 'x' }, { title: 'y', agent, input: INPUT }] }],
        ['PATCH', `/tasks/${plain.id}`, { agent }],
        ['POST', '/missions', { goal: 'x', planner: { agent } }],
        ['POST', '/missions', { goal: 'x', plan: plan({}), config: { reportAgent: agent } }],
        ['POST', '/routines', { name: 'r', plan: plan({}), config: { reportAgent: agent } }],
      ]
      for (const [method, path, body] of refused) {
        const answer = await member.call(method, path, body)
        expectRefusal(answer, 403, RESERVED)
        expect(answer.body.detail, path).toContain(SENTENCE)
      }
      for (const task of [
        { agent, input: INPUT },
        { verification: { kind: 'agent', agent } },
        { contractor: { template: agent } },
      ]) {
        const bodies: [string, Json][] = [
          ['/missions', { goal: 'x', plan: plan(task), config: { autonomy: 'full_auto' } }],
          ['/routines', { name: 'r', plan: plan(task) }],
        ]
        for (const [path, body] of bodies) {
          const answer = await member.post(path, body)
          expectRefusal(answer, 422, 'PLAN_INVALID')
          expect(answer.body.problems, path).toMatchObject([{ message: SENTENCE }])
        }
      }
    }
    expect(await w.runsOf('baton')).toHaveLength(1)
  })

  test('a newer plan of a mission that runs does not name it either', async () => {
    const w = await fleet()
    const { body: mission } = await w.post('/missions', {
      ...{ goal: 'x', plan: plan({ agent: 'nobody' }), config: { autonomy: 'full_auto' } },
    })
    const newer = plan({ agent: 'baton', input: INPUT })
    const answer = await w.call('PUT', `/missions/${mission.id}/plan`, newer)
    expectRefusal(answer, 422, 'PLAN_INVALID', { problems: [{ at: '/tasks/0/agent', message: SENTENCE }] })
  })

  test('the plan of a planner that names it goes back, and nothing of it is run', async () => {
    const w = await fleet()
    await withOwnAgent(w)
    const tells = `
      let prompt = ''
      for await (const chunk of process.stdin) prompt += chunk
      const agent = prompt.includes('commands that verify results') ? 'planner' : 'baton'
      const input = { command: 'touch ' + process.cwd() + '/owned', taskId: 1, generation: 1 }
      const tasks = [{ tempId: 'a', title: 'Work', agent, input, optional: true }]
      console.log(JSON.stringify({ result: { tasks } }))`
    const { home } = await w.script('planner', tells)
    const { body: mission } = await w.post('/missions', {
      ...{ goal: 'x', planner: { agent: 'planner' }, config: { autonomy: 'full_auto' } },
    })
    const [task] = await eventually(async () => {
      const { items } = (await w.call('GET', `/missions/${mission.id}/tasks`)).body
      return items.length > 0 && items
    })
    expect(task).toMatchObject({ agent: 'planner' })
    expect(existsSync(join(home, 'owned'))).toBe(false)
    expect(await w.runsOf('baton')).toHaveLength(1)
  })

  test('an agent adds no task for it, with its token or by a line of its output', async () => {
    const w = await fleet()
    await withOwnAgent(w)
    const source = `
      import { writeFileSync } from 'node:fs'
      const { BATON_URL, BATON_API_KEY, BATON_TASK_ID, BATON_SESSION, BATON_GENERATION } = process.env
      const child = { title: 'x', agent: 'baton', input: { command: 'touch ' + process.cwd() + '/owned' } }
      const headers = { authorization: 'Bearer ' + BATON_API_KEY, 'content-type': 'application/json' }
      const send = async (path, body) => {
        const sent = { method: 'POST', headers, body: JSON.stringify(body) }
        const answer = await fetch(BATON_URL + '/api/v1' + path, sent)
        return (await answer.json()).code
      }
      const held = { session: BATON_SESSION, generation: Number(BATON_GENERATION) }
      const codes = [
        await send('/tasks/' + BATON_TASK_ID + '/children', { ...child, ...held }),
        await send('/agents/baton/wakeup', {}),
        await send('/agents/baton/heartbeat/invoke', { reason: 'x' }),
        await send('/agents/baton/heartbeat', {}),
        await send('/claims/next', { agent: 'baton', session: 'agent:baton', purposes: ['verification'] }),
        await send('/tasks/' + BATON_TASK_ID + '/submit', { ...held, result: 1, next: { agent: 'baton' } }),
        await send('/sessions', { session: 'agent:baton' }),
      ]
      writeFileSync('codes', JSON.stringify(codes))
      console.log(JSON.stringify({ baton: 'task', ...child }))
      console.log(JSON.stringify({ result: codes }))`
    const { home } = await w.script('injected', source)
    const { body: mission } = await w.post('/missions', {
      ...{ goal: 'x', plan: plan({ agent: 'injected' }), config: { autonomy: 'full_auto' } },
    })
    const [run] = await w.over('injected')
    const told = JSON.parse(readFileSync(join(home, 'codes'), 'utf8'))
    expect(told).toEqual([
      ...[RESERVED, RESERVED, RESERVED],
      // A run token is for its own task and agent alone.
      ...['FORBIDDEN', 'FORBIDDEN', 'FORBIDDEN', 'FORBIDDEN'],
    ])
    const timeline = JSON.stringify(await w.timeline(run.id))
    expect(timeline).toContain(RESERVED)
    expect((await w.call('GET', `/missions/${mission.id}/tasks`)).body.items).toHaveLength(1)
    expect(await w.runsOf('baton')).toHaveLength(1)
  })

  test('a task for it from before that was refused fails, runs nothing, and leaves the agent as it is', async () => {
    const w = await fleet()
    const id = await withOwnAgent(w)
    const home = await w.freshHome()
    const input = { ...INPUT, command: `touch ${home}/owned` }
    const task = await w.make({ agent: 'nobody', input })
    await sql(`update baton.tasks set only_agent = 'baton' where uuid = $1`, [task.id])
    await w.pass()
    const failed = await w.taskIn(task, 'failed')
    expect(failed).toMatchObject({ failureClass: 'invalid', error: expect.stringContaining('verifications') })
    expect(existsSync(join(home, 'owned'))).toBe(false)
    expect(await w.agent('baton')).toMatchObject({ id, state: 'idle' })
    // It still verifies.
    const { task: another } = await checked(w)
    await w.taskIn(another, 'completed')
  })

  test('a verification runs the command of the task that it judges, whatever its own input says', async () => {
    const w = await fleet()
    await withOwnAgent(w)
    expect((await w.post('/agents/baton/pause')).status).toBe(200)
    const { task, home } = await checked(w, 'test -e made.txt && test -z "$FORGED" && touch judged')
    const check = await verificationOf(w, task)
    const forged = { command: `touch ${home}/owned`, environment: { FORGED: 'x' } }
    const planted = JSON.stringify({ ...check.input, ...forged })
    const { rowCount } = await sql(
      `update baton.task_details d set input = $2 from baton.tasks t
        where t.uuid = $1 and d.workspace_id = t.workspace_id and d.task_id = t.id`,
      [check.id, planted],
    )
    expect(rowCount).toBe(1)
    expect((await w.post('/agents/baton/resume')).status).toBe(200)
    expect(await w.taskIn(task, 'completed')).toMatchObject({ verifications: [{ verdict: 'pass' }] })
    expect([existsSync(join(home, 'judged')), existsSync(join(home, 'owned'))]).toEqual([true, false])
  })

  test('members neither pause nor change it; administrators may only pause and resume it', async () => {
    const w = await fleet()
    const id = await withOwnAgent(w)
    const [member, admin] = [await keyed(w, { role: 'member' }), await keyed(w, { role: 'admin' })]
    const acts = (agent: string): [string, string, Json?][] => [
      ['POST', `/agents/${agent}/terminate`, {}],
      ['POST', `/agents/${agent}/wakeup`, {}],
      ['POST', `/agents/${agent}/heartbeat/invoke`, {}],
      ['POST', `/agents/${agent}/heartbeat`, {}],
      ['POST', `/agents/${agent}/reset-session`, {}],
      ['POST', `/agents/${agent}/runtime-state/reset-session`, {}],
      ['PUT', `/agents/${agent}`, { name: 'Mine' }],
      ['DELETE', `/agents/${agent}`],
    ]
    for (const agent of ['baton', id]) {
      for (const caller of [member, admin])
        for (const [method, path, body] of acts(agent))
          expectRefusal(await caller.call(method, path, body), 403, RESERVED)
      for (const act of ['pause', 'resume'])
        expectRefusal(await member.post(`/agents/${agent}/${act}`), 403, RESERVED)
      expectRefusal(await admin.post(`/agents/${agent}/test`), 403, RESERVED)
      expect((await admin.post(`/agents/${agent}/pause`)).body).toMatchObject({ state: 'paused' })
      expect((await admin.post(`/agents/${agent}/resume`)).body).toMatchObject({ state: 'idle' })
    }
    expect(await w.agent('baton')).toMatchObject({ id, name: 'Baton', adapterType: 'command' })
  })

  test('nobody registers it before it is needed, nor another agent that runs commands from tasks', async () => {
    const w = await fleet()
    expectRefusal(await w.call('PUT', '/agents/baton', { name: 'Mine' }), 403, RESERVED)
    expectRefusal(await w.post('/claims/next', { agent: 'baton', session: 's' }), 403, RESERVED)
    expect((await w.call('GET', '/agents/baton')).status).toBe(404)
    const other = await w.call('PUT', '/agents/shell', { adapterType: 'command' })
    expectRefusal(other, 400, 'VALIDATION_FAILED')
  })

  test('no session or worker is opened as it, and its own session is not for others', async () => {
    const w = await fleet()
    const id = await withOwnAgent(w)
    for (const agent of ['baton', id]) {
      expectRefusal(await w.post('/sessions', { agent }), 403, RESERVED)
      expectRefusal(await w.post('/workers', { agent, capacity: 1 }), 403, RESERVED)
    }
    expectRefusal(await w.post('/workers', { worker: 'agent:baton', capacity: 1 }), 403, RESERVED)
    expectRefusal(await w.post('/sessions/agent:baton/heartbeat'), 403, RESERVED)
    expectRefusal(await w.call('DELETE', '/sessions/agent:baton'), 403, RESERVED)
  })
})

describe('a verdict comes from its judge', () => {
  const PASS = { verdict: 'pass', score: 1, feedback: '', evidence: [] }
  const VERIFY = ['verification']

  /** A task whose result waits for its verifier: by command, which does not run, or by the agent rev-1. */
  async function waiting(w: Fleet, rule: Json): Promise<{ task: Seen; check: Seen }> {
    await w.post('/claims/next', { agent: 'rev-1', session: 's-rev' })
    await w.script('dev', MAKES)
    const task = await w.assign('dev', { verification: rule })
    return { task, check: await verificationOf(w, task) }
  }
  const byRev = { kind: 'agent', agent: 'rev-1' }

  /** All ways to claim it as this agent. */
  const claims = (caller: Keyed, check: Seen, agent: string, session = 's') => [
    caller.post(`/tasks/${check.id}/claim`, { agent, session }),
    caller.post('/claims/next', { agent, session, purposes: VERIFY }),
    caller.post('/claims/next', { agent, session, purposes: ['work', 'verification'], waitMs: 60_000 }),
  ]

  test('a verification by command is claimed by Baton alone, by slug or by id', async () => {
    const w = await fleet()
    const id = await withOwnAgent(w)
    await w.post('/agents/baton/pause')
    const { task, check } = await waiting(w, command('false'))
    const callers = [await keyed(w, WORK), await keyed(w, { role: 'admin' }), as(w.ownerKey)]
    for (const caller of callers) {
      for (const agent of ['baton', id])
        for (const answer of await Promise.all([
          ...claims(caller, check, agent),
          caller.post('/claims/batch', { agent, session: 's', taskIds: [check.id] }),
        ]))
          expectRefusal(answer, 403, RESERVED)
      const other = await caller.post(`/tasks/${check.id}/claim`, { agent: 'rev-1', session: 's' })
      expect(other.status).toBeGreaterThanOrEqual(403)
    }
    // Nor is it handed to anybody else.
    for (const agent of ['rev-1', null])
      expectRefusal(await w.call('PATCH', `/tasks/${check.id}`, { agent }), 403, RESERVED)
    expect(await w.read(check)).toMatchObject({ state: 'queued', generation: 0 })
    expect(await w.read(task)).toMatchObject({ state: 'verifying' })
  })

  test('a key for work does not judge as an agent; a key bound to that agent does', async () => {
    const w = await fleet()
    const { task, check } = await waiting(w, byRev)
    const plain = await keyed(w, WORK)
    for (const answer of await Promise.all(claims(plain, check, 'rev-1')))
      expectRefusal(answer, 403, 'FORBIDDEN')
    const many = await plain.post('/claims/batch', { agent: 'rev-1', session: 's', taskIds: [check.id] })
    expect(many.body.results).toMatchObject([{ reason: 'FORBIDDEN', status: 403 }])
    expect(await w.read(check)).toMatchObject({ state: 'queued', generation: 0 })
    const rev = await keyed(w, { role: 'member', agent: 'rev-1' })
    const { body } = await rev.post('/claims/next', { agent: 'rev-1', session: 's-own', purposes: VERIFY })
    expect(body.claims).toMatchObject([{ taskId: check.id, agent: 'rev-1' }])
    // Knowing its session does not help.
    for (const [act, more] of [
      ['submit', { result: PASS }],
      ['fail', { failureClass: 'invalid' }],
      ['release', {}],
    ] as const) {
      const answer = await plain.post(`/tasks/${check.id}/${act}`, { ...fence('s-own', 1), ...more })
      expectRefusal(answer, 403, 'FORBIDDEN')
    }
    const batch = await plain.post('/results/batch', {
      results: [{ taskId: check.id, ...fence('s-own', 1), result: PASS }],
    })
    expect(batch.body.results).toMatchObject([{ reason: 'FORBIDDEN' }])
    expect(await w.read(task)).toMatchObject({ state: 'verifying' })
    const given = await rev.post(`/tasks/${check.id}/submit`, { ...fence('s-own', 1), result: PASS })
    expect(given.status).toBe(200)
    expect(await w.taskIn(task, 'completed')).toMatchObject({ verifiedBy: 'rev-1' })
  })

  test('a key that may operate judges as an agent: it could approve', async () => {
    const w = await fleet()
    const { task, check } = await waiting(w, byRev)
    const member = await keyed(w, { role: 'member' })
    const claim = await member.post(`/tasks/${check.id}/claim`, { agent: 'rev-1', session: 's' })
    expect(claim.status).toBe(200)
    await member.post(`/tasks/${check.id}/submit`, { ...fence('s', 1), result: PASS })
    await w.taskIn(task, 'completed')
  })

  test('a judge that Baton runs gives its verdict, and nobody else under its claim', async () => {
    const w = await fleet()
    const { home } = await w.script(
      'rev-2',
      `import { existsSync, writeFileSync } from 'node:fs'
       writeFileSync('begun', '')
       while (!existsSync('go')) await new Promise((resolve) => setTimeout(resolve, 20))
       console.log(JSON.stringify({ result: { verdict: 'fail', score: 0, feedback: 'No.' } }))`,
    )
    await w.script('dev', MAKES)
    const task = await w.assign('dev', { maxRetries: 0, verification: { kind: 'agent', agent: 'rev-2' } })
    await eventually(async () => existsSync(join(home, 'begun')))
    const check = await verificationOf(w, task)
    const plain = await keyed(w, WORK)
    const other = await keyed(w, { ...WORK, agent: 'dev' })
    const pass = { ...fence('agent:rev-2', 1), result: PASS }
    expectRefusal(await plain.post(`/tasks/${check.id}/submit`, pass), 403, 'FORBIDDEN')
    expectRefusal(await other.post(`/tasks/${check.id}/submit`, pass), 403, BOUND)
    // Ending its session takes nothing from it.
    await plain.call('DELETE', '/sessions/agent:rev-2')
    expect(await w.read(check)).toMatchObject({ state: 'running', generation: 1 })
    writeFileSync(join(home, 'go'), '')
    expect(await w.taskIn(task, 'failed')).toMatchObject({ error: 'No.' })
  })

  test('a verification is not divided into tasks that somebody else does', async () => {
    const w = await fleet()
    const { check } = await waiting(w, byRev)
    expectRefusal(await w.post('/tasks', { title: 'x', parentId: check.id }), 409, 'WRONG_STATE')
  })
})

describe('a key that is bound to an agent', () => {
  /** Agents dev-1 and dev-2, a key of dev-1, and a task that dev-2 holds. */
  async function bound(w: Fleet) {
    for (const agent of ['dev-1', 'dev-2']) await w.post('/claims/next', { agent, session: `s-${agent}` })
    const key = await keyed(w, { role: 'member', agent: 'dev-1' })
    const theirs = await w.make()
    expect((await w.claim(theirs, 'dev-2', { session: 's-dev-2' })).status).toBe(200)
    return { ...key, theirs }
  }

  test('is listed with its agent, which must exist and not be Baton’s own', async () => {
    const w = await fleet()
    await w.post('/claims/next', { agent: 'dev-1', session: 's' })
    const made = await w.post('/keys', { name: 'k', role: 'member', agent: 'dev-1' })
    expect(made).toMatchObject({ status: 201, body: { agent: 'dev-1' } })
    const { items } = (await w.call('GET', '/keys')).body
    expect(items.map(({ name, agent }: Seen) => [name, agent])).toEqual([
      ['owner', null],
      ['k', 'dev-1'],
    ])
    expectRefusal(await w.post('/keys', { name: 'k', agent: 'nobody' }), 404, 'NOT_FOUND')
    expectRefusal(await w.post('/keys', { name: 'k', agent: 'baton' }), 403, RESERVED)
    const { id } = await w.agent('dev-1')
    expect((await w.post('/keys', { name: 'k', agent: id })).body).toMatchObject({ agent: 'dev-1' })
  })

  test('works as its agent, by slug or by id', async () => {
    const w = await fleet()
    const { post, call } = await bound(w)
    const { id } = await w.agent('dev-1')
    for (const agent of ['dev-1', id]) {
      const task = await w.make()
      const { body } = await post('/claims/next', { agent, session: 's-own' })
      expect(body.claims).toMatchObject([{ taskId: task.id, agent: 'dev-1' }])
      expect((await post(`/tasks/${task.id}/start`, fence('s-own', 1))).status).toBe(200)
      expect((await post(`/tasks/${task.id}/renew`, fence('s-own', 1))).status).toBe(200)
      const next = { agent }
      const done = await post(`/tasks/${task.id}/submit`, { ...fence('s-own', 1), result: 1, next })
      expect(done.body).toMatchObject({ reason: 'ACCEPTED', next: null })
      expect((await post(`/agents/${agent}/heartbeat`)).body).toMatchObject({ agent: 'dev-1' })
      expect((await call('GET', `/agents/${agent}/assignments`)).status).toBe(200)
    }
    const worker = await post('/workers', { worker: 'w-own', capacity: 1 })
    expect(worker).toMatchObject({ status: 201, body: { agent: 'dev-1' } })
    expect((await post('/workers/w-own/heartbeat')).status).toBe(200)
  })

  test('neither claims, nor sends heartbeats, nor opens sessions as another', async () => {
    const w = await fleet()
    const { post, theirs } = await bound(w)
    const task = await w.make()
    const as2 = { agent: 'dev-2', session: 's' }
    const own = await post(`/tasks/${task.id}/claim`, { agent: 'dev-1', session: 's-own' })
    expect(own.status).toBe(200)
    for (const answer of await Promise.all([
      post(`/tasks/${theirs.id}/claim`, as2),
      post('/claims/next', { ...as2, waitMs: 60_000 }),
      post('/claims/batch', { ...as2, taskIds: [theirs.id] }),
      post(`/tasks/${task.id}/submit`, { ...fence('s-own', 1), result: 1, next: { agent: 'dev-2' } }),
      post('/agents/dev-2/heartbeat'),
      post('/sessions', { agent: 'dev-2' }),
      post('/workers', { agent: 'dev-2', capacity: 1 }),
    ]))
      expectRefusal(answer, 403, BOUND)
    expect((await w.call('GET', '/agents/nobody')).status).toBe(404)
    expectRefusal(await post('/claims/next', { agent: 'nobody', session: 's' }), 403, BOUND)
    expect((await w.call('GET', '/agents/nobody')).status).toBe(404)
    expect(await w.read(task)).toMatchObject({ state: 'assigned' })
  })

  test('writes nothing under the claim of another, although it knows the session', async () => {
    const w = await fleet()
    const { post, call, theirs } = await bound(w)
    const held = fence('s-dev-2', 1)
    for (const [act, more] of [
      ['start', {}],
      ['renew', {}],
      ['progress', { percent: 50 }],
      ['logs', { entries: [{ message: 'x' }] }],
      ['continue', {}],
      ['ask', { question: 'x?' }],
      ['submit', { result: 1 }],
      ['submit', { result: 1, next: { agent: 'dev-1' } }],
      ['fail', {}],
      ['release', {}],
    ] as [string, Json][])
      expectRefusal(await post(`/tasks/${theirs.id}/${act}`, { ...held, ...more }), 403, BOUND)
    const renewals = await post('/claims/renew', { renewals: [{ taskId: theirs.id, ...held }] })
    expect(renewals.body.results).toMatchObject([{ reason: BOUND, status: 403 }])
    const results = await post('/results/batch', { results: [{ taskId: theirs.id, ...held, result: 1 }] })
    expect(results.body.results).toMatchObject([{ reason: BOUND, status: 403 }])
    expectRefusal(await post('/sessions/s-dev-2/heartbeat'), 403, BOUND)
    expectRefusal(await call('DELETE', '/sessions/s-dev-2'), 403, BOUND)
    expectRefusal(await post('/sessions', { session: 's-dev-2' }), 403, BOUND)
    const mine = await w.make()
    // Not even its own claim under the session of another: that holds the claims of the other.
    const inTheirs = { agent: 'dev-1', session: 's-dev-2' }
    expectRefusal(await post(`/tasks/${mine.id}/claim`, inTheirs), 403, BOUND)
    expectRefusal(await post('/claims/next', inTheirs), 403, BOUND)
    expect(await w.read(mine)).toMatchObject({ state: 'queued', generation: 0 })
    expect(await w.read(theirs)).toMatchObject({ state: 'assigned', generation: 1 })
    // The holder is not disturbed.
    expect((await w.on(theirs, 'submit', { ...held, result: 2 })).status).toBe(200)
  })

  test('adds no task under the claim of another', async () => {
    const w = await fleet()
    const { post } = await bound(w)
    await w.post('/missions', {
      ...{ goal: 'x', plan: { tasks: [{ tempId: 'a', title: 'A' }] }, config: { autonomy: 'full_auto' } },
    })
    const { body } = await w.post('/claims/next', { agent: 'dev-2', session: 's-dev-2' })
    const path = `/tasks/${body.claims[0].taskId}/children`
    expectRefusal(await post(path, { ...fence('s-dev-2', 1), title: 'x' }), 403, BOUND)
  })

  test('reads and works, whatever its role: it neither operates nor makes keys', async () => {
    const w = await fleet()
    const { theirs } = await bound(w)
    const { post, call } = await keyed(w, { role: 'owner', agent: 'dev-1' })
    expect((await call('GET', '/tasks')).status).toBe(200)
    for (const [path, body] of [
      ['/tasks', { title: 'x' }],
      [`/tasks/${theirs.id}/cancel`, {}],
      ['/keys', { name: 'x' }],
      ['/agents/dev-2/pause', {}],
    ] as [string, Json][])
      expectRefusal(await post(path, body), 403, 'FORBIDDEN')
    const both = { name: 'x', role: 'owner', agent: 'dev-1', instanceAdmin: true }
    expect((await w.post('/keys', both)).status).toBeGreaterThanOrEqual(400)
  })

  test('claims nothing when its agent is terminated or deleted, and does not bring it back', async () => {
    const w = await fleet()
    const { post } = await bound(w)
    const task = await w.make()
    const claim = () => post(`/tasks/${task.id}/claim`, { agent: 'dev-1', session: 's-own' })
    await w.post('/agents/dev-1/terminate', { graceful: false })
    expectRefusal(await claim(), 409, 'AGENT_TERMINATED')
    expect((await w.call('DELETE', '/agents/dev-1')).status).toBe(204)
    expectRefusal(await claim(), 404, 'NOT_FOUND')
    expectRefusal(await post('/agents/dev-1/heartbeat'), 404, 'NOT_FOUND')
    expect((await w.call('GET', '/agents/dev-1')).status).toBe(404)
    expect(await w.read(task)).toMatchObject({ state: 'queued', generation: 0 })
  })

  test('a late result of its own is still told apart from a forged one', async () => {
    const w = await fleet()
    const { post } = await bound(w)
    const task = await w.make()
    await post(`/tasks/${task.id}/claim`, { agent: 'dev-1', session: 's-own' })
    await post(`/tasks/${task.id}/release`, fence('s-own', 1))
    await w.claim(task, 'dev-2', { session: 's-dev-2' })
    const late = await post(`/tasks/${task.id}/submit`, { ...fence('s-own', 1), result: 1 })
    expectRefusal(late, 409, 'STALE_GENERATION')
    expect(late.body.workLost).toBe(true)
  })
})

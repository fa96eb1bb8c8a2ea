import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { bodyFor, pathTo, type Route, routesOf, send, type Things } from '../../support/http-routes.ts'
import { label, problemIn, thingsIn } from '../../support/http-under-attack.ts'
import { expectRefusal, fence, type Json } from '../../support/http-workspace.ts'
import { eventually } from '../../support/recovery.ts'
import { type Fleet, type Seen, useFleets } from '../../support/runs.ts'
import { tablesWith } from '../../support/seed.ts'

/** Agents that Baton runs get a token of their run: it covers what the run is about, and ends with it. */

const { served, fleet } = useFleets()

/** Stores its token where the test finds it, and works until it gets the signal to end. */
const WAITS = `
  import { existsSync, writeFileSync, renameSync } from 'node:fs'
  const { BATON_API_KEY: token, BATON_TASK_ID: task, BATON_GENERATION, BATON_SESSION: session } = process.env
  writeFileSync('draft', JSON.stringify({ token, task, generation: Number(BATON_GENERATION), session }))
  renameSync('draft', 'told')
  while (!existsSync('go')) await new Promise((resolve) => setTimeout(resolve, 20))`

interface Reported {
  token: string
  task: string
  generation: number
  session: string
}

/** An agent at work on a task, and what it knows. */
async function atWork(w: Fleet, slug = 'dev') {
  const { home } = await w.script(slug, WAITS)
  await w.assign(slug)
  const reported: Reported = await eventually(
    async () => existsSync(join(home, 'told')) && JSON.parse(readFileSync(join(home, 'told'), 'utf8')),
  )
  const [run] = await w.runsOf(slug)
  const call = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    served().call(method, path, body, { key: reported.token, headers })
  return {
    ...reported,
    runId: run.id as string,
    held: fence(reported.session, reported.generation),
    call,
    post: (path: string, body: Json = {}) => call('POST', path, body),
    async end() {
      writeFileSync(join(home, 'go'), '')
      return (await w.over(slug))[0]
    },
  }
}

describe('the token of a run', () => {
  let routes: Route[]
  beforeAll(async () => {
    routes = (await routesOf(served())).filter(({ isOpen }) => !isOpen)
  })

  /** Reads that agents do not need, and that show more than they should know. */
  const CLOSED_READS = [
    'GET /agents/{id}/prompt-preview',
    'GET /coordinator/logs',
    'GET /coordinator/status',
    'GET /keys',
    'GET /metrics',
    'GET /nodes',
    // It may read that of its own run.
    'GET /runs/{id}/invocation',
    'GET /session',
    'GET /session/all',
    'GET /workspaces/{id}/limits',
  ]

  test('reads what any reader may, changes nothing of others, and wakes any agent', async () => {
    const w = await fleet()
    const things = await thingsIn(w)
    const { token } = await atWork(w)
    const opened: string[] = []
    const closedReads: string[] = []
    for (const route of routes) {
      const reply = await tryToken(route, things, token)
      expect(reply.status, label(route)).not.toBe(401)
      if (reply.status !== 403) opened.push(label(route))
      else problemIn(reply, label(route))
      if (reply.status === 403 && route.method === 'GET') closedReads.push(label(route))
    }
    expect(closedReads.sort()).toEqual(CLOSED_READS)
    const writes = opened.filter((name) => !name.startsWith('GET ')).sort()
    expect(writes).toEqual(['POST /agents/{id}/heartbeat/invoke', 'POST /agents/{id}/wakeup'])
    expect(opened.length, 'reads that are open').toBeGreaterThan(30)
  })

  /** A request that would be valid for a caller that may. Streams are not opened. */
  function tryToken(route: Route, things: Things, key: string) {
    const query = route.path.startsWith('/events/') ? '?after=x' : ''
    const body = bodyFor(route, things)
    return send(served(), route.method, pathTo(route, things) + query, {
      key,
      ...(body === undefined ? {} : { body }),
    })
  }

  test('lets its agent work on its task, under its claim and no other', async () => {
    const w = await fleet()
    const { task, held, generation, session, post, end } = await atWork(w)
    const on = (act: string, body: Json) => post(`/tasks/${task}/${act}`, { ...held, ...body })
    expect((await on('progress', { percent: 40, step: 'half way' })).status).toBe(200)
    expect((await on('renew', {})).body).toMatchObject({ reason: 'RENEWED' })
    expect((await on('logs', { entries: [{ message: 'found it' }] })).status).toBeLessThan(300)
    for (const [act, body] of [
      ['progress', { percent: 50 }],
      ['submit', { result: 'mine' }],
      ['fail', { failureClass: 'invalid', error: 'x' }],
      ['release', {}],
      ['continue', {}],
      ['renew', {}],
    ] as const) {
      for (const other of [generation + 1, generation - 1])
        expectRefusal(await on(act, { ...body, generation: other }), 403, 'FORBIDDEN')
      expectRefusal(await on(act, { ...body, session: `${session}x` }), 409, 'SESSION_MISMATCH')
    }
    const more = { title: 'more' }
    expectRefusal(await on('children', { ...more, generation: generation + 1 }), 403, 'FORBIDDEN')
    // Below its own task.
    expect((await on('children', { ...more, agent: 'nobody' })).status).toBe(201)
    const waiting = await w.make({ requiredCapabilities: ['magic'] })
    expectRefusal(await post(`/tasks/${waiting.id}/children`, { ...held, ...more }), 403, 'FORBIDDEN')
    expectRefusal(await post(`/tasks/${waiting.id}/progress`, { ...held, percent: 1 }), 403, 'FORBIDDEN')
    const claiming = { result: 'mine', next: { agent: 'dev' } }
    expectRefusal(await on('submit', claiming), 403, 'FORBIDDEN')
    expect((await on('submit', { result: { by: 'itself' }, summary: 'done' })).body.reason).toBe('ACCEPTED')
    // What must stop is stopped with the next commit: a pass of the coordinator makes one, and finds nothing.
    await w.pass()
    expect(await end(), 'it may end cleanly').toMatchObject({ status: 'succeeded', errorCode: null })
    const [accepted, ...others] = await w.resultsOf({ id: task })
    expect(accepted).toMatchObject({ accepted: true, generation, summary: 'done' })
    expect(others, 'its program’s later output is no lost work').toEqual([])
    expect(await w.count('run_finished')).toBe(1)
    const said = (await w.events()).filter(
      ({ type }: Seen) => type === 'task_progress' || type === 'task_logged',
    )
    expect(new Set(said.map(({ actor }: Seen) => actor))).toEqual(new Set(['agent:dev']))
  })

  test('lets its agent ask a person, and end cleanly', async () => {
    const w = await fleet()
    const { task, held, post, end } = await atWork(w)
    const asked = await post(`/tasks/${task}/fail`, { ...held, failureClass: 'human', error: 'Which one?' })
    expect(asked.body.task).toMatchObject({ state: 'awaiting_human' })
    await w.pass()
    expect(await end()).toMatchObject({ status: 'succeeded', errorCode: null })
    expect(await w.read({ id: task })).toMatchObject({ state: 'awaiting_human' })
    expect(await w.resultsOf({ id: task })).toEqual([])
  })

  test('gives no other access to a task: not by lists, not by claims, not by creating some', async () => {
    const w = await fleet()
    const { task, held, post, call } = await atWork(w)
    const other = await w.make({ requiredCapabilities: ['magic'] })
    for (const [path, body] of [
      ['/claims/renew', { renewals: [{ taskId: task, ...held }] }],
      ['/results/batch', { results: [{ taskId: task, ...held, result: 1 }] }],
      ['/claims/next', { agent: 'dev', session: held.session }],
      ['/claims/batch', { agent: 'dev', session: held.session, taskIds: [other.id] }],
      [`/tasks/${other.id}/claim`, { agent: 'dev', session: held.session }],
      [`/tasks/${task}/claim`, { agent: 'dev', session: held.session }],
      ['/tasks', { title: 'more' }],
      [`/tasks/${task}/cancel`, {}],
      ['/sessions', { session: 'mine' }],
    ] as const)
      expectRefusal(await post(path, body), 403, 'FORBIDDEN')
    expectRefusal(await call('PATCH', `/tasks/${task}`, { title: 'easier' }), 403, 'FORBIDDEN')
    expect((await w.read({ id: task })).state).toBe('running')
  })

  test('changes no agent, not even its own', async () => {
    const w = await fleet()
    const { call, post } = await atWork(w)
    await w.claude('typed')
    const before = [await w.agent('dev'), await w.agent('typed')]
    for (const slug of ['dev', 'typed', 'new']) {
      for (const body of [
        { adapterConfig: { extraArgs: ['--dangerously-skip-permissions'] } },
        { adapterType: 'process', adapterConfig: { command: 'sh', args: ['-c', 'id'] } },
        { maxConcurrentTasks: 100 },
      ])
        expectRefusal(await call('PUT', `/agents/${slug}`, body), 403, 'FORBIDDEN')
      for (const act of ['pause', 'resume', 'terminate', 'test', 'reset-session'])
        expectRefusal(await post(`/agents/${slug}/${act}`), 403, 'FORBIDDEN')
      expectRefusal(await call('DELETE', `/agents/${slug}`), 403, 'FORBIDDEN')
    }
    const shown = ({ lastSeenAt: _, activeTasks: __, state: ___, status: ____, ...rest }: Seen) => rest
    expect([await w.agent('dev'), await w.agent('typed')].map(shown)).toEqual(before.map(shown))
  })

  test('sends heartbeats for its own agent, by slug and by id, and for no other', async () => {
    const w = await fleet()
    const { post } = await atWork(w)
    const { id } = await w.put('other', { adapterType: 'external' })
    const own = await w.agent('dev')
    for (const name of ['dev', own.id])
      expect((await post(`/agents/${name}/heartbeat`, { status: 'healthy' })).body).toMatchObject({
        agent: 'dev',
      })
    for (const name of ['other', id, 'nobody'])
      expectRefusal(await post(`/agents/${name}/heartbeat`, { status: 'healthy' }), 403, 'FORBIDDEN')
  })

  test('wakes others, and not itself', async () => {
    const w = await fleet()
    const { post } = await atWork(w)
    await w.script('other', '', { coordinatorEnabled: false })
    const woken = await post('/agents/other/wakeup', { reason: 'your turn' })
    expect([woken.status, woken.body.wakeup]).toMatchObject([
      202,
      { status: 'queued', requestedBy: 'agent:dev' },
    ])
    expect((await w.over('other'))[0]).toMatchObject({ status: 'succeeded', reason: 'your turn' })
    const self = await post('/agents/dev/wakeup')
    expect(self.body.wakeup).toMatchObject({ status: 'skipped', skipReason: 'SELF_AUTHORED' })
  })

  test('cannot act for another run', async () => {
    const w = await fleet()
    const one = await atWork(w, 'one')
    const two = await atWork(w, 'two')
    expectRefusal(
      await one.post(`/runs/${two.runId}/callback`, { kind: 'result', result: 'mine' }),
      403,
      'FORBIDDEN',
    )
    expectRefusal(await one.post(`/runs/${one.runId}/callback`, { kind: 'heartbeat' }), 409, 'RUN_NOT_HERE')
    for (const { runId } of [one, two])
      expectRefusal(await one.post(`/runs/${runId}/cancel`), 403, 'FORBIDDEN')
    expectRefusal(await one.post(`/tasks/${two.task}/submit`, { ...two.held, result: 1 }), 403, 'FORBIDDEN')
    expect((await w.read({ id: two.task })).state).toBe('running')
  })

  test('is valid in its own workspace and no other, whatever the headers say', async () => {
    const w = await fleet()
    const other = await fleet()
    const theirs = await other.make({ title: 'theirs' })
    const { call, task } = await atWork(w)
    expect((await call('GET', `/tasks/${task}`)).status).toBe(200)
    expectRefusal(await call('GET', `/tasks/${theirs.id}`), 404, 'NOT_FOUND')
    expectRefusal(
      await call('POST', `/tasks/${theirs.id}/submit`, { ...fence('s', 1), result: 1 }),
      403,
      'FORBIDDEN',
    )
    const [own] = (await w.call('GET', '/workspaces')).body.items
    const [foreign] = (await other.call('GET', '/workspaces')).body.items
    const naming = (id: string) => call('GET', `/tasks/${task}`, undefined, { 'x-workspace-id': id })
    expect((await naming(own.id)).status).toBe(200)
    for (const id of [foreign.id, 'nonsense', '1', own.id.toUpperCase()])
      expectRefusal(await naming(id), 404, 'NOT_FOUND')
  })

  test('ends with its run, at once and for everything', async () => {
    const w = await fleet()
    const { call, post, task, held, runId, end } = await atWork(w)
    const isDead = async () => {
      for (const path of ['/tasks', `/tasks/${task}`, `/runs/${runId}`, '/events', '/agents/dev'])
        expectRefusal(await call('GET', path), 401, 'UNAUTHENTICATED', {
          detail: 'This token belongs to no active run.',
        })
      expectRefusal(await post(`/tasks/${task}/progress`, { ...held, percent: 1 }), 401, 'UNAUTHENTICATED')
      expectRefusal(await post('/agents/dev/wakeup'), 401, 'UNAUTHENTICATED')
    }
    expect((await call('GET', '/tasks')).status).toBe(200)
    expect((await end()).status).toBe('succeeded')
    await isDead()
    const cancelled = await atWork(w, 'second')
    expect((await w.post(`/runs/${cancelled.runId}/cancel`)).status).toBe(200)
    await w.over('second')
    expectRefusal(await cancelled.call('GET', '/tasks'), 401, 'UNAUTHENTICATED')
  })

  test('cannot be guessed, and no part of what is stored grants anything', async () => {
    const w = await fleet()
    const { token, runId } = await atWork(w)
    expect(token).toMatch(/^brun_[A-Za-z0-9_-]{43}$/)
    const hash = createHash('sha256').update(token).digest()
    const wrong = [
      `${token}x`,
      token.slice(0, -1),
      token.replace('brun_', 'baton_'),
      token.slice(5),
      `brun_${hash.toString('hex')}`,
      `brun_${hash.toString('base64url')}`,
      `brun_${runId}`,
      `brun_${'x'.repeat(43)}`,
    ]
    for (const key of wrong)
      expectRefusal(await served().call('GET', '/tasks', undefined, { key }), 401, 'UNAUTHENTICATED')
  })

  test('is in no answer, no event and no table, except as a hash, and that only while it is valid', async () => {
    const w = await fleet()
    const { token, runId, end, call } = await atWork(w)
    const answers = async () => {
      const paths = [
        '/runs',
        `/runs/${runId}`,
        `/runs/${runId}/events`,
        `/runs/${runId}/log`,
        '/agents/dev',
        '/events?limit=200',
      ]
      const more = [
        '/keys',
        '/agents/dev/task-sessions',
        '/agents/dev/runtime-state',
        '/agents/dev/wakeups',
        '/sessions',
      ]
      const said = await Promise.all(
        [...paths, ...more].map(async (path) => (await w.call('GET', path)).body),
      )
      return JSON.stringify([said, (await call('GET', `/runs/${runId}`)).body])
    }
    const secret = token.slice(5)
    const hash = createHash('sha256').update(token).digest('hex')
    const nowhere = async (places: string[]) => {
      const said = await answers()
      expect([said.includes(secret), said.includes(hash)]).toEqual([false, false])
      expect(await tablesWith(served().databaseUrl, secret)).toEqual([])
      expect(await tablesWith(served().databaseUrl, hash)).toEqual(places)
    }
    await nowhere(['runs'])
    await end()
    await nowhere([])
  })
})

describe('streams that were opened with the token of a run', () => {
  test('over WebSocket deliver the end of the run, and end with it', async () => {
    const w = await fleet()
    const { token, runId, end } = await atWork(w)
    const socket = new WebSocket(`${served().api.replace('http', 'ws')}/events/ws?output=all`, {
      headers: { authorization: `Bearer ${token}` },
    })
    const heard: Seen[] = []
    socket.on('message', (data) => heard.push(...(JSON.parse(data.toString()).events ?? [])))
    await once(socket, 'open')
    const closed = once(socket, 'close')
    await end()
    await w.make({ title: 'after its end', requiredCapabilities: ['magic'] })
    expect((await closed)[0]).toBe(1001)
    expect(heard.at(-1)).toMatchObject({ type: 'run_finished', payload: { runId } })
  })

  test('as server-sent events too, and those of others continue', async () => {
    const w = await fleet()
    const first = await atWork(w, 'first')
    const second = await atWork(w, 'second')
    const open = (key: string) =>
      fetch(`${served().api}/events/stream`, { headers: { authorization: `Bearer ${key}` } })
    const [own, other] = [await open(first.token), await open(second.token)]
    expect(own.headers.get('connection')).toBe('close')
    await first.end()
    await w.make({ title: 'after its end', requiredCapabilities: ['magic'] })
    const eventsIn = (text: string) =>
      [...text.matchAll(/^data: (.*)$/gm)].map(([, json]) => JSON.parse(json!))
    expect(eventsIn(await own.text()).at(-1)).toMatchObject({
      type: 'run_finished',
      payload: { runId: first.runId },
    })
    await second.end()
    const rest = eventsIn(await other.text()).filter(({ type }) => /^(task_created|run_finished)$/.test(type))
    expect(rest.map(({ type }) => type)).toEqual(['run_finished', 'task_created', 'run_finished'])
  })

  test('cannot be opened once the run is over', async () => {
    const w = await fleet()
    const { token, end } = await atWork(w)
    await end()
    const refused = await fetch(`${served().api}/events/stream`, {
      headers: { authorization: `Bearer ${token}` },
    })
    expect(refused.status).toBe(401)
    const socket = new WebSocket(`${served().api.replace('http', 'ws')}/events/ws`, {
      headers: { authorization: `Bearer ${token}` },
    })
    const [error] = await once(socket, 'error')
    expect(String(error)).toContain('401')
  })
})

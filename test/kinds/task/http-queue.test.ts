import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { describe, expect, test } from 'vitest'
import { expectRefusal, fence, inOneHour, type Json, useServer } from '../../support/http-workspace.ts'
import { until } from '../../support/nodes.ts'

/** What external agents rely on: the queue and sessions. */

const { served, workspace } = useServer()
const first = fence('s-alpha', 1)

describe('the queue', () => {
  const titles = ({ claims }: { claims: { task: { title: string } }[] }) =>
    claims.map(({ task }) => task.title)

  test('returns tasks by priority, then in order of arrival, as many as requested', async () => {
    const w = await workspace()
    for (const [title, priority] of [
      ['a', 5],
      ['b', 9],
      ['c', 5],
      ['d', 1],
      ['e', 9],
    ] as const)
      await w.make({ title, priority })
    expect(titles(await w.next())).toEqual(['b'])
    expect(titles(await w.next({ limit: 3 }))).toEqual(['e', 'a', 'c'])
    const last = await w.next({ limit: 10, leaseSeconds: 60 })
    expect(last.claims).toMatchObject([
      {
        generation: 1,
        agent: 'alpha',
        session: 's-alpha',
        state: 'active',
        ttlMs: 60_000,
        task: { title: 'd', state: 'assigned' },
      },
    ])
    expect(await w.next({ limit: 10 })).toEqual({ claims: [] })
  })

  test('gives each of many concurrent agents a task of its own, while there are enough', async () => {
    const w = await workspace()
    await w.post('/tasks/batch', { tasks: Array.from({ length: 40 }, (_, i) => ({ title: `task ${i}` })) })
    const asked = Array.from({ length: 30 }, (_, i) => w.next({ agent: `a${i}`, session: `s${i}` }))
    const given = (await Promise.all(asked)).map(({ claims }) => claims.map(({ taskId }: Json) => taskId))
    expect(given.map(({ length }) => length)).toEqual(Array(30).fill(1))
    expect(new Set(given.flat()).size).toBe(30)
  })

  test('passes over what an agent may not or cannot do', async () => {
    const w = await workspace()
    await w.make({ title: 'for beta', agent: 'beta', priority: 10 })
    await w.make({ title: 'rust and go', requiredCapabilities: ['rust', 'go'], priority: 9 })
    await w.make({ title: 'waits', runAt: inOneHour(), priority: 9 })
    await w.make({ title: 'anybody' })
    expect(titles(await w.next({ limit: 9, capabilities: ['rust'] }))).toEqual(['anybody'])
    expect(titles(await w.next({ limit: 9, capabilities: ['go', 'rust', 'sql'] }))).toEqual(['rust and go'])
    expect(titles(await w.next({ limit: 9, agent: 'beta' }))).toEqual(['for beta'])
  })

  test('lets a caller wait, and answers it when a task is created or requeued', async () => {
    const w = await workspace()
    const waiting = w.next({ waitMs: 60_000 })
    expect(await w.next({ agent: 'beta', session: 's-beta' }), 'there is nothing yet').toEqual({ claims: [] })
    const task = await w.make({ title: 'fresh' })
    expect(titles(await waiting)).toEqual(['fresh'])
    const again = w.next({ agent: 'beta', session: 's-beta', waitMs: 60_000 })
    await w.on(task, 'release', first)
    expect((await again).claims).toMatchObject([{ taskId: task.id, generation: 2, agent: 'beta' }])
    expect(await w.next({ waitMs: 20 }), 'nothing came in time').toEqual({ claims: [] })
  })

  test('assigns nothing to a caller that disconnected while it waited', async () => {
    const w = await workspace()
    const leave = new AbortController()
    let response: ServerResponse | undefined
    const onRequest = (message: unknown) => {
      const { request, ...sent } = message as { request: { url: string }; response: ServerResponse }
      if (request.url.endsWith('/claims/next')) response = sent.response
    }
    subscribe('http.server.request.start', onRequest)
    const waiting = fetch(`${served().api}/claims/next`, {
      method: 'POST',
      signal: leave.signal,
      headers: { authorization: `Bearer ${w.ownerKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ agent: 'ghost', session: 's-ghost', waitMs: 60_000 }),
    })
    const sent = await until(async () => response)
    unsubscribe('http.server.request.start', onRequest)
    await until(async () => (await w.count('session_started')) === 1)
    const closed = once(sent, 'close')
    leave.abort()
    await expect(waiting).rejects.toThrow()
    await closed
    const task = await w.make()
    expect((await w.claim(task)).body).toMatchObject({ reason: 'GRANTED', claim: { generation: 1 } })
  })
})

describe('a result that asks for the next task', () => {
  const asking = (more: Json = {}) => ({ ...first, result: { n: 1 }, next: { agent: 'alpha', ...more } })

  test('is answered with the claim and its task, or with null', async () => {
    const w = await workspace()
    const task = await w.held()
    const other = await w.make({ title: 'the next', input: { n: 2 } })
    const answer = await w.on(task, 'submit', asking({ leaseSeconds: 60 }))
    expect(answer).toMatchObject({
      status: 200,
      body: {
        reason: 'ACCEPTED',
        task: { id: task.id, state: 'completed' },
        next: { taskId: other.id, generation: 1, session: 's-alpha', agent: 'alpha', ttlMs: 60_000 },
      },
    })
    expect(answer.body.next.task).toMatchObject({ title: 'the next', input: { n: 2 }, state: 'assigned' })
    expect((await w.on(other, 'submit', asking())).body).toMatchObject({ reason: 'ACCEPTED', next: null })
    const plain = await w.held()
    expect(
      (await w.on(plain, 'submit', { ...first, result: 1 })).body,
      'only if requested',
    ).not.toHaveProperty('next')
  })

  test('chooses as claims/next does', async () => {
    const w = await workspace()
    await w.post('/projects', { slug: 'shop', name: 'Shop' })
    const task = await w.held()
    await w.make({ title: 'any', priority: 9 })
    await w.make({ title: 'shop', project: 'shop', requiredCapabilities: ['sql'] })
    const { next } = (await w.on(task, 'submit', asking({ project: 'shop', capabilities: ['sql'] }))).body
    expect(next.task.title).toBe('shop')
  })

  test('claims nothing when it is refused or wrong', async () => {
    const w = await workspace()
    const task = await w.held()
    const other = await w.make()
    expectRefusal(await w.on(task, 'submit', { ...asking(), generation: 2 }), 409, 'FUTURE_GENERATION')
    expectRefusal(await w.on(task, 'submit', asking({ project: 'nowhere' })), 404, 'NOT_FOUND')
    expectRefusal(await w.on(task, 'submit', asking({ waitMs: 5 })), 400, 'VALIDATION_FAILED')
    expectRefusal(await w.on(task, 'submit', { ...asking(), next: {} }), 400, 'VALIDATION_FAILED')
    expect(await w.read(task)).toMatchObject({ state: 'assigned' })
    expect(await w.read(other)).toMatchObject({ state: 'queued', generation: 0 })
  })

  test('has one answer under an idempotency key', async () => {
    const w = await workspace()
    const task = await w.held()
    const [second, third] = [await w.make(), await w.make()]
    const once = () => w.on(task, 'submit', asking(), { 'idempotency-key': 'k-1' })
    const [answer, again] = [await once(), await once()]
    expect(answer.body.next.taskId).toBe(second.id)
    expect(again.body.next).toMatchObject({ taskId: second.id, generation: 1, task: { id: second.id } })
    expect(await w.read(third)).toMatchObject({ state: 'queued' })
  })

  test('is stored although its session may not claim any more', async () => {
    const w = await workspace()
    await w.post('/workers', { worker: 's-alpha', agent: 'alpha', capacity: 1 })
    const task = await w.held()
    await w.make()
    await w.call('POST', '/workers/s-alpha/drain')
    expect((await w.on(task, 'submit', asking())).body).toMatchObject({ reason: 'ACCEPTED', next: null })
  })
})

describe('a session', () => {
  test('is opened once, shows what it holds, renews all of it with a heartbeat and releases it at its end', async () => {
    const w = await workspace()
    const begun = await w.post('/sessions', { session: 's-1', agent: 'alpha', userId: 'ann' })
    expect(begun).toMatchObject({
      status: 201,
      body: { session: 's-1', agent: 'alpha', userId: 'ann', endedAt: null },
    })
    expect(await w.post('/sessions', { session: 's-1' })).toMatchObject({
      status: 200,
      body: { id: begun.body.id, userId: 'ann' },
    })
    const unnamed = await w.call('POST', '/sessions')
    expect([unnamed.status, typeof unnamed.body.session]).toEqual([201, 'string'])
    const tasks = [await w.make(), await w.make(), await w.make()]
    for (const task of tasks) await w.claim(task, 'alpha', { session: 's-1', leaseSeconds: 60 })
    await w.on(tasks[2]!, 'cancel')
    const held = tasks.slice(0, 2).map(({ id }) => ({ taskId: id, generation: 1 }))
    for (const name of ['s-1', begun.body.id]) {
      expect((await w.call('GET', `/sessions/${name}`)).body.activeClaims).toMatchObject(held)
      const heartbeat = await w.call('POST', `/sessions/${name}/heartbeat`)
      expect(heartbeat.body.renewed).toMatchObject(
        held.map((claim) => ({ ...claim, reason: 'RENEWED', ttlMs: 60_000 })),
      )
    }
    expect((await w.call('DELETE', '/sessions/s-1')).status).toBe(204)
    for (const task of tasks.slice(0, 2))
      expect(await w.read(task)).toMatchObject({ state: 'queued', holder: null, attempt: 0 })
    const ended = (await w.call('GET', '/sessions/s-1')).body
    expect(ended).toMatchObject({ id: begun.body.id, endedAt: expect.any(String), activeClaims: [] })
    for (const [method, path] of [
      ['GET', ''],
      ['DELETE', ''],
      ['POST', '/heartbeat'],
    ] as const)
      expectRefusal(await w.call(method, `/sessions/nobody${path}`), 404, 'NOT_FOUND')
  })

  test('is stored at its first claim, and one that claims after its end is active again', async () => {
    const w = await workspace()
    const task = await w.held()
    expect((await w.call('GET', '/sessions/s-alpha')).body).toMatchObject({ agent: 'alpha', endedAt: null })
    await w.call('DELETE', '/sessions/s-alpha')
    expect((await w.claim(task)).body.claim.generation).toBe(2)
    const back = (await w.call('GET', '/sessions/s-alpha')).body
    expect(back.activeClaims).toMatchObject([{ taskId: task.id, generation: 2 }])
    expect(back.endedAt).toBeNull()
  })
})

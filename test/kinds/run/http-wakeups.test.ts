import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import {
  expectRefusal,
  type Json,
  type Task,
  useServer,
  type Workspace,
} from '../../support/http-workspace.ts'
import { until } from '../../support/nodes.ts'

/** Waking agents over HTTP. */

const { workspace } = useServer()
const folder = mkdtempSync(join(tmpdir(), 'baton-http-wakeups-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const NEVER_MS = 80_000_000
/** An agent that follows a script; without one it is done at once. */
async function put(w: Workspace, slug: string, { steps = [], heartbeat = {}, ...more }: Json = {}) {
  const answer = await w.call('PUT', `/agents/${slug}`, {
    adapterType: 'simulated',
    adapterConfig: { steps },
    runtimeConfig: { heartbeat },
    coordinatorEnabled: false,
    ...more,
  })
  expect(answer.body).toMatchObject({ slug })
}
const busy = { steps: [{ waitMs: NEVER_MS }] }
const wake = async (w: Workspace, slug: string, body: Json = {}, headers?: Record<string, string>) => {
  const answer = await w.post(`/agents/${slug}/wakeup`, body, headers)
  expect(answer.status).toBe(202)
  return answer.body.wakeup
}
const wakeups = async (w: Workspace, slug: string) =>
  (await w.call('GET', `/agents/${slug}/wakeups`)).body.items
const wakeupOf = async (w: Workspace, slug: string, id: string) =>
  (await wakeups(w, slug)).find((one: { id: string }) => one.id === id)
const runs = async (w: Workspace, slug: string) => (await w.call('GET', `/agents/${slug}/runs`)).body.items
/** The one active run of an agent. */
const runOf = (w: Workspace, slug: string) =>
  until(async () => (await runs(w, slug)).find(({ status }: Json) => status === 'running'))
const isOver = (w: Workspace, slug: string, id: string) =>
  until(async () => {
    const wakeup = await wakeupOf(w, slug, id)
    return wakeup.finishedAt !== null && wakeup
  })

describe('POST /agents/:id/wakeup', () => {
  test('is answered with the wakeup, which makes a run', async () => {
    const w = await workspace()
    await put(w, 'alpha')
    const wakeup = await wake(w, 'alpha', { reason: 'look at the news', payload: { page: 3 } })
    expect(wakeup).toMatchObject({
      agent: 'alpha',
      source: 'on_demand',
      triggerDetail: 'manual',
      reason: 'look at the news',
      payload: { page: 3 },
      status: 'queued',
      skipReason: null,
      detail: null,
      coalescedCount: 0,
      coalescedInto: null,
      taskId: null,
      runId: null,
    })
    expect(wakeup.requestedBy).toMatch(/^key:/)
    const over = await isOver(w, 'alpha', wakeup.id)
    expect(over).toMatchObject({ status: 'completed', error: null })
    const { body: run } = await w.call('GET', `/runs/${over.runId}`)
    expect(run).toMatchObject({
      status: 'succeeded',
      wakeupId: wakeup.id,
      source: 'on_demand',
      reason: 'look at the news',
    })
    const [asked] = await w.happens('wakeup_requested')
    expect(asked!.payload).toMatchObject({ agent: 'alpha', wakeupId: wakeup.id })
    await w.happens('run_finished')
  })

  test('needs no body, finds agents by their id, and has an older name', async () => {
    const w = await workspace()
    await put(w, 'alpha')
    const { id } = (await w.call('GET', '/agents/alpha')).body
    for (const path of ['/agents/alpha/wakeup', `/agents/${id}/wakeup`, '/agents/alpha/heartbeat/invoke'])
      expect(await w.call('POST', path)).toMatchObject({ status: 202, body: { wakeup: { agent: 'alpha' } } })
  })

  test('about a task gets it worked on, claimed like any other', async () => {
    const w = await workspace()
    await put(w, 'alpha', { steps: [{ result: { fixed: true } }] })
    const [other, task] = [await w.make(), await w.make()]
    const wakeup = await wake(w, 'alpha', { taskId: task.id })
    expect(await isOver(w, 'alpha', wakeup.id)).toMatchObject({ status: 'completed', taskId: task.id })
    expect(await w.read(task)).toMatchObject({ state: 'completed', generation: 1 })
    expect(await w.read(other), 'and no other').toMatchObject({ state: 'queued' })
  })

  test('without a task claims what waits, or else nothing', async () => {
    const w = await workspace()
    await put(w, 'alpha', { steps: [{ result: 1 }] })
    const task = await w.make()
    await isOver(w, 'alpha', (await wake(w, 'alpha')).id)
    expect((await w.read(task)).state).toBe('completed')
    await isOver(w, 'alpha', (await wake(w, 'alpha')).id)
    expect((await runs(w, 'alpha')).map(({ taskId }: Json) => taskId)).toEqual([null, task.id])
  })

  test('about a task that is done by then is skipped when it is due, and there is no run', async () => {
    const w = await workspace()
    await put(w, 'alpha')
    const task = await w.held()
    await w.on(task, 'submit', { session: 's-alpha', generation: 1, result: 1 })
    const wakeup = await isOver(w, 'alpha', (await wake(w, 'alpha', { taskId: task.id })).id)
    expect(wakeup).toMatchObject({
      status: 'skipped',
      skipReason: 'TASK_NOT_READY',
      detail: 'There is nothing left to do for this task.',
      runId: null,
    })
    expect(await runs(w, 'alpha')).toEqual([])
  })

  test('stores its request, whatever it contains', async () => {
    const w = await workspace()
    await put(w, 'alpha', { heartbeat: { enabled: false } })
    for (const payload of [null, 0, false, '', 'text', [], {}, { a: [{ b: 'é\u2028"' }] }])
      expect((await wake(w, 'alpha', { payload })).payload).toEqual(payload)
    expect((await wake(w, 'alpha')).payload).toBe(null)
  })
})

describe('is refused', () => {
  test.each([
    [{ source: 'cron' }, 'source'],
    [{ triggerDetail: 'whim' }, 'triggerDetail'],
    [{ reason: 7 }, 'reason'],
    [{ reason: 'x'.repeat(2_001) }, 'reason'],
    [{ taskId: 'T-1' }, 'taskId'],
    [{ taskId: null }, 'taskId'],
    [{ idempotencyKey: '' }, 'idempotencyKey'],
    [{ idempotencyKey: 'x'.repeat(201) }, 'idempotencyKey'],
    [{ idempotencyKey: 'a\nb' }, 'idempotencyKey'],
    [{ prompt: 'do it' }, 'prompt'],
    [{ delayMs: 5 }, 'delayMs'],
    [{ generation: 1 }, 'generation'],
    [{ actor: 'system' }, 'actor'],
  ])('%j, naming the field', async (body, field) => {
    const w = await workspace()
    await put(w, 'alpha')
    const answer = await w.post('/agents/alpha/wakeup', body)
    expectRefusal(answer, 400, 'VALIDATION_FAILED')
    expect(JSON.stringify(answer.body)).toContain(field)
    expect(await wakeups(w, 'alpha')).toEqual([])
  })

  test.each(['[]', '"wake up"', '7', '{', '{"reason":"\\u0000"}', '{"payload":"\\ud800"}'])(
    'a body such as %s',
    async (body) => {
      const w = await workspace()
      await put(w, 'alpha')
      expect((await w.post('/agents/alpha/wakeup', body)).status).toBe(400)
      expect(await wakeups(w, 'alpha')).toEqual([])
    },
  )

  test('for unknown agents and tasks, or those of others', async () => {
    const [w, other] = [await workspace(), await workspace()]
    await put(w, 'alpha')
    await put(other, 'theirs')
    const foreign = await other.make()
    expectRefusal(await w.post('/agents/nobody/wakeup'), 404, 'NOT_FOUND')
    expectRefusal(await w.post('/agents/theirs/wakeup'), 404, 'NOT_FOUND')
    const theirs = (await other.call('GET', '/agents/theirs')).body.id
    expectRefusal(await w.post(`/agents/${theirs}/wakeup`), 404, 'NOT_FOUND')
    expectRefusal(await w.call('GET', `/agents/${theirs}/wakeups`), 404, 'NOT_FOUND')
    const unknown = `${foreign.id.slice(0, -4)}ffff`
    for (const taskId of [
      foreign.id,
      unknown,
      '0190a0b0-0000-7000-8000-00000000ffff',
      '0190a0b0-0000-4000-8000-000000000001',
    ])
      expectRefusal(await w.post('/agents/alpha/wakeup', { taskId }), 404, 'NOT_FOUND')
    expect(await wakeups(w, 'alpha')).toEqual([])
    await w.call('DELETE', '/agents/alpha')
    expectRefusal(await w.post('/agents/alpha/wakeup'), 404, 'NOT_FOUND')
  })

  test('with a key that may only read', async () => {
    const w = await workspace()
    await put(w, 'alpha')
    const { key } = (await w.post('/keys', { name: 'reader', role: 'viewer' })).body
    const headers = { authorization: `Bearer ${key}` }
    expectRefusal(await w.call('POST', '/agents/alpha/wakeup', {}, headers), 403, 'FORBIDDEN')
  })
})

describe('no agent is woken, and the answer says so', () => {
  const agents: Record<string, (w: Workspace) => Promise<unknown>> = {
    NOT_MANAGED: (w) => w.call('PUT', '/agents/alpha', { adapterType: 'external' }),
    AGENT_PAUSED: async (w) => {
      await put(w, 'alpha')
      await w.post('/agents/alpha/pause')
    },
    AGENT_TERMINATED: async (w) => {
      await put(w, 'alpha')
      await w.post('/agents/alpha/terminate')
    },
    DISABLED: (w) => put(w, 'alpha', { heartbeat: { enabled: false } }),
    SOURCE_OFF: (w) => put(w, 'alpha', { heartbeat: { wakeOnOnDemand: false } }),
  }

  test.each(Object.keys(agents))('%s', async (skipReason) => {
    const w = await workspace()
    await agents[skipReason]!(w)
    const wakeup = await wake(w, 'alpha')
    expect(wakeup).toMatchObject({ status: 'skipped', skipReason, runId: null })
    expect(wakeup.detail).toMatch(/^(The|Its) .*\.$/)
    expect((await w.happens('wakeup_skipped'))[0]!.payload).toMatchObject({ because: skipReason })
    expect(await runs(w, 'alpha')).toEqual([])
  })

  test('an agent in error: only by a person, and a successful run clears the error', async () => {
    const w = await workspace()
    await put(w, 'alpha', { steps: [{ fail: { code: 'not_logged_in' } }] })
    await isOver(w, 'alpha', (await wake(w, 'alpha')).id)
    await until(async () => (await w.call('GET', '/agents/alpha')).body.state === 'error')
    expect(await wake(w, 'alpha', { source: 'automation' })).toMatchObject({ skipReason: 'AGENT_FAULTY' })
    const tried = await isOver(w, 'alpha', (await wake(w, 'alpha')).id)
    expect(tried).toMatchObject({ status: 'failed' })
    expect((await w.call('GET', '/agents/alpha')).body.state).toBe('error')
    await put(w, 'alpha')
    expect(await wake(w, 'alpha', { source: 'automation' })).toMatchObject({ status: 'queued' })
  })
})

describe('the same key', () => {
  test.each([
    ['in the body', (key: string) => [{ idempotencyKey: key }, {}]],
    ['in the header', (key: string) => [{}, { 'idempotency-key': key }]],
  ] as const)('%s gets the first wakeup as the answer, thirty times at once', async (_name, of) => {
    const w = await workspace()
    await put(w, 'alpha', busy)
    await put(w, 'beta', busy)
    const [body, headers] = of('deploy-42') as [Json, Record<string, string>]
    const answers = await Promise.all(Array.from({ length: 30 }, () => wake(w, 'alpha', body, headers)))
    expect(new Set(answers.map(({ id }) => id)).size).toBe(1)
    expect(await wakeups(w, 'alpha')).toMatchObject([{ coalescedCount: 0 }])
    expect((await wake(w, 'beta', body, headers)).id, 'of another agent').not.toBe(answers[0].id)
    for (const slug of ['alpha', 'beta']) await w.post(`/agents/${slug}/terminate`)
  })
})

describe('while its run is active', () => {
  test('an agent that is woken repeatedly has one run, and the last reason is kept', async () => {
    const w = await workspace()
    await put(w, 'alpha', busy)
    const first = await wake(w, 'alpha')
    const run = await runOf(w, 'alpha')
    const answers = await Promise.all(
      Array.from({ length: 300 }, (_, i) => wake(w, 'alpha', { reason: `r-${i}` })),
    )
    expect(answers.every((one) => one.status === 'coalesced' && one.coalescedInto === first.id)).toBe(true)
    const seen = await w.call('GET', `/agents/alpha/wakeups?limit=1&cursor=${answers[0].id}`)
    expect(seen.body.items).toHaveLength(1)
    const { items } = (await w.call('GET', `/runs?agent=alpha`)).body
    expect(items.map(({ id }: Json) => id)).toEqual([run.id])
    await w.post(`/runs/${run.id}/cancel`, { reason: 'enough' })
    expect(await isOverFar(w, first.id)).toMatchObject({
      status: 'cancelled',
      coalescedCount: 300,
      error: 'enough',
    })
  })

  test('people come before tasks and those before programs, in order of arrival', async () => {
    const w = await workspace()
    await put(w, 'alpha', { ...busy, heartbeat: { intervalSec: 86_400 } })
    await wake(w, 'alpha')
    const run = await runOf(w, 'alpha')
    const sources = ['automation', 'timer', 'assignment', 'on_demand', 'assignment', 'on_demand']
    const asked: string[] = []
    for (const source of sources)
      asked.push((await wake(w, 'alpha', { source, taskId: (await w.make()).id })).id)
    // From now on it is quick.
    await put(w, 'alpha', { heartbeat: { intervalSec: 86_400 } })
    await w.post(`/runs/${run.id}/cancel`)
    const over = await until(async () => {
      const all = await runs(w, 'alpha')
      return all.length === 7 && all.every(({ finishedAt }: Json) => finishedAt !== null) && all
    })
    const order = [...over]
      .reverse()
      .slice(1)
      .map(({ wakeupId }: Json) => asked.indexOf(wakeupId as string))
    expect(order).toEqual([3, 5, 2, 4, 0, 1])
  })

  /** A wakeup that may not be on the first page of the list any more. */
  const isOverFar = (w: Workspace, id: string) =>
    until(async () => {
      let cursor: string | null = null
      do {
        const page: string = cursor === null ? '' : `&cursor=${cursor}`
        const { body } = await w.call('GET', `/agents/alpha/wakeups?limit=200${page}`)
        const found = body.items.find((one: Json) => one.id === id)
        if (found) return found.finishedAt !== null && found
        cursor = body.nextCursor
      } while (cursor !== null)
      return null
    })
})

describe('GET /agents/:id/wakeups', () => {
  test('shows the newest first, page by page, and refuses invalid queries', async () => {
    const w = await workspace()
    await put(w, 'alpha', { heartbeat: { enabled: false } })
    const ids: string[] = []
    for (let i = 0; i < 5; i++) ids.unshift((await wake(w, 'alpha')).id)
    const first = (await w.call('GET', '/agents/alpha/wakeups?limit=2')).body
    const second = (await w.call('GET', `/agents/alpha/wakeups?limit=10&cursor=${first.nextCursor}`)).body
    expect([...first.items, ...second.items].map(({ id }) => id)).toEqual(ids)
    expect(second.nextCursor).toBe(null)
    for (const query of ['limit=x', 'cursor=1', 'state=queued'])
      expectRefusal(await w.call('GET', `/agents/alpha/wakeups?${query}`), 400, 'VALIDATION_FAILED')
  })
})

describe('the token of a run', () => {
  /** A program that requests a wakeup of these agents and prints the answers. */
  const asking = (slugs: readonly string[]) => `
    const { BATON_URL, BATON_API_KEY } = process.env
    const heard = []
    for (const slug of ${JSON.stringify(slugs)}) {
      const reply = await fetch(BATON_URL + '/api/v1/agents/' + slug + '/wakeup', {
        method: 'POST',
        headers: { authorization: 'Bearer ' + BATON_API_KEY, 'content-type': 'application/json' },
        body: JSON.stringify({ reason: 'as I said' }),
      })
      heard.push({ status: reply.status, body: await reply.json() })
    }
    console.log(JSON.stringify({ result: heard }))`

  test('wakes others, and never its own agent', async () => {
    const w = await workspace()
    await put(w, 'beta')
    const script = asking(['alpha', 'beta', 'nobody'])
    const adapterConfig = {
      command: process.execPath,
      args: ['--input-type=module', '-e', script],
      cwd: folder,
    }
    await put(w, 'alpha', { adapterType: 'process', adapterConfig })
    const { runId } = await isOver(w, 'alpha', (await wake(w, 'alpha')).id)
    const { result } = (await w.call('GET', `/runs/${runId}`)).body
    const [own, other, unknown] = (result.result ?? result) as { status: number; body: { wakeup: Json } }[]
    expect(own).toMatchObject({
      status: 202,
      body: { wakeup: { status: 'skipped', skipReason: 'SELF_AUTHORED' } },
    })
    expect(other).toMatchObject({
      status: 202,
      body: { wakeup: { status: 'queued', requestedBy: 'agent:alpha' } },
    })
    expect(unknown!.status).toBe(404)
    expect(await isOver(w, 'beta', other!.body.wakeup.id as string)).toMatchObject({ status: 'completed' })
    expect(await runs(w, 'alpha')).toHaveLength(1)
  })
})

describe('policy', () => {
  test('the timer wakes an agent at its interval, until it is paused', async () => {
    const w = await workspace()
    await put(w, 'alpha', { heartbeat: { intervalSec: 1 } })
    await until(
      async () => (await runs(w, 'alpha')).filter(({ source }: Json) => source === 'timer').length >= 2,
    )
    await w.post('/agents/alpha/pause')
    const count = (await wakeups(w, 'alpha')).length
    const { nextTimerAt } = (await w.call('GET', '/agents/alpha/runtime-state')).body
    await until(async () => Date.now() > Date.parse(nextTimerAt) + 1_500)
    expect((await wakeups(w, 'alpha')).length).toBe(count)
  })

  test('work is assigned and done without any request', async () => {
    const w = await workspace()
    await put(w, 'alpha', { steps: [{ result: 1 }], coordinatorEnabled: true })
    const task: Task = await w.make()
    await w.reaches(task, 'completed')
    const [wakeup] = await wakeups(w, 'alpha')
    expect(wakeup).toMatchObject({
      source: 'assignment',
      taskId: task.id,
      generation: 1,
      requestedBy: 'system',
    })
  })

  test('an agent that assignments do not wake is assigned nothing, and claims work when it is woken otherwise', async () => {
    const w = await workspace()
    await put(w, 'alpha', {
      steps: [{ result: 1 }],
      coordinatorEnabled: true,
      heartbeat: { wakeOnAssignment: false },
    })
    const task = await w.make()
    for (let i = 0; i < 3; i++) await w.post('/coordinator/recover')
    expect((await w.read(task)).state).toBe('queued')
    await wake(w, 'alpha')
    await w.reaches(task, 'completed')
  })

  test('for the same task no more often than allowed', async () => {
    const w = await workspace()
    await put(w, 'alpha', {
      steps: [{ fail: { code: 'control_plane_restart' } }],
      coordinatorEnabled: true,
      heartbeat: { maxWakeupsPerTaskPerHour: 2 },
    })
    const task = await w.make()
    // It would be assigned it, and release it, forever; a person is asked instead.
    await w.reaches(task, 'awaiting_human')
    expect(await runs(w, 'alpha')).toHaveLength(2)
    expect(await wake(w, 'alpha', { taskId: task.id })).toMatchObject({ skipReason: 'RATE_CAPPED' })
  })

  test('between two starts there is the configured cooldown', async () => {
    const w = await workspace()
    await put(w, 'alpha', { heartbeat: { cooldownSec: 2 } })
    const first = await isOver(w, 'alpha', (await wake(w, 'alpha')).id)
    const second = await isOver(w, 'alpha', (await wake(w, 'alpha')).id)
    expect(Date.parse(second.claimedAt) - Date.parse(first.claimedAt)).toBeGreaterThanOrEqual(1_999)
  })

  test.each([
    { intervalSec: 0 },
    { intervalSec: '60' },
    { cooldownSec: -1 },
    { maxWakeupsPerTaskPerHour: 0 },
    { enabled: 'yes' },
    { every: 60 },
  ])('%j is refused when it is set', async (heartbeat) => {
    const w = await workspace()
    const answer = await w.call('PUT', '/agents/alpha', {
      adapterType: 'simulated',
      adapterConfig: { steps: [] },
      runtimeConfig: { heartbeat },
    })
    expectRefusal(answer, 400, 'VALIDATION_FAILED')
    expect(answer.body.detail).toContain(`heartbeat.${Object.keys(heartbeat)[0]}`)
  })
})

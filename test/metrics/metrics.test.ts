import { request } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { METRIC_LIST } from '../../src/metrics/catalogue.ts'
import { expectRefusal, fence, openWorkspace } from '../support/http-workspace.ts'
import { superuser } from '../support/nodes.ts'
import { Scraped, scrape, textOf } from '../support/prometheus.ts'
import { type ServerUnderTest, startAnother, startServer } from '../support/server.ts'

let server: ServerUnderTest
beforeAll(async () => {
  server = await startServer({ BATON_METRICS_LABELS: '40' })
})
afterAll(() => server.close())

const metricsOf = async (w: { id: string }) => {
  const scraped = await scrape(server)
  return (name: string, labels: Record<string, string> = {}) =>
    scraped.sum(name, { workspace: w.id, ...labels })
}

const inside = { project: 'shop' }

describe('who may read metrics', () => {
  test('a key of the instance, and one that has only this right', async () => {
    const made = await server.call('POST', '/keys', {
      name: 'prometheus',
      role: 'viewer',
      scopes: ['metrics'],
    })
    expect(made.status).toBe(201)
    const { key } = made.body
    expect((await scrape(server, key)).families.size).toBeGreaterThan(20)
    expect(new Scraped(await textOf(`${server.api}/metrics`, key)).families.size).toBeGreaterThan(20)
    for (const path of ['/tasks', '/workspaces', '/nodes'])
      expectRefusal(await server.call('GET', path, undefined, { key }), 403, 'FORBIDDEN')
  })

  test('no other key, and no key without this right can give it', async () => {
    const w = await openWorkspace(server)
    const { status } = await fetch(`${server.url}/metrics`)
    expect(status).toBe(401)
    expectRefusal(await w.call('GET', '/metrics'), 403, 'FORBIDDEN')
    const given = await w.post('/keys', { name: 'prometheus', role: 'viewer', scopes: ['metrics'] })
    expectRefusal(given, 403, 'FORBIDDEN')
    // Nor is it a right of agents.
    expect((await server.call('PUT', '/agents/alpha', {})).status).toBe(201)
    const bound = { name: 'agent', role: 'member', scopes: ['read', 'metrics'], agent: 'alpha' }
    const { key } = (await server.call('POST', '/keys', bound)).body
    expectRefusal(await server.call('GET', '/metrics', undefined, { key }), 403, 'FORBIDDEN')
  })

  test('whoever is on this machine, on a port of its own, under no other name', async () => {
    const port = await freePort()
    const another = await startAnother(server, { BATON_METRICS_PORT: String(port) })
    try {
      const url = `http://127.0.0.1:${port}`
      expect(new Scraped(await textOf(`${url}/metrics`)).families.size).toBeGreaterThan(20)
      expect((await fetch(`${url}/tasks`)).status).toBe(404)
      expect((await fetch(`${url}/metrics`, { method: 'POST' })).status).toBe(404)
      const rebound = await new Promise<number>((resolve) => {
        const headers = { host: 'attacker.example' }
        request(`${url}/metrics`, { headers }, ({ statusCode }) => resolve(statusCode!)).end()
      })
      expect(rebound).toBe(403)
      await expect(startAnother(server, { BATON_METRICS_PORT: String(port) })).rejects.toThrow(
        `Metrics cannot be served on port ${port} (EADDRINUSE)`,
      )
    } finally {
      await another.close()
    }
  })
})

async function freePort(): Promise<number> {
  const { createServer } = await import('node:net')
  return new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as { port: number }
      probe.close(() => resolve(port))
    })
  })
}

describe('what is counted', () => {
  test('every metric of the catalogue is there, with its type, and labels only as stated', async () => {
    const { families } = await scrape(server)
    for (const [name, { type, labels }] of METRIC_LIST) {
      expect(families.get(name), name).toMatchObject({ type })
      for (const sample of families.get(name)!.samples)
        expect([...labels, 'le'], name).toEqual(expect.arrayContaining(Object.keys(sample.labels)))
    }
    for (const name of ['process_cpu_seconds_total', 'nodejs_eventloop_lag_p99_seconds'])
      expect(families.has(name), name).toBe(true)
  })

  test('claims, results, renewals and zombies, by project', async () => {
    const w = await openWorkspace(server)
    await w.post('/projects', { slug: 'shop', name: 'Shop' })
    const [first, second] = [await w.make({ project: 'shop' }), await w.make()]
    expect((await w.claim(first)).status).toBe(200)
    expectRefusal(await w.claim(first, 'beta'), 409, 'DENIED_ACTIVE_CLAIM')
    await w.on(first, 'renew', fence('s-alpha', 1))
    expectRefusal(await w.on(first, 'renew', fence('s-beta', 1)), 409, 'SESSION_MISMATCH')
    await w.on(first, 'submit', { ...fence('s-alpha', 1), result: 1 })
    expectRefusal(await w.claim(first, 'beta'), 409, 'DENIED_COMPLETED')
    await w.claim(second)
    await w.on(second, 'release', fence('s-alpha', 1))
    await w.claim(second, 'beta')
    const stale = await w.on(second, 'submit', { ...fence('s-alpha', 1), result: 1 })
    expectRefusal(stale, 409, 'STALE_GENERATION')
    await w.on(second, 'fail', { ...fence('s-beta', 2), failureClass: 'invalid', error: 'no' })

    const of = await metricsOf(w)
    expect(of('baton_claims_total', { ...inside, result: 'granted' })).toBe(1)
    expect(of('baton_claims_total', { project: '', result: 'granted' })).toBe(2)
    expect(of('baton_claims_total', { ...inside, result: 'denied_active' })).toBe(1)
    expect(of('baton_claims_total', { ...inside, result: 'denied_completed' })).toBe(1)
    expect(of('baton_generation_increments_total')).toBe(3)
    expect(of('baton_results_total', { ...inside, result: 'accepted' })).toBe(1)
    expect(of('baton_results_total', { project: '', result: 'stale_generation' })).toBe(1)
    expect(of('baton_lease_renewals_total', { result: 'renewed' })).toBe(1)
    expect(of('baton_lease_renewals_total', { result: 'failed' })).toBe(1)
    const zombies = (command: string, code: string) =>
      of('baton_stale_writes_refused_total', { command, code })
    expect([zombies('renew', 'SESSION_MISMATCH'), zombies('submit', 'STALE_GENERATION')]).toEqual([1, 1])
    expect(of('baton_claim_duration_seconds_count')).toBe(3)
    expect(of('baton_task_completion_time_seconds_count', inside)).toBe(1)
    expect(of('baton_generations_per_task_bucket', { le: '1' })).toBe(1)
    expect(of('baton_generations_per_task_count')).toBe(2)
    expect(of('baton_tasks_created_total')).toBe(2)
    expect(of('baton_tasks_failed_total')).toBe(1)
  })

  test('claims of the queue, of batches and with results, each once, and repeats not again', async () => {
    const w = await openWorkspace(server)
    const tasks = [await w.make(), await w.make(), await w.make(), await w.make()]
    const { claims } = await w.next({ limit: 1 })
    const keyed = { 'idempotency-key': 'one' }
    const body = { agent: 'alpha', session: 's-alpha', taskIds: tasks.slice(1, 3).map(({ id }) => id) }
    for (let times = 0; times < 3; times++) await w.post('/claims/batch', body, keyed)
    const submit = { ...fence('s-alpha', 1), result: 1 }
    for (let times = 0; times < 3; times++)
      await w.on({ id: claims[0].taskId }, 'submit', submit, { 'idempotency-key': 'two' })
    const of = await metricsOf(w)
    expect(of('baton_claims_total', { result: 'granted' })).toBe(3)
    expect(of('baton_results_total', { result: 'accepted' })).toBe(1)
    expect(of('baton_task_completion_time_seconds_count')).toBe(1)
  })

  test('an expired lease, and a task that ran out of attempts', async () => {
    const w = await openWorkspace(server, { minLeaseSeconds: 1 })
    const task = await w.expired({ maxRetries: 0 })
    await w.reaches(task, 'failed')
    const of = await metricsOf(w)
    expect(of('baton_lease_expirations_total')).toBe(1)
    expect(of('baton_tasks_retry_exhausted_total')).toBe(1)
    expect(of('baton_tasks_failed_total')).toBe(1)
  })

  test('requests by the pattern of their route and never by their path', async () => {
    const w = await openWorkspace(server)
    const task = await w.make()
    await w.read(task)
    await w.call('GET', '/no/such/path')
    const scraped = await scrape(server)
    const requests = scraped.of('baton_http_request_duration_seconds_count')
    expect(requests.map(({ labels }) => labels.route).join(' ')).not.toContain(task.id)
    const reads = { method: 'GET', route: '/api/v1/tasks/:id', status: '2xx' }
    expect(scraped.sum('baton_http_request_duration_seconds_count', reads)).toBeGreaterThan(0)
    expect(scraped.sum('baton_http_request_duration_seconds_count', { route: 'unknown' })).toBeGreaterThan(0)
    expect(scraped.sum('baton_coordinator_cycle_duration_seconds_count')).toBeGreaterThan(0)
    expect(scraped.of('baton_database_connections').map(({ labels }) => labels.pool)).toContain('writers')
  })
})

describe('what is about all nodes', () => {
  test('only the leader has it, and it is as many tasks as there are', async () => {
    const alone = await startServer()
    const another = await startAnother(alone)
    try {
      const w = await openWorkspace(alone, { minLeaseSeconds: 1 })
      await w.post('/projects', { slug: 'shop', name: 'Shop' })
      const shop = [await w.make({ project: 'shop' }), await w.make({ project: 'shop' })]
      const rest = [await w.make(), await w.make(), await w.make()]
      await w.claim(shop[0]!)
      await w.claim(rest[0]!)
      await w.on(rest[0]!, 'submit', { ...fence('s-alpha', 1), result: 1 })
      const scrapes = await Promise.all([alone, another].map((node) => scrape({ ...alone, url: node.url })))
      const leads = scrapes.filter((one) => one.sum('baton_coordinator_leads') === 1)
      expect(leads).toHaveLength(1)
      const [leader] = leads
      const follower = scrapes.find((one) => one !== leader)!
      for (const [name, { of }] of METRIC_LIST)
        if (of === 'cluster') expect(follower.of(name), name).toEqual([])
      const is = (name: string, project: string) => leader!.sum(name, { workspace: w.id, project })
      expect([is('baton_active_claims', 'shop'), is('baton_active_claims', '')]).toEqual([1, 0])
      expect([is('baton_pending_tasks', 'shop'), is('baton_pending_tasks', '')]).toEqual([1, 2])
      expect([is('baton_completed_tasks', 'shop'), is('baton_completed_tasks', '')]).toEqual([0, 1])
      expect(leader!.sum('baton_tasks', { workspace: w.id, state: 'queued' })).toBe(3)
      expect(leader!.sum('baton_queue_age_seconds', { workspace: w.id })).toBeGreaterThan(0)
      expect(leader!.sum('baton_workspace_info', { workspace: w.id, name: 'a team' })).toBe(1)
      expect(leader!.sum('baton_nodes', { state: 'alive' })).toBe(2)
      expect(leader!.of('baton_follower_lag_events').map(({ labels }) => labels.follower)).toContain(
        'reports',
      )
    } finally {
      await another.close()
      await alone.close()
    }
  })

  test('workspaces and projects beyond the limit share one series', async () => {
    const small = await startServer({ BATON_METRICS_LABELS: '2' })
    try {
      const [second, third] = [await openWorkspace(small), await openWorkspace(small)]
      for (const w of [second, third]) {
        for (const slug of ['one', 'two', 'three']) {
          await w.post('/projects', { slug, name: slug })
          await w.make({ project: slug })
        }
      }
      const scraped = await scrape(small)
      const created = (workspace: string, project: string) =>
        scraped.sum('baton_tasks_created_total', { workspace, project })
      expect(created(second.id, 'one') + created(second.id, 'two')).toBe(2)
      expect([created(second.id, 'other'), created('other', 'other'), created(third.id, 'one')]).toEqual([
        1, 3, 0,
      ])
      const pending = (workspace: string, project: string) =>
        scraped.sum('baton_pending_tasks', { workspace, project })
      expect([pending(second.id, 'one'), pending(second.id, 'other'), pending('other', 'other')]).toEqual([
        1, 1, 3,
      ])
      const workspaces = scraped.of('baton_pending_tasks').map(({ labels }) => labels.workspace)
      expect(new Set(workspaces).size).toBe(3)
    } finally {
      await small.close()
    }
  })

  test('numbers of a project that differ from its tasks are corrected, and never silently', async () => {
    const w = await openWorkspace(server)
    await w.post('/projects', { slug: 'shop', name: 'Shop' })
    await w.make({ project: 'shop' })
    await superuser(server.databaseUrl, (client) =>
      client.query(
        `update baton.project_counters set pending = 7 where workspace_id = (
           select workspace_id from baton.workspaces where uuid = $1)`,
        [w.id],
      ),
    )
    const forced = await server.call('POST', '/coordinator/recover', { workspaceId: w.id })
    expect(forced.body.did.countersCorrected).toBe(1)
    const [raised] = await w.happens('alert_raised')
    expect(raised!.payload).toMatchObject({
      alert: 'counter_drift',
      error: 'The numbers of tasks of a project were wrong: pending 7 instead of 1.',
    })
  })
})

test('runs, and the tokens and dollars that the ledger books', async () => {
  const w = await openWorkspace(server)
  const steps = [{ usage: { inputTokens: 10, outputTokens: 5, cachedInputTokens: 3 } }, { result: 1 }]
  const agent = { adapterType: 'simulated', adapterConfig: { steps, costUsd: '0.04' } }
  expect((await w.call('PUT', '/agents/player', agent)).status).toBe(201)
  const task = await w.make({ agent: 'player' })
  await w.reaches(task, 'completed')
  await w.happens('run_finished')
  const of = await metricsOf(w)
  expect(of('baton_runs_started_total', { adapter: 'simulated' })).toBe(1)
  expect(of('baton_runs_ended_total', { adapter: 'simulated', status: 'succeeded' })).toBe(1)
  const tokens = ['input', 'cached_input', 'output'].map((kind) => of('baton_tokens_total', { kind }))
  expect(tokens).toEqual([10, 3, 5])
  expect(of('baton_cost_usd_total', { basis: 'simulated' })).toBeCloseTo(0.04)
})

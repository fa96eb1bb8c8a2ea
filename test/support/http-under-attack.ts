import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { expect } from 'vitest'
import {
  bodyFor,
  namedIn,
  pathTo,
  type Reply,
  type Route,
  routesOf,
  send,
  type Things,
  takesSigned,
} from './http-routes.ts'
import { expectRefusal, fence, openWorkspace, type Workspace } from './http-workspace.ts'
import { until } from './nodes.ts'
import { startServer } from './server.ts'

/** A server under attack: its routes, two workspaces, and a read of every row it stores. */
export async function serverUnderAttack() {
  const server = await startServer()
  const database = new pg.Client({ connectionString: server.databaseUrl })
  await database.connect()
  const routes = (await routesOf(server)).filter((route) => !takesSigned(route))
  const w = await openWorkspace(server)
  const own = await thingsIn(w, routes)
  const other = await openWorkspace(server)
  const foreign = await thingsIn(other, routes)
  /** What is for those who run the server. */
  const isOfServer = ({ tag, path }: Route) =>
    tag === 'workspaces' || /^\/(workspaces|nodes|metrics)\b/.test(path)
  const keyFor = (route: Route) => (isOfServer(route) ? server.ownerKey : w.ownerKey)

  return {
    server,
    routes,
    w,
    own,
    other,
    foreign,
    isOfServer,
    /** A request that is valid except for what is given. */
    post(route: Route, { query = '', things = own, ...given }: Overrides = {}): Promise<Reply> {
      const { body = bodyFor(route, own), headers } = given
      const path = pathTo(route, things) + query
      return send(server, route.method, path, { body, headers, key: keyFor(route) })
    },
    async nothingIsWrittenBy(act: () => Promise<unknown>): Promise<void> {
      const before = await everythingIn(database)
      await act()
      expect(await everythingIn(database)).toEqual(before)
    },
    async close() {
      await database.end()
      await server.close()
    },
  }
}

interface Overrides {
  body?: string | Buffer
  headers?: Record<string, string>
  query?: string
  things?: Things
}

/** Nobody sends heartbeats for these agents: by default they would go offline after three minutes, in the middle of a test. */
const NEVER_STALE = { staleThresholdSeconds: 604_800 }

/** Names are of this workspace alone, as ids are; and nothing of it ends while a test runs. */
export async function thingsIn(
  workspace: Workspace,
  routes: readonly Route[] = [],
  needsRun = true,
  needsAlert = needsRun,
): Promise<Things> {
  const own = randomUUID().slice(0, 8)
  const [project, worker, track] = [`shop-${own}`, `worker-${own}`, 'A']
  // First: a woken agent claims what waits.
  const run = needsRun ? await runIn(workspace, `runner-${own}`) : randomUUID()
  const task = await workspace.make()
  const waiting = await workspace.make()
  const claim = () => workspace.claim(task, 'alpha', { leaseSeconds: 3_600 })
  await claim()
  await workspace.on(task, 'release', fence('s-alpha', 1))
  const late = await workspace.on(task, 'submit', { ...fence('s-alpha', 1), result: 'too late' })
  expectRefusal(late, 409, 'NO_CLAIM', { workLost: true })
  await claim()
  const session = (await workspace.call('GET', '/sessions/s-alpha')).body
  await workspace.post('/workers', { worker, capacity: 1, heartbeatSeconds: 86_400 })
  const agent = (await workspace.call('PUT', `/agents/agent-${own}`, NEVER_STALE)).body.id
  await workspace.post(`/agents/${agent}/pause`)
  await workspace.post('/projects', { slug: project })
  await workspace.call('PUT', `/projects/${project}/tracks/${track}`, { maxAgents: 1 })
  const ref = (await workspace.read(task, '/results')).items[0].workProductRef
  const key = (await workspace.post('/keys', { name: 'ci' })).body.id
  const [{ id: home }] = (await workspace.call('GET', '/workspaces')).body.items
  const plan = { tasks: [{ tempId: 'a' }] }
  const mission = (await workspace.post('/missions', { goal: 'Make it work', plan })).body.id
  const report = (await workspace.post(`/missions/${mission}/report`, { markdown: 'So far.' })).body.id
  await workspace.call('PUT', `/prices/model-${own}`, { input: '1', output: '2' })
  const config = { autonomy: 'full_auto' }
  const running = (await workspace.post('/missions', { goal: 'Go on', plan, project, config })).body.id
  const routine = (await workspace.post('/routines', { name: 'Nightly', plan })).body.id
  const does = { kind: 'task', title: 'Look' }
  const hook = (await workspace.post('/hooks', { name: `hook-${own}`, scheme: 'github', does })).body.id
  const browserSession = (await workspace.post('/session', { key: workspace.ownerKey })).body.id
  const names = {
    ...{
      worker,
      agent,
      project,
      track,
      workspace: home,
      mission,
      report,
      routine,
      runningMission: running,
      hook,
    },
    item: `plan:${mission}:1`,
    browserSession,
    model: `model-${own}`,
    ...(await budgetsIn(workspace, own)),
    adapter: 'claude_local',
    threshold: 'pending_tasks',
    alert: needsAlert ? await alertIn(workspace, 'pending_tasks') : randomUUID(),
  }
  const known = { task: task.id, waiting: waiting.id, session: session.id, ref, key, run, ...names }
  return { ...known, ...(await othersIn(workspace, routes, known)) }
}

/** Ids of budgets follow from what they are for: these are of agents that no other workspace has. */
async function budgetsIn(workspace: Workspace, own: string): Promise<Pick<Things, 'budget' | 'otherBudget'>> {
  const budgetOf = async (agent: string) => {
    await workspace.call('PUT', `/agents/${agent}`, NEVER_STALE)
    const limits = { scope: 'agent', scopeId: agent, maxUsd: '100', maxTokens: 1_000_000 }
    const { status, body } = await workspace.post('/budgets', limits)
    expect(status).toBe(201)
    return body.id
  }
  return { budget: await budgetOf(`spender-${own}`), otherBudget: await budgetOf(`saver-${own}`) }
}

/** One of each thing that the routes name and nothing above makes, by the path of its list. */
async function othersIn(workspace: Workspace, routes: readonly Route[], known: Things) {
  const others: Record<`/${string}`, string> = {}
  for (const path of new Set(routes.flatMap(namedIn))) {
    if (path in known) continue
    const making = routes.find((route) => route.method === 'POST' && route.path === path)
    if (!making) throw new Error(`${path}: add to test/support/http-routes.ts what its ids stand for.`)
    others[path as `/${string}`] = (await workspace.post(path, JSON.parse(bodyFor(making, known)!))).body.id
  }
  return others
}

/** More tasks are queued than this threshold: upkeep raises its alert. */
async function alertIn(workspace: Workspace, cause: string): Promise<string> {
  await workspace.call('PUT', `/thresholds/${cause}`, { value: 0 })
  return until(async () => (await workspace.call('GET', `/alerts?cause=${cause}`)).body.items[0]?.id)
}

/** A run of an agent that had nothing to do. */
async function runIn(workspace: Workspace, agent: string): Promise<string> {
  const idle = { adapterType: 'simulated', adapterConfig: { steps: [] }, coordinatorEnabled: false }
  await workspace.call('PUT', `/agents/${agent}`, idle)
  await workspace.post(`/agents/${agent}/wakeup`)
  const over = await until(
    async () => (await workspace.call('GET', `/runs?agent=${agent}&status=succeeded`)).body.items[0],
  )
  return over.id
}

/** What the server writes all the time without requests: its heartbeat, its leader lease, its position in the log, its next looks. */
const CLUSTER_TABLES = ['nodes', 'leader_leases', 'log_cursors', 'alert_checks']

const WRITTEN_ANYWAY: Record<string, string> = {
  // A request is a use of its key, also one that is refused.
  api_keys: 'last_used_at',
  // Budgets are compared with the ledger from time to time.
  budgets: 'count_due_at',
}

const statements = new WeakMap<pg.Client, string>()

/** One statement for the rows of all tables; which those are does not change. */
async function statementFor(database: pg.Client): Promise<string> {
  const known = statements.get(database)
  if (known) return known
  const tables = await database.query(
    `select table_name as name from information_schema.tables
      where table_schema = 'baton' and table_name <> all($1) order by 1`,
    [CLUSTER_TABLES],
  )
  const rowOf = (name: string) =>
    name in WRITTEN_ANYWAY ? `(to_jsonb(t) - '${WRITTEN_ANYWAY[name]}')::text` : 't::text'
  const printOf = ({ name }: { name: string }) => {
    const row = rowOf(name)
    return `select '${name}' as name, count(*) || ' ' || coalesce(md5(string_agg(${row}, '|' order by ${row})), '') as print from baton.${name} t`
  }
  const statement = tables.rows.map(printOf).join(' union all ')
  statements.set(database, statement)
  return statement
}

/** A fingerprint of every row of every other table, as only a superuser sees them. */
export async function everythingIn(database: pg.Client): Promise<Record<string, string>> {
  // What is due is about to be changed by the coordinator.
  const due = "select from baton.tasks where due_at <= now() and state <> 'paused'"
  await until(async () => (await database.query(due)).rowCount === 0)
  const { rows } = await database.query(await statementFor(database))
  const prints = Object.fromEntries(rows.map(({ name, print }) => [name, print as string]))
  expect(Number.parseInt(prints.tasks!, 10)).toBeGreaterThan(0)
  return prints
}

/** The routes of each tag: what they have in common is compared with the tables once for all of them. */
export function byTag<R extends Route>(routes: readonly R[]): [tag: string, routes: R[]][] {
  const tags = new Map<string, R[]>()
  for (const route of routes) tags.set(route.tag, [...(tags.get(route.tag) ?? []), route])
  return [...tags]
}

export const label = ({ method, path }: Route) => `${method} ${path}`

/** Every refusal looks like this; one that names no field would leave a client guessing. */
export function problemIn(reply: Reply, what: string) {
  const said = `${what.slice(0, 300)}: ${reply.text.slice(0, 200)}`
  expect(reply.status, said).toBeGreaterThanOrEqual(400)
  expect(reply.status, said).toBeLessThan(500)
  expect(reply.type, said).toContain('application/problem+json')
  const problem = JSON.parse(reply.text)
  expect(problem, said).toMatchObject({
    type: expect.stringMatching(/^urn:baton:error:/),
    title: expect.any(String),
    status: reply.status,
    code: expect.stringMatching(/^[A-Z_]+$/),
    detail: expect.any(String),
  })
  if (problem.code === 'VALIDATION_FAILED')
    expect(problem.errors?.[0]?.field, said).toEqual(expect.any(String))
  return problem
}

/** Runs them all, a few at a time. */
export async function all<T>(items: readonly T[], act: (item: T) => Promise<void>): Promise<void> {
  const left = [...items]
  await Promise.all(
    Array.from({ length: 16 }, async () => {
      for (let item = left.shift(); item !== undefined; item = left.shift()) await act(item)
    }),
  )
}

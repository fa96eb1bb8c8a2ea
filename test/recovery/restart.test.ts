import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { contradictions } from '../crash/checks.ts'
import { type AgentProcess, type AgentSettings, launchAgents } from '../support/agent-process.ts'
import { fence, openWorkspace, type Workspace } from '../support/http-workspace.ts'
import {
  allGone,
  embeddedUrl,
  killProcess,
  type Launched,
  launch,
  ownerKeyIn,
  processesOn,
} from '../support/launched.ts'
import { openLoadBalancer } from '../support/load-balancer.ts'
import { eventually, expectDoneOnce, missSoon, recordsOf } from '../support/recovery.ts'
import { callsTo } from '../support/server.ts'
import { dataFolder } from '../support/servers/data-folder.ts'

/** The only node, as `npm start` runs it with a database of its own, is killed in the middle of everything. */

const MINUTES = { timeout: 120_000 }
const isLinux = process.platform === 'linux'

let folder: string
let balancer: Awaited<ReturnType<typeof openLoadBalancer>>
let node: Launched
const agents: AgentProcess[] = []

beforeEach(async () => {
  folder = await mkdtemp(join(dataFolder(), 'baton-restart-'))
  await chmod(folder, 0o755)
  balancer = await openLoadBalancer()
})
afterEach(async () => {
  for (const { child } of [node, ...agents]) child.kill('SIGKILL')
  await Promise.all([node, ...agents.splice(0)].map(({ ended }) => ended))
  for (const process_ of processesOn(folder)) killProcess(process_)
  await allGone(folder)
  await balancer.close()
  await rm(folder, { recursive: true, force: true })
})

async function startNode(): Promise<void> {
  node = launch({ BATON_DATA: folder })
  balancer.leadsTo(await node.ready)
}

async function killNode(): Promise<void> {
  node.child.kill('SIGKILL')
  balancer.leadsTo(null)
  expect(await node.ended).toEqual({ code: null, signal: 'SIGKILL' })
}

/** A client of its own each time: the database may have another port after a restart. */
async function rows<T>(sql: string, values: unknown[] = []): Promise<T[]> {
  const client = new pg.Client({ connectionString: embeddedUrl(folder), options: '-c search_path=baton' })
  await client.connect()
  try {
    return (await client.query(sql, values)).rows as T[]
  } finally {
    await client.end()
  }
}
const now = async () => (await rows<{ now: number }>('select ms(clock_timestamp())::float8 as now'))[0]!.now

/** The second workspace of the database, through the proxy, and what is stored of it. */
async function openWorkspaceAgain(limits: Record<string, unknown>) {
  const call = callsTo(`${balancer.url}/api/v1`, ownerKeyIn(folder))
  const w = await openWorkspace({ call }, { minLeaseSeconds: 1, ...limits })
  const [found] = await rows<{ id: number }>('select max(workspace_id) as id from workspaces')
  const start = (slugs: string[], more: Partial<AgentSettings>) => {
    const started = launchAgents({ url: balancer.url, key: w.ownerKey, slugs, ...more })
    agents.push(started)
    return started
  }
  return { ...w, ...recordsOf(found!.id, rows), start }
}

const isHeard = (slug: string, since: number) =>
  eventually(async () => {
    const sql = 'select from agent_health where slug = $1 and ms(last_seen_at) > $2::float8'
    return (await rows(sql, [slug, since])).length > 0
  })

/** When the node that serves since `ready` became leader, if it was not before. */
const coordinatedSince = (ready: number) =>
  eventually(async () => {
    const sql = `select greatest(ms(taken_at), $1)::float8 as since from leader_leases
        where ended_at is null and expires_at > clock_timestamp()`
    const [term] = await rows<{ since: number }>(sql, [ready])
    return term?.since
  })

/** Two seconds after this moment nothing overdue is left unchanged. */
async function expectNothingOverdue(since: number): Promise<void> {
  await eventually(async () => (await now()) >= since + 2_000)
  const overdue = await rows(
    `select uuid, state, due_at, lease_expires_at from tasks
      where state in ('pending', 'queued', 'awaiting_retry', 'assigned', 'running', 'continuing')
        and (due_at < to_timestamp($1::float8 / 1000) or (claim_state = 'active' and lease_expires_at < to_timestamp($1::float8 / 1000)))`,
    [since],
  )
  expect(overdue).toEqual([])
}

/** One task in each situation a restart can meet; all are for `me`, so that no agent claims them first. */
async function prepare(w: Workspace) {
  const make = (title: string, more: object = {}) => w.make({ title, agent: 'me', ...more })
  const mine = (task: { id: string }, leaseSeconds: number) => w.claim(task, 'me', { leaseSeconds })
  const held = await make('held with a long lease')
  expect((await mine(held, 300)).status).toBe(200)
  const retried = await make('due during the outage')
  await mine(retried, 300)
  const failure = { ...fence('s-me', 1), retryAt: new Date(Date.now() + 1_000).toISOString() }
  expect((await w.on(retried, 'fail', failure)).status).toBe(200)
  const upstream = await make('done in the last moment')
  await mine(upstream, 300)
  const downstream = await make('waits for that', { dependsOn: [upstream.id] })
  const lapsing = await make('held with a short lease')
  expect((await mine(lapsing, 1)).status).toBe(200)
  return { held, retried, upstream, downstream, lapsing }
}

test.runIf(isLinux)(
  'after kill -9 of the only node all work is claimable or held, and is done once',
  MINUTES,
  async () => {
    await startNode()
    const w = await openWorkspaceAgain({})
    const neverLost = { staleSeconds: 600 }
    // One finishes its work during the outage, one dies in it, one was assigned something and has not started.
    const steady = w.start(['steady'], { ...neverLost, capacity: 2, holdsAt: 1 })
    await steady.reports('online')
    const [done, alsoDone] = [await w.make({ agent: 'steady' }), await w.make({ agent: 'steady' })]
    await steady.reports('progress', { taskId: done.id })
    await steady.reports('progress', { taskId: alsoDone.id })
    const dying = w.start(['dying'], { holdsAt: 1 })
    const orphan = await w.make({ agent: 'dying', title: 'its agent dies' })
    await dying.reports('progress', { taskId: orphan.id })
    const slow = w.start(['slow'], { ...neverLost, starts: false })
    const given = await w.make({ agent: 'slow', title: 'given and not begun' })
    await slow.reports('has', { taskId: given.id })
    const { held, retried, upstream, downstream, lapsing } = await prepare(w)
    const leaseOf = (await w.read(held)).holder.leaseExpiresAt
    expect((await w.on(upstream, 'submit', { ...fence('s-me', 1), result: 1 })).status).toBe(200)
    await killNode()

    dying.child.kill('SIGKILL')
    steady.go()
    const lapsed = Date.parse(
      (
        await rows<{ at: string }>('select lease_expires_at as at from tasks where uuid = $1', [lapsing.id])
      )[0]!.at,
    )
    await eventually(async () => (await now()) > lapsed)
    await startNode()
    await expectNothingOverdue(await coordinatedSince(await now()))
    await missSoon(w, 'dying')

    // Still held as before, and by no one else.
    expect((await w.read(held)).holder).toMatchObject({
      generation: 1,
      session: 's-me',
      leaseExpiresAt: leaseOf,
    })
    expect(await w.claim(held, 'thief')).toMatchObject({ status: 409, body: { code: 'DENIED_ACTIVE_CLAIM' } })
    expect((await w.on(held, 'submit', { ...fence('s-me', 1), result: 1 })).status).toBe(200)
    // What was finished during the outage is submitted now.
    await steady.reports('done', { taskId: done.id, generation: 1 })
    await steady.reports('done', { taskId: alsoDone.id, generation: 1 })
    // Assigned before, still assigned.
    expect(await w.read(given)).toMatchObject({ state: 'assigned', generation: 1 })
    expect((await w.on(given, 'submit', { ...fence('agent:slow', 1), result: 1 })).status).toBe(200)
    // Free for any agent.
    for (const task of [lapsing, retried, downstream]) {
      const { body } = await w.claim(task, 'me', { session: 's-heir' })
      expect(body).toMatchObject({ reason: 'GRANTED' })
      const { generation } = body.claim
      expect((await w.on(task, 'submit', { ...fence('s-heir', generation), result: 1 })).status).toBe(200)
    }
    const [lost] = await w.isRecorded('task_agent_lost')
    expect(lost).toMatchObject({ task: orphan.id, payload: { agent: 'dying', attempt: 1 } })
    await w.retriesAreDue()
    const heir = w.start(['dying'], neverLost)
    expect(await heir.reports('has')).toMatchObject({
      generation: 2,
      attempt: 2,
      checkpointData: { step: 1 },
    })
    await heir.reports('done')

    const all = [done, alsoDone, orphan, given, held, retried, upstream, downstream, lapsing]
    await expectDoneOnce(w, all)
    expect(await contradictions(embeddedUrl(folder), null)).toEqual([])
  },
)

test.runIf(isLinux)(
  'agents that were alive all the time keep their work, even if the only node was down for longer than they may be silent',
  MINUTES,
  async () => {
    await startNode()
    const w = await openWorkspaceAgain({})
    const there = w.start(['there'], { heartbeatMs: 2_000, staleSeconds: 3, capacity: 3, holdsAt: 1 })
    const tasks = [await w.make(), await w.make(), await w.make()]
    for (const { id } of tasks) await there.reports('progress', { taskId: id })
    const heard = await now()
    await killNode()
    await eventually(async () => (await now()) > heard + 3_500)
    await startNode()
    // The agent was not silent: its next heartbeat would have been received.
    await isHeard('there', await now())
    expect(await w.recorded('agent_stale', 'task_agent_lost')).toEqual([])
    there.go()
    await w.isRecorded('task_completed', 3)
    await expectDoneOnce(w, tasks)
    expect((await w.claims()).every(({ generation }) => generation === 1)).toBe(true)
  },
)

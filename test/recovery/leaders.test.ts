import { afterAll, beforeAll, expect, test } from 'vitest'
import { type CuttableConnection, cuttableConnectionTo } from '../support/proxy.ts'
import {
  eventually,
  expectDoneOnce,
  type RecoveringWorkspace,
  type Served,
  useProcesses,
} from '../support/recovery.ts'
import { callsTo } from '../support/server.ts'

/** Mosaic's pattern 5: two servers on one database, of which one coordinates at a time. */

const LEASE_MS = 1_000
/** No agent is to be lost here: every task is done by the agent it was assigned to. */
const NEVER_LOST = { staleSeconds: 600, capacity: 4, stepMs: 10 }
const MINUTES = { timeout: 300_000 }

const processes = useProcesses()
const connections: CuttableConnection[] = []
let nodes: Served[]
let w: RecoveringWorkspace
const made: { id: string }[] = []

beforeAll(async () => {
  for (const name of ['one', 'two']) {
    const connection = await cuttableConnectionTo(processes.databaseUrl())
    connections.push(connection)
    nodes = [...(nodes ?? []), await processes.serve({ BATON_NODE_NAME: name, DATABASE_URL: connection.url })]
  }
  w = await processes.workspace(nodes[0]!.url)
  const agents = nodes.flatMap(({ url }, i) =>
    [0, 1].map((j) =>
      processes.agents({
        url,
        key: w.ownerKey,
        slugs: [0, 1, 2].map((k) => `agent-${i}-${j}-${k}`),
        ...NEVER_LOST,
      }),
    ),
  )
  await Promise.all(agents.map((agent) => agent.reports('online')))
})
afterAll(async () => {
  for (const { child } of nodes) child.kill('SIGKILL')
  for (const connection of connections) connection.cut()
  await Promise.all(connections.map((connection) => connection.close()))
})

interface LeaderTerm {
  term: number
  pid: number
  takenAt: number
  renewedAt: number
  endReason: string | null
}

/** The leader terms, newest first, with the process that had each. */
const terms = () =>
  processes.rows<LeaderTerm>(
    `select l.term, n.pid, ms(l.taken_at)::float8 as "takenAt", ms(l.renewed_at)::float8 as "renewedAt",
            l.end_reason as "endReason"
       from leader_leases l join nodes n using (workspace_id, node_id) order by l.term desc`,
  )

/** The leader and the other node. */
async function standing() {
  const { pid } = await eventually(async () => (await terms())[0])
  const i = nodes.findIndex(({ child }) => child.pid === pid)
  return { leader: nodes[i]!, other: nodes[1 - i]!, leaderConnection: connections[i]! }
}

/**
 * Waits until this node leads, and returns its term and the one before it. Nodes are compared, not terms counted: on a busy
 * machine a lease of a second also expires where nobody is stopped.
 */
const followedBy = (node: Served) =>
  eventually(async () => {
    const [next, before] = await terms()
    return next && before && next.pid === node.child.pid && { next, before }
  })

/** How the newest term of a node ended. */
const lastEndOf = async ({ child }: Served) => (await terms()).find(({ pid }) => pid === child.pid)?.endReason

/** Through a server that serves; locks that a stopped one still holds may make it answer 503 at first. */
async function makeThrough({ url }: Served, count: number): Promise<void> {
  const call = callsTo(`${url}/api/v1`, w.ownerKey)
  const tasks = Array.from({ length: count }, (_, i) => ({ title: `Task ${made.length + i}` }))
  const headers = { 'idempotency-key': `batch ${made.length}`.replace(' ', '-') }
  const { body } = await eventually(async () => {
    const answer = await call('POST', '/tasks/batch', { tasks }, { headers })
    return answer.status === 201 && answer
  })
  made.push(...body.items)
}

const statusOf = async ({ url }: Served) =>
  (await callsTo(`${url}/api/v1`, w.ownerKey)('GET', '/coordinator/status')).body

/** Every task was assigned once, to one agent, and done. */
async function expectAllAssignedOnce(): Promise<void> {
  await w.isRecorded('task_completed', made.length)
  await expectDoneOnce(w, made)
  const claims = await w.claims()
  expect(claims.filter(({ generation }) => generation !== 1)).toEqual([])
  expect(await w.recorded('agent_stale', 'task_agent_lost', 'task_requeued', 'task_lease_expired')).toEqual(
    [],
  )
}

test(
  'a leader that is stopped is followed when its lease has expired, and assigns nothing when it continues',
  MINUTES,
  async () => {
    for (let round = 0; round < 2; round++) {
      const { leader, other } = await standing()
      // Stopped while it assigns work.
      await makeThrough(other, 60)
      await w.isRecorded('task_assigned', made.length - 45)
      leader.child.kill('SIGSTOP')
      const { next, before } = await followedBy(other)
      expect(before.endReason).toBe('EXPIRED')
      expect(next.takenAt - before.renewedAt).toBeGreaterThanOrEqual(LEASE_MS)
      // The other one continues alone: for those who can reach it.
      await makeThrough(other, 20)
      await w.isRecorded('task_completed', made.length - 50)
      leader.child.kill('SIGCONT')
      const { leads } = (await statusOf(leader)).thisNode
      const ledLater = (await terms()).some(({ pid, term }) => pid === leader.child.pid && term > next.term)
      expect(leads && !ledLater, 'by the term that it lost').toBe(false)
      await w.isRecorded('task_completed', made.length)
    }
    await expectAllAssignedOnce()
  },
)

test(
  'a leader that is stopped with its transaction open is followed as soon as that is terminated',
  MINUTES,
  async () => {
    const { leader, other, leaderConnection } = await standing()
    leaderConnection.loseAnswersTo('keep_terms')
    await makeThrough(other, 20)
    await eventually(async () => {
      const sql = `select from pg_stat_activity where datname = current_database() and application_name = 'baton'
        and state = 'idle in transaction' and query ~ 'clock_timestamp' and xact_start < now() - interval '20 ms'`
      return (await processes.rows(sql)).length > 0
    })
    leader.child.kill('SIGSTOP')
    const { next, before } = await followedBy(other)
    // A transaction may usually be idle for fifteen seconds; one under a term only as long as its lease.
    expect(next.takenAt - before.renewedAt).toBeLessThan(10_000)
    await w.isRecorded('task_assigned', made.length)
    leaderConnection.restore()
    leader.child.kill('SIGCONT')
    await expectAllAssignedOnce()
    // Both serve.
    await makeThrough(leader, 5)
    await makeThrough(other, 5)
    await expectAllAssignedOnce()
  },
)

test(
  'a leader that ends cleanly hands over; one that is killed is followed by the other',
  MINUTES,
  async () => {
    // Asked to end when its lease has just expired, a leader has nothing to hand over: then the next one is asked.
    for (;;) {
      const { leader, other } = await standing()
      leader.child.kill('SIGTERM')
      expect(await leader.ended).toEqual({ code: 0, signal: null })
      await followedBy(other)
      const i = nodes.indexOf(leader)
      nodes[i] = await processes.serve({ BATON_NODE_NAME: `after-${i}`, DATABASE_URL: connections[i]!.url })
      if ((await lastEndOf(leader)) === 'RESIGNED') break
    }

    const { leader, other } = await standing()
    leader.child.kill('SIGKILL')
    const { before } = await followedBy(other)
    expect(before.endReason).toBe('EXPIRED')
    await eventually(async () => (await statusOf(other)).thisNode.leads)
  },
)

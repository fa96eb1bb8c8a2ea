import type pg from 'pg'
import type { NodeWithRuns } from '../../kernel/store/run-store.ts'
import { COORDINATOR } from '../../pure/leader-lease.ts'
import { isLive } from '../statements/run-states.ts'
import { scopedQueries, scopedQuery } from '../statements/scoped-query.ts'

/** The nodes on this database, as they report themselves. All times are the database's. */

export const HEARTBEAT_EVERY_MS = 2_000
/** Three missed heartbeats: it has died, or cannot reach the database. */
const SILENT_AFTER_MS = 3 * HEARTBEAT_EVERY_MS

export interface NodeIdentity {
  nodeId: string
  name: string
  pid: number
  version: string
  /** Its machine, the boot of that machine, and the start time of the process: they show whether the process is dead. */
  host?: string | undefined
  bootId?: string | null | undefined
  pidStarted?: string | null | undefined
  /** How many runs it executes at once; 0: none. */
  mostRuns?: number | undefined
}

/** How busy a node was since its last heartbeat. */
export interface NodeLoad {
  /** The share of a core that its process used. */
  cpu: number
  /** How late its event loop was. */
  lagMs: number
}

export interface ListedNode extends Pick<NodeIdentity, 'nodeId' | 'name' | 'pid' | 'version'> {
  host: string
  /** How long it has not been heard. */
  silentMs: number
  startedAt: number
  lastSeenAt: number
  stoppedAt: number | null
  state: 'alive' | 'silent' | 'stopped'
  /** The term it leads; null: it does not lead. */
  leadsTerm: number | null
  /** These are null of a node that does not say so: it is of an earlier version, or has just started. */
  mostRuns: number | null
  cpu: number | null
  lagMs: number | null
}

const inClusterScope = <T extends pg.QueryResultRow>(pool: pg.Pool, text: string, values: unknown[] = []) =>
  scopedQuery<T>(pool, 'baton.scope', 'cluster', { text, values })

/** Idempotent: a node that was deleted while it was unreachable registers again under its own id. */
export async function registerNode(pool: pg.Pool, node: NodeIdentity): Promise<void> {
  const { nodeId, name, pid, version, host = '', bootId = null, pidStarted = null, mostRuns = null } = node
  await inClusterScope(
    pool,
    `insert into nodes (node_id, name, pid, version, host, boot_id, pid_started, most_runs, started_at, last_seen_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, clock_timestamp(), clock_timestamp())
     on conflict (workspace_id, node_id) do update set last_seen_at = clock_timestamp(), stopped_at = null`,
    [nodeId, name, pid, version, host, bootId, pidStarted, mostRuns],
  )
}

/** Whether the node is registered. */
export async function heartbeatNode(
  pool: pg.Pool,
  nodeId: string,
  load: NodeLoad | null = null,
): Promise<boolean> {
  const text = `update nodes set last_seen_at = clock_timestamp(), cpu = $2, lag_ms = $3 where workspace_id = 0 and node_id = $1 returning node_id`
  // Named, since it is repeated for as long as the node lives: parsed and planned once.
  const statement = {
    name: 'heartbeat_of_node',
    text,
    values: [nodeId, load?.cpu ?? null, load?.lagMs ?? null],
  }
  return (await scopedQuery(pool, 'baton.scope', 'cluster', statement)).length > 0
}

export async function nodeStopped(pool: pg.Pool, nodeId: string): Promise<void> {
  await inClusterScope(
    pool,
    `update nodes set stopped_at = clock_timestamp(), last_seen_at = clock_timestamp() where workspace_id = 0 and node_id = $1`,
    [nodeId],
  )
}

/** Live nodes first, then by when they were last seen. */
export const listNodes = (pool: pg.Pool, limit = 1_000) =>
  inClusterScope<ListedNode & pg.QueryResultRow>(
    pool,
    `select n.node_id as "nodeId", n.name, n.pid, n.version, n.host, ms(n.started_at) as "startedAt",
            ms(clock_timestamp()) - ms(n.last_seen_at) as "silentMs",
            ms(n.last_seen_at) as "lastSeenAt", ms(n.stopped_at) as "stoppedAt",
            case when n.stopped_at is not null then 'stopped'
                 when n.last_seen_at < clock_timestamp() - make_interval(secs => $2::double precision / 1000) then 'silent'
                 else 'alive' end as state,
            l.term as "leadsTerm", n.most_runs as "mostRuns", n.cpu, n.lag_ms as "lagMs"
       from nodes n left join leader_leases l on l.workspace_id = n.workspace_id and l.node_id = n.node_id
        and l.role = $1 and l.ended_at is null and l.expires_at > clock_timestamp()
      where n.workspace_id = 0
      order by n.stopped_at desc nulls first, n.last_seen_at desc, n.node_id limit $3`,
    [COORDINATOR, SILENT_AFTER_MS, limit],
  )

/** How many runs each node has now, of all workspaces, by its id. */
export async function runsByNode(readers: pg.Pool): Promise<Map<string, number>> {
  const text = `select r.node_id as "nodeId", count(*)::int as runs from runs r where ${isLive('r.status')} group by r.node_id`
  const rows = await scopedQuery<{ nodeId: string; runs: number }>(readers, 'baton.scope', 'upkeep', { text })
  return new Map(rows.map(({ nodeId, runs }) => [nodeId, runs]))
}

/** After this silence, a node on another machine is considered dead. */
const GIVEN_UP_AFTER_MS = 30_000

/** Nodes that have active runs on record; of deleted nodes, only the id is known. */
export async function nodesWithRuns(control: pg.Pool, readers: pg.Pool): Promise<NodeWithRuns[]> {
  const text = `select distinct r.node_id as "nodeId" from runs r where ${isLive('r.status')}`
  const busy = await scopedQuery<{ nodeId: string }>(readers, 'baton.scope', 'upkeep', { text })
  if (busy.length === 0) return []
  const known = await inClusterScope<NodeWithRuns & pg.QueryResultRow>(
    control,
    `select n.node_id as "nodeId", n.pid, n.host, n.boot_id as "bootId", n.pid_started as "pidStarted",
            n.stopped_at is not null or n.last_seen_at < clock_timestamp() - $2 * interval '1 millisecond' as "isSilentForLong",
            n.stopped_at is not null as "isStopped"
       from nodes n where n.workspace_id = 0 and n.node_id = any($1::uuid[])`,
    [busy.map(({ nodeId }) => nodeId), GIVEN_UP_AFTER_MS],
  )
  const forgotten = busy.filter(({ nodeId }) => !known.some((node) => node.nodeId === nodeId))
  return [
    ...known,
    ...forgotten.map(({ nodeId }) => ({
      ...{
        nodeId,
        pid: 0,
        host: '',
        bootId: null,
        pidStarted: null,
        isSilentForLong: true,
        isStopped: false,
      },
    })),
  ]
}

/**
 * Terms are kept for thirty days, and the last hundred in any case. Nodes that were not seen for a day are deleted, unless a
 * kept term was theirs.
 */
export async function deleteOldNodes(pool: pg.Pool): Promise<void> {
  await scopedQueries(pool, 'baton.scope', 'cluster', [
    {
      text: `delete from leader_leases l where l.workspace_id = 0 and l.ended_at < clock_timestamp() - interval '30 days'
                and l.term <= (select max(n.term) from leader_leases n where n.workspace_id = 0 and n.role = l.role) - 100`,
    },
    {
      text: `delete from nodes n where n.workspace_id = 0 and n.last_seen_at < clock_timestamp() - interval '1 day'
                and not exists (select from leader_leases l where l.workspace_id = 0 and l.node_id = n.node_id)`,
    },
  ])
}

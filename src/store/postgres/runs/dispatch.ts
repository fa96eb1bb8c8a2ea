import type pg from 'pg'
import type { AgentRecord } from '../../../core/records.ts'
import { RENEW_FROM } from '../../../core/retry.ts'
import { type DispatchDecision, decideDispatch, type TaskHold } from '../../../core/runs/dispatch.ts'
import { PRIORITY_OF, type SkipReason } from '../../../core/runs/wakeups.ts'
import type { Connections } from '../kernel/connections.ts'
import { scopedQuery } from '../kernel/scoped-query.ts'
import type { WorkspaceTransaction } from '../kernel/workspace-transaction.ts'
import { agentsIn } from '../workspaces/agents.ts'
import { clockOf, lockRuntime, WAKEUP_COLUMNS, type Wakeup } from './wakeups.ts'

/** From a queued wakeup to a run. */

export interface DueWakeup {
  workspaceId: number
  id: string
  agent: string
}

const IN_ORDER = 'w.priority desc, w.requested_at, w.wakeup_id'

// What a node could run now: due wakeups, per agent as many as it has free slots, for agents that may run on this node; and
// wakeups of agents that may not run, so that they are skipped without further waiting. Workspaces share fairly, or one that
// floods would starve the others: the one with the fewest runs comes next, and among those the one whose last run began
// longest ago. $1 this node's name, $2 limit.
const DUE_WAKEUPS = `with due as materialized (
    select w.*, row_number() over (partition by w.workspace_id order by ${IN_ORDER}) as place_in_workspace from (
      select w.workspace_id, w.wakeup_id, w.agent, w.priority, w.requested_at,
             row_number() over (partition by w.workspace_id, w.agent order by ${IN_ORDER}) as place,
             case when a.state not in ('paused', 'terminated') then a.max_concurrent_tasks - (select count(*) from runs r
               where r.workspace_id = a.workspace_id and r.agent = a.slug and r.status in ('queued', 'running')) end as room
        from wakeups w
        cross join lateral (select * from agents a where a.workspace_id = w.workspace_id and a.slug = w.agent offset 0) a
       where w.status = 'queued' and w.due_at <= clock_timestamp()
         and coalesce(a.runtime_config ->> 'node', $1) = $1
         and (a.state in ('paused', 'terminated') or not exists (select from agent_runtime_state s
           where s.workspace_id = w.workspace_id and s.agent = w.agent and s.parked_until > clock_timestamp()))) w
     where w.room is null or w.place <= w.room),
  busy as materialized (
    select d.workspace_id,
           (select count(*) from runs r where r.workspace_id = d.workspace_id and r.status in ('queued', 'running')) as active,
           (select r.created_at from runs r where r.workspace_id = d.workspace_id order by r.run_id desc limit 1) as last_began
      from (select distinct workspace_id from due) d)
  select w.workspace_id as "workspaceId", w.wakeup_id as id, w.agent from due w join busy b using (workspace_id)
   where w.place_in_workspace <= $2
   order by b.active + w.place_in_workspace, b.last_began nulls first, ${IN_ORDER} limit $2`

export const dueWakeups = (pool: pg.Pool, nodeName: string, limit: number) =>
  scopedQuery<DueWakeup & pg.QueryResultRow>(pool, 'baton.scope', 'upkeep', {
    name: 'due_wakeups',
    text: DUE_WAKEUPS,
    values: [nodeName, limit],
  })

export interface WaitingClaim {
  workspaceId: number
  agent: string
  taskId: string
  session: string
  generation: number
}

// Claims to continue whose wakeup is still queued and whose lease is due for renewal. Only for agents that may run on this
// node: where no node can run them, the lease expires. $1 this node's name, $2 the fraction of a lease that is left when it
// is renewed.
const WAITING_CLAIMS = `select w.workspace_id as "workspaceId", w.agent, t.uuid as "taskId", t.session, t.generation
    from wakeups w
    cross join lateral (select * from agents a where a.workspace_id = w.workspace_id and a.slug = w.agent offset 0) a
    cross join lateral (select * from tasks t where t.workspace_id = w.workspace_id and t.id = w.task_id offset 0) t
   where w.status = 'queued' and w.generation is not null and t.state = 'continuing' and t.generation = w.generation
     and t.agent = w.agent and coalesce(a.runtime_config ->> 'node', $1) = $1
     and t.lease_expires_at <= clock_timestamp() + t.lease_ms * $2::float8 * interval '1 millisecond'
   limit 1000`

export const waitingClaims = (pool: pg.Pool, nodeName: string) =>
  scopedQuery<WaitingClaim & pg.QueryResultRow>(pool, 'baton.scope', 'upkeep', {
    name: 'waiting_claims',
    text: WAITING_CLAIMS,
    values: [nodeName, 1 - RENEW_FROM],
  })

// The first due wakeup of an agent, locked, and the state of its task. $1 workspace, $2 agent.
const TO_BE_TAKEN = `select ${WAKEUP_COLUMNS}, w.priority,
      case when w.task_id = 0 then 'none'
           when c.state = 'active' and c.agent = w.agent and c.session = 'agent:' || w.agent and t.state in ('assigned', 'continuing')
             then 'held'
           when w.generation is null and (t.state = 'queued' or t.state = 'awaiting_retry' and t.due_at <= clock_timestamp())
             then 'free'
           else 'gone' end as standing, t.generation as "taskGeneration"
    from wakeups w
    left join lateral (select * from tasks t where t.workspace_id = w.workspace_id and t.id = w.task_id offset 0) t on true
    left join lateral (select * from claims c
      where c.workspace_id = t.workspace_id and c.task_id = t.id and c.generation = t.generation offset 0) c on true
   where w.workspace_id = $1 and w.agent = $2 and w.status = 'queued' and w.due_at <= clock_timestamp()
   order by ${IN_ORDER} limit 1 for update of w`

type ToBeTaken = Wakeup & { priority: number; standing: TaskHold; taskGeneration: number | null }

export interface Taken {
  decision: DispatchDecision
  /** With the claim that its agent holds by now, if any. */
  wakeup: Wakeup
  agent: AgentRecord
}

/**
 * Turns the first due wakeup of an agent into a run, before anything is started. The wakeup is selected under the lock,
 * since an earlier read may have seen another. Null: none is left.
 */
export function takeWakeup(
  store: Connections,
  due: Pick<DueWakeup, 'workspaceId' | 'agent'>,
  run: { runId: string; nodeId: string; tokenHash: Buffer },
): Promise<Taken | null> {
  const { workspaceId } = due
  return store.change(workspaceId, async (tx) => {
    // Sent together and run in order: the reads and the clock come after the lock.
    const [runtime, taken, agents, counted, now] = await Promise.all([
      lockRuntime(tx, workspaceId, [due.agent]),
      tx.query(TO_BE_TAKEN, [workspaceId, due.agent]),
      agentsIn(tx, workspaceId, [due.agent]),
      tx.query(
        `select count(*)::int as active from runs where workspace_id = $1 and agent = $2 and status in ('queued', 'running')`,
        [workspaceId, due.agent],
      ),
      clockOf(tx),
    ])
    const found = taken.rows[0] as ToBeTaken | undefined
    const agent = agents.get(due.agent)
    if (!found || !agent) return null
    const { priority, standing, taskGeneration, ...asked } = found
    const wakeup = { ...asked, generation: standing === 'held' ? taskGeneration : null }
    const decision = decideDispatch({
      ...{ now, agent, active: counted.rows[0]!.active as number, standing },
      lastStartedAt: runtime.get(due.agent)?.lastStartedAt ?? null,
      isAskedFor: priority === PRIORITY_OF.on_demand,
    })
    if (decision.kind === 'skip') await skip(tx, workspaceId, wakeup, decision.because)
    if (decision.kind === 'later') await putOff(tx, workspaceId, wakeup.id, decision.at)
    if (decision.kind === 'run') await insertRun(tx, workspaceId, wakeup, agent, run)
    return { decision, wakeup, agent }
  })
}

async function skip(
  tx: WorkspaceTransaction,
  workspaceId: number,
  { id, agent, source, reason, taskId }: Wakeup,
  because: SkipReason,
): Promise<void> {
  await endWakeup(tx, workspaceId, id, 'skipped', { because })
  tx.emit('wakeup_skipped', 'system', { agent, wakeupId: id, source, reason, taskId, because })
}

async function putOff(tx: WorkspaceTransaction, workspaceId: number, id: string, at: number): Promise<void> {
  await tx.query(
    `update wakeups set due_at = to_timestamp($3::float8 / 1000) where workspace_id = $1 and wakeup_id = $2`,
    [workspaceId, id, at],
  )
}

async function insertRun(
  tx: WorkspaceTransaction,
  workspaceId: number,
  wakeup: Wakeup,
  agent: AgentRecord,
  { runId, nodeId, tokenHash }: { runId: string; nodeId: string; tokenHash: Buffer },
): Promise<void> {
  const made = tx.query(
    `insert into runs (workspace_id, run_id, agent, agent_id, adapter_type, wakeup_id, source, trigger_detail, reason, status,
       node_id, token_hash, depth, created_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, 'queued', $10, $11, $12, clock_timestamp())`,
    [
      ...[workspaceId, runId, agent.slug, agent.uuid, agent.adapterType, wakeup.id, wakeup.source],
      ...[wakeup.triggerDetail, wakeup.reason, nodeId, tokenHash, wakeup.depth],
    ],
  )
  const claimed = tx.query(
    `update wakeups set status = 'claimed', claimed_at = clock_timestamp(), run_id = $3 where workspace_id = $1 and wakeup_id = $2`,
    [workspaceId, wakeup.id, runId],
  )
  const noted = tx.query(
    `update agent_runtime_state set last_started_at = clock_timestamp(), adapter_type = $3 where workspace_id = $1 and agent = $2`,
    [workspaceId, agent.slug, agent.adapterType],
  )
  await Promise.all([made, claimed, noted])
  const { source, reason, taskId } = wakeup
  tx.emit('run_queued', `agent:${agent.slug}`, { runId, agent: agent.slug, taskId, source, reason })
}

export async function endWakeup(
  tx: WorkspaceTransaction,
  workspaceId: number,
  wakeupId: string | null,
  status: 'skipped' | 'completed' | 'failed' | 'cancelled',
  { because, error }: { because?: SkipReason; error?: string | null } = {},
): Promise<void> {
  await tx.query(
    `update wakeups set status = $3, skip_reason = $4, error = $5, finished_at = clock_timestamp()
      where workspace_id = $1 and wakeup_id = $2 and status in ('queued', 'claimed')`,
    [workspaceId, wakeupId, status, because ?? null, error ?? null],
  )
}

import type pg from 'pg'
import { scopedQuery } from '../../../postgres/statements/scoped-query.ts'

/** Counts of a workspace, from indexes only: finished tasks, however many, are not read. */
interface Tally {
  pendingTasks: number
  waitingTasks: number
  blockedTasks: number
  runningTasks: number
  healthyAgents: number
  staleAgents: number
}

export async function tallyOf(pool: pg.Pool, workspaceId: number): Promise<Tally> {
  const [row] = await scopedQuery<Tally & pg.QueryResultRow>(
    pool,
    'baton.workspace_id',
    String(workspaceId),
    {
      text: `with counted as (
        select (select count(*) from tasks where workspace_id = $1 and rank is not null and only_agent is null)
             + (select count(*) from tasks where workspace_id = $1 and rank is not null and only_agent is not null and lane < '~')
             + (select count(*) from tasks where workspace_id = $1 and rank is not null and only_agent is not null and lane >= '~') as waiting,
               (select count(*) from tasks where workspace_id = $1 and blocked and state = 'pending') as blocked,
               (select count(*) from tasks where workspace_id = $1 and due_at is not null and not blocked
                   and state in ('pending', 'awaiting_retry')) as later,
               (select active_claims from workspace_counters where workspace_id = $1) as running,
               (select count(*) from agents a join agent_health h on h.workspace_id = a.workspace_id and h.slug = a.slug
                 where a.workspace_id = $1 and a.state = 'idle'
                   and h.last_seen_at + a.stale_ms * interval '1 millisecond' > clock_timestamp()) as healthy,
               (select count(*) from agents where workspace_id = $1 and state in ('error', 'offline')) as stale)
      select waiting + blocked + later as "pendingTasks", waiting as "waitingTasks", blocked as "blockedTasks",
             running as "runningTasks", healthy as "healthyAgents", stale as "staleAgents" from counted`,
      values: [workspaceId],
    },
  )
  return row!
}

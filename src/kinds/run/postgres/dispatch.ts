import type pg from 'pg'
import type { DueWakeup, WaitingClaim } from '../../../kernel/store/run-store.ts'
import { isLive, isQueued } from '../../../postgres/statements/run-states.ts'
import { scopedQuery } from '../../../postgres/statements/scoped-query.ts'
import { RENEW_FROM } from '../../task/rules/retry.ts'
import { IN_ORDER } from './statements.ts'

/** What a node could run now, and what waits for that. */

// What a node could run now: due wakeups, per agent as many as it has free slots, for agents that may run on this node (a verification by
// command runs where the result was made); and wakeups of agents that may not run, so that they are skipped without further waiting. Workspaces share fairly, or one that
// floods would starve the others: the one with the fewest runs comes next, and among those the one whose last run began
// longest ago. $1 this node's name, $2 limit.
const DUE_WAKEUPS = `with due as materialized (
    select w.*, row_number() over (partition by w.workspace_id order by ${IN_ORDER}) as place_in_workspace from (
      select w.workspace_id, w.wakeup_id, w.agent, w.priority, w.requested_at,
             row_number() over (partition by w.workspace_id, w.agent order by ${IN_ORDER}) as place,
             case when a.state not in ('paused', 'terminated') then a.max_concurrent_tasks - (select count(*) from runs r
               where r.workspace_id = a.workspace_id and r.agent = a.slug and ${isLive('r.status')}) end as room
        from wakeups w
        cross join lateral (select * from agents a where a.workspace_id = w.workspace_id and a.slug = w.agent offset 0) a
       where ${isQueued('w.status')} and w.due_at <= clock_timestamp()
         and coalesce(a.runtime_config ->> 'node', $1) = $1
         and (a.adapter_type <> 'command' or $1 = coalesce((select d.input ->> 'node' from task_details d
           where d.workspace_id = w.workspace_id and d.task_id = w.task_id), $1))
         and (a.state in ('paused', 'terminated') or not exists (select from agent_runtime_state s
           where s.workspace_id = w.workspace_id and s.agent = w.agent and s.parked_until > clock_timestamp()))) w
     where w.room is null or w.place <= w.room),
  busy as materialized (
    select d.workspace_id,
           (select count(*) from runs r where r.workspace_id = d.workspace_id and ${isLive('r.status')}) as active,
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

// Claims to continue whose wakeup is still queued and whose lease is due for renewal. Only for agents that may run on this
// node: where no node can run them, the lease expires. $1 this node's name, $2 the fraction of a lease that is left when it
// is renewed.
const WAITING_CLAIMS = `select w.workspace_id as "workspaceId", w.agent, t.uuid, t.session, t.generation
    from wakeups w
    cross join lateral (select * from agents a where a.workspace_id = w.workspace_id and a.slug = w.agent offset 0) a
    cross join lateral (select * from tasks t where t.workspace_id = w.workspace_id and t.id = w.task_id offset 0) t
   where ${isQueued('w.status')} and w.generation is not null and t.state = 'continuing' and t.generation = w.generation
     and t.agent = w.agent and coalesce(a.runtime_config ->> 'node', $1) = $1
     and t.lease_expires_at <= clock_timestamp() + t.lease_ms * $2::float8 * interval '1 millisecond'
   limit 1000`

export const waitingClaims = (pool: pg.Pool, nodeName: string) =>
  scopedQuery<WaitingClaim & pg.QueryResultRow>(pool, 'baton.scope', 'upkeep', {
    name: 'waiting_claims',
    text: WAITING_CLAIMS,
    values: [nodeName, 1 - RENEW_FROM],
  })

import type pg from 'pg'
import type { DueTimer, WorkWithoutWakeup } from '../../../kernel/store/run-store.ts'
import type { Connections } from '../../../postgres/statements/connections.ts'
import { bind } from '../../../postgres/statements/connections.ts'
import {
  bytesOfJson,
  bytesOfText,
  fittingKeys,
  fittingPage,
  MORE,
  type PageOf,
} from '../../../postgres/statements/pages.ts'
import { isLive, isQueued } from '../../../postgres/statements/run-states.ts'
import { inside, scopedQuery } from '../../../postgres/statements/scoped-query.ts'
import { inScope } from '../../task/postgres/due.ts'
import type { Wakeup } from '../record.ts'
import { dueWakeups, waitingClaims } from './dispatch.ts'
import { shownWakeups } from './rows.ts'

/** Wakeups as people read them, and what upkeep reads to wake agents. */

/** Newest first, as many as fit a response. */
export async function listWakeups(
  pool: pg.Pool,
  workspaceId: number,
  part: { agent: string; before: string | null; limit: number; withPayload: boolean },
): Promise<PageOf<Wakeup>> {
  const { agent, before, limit, withPayload } = part
  const page = fittingPage({
    keys: `select row_number() over (order by w.wakeup_id desc) as n, w.wakeup_id from wakeups w
            where w.workspace_id = $1 and w.agent = $2 and ($3::uuid is null or w.wakeup_id < $3)
            order by w.wakeup_id desc limit ${limit + 1}`,
    columns: ['wakeup_id'],
    bytes: `select 1200 + ${bytesOfText('w.reason', 'w.error')} ${withPayload ? `+ ${bytesOfJson('w.payload')}` : ''}
              from wakeups w where w.workspace_id = $1 and w.wakeup_id = l.wakeup_id`,
    limit,
  })
  const columns = withPayload
    ? shownWakeups.named('w')
    : `${shownWakeups.named('w', ['payload'])}, null::json as payload`
  const found = await scopedQuery<Wakeup & { more: boolean } & pg.QueryResultRow>(
    pool,
    'baton.workspace_id',
    String(workspaceId),
    {
      text: `${page} select ${columns}, ${MORE} as more from wakeups w
              where w.workspace_id = $1 and w.wakeup_id = ${fittingKeys('wakeup_id')} order by w.wakeup_id desc`,
      values: [workspaceId, agent, before],
    },
  )
  return { rows: found.map(({ more: _more, ...wakeup }) => wakeup as Wakeup), more: found[0]?.more ?? false }
}

const HAS_TIMER = `json_typeof(a.runtime_config -> 'heartbeat' -> 'intervalSec') = 'number'
     and coalesce(a.runtime_config -> 'heartbeat' ->> 'enabled', 'true') = 'true'
     and a.state not in ('paused', 'terminated') and not a.leaving and a.adapter_type <> 'external'`

// Agents whose timer is due, and those whose timer is not set yet or is further away than their current interval. Settings
// from before validation existed may have any value in place of the interval.
const DUE_TIMERS = `select a.workspace_id as "workspaceId", a.slug as agent,
      case when s.next_timer_at <= clock_timestamp() then ms(s.next_timer_at) end as at
    from agents a left join agent_runtime_state s on s.workspace_id = a.workspace_id and s.agent = a.slug
   where ${HAS_TIMER}
     and (s.next_timer_at is null or s.next_timer_at <= clock_timestamp()
       or s.next_timer_at > clock_timestamp() + interval '1.001 seconds' * case
         when json_typeof(a.runtime_config -> 'heartbeat' -> 'intervalSec') = 'number'
         then (a.runtime_config -> 'heartbeat' ->> 'intervalSec')::float8 end)
   order by row_number() over (partition by a.workspace_id order by s.next_timer_at), s.next_timer_at limit $1`

/** For `nextDue`. */
export const EARLIEST_TIMER = `select min(s.next_timer_at) from agents a
    cross join lateral (select r.next_timer_at from agent_runtime_state r
      where r.workspace_id = a.workspace_id and r.agent = a.slug offset 0) s
   where ${HAS_TIMER}`

export const dueTimers = (pool: pg.Pool, limit: number, only?: number) =>
  inScope<DueTimer & pg.QueryResultRow>(pool, only, DUE_TIMERS, [limit])

/** Work that is assigned to agents that Baton runs, or is to be continued by them, without a wakeup or a run for it. */
export const workWithoutWakeup = (pool: pg.Pool, workspaceId: number | null, limit = 1_000) =>
  scopedQuery<WorkWithoutWakeup & pg.QueryResultRow>(pool, 'baton.scope', 'upkeep', {
    name: 'work_without_wakeup',
    text: `select t.workspace_id as "workspaceId", t.agent, t.id as "taskId", t.uuid, t.generation, t.state,
          (select coalesce(max(r.depth), 0) from runs r
            where r.workspace_id = t.workspace_id and r.task_id = t.id and r.generation = t.generation) as depth
        from agents a
        cross join lateral (select * from tasks t where t.workspace_id = a.workspace_id and t.agent = a.slug and t.claim_state = 'active' offset 0) t
       where a.adapter_type <> 'external' and a.state <> 'terminated' and ($1::int is null or a.workspace_id = $1)
         and (t.state = 'assigned' and t.watch ->> 'isOffered' = 'true' or t.state = 'continuing') and t.session = 'agent:' || a.slug
         and not exists (select from wakeups w where w.workspace_id = a.workspace_id and w.agent = a.slug and w.task_id = t.id
               and ${isQueued('w.status')} and w.generation = t.generation)
         and not exists (select from runs r where r.workspace_id = a.workspace_id and r.agent = a.slug
               and ${isLive('r.status')} and (r.task_id = t.id or r.task_id is null))
       order by row_number() over (partition by a.workspace_id) limit $2`,
    values: [workspaceId, limit],
  })

/** Finished wakeups are kept for a week. */
export async function deleteOldWakeups({ readers, writers }: Connections): Promise<void> {
  // Not by clock_timestamp(), which changes from row to row and cannot use an index.
  const isOld = `finished_at < now() - interval '7 days'`
  const where = await scopedQuery<{ workspaceId: number }>(readers, 'baton.scope', 'upkeep', {
    text: `select distinct workspace_id as "workspaceId" from wakeups where ${isOld}`,
  })
  for (const { workspaceId } of where)
    await inside(writers, workspaceId, `delete from wakeups where workspace_id = $1 and ${isOld}`)
}

export const wakeupReads = ({ readers }: Connections) =>
  bind(readers, { due: dueWakeups, dueTimers, waitingClaims, workWithout: workWithoutWakeup })

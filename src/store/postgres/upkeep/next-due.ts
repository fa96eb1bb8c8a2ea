import type pg from 'pg'
import { DEPENDENTS } from '../../log-followers.ts'
import type { NextDue } from '../../run-store.ts'
import { scopedQuery } from '../kernel/scoped-query.ts'
import { isQueued } from '../runs/state-lists.ts'
import { EARLIEST_ALERT_CHECK } from './alerts.ts'
import { EARLIEST_DUE_TASK, EARLIEST_LEASE_CHECK } from './due.ts'

// Each time that upkeep acts on, by the index that its step uses. Then the logs, the cursors of their dependents, and queued
// wakeups. $1 workspaces whose cached cursor is ahead of the stored one, $2 the cached cursors.
const NEXT_DUE = `select
    ms(least(
      (select min(h.due_at) from agent_health h where h.due_at is not null),
      (select min(s.due_at) from sessions s where s.due_at is not null),
      (${EARLIEST_DUE_TASK}),
      (${EARLIEST_LEASE_CHECK}),
      (${EARLIEST_ALERT_CHECK}),
      (select min(m.due_at) from missions m where m.due_at is not null and cardinality(m.closed_by) = 0),
      (select min(r.next_at) from routines r where r.next_at is not null),
      (select min(s.parked_until) from agent_runtime_state s where s.parked_until > (select clock_timestamp())),
      (select min(s.next_timer_at) from agents a
         cross join lateral (select r.next_timer_at from agent_runtime_state r
           where r.workspace_id = a.workspace_id and r.agent = a.slug offset 0) s
        where json_typeof(a.runtime_config -> 'heartbeat' -> 'intervalSec') = 'number'
          and coalesce(a.runtime_config -> 'heartbeat' ->> 'enabled', 'true') = 'true'
          and a.state not in ('paused', 'terminated') and not a.leaving and a.adapter_type <> 'external')
    )) - n.now as "upkeepInMs",
    exists (select from workspace_counters c
      join log_cursors f on f.workspace_id = c.workspace_id and f.follower = '${DEPENDENTS}'
      left join unnest($1::int[], $2::bigint[]) as k(workspace_id, seq) on k.workspace_id = c.workspace_id
     where c.last_seq > greatest(f.seq, coalesce(k.seq, 0))) as "isLogAhead",
    ms((select min(w.due_at) from wakeups w where ${isQueued('w.status')})) - n.now as "wakeupInMs",
    exists (select from wakeups w where ${isQueued('w.status')} and w.generation is not null) as "areClaimsWaiting"
  from (select ms(clock_timestamp()) as now) n`

interface Row {
  upkeepInMs: number | null
  isLogAhead: boolean
  wakeupInMs: number | null
  areClaimsWaiting: boolean
}

export async function nextDue(pool: pg.Pool, cursors: ReadonlyMap<number, number>): Promise<NextDue> {
  const asked = performance.now()
  const [row] = await scopedQuery<Row & pg.QueryResultRow>(pool, 'baton.scope', 'upkeep', {
    name: 'next_due',
    text: NEXT_DUE,
    values: [[...cursors.keys()], [...cursors.values()]],
  })
  const { upkeepInMs, isLogAhead, wakeupInMs, areClaimsWaiting } = row!
  const at = (inMs: number | null) => (inMs === null ? null : asked + inMs)
  return { upkeepAt: at(upkeepInMs), isLogAhead, wakeupAt: at(wakeupInMs), areClaimsWaiting }
}

import type pg from 'pg'
import { DEPENDENTS } from '../../log-followers.ts'
import type { NextDue } from '../../run-store.ts'
import { scopedQuery } from '../kernel/scoped-query.ts'
import { EARLIEST_ROUTINE } from '../reads/routines.ts'
import { isQueued } from '../runs/state-lists.ts'
import { EARLIEST_TIMER } from '../runs/wakeups.ts'
import { EARLIEST_ALERT_CHECK } from './alerts.ts'
import { EARLIEST_UNPARKED } from './assignment.ts'
import {
  EARLIEST_AGENT_CHECK,
  EARLIEST_DUE_TASK,
  EARLIEST_LEASE_CHECK,
  EARLIEST_SESSION_CHECK,
} from './due.ts'
import { EARLIEST_MISSION_START } from './missions.ts'

/** Each time that upkeep acts on, by the index that its step uses. */
const EARLIEST = [
  EARLIEST_AGENT_CHECK,
  EARLIEST_SESSION_CHECK,
  EARLIEST_DUE_TASK,
  EARLIEST_LEASE_CHECK,
  EARLIEST_ALERT_CHECK,
  EARLIEST_MISSION_START,
  EARLIEST_ROUTINE,
  EARLIEST_UNPARKED,
  EARLIEST_TIMER,
]

// The earliest of those times. Then the logs, the cursors of their dependents, and queued wakeups. $1 workspaces whose cached
// cursor is ahead of the stored one, $2 the cached cursors.
const NEXT_DUE = `select
    ms(least(${EARLIEST.map((time) => `(${time})`).join(', ')})) - n.now as "upkeepInMs",
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

import type pg from 'pg'
import type { NextDue } from '../kernel/store/run-store.ts'
import {
  EARLIEST_FOLLOWER_RETRY,
  isLogAhead,
  type PostgresFollowers,
} from '../postgres/statements/log-cursors.ts'
import { isQueued } from '../postgres/statements/run-states.ts'
import { scopedQuery } from '../postgres/statements/scoped-query.ts'
import { EARLIEST_DUE } from './stored-kinds.ts'

/** Each time that upkeep acts on, by the index that its step uses. */
const EARLIEST = [...EARLIEST_DUE, EARLIEST_FOLLOWER_RETRY]

// The earliest of those times. Then the logs, the cursors of their followers, and queued wakeups. $1 to $3 the cached cursors.
const NEXT_DUE = `select
    ms(least(${EARLIEST.map((time) => `(${time})`).join(', ')})) - n.now as "upkeepInMs",
    ${isLogAhead('$1', '$2', '$3')} as "isLogAhead",
    ms((select min(w.due_at) from wakeups w where ${isQueued('w.status')})) - n.now as "wakeupInMs",
    exists (select from wakeups w where ${isQueued('w.status')} and w.generation is not null) as "areClaimsWaiting"
  from (select ms(clock_timestamp()) as now) n`

interface Row {
  upkeepInMs: number | null
  isLogAhead: boolean
  wakeupInMs: number | null
  areClaimsWaiting: boolean
}

export async function nextDue(pool: pg.Pool, cursors: PostgresFollowers['cached']): Promise<NextDue> {
  const asked = performance.now()
  const [row] = await scopedQuery<Row & pg.QueryResultRow>(pool, 'baton.scope', 'upkeep', {
    name: 'next_due',
    text: NEXT_DUE,
    values: cursors,
  })
  const { upkeepInMs, isLogAhead, wakeupInMs, areClaimsWaiting } = row!
  const at = (inMs: number | null) => (inMs === null ? null : asked + inMs)
  return { upkeepAt: at(upkeepInMs), isLogAhead, wakeupAt: at(wakeupInMs), areClaimsWaiting }
}

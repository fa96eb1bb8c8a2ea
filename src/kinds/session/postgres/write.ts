import type { ReadSet } from '../../../kernel/batch/requests.ts'
import { sessionsOf, workersOf } from '../../../kernel/store/assemble-view.ts'
import {
  readSession,
  SESSION_COLUMNS,
  sessionColumns,
  sessionValues,
} from '../../../postgres/statements/columns.ts'
import { NOTHING, type Rows } from '../../../postgres/statements/pipeline.ts'
import { arrayLiteral } from '../../../postgres/statements/rows.ts'
import { type Bound, insertInto, statement, workersAmong } from '../../../postgres/statements/statements.ts'
import { ChangedMeanwhile, type StoredKind } from '../../../postgres/statements/stored-kind.ts'
import { grouped } from '../../../pure/grouped.ts'
import type { LostClaim } from '../../replies.ts'
import type { SessionRecord, TaskRecord } from '../../task/record.ts'
import { countsAsActive } from '../rules.ts'

/** Sessions on the write path. */

// Sessions to change, and the workers among those that claim. $1 workspace, $2 the former, $3 the latter.
const lockSessions = statement(
  'lock_sessions',
  `select ${sessionColumns('s')} from sessions s where s.workspace_id = $1 and s.session = any($2::text[] || ${workersAmong('$3')})
   order by s.session for no key update`,
)

// Read after their lock: what these sessions hold. The same arguments; sessions that only claim are included only if they
// are workers.
const heldBySessions = statement(
  'held_by_sessions',
  `select s.session, array(select t.id from tasks t
      where t.workspace_id = $1 and t.session = s.session and t.claim_state = 'active')
     from unnest($2::text[] || ${workersAmong('$3')}) as s(session)`,
)

// What these sessions lost since they were last seen. $1 workspace, $2 sessions.
const lostBySessions = statement(
  'lost_by_sessions',
  `select s.session, l.* from sessions s cross join lateral (
     select (select t.uuid from tasks t where t.workspace_id = a.workspace_id and t.id = a.task_id),
            a.generation, a.end_reason, ms(a.ended_at) from attempts a
      where a.workspace_id = $1 and a.session = s.session and a.state in ('expired', 'superseded')
        and a.ended_at > s.last_seen_at order by a.ended_at limit 1000) l
    where s.workspace_id = $1 and s.session = any($2::text[])`,
)

// Sessions that count against the limit. $1 workspace.
const activeSessions = statement(
  'active_sessions',
  `select count(*) from sessions where workspace_id = $1 and declared and ended_at is null`,
)

// New sessions. If two nodes begin the same one, the second retries and finds it.
const beginSessions = insertInto('sessions', SESSION_COLUMNS)

// Changed sessions. They exist and are locked.
const changeSessions = insertInto(
  'sessions',
  SESSION_COLUMNS,
  `on conflict (workspace_id, session) do update set ${SESSION_COLUMNS.slice(2)
    .map(({ name }) => `${name} = excluded.${name}`)
    .join(', ')}`,
  'change_sessions',
)
// $1 workspace, $2 the maximum number of sessions.
const checkSessions = statement('check_sessions', 'select refuse_sessions_over_limit($1, $2)')

export const storedSessions: StoredKind<'session'> = {
  tables: { sessions: 'select, insert, update' },
  due: ['select min(s.due_at) from sessions s where s.due_at is not null'],
  firstCome: ['sessions_pkey'],
  ask(questions, readSet) {
    const changing = readSet.kinds.session
    const names = [arrayLiteral(changing), arrayLiteral(readSet.claimants)]
    if (changing.length + readSet.claimants.length === 0) return null
    const isChanging = changing.length > 0
    const sessions = questions.addIn(lockSessions, names)
    const held = questions.addIn(heldBySessions, names)
    const lost = isChanging ? questions.addIn(lostBySessions, [names[0]]) : NOTHING
    const active = isChanging ? questions.addIn(activeSessions, []) : NOTHING
    return (records) => {
      const found = readSessions(readSet, records, { sessions: sessions(), held: held(), lost: lost() })
      const counted = (active()[0]?.[0] as number | undefined) ?? 0
      return { view: { seen: found.sessions, counted }, limiting: { workers: found.workers } }
    }
  },
  write(workspaceId, view, { kinds }) {
    const { written } = kinds.session
    if (written.length === 0) return []
    const before = (name: string) => view.kinds.session.seen.get(name)?.record ?? null
    const isKnown = ({ name }: SessionRecord) => before(name) !== null
    const [known, fresh] = [written.filter(isKnown), written.filter((session) => !isKnown(session))]
    const writes: Bound[] = []
    if (fresh.length > 0) writes.push(beginSessions(workspaceId, sessionValues(fresh)))
    if (known.length > 0) writes.push(changeSessions(workspaceId, sessionValues(known)))
    if (written.some((session) => countsAsActive(session) && !countsAsActive(before(session.name))))
      writes.push([checkSessions, [workspaceId, view.limits.maxActiveSessions]])
    return writes
  },
}

const readLost = ([, taskId, generation, reason, at]: unknown[]) =>
  ({ taskId, generation, reason, at }) as LostClaim

function readSessions(
  readSet: ReadSet,
  records: ReadonlyMap<number, TaskRecord>,
  rows: { sessions: Rows; held: Rows; lost: Rows },
) {
  const held = new Map(rows.held.map(([session, ids]) => [session as string, (ids as unknown[]).map(Number)]))
  const lost = grouped(rows.lost, ([session]) => session as string)
  const found = new Map(rows.sessions.map((row) => [row[0] as string, readSession(row)]))
  const sessions = sessionsOf(readSet.kinds.session, (name) => {
    const record = found.get(name)
    const holding = held.get(name) ?? []
    if (record && !holding.every((id) => records.has(id))) throw new ChangedMeanwhile()
    return record ? { record, holding, lost: (lost.get(name) ?? []).map(readLost) } : null
  })
  const workers = workersOf(readSet, (name) => {
    const record = found.get(name)
    return record ? { record, held: held.get(name)?.length ?? 0 } : null
  })
  return { sessions, workers }
}

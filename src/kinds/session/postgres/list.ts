import type pg from 'pg'
import { readSession, sessionColumns } from '../../../postgres/statements/columns.ts'
import { inside, scopedQuery } from '../../../postgres/statements/scoped-query.ts'
import { grouped } from '../../../pure/grouped.ts'
import type { SessionState, TaskState } from '../../../pure/states.ts'
import type { SessionRecord } from '../../task/record.ts'

/** Sessions for people. */

interface SessionSearch {
  /** Where the page before ended: the start of a session, and its name. */
  before?: readonly [number, string] | undefined
  state?: SessionState | undefined
  project?: { slug: string; projectId: number } | undefined
}

/** Newest first. */
export async function listSessions(
  pool: pg.Pool,
  workspaceId: number,
  { before, state, project }: SessionSearch,
  limit: number,
): Promise<SessionRecord[]> {
  const rows = await scopedQuery<unknown[]>(pool, 'baton.workspace_id', String(workspaceId), {
    text: `select ${sessionColumns('s')} from sessions s
      where s.workspace_id = $1 and ($2::text is null or s.state = $2)
        and ($3::text is null or s.project = $3 or s.session in (select t.session from tasks t
              where t.workspace_id = $1 and t.claim_state = 'active' and t.session is not null and t.project_id = $4::int))
        and ($5::float8 is null or (ms(s.started_at), s.session) < ($5, $6))
      order by ms(s.started_at) desc, s.session desc limit $7`,
    values: [
      ...[workspaceId, state ?? null, project?.slug ?? null, project?.projectId ?? null],
      ...[before?.[0] ?? null, before?.[1] ?? null, limit],
    ],
    rowMode: 'array',
  })
  return rows.map(readSession)
}

interface HeldRow {
  session: string
  holds: number
  taskId: string
  key: string | null
  title: string
  state: TaskState
  agent: string
  leaseExpiresAt: number
}

const MOST_HELD = 10

/** What these sessions hold: how much, and the first tasks. */
export async function heldBy(
  pool: pg.Pool,
  workspaceId: number,
  sessions: readonly string[],
): Promise<Map<string, HeldRow[]>> {
  const rows = await inside<HeldRow>(
    pool,
    workspaceId,
    `with held as (
       select t.*, count(*) over (partition by t.session)::int as holds,
              row_number() over (partition by t.session order by t.acquired_at, t.id) as place
         from tasks t where t.workspace_id = $1 and t.claim_state = 'active' and t.session = any($2::text[]))
     select h.session, h.holds, h.uuid as "taskId", h.key, d.title, h.state, h.agent, ms(h.lease_expires_at) as "leaseExpiresAt"
       from held h join task_details d on d.workspace_id = $1 and d.task_id = h.id
      where h.place <= ${MOST_HELD} order by h.session, h.place`,
    [sessions],
  )
  return grouped(rows, ({ session }) => session)
}

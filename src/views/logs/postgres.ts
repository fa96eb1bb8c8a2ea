import type pg from 'pg'
import { COORDINATOR_EVENTS } from '../../kinds/log.ts'
import { EVENT_COLUMNS, readEvent } from '../../kinds/task/postgres/reader.ts'
import type { EventWithTask } from '../../kinds/task/record.ts'
import { scopedQuery } from '../../postgres/statements/scoped-query.ts'

/** Filters for a task's log. Lines written by holders carry their level and event name. */
export interface LogFilter {
  /** Types of events. */
  types: readonly string[]
  /** Of holders' lines, only those of these levels. */
  lineLevels: readonly string[] | null
  /** Of holders' lines, only those of these names. */
  lineEvents: readonly string[] | null
}

export interface LogPage {
  order: 'asc' | 'desc'
  /** The seq of the entry that the page comes after, in its order. */
  after: number | null
  limit: number
}

const BEYOND = { asc: '>', desc: '<' } as const
const START = { asc: 0, desc: Number.MAX_SAFE_INTEGER } as const

async function read(pool: pg.Pool, workspaceId: number, text: string, values: unknown[]) {
  const statement = { text, values: [workspaceId, ...values], rowMode: 'array' as const }
  const rows = await scopedQuery<unknown[]>(pool, 'baton.workspace_id', String(workspaceId), statement)
  return rows.map(readEvent)
}

/** The log of a task. */
export function logOfTask(
  pool: pg.Pool,
  workspaceId: number,
  taskId: number,
  { types, lineLevels, lineEvents }: LogFilter,
  { order, after, limit }: LogPage,
): Promise<EventWithTask[]> {
  // Its events first, by their own index: otherwise the planner may scan the whole log in order to find these few.
  const text = `
    with e as materialized (select * from events where workspace_id = $1 and task_id = $2 and type = any($3::text[]))
    select ${EVENT_COLUMNS} from e
     where e.seq ${BEYOND[order]} $6
       and (e.type <> 'task_logged'
         or (($4::text[] is null or e.payload ->> 'level' = any($4::text[]))
         and ($5::text[] is null or e.payload ->> 'event' = any($5::text[]))))
     order by e.seq ${order} limit $7`
  return read(pool, workspaceId, text, [taskId, types, lineLevels, lineEvents, after ?? START[order], limit])
}

/** Must match the condition of the index events_of_workspace word for word, or the index is not used. */
export const OF_THE_WORKSPACE = `(task_id is null or type in (${COORDINATOR_EVENTS.map((type) => `'${type}'`).join(', ')}))`

/** Events that belong to no task, and what the coordinator did to tasks. */
export function logOfWorkspace(
  pool: pg.Pool,
  workspaceId: number,
  types: readonly string[],
  { order, after, limit }: LogPage,
): Promise<EventWithTask[]> {
  // The first of each type, then the first of all: so a rare type is found without scanning the frequent ones.
  const text = `
    with first_of_all as materialized (
      select first_of_type.seq from unnest($2::text[]) as wanted (type) cross join lateral (
        select seq from events
         where workspace_id = $1 and type = wanted.type and seq ${BEYOND[order]} $3 and ${OF_THE_WORKSPACE}
         order by seq ${order} limit $4) first_of_type
       order by first_of_type.seq ${order} limit $4)
    select ${EVENT_COLUMNS} from events e
     where e.workspace_id = $1 and e.seq = any(array(select seq from first_of_all)) order by e.seq ${order}`
  return read(pool, workspaceId, text, [types, after ?? START[order], limit])
}

import type pg from 'pg'
import { FAILURE_EVENTS, type FailureEvent } from '../../../kinds/task/rules/outcomes.ts'
import { insideByKeys } from '../../../postgres/statements/scoped-query.ts'
import {
  ABOUT,
  type About,
  type Asked,
  BEGAN,
  ENDED,
  HOLDER_THEN,
  missionOf,
  NUMBERS,
  newestOf,
  PERIOD,
  valuesOf,
} from './window.ts'

/** Attempts that failed, and tasks that failed for good, newest first. */

interface Failure {
  number: number
  at: number
  type: FailureEvent
  payload: unknown
  generation: number | null
  taskId: string
  key: string | null
  title: string
  taskType: string
  missionId: string | null
  agent: string | null
}

export interface FailurePage extends About {
  rows: Failure[]
  /** Where the next page continues; null: there is none. */
  next: number | null
}

/** How many failures are looked at for one page. A page may be short, or empty, before the last one. */
const LOOKED_AT = 5_000

// $2 and $3 the period, $4 agent, $5 type of task, $6 mission, $7 the number before which it continues, $8 how many.
const FAILURES = `with ${PERIOD}, ${NUMBERS},
    looked as materialized (${newestOf(FAILURE_EVENTS, LOOKED_AT, '$7')}),
    page as materialized (
      select e.seq as number, ms(e.at) as at, e.type, e.payload, e.generation, t.uuid as "taskId", t.key, d.title, d.task_type as "taskType",
             case when e.mission_id is not null then ${missionOf('e.mission_id')} end as "missionId", h.agent
        from (select array_agg(l.seq) as seqs from looked l) l
        cross join lateral (select * from events x where x.workspace_id = $1 and x.seq = any(l.seqs)) e
        cross join lateral (select * from tasks x where x.workspace_id = $1 and x.id = e.task_id offset 0) t
        cross join lateral (select x.title, x.task_type from task_details x where x.workspace_id = $1 and x.task_id = e.task_id offset 0) d
        cross join lateral (select ${HOLDER_THEN} as agent) h
       where e.at >= ${BEGAN} and e.at < ${ENDED} and ($4::text is null or h.agent = $4)
         and ($5::text is null or d.task_type = $5) and ($6::bigint is null or e.mission_id = $6)
       order by e.seq desc limit $8::int)
  select ${ABOUT}, (select count(*) from looked)::int as looked, (select min(l.seq) from looked l) as least, p.*
    from (select) none left join page p on true order by p.number desc`

export async function failuresIn(
  pool: pg.Pool,
  workspaceId: number,
  asked: Asked,
  before: number | null,
  limit: number,
): Promise<FailurePage> {
  const values = [...valuesOf(asked), before ?? Number.MAX_SAFE_INTEGER, limit + 1]
  const found = await insideByKeys<Failure & { looked: number; least: number | null } & About>(
    pool,
    workspaceId,
    FAILURES,
    values,
  )
  const { seq, began, ended, looked, least } = found[0]!
  const rows = found.filter(({ taskId }) => taskId !== null)
  const shown = rows.slice(0, limit)
  const next = rows.length > limit ? shown.at(-1)!.number : looked === LOOKED_AT ? least : null
  return { rows: shown, next, seq, began, ended }
}

import type pg from 'pg'
import { FAILURE_EVENTS, type FailureEvent, LOSS_EVENTS } from '../../../kinds/task/rules/outcomes.ts'
import { insideByKeys } from '../../../postgres/statements/scoped-query.ts'
import {
  ABOUT,
  type About,
  type Asked,
  BEGAN,
  ENDED,
  eventsOf,
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
  cause: string
}

export interface FailurePage extends About {
  rows: Failure[]
  /** Where the next page continues; null: there is none. */
  next: number | null
}

/**
 * Why an attempt failed, in one word: the error code of its run, what became of its holder, who did not accept its result, else its
 * failure class. Events of earlier versions do not name the error.
 */
const CAUSE = `case
    when e.type = 'task_verification_failed' or (e.type = 'task_failed' and e.from_state = 'verifying') then 'verification'
    when e.type = 'task_human_rejected' or (e.type = 'task_failed' and e.from_state = 'awaiting_human') then 'rejected'
    when e.type = 'task_budget_exceeded' then 'budget'
    else coalesce(e.payload ->> 'errorType',
      case when e.type in (${LOSS_EVENTS.map((type) => `'${type}'`).join(', ')}) then substr(e.type, 6) else e.payload ->> 'failureClass' end,
      'unknown') end`

/** How many failures are looked at for one page. A page may be short, or empty, before the last one. */
const LOOKED_AT = 5_000

// $2 and $3 the period, $4 agent, $5 type of task, $6 mission, $7 the number before which it continues, $8 how many, $9 the cause.
const FAILURES = `with ${PERIOD}, ${NUMBERS},
    looked as materialized (${newestOf(FAILURE_EVENTS, LOOKED_AT, '$7')}),
    page as materialized (
      select e.seq as number, ms(e.at) as at, e.type, e.payload, e.generation, t.uuid as "taskId", t.key, d.title, d.task_type as "taskType",
             case when e.mission_id is not null then ${missionOf('e.mission_id')} end as "missionId", h.agent,
             c.cause
        from (select array_agg(l.seq) as seqs from looked l) l
        cross join lateral (select * from events x where x.workspace_id = $1 and x.seq = any(l.seqs)) e
        cross join lateral (select * from tasks x where x.workspace_id = $1 and x.id = e.task_id offset 0) t
        cross join lateral (select x.title, x.task_type from task_details x where x.workspace_id = $1 and x.task_id = e.task_id offset 0) d
        cross join lateral (select ${HOLDER_THEN} as agent) h
        cross join lateral (select ${CAUSE} as cause) c
       where ($9::text is null or c.cause = $9) and e.at >= ${BEGAN} and e.at < ${ENDED} and ($4::text is null or h.agent = $4)
         and ($5::text is null or d.task_type = $5) and ($6::bigint is null or e.mission_id = $6)
       order by e.seq desc limit $8::int)
  select ${ABOUT}, (select count(*) from looked)::int as looked, (select min(l.seq) from looked l) as least, p.*
    from (select) none left join page p on true order by p.number desc`

export async function failuresIn(
  pool: pg.Pool,
  workspaceId: number,
  asked: Asked & { cause?: string | undefined },
  before: number | null,
  limit: number,
): Promise<FailurePage> {
  const values = [...valuesOf(asked), before ?? Number.MAX_SAFE_INTEGER, limit + 1, asked.cause ?? null]
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

interface Cause {
  cause: string
  failures: number
  tasks: number
  completed: number
  lastAt: number
}

export interface CausesRead extends About {
  rows: Cause[]
  isBounded: boolean
}

/** The newest failures are counted. Twice as many as are looked at for a page: nothing but their causes is read. */
const COUNTED = 2 * LOOKED_AT

const CAUSES = `with ${PERIOD}, ${NUMBERS}, failed as materialized (${eventsOf(FAILURE_EVENTS, COUNTED)}),
    causes as materialized (
      select ${CAUSE} as cause, count(*)::int as failures, count(distinct e.task_id)::int as tasks,
             count(distinct e.task_id) filter (where e.state = 'completed')::int as completed, max(ms(e.at)) as "lastAt"
        from failed e group by 1)
  select ${ABOUT}, (select count(*) = ${COUNTED} from failed) as "isBounded", c.*
    from (select) none left join causes c on true order by c.failures desc, c.cause`

/** How often attempts failed, by why. */
export async function causesIn(
  pool: pg.Pool,
  workspaceId: number,
  { from, to }: Pick<Asked, 'from' | 'to'>,
): Promise<CausesRead> {
  const found = await insideByKeys<Cause & CausesRead>(pool, workspaceId, CAUSES, [from, to])
  const { seq, began, ended, isBounded } = found[0]!
  return { rows: found.filter(({ cause }) => cause !== null), seq, began, ended, isBounded }
}

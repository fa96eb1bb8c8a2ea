import type pg from 'pg'
import type { DurationGroup } from '../../../kinds/task/rules/outcomes.ts'
import { insideByKeys } from '../../../postgres/statements/scoped-query.ts'
import type { TaskState } from '../../../pure/states.ts'
import {
  ABOUT,
  type About,
  ASKED_TASKS,
  type Asked,
  finishedTasks,
  MOST_LOOKED_AT,
  missionOf,
  PERIOD,
  valuesOf,
} from './window.ts'

/** How long finished tasks took, how often they were tried, and which of them others waited for. */

export interface FinishedRead<T> extends About {
  rows: T[]
  isBounded: boolean
}

/** The rows of a page, and what was read beside them. */
async function read<T extends object, B extends object = object>(
  pool: pg.Pool,
  workspaceId: number,
  text: string,
  values: unknown[],
): Promise<FinishedRead<T> & B> {
  const found = await insideByKeys<T & B & About & { isBounded: boolean; isRow: boolean | null }>(
    pool,
    workspaceId,
    text,
    values,
  )
  return { ...found[0]!, rows: found.filter(({ isRow }) => isRow) }
}

const query = (asked: Asked, page: string, order: string, most = MOST_LOOKED_AT, more = '') =>
  `with ${PERIOD}, ${finishedTasks(asked, most)}, ${ASKED_TASKS}, page as materialized (${page})
   select ${ABOUT}, (select count(*) = ${most} from finished) as "isBounded"${more}, p.* from (select) none left join page p on true
    order by ${order}`

const NAME_OF: Record<DurationGroup, string> = {
  taskType: 'a.task_type',
  agent: 'a.agent',
  mission: missionOf('a.mission_id'),
  state: 'a.state',
}

interface Times {
  average: number
  median: number
  p95: number
  longest: number
}

export interface DurationRow {
  name: string
  tasks: number
  completed: number
  failed: number
  retried: number
  completedAfterRetry: number
  /** From their creation to their last claim, and from there to their end. Null: none was ever claimed. */
  waitMs: Times | null
  workMs: Times | null
}

const times = (span: string) => `case when count(g.acquired_at) > 0 then json_build_object(
    'average', round(avg(${span})), 'median', round((percentile_cont(0.5) within group (order by ${span}))::numeric),
    'p95', round((percentile_cont(0.95) within group (order by ${span}))::numeric), 'longest', max(${span})) end`
const WAITED = 'ms(g.acquired_at) - ms(g.created_at)'
const WORKED = 'ms(g.completed_at) - ms(g.acquired_at)'

// $7 the name of the last group of the previous page, $8 how many.
const groups = (by: DurationGroup) => `select true as "isRow", g.name, count(*)::int as tasks,
    count(*) filter (where g.state = 'completed')::int as completed, count(*) filter (where g.state = 'failed')::int as failed,
    count(*) filter (where g.attempt > 1)::int as retried,
    count(*) filter (where g.attempt > 1 and g.state = 'completed')::int as "completedAfterRetry",
    ${times(WAITED)} as "waitMs", ${times(WORKED)} as "workMs"
  from (select a.*, ${NAME_OF[by]}::text collate "C" as name from asked a) g
 where g.name is not null and ($7::text is null or g.name > $7) group by g.name order by g.name limit $8::int`

/** By the name of the group. */
export const durationsIn = (
  pool: pg.Pool,
  workspaceId: number,
  asked: Asked,
  { by, after, limit }: { by: DurationGroup; after: string | null; limit: number },
): Promise<FinishedRead<DurationRow>> =>
  read<DurationRow>(pool, workspaceId, query(asked, groups(by), 'p.name'), [...valuesOf(asked), after, limit])

export interface FinishedTask {
  taskId: string
  key: string | null
  title: string
  taskType: string
  state: TaskState
  agent: string | null
  missionId: string | null
  attempts: number
  /** Its place in its list: the greater one comes first. */
  weight: number
  number: number
}

const TASK = `true as "isRow", a.id as number, a.uuid as "taskId", a.key, a.title, a.task_type as "taskType", a.state, a.agent,
  a.attempt as attempts, case when a.mission_id is not null then ${missionOf('a.mission_id')} end as "missionId"`
/** $7 and $8 the place of the last task of the previous page, $9 how many. */
const pageBy = (
  weight: string,
  from: string,
) => `select ${TASK}, a.weight from (select a.*, ${weight} as weight from ${from}) a
 where $7::bigint is null or (a.weight, a.id) < ($7, $8::bigint) order by a.weight desc, a.id desc limit $9::int`

interface TaskPage {
  /** Weight and number of the last task of the previous page. */
  after: readonly [number, number] | null
  limit: number
}

const placeIn = ({ after, limit }: TaskPage) => [after?.[0] ?? null, after?.[1] ?? null, limit]

interface RetryCounts {
  tasks: number
  retried: number
  completedAfterRetry: number
}

const RETRIED = pageBy('a.attempt::bigint', '(select * from asked where attempt > 1) a')
const COUNTS = `, (select count(*)::int from asked) as tasks, (select count(*)::int from asked where attempt > 1) as retried,
  (select count(*)::int from asked where attempt > 1 and state = 'completed') as "completedAfterRetry"`

/** Tasks that were tried more than once, those with the most attempts first. */
export const retriesIn = (
  pool: pg.Pool,
  workspaceId: number,
  asked: Asked,
  page: TaskPage,
): Promise<FinishedRead<FinishedTask> & RetryCounts> =>
  read<FinishedTask, RetryCounts>(
    pool,
    workspaceId,
    query(asked, RETRIED, 'p.weight desc, p.number desc', MOST_LOOKED_AT, COUNTS),
    [...valuesOf(asked), ...placeIn(page)],
  )

export interface Bottleneck extends FinishedTask {
  blocks: number
}

/** Fewer than elsewhere: of each, the tasks around it are read. */
const MOST_AWAITED = 5_000
const MOST_BLOCKED = 1_000

// A task could begin when it was made and when all that it depends on had ended. What it took from then on, others waited.
const DELAY = `ms(a.completed_at) - greatest(ms(a.created_at), coalesce((
    select max(ms(u.completed_at)) from task_dependencies x cross join lateral (
      select k.completed_at from tasks k where k.workspace_id = $1 and k.id = x.depends_on offset 0) u
     where x.workspace_id = $1 and x.task_id = a.id and u.completed_at <= a.completed_at), 0))`
const BLOCKS = `(select count(*) from (select from task_dependencies x
  where x.workspace_id = $1 and x.depends_on = b.number limit ${MOST_BLOCKED}) n)::int`
const AWAITED = `select b.*, ${BLOCKS} as blocks from (${pageBy(DELAY, '(select * from asked where awaited) a')}) b`

/** Tasks that others depend on, those that kept them waiting longest first. */
export const bottlenecksIn = (
  pool: pg.Pool,
  workspaceId: number,
  asked: Asked,
  page: TaskPage,
): Promise<FinishedRead<Bottleneck>> =>
  read<Bottleneck>(pool, workspaceId, query(asked, AWAITED, 'p.weight desc, p.number desc', MOST_AWAITED), [
    ...valuesOf(asked),
    ...placeIn(page),
  ])

export interface SlowTask extends FinishedTask {
  waitMs: number
}

const SLOWEST = pageBy(
  'ms(a.completed_at) - ms(a.acquired_at)',
  '(select f.* from asked f where f.acquired_at is not null) a',
)
const SLOW = `select s.*, ms(k.acquired_at) - ms(k.created_at) as "waitMs" from (${SLOWEST}) s join asked k on k.id = s.number`

/** Tasks whose last claim took longest first. */
export const slowestIn = (
  pool: pg.Pool,
  workspaceId: number,
  asked: Asked,
  page: TaskPage,
): Promise<FinishedRead<SlowTask>> =>
  read<SlowTask>(pool, workspaceId, query(asked, SLOW, 'p.weight desc, p.number desc'), [
    ...valuesOf(asked),
    ...placeIn(page),
  ])

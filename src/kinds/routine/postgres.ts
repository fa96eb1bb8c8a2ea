import type pg from 'pg'
import type { Changes, View } from '../../kernel/batch/requests.ts'
import type { RoutineDue } from '../../kernel/store/run-store.ts'
import { bind, type Connections } from '../../postgres/statements/connections.ts'
import { plainRows } from '../../postgres/statements/plain-rows.ts'
import { arrayLiteral } from '../../postgres/statements/rows.ts'
import { isLive } from '../../postgres/statements/run-states.ts'
import { scopedQuery } from '../../postgres/statements/scoped-query.ts'
import { isMissionSimulated } from '../../postgres/statements/spent.ts'
import { type Bound, columnsOf, insertInto, statement } from '../../postgres/statements/statements.ts'
import type { StoredKind } from '../../postgres/statements/stored-kind.ts'
import { idCarriedBy } from '../../pure/ids.ts'
import { KNOWN_COST } from '../mission/postgres/rows.ts'
import type { MissionState } from '../mission/states.ts'
import { inScope } from '../task/postgres/due.ts'
import { ROUTINE_FIELDS, type RoutineRecord } from './record.ts'
import type { VariableValues } from './rules/variables.ts'

/** Routines as rows. */

const rows = plainRows('routines', ROUTINE_FIELDS, {
  derived: {
    has_waiting: ['boolean', ({ waiting }) => waiting.length > 0],
    // A row that exists keeps its plan, which is written only when it changes: then this is a placeholder.
    plan: ['json', ({ plan }: RoutineRecord) => plan ?? '{}'],
  },
  kept: ['plan'],
})

/** Of routines r. */
const routineColumns = `${rows.select('r')},
  (select j.slug from projects j where j.workspace_id = r.workspace_id and j.project_id = r.project_id),
  (select o.uuid from missions o where o.workspace_id = r.workspace_id and o.mission_id = r.origin_mission)`

/** With its plan, if the row has it after the columns. */
function readRoutine(row: readonly unknown[]): RoutineRecord {
  type Text = string | null
  const [project, origin, plan = null] = row.slice(rows.width) as [Text, Text, Text?]
  return { ...rows.read(row), project, origin, plan }
}

/** Whether a mission of the routine r has not ended, or a process of one is left. */
const IS_BUSY = `(exists (select from missions m
      join routine_fires f on f.workspace_id = m.workspace_id and f.mission_id = m.mission_id
     where m.workspace_id = r.workspace_id and m.completed_at is null and f.routine_id = r.routine_id)
  or exists (select from runs x join tasks t on t.workspace_id = x.workspace_id and t.id = x.task_id
      join routine_fires f on f.workspace_id = t.workspace_id and f.mission_id = t.mission_id
     where x.workspace_id = r.workspace_id and ${isLive('x.status')} and f.routine_id = r.routine_id))`

/** Routines for people, and those that upkeep has to look at. */

const inWorkspace = (pool: pg.Pool, workspaceId: number, text: string, values: unknown[]) =>
  scopedQuery<unknown[]>(pool, 'baton.workspace_id', String(workspaceId), {
    text,
    values: [workspaceId, ...values],
    rowMode: 'array',
  })

/** An unused number for a new routine. */
export async function freshRoutineId(pool: pg.Pool, workspaceId: number): Promise<number> {
  const text = `select nextval('routine_ids') where $1::int is not null`
  const [row] = await inWorkspace(pool, workspaceId, text, [])
  return Number(row![0])
}

/** With its plan. One that was removed is not there. */
export async function findRoutine(
  pool: pg.Pool,
  workspaceId: number,
  id: number,
): Promise<RoutineRecord | null> {
  const text = `select ${routineColumns}, r.plan::text from routines r
    where r.workspace_id = $1 and r.routine_id = $2 and r.removed_at is null`
  const [row] = await inWorkspace(pool, workspaceId, text, [id])
  return row ? readRoutine(row) : null
}

const COUNTED = `join mission_counters c on c.workspace_id = m.workspace_id and c.mission_id = m.mission_id`
const MOST_MARKS = 10
// Of routines r: its last missions, newest first.
const MARKS = `(select coalesce(json_agg(json_build_object('missionId', m.uuid, 'state', m.state, 'startedAt', ms(m.created_at))
      order by f.mission_id desc), '[]')
    from (select f.mission_id from routine_fires f where f.workspace_id = r.workspace_id and f.routine_id = r.routine_id
        and f.mission_id is not null order by f.mission_id desc limit ${MOST_MARKS}) f
    join missions m on m.workspace_id = r.workspace_id and m.mission_id = f.mission_id)`

const COST_AND_TIME = `json_build_object('costUsd', ${KNOWN_COST}, 'durationMs', (ms(m.completed_at) - ms(m.started_at))::float8)`
// Of routines r: what its last completed missions cost and how long they took. Looked for among its newest only: a list has many routines.
const LAST_FIGURES = `(select coalesce(json_agg(x.figures), '[]') from (
    select ${COST_AND_TIME} as figures
      from (select f.mission_id from routine_fires f where f.workspace_id = r.workspace_id and f.routine_id = r.routine_id
          order by f.mission_id desc limit ${3 * MOST_MARKS}) f
      join missions m on m.workspace_id = r.workspace_id and m.mission_id = f.mission_id and m.phase = 'completed' ${COUNTED}
     order by f.mission_id desc limit ${MOST_MARKS}) x)`
// The same of the mission it was made from; null: of none.
const ORIGIN_FIGURES = `(select ${COST_AND_TIME} from missions m ${COUNTED}
    where m.workspace_id = r.workspace_id and m.mission_id = r.origin_mission)`

/** One of the last missions of a routine, for its mark in a list. */
interface RoutineMark {
  missionId: string
  state: MissionState
  startedAt: number
}

type CostAndTime = Pick<MissionFigures, 'costUsd' | 'durationMs'>

export interface ListedRoutine {
  routine: RoutineRecord
  last: RoutineMark[]
  /** Of the mission it was made from, and of its last completed ones. */
  origin: CostAndTime | null
  figures: CostAndTime[]
}

/** Newest first, without their plans, each with its last missions. */
export async function listRoutines(
  pool: pg.Pool,
  workspaceId: number,
  before: number | undefined,
  limit: number,
): Promise<ListedRoutine[]> {
  const text = `select ${MARKS}, ${ORIGIN_FIGURES}, ${LAST_FIGURES}, ${routineColumns} from routines r
    where r.workspace_id = $1 and r.removed_at is null and ($2::bigint is null or r.routine_id < $2)
    order by r.routine_id desc limit $3`
  const rows = await inWorkspace(pool, workspaceId, text, [before ?? null, limit])
  return rows.map(([last, origin, figures, ...row]) => ({
    routine: readRoutine(row),
    last: last as RoutineMark[],
    origin: origin as CostAndTime | null,
    figures: figures as CostAndTime[],
  }))
}

/** What a mission cost, how long it took, and how good its results were. */
export interface MissionFigures {
  costUsd: string | null
  durationMs: number | null
  score: number | null
}

export interface RoutineMission extends MissionFigures {
  id: number
  missionId: string
  scheduledFor: number | null
  startedAt: number
  completedAt: number | null
  state: MissionState
  title: string
  variables: VariableValues
  isSimulated: boolean
}

// Of missions m: the mean of the scores in the accepted answers of its verifications.
const SCORE = `(select avg((a.data ->> 'score')::float8) from tasks t
    join attempts a on a.workspace_id = t.workspace_id and a.task_id = t.id and a.accepted
   where t.workspace_id = m.workspace_id and t.mission_id = m.mission_id and t.purpose = 'verification'
     and json_typeof(a.data -> 'score') = 'number')`
const FIGURES = `${KNOWN_COST} as "costUsd", ${SCORE} as score,
    (ms(m.completed_at) - ms(m.started_at))::float8 as "durationMs"`

/** The missions that it started, newest first. */
export const runsOfRoutine = (
  pool: pg.Pool,
  workspaceId: number,
  id: number,
  { before, onlyCompleted = false }: { before?: number | undefined; onlyCompleted?: boolean },
  limit: number,
): Promise<RoutineMission[]> =>
  scopedQuery<RoutineMission & pg.QueryResultRow>(pool, 'baton.workspace_id', String(workspaceId), {
    text: `select m.mission_id as id, m.uuid as "missionId", ms(f.scheduled_for) as "scheduledFor", ms(m.created_at) as "startedAt",
                  ms(m.completed_at) as "completedAt", m.state, m.title, m.config -> 'routine' -> 'variables' as variables, ${FIGURES},
                  ${isMissionSimulated('m.mission_id')} as "isSimulated"
             from routine_fires f join missions m on m.workspace_id = f.workspace_id and m.mission_id = f.mission_id ${COUNTED}
            where f.workspace_id = $1 and f.routine_id = $2 and ($3::bigint is null or f.mission_id < $3)
              and (not $4 or m.phase = 'completed')
            order by f.mission_id desc limit $5`,
    values: [workspaceId, id, before ?? null, onlyCompleted, limit],
  })

export async function figuresOfMission(
  pool: pg.Pool,
  workspaceId: number,
  missionId: number,
): Promise<MissionFigures | null> {
  const [row] = await scopedQuery<MissionFigures & pg.QueryResultRow>(
    pool,
    'baton.workspace_id',
    String(workspaceId),
    {
      text: `select ${FIGURES} from missions m ${COUNTED} where m.workspace_id = $1 and m.mission_id = $2`,
      values: [workspaceId, missionId],
    },
  )
  return row ?? null
}

// Routines whose time has come; those with a mission that waits, when the previous one has ended with all its processes; and those
// that are to replace a mission nobody has cancelled yet. $1 limit.
const DUE = `select * from (
    select r.workspace_id as "workspaceId", r.uuid, 'elapse' as chore from routines r
     where r.next_at is not null and r.next_at <= (select clock_timestamp())
    union
    select r.workspace_id, r.uuid, 'elapse' from routines r where r.has_waiting and not ${IS_BUSY}
    union
    select r.workspace_id, r.uuid, 'replace' from routines r
      join missions m on m.workspace_id = r.workspace_id and m.completed_at is null and not 'cancelling' = any (m.closed_by)
      join routine_fires f on f.workspace_id = m.workspace_id and f.mission_id = m.mission_id and f.routine_id = r.routine_id
     where r.has_waiting and r.is_replacing) d
   order by random() limit $1`

/** For `nextDue`. */
const EARLIEST_ROUTINE = 'select min(r.next_at) from routines r where r.next_at is not null'

export const routinesDue = (pool: pg.Pool, limit: number, only?: number): Promise<RoutineDue[]> =>
  inScope<RoutineDue & pg.QueryResultRow>(pool, only, DUE, [limit])

/** Its missions that have not ended, and are not being cancelled. */
export async function routinesMissions(pool: pg.Pool, workspaceId: number, id: number): Promise<string[]> {
  const text = `select m.uuid from missions m
      join routine_fires f on f.workspace_id = m.workspace_id and f.mission_id = m.mission_id
     where m.workspace_id = $1 and f.routine_id = $2 and m.completed_at is null and not 'cancelling' = any (m.closed_by)`
  return (await inWorkspace(pool, workspaceId, text, [id])).map(([uuid]) => uuid as string)
}

/** Routines on the write path. */

// Routines to change. $1 workspace, $2 routines.
const lockRoutines = statement(
  'lock_routines',
  `select ${routineColumns} from routines r where r.workspace_id = $1 and r.routine_id = any($2::bigint[])
    order by r.routine_id for no key update of r`,
)
// After their locks: a mission that one of them has just started is seen. $1 workspace, $2 routines.
const busyRoutines = statement(
  'busy_routines',
  `select r.uuid from routines r where r.workspace_id = $1 and r.routine_id = any($2::bigint[]) and ${IS_BUSY}`,
)

// $1 workspace, $2 routines, $3 their plans.
const changePlans = statement(
  'change_routine_plans',
  `update routines r set plan = p.plan::json from unnest($2::bigint[], $3::text[]) as p(routine_id, plan)
    where r.workspace_id = $1 and r.routine_id = p.routine_id`,
)
const newFires = insertInto(
  'routine_fires',
  columnsOf({ mission_id: 'bigint', routine_id: 'bigint', scheduled_for: 'instant' }),
)

export const storedRoutines: StoredKind<'routine'> = {
  tables: { routines: 'select, insert, update', routine_fires: 'select, insert' },
  due: [EARLIEST_ROUTINE],
  ask(questions, { kinds }) {
    const ids = kinds.routine.map(idCarriedBy).filter((id) => id !== null)
    if (ids.length === 0) return null
    const routines = questions.addIn(lockRoutines, [arrayLiteral(ids)])
    const busy = questions.addIn(busyRoutines, [arrayLiteral(ids)])
    return () => {
      const areBusy = new Set(busy().map(([uuid]) => uuid as string))
      const seen = new Map(
        routines().map((row) => {
          const record = readRoutine(row)
          return [record.uuid, { record, holding: [], isBusy: areBusy.has(record.uuid) }]
        }),
      )
      return { view: { seen, counted: 0 } }
    }
  },
  write: (workspaceId, view, changes) => [
    ...routineWrites(workspaceId, view, changes.kinds.routine.written),
    ...fireWrites(workspaceId, view, changes),
  ],
}

function routineWrites(workspaceId: number, view: View, written: readonly RoutineRecord[]): Bound[] {
  const isKnown = ({ uuid }: RoutineRecord) => view.kinds.routine.seen.has(uuid)
  const fresh = written.filter((routine) => !isKnown(routine))
  const known = written.filter(isKnown)
  const plans = known.filter(({ plan }) => plan !== null)
  const writes: Bound[] = []
  if (fresh.length > 0) writes.push(rows.insert(workspaceId, fresh))
  if (known.length > 0)
    writes.push(
      rows.upsert(
        workspaceId,
        known.map((routine) => ({ ...routine, plan: null })),
      ),
    )
  if (plans.length > 0) {
    const ids = arrayLiteral(plans.map(({ id }) => id))
    writes.push([changePlans, [workspaceId, ids, arrayLiteral(plans.map(({ plan }) => plan!))]])
  }
  return writes
}

/** Missions that a routine started. */
function fireWrites(workspaceId: number, view: View, { kinds }: Changes): Bound[] {
  const started = kinds.mission.written.filter(
    ({ uuid, config }) => config.routine !== undefined && !view.kinds.mission.seen.has(uuid),
  )
  if (started.length === 0) return []
  const at = (scheduledFor: string | null) => (scheduledFor === null ? null : Date.parse(scheduledFor))
  return [
    newFires(workspaceId, [
      started.map(({ id }) => id),
      started.map(({ config }) => idCarriedBy(config.routine!.id)),
      started.map(({ config }) => at(config.routine!.scheduledFor)),
    ]),
  ]
}

/** Reads of routines that are methods of the store: other kinds need them, and the executor. */
export const routineReads = ({ readers, writers }: Connections) => ({
  ...bind(writers, { freshId: freshRoutineId }),
  ...bind(readers, { due: routinesDue, find: findRoutine, underWay: routinesMissions }),
})

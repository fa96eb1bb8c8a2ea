import { type Column, selectList } from '../../../postgres/statements/columns.ts'
import { isLive } from '../../../postgres/statements/run-states.ts'
import type { RoutineRecord } from '../record.ts'
import { VariablesSchema } from '../rules/variables.ts'
import { RoutineConfig, Schedule } from '../shapes.ts'

/** Routines as rows. */

type Stored = Omit<RoutineRecord, 'plan' | 'project' | 'origin'>

const FIELDS = {
  routine_id: ['id', 'bigint'],
  uuid: ['uuid', 'uuid'],
  name: ['name', 'text'],
  goal: ['goal', 'text'],
  title: ['title', 'text'],
  description: ['description', 'text'],
  tags: ['tags', 'texts'],
  priority: ['priority', 'smallint'],
  project_id: ['projectId', 'int'],
  config: ['config', 'json'],
  plan_digest: ['planDigest', 'text'],
  task_count: ['taskCount', 'int'],
  variables: ['variables', 'json'],
  schedule: ['schedule', 'json'],
  origin_mission: ['originId', 'bigint'],
  is_enabled: ['isEnabled', 'boolean'],
  next_at: ['nextAt', 'instant'],
  waiting: ['waiting', 'json'],
  is_replacing: ['isReplacing', 'boolean'],
  skipped_in_row: ['skippedInRow', 'int'],
  started_at: ['startedAt', 'instant'],
  last_for: ['lastFor', 'instant'],
  approved_by: ['approvedBy', 'text'],
  created_by: ['createdBy', 'text'],
  version: ['version', 'int'],
  created_at: ['createdAt', 'instant'],
  updated_at: ['updatedAt', 'instant'],
  removed_at: ['removedAt', 'instant'],
} as const satisfies Record<string, [keyof Stored, Column['type']]>

const OWN: Column[] = Object.entries(FIELDS).map(([name, [, type]]) => ({ name, type }))

/** Without the plan, which is written only when it changes. */
export const ROUTINE_COLUMNS: Column[] = [...OWN, { name: 'has_waiting', type: 'boolean' }]

/** Of routines r. */
export const routineColumns = `${selectList(OWN, 'r')},
  (select j.slug from projects j where j.workspace_id = r.workspace_id and j.project_id = r.project_id),
  (select o.uuid from missions o where o.workspace_id = r.workspace_id and o.mission_id = r.origin_mission)`

/** With its plan, if the row has it after the columns. */
export function readRoutine(row: readonly unknown[]): RoutineRecord {
  const own = Object.fromEntries(
    Object.values(FIELDS).map(([field], i) => [field, row[i]]),
  ) as unknown as Stored
  const [project, origin, plan = null] = row.slice(OWN.length) as (string | null)[]
  return {
    ...own,
    config: RoutineConfig.parse(own.config),
    variables: VariablesSchema.parse(own.variables),
    schedule: own.schedule && Schedule.parse(own.schedule),
    ...{ project: project!, origin: origin!, plan },
  }
}

const storedValue = (value: unknown, type: Column['type']) =>
  type === 'json' && value !== null ? JSON.stringify(value) : value

/** The values of the columns of routines, one list per column. */
export const routineValues = (routines: readonly RoutineRecord[]): unknown[][] => [
  ...Object.values(FIELDS).map(([field, type]) =>
    routines.map((routine) => storedValue(routine[field], type)),
  ),
  routines.map(({ waiting }) => waiting.length > 0),
]

/** Whether a mission of the routine r has not ended, or a process of one is left. */
export const IS_BUSY = `(exists (select from missions m
      join routine_fires f on f.workspace_id = m.workspace_id and f.mission_id = m.mission_id
     where m.workspace_id = r.workspace_id and m.completed_at is null and f.routine_id = r.routine_id)
  or exists (select from runs x join tasks t on t.workspace_id = x.workspace_id and t.id = x.task_id
      join routine_fires f on f.workspace_id = t.workspace_id and f.mission_id = t.mission_id
     where x.workspace_id = r.workspace_id and ${isLive('x.status')} and f.routine_id = r.routine_id))`

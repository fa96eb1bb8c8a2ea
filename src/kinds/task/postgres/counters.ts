import type pg from 'pg'
import {
  type Bound,
  columnsOf,
  insertInto,
  type Statement,
  statement,
} from '../../../postgres/statements/statements.ts'
import { TASK_STATES, taskStates } from '../../../pure/states.ts'
import type { ProjectCounts } from '../rules/counts.ts'
import { inScope } from './due.ts'

/** The counters of a workspace, compared with its tasks. */

/** Counters as rows: $1 is the workspace in each statement, then come other parts of their key, then the values by name. */
export interface CounterRows {
  names: readonly string[]
  lock: Statement
  count: Statement
  set: Statement
}

/** Read while nothing is locked; a difference is never transient, as both are read in one statement. */
export const driftedCounters = (pool: pg.Pool, only?: number) =>
  inScope<{ workspaceId: number }>(
    pool,
    only,
    `select k.workspace_id as "workspaceId" from workspace_counters k left join (
       select workspace_id, count(*) as active from tasks where claim_state = 'active' and session is not null
        group by workspace_id) c on c.workspace_id = k.workspace_id
      where k.active_claims <> coalesce(c.active, 0)`,
  )

/** The counter's lock is one that every write of claims needs. */
export const claimCounter: CounterRows = {
  names: ['active_claims'],
  lock: statement(
    'lock_claim_counter',
    'select active_claims from workspace_counters where workspace_id = $1 for update',
  ),
  count: statement(
    'count_active_claims',
    `select count(*) from tasks where workspace_id = $1 and claim_state = 'active' and session is not null`,
  ),
  set: statement(
    'set_claim_counter',
    'update workspace_counters set active_claims = $2 where workspace_id = $1',
  ),
}

const WORK = `t.purpose = 'work' and t.archived_at is null`
const NUMBERS = taskStates
  .map((state) => `count(*) filter (where t.state = '${state}')::int as ${state}`)
  .join(', ')
const DIFFER = taskStates.map((state) => `k.${state} <> coalesce(c.${state}, 0)`).join(' or ')

/** Workspaces whose numbers of tasks by state differ from the actual ones. It reads all tasks. */
export const driftedTaskCounts = (pool: pg.Pool, only?: number) =>
  inScope<{ workspaceId: number }>(
    pool,
    only,
    `select k.workspace_id as "workspaceId" from workspace_counters k left join (
       select t.workspace_id, ${NUMBERS} from tasks t where ${WORK} group by t.workspace_id) c on c.workspace_id = k.workspace_id
      where ${DIFFER}`,
  )

const SET_NUMBERS = taskStates.map((state, place) => `${state} = $${place + 2}`).join(', ')

export const taskCounters: CounterRows = {
  names: taskStates,
  lock: statement(
    'lock_task_counters',
    `select ${taskStates.join(', ')} from workspace_counters where workspace_id = $1 for update`,
  ),
  count: statement(
    'count_tasks_by_state',
    `select ${NUMBERS} from tasks t where t.workspace_id = $1 and ${WORK}`,
  ),
  set: statement('set_task_counters', `update workspace_counters set ${SET_NUMBERS} where workspace_id = $1`),
}

const PENDING = taskStates
  .filter((state) => TASK_STATES[state].type === 'pending')
  .map((state) => `'${state}'`)
  .join(', ')
const IN_PROJECT = `count(*) filter (where t.state in (${PENDING}) and ${WORK})::int as pending,
    count(*) filter (where t.state = 'completed' and ${WORK})::int as completed,
    count(*) filter (where t.claim_state = 'active' and t.session is not null)::int as active_claims`
const NUMBERS_OF_PROJECT = ['pending', 'completed', 'active_claims'] as const

// A project has a row from its first task on. What has none yet begins with what is added.
const addToProjects = insertInto(
  'project_counters',
  columnsOf({ project_id: 'int', pending: 'int', completed: 'int', active_claims: 'int' }),
  `on conflict (workspace_id, project_id) do update set ${NUMBERS_OF_PROJECT.map(
    (name) => `${name} = project_counters.${name} + excluded.${name}`,
  ).join(', ')}`,
  'count_in_projects',
)

/** Under the lock of the workspace's counter: so no two transactions wait for each other here. */
export const projectCountWrites = (workspaceId: number, changed: readonly ProjectCounts[]): Bound[] =>
  changed.length === 0
    ? []
    : [
        addToProjects(workspaceId, [
          changed.map(({ projectId }) => projectId),
          changed.map(({ pending }) => pending),
          changed.map(({ completed }) => completed),
          changed.map(({ activeClaims }) => activeClaims),
        ]),
      ]

/** Projects whose numbers differ from their tasks. It reads all tasks of projects. */
export const driftedProjectCounts = (pool: pg.Pool, only?: number) =>
  inScope<{ workspaceId: number; projectId: number }>(
    pool,
    only,
    `select k.workspace_id as "workspaceId", k.project_id as "projectId" from project_counters k left join (
       select t.workspace_id, t.project_id, ${IN_PROJECT} from tasks t where t.project_id <> 0 group by 1, 2) c
         on c.workspace_id = k.workspace_id and c.project_id = k.project_id
      where ${NUMBERS_OF_PROJECT.map((name) => `k.${name} <> coalesce(c.${name}, 0)`).join(' or ')}`,
  )

// Every change of these numbers is under the lock of the workspace's counter. $2 is the project.
export const projectCounters: CounterRows = {
  names: NUMBERS_OF_PROJECT,
  lock: statement(
    'lock_project_counters',
    `select ${NUMBERS_OF_PROJECT.map((name) => `p.${name}`).join(', ')} from workspace_counters k
       join project_counters p on p.workspace_id = k.workspace_id and p.project_id = $2
      where k.workspace_id = $1 for update of k`,
  ),
  count: statement(
    'count_tasks_of_project',
    `select ${IN_PROJECT} from tasks t where t.workspace_id = $1 and t.project_id = $2`,
  ),
  set: statement(
    'set_project_counters',
    `update project_counters set ${NUMBERS_OF_PROJECT.map((name, i) => `${name} = $${i + 3}`).join(', ')}
      where workspace_id = $1 and project_id = $2`,
  ),
}

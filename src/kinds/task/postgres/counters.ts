import type pg from 'pg'
import { type Statement, statement } from '../../../postgres/statements/statements.ts'
import { taskStates } from '../../../pure/states.ts'
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

import type pg from 'pg'
import type { Connections } from '../../../postgres/statements/connections.ts'
import { keepTerms } from '../../../postgres/statements/statements.ts'
import type { WorkspaceTransaction } from '../../../postgres/statements/workspace-transaction.ts'
import { Refused } from '../../../pure/errors.ts'
import { type TaskState, taskStates } from '../../../pure/states.ts'
import { inScope } from './due.ts'

/**
 * Workspaces whose counter of active claims differs from the actual number. Both are written in one transaction and read in
 * one statement here, so a difference is never transient.
 */
export const driftedCounters = (pool: pg.Pool, only?: number) =>
  inScope<{ workspaceId: number }>(
    pool,
    only,
    `select k.workspace_id as "workspaceId" from workspace_counters k left join (
       select workspace_id, count(*) as active from tasks where claim_state = 'active' and session is not null
        group by workspace_id) c on c.workspace_id = k.workspace_id
      where k.active_claims <> coalesce(c.active, 0)`,
  )

/**
 * Recounts under the counter's lock, which every write of claims needs. The correction raises an alert, it is never silent.
 */
export function correctCounters(
  store: Connections,
  workspaceId: number,
  term: number | undefined,
): Promise<void> {
  return store.change(workspaceId, async (tx) => {
    await refuseUnlessLeading(tx, term)
    const { rows } = await tx.query(
      'select active_claims as said from workspace_counters where workspace_id = $1 for update',
      [workspaceId],
    )
    const counted = await tx.query(
      `select count(*) as active from tasks where workspace_id = $1 and claim_state = 'active' and session is not null`,
      [workspaceId],
    )
    const { said } = rows[0] as { said: number }
    const { active } = counted.rows[0] as { active: number }
    if (said === active) return
    await tx.query('update workspace_counters set active_claims = $2 where workspace_id = $1', [
      workspaceId,
      active,
    ])
    const error = `The counter of active claims was ${said}, but there are ${active}.`
    tx.emit('alert_raised', 'system', { alert: 'COUNTER_DRIFT', error })
  })
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

/** Recounts the tasks by state under the counter's lock. */
export const correctTaskCounts = (
  store: Connections,
  workspaceId: number,
  term: number | undefined,
): Promise<void> =>
  store.change(workspaceId, async (tx) => {
    await refuseUnlessLeading(tx, term)
    const { rows } = await tx.query(
      `select ${taskStates.join(', ')} from workspace_counters where workspace_id = $1 for update`,
      [workspaceId],
    )
    const counted = await tx.query(`select ${NUMBERS} from tasks t where t.workspace_id = $1 and ${WORK}`, [
      workspaceId,
    ])
    const [said, are] = [rows[0], counted.rows[0]] as Record<TaskState, number>[]
    const wrong = taskStates.filter((state) => said![state] !== are![state])
    if (wrong.length === 0) return
    const numbers = taskStates.map((state) => are![state])
    await tx.query(`update workspace_counters set ${SET_NUMBERS} where workspace_id = $1`, [
      workspaceId,
      ...numbers,
    ])
    const each = wrong.map((state) => `${state} ${said![state]} instead of ${are![state]}`)
    const error = `The numbers of tasks by state were wrong: ${each.join(', ')}.`
    tx.emit('alert_raised', 'system', { alert: 'COUNTER_DRIFT', error })
  })

async function refuseUnlessLeading(tx: WorkspaceTransaction, term: number | undefined): Promise<void> {
  if (term !== undefined && !(await tx.query(keepTerms.text, [[term]])).rows.length)
    throw new Refused('NOT_LEADER', `Term ${term} of the coordinator is over.`)
}

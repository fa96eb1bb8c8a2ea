import type pg from 'pg'
import { scopedQuery } from '../../../postgres/statements/scoped-query.ts'
import type { TaskState } from '../../../pure/states.ts'

/** The verifications of a task for people. */

export interface VerificationRow {
  taskId: string
  generation: number
  state: TaskState
  verifier: string | null
  /** Its accepted answer. */
  answer: unknown
  costUsd: string | null
}

// $1 workspace, $2 task.
const VERIFICATIONS = `select t.uuid as "taskId", (t.serves ->> 'generation')::int as generation, t.state, t.agent as verifier,
    (select a.data from attempts a where a.workspace_id = $1 and a.task_id = t.id and a.accepted order by a.epoch desc limit 1) as answer,
    (select trim_scale(sum(r.cost_usd))::text from runs r where r.workspace_id = $1 and r.task_id = t.id) as "costUsd"
  from tasks t where t.workspace_id = $1 and t.serves is not null and (t.serves ->> 'taskId')::bigint = $2 order by t.id`

/** Oldest first. */
export const verificationRows = (pool: pg.Pool, workspaceId: number, taskId: number) =>
  scopedQuery<VerificationRow & pg.QueryResultRow>(pool, 'baton.workspace_id', String(workspaceId), {
    text: VERIFICATIONS,
    values: [workspaceId, taskId],
  })

import type pg from 'pg'
import type { StoredResult } from '../store.ts'
import { scopedQuery } from './scoped-query.ts'

export interface RejectedResult extends StoredResult {
  /** The outside id of its task. */
  taskId: string
  place: Place
}

/** Its place in the list. Results of one moment are many, so the moment alone would not do. */
export type Place = readonly [submittedAt: number, taskId: number, generation: number, hash: string]

/** Rejected results of a workspace, newest first, after this place. */
export const rejectedResults = (
  pool: pg.Pool,
  workspaceId: number,
  after: Place | undefined,
  limit: number,
) =>
  scopedQuery<RejectedResult & pg.QueryResultRow>(pool, 'baton.workspace_id', String(workspaceId), {
    text: `select t.uuid as "taskId", r.generation, r.epoch, r.session, r.agent, r.accepted, r.rejection, r.ref, r.hash,
                  r.data, r.summary, ms(r.submitted_at) as "submittedAt",
                  json_build_array(ms(r.submitted_at), r.task_id, r.generation, r.hash) as place
             from results r join tasks t on t.workspace_id = r.workspace_id and t.id = r.task_id
            where r.workspace_id = $1 and r.accepted is false
              and ($2::double precision is null
                or (r.submitted_at, r.task_id, r.generation, r.hash) < (to_timestamp($2 / 1000), $3::bigint, $4::int, $5::text))
            order by r.submitted_at desc, r.task_id desc, r.generation desc, r.hash desc limit $6`,
    values: [workspaceId, ...(after ?? [null, null, null, null]), limit],
  })

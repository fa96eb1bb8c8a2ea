import type pg from 'pg'
import { readRecord, taskColumns } from '../../postgres/statements/columns.ts'
import { bind, type Connections } from '../../postgres/statements/connections.ts'
import { scopedQuery } from '../../postgres/statements/scoped-query.ts'
import { inScope } from '../task/postgres/due.ts'
import type { TaskRecord } from '../task/record.ts'

/** Tasks that serve others: verifications, and the planning of missions. */

/** The tasks that judged, or judge, results of a task; newest first. */
async function verificationsOf(pool: pg.Pool, workspaceId: number, taskId: number): Promise<TaskRecord[]> {
  const rows = await scopedQuery<unknown[]>(pool, 'baton.workspace_id', String(workspaceId), {
    text: `select ${taskColumns('t')} from tasks t
      where t.workspace_id = $1 and t.serves is not null and (t.serves ->> 'taskId')::bigint = $2 order by t.id desc`,
    values: [workspaceId, taskId],
    rowMode: 'array',
  })
  return rows.map(readRecord)
}

// By the index of active claims, which are few. $2 agents, $3 before when.
async function busySince(
  pool: pg.Pool,
  workspaceId: number,
  slugs: readonly string[],
  before: number,
): Promise<string[]> {
  const rows = await scopedQuery<{ agent: string }>(pool, 'baton.workspace_id', String(workspaceId), {
    text: `select distinct t.agent from tasks t where t.workspace_id = $1 and t.claim_state = 'active' and t.agent = any($2)
        and ms(t.acquired_at) < $3`,
    values: [workspaceId, slugs, before],
  })
  return rows.map(({ agent }) => agent)
}

// By their own index: of all open tasks, few serve others. $1 limit.
const ORPHANS = `select t.workspace_id as "workspaceId", t.id, t.uuid from tasks t
   where t.purpose <> 'work' and t.completed_at is null and case t.purpose
     when 'verification' then not exists (select from tasks j where j.workspace_id = t.workspace_id
       and j.id = (t.serves ->> 'taskId')::bigint and j.state = 'verifying' and j.generation = (t.serves ->> 'generation')::int)
     when 'planning' then not exists (select from missions m
       where m.workspace_id = t.workspace_id and m.mission_id = t.mission_id and (m.phase = 'planning' or (m.phase = 'running' and m.config -> 'outcome' ->> 'isPlanning' = 'true')))
     else false end
   order by t.id limit $1`

/** Open tasks that nothing needs any longer. */
const orphanTasks = (pool: pg.Pool, limit: number, only?: number) =>
  inScope<{ workspaceId: number; id: number; uuid: string }>(pool, only, ORPHANS, [limit])

export const verificationReads = ({ readers }: Connections) =>
  bind(readers, { of: verificationsOf, busySince, orphans: orphanTasks })

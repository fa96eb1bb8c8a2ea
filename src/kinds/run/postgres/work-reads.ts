import type pg from 'pg'
import { isLive } from '../../../postgres/statements/run-states.ts'
import { inside, scopedQuery } from '../../../postgres/statements/scoped-query.ts'
import { REPOSITORY } from '../../mission/postgres/work.ts'

/** What tasks left in repositories. */

/** Whether a run of the task is not over. */
export async function hasLiveRun(pool: pg.Pool, workspaceId: number, taskId: number): Promise<boolean> {
  const text = `select from runs r where r.workspace_id = $1 and r.task_id = $2 and ${isLive('r.status')} limit 1`
  return (await inside(pool, workspaceId, text, [taskId])).length > 0
}

export interface WorkspaceRepository {
  workspaceId: number
  repository: string
}

const IS_WORK = `${REPOSITORY} is not null and r.task_id is not null`
const MOST_REPOSITORIES = 1_000

// From one entry of the index to the next that differs: there are many runs and few repositories.
const REPOSITORIES = `with recursive known as (
    (select r.workspace_id, (${REPOSITORY}) collate "C" as repository from runs r where ${IS_WORK}
      order by r.workspace_id, (${REPOSITORY}) collate "C" limit 1)
    union all
    select n.workspace_id, n.repository from known k cross join lateral (
      select r.workspace_id, (${REPOSITORY}) collate "C" as repository from runs r
       where ${IS_WORK} and (r.workspace_id, (${REPOSITORY}) collate "C") > (k.workspace_id, k.repository)
       order by r.workspace_id, (${REPOSITORY}) collate "C" limit 1) n)
  select workspace_id as "workspaceId", repository from known limit ${MOST_REPOSITORIES}`

/** The repositories in which agents have worked on tasks. */
export const repositoriesOfWork = (pool: pg.Pool) =>
  scopedQuery<WorkspaceRepository & pg.QueryResultRow>(pool, 'baton.scope', 'upkeep', { text: REPOSITORIES })

/** A task that ended longer ago than its workspace keeps branches. */
export interface OldWork {
  id: number
  uuid: string
  version: number
  generation: number
  /** The commits of all its results that were accepted, also in earlier epochs. */
  accepted: string[]
}

// $1 workspace, $2 repository, $3 tasks. Only those that worked there: a ref may name any task.
const OLD_WORK = `select t.id, t.uuid, t.version, t.generation,
       array(select distinct a.commit from attempts a where a.workspace_id = $1 and a.task_id = t.id
          and a.hash is not null and a.accepted is distinct from false and a.commit is not null) as accepted
  from tasks t join limits l on l.workspace_id = t.workspace_id
 where t.workspace_id = $1 and t.id = any($3::bigint[]) and l.branch_retention_days > 0
   and t.completed_at < now() - l.branch_retention_days * interval '1 day'
   and exists (select from runs r where r.workspace_id = $1 and r.task_id = t.id and ${REPOSITORY} = $2)
   and not exists (select from runs r where r.workspace_id = $1 and r.task_id = t.id and ${isLive('r.status')})`

export const oldWorkIn = (
  pool: pg.Pool,
  { workspaceId, repository }: WorkspaceRepository,
  taskIds: readonly number[],
) => inside<OldWork & pg.QueryResultRow>(pool, workspaceId, OLD_WORK, [repository, taskIds])

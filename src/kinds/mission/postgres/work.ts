import type pg from 'pg'
import { inside, insideByKeys, scopedQuery } from '../../../postgres/statements/scoped-query.ts'
import type { MissionWork } from '../record.ts'

/** What the tasks of missions left in repositories. */

/** Of runs r. */
export const REPOSITORY = `r.folder #>> '{worktree,repository}'`

// The commits of accepted results, oldest task first. Each task by its keys ("offset 0"). $1 workspace, $2 mission, $3 how many.
const OF_MISSION = `select t.uuid as "taskUuid", (d.plan ->> 'sequenceNumber')::int as number, d.title, a.generation, a.agent, a.commit,
       ${REPOSITORY} as repository, r.folder #>> '{worktree,branch}' as branch, r.folder #>> '{worktree,baseCommit}' as "baseCommit",
       r.node_id as "nodeId"
  from tasks t
  cross join lateral (select a.* from attempts a where a.workspace_id = $1 and a.task_id = t.id and a.epoch = t.epoch
     and a.hash is not null and a.accepted and a.commit is not null order by a.generation desc limit 1) a
  cross join lateral (select d.* from task_details d where d.workspace_id = $1 and d.task_id = t.id offset 0) d
  left join lateral (select r.* from runs r where r.workspace_id = $1 and r.task_id = t.id and r.generation = a.generation
     and ${REPOSITORY} is not null order by r.run_id desc limit 1) r on true
 where t.workspace_id = $1 and t.mission_id = $2 and t.purpose = 'work' order by t.id limit $3`

export async function workOfMission(
  pool: pg.Pool,
  workspaceId: number,
  missionId: number,
  limit: number,
): Promise<{ taskCount: number; works: MissionWork[] }> {
  const [[counted], works] = await Promise.all([
    inside<{ tasks: number }>(
      pool,
      workspaceId,
      `select count(*)::int as tasks from tasks t where t.workspace_id = $1 and t.mission_id = $2 and t.purpose = 'work'`,
      [missionId],
    ),
    insideByKeys<Omit<MissionWork, 'node'> & { nodeId: string | null }>(pool, workspaceId, OF_MISSION, [
      missionId,
      limit,
    ]),
  ])
  const nodeIds = [...new Set(works.map(({ nodeId }) => nodeId).filter((id) => id !== null))]
  const nodes =
    nodeIds.length === 0
      ? []
      : await scopedQuery<{ nodeId: string; name: string }>(pool, 'baton.scope', 'upkeep', {
          text: 'select node_id as "nodeId", name from nodes where node_id = any($1::uuid[])',
          values: [nodeIds],
        })
  const names = new Map(nodes.map(({ nodeId, name }) => [nodeId, name]))
  return {
    taskCount: counted!.tasks,
    works: works.map(({ nodeId, ...work }) => ({ ...work, node: names.get(nodeId ?? '') ?? null })),
  }
}

import type pg from 'pg'
import { inside } from '../postgres/statements/scoped-query.ts'

/** The id in the API of the mission that a task belongs to; null: none. */
export async function missionOfTask(
  pool: pg.Pool,
  workspaceId: number,
  taskId: number,
): Promise<string | null> {
  const text = `select m.uuid from tasks t join missions m on m.workspace_id = t.workspace_id and m.mission_id = t.mission_id
     where t.workspace_id = $1 and t.id = $2`
  const [row] = await inside<{ uuid: string }>(pool, workspaceId, text, [taskId])
  return row?.uuid ?? null
}

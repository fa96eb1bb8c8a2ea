import { DEFAULT_LIMITS, type Limits, LimitsSchema } from '../../src/kinds/workspace/limits.ts'
import { insert } from './bulk.ts'
import { NOW } from './clock.ts'
import { isDuplicate, type Pool } from './connect.ts'
import { sql } from './sql.ts'
import { LIMIT_COLUMNS } from './statements.ts'

/** Workspaces, their projects and tracks: created on first use, by whichever node is first. */

export async function workspaceNamed(
  pool: Pool,
  name: string,
  limits: Partial<Limits> = {},
): Promise<number> {
  const known = await workspaceCalled(pool, name)
  if (known !== undefined) return known
  const given = LimitsSchema.parse({ ...DEFAULT_LIMITS, ...limits })
  const fields = Object.keys(LIMIT_COLUMNS) as (keyof Limits)[]
  const columns = ['name', 'created_at', ...Object.values(LIMIT_COLUMNS)]
  const values = [name, NOW, ...fields.map((field) => given[field])]
  const made = insert('baton_workspaces', columns, [values], ' on duplicate key update name = name')
  for (const statement of made) await pool.ask(statement)
  // Not only by the node that created it, which may have been cut off before this.
  await pool.ask(
    sql`insert into baton_counters (workspace_id) select workspace_id from baton_workspaces where name = ${name}
        on duplicate key update last_seq = last_seq`,
  )
  return (await workspaceCalled(pool, name))!
}

/** Its number, once it is complete. */
async function workspaceCalled(pool: Pool, name: string): Promise<number | undefined> {
  const rows = await pool.rows(
    sql`select w.workspace_id from baton_workspaces w join baton_counters c on c.workspace_id = w.workspace_id
         where w.name = ${name}`,
  )
  return rows[0]?.[0] as number | undefined
}

/** Numbered from 1 in each workspace. */
export async function projectOf(pool: Pool, workspaceId: number, slug: string): Promise<number> {
  for (;;) {
    const [found] = await pool.rows(
      sql`select project_id from baton_projects where workspace_id = ${workspaceId} and slug = ${slug}`,
    )
    if (found) return found[0] as number
    try {
      await pool.ask(
        sql`insert into baton_projects (workspace_id, project_id, slug)
            select ${workspaceId}, coalesce(max(project_id), 0) + 1, ${slug} from baton_projects
             where workspace_id = ${workspaceId}`,
      )
    } catch (error) {
      // Another node created this one, or another with the same number: read again.
      if (!isDuplicate(error)) throw error
    }
  }
}

export async function setTrack(
  pool: Pool,
  workspaceId: number,
  projectId: number,
  track: string,
  maxAgents: number | null,
): Promise<void> {
  await pool.ask(
    sql`insert into baton_tracks (workspace_id, project_id, track, max_agents)
        values (${workspaceId}, ${projectId}, ${track}, ${maxAgents})
        on duplicate key update max_agents = ${maxAgents}`,
  )
}

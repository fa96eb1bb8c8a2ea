import type pg from 'pg'
import { scopedQuery } from '../../../postgres/statements/scoped-query.ts'
import type { AgentState } from '../../../pure/states.ts'
import { RESERVED_ONLY } from './rows.ts'

/** Who may claim a queued task. */

interface Eligible {
  agents: { slug: string; state: AgentState; stateReason: string | null; leaving: boolean }[]
  workers: number
}

const MOST_AGENTS = 20

// Agents that may claim a task, those at work first, and how many workers may. $1 workspace, $2 the agent it is reserved for or null,
// $3 the capabilities it requires, $4 its type, if it is work.
const ELIGIBLE = `select
  (select coalesce(json_agg(json_build_object('slug', f.slug, 'state', f.state, 'stateReason', f.state_reason, 'leaving', f.leaving)), '[]')
     from (select a.slug, a.state, a.state_reason, a.leaving from agents a where a.workspace_id = $1 and case
         when $2::text is null then not ${RESERVED_ONLY} and a.state <> 'terminated' and a.capabilities @> $3::text[]
           and (a.task_types = '{}' or $4::text is null or $4 = any(a.task_types))
         else a.slug = $2 end
       order by (a.state in ('idle', 'running') and not a.leaving) desc, a.slug limit ${MOST_AGENTS}) f) as agents,
  (select count(*)::int from sessions s where s.workspace_id = $1 and $2::text is null and s.capacity is not null
     and s.ended_at is null and s.capabilities @> $3::text[]) as workers`

export async function eligibleFor(
  pool: pg.Pool,
  workspaceId: number,
  onlyAgent: string | null,
  capabilities: readonly string[],
  taskType: string | null,
): Promise<Eligible> {
  const values = [workspaceId, onlyAgent, capabilities, taskType]
  const [row] = await scopedQuery<Eligible>(pool, 'baton.workspace_id', String(workspaceId), {
    ...{ name: 'eligible', text: ELIGIBLE, values },
  })
  return row!
}

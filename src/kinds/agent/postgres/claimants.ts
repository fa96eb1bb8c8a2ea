import type pg from 'pg'
import { scopedQueries } from '../../../postgres/statements/scoped-query.ts'
import { isUuid } from '../../../pure/ids.ts'
import type { SessionRecord } from '../../task/record.ts'
import type { Limits } from '../../workspace/limits.ts'
import { limitSelect } from '../../workspace/postgres.ts'

/** What claims name: agents by slug or id, sessions, and tasks by id. */
export interface ClaimedNames {
  agents: readonly string[]
  sessions: readonly string[]
  taskIds: readonly number[]
}

export interface KnownClaimants {
  limits: Limits
  agents: { agentId: string; slug: string; capabilities: string[]; taskTypes: string[] }[]
  sessions: Pick<SessionRecord, 'name' | 'agent' | 'capabilities' | 'capacity' | 'silenceMs' | 'dueAt'>[]
  now: number
  /** The ids by which clients know the tasks. */
  tasks: string[]
}

// $1 workspace, $2 slugs, $3 ids.
const AGENTS = `select agent_id as "agentId", slug, capabilities, task_types as "taskTypes" from agents
  where workspace_id = $1 and (slug = any($2::text[]) or agent_id = any($3::uuid[]))`

// $1 workspace, $2 names.
const SESSIONS = `select session as name, agent, capabilities, capacity, silence_ms::float8 as "silenceMs", ms(due_at) as "dueAt"
  from sessions where workspace_id = $1 and session = any($2::text[])`

// $1 workspace, $2 ids.
const TASKS = 'select uuid from tasks where workspace_id = $1 and id = any($2::bigint[])'

/** All that a claim must know before it is decided, in one round trip. Registers nothing. */
export async function findClaimants(
  pool: pg.Pool,
  workspaceId: number,
  { agents, sessions, taskIds }: ClaimedNames,
): Promise<KnownClaimants> {
  const [limits, knownAgents, knownSessions, tasks] = await scopedQueries<pg.QueryResultRow>(
    pool,
    'baton.workspace_id',
    String(workspaceId),
    [
      {
        text: `select ms(clock_timestamp()) as now, ${limitSelect} from limits l where workspace_id = $1`,
        values: [workspaceId],
      },
      {
        text: AGENTS,
        values: [workspaceId, agents.filter((name) => !isUuid(name)), agents.filter(isUuid)],
      },
      { text: SESSIONS, values: [workspaceId, sessions] },
      { text: TASKS, values: [workspaceId, taskIds] },
    ],
  )
  const { now, ...ofWorkspace } = limits![0]!
  return {
    now,
    limits: ofWorkspace as Limits,
    agents: knownAgents as KnownClaimants['agents'],
    sessions: knownSessions as KnownClaimants['sessions'],
    tasks: tasks!.map(({ uuid }) => uuid),
  }
}

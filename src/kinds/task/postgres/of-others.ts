import type pg from 'pg'
import { inside, scopedQuery } from '../../../postgres/statements/scoped-query.ts'
import { costOfTask, isTaskSimulated } from '../../../postgres/statements/spent.ts'
import type { AgentState, TaskState } from '../../../pure/states.ts'

/** What other kinds have of a task: who may claim it, who judged it, and for whom it was held. */

/** Who may claim a queued task. */
interface Eligible {
  agents: { slug: string; state: AgentState; stateReason: string | null; leaving: boolean }[]
  workers: number
}

const MOST_AGENTS = 20

// Whether the agent `a` gets only tasks that are reserved for it, as kinds/run/rules/policy.ts says.
export const RESERVED_ONLY = `(a.adapter_type = 'command' or a.kind = 'contractor'
   or coalesce(a.runtime_config ->> 'reservedOnly', 'false') = 'true')`

/** What a task asks of those who claim it, as expressions of SQL. */
interface Asked {
  /** The agent it is reserved for, or null. */
  agent: string
  /** The capabilities it requires. */
  capabilities: string
  /** Its type, if it is work. */
  type: string
}

/** Agents `a` that may claim a task. $1 workspace. */
export const mayClaim = ({ agent, capabilities, type }: Asked) => `a.workspace_id = $1 and case
         when ${agent} is null then not ${RESERVED_ONLY} and a.state <> 'terminated' and a.capabilities @> ${capabilities}
           and (a.task_types = '{}' or ${type} is null or ${type} = any(a.task_types))
         else a.slug = ${agent} end`

/** Workers `s` that may. $1 workspace. */
export const workersFor = ({ agent, capabilities }: Asked) =>
  `s.workspace_id = $1 and ${agent} is null and s.capacity is not null and s.ended_at is null and s.capabilities @> ${capabilities}`

/**
 * Whether its last claim has reported progress. A new claim forgets when there was progress; what the claim before had reached is
 * not its own.
 */
export const hasReported = (task: string) => `${task}.watch ->> 'progressAt' is not null`

/** As pages read them. */
export const SHOWN_AGENT = `json_build_object('slug', f.slug, 'state', f.state, 'stateReason', f.state_reason, 'leaving', f.leaving)`

const GIVEN: Asked = { agent: '$2::text', capabilities: '$3::text[]', type: '$4::text' }

// Agents that may claim a task, those at work first, and how many workers may. $1 workspace, then what it asks.
const ELIGIBLE = `select
  (select coalesce(json_agg(${SHOWN_AGENT}), '[]')
     from (select a.slug, a.state, a.state_reason, a.leaving from agents a where ${mayClaim(GIVEN)}
       order by (a.state in ('idle', 'running') and not a.leaving) desc, a.slug limit ${MOST_AGENTS}) f) as agents,
  (select count(*)::int from sessions s where ${workersFor(GIVEN)}) as workers`

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

/** A verification of a task, for people. */
interface VerificationRow {
  taskId: string
  generation: number
  state: TaskState
  verifier: string | null
  /** Its accepted answer. */
  answer: unknown
  costUsd: string | null
  isSimulated: boolean
}

// $1 workspace, $2 task.
const VERIFICATIONS = `select t.uuid as "taskId", (t.serves ->> 'generation')::int as generation, t.state, t.agent as verifier,
    (select a.data from attempts a where a.workspace_id = $1 and a.task_id = t.id and a.accepted order by a.epoch desc limit 1) as answer,
    ${costOfTask('t.id')} as "costUsd", ${isTaskSimulated('t.id')} as "isSimulated"
  from tasks t where t.workspace_id = $1 and t.serves is not null and (t.serves ->> 'taskId')::bigint = $2 order by t.id`

/** Oldest first. */
export const verificationRows = (pool: pg.Pool, workspaceId: number, taskId: number) =>
  scopedQuery<VerificationRow & pg.QueryResultRow>(pool, 'baton.workspace_id', String(workspaceId), {
    text: VERIFICATIONS,
    values: [workspaceId, taskId],
  })

/** Whether a part of what it cost is simulated money. */
export async function isSimulated(pool: pg.Pool, workspaceId: number, taskId: number): Promise<boolean> {
  const [row] = await inside<{ is: boolean }>(
    pool,
    workspaceId,
    `select ${isTaskSimulated('$2::bigint')} as is`,
    [taskId],
  )
  return row!.is
}

/** The users of these sessions, where they named one. */
export async function usersOf(
  pool: pg.Pool,
  workspaceId: number,
  sessions: readonly string[],
): Promise<Map<string, string>> {
  const rows = await inside<{ session: string; userId: string }>(
    pool,
    workspaceId,
    `select session, user_ref as "userId" from sessions
      where workspace_id = $1 and session = any($2::text[]) and user_ref is not null`,
    [sessions],
  )
  return new Map(rows.map(({ session, userId }) => [session, userId]))
}

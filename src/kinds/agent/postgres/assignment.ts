import type pg from 'pg'
import type { Assignable } from '../../../kernel/store/run-store.ts'
import { bind, type Connections } from '../../../postgres/statements/connections.ts'
import { OPEN_LANES } from '../../../postgres/statements/lanes.ts'
import { plannedOnce, scopedQuery } from '../../../postgres/statements/scoped-query.ts'
import { inScope } from '../../task/postgres/due.ts'
import { RESERVED_ONLY } from '../../task/postgres/of-others.ts'
import type { AssignableTask } from '../rules/assignment.ts'
import { IS_WOKEN } from './rows.ts'

/** What the coordinator reads to assign work: read again each time, so none of it is out of date for long. */

/** Tasks reserved for agents have two indexes, of lanes without missions and of all others: a condition that names neither reads the whole workspace. */
const HALVES = ["t.lane < '~'", "t.lane >= '~'"]
const inEitherHalf = (query: (half: string) => string, joinedBy: string) => HALVES.map(query).join(joinedBy)

/** Workspaces with agents that take assignments, and whether tasks are waiting there. */
const workspacesToAssignIn = (pool: pg.Pool, only?: number) =>
  inScope<{ workspaceId: number; isWorkWaiting: boolean }>(
    pool,
    only,
    `with w as (select distinct workspace_id from agents
        where coordinator_enabled and state = 'idle')
      select w.workspace_id as "workspaceId",
             exists (select from tasks t where t.workspace_id = w.workspace_id and t.rank is not null and t.only_agent is null)
             or ${inEitherHalf((half) => `exists (select from tasks t where t.workspace_id = w.workspace_id and t.rank is not null and t.only_agent is not null and ${half})`, ' or ')}
               as "isWorkWaiting" from w`,
  )

// Agents that Baton runs get tasks of every purpose; others get only work, and claim anything else themselves.
const IS_FOR = (purpose: string) => `(${purpose} = 'work' or a.adapter_type <> 'external')`
const LANES = `with recursive ${OPEN_LANES}`

// The waiting tasks that are reserved for an agent, in one half of the lanes.
const reservedIn = (half: string) =>
  `select from tasks t where t.workspace_id = $1 and t.only_agent = a.slug and t.rank is not null and ${half} and ${IS_FOR('t.purpose')}`

// Whether an assignment wakes an agent that Baton runs now, and its credential is not parked.
const MAY_BE_WOKEN = `${IS_WOKEN}
   and not exists (select from agent_runtime_state s
     where s.workspace_id = a.workspace_id and s.agent = a.slug and s.parked_until > clock_timestamp())`

/** For `nextDue`. */
export const EARLIEST_UNPARKED =
  'select min(s.parked_until) from agent_runtime_state s where s.parked_until > (select clock_timestamp())'

// Agents that could take some of the waiting tasks. The health of each by its key ("offset 0"): with a join, a table without
// statistics is read whole for every agent.
const FREE_AGENTS = `${LANES} select * from (
    select a.slug, a.capabilities, a.max_concurrent_tasks as capacity, a.batch_size, 
           case a.adapter_type when 'external' then 'work' else 'all' end as takes, ${RESERVED_ONLY} as reserved_only,
           case when a.adapter_type = 'external' then h.session end as session, h.status = 'degraded' as degraded,
           (select count(*) from tasks t where t.workspace_id = a.workspace_id and t.agent = a.slug and t.claim_state = 'active') as held,
           nullif(a.task_types, '{}') as task_types
      from agents a cross join lateral (
        select * from agent_health h where h.workspace_id = a.workspace_id and h.slug = a.slug offset 0) h
     where a.workspace_id = $1 and a.coordinator_enabled and a.state = 'idle' and not a.leaving
       and (exists (select from lanes l where not ${RESERVED_ONLY} and l.capabilities <@ a.capabilities and ${IS_FOR('l.purpose')}) or
         ${inEitherHalf((half) => `exists (${reservedIn(half)} limit 1)`, ' or ')})
       and case when a.adapter_type = 'external'
             then h.has_heartbeat and h.last_seen_at + a.stale_ms * interval '1 millisecond' > clock_timestamp()
             else ${MAY_BE_WOKEN} end) f
   where f.capacity is null or f.held < f.capacity`

// Of each lane no more tasks are counted than could be assigned now.
const KINDS = `${LANES} select l.capabilities, l.purpose = 'work', (select count(*) from (
     select from tasks t where t.workspace_id = $1 and t.lane = l.lane and t.rank is not null and t.only_agent is null
      limit 1000) head) as waiting from lanes l`

const RESERVED = `select a.slug, (select count(*) from (${inEitherHalf((half) => `(${reservedIn(half)} limit 1000)`, ' union all ')}) head) as waiting
   from agents a where a.workspace_id = $1 and a.coordinator_enabled and a.state = 'idle'`

/** By their names as prepared statements. */
const ASSIGNMENT: Readonly<Record<string, string>> = {
  free_agents: FREE_AGENTS,
  waiting_kinds: KINDS,
  waiting_reserved: RESERVED,
}

async function assignmentIn(
  pool: pg.Pool,
  workspaceId: number,
): Promise<{ agents: Assignable[]; waiting: AssignableTask }> {
  const values = [workspaceId]
  const [agents, kinds, reserved] = (await plannedOnce<unknown[]>(
    pool,
    workspaceId,
    Object.entries(ASSIGNMENT).map(([name, text]) => ({ name, text, values, rowMode: 'array' as const })),
  )) as [unknown[][], unknown[][], unknown[][]]
  return {
    agents: agents.map(
      ([
        slug,
        capabilities,
        capacity,
        batchSize,
        takes,
        isReservedOnly,
        session,
        isDegraded,
        held,
        types,
      ]) => ({
        ...{ slug, capabilities, capacity, batchSize, takes, isReservedOnly, session, isDegraded, held },
        taskTypes: types ?? undefined,
      }),
    ) as Assignable[],
    waiting: {
      kinds: kinds.map(([capabilities, isWork, waiting]) => ({
        capabilities,
        isWork,
        waiting,
      })) as AssignableTask['kinds'],
      reserved: new Map(reserved.filter(([, waiting]) => waiting !== 0) as [string, number][]),
    },
  }
}

/** Waiting tasks like this one: same project, track, type and capabilities; in queue order. */
const similarTo = (pool: pg.Pool, workspaceId: number, taskId: number, limit: number) =>
  scopedQuery<{ id: number; uuid: string }>(pool, 'baton.workspace_id', String(workspaceId), {
    text: `select t.id, t.uuid from tasks m join task_details md on md.workspace_id = m.workspace_id and md.task_id = m.id
        join tasks t on t.workspace_id = m.workspace_id and t.lane = m.lane and t.rank is not null and t.only_agent is null
        join task_details d on d.workspace_id = t.workspace_id and d.task_id = t.id and d.task_type = md.task_type
       where m.workspace_id = $1 and m.id = $2 order by t.rank, t.id limit $3`,
    values: [workspaceId, taskId, limit],
  })

export const assignmentReads = ({ readers }: Connections) =>
  bind(readers, { workspaces: workspacesToAssignIn, read: assignmentIn, similarTo })

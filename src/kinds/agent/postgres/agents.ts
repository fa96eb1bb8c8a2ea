import type pg from 'pg'
import { bind, type Connections } from '../../../postgres/statements/connections.ts'
import {
  bytesOfJson,
  fittingKeys,
  fittingPage,
  MORE,
  type PageOf,
} from '../../../postgres/statements/pages.ts'
import { isLive } from '../../../postgres/statements/run-states.ts'
import { inside, scopedQuery } from '../../../postgres/statements/scoped-query.ts'
import { isUuid } from '../../../pure/ids.ts'
import type { AgentState } from '../../../pure/states.ts'
import { dueAgents } from '../../task/postgres/due.ts'
import type { AgentRecord, AgentSeen } from '../record.ts'
import { contractorsToSettle } from './contractors.ts'
import { readWithHealth, withHealth } from './rows.ts'

/** Reads agents. */

interface Named {
  slug: string
  capabilities: string[]
  taskTypes?: string[]
}

/** Those of these agents that are known, as claims see them. */
export const agentsNamed = (pool: pg.Pool, workspaceId: number, slugs: readonly string[]) =>
  inside<Named & pg.QueryResultRow>(
    pool,
    workspaceId,
    `select slug, capabilities, task_types as "taskTypes" from agents where workspace_id = $1 and slug = any($2::text[])`,
    [slugs],
  )

const selectAgents = (before = '') => `select ${before}${withHealth},
    (select count(*) from runs r where r.workspace_id = a.workspace_id and r.agent = a.slug and ${isLive('r.status')}),
    ms(clock_timestamp()),
    (select count(*) from tasks t where t.workspace_id = a.workspace_id and t.agent = a.slug and t.claim_state = 'active')
  from agents a left join agent_health h on h.workspace_id = a.workspace_id and h.slug = a.slug`
const SELECT_AGENTS = selectAgents()

function readSeen(row: readonly unknown[]): AgentSeen {
  const [runs, now, holds] = row.slice(-3) as [number, number, number]
  return { record: readWithHealth(row), runs, now, holds }
}

const rowsOf = (pool: pg.Pool, workspaceId: number, text: string, values: unknown[]) =>
  scopedQuery<unknown[]>(pool, 'baton.workspace_id', String(workspaceId), { text, values, rowMode: 'array' })

/** By slug or UUID. */
export async function findAgent(pool: pg.Pool, workspaceId: number, name: string): Promise<AgentSeen | null> {
  const byName = isUuid(name) ? 'a.agent_id = $2::uuid' : 'a.slug = $2'
  const text = `${SELECT_AGENTS} where a.workspace_id = $1 and ${byName}`
  const [row] = await rowsOf(pool, workspaceId, text, [workspaceId, name])
  return row ? readSeen(row) : null
}

export interface AgentFilter {
  states?: readonly AgentState[] | undefined
  coordinatorEnabled?: boolean | undefined
  capability?: string | undefined
  kind?: AgentRecord['kind'] | undefined
  slugs?: readonly string[] | undefined
  /** Those whose account is parked now. */
  resting?: boolean | undefined
  /** Also contractors that have ended; a filter by state or kind finds them, too. */
  withEnded?: boolean | undefined
  /** Slugs after this one: ordered by slug, page by page. */
  after?: string | undefined
}

const HOLDS = `exists (select from tasks t where t.workspace_id = a.workspace_id and t.agent = a.slug and t.claim_state = 'active')`

const RUNS = `exists (select from runs r where r.workspace_id = a.workspace_id and r.agent = a.slug and ${isLive('r.status')})`

/** What people read: an idle agent that holds a task or has a run is running. */
export const SHOWN_STATE = `case when a.state = 'idle' and (${HOLDS} or ${RUNS}) then 'running' else a.state end`

/** In the words of the index agents_listed. */
export const LISTED = `(a.kind = 'roster' or a.state <> 'terminated')`

const WANTED = `a.workspace_id = $1
       and ($2::text[] is null or ${SHOWN_STATE} = any($2))
       and ($3::boolean is null or a.coordinator_enabled = $3)
       and ($4::text is null or a.capabilities @> array[$4])
       and ($5::text is null or a.slug > $5)
       and ($6::text is null or a.kind = $6)
       and ($7::text[] is null or a.slug = any($7))
       and ($8::boolean is null or $8 = exists (select from agent_runtime_state s
             where s.workspace_id = a.workspace_id and s.agent = a.slug and s.parked_until > clock_timestamp()))`

const conditionOf = ({ states, kind, withEnded }: AgentFilter) =>
  states || kind || withEnded ? WANTED : `${WANTED} and ${LISTED}`

const wanted = (workspaceId: number, filter: AgentFilter) => [
  workspaceId,
  filter.states ?? null,
  filter.coordinatorEnabled ?? null,
  filter.capability ?? null,
  filter.after ?? null,
  filter.kind ?? null,
  filter.slugs ?? null,
  filter.resting ?? null,
]

export async function listAgents(
  pool: pg.Pool,
  workspaceId: number,
  filter: AgentFilter,
  limit: number,
): Promise<AgentSeen[]> {
  const text = `${SELECT_AGENTS} where ${conditionOf(filter)} order by a.slug limit $9`
  const rows = await rowsOf(pool, workspaceId, text, [...wanted(workspaceId, filter), limit])
  return rows.map(readSeen)
}

/** The same, as many as fit a response. */
export async function pageOfAgents(
  pool: pg.Pool,
  workspaceId: number,
  filter: AgentFilter,
  limit: number,
): Promise<PageOf<AgentSeen>> {
  const page = fittingPage({
    keys: `select row_number() over (order by a.slug) as n, a.slug from agents a where ${conditionOf(filter)} order by a.slug limit ${limit + 1}`,
    columns: ['slug'],
    bytes: `select 2000 + ${bytesOfJson('a.adapter_config')} + ${bytesOfJson('a.runtime_config')} + pg_column_size(a.capabilities)
              from agents a where a.workspace_id = $1 and a.slug = l.slug`,
    limit,
  })
  const text = `${page} ${selectAgents(`${MORE}, `)} where a.workspace_id = $1 and a.slug = ${fittingKeys('slug')} order by a.slug`
  const rows = await rowsOf(pool, workspaceId, text, wanted(workspaceId, filter))
  return { rows: rows.map((row) => readSeen(row.slice(1))), more: rows[0]?.[0] === true }
}

/** Ids of the tasks that are assigned to each of these agents and not started. */
export async function tasksAssignedTo(
  pool: pg.Pool,
  workspaceId: number,
  slugs: readonly string[],
): Promise<Map<string, number[]>> {
  const rows = await rowsOf(
    pool,
    workspaceId,
    `select t.agent, array_agg(t.id order by t.acquired_at, t.id) from tasks t
      where t.workspace_id = $1 and t.claim_state = 'active' and t.agent = any($2::text[]) and t.state = 'assigned'
        and t.watch->>'isOffered' = 'true'
        and t.lease_expires_at > clock_timestamp()
      group by t.agent`,
    [workspaceId, slugs],
  )
  return new Map(rows.map(([slug, ids]) => [slug as string, (ids as unknown[]).map(Number)]))
}

/** Reads of agents that are methods of the store: other kinds need them, and the executor. */
export const agentReads = ({ readers }: Connections) =>
  bind(readers, { find: findAgent, list: listAgents, due: dueAgents, contractorsToSettle })

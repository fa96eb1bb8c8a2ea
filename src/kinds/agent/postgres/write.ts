import type { Changes, ReadSet, View } from '../../../kernel/batch/requests.ts'
import { NOTHING, type Pipeline } from '../../../postgres/statements/pipeline.ts'
import { arrayLiteral } from '../../../postgres/statements/rows.ts'
import { type Bound, boundAmong, statement } from '../../../postgres/statements/statements.ts'
import { ChangedMeanwhile, type StoredKind } from '../../../postgres/statements/stored-kind.ts'
import type { SeenOf } from '../../kind.ts'
import type { KnownAgent } from '../../task/command.ts'
import type { TaskRecord } from '../../task/record.ts'
import type { AgentRecord } from '../record.ts'
import { EARLIEST_UNPARKED } from './assignment.ts'
import { agentRows, healthRows, readAgent } from './rows.ts'

/** Agents on the write path. */

// Agents to change, and the restricted ones among the claiming agents. $1 workspace, $2 the former, $3 the latter.
const lockAgents = statement(
  'lock_agents',
  `select ${agentRows.select('a')} from agents a
    where a.workspace_id = $1 and a.slug = any($2::text[] || ${boundAmong('$3')}) order by a.slug for no key update`,
)

// Read after their lock: what they hold. The same arguments.
const heldByAgents = statement(
  'held_by_agents',
  `select a.slug, array(select t.id from tasks t
      where t.workspace_id = $1 and t.agent = a.slug and t.claim_state = 'active')
     from unnest($2::text[] || ${boundAmong('$3')}) as a(slug)`,
)

// What their last heartbeats reported. $1 workspace, $2 agents.
const healthOf = statement(
  'health_of_agents',
  `select ${healthRows.select('h')} from agent_health h where h.workspace_id = $1 and h.slug = any($2::text[])`,
)

// Templates of contractors, and contractors that may be there already: without a lock, since approval takes nothing from them
// and changes nothing about them. $1 workspace, $2 agents.
const readNamed = statement(
  'read_agents',
  `select ${agentRows.select('a')} from agents a where a.workspace_id = $1 and a.slug = any($2::text[])`,
)

export function askForAgents(pipeline: Pipeline, { agents }: ReadSet): () => View['agents'] {
  const rows = agents.length > 0 ? pipeline.addIn(readNamed, [arrayLiteral(agents)]) : NOTHING
  return () => new Map(rows().map((row) => [row[0] as string, readAgent(row)]))
}

const removeAgents = statement(
  'remove_agents',
  'delete from agents where workspace_id = $1 and slug = any($2::text[])',
)

// $1 workspace, $2 agents.
const holdNothing = statement('hold_nothing', 'select refuse_claims_of_terminated_agents($1, $2::text[])')

/**
 * Agents whose claims were unrestricted when they were read, as an array literal; null for none. They are checked with the
 * events (`appendEventsOfClaims`), since claims do not lock them: no other transaction commits between that check and our own
 * commit.
 */
export function unboundAgents(view: View, { claims }: Changes): string | null {
  const unbound = new Set<string>()
  for (const { kind, agent } of claims)
    if (kind === 'opened' && !view.claimingAgents.has(agent)) unbound.add(agent)
  return unbound.size === 0 ? null : arrayLiteral([...unbound])
}

/**
 * A change of an agent applies to all tasks it holds, so a batch that has not seen all of them is decided again. A heartbeat
 * alone only renews leases, and the next one renews the rest. Agents that may no longer hold anything are also checked when
 * the counter of the workspace is locked: claims may commit until then.
 */
function agentChecks(workspaceId: number, view: View, { kinds }: Changes): Bound[] {
  for (const { slug, version } of kinds.agent.written) mustHaveSeenAll(view, slug, version)
  for (const slug of kinds.agent.removed) mustHaveSeenAll(view, slug, null)
  const ended = kinds.agent.written.filter(({ state }) => state === 'terminated').map(({ slug }) => slug)
  const gone = [...ended, ...kinds.agent.removed]
  return gone.length === 0 ? [] : [[holdNothing, [workspaceId, arrayLiteral(gone)]]]
}

function mustHaveSeenAll({ kinds }: View, slug: string, version: number | null): void {
  const seen = kinds.agent.seen.get(slug)
  if (seen && seen.held > seen.holding.length && seen.record.version !== version) throw new ChangedMeanwhile()
}

type Rows = readonly (readonly unknown[])[]

/** A task that an agent got after the tasks were locked is counted, but cannot be changed: `holding` leaves it out. */
function readAgents(
  readSet: ReadSet,
  records: ReadonlyMap<number, TaskRecord>,
  { agents, held: rowsOfHeld, health }: { agents: Rows; held: Rows; health: Rows },
) {
  const healthBySlug = new Map(health.map((row) => [row[0], row]))
  const heldBySlug = new Map(rowsOfHeld.map(([slug, ids]) => [slug, (ids as unknown[]).map(Number)]))
  const found = new Map(agents.map((row) => [row[0] as string, readAgent(row, healthBySlug.get(row[0]))]))
  const changing = new Map<string, SeenOf<'agent'>>()
  for (const slug of readSet.kinds.agent) {
    const record = found.get(slug)
    if (!record) continue
    const held = heldBySlug.get(slug) ?? []
    changing.set(slug, { record, holding: held.filter((id) => records.has(id)), held: held.length })
  }
  const claiming = new Map<string, KnownAgent>()
  for (const slug of readSet.claimingAgents) {
    const record = found.get(slug)
    if (record) claiming.set(slug, { record, held: heldBySlug.get(slug)?.length ?? 0 })
  }
  return { agents: changing, claimingAgents: claiming }
}

/** The configured row is written when it has a new version; a heartbeat alone writes only the health row. */
function agentWrites(
  workspaceId: number,
  view: View,
  { written: changed, removed }: Changes['kinds']['agent'],
): Bound[] {
  const before = ({ slug }: AgentRecord) => view.kinds.agent.seen.get(slug)?.record
  const fresh = changed.filter((agent) => !before(agent))
  // If it was removed and registered again in one batch, it is another agent with the same name.
  const isSame = ({ version, uuid }: AgentRecord, other: AgentRecord) =>
    version === other.version && uuid === other.uuid
  // In the same order in which other transactions lock several agents against removal: otherwise a deadlock is possible.
  const known = changed
    .filter((agent) => before(agent) && !isSame(agent, before(agent)!))
    .sort((a, b) => (a.slug < b.slug ? -1 : 1))
  const heard = changed.flatMap((agent) => {
    const { slug, health } = agent
    return health && before(agent)?.health !== health ? [{ slug, ...health }] : []
  })
  const writes: Bound[] = []
  if (fresh.length > 0) writes.push(agentRows.insert(workspaceId, fresh))
  if (known.length > 0) writes.push(agentRows.upsert(workspaceId, known))
  if (heard.length > 0) writes.push(healthRows.upsert(workspaceId, heard))
  if (removed.length > 0) writes.push([removeAgents, [workspaceId, arrayLiteral(removed)]])
  return writes
}

export const storedAgents: StoredKind<'agent'> = {
  tables: { agents: 'select, insert, update, delete', agent_health: 'select, insert, update, delete' },
  due: ['select min(h.due_at) from agent_health h where h.due_at is not null', EARLIEST_UNPARKED],
  firstCome: ['agents_workspace_id_slug_key'],
  ask(pipeline, readSet) {
    const changing = readSet.kinds.agent
    const names = [arrayLiteral(changing), arrayLiteral(readSet.claimingAgents)]
    if (changing.length + readSet.claimingAgents.length === 0) return null
    const agents = pipeline.addIn(lockAgents, names)
    const held = pipeline.addIn(heldByAgents, names)
    const health = changing.length > 0 ? pipeline.addIn(healthOf, [names[0]]) : NOTHING
    return (records) => {
      const found = readAgents(readSet, records, { agents: agents(), held: held(), health: health() })
      return { view: { seen: found.agents, counted: 0 }, limiting: { claimingAgents: found.claimingAgents } }
    }
  },
  write: (workspaceId, view, { kinds }) => agentWrites(workspaceId, view, kinds.agent),
  checks: agentChecks,
}

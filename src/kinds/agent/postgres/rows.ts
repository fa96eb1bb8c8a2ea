import { plainRows } from '../../../postgres/statements/plain-rows.ts'
import { text } from '../../../pure/fields.ts'
import { AGENT_FIELDS, type AgentRecord, HEALTH_FIELDS } from '../record.ts'

/** Agents as rows: the configured row, and beside it the narrow health row that heartbeats change. */

export const agentRows = plainRows('agents', AGENT_FIELDS)
export const healthRows = plainRows('agent_health', { slug: text(), ...HEALTH_FIELDS })

/** `health`: the row of its health, if it was read and there is one. */
export function readAgent(row: readonly unknown[], health: readonly unknown[] = []): AgentRecord {
  if (health.length === 0 || health[0] === null) return { ...agentRows.read(row), health: null }
  const { slug: _slug, ...known } = healthRows.read(health)
  return { ...agentRows.read(row), health: known }
}

/** Of agents a and, where there is one, agent_health h. */
export const withHealth = `${agentRows.select('a')}, ${healthRows.select('h')}`

/** From a row that begins with these columns. */
export const readWithHealth = (row: readonly unknown[]) => readAgent(row, row.slice(agentRows.width))

// Whether an assignment wakes the agent `a`, which Baton runs, as kinds/run/rules/policy.ts says.
export const IS_WOKEN = `coalesce(a.runtime_config -> 'heartbeat' ->> 'enabled', 'true') = 'true'
   and coalesce(a.runtime_config -> 'heartbeat' ->> 'wakeOnAssignment', 'true') = 'true'`

import type { AgentRecord } from '../../agent/record.ts'
import { modelOfAgent } from '../../agent/rules/model.ts'
import { type PriceTable, picosFor, priceOf } from '../../run/prices/cost.ts'
import { PRICES } from '../../run/prices/table.ts'
import { isReservedOnly } from '../../run/rules/policy.ts'
import type { Estimated } from './estimate.ts'

/**
 * The model that a task would use that names none: that of its agent. One without an agent may be done by any that fits: then
 * the costliest model of theirs, so that an estimate is never too low. Null: of one of them no price is known.
 */
export function modelsOf(
  agents: readonly AgentRecord[],
  prices: PriceTable = PRICES,
): (task: Estimated) => string | null {
  const bySlug = new Map(agents.map((agent) => [agent.slug, agent]))
  const roster = agents.filter((agent) => agent.state !== 'terminated' && !isReservedOnly(agent))
  const known = new Map<string, string | null>()
  return ({ agent, contractor, capabilities = [], taskType }) => {
    const named = contractor?.template ?? agent ?? null
    if (named !== null) {
      const found = bySlug.get(named)
      return found ? modelOfAgent(found) : null
    }
    const key = JSON.stringify([capabilities, taskType])
    const mayDoIt = (one: AgentRecord) => hasAll(one, capabilities) && takesType(one, taskType)
    if (!known.has(key)) known.set(key, costliest(roster.filter(mayDoIt), prices))
    return known.get(key)!
  }
}

const hasAll = ({ capabilities }: AgentRecord, needed: readonly string[]) =>
  needed.every((one) => capabilities.includes(one))

const takesType = ({ taskTypes }: AgentRecord, type: string | undefined) =>
  taskTypes.length === 0 || (type !== undefined && taskTypes.includes(type))

/** As an estimate prices them: one token in five is written. */
const SHARES = { input: 4, output: 1 }

function costliest(agents: readonly AgentRecord[], prices: PriceTable): string | null {
  let found: { model: string; picos: bigint } | null = null
  for (const agent of agents) {
    const model = modelOfAgent(agent)
    const price = model === null ? null : priceOf(model, prices)
    if (model === null || !price) return null
    const picos = picosFor(price, { input: SHARES.input * 1_000_000, output: SHARES.output * 1_000_000 })
    if (!found || picos > found.picos) found = { model, picos }
  }
  return found?.model ?? null
}

import type { AdapterInvokeResult, AgentRunAdapter } from '../adapters/protocol.ts'
import type { RunKernel } from '../door/server-kernel.ts'
import { priceTable } from '../kinds/price/record.ts'
import { type BilledCost, type Billing, billedCost } from '../kinds/run/prices/billed.ts'
import type { PriceTable } from '../kinds/run/prices/cost.ts'
import { OWN_AGENT } from '../kinds/task/rules/acting.ts'

/** The prices of a workspace as they are now: a run costs what its tokens cost when it ends. */
export const pricesNow = async ({ store }: RunKernel, workspaceId: number): Promise<PriceTable> =>
  priceTable(await store.prices.list(workspaceId))

export interface RunToPrice {
  agent: string
  /** Undefined: this node does not have it. */
  adapter: Pick<AgentRunAdapter, 'type'> | undefined
  used: Pick<AdapterInvokeResult, 'costUsd' | 'usage'>
  /** That the program tells, or else that of the agent's settings. */
  model: string | null
  billing: Billing
  prices: PriceTable
}

/**
 * What a run cost, and where the figure comes from: its program says it, or else it is the price of the tokens it used. Baton's own agent
 * runs commands, which cost nothing.
 */
export function priceOfRun({ agent, adapter, used, model, billing, prices }: RunToPrice): BilledCost {
  const { costUsd, usage = null } = used
  const told = costUsd == null ? null : String(costUsd)
  if (told === null && agent === OWN_AGENT) return { costUsd: '0', basis: 'reported', models: [] }
  return billedCost({ model, usage, told, billing, table: adapter ? prices : {} })
}

import type { AdapterInvokeResult, AgentRunAdapter } from '../adapters/protocol.ts'
import { costOfUsage } from '../kinds/run/prices/cost.ts'
import { OWN_AGENT } from '../kinds/task/rules/acting.ts'

/**
 * What a run cost: what its program says, or else the list price of the tokens it used. Null: unknown. Baton's own agent runs
 * commands, which cost nothing.
 */
export function priceOfRun(
  agent: string,
  adapter: Pick<AgentRunAdapter, 'reportsCost'> | undefined,
  { costUsd, usage }: Pick<AdapterInvokeResult, 'costUsd' | 'usage'>,
  model: string | null,
): string | null {
  if (costUsd != null) return String(costUsd)
  if (agent === OWN_AGENT) return '0'
  if (!usage || !adapter || adapter.reportsCost) return null
  return costOfUsage(model, usage)
}

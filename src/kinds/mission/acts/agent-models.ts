import type { RunKernel } from '../../../door/server-kernel.ts'
import { modelsOf } from '../plan/agent-models.ts'
import type { EstimateOptions } from '../plan/estimate.ts'

const MOST_AGENTS = 10_000

/** With the prices of a workspace, and its agents, whose models tasks use that name none. */
export async function pricedByAgents(kernel: RunKernel, workspaceId: number): Promise<EstimateOptions> {
  const [agents, prices] = await Promise.all([
    kernel.store.agents.list(workspaceId, {}, MOST_AGENTS),
    kernel.prices(workspaceId),
  ])
  const records = agents.map(({ record }) => record)
  return { modelOf: modelsOf(records, prices), prices }
}

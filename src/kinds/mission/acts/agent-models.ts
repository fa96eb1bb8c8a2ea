import type { RunKernel } from '../../../door/server-kernel.ts'
import { modelsOf } from '../plan/agent-models.ts'
import type { EstimateOptions } from '../plan/estimate.ts'

const MOST_AGENTS = 10_000

/** With the agents of a workspace, whose models tasks use that name none. */
export async function pricedByAgents(kernel: RunKernel, workspaceId: number): Promise<EstimateOptions> {
  const agents = await kernel.store.agents.list(workspaceId, {}, MOST_AGENTS)
  return { modelOf: modelsOf(agents.map(({ record }) => record)) }
}

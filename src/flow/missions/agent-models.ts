import { modelsOf } from '../../core/plans/agent-models.ts'
import type { EstimateOptions } from '../../core/plans/estimate.ts'
import type { RunKernel } from '../../kernel/server-kernel.ts'

const MOST_AGENTS = 10_000

/** With the agents of a workspace, whose models tasks use that name none. */
export async function pricedByAgents(kernel: RunKernel, workspaceId: number): Promise<EstimateOptions> {
  const agents = await kernel.store.agents.list(workspaceId, {}, MOST_AGENTS)
  return { modelOf: modelsOf(agents.map(({ record }) => record)) }
}

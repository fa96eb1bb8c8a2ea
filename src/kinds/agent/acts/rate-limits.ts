import type { Execution } from '../../../door/execution.ts'
import type { ServerKernel } from '../../../door/server-kernel.ts'
import type { AgentRecord } from '../../task/record.ts'

/** More agents on one account are not counted. */
const MOST_COUNTED = 1_000

/**
 * How many other agents rest with one, because they are on its account. The time alone does not tell: limits of different accounts
 * often end at the same full hour. Without a workspace nobody rests.
 */
export async function sharesRateLimit(
  { store }: ServerKernel,
  execution: Execution,
  workspaceId: number | null,
): Promise<(agent: AgentRecord) => number> {
  if (workspaceId === null) return () => 0
  const resting = await store.agents.list(workspaceId, { resting: true }, MOST_COUNTED)
  const accounts = resting.map(({ record }) => ({ slug: record.slug, account: execution.accountOf(record) }))
  return (agent) => {
    const own = execution.accountOf(agent)
    return accounts.filter(({ slug, account }) => account !== null && account === own && slug !== agent.slug)
      .length
  }
}

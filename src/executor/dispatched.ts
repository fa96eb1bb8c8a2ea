import type { AgentRecord } from '../kinds/agent/record.ts'
import type { Wakeup } from '../kinds/run/record.ts'

/** A wakeup that became a run. */
export interface Dispatched {
  workspaceId: number
  runId: string
  token: string
  agent: AgentRecord
  wakeup: Wakeup
  /** What its agent keeps between runs. */
  agentState: Record<string, unknown>
}

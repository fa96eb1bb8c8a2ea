import type { AgentRecord } from '../core/records.ts'
import type { Wakeup } from '../core/runs/records.ts'

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

import type { AgentRecord } from '../core/records.ts'
import type { Wakeup } from '../store/server-store.ts'

/** A wakeup that became a run. */
export interface Dispatched {
  workspaceId: number
  runId: string
  token: string
  agent: AgentRecord
  wakeup: Wakeup
}

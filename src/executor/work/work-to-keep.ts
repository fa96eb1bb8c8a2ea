import type { AgentRecord } from '../../kinds/agent/record.ts'
import type { RunFolder } from '../../kinds/run/shapes/folder.ts'
import type { Purpose } from '../../kinds/task/record.ts'
import type { UpstreamWork } from '../folders/upstream-work.ts'
import type { RunSecrets } from '../run-secrets.ts'

/** What must be known of a run to save its work. */
export interface WorkToKeep {
  workspaceId: number
  runId: string
  agent: Pick<AgentRecord, 'slug' | 'name'>
  held: { uuid: string; taskId: number; generation: number; purpose: Purpose } | null
  folder: RunFolder | null
  secrets: RunSecrets
  /** The run goes on, and its programs may use git at this moment. */
  isRunning: boolean
}

/** What must be in the work of a result. */
export interface WholeWork {
  upstream: readonly UpstreamWork[]
}

/** A run in progress on this node. */
export type WorkingRun = Omit<WorkToKeep, 'isRunning'> & WholeWork

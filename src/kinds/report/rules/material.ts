import type { ClaimEnd, TaskState } from '../../../pure/states.ts'
import type { MissionRecord } from '../../mission/record.ts'
import type { Purpose } from '../../task/record.ts'

/** What reports are made from, as it was read when they were. */

interface Attempt {
  generation: number
  agent: string
  acquiredAt: number
  endedAt: number
  endReason: ClaimEnd
}

interface RunOfTask {
  id: string
  agent: string
  model: string | null
  status: string
  error: string | null
  generation: number | null
}

interface VerdictOnTask {
  /** The task that judged it. */
  taskId: string
  generation: number
  state: TaskState
  verifier: string | null
  /** Its accepted answer. */
  answer: unknown
}

interface Spent {
  tokens: number
  /** Exact dollars; null: no price is known. */
  usd: string | null
  /** A part of them is simulated money. */
  isSimulated: boolean
}

export interface TaskMaterial extends Spent {
  id: number
  uuid: string
  generation: number
  purpose: Purpose
  state: TaskState
  agent: string | null
  attempt: number
  createdAt: number
  startedAt: number | null
  completedAt: number | null
  title: string
  taskType: string
  error: string | null
  failureClass: string | null
  estimatedTokens: number | null
  /** Of the accepted result. */
  summary: string | null
  /** Oldest first; of many, the last. */
  attempts: readonly Attempt[]
  runs: readonly RunOfTask[]
  verdicts: readonly VerdictOnTask[]
}

interface TaskOfMission extends Spent {
  uuid: string
  state: TaskState
  agent: string | null
  attempt: number
  optional: boolean
  title: string
  error: string | null
  failureClass: string | null
  summary: string | null
}

interface EventOfMission {
  seq: number
  type: string
  actor: string
  at: number
  payload: Record<string, unknown>
}

export interface MissionMaterial {
  mission: MissionRecord
  /** Those that failed first. */
  tasks: readonly TaskOfMission[]
  timeline: readonly EventOfMission[]
  verdicts: { passed: number; failed: number; approved: number; rejected: number }
  /** A part of what it cost is simulated money. */
  isSimulated: boolean
}

/** The event with which it ended. */
export interface EndEvent {
  type: string
  actor: string
}

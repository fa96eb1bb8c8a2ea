import type { Refusal } from './errors.ts'
import type { Limits } from './limits.ts'
import type { Actor, Effects, TaskRecord } from './records.ts'
import type { FailureClass } from './retry.ts'

/** What the holder of a claim says with every write: which claim it believes to hold. */
export interface Fence {
  session: string
  generation: number
}

export interface NewTask {
  key: string | null
  priority: number
  maxRetries: number
  onlyAgent: string | null
  capabilities: readonly string[] | null
  review: TaskRecord['review']
  runAt: number | null
  dependsOn: readonly number[]
  triggerRule: TriggerRule
  details: TaskDetails
}

/** What people and prompts read of a task; the claim path never does. */
export interface TaskDetails {
  title: string
  taskType: string
  description: string | null
  input: unknown
  tags: readonly string[]
  /** Outside ids of the tasks it waits for. */
  dependsOn: readonly string[]
  /** What its holders reported on the way. */
  progressPercent?: number | null
  progressStep?: string | null
  checkpoint?: unknown
}

export const TRIGGER_RULES = ['all_success', 'all_done', 'none_failed', 'always'] as const
export type TriggerRule = (typeof TRIGGER_RULES)[number]

export interface Submission {
  /** JSON text of the result. */
  data: string
  hash: string
  bytes: number
  summary: string | null
}

export type TaskCommand =
  | { kind: 'claim'; agent: string; session: string; leaseMs: number; capabilities: readonly string[] }
  | { kind: 'renew'; fence: Fence; leaseMs?: number | undefined }
  | { kind: 'start'; fence: Fence }
  | {
      kind: 'progress'
      fence: Fence
      percent?: number | undefined
      step?: string | undefined
      checkpoint?: unknown
    }
  | { kind: 'continue'; fence: Fence }
  | { kind: 'release'; fence: Fence; reason: string }
  | { kind: 'submit'; fence: Fence; submission: Submission }
  | {
      kind: 'fail'
      fence: Fence
      failureClass: FailureClass
      error: string | null
      retryAt?: number | undefined
    }
  | { kind: 'cancel'; reason: string | null }
  | { kind: 'pause'; reason: string | null }
  | { kind: 'resume' }
  | { kind: 'retry'; reason: string | null }
  | { kind: 'reset'; reason: string | null }
  /** Judgements may name the generation whose result they are about; of another one they are refused. */
  | { kind: 'approve'; comment: string | null; generation?: number | undefined }
  | { kind: 'reject'; comment: string | null; generation?: number | undefined }
  | {
      kind: 'verdict'
      verdict: 'passed' | 'failed' | 'unsure'
      note: string | null
      generation?: number | undefined
    }
  | { kind: 'update'; ifVersion: number | null; patch: TaskPatch }
  | { kind: 'archive' }
  /** Time passed: whatever is due for this task happens now. */
  | { kind: 'elapse' }
  /** Its dependencies, as far as they are met now. */
  | { kind: 'unblock'; readiness: 'wait' | 'ready' | 'never'; because: string }

export interface TaskPatch {
  title?: string | undefined
  description?: string | null | undefined
  tags?: readonly string[] | undefined
  priority?: number | undefined
  maxRetries?: number | undefined
  onlyAgent?: string | null | undefined
}

/** What surrounds a decision: the database's time, the workspace's limits and how many claims may still be granted. */
export interface Circumstances {
  now: number
  limits: Limits
  roomForClaims: number
  actor: Actor
  /** Who held an earlier generation of this task. */
  sessionOf?: ((generation: number) => string | undefined) | undefined
}

export interface Granted {
  readonly ok: true
  readonly [field: string]: unknown
}

export type Reply = Granted | Refusal

export interface Decision {
  reply: Reply
  /** The record after the decision; the very same object when nothing changed. */
  record: TaskRecord
  effects: Effects
}

import type { EventType } from '../../events.ts'
import type { FailureClass } from './retry.ts'

/** Events that say what went wrong with a task, and what was decided about its result. */

/** Those that an index of their own finds; the others are among COORDINATOR_EVENTS in log.ts. */
export const OUTCOME_EVENTS = [
  'task_retrying',
  'task_budget_exceeded',
  'task_verification_passed',
  'task_verification_failed',
  'task_human_review_requested',
  'task_human_approved',
  'task_human_rejected',
  'task_completed_by_person',
  'task_result_promoted',
  'task_reset',
] as const satisfies EventType[]

/** An attempt ended without a result that was accepted. */
export const FAILURE_EVENTS = [
  'task_retrying',
  'task_budget_exceeded',
  'task_verification_failed',
  'task_human_rejected',
  'task_failed',
  'task_lease_expired',
  'task_worker_lost',
  'task_agent_lost',
  'task_stalled',
  'task_hung',
] as const satisfies EventType[]
export type FailureEvent = (typeof FAILURE_EVENTS)[number]

/** The holder of a claim was lost. */
export const LOSS_EVENTS = [
  'task_lease_expired',
  'task_worker_lost',
  'task_agent_lost',
  'task_stalled',
  'task_hung',
] as const satisfies FailureEvent[]

/** Of failures that say nothing about the work (Automatos 3.4): with a lost holder, these are crashes. */
export const CRASH_CLASSES = ['infrastructure', 'timeout', 'out_of_memory'] as const satisfies FailureClass[]

/** What finished tasks are grouped by. */
export const DURATION_GROUPS = ['taskType', 'agent', 'mission', 'state'] as const
export type DurationGroup = (typeof DURATION_GROUPS)[number]

import type { ClaimEnd, TaskState } from '../../../pure/states.ts'
import type { MissionPhase } from '../../mission/states.ts'
import { inLine } from './markdown.ts'

/** What reports say in place of codes. */

const STATES: Record<TaskState, string> = {
  pending: 'waiting',
  queued: 'queued',
  awaiting_retry: 'waiting for another attempt',
  assigned: 'assigned',
  running: 'running',
  continuing: 'continuing',
  verifying: 'being verified',
  awaiting_human: 'waiting for a person',
  paused: 'paused',
  budget_exceeded: 'out of budget',
  completed: 'done',
  failed: 'failed',
  cancelled: 'cancelled',
  skipped: 'skipped',
}
export const stateWords = (state: TaskState) => STATES[state]

/** "31 done, 2 failed". */
export const countsWords = (byState: Partial<Record<TaskState, number>>) =>
  Object.entries(byState)
    .map(([state, count]) => `${count} ${stateWords(state as TaskState)}`)
    .join(', ')

const PHASES: Partial<Record<MissionPhase, string>> = {
  completed: 'Done',
  failed: 'Failed',
  cancelled: 'Cancelled',
}
export const phaseWords = (phase: MissionPhase) => PHASES[phase] ?? 'Not ended'

const FAILURES: Record<string, string> = {
  infrastructure: 'the machine or a service failed',
  quality: 'the result was not good enough',
  rate_limited: 'the model is rate limited',
  timeout: 'it took too long',
  out_of_memory: 'it ran out of memory',
  invalid: 'it cannot be done as it is asked for',
  budget: 'its budget is spent',
  human: 'a person has to help',
  dependency: 'a task that it waits for failed',
  cancelled: 'it was cancelled',
}
const ENDED = / (exited with code \d+|was killed by SIG[A-Z0-9]+)/
/** Why a task failed; null where the class says nothing. A program that exits with an error is no machine that fails. */
export function failureWords(failureClass: string | null, error: string | null = null): string | null {
  const [, how] = (failureClass === 'infrastructure' && error && ENDED.exec(error.split('\n', 1)[0]!)) || []
  if (how !== undefined) return `it ${how}`
  return failureClass === null ? null : (FAILURES[failureClass] ?? null)
}

const CLAIMS: Partial<Record<ClaimEnd, string>> = {
  COMPLETED: 'finished it',
  SUBMITTED: 'handed in a result',
  VOLUNTARY: 'gave it back',
  NEEDS_HUMAN: 'asked a person',
  CONTINUES_LATER: 'waits for other tasks',
  OVER_BUDGET: 'ran out of budget',
  EXPIRED: 'did not renew its lease',
  WORKER_LOST: 'was silent',
  AGENT_LOST: 'was silent',
  STALLED: 'gave no sign of life',
  HUNG: 'made no progress',
  NOT_STARTED: 'did not start',
  TIMED_OUT: 'took too long',
  DEADLINE: 'was too late',
  CANCELLED: 'was stopped: the task was cancelled',
  PAUSED: 'was stopped: the task was paused',
  REASSIGNED: 'was replaced by another agent',
  AGENT_TERMINATED: 'was terminated',
  AGENT_PAUSED: 'was paused',
  ERROR: 'failed',
}
/** How an attempt ended, after the name of its agent. */
export const claimWords = (end: ClaimEnd) => CLAIMS[end] ?? 'was replaced'

const RUNS: Record<string, string> = { timed_out: 'took too long' }
export const runWords = (status: string) => RUNS[status] ?? inLine(status.replaceAll('_', ' '))

/** `mission_plan_ready`: "Plan ready". */
const EVENTS: Record<string, string> = {
  mission_created: 'Mission created',
  mission_planning_started: 'Planning began',
  mission_plan_ready: 'Plan ready',
  mission_plan_proposed: 'Another plan proposed',
  mission_plan_changed: 'Plan changed while it ran',
  mission_plan_rejected: 'Plan rejected',
  mission_plan_failed: 'No valid plan was made',
  mission_approved: 'Plan approved',
  mission_rejected: 'Plan rejected, which ended the mission',
  mission_budget_exceeded: 'Budget spent',
  mission_budget_increased: 'Budget raised',
  mission_stopping: 'Being stopped',
  mission_completed: 'Mission done',
  mission_outcome_ready: 'Work done, outcome to be accepted',
  mission_outcome_declined: 'Outcome rejected',
  mission_retrying: 'Failed tasks done again',
}
export const eventWords = (type: string) =>
  EVENTS[type] ?? `Mission ${type.replace(/^mission_/, '').replaceAll('_', ' ')}`

/** The names of keys; null: it has none. */
export type NameOf = (actor: string) => string | null

/** Who did it, for people: an agent, a person, or Baton. */
export function whoDid(actor: string, nameOf: NameOf): string {
  const agent = /^agent:(.+)$/s.exec(actor)?.[1]
  if (agent !== undefined) return inLine(agent)
  const name = nameOf(actor)
  if (name !== null) return inLine(name)
  return actor.startsWith('key:') ? 'a person' : 'Baton'
}

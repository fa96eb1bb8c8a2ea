import type { BudgetRecord } from '../../budget/record.ts'
import { asksItself } from '../../budget/rules/inbox.ts'
import type { FailureClass } from '../../task/rules/retry.ts'
import type { RunEndState } from '../states.ts'
import { RUN_ERRORS, type RunErrorCode } from './outcomes.ts'

/** What the end of a run means, for the run and for its task. Only structured fields decide; no text is interpreted. */

/** How the agent ended, as reported by its adapter. */
export interface Answer {
  outcome: RunEndState
  errorCode?: RunErrorCode | null | undefined
  errorMessage?: string | null | undefined
  wantsMore?: boolean | undefined
  /** It continues when these tasks have ended. */
  after?: readonly string[] | null | undefined
  /** It succeeded, and a person has to answer before it continues. */
  question?: { question: string; options: readonly string[] } | null | undefined
  retryAt?: string | null | undefined
}

/** Why Baton stopped the run, if it did. */
export interface Stop {
  code: Extract<
    RunErrorCode,
    | 'cancelled'
    | 'claim_lost'
    | 'timeout'
    | 'loop_detected'
    | 'no_progress'
    | 'stalled'
    | 'budget_blocked'
    | 'control_plane_restart'
  >
  reason: string
  /** A person stopped this run, so a person decides how its task continues. */
  byPerson: boolean
  /** The budget that stopped it: when that has room again, its task continues. */
  budget?: StoppedBy | undefined
}

/** A budget that stopped a run. */
export interface StoppedBy {
  budgetId: string
  /** People are asked about the budget, and not about each task that it stopped. */
  asks: boolean
}

export const overBudget = (
  { budgetId, scope }: Pick<BudgetRecord, 'budgetId' | 'scope'>,
  reason: string,
): Stop => ({
  code: 'budget_blocked',
  ...{ reason, byPerson: false, budget: { budgetId, asks: asksItself(scope) } },
})

export interface Ending {
  status: RunEndState
  errorCode: RunErrorCode | null
  errorMessage: string | null
}

const STATUS_OF: Partial<Record<RunErrorCode, Ending['status']>> = {
  timeout: 'timed_out',
  cancelled: 'cancelled',
  claim_lost: 'cancelled',
}

export function endingOf(answer: Answer, stop: Stop | null): Ending {
  // It finished before it could be stopped: it counts as finished.
  if (answer.outcome === 'succeeded') return { status: 'succeeded', errorCode: null, errorMessage: null }
  if (stop)
    return { status: STATUS_OF[stop.code] ?? 'failed', errorCode: stop.code, errorMessage: stop.reason }
  const reported = answer.errorCode ?? CODE_OF[answer.outcome]
  // Third-party adapters may send unknown codes.
  const errorCode = Object.hasOwn(RUN_ERRORS, reported) ? reported : 'adapter_error'
  const isFailed = answer.outcome !== 'cancelled' && answer.outcome !== 'timed_out'
  const status = isFailed ? (STATUS_OF[errorCode] ?? 'failed') : answer.outcome
  return { status, errorCode, errorMessage: answer.errorMessage || RUN_ERRORS[errorCode].title }
}

/**
 * The end of a run of Baton's own agent. What would stop any other agent fails this verification alone: its settings come from the task
 * that is judged, and the next verification has others.
 */
export const ofOwnAgent = (ending: Ending): Ending =>
  ending.errorCode !== null && RUN_ERRORS[ending.errorCode].stopsAgent
    ? { ...ending, errorCode: 'invalid_task' }
    : ending

const CODE_OF = { failed: 'nonzero_exit', cancelled: 'cancelled', timed_out: 'timeout' } as const

/** What happens to the task: done by the holder, under its fence. */
export type TaskOutcome =
  | { kind: 'submit' }
  | { kind: 'continue'; after?: readonly string[] }
  | { kind: 'ask'; question: string; options: readonly string[] }
  | {
      kind: 'fail'
      failureClass: FailureClass
      error: string
      retryAt: number | undefined
      /** It is not the fault of the agent. */
      spendsNoAttempt?: true
      /** The next attempt gets more time. */
      tookTooLong?: true
      /** The result is stored as rejected: a person may promote it. */
      withResult?: true
      /** With class `budget`: what stopped it. */
      budget?: StoppedBy
    }
  | { kind: 'release'; reason: string; waitsForAgent?: boolean }
  | { kind: 'none' }

export function taskOutcomeOf(ending: Ending, answer: Answer, stop: Stop | null): TaskOutcome {
  const { errorCode } = ending
  if (errorCode === null && answer.question) return { kind: 'ask', ...answer.question }
  if (errorCode === null && !answer.wantsMore) return { kind: 'submit' }
  // Stopped by a person: it must not continue automatically.
  if (errorCode === null && stop?.byPerson)
    return { kind: 'fail', failureClass: 'human', error: stop.reason, retryAt: undefined }
  if (errorCode === null)
    return answer.after ? { kind: 'continue', after: answer.after } : { kind: 'continue' }
  if (errorCode === 'claim_lost') return { kind: 'none' }
  const error = ending.errorMessage ?? RUN_ERRORS[errorCode].title
  if (stop?.byPerson) return { kind: 'fail', failureClass: 'human', error, retryAt: undefined }
  if (errorCode === 'work_incomplete')
    return { kind: 'fail', failureClass: 'quality', error, retryAt: undefined, withResult: true }
  // Baton did not stop it: released without spending an attempt, it would be restarted forever.
  const failureClass = errorCode === 'cancelled' && !stop ? 'infrastructure' : RUN_ERRORS[errorCode].task
  if (failureClass === null) return { kind: 'release', reason: errorCode }
  if (errorCode === 'work_elsewhere') {
    const until = timeOf(answer.retryAt)
    // Left to other nodes for a while. After that it is a failure like any other.
    return { kind: 'fail', failureClass, error, retryAt: until, ...(until && { spendsNoAttempt: true }) }
  }
  const retryAt = errorCode === 'rate_limited' ? timeOf(answer.retryAt) : undefined
  const tookTooLong = errorCode === 'timeout' && ({ tookTooLong: true } as const)
  const budget = stop?.budget !== undefined && { budget: stop.budget }
  return { kind: 'fail', failureClass, error, retryAt, ...tookTooLong, ...budget }
}

/** Milliseconds; undefined when the text is not a time. */
export function timeOf(text: string | null | undefined): number | undefined {
  const ms = text == null ? Number.NaN : Date.parse(text)
  return Number.isNaN(ms) ? undefined : ms
}

/** How long an account rests when its rate limit has no reset time. */
const REST_MS = 60_000
/** The longest rate limits last a week; anything beyond this is a mistake. */
const LONGEST_REST_MS = 8 * 86_400_000

/** Until when a rate-limited account rests: the reset time it reported, or the default. */
export const restsUntil = (reported: number | undefined, now: number): number =>
  Math.min(reported ?? now + REST_MS, now + LONGEST_REST_MS)

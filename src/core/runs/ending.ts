import type { FailureClass } from '../retry.ts'
import { RUN_ERRORS, type RunErrorCode, type RunState } from './outcomes.ts'

/** What the end of a run means, for the run and for its task. Only structure decides: no text is looked at. */

/** How an agent ended, as its adapter tells. */
export interface Answer {
  outcome: 'succeeded' | 'failed' | 'cancelled' | 'timed_out'
  errorCode?: RunErrorCode | null | undefined
  errorMessage?: string | null | undefined
  wantsMore?: boolean | undefined
  retryAt?: string | null | undefined
}

/** Why Baton stopped it, if it did. */
export interface Stop {
  code: Extract<
    RunErrorCode,
    'cancelled' | 'claim_lost' | 'timeout' | 'loop_detected' | 'no_progress' | 'control_plane_restart'
  >
  reason: string
  /** A person stopped this very run: a person says how its task goes on. */
  byPerson: boolean
}

export interface Ending {
  status: Extract<RunState, 'succeeded' | 'failed' | 'cancelled' | 'timed_out'>
  errorCode: RunErrorCode | null
  errorMessage: string | null
}

const STATUS_OF: Partial<Record<RunErrorCode, Ending['status']>> = {
  timeout: 'timed_out',
  cancelled: 'cancelled',
  claim_lost: 'cancelled',
}

export function endingOf(answer: Answer, stop: Stop | null): Ending {
  // It was done before it could be stopped: then it is done.
  if (answer.outcome === 'succeeded') return { status: 'succeeded', errorCode: null, errorMessage: null }
  if (stop)
    return { status: STATUS_OF[stop.code] ?? 'failed', errorCode: stop.code, errorMessage: stop.reason }
  const told = answer.errorCode ?? CODE_OF[answer.outcome]
  // Adapters of others may answer with what nobody knows.
  const errorCode = Object.hasOwn(RUN_ERRORS, told) ? told : 'adapter_error'
  const isFailed = answer.outcome !== 'cancelled' && answer.outcome !== 'timed_out'
  const status = isFailed ? (STATUS_OF[errorCode] ?? 'failed') : answer.outcome
  return { status, errorCode, errorMessage: answer.errorMessage || RUN_ERRORS[errorCode].title }
}

const CODE_OF = { failed: 'nonzero_exit', cancelled: 'cancelled', timed_out: 'timeout' } as const

/** What is done to the task: by the holder, under its fence. */
export type TaskOutcome =
  | { kind: 'submit' }
  | { kind: 'continue' }
  | { kind: 'fail'; failureClass: FailureClass; error: string; retryAt: number | undefined }
  | { kind: 'release'; reason: string }
  | { kind: 'none' }

export function taskOutcomeOf(ending: Ending, answer: Answer, stop: Stop | null): TaskOutcome {
  const { errorCode } = ending
  if (errorCode === null && !answer.wantsMore) return { kind: 'submit' }
  // Whoever was stopped by a person and wants to go on must not go on by itself.
  if (errorCode === null && stop?.byPerson)
    return { kind: 'fail', failureClass: 'human', error: stop.reason, retryAt: undefined }
  if (errorCode === null) return { kind: 'continue' }
  if (errorCode === 'claim_lost') return { kind: 'none' }
  const error = ending.errorMessage ?? RUN_ERRORS[errorCode].title
  if (stop?.byPerson) return { kind: 'fail', failureClass: 'human', error, retryAt: undefined }
  // Nobody of Baton's stopped it: given back for nothing, it would be started again and again.
  const failureClass = errorCode === 'cancelled' && !stop ? 'infrastructure' : RUN_ERRORS[errorCode].task
  if (failureClass === null) return { kind: 'release', reason: errorCode }
  const retryAt = errorCode === 'rate_limited' ? timeOf(answer.retryAt) : undefined
  return { kind: 'fail', failureClass, error, retryAt }
}

/** Milliseconds, if the text is a time at all. */
export function timeOf(text: string | null | undefined): number | undefined {
  const ms = text == null ? Number.NaN : Date.parse(text)
  return Number.isNaN(ms) ? undefined : ms
}

/** How long an account rests whose limit does not say when it ends. */
const REST_MS = 60_000
/** The longest limits are of a week; what says more than this is a mistake. */
const LONGEST_REST_MS = 8 * 86_400_000

/** Until when an account rests that takes no more, by what it said, if it said anything. */
export const restsUntil = (told: number | undefined, now: number): number =>
  Math.min(told ?? now + REST_MS, now + LONGEST_REST_MS)

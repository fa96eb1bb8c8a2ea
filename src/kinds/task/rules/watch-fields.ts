import type { ClaimMetadata } from './claim-request.ts'
import type { WaitingWatch } from './waiting.ts'

/** How long a task may take, and how far it is. Times that are missing are those of the workspace. */
export interface TaskWatch extends Deadline, WaitingWatch {
  /** How long the task is expected to take, as estimated by its creator. */
  readonly estimateMs?: number | undefined
  /** Assigned by the coordinator, it must be started within this time. */
  readonly assignMs?: number | undefined
  /** The longest silence of a holder. */
  readonly stallMs?: number | undefined
  /** Its holder is a run of this Baton, whose node hears what the agent does: renewals of the node say nothing of that. */
  readonly isRun?: true | undefined
  readonly verifyMs?: number | undefined
  /** How far it may exceed `doneBy` before it is suspected to hang, and how long without progress from then on. */
  readonly hangGraceMs?: number | undefined
  readonly hangAbortMs?: number | undefined
  /** The wait before its second attempt; each further one is twice as long. */
  readonly retryBaseMs?: number | undefined
  /** How long one attempt may take, from its start. */
  readonly attemptMs?: number | undefined
  /** How many of its attempts took too long: the next one gets more time. */
  readonly timeouts?: number | undefined
  /** How the program of its last attempt exited, if that failed. */
  readonly exitCode?: number | undefined
  /** When the present attempt must be over. */
  readonly attemptEndsAt?: number | undefined
  /** Its newest claim was made by the coordinator, and its agent has neither started nor claimed it itself. */
  readonly isOffered?: boolean | undefined
  /** What the holder of its newest claim said about itself. */
  readonly claimMetadata?: ClaimMetadata | undefined
  /** When it will be done, according to its holder or its estimate. */
  readonly doneBy?: number | undefined
  /** The last report of progress; being alive is not progress. */
  readonly progressAt?: number | undefined
  /** When it was first suspected to hang. */
  readonly suspectedAt?: number | undefined
  /** How many times the next attempt was to use another model, and the fallback that was used last. */
  readonly modelSwitches?: number | undefined
  readonly usedModel?: string | undefined
  /** After work that was not good enough, another agent goes first: not this one. */
  readonly otherAgentOnRetry?: boolean | undefined
  readonly avoidedAgent?: string | undefined
  /** It is paused because its mission is closed, and continues with it. */
  readonly pausedByMission?: boolean | undefined
  /** Since when. */
  readonly pausedAt?: number | undefined
  /** How much was left of the time it waited for when the gate of its mission was closed. */
  readonly clockMs?: number | undefined
  /** An agent added it: 1, or more if an agent added the task of that agent. */
  readonly childDepth?: number | undefined
  /** An agent added it below a task of no mission: the first one, which counts all that are below it. */
  readonly childRoot?: ChildRoot | undefined
  /** How many tasks agents added below it. */
  readonly childCount?: number | undefined
  /** The commit of the work that was submitted with its present result. */
  readonly resultCommit?: string | undefined
  /** Its expiry, moved because the gate of its mission was closed. */
  readonly expiresAt?: number | undefined
}

export interface ChildRoot {
  readonly id: number
  readonly uuid: string
}

/**
 * The time for all attempts together. Its clock runs from the first time the task is queued, and stops while a person has it
 * (paused, in review, over its budget) and while the gate of its mission is closed.
 */
interface Deadline {
  readonly deadlineMs?: number | undefined
  /** While the clock runs: when the time is over, unless the gate of its mission closes until then. */
  readonly deadlineAt?: number | undefined
  /** How long that gate had been closed in all when `deadlineAt` was set. */
  readonly closedMs?: number | undefined
  /** While the clock is stopped: the rest of the time. */
  readonly deadlineLeftMs?: number | undefined
}

/** `closedMs`: how long the gate of its mission has been closed by now; 0 without a mission. */
interface Moment {
  now: number
  closedMs: number
}

/** When the time for all attempts is over, as it looks now; null: there is no deadline, or its clock does not run. */
export function deadlineAt(watch: TaskWatch | null, { closedMs }: Pick<Moment, 'closedMs'>): number | null {
  if (watch?.deadlineAt === undefined) return null
  return watch.deadlineAt + closedMs - (watch.closedMs ?? closedMs)
}

/** The clock runs from now on. */
export function withClockRunning<W extends TaskWatch | null>(watch: W, { now, closedMs }: Moment): W {
  if (watch?.deadlineMs === undefined || watch.deadlineAt !== undefined) return watch
  const { deadlineLeftMs = watch.deadlineMs, ...rest } = watch
  return { ...rest, deadlineAt: now + deadlineLeftMs, closedMs } as W
}

/** The clock stops; what is left of its time is kept. */
export function withClockStopped<W extends TaskWatch | null>(watch: W, { now, closedMs }: Moment): W {
  const at = deadlineAt(watch, { closedMs })
  if (at === null) return watch
  const { deadlineAt: _at, closedMs: _closed, ...rest } = watch!
  return { ...rest, deadlineLeftMs: Math.max(0, at - now) } as W
}

/** As before the task was first queued: a person starts it over. */
export function withClockReset<W extends TaskWatch | null>(watch: W): W {
  if (watch?.deadlineMs === undefined) return watch
  const { deadlineAt: _at, closedMs: _closed, deadlineLeftMs: _left, ...rest } = watch
  return rest as W
}

/** The same deadline, without the time for which the gate was closed since it was set. */
export const withClockChecked = (watch: TaskWatch, { now, closedMs }: Moment): TaskWatch =>
  withClockRunning(withClockStopped(watch, { now, closedMs }), { now, closedMs })

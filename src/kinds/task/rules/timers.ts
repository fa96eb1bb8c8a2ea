import type { Limits } from '../../workspace/limits.ts'
import type { TaskRecord } from '../record.ts'
import { type TaskTimers, without } from './groups.ts'
import { sooner } from './retry.ts'

/** The deadlines of a held task: for its start, its next sign of life and its progress. All of it is arithmetic. */

type Held = Pick<TaskRecord, 'state' | 'updatedAt' | 'timers' | 'holder'>

const SECOND_MS = 1000

/** The timers under a new holder, without what they said of the previous one. The same object when there is nothing to drop. */
export const timersAnew = (timers: TaskTimers | null): TaskTimers | null =>
  timers && without(timers, 'doneBy', 'progressAt', 'suspectedAt', 'clockMs', 'attemptEndsAt')

/** How long a claim may stay without a start; null when only its lease limits it. */
export function assignMsOf(timers: TaskTimers | null, byCoordinator: boolean, limits: Limits): number | null {
  return timers?.assignMs ?? (byCoordinator ? limits.assignTimeoutSeconds * SECOND_MS : null)
}

/**
 * Baton handles a verdict right after the commit. If that was lost with its node, upkeep does: a moment later at first, then
 * now and then.
 */
const FIRST_CHECK_MS = 5 * SECOND_MS
const NEXT_CHECK_MS = 60 * SECOND_MS

/** Whether a claim that has not been started is due for that, and not only for the end of all attempts. */
export const mustStartInTime = ({ timers, holder }: Pick<TaskRecord, 'timers' | 'holder'>, limits: Limits) =>
  assignMsOf(timers, holder?.isOffered ?? false, limits) !== null

export const verifyMsOf = (timers: TaskTimers | null, limits: Limits) =>
  timers?.verifyMs ?? limits.verifyTimeoutSeconds * SECOND_MS

/** When a result that has just got to Baton is looked at first, unless that happens at once. */
export const firstVerdictCheckMs = (timers: TaskTimers | null, limits: Limits) =>
  Math.min(FIRST_CHECK_MS, verifyMsOf(timers, limits))

/** A result still waits for its verdict: how long until it is looked at next. Steps of this clock stop with the gate of its mission. */
export function verdictClock(
  timers: TaskTimers | null,
  limits: Limits,
): { timers: TaskTimers; nextCheckMs: number } {
  const verifyMs = verifyMsOf(timers, limits)
  const leftMs = timers?.verdictLeftMs ?? Math.max(0, verifyMs - FIRST_CHECK_MS)
  const nextCheckMs = Math.min(NEXT_CHECK_MS, leftMs === 0 ? verifyMs : leftMs)
  return leftMs === 0
    ? { timers: { ...timers, verdictLeftMs: 0, isVerdictLate: true }, nextCheckMs }
    : { timers: { ...timers, verdictLeftMs: leftMs - nextCheckMs }, nextCheckMs }
}

/** Eight times the time at most: what does not finish by then rarely finishes at all. */
const MOST_DOUBLINGS = 3

/** ADE 8: an attempt after a timeout gets twice the time. `timeouts`: how many attempts at the task timed out. */
export const timeFor = (time: number, timeouts = 0): number => time * 2 ** Math.min(timeouts, MOST_DOUBLINGS)

/** An attempt took too long. */
export const timedOut = (timers: TaskTimers | null): TaskTimers => ({
  ...timers,
  timeouts: (timers?.timeouts ?? 0) + 1,
})

/** Work starts: the task's estimate sets its expected end, and the time for one attempt its latest one. */
export function begun(timers: TaskTimers | null, now: number): TaskTimers | null {
  if (timers === null) return null
  const { estimateMs, attemptMs } = timers
  if (estimateMs === undefined && attemptMs === undefined) return timers
  return {
    ...timers,
    ...(estimateMs !== undefined && { doneBy: now + estimateMs }),
    ...(attemptMs !== undefined && { attemptEndsAt: now + timeFor(attemptMs, timers.timeouts) }),
  }
}

/** The holder made progress. A new estimate clears the suspicion that it hangs; being alive does not. */
export function progressed(timers: TaskTimers | null, now: number, doneBy: number | undefined): TaskTimers {
  if (doneBy === undefined) return { ...timers, progressAt: now }
  return { ...without(timers, 'suspectedAt'), progressAt: now, doneBy }
}

/** The longest silence of a holder; null when only the lease limits it. */
export const stallMsOf = (timers: TaskTimers | null, { stallTimeoutSeconds }: Limits): number | null =>
  timers?.stallMs ?? (stallTimeoutSeconds === null ? null : stallTimeoutSeconds * SECOND_MS)

/** When a silence that continues from now is too long; null when the lease limits it, or the node of a run judges it. */
export function stallsAt({ updatedAt, timers, holder }: Held, limits: Limits): number | null {
  const stallMs = holder?.isRun ? null : stallMsOf(timers, limits)
  return stallMs === null ? null : updatedAt + stallMs
}

/** When it will be suspected to hang; null when it already is, or when there is no estimate. */
export function suspectedFrom({ timers }: Held, limits: Limits): number | null {
  if (timers?.doneBy === undefined || timers.suspectedAt !== undefined) return null
  return timers.doneBy + (timers.hangGraceMs ?? limits.hangGraceSeconds * SECOND_MS)
}

/** When it is revoked from its holder without progress; null when it is not suspected to hang. */
export function abortsAt({ timers }: Held, limits: Limits): number | null {
  if (timers?.suspectedAt === undefined) return null
  const abortMs = timers.hangAbortMs ?? limits.hangAbortSeconds * SECOND_MS
  return Math.max(timers.suspectedAt, timers.progressAt ?? 0) + abortMs
}

/** A claim alone is not a start: until there is one, only the start deadline counts. */
const isBegun = ({ state }: Held) => state === 'running' || state === 'continuing'

/** The first moment at which something must be done about a held task; null when there is none. */
export function firstDeadline(record: Held, limits: Limits): number | null {
  const { deadlineAt = null, attemptEndsAt = null } = record.timers ?? {}
  if (!isBegun(record)) return deadlineAt
  const hangs = sooner(suspectedFrom(record, limits), abortsAt(record, limits))
  return sooner(sooner(deadlineAt, attemptEndsAt), sooner(stallsAt(record, limits), hangs))
}

/**
 * When to check a held task next. Signs of life extend its deadlines but not the time of the check, or each of them would
 * move an index entry: an early check finds nothing due and sets the next time.
 */
export const nextCheckAt = (record: Held & Pick<TaskRecord, 'dueAt'>, limits: Limits) =>
  sooner(record.dueAt, firstDeadline(record, limits))

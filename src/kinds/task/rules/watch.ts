import type { Limits } from '../../workspace/limits.ts'
import type { TaskRecord } from '../record.ts'
import { sooner } from './retry.ts'
import type { TaskWatch } from './watch-fields.ts'

/** The deadlines of a held task: for its start, its next sign of life and its progress. All of it is arithmetic. */

type Held = Pick<TaskRecord, 'state' | 'updatedAt' | 'watch'>

const SECOND_MS = 1000

/** The watch under a new holder, without the state of the previous one. The same object when there is nothing to drop. */
export function watchAnew(watch: TaskWatch | null, byCoordinator: boolean): TaskWatch | null {
  if (watch === null) return byCoordinator ? { isOffered: true } : null
  const {
    isOffered: _offered,
    isRun: _run,
    claimMetadata: _metadata,
    exitCode: _exit,
    doneBy: _doneBy,
    progressAt: _progressAt,
    suspectedAt: _since,
    clockMs: _left,
    ...rest
  } = watch
  // Another verdict was wanted on the result of an earlier generation.
  const { attemptEndsAt: _ends, judging: _judging, ...own } = rest
  if (byCoordinator) return { ...own, isOffered: true }
  const kept = Object.keys(own).length
  if (kept === 0) return null
  return kept === Object.keys(watch).length ? watch : own
}

/** How long a claim may stay without a start; null when only its lease limits it. */
export function assignMsOf(watch: TaskWatch | null, byCoordinator: boolean, limits: Limits): number | null {
  return watch?.assignMs ?? (byCoordinator ? limits.assignTimeoutSeconds * SECOND_MS : null)
}

/**
 * Baton handles a verdict right after the commit. If that was lost with its node, upkeep does: a moment later at first, then
 * now and then.
 */
const FIRST_CHECK_MS = 5 * SECOND_MS
const NEXT_CHECK_MS = 60 * SECOND_MS

/** Whether a claim that has not been started is due for that, and not only for the end of all attempts. */
export const mustStartInTime = ({ watch }: Pick<TaskRecord, 'watch'>, limits: Limits) =>
  assignMsOf(watch, watch?.isOffered ?? false, limits) !== null

export const verifyMsOf = (watch: TaskWatch | null, limits: Limits) =>
  watch?.verifyMs ?? limits.verifyTimeoutSeconds * SECOND_MS

/** When a result that has just got to Baton is looked at first, unless that happens at once. */
export const firstVerdictCheckMs = (watch: TaskWatch | null, limits: Limits) =>
  Math.min(FIRST_CHECK_MS, verifyMsOf(watch, limits))

/** A result still waits for its verdict: how long until it is looked at next. Steps of this clock stop with the gate of its mission. */
export function verdictClock(
  watch: TaskWatch | null,
  limits: Limits,
): { watch: TaskWatch; nextCheckMs: number } {
  const verifyMs = verifyMsOf(watch, limits)
  const leftMs = watch?.verdictLeftMs ?? Math.max(0, verifyMs - FIRST_CHECK_MS)
  const nextCheckMs = Math.min(NEXT_CHECK_MS, leftMs === 0 ? verifyMs : leftMs)
  return leftMs === 0
    ? { watch: { ...watch, verdictLeftMs: 0, isVerdictLate: true }, nextCheckMs }
    : { watch: { ...watch, verdictLeftMs: leftMs - nextCheckMs }, nextCheckMs }
}

/** Eight times the time at most: what does not finish by then rarely finishes at all. */
const MOST_DOUBLINGS = 3

/** ADE 8: an attempt after a timeout gets twice the time. `timeouts`: how many attempts at the task timed out. */
export const timeFor = (time: number, timeouts = 0): number => time * 2 ** Math.min(timeouts, MOST_DOUBLINGS)

/** An attempt took too long. */
export const timedOut = (watch: TaskWatch | null): TaskWatch => ({
  ...watch,
  timeouts: (watch?.timeouts ?? 0) + 1,
})

/** Work starts: the start deadline no longer applies, and the task's estimate sets its expected end. */
export function begun(watch: TaskWatch | null, now: number): TaskWatch | null {
  if (watch === null) return null
  const { isOffered, estimateMs, attemptMs } = watch
  if (isOffered === undefined && estimateMs === undefined && attemptMs === undefined) return watch
  const { isOffered: _offered, ...rest } = watch
  const begins = {
    ...rest,
    ...(estimateMs !== undefined && { doneBy: now + estimateMs }),
    ...(attemptMs !== undefined && { attemptEndsAt: now + timeFor(attemptMs, watch.timeouts) }),
  }
  return Object.keys(begins).length === 0 ? null : begins
}

/** The holder made progress. A new estimate clears the suspicion that it hangs; being alive does not. */
export function progressed(watch: TaskWatch | null, now: number, doneBy: number | undefined): TaskWatch {
  if (doneBy === undefined) return { ...watch, progressAt: now }
  const { suspectedAt: _since, ...rest } = watch ?? {}
  return { ...rest, progressAt: now, doneBy }
}

/** The longest silence of a holder; null when only the lease limits it. */
export const stallMsOf = (watch: TaskWatch | null, { stallTimeoutSeconds }: Limits): number | null =>
  watch?.stallMs ?? (stallTimeoutSeconds === null ? null : stallTimeoutSeconds * SECOND_MS)

/** When a silence that continues from now is too long; null when the lease limits it, or the node of a run judges it. */
export function stallsAt({ updatedAt, watch }: Held, limits: Limits): number | null {
  const stallMs = watch?.isRun ? null : stallMsOf(watch, limits)
  return stallMs === null ? null : updatedAt + stallMs
}

/** When it will be suspected to hang; null when it already is, or when there is no estimate. */
export function suspectedFrom({ watch }: Held, limits: Limits): number | null {
  if (watch?.doneBy === undefined || watch.suspectedAt !== undefined) return null
  return watch.doneBy + (watch.hangGraceMs ?? limits.hangGraceSeconds * SECOND_MS)
}

/** When it is revoked from its holder without progress; null when it is not suspected to hang. */
export function abortsAt({ watch }: Held, limits: Limits): number | null {
  if (watch?.suspectedAt === undefined) return null
  const abortMs = watch.hangAbortMs ?? limits.hangAbortSeconds * SECOND_MS
  return Math.max(watch.suspectedAt, watch.progressAt ?? 0) + abortMs
}

/** A claim alone is not a start: until there is one, only the start deadline counts. */
const isBegun = ({ state }: Held) => state === 'running' || state === 'continuing'

/** The first moment at which something must be done about a held task; null when there is none. */
export function firstDeadline(record: Held, limits: Limits): number | null {
  const { deadlineAt = null, attemptEndsAt = null } = record.watch ?? {}
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

import type { Limits } from '../limits.ts'
import type { TaskRecord, TaskWatch } from '../records.ts'

/** The times of a held task: until when it must be begun, heard of and got on with. All of it is arithmetic. */

type Held = Pick<TaskRecord, 'state' | 'updatedAt' | 'watch'>

const SECOND_MS = 1000

/** What is watched under a new holder: how its predecessor stood is over. The same object when there is nothing to drop. */
export function watchAnew(watch: TaskWatch | null, byCoordinator: boolean): TaskWatch | null {
  if (watch === null) return byCoordinator ? { given: true } : null
  const { given: _given, doneBy: _doneBy, progressAt: _progressAt, suspectedAt: _since, ...own } = watch
  if (byCoordinator) return { ...own, given: true }
  const kept = Object.keys(own).length
  if (kept === 0) return null
  return kept === Object.keys(watch).length ? watch : own
}

/** How long a claim may stand without a start; null when only its lease says. */
export function assignMsOf(watch: TaskWatch | null, byCoordinator: boolean, limits: Limits): number | null {
  return watch?.assignMs ?? (byCoordinator ? limits.assignTimeoutSeconds * SECOND_MS : null)
}

export const verifyMsOf = (watch: TaskWatch | null, limits: Limits) =>
  watch?.verifyMs ?? limits.verifyTimeoutSeconds * SECOND_MS

/** Work begins: it does not lie about any more, and whoever made the task may have said how long it takes. */
export function begun(watch: TaskWatch | null, now: number): TaskWatch | null {
  if (watch === null || (watch.given === undefined && watch.estimateMs === undefined)) return watch
  const { given: _given, ...rest } = watch
  if (rest.estimateMs !== undefined) return { ...rest, doneBy: now + rest.estimateMs }
  return Object.keys(rest).length === 0 ? null : rest
}

/** Its holder got on. A new estimate is an answer to the suspicion that it hangs; that it is alive is none. */
export function progressed(watch: TaskWatch | null, now: number, doneBy: number | undefined): TaskWatch {
  if (doneBy === undefined) return { ...watch, progressAt: now }
  const { suspectedAt: _since, ...rest } = watch ?? {}
  return { ...rest, progressAt: now, doneBy }
}

/** When a silence that goes on from here is too long; null when only the lease says. */
export function stallsAt({ updatedAt, watch }: Held, limits: Limits): number | null {
  const { stallTimeoutSeconds } = limits
  const stallMs = watch?.stallMs ?? (stallTimeoutSeconds === null ? null : stallTimeoutSeconds * SECOND_MS)
  return stallMs === null ? null : updatedAt + stallMs
}

/** When it will be suspected to hang; null when it is already, or when nobody said how long it takes. */
export function suspectedFrom({ watch }: Held, limits: Limits): number | null {
  if (watch?.doneBy === undefined || watch.suspectedAt !== undefined) return null
  return watch.doneBy + (watch.hangGraceMs ?? limits.hangGraceSeconds * SECOND_MS)
}

/** When it is taken from its holder unless that gets on; null when it is not suspected to hang. */
export function abortsAt({ watch }: Held, limits: Limits): number | null {
  if (watch?.suspectedAt === undefined) return null
  const abortMs = watch.hangAbortMs ?? limits.hangAbortSeconds * SECOND_MS
  return Math.max(watch.suspectedAt, watch.progressAt ?? 0) + abortMs
}

/** A claim alone is no beginning: until there is one, what counts is that it comes in time. */
const isBegun = ({ state }: Held) => state === 'running' || state === 'continuing'

/** The first moment at which anything is to be done about a task that somebody works on; null when there is none. */
export function firstDeadline(record: Held, limits: Limits): number | null {
  if (!isBegun(record)) return null
  return sooner(stallsAt(record, limits), sooner(suspectedFrom(record, limits), abortsAt(record, limits)))
}

/**
 * When to look at a held task next. Signs of life put its deadlines off, but not the moment of the look, or each of them
 * would move an entry in an index: the look finds that it came too early and names the next moment.
 */
export const nextLook = (record: Held & Pick<TaskRecord, 'dueAt'>, limits: Limits) =>
  sooner(record.dueAt, firstDeadline(record, limits))

const sooner = (one: number | null, other: number | null) =>
  one === null ? other : other === null ? one : Math.min(one, other)

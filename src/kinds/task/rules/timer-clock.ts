import { type TaskTimers, without } from './groups.ts'

/** The clock of the deadline for all attempts together. */

/** `closedMs`: how long the gate of its mission has been closed by now; 0 without a mission. */
interface Moment {
  now: number
  closedMs: number
}

/** When the time for all attempts is over, as it looks now; null: there is no deadline, or its clock does not run. */
export function deadlineAt(timers: TaskTimers | null, { closedMs }: Pick<Moment, 'closedMs'>): number | null {
  if (timers?.deadlineAt === undefined) return null
  return timers.deadlineAt + closedMs - (timers.closedMs ?? closedMs)
}

/** The clock runs from now on. */
export function withClockRunning<T extends TaskTimers | null>(timers: T, { now, closedMs }: Moment): T {
  if (timers?.deadlineMs === undefined || timers.deadlineAt !== undefined) return timers
  const { deadlineLeftMs = timers.deadlineMs, ...rest } = timers
  return { ...rest, deadlineAt: now + deadlineLeftMs, closedMs } as T
}

/** The clock stops; what is left of its time is kept. */
export function withClockStopped<T extends TaskTimers | null>(timers: T, { now, closedMs }: Moment): T {
  const at = deadlineAt(timers, { closedMs })
  if (at === null) return timers
  const rest = without<TaskTimers>(timers, 'deadlineAt', 'closedMs')
  return { ...rest, deadlineLeftMs: Math.max(0, at - now) } as T
}

/** As before the task was first queued: a person starts it over. */
export const withClockReset = (timers: TaskTimers | null): TaskTimers | null =>
  timers?.deadlineMs === undefined ? timers : without(timers, 'deadlineAt', 'closedMs', 'deadlineLeftMs')

/** The same deadline, without the time for which the gate was closed since it was set. */
export const withClockChecked = (timers: TaskTimers, { now, closedMs }: Moment): TaskTimers =>
  withClockRunning(withClockStopped(timers, { now, closedMs }), { now, closedMs })

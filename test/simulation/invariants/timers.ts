import type { StoredEvent } from '../../../src/kinds/events.ts'
import type { TaskRecord } from '../../../src/kinds/task/record.ts'
import type { Limits } from '../../../src/kinds/workspace/limits.ts'
import { isHeld, type TaskState } from '../../../src/pure/states.ts'
import type { SeenTask } from '../observer.ts'
import type { TaskInvariant } from './invariant.ts'

const SECOND_MS = 1_000

/** When something is due for a held task, if nothing is heard of it from here on. */
function deadlineOf({ state, timers, holder, updatedAt }: TaskRecord, limits: Limits): number | null {
  // The time limit for the start was set when it was claimed, and is not set again.
  if (state === 'assigned') {
    const isTimed = holder?.isOffered || timers?.assignMs !== undefined
    return timers?.deadlineAt ?? (isTimed ? Infinity : null)
  }
  const stall = limits.stallTimeoutSeconds === null ? null : limits.stallTimeoutSeconds * SECOND_MS
  const stallMs = timers?.stallMs ?? stall
  const times = stallMs === null ? [] : [updatedAt + stallMs]
  for (const at of [timers?.attemptEndsAt, timers?.deadlineAt]) if (at !== undefined) times.push(at)
  if (timers?.suspectedAt !== undefined)
    times.push(Math.max(timers.suspectedAt, timers.progressAt ?? 0) + abortMsOf(timers, limits))
  else if (timers?.doneBy !== undefined)
    times.push(timers.doneBy + (timers.hangGraceMs ?? limits.hangGraceSeconds * SECOND_MS))
  return times.length === 0 ? null : Math.min(...times)
}

const abortMsOf = (timers: TaskRecord['timers'], limits: Limits) =>
  timers?.hangAbortMs ?? limits.hangAbortSeconds * SECOND_MS

const deadlinesAreKept: TaskInvariant = {
  says: 'A held task is checked no later than at its first deadline, and not at all when it has none.',
  broken: ({ record }, { plan: { limits } }) => {
    if (!isHeld(record.state)) return null
    const deadline = deadlineOf(record, limits)
    if ((deadline === null) !== (record.dueAt === null))
      return `${record.state}, due at ${record.dueAt}, its deadline is ${deadline}`
    return deadline !== null && record.dueAt! > deadline && `due ${record.dueAt! - deadline} ms too late`
  },
}

const ofThisClaim = ({ events }: SeenTask, { seq, generation }: StoredEvent) =>
  events.filter((event) => event.seq < seq && event.generation === generation)

const suspectedMeansLate: TaskInvariant = {
  says: 'A task is suspected to hang only when it is beyond the time that was last named for it.',
  broken: (task, { plan: { limits } }) => {
    for (const event of task.news) {
      if (event.type !== 'task_hang_suspected') continue
      const named = ofThisClaim(task, event).findLast(({ payload }) => payload.doneBy !== undefined)
      const doneBy = (named?.payload.doneBy ?? event.payload.doneBy) as number
      const graceMs = task.record.timers?.hangGraceMs ?? limits.hangGraceSeconds * SECOND_MS
      if (event.at < doneBy + graceMs) return `suspected ${doneBy + graceMs - event.at} ms too early`
    }
    return null
  },
}

const hungMeansHung: TaskInvariant = {
  says: 'A holder loses a task as hung only after it was suspected, named no other time, and made no progress for long.',
  broken: (task, { plan: { limits } }) => {
    for (const event of task.news) {
      if (event.type !== 'task_hung') continue
      const history = ofThisClaim(task, event)
      const suspected = history.findLast(({ type }) => type === 'task_hang_suspected')
      if (!suspected) return 'it was not suspected'
      const progress = history.filter(({ type, seq }) => type === 'task_progress' && seq > suspected.seq)
      if (progress.some(({ payload }) => payload.doneBy !== undefined)) return 'it had named another time'
      const since = progress.at(-1)?.at ?? suspected.at
      if (event.at - since < abortMsOf(task.record.timers, limits))
        return `it got on ${event.at - since} ms before`
    }
    return null
  },
}

const newTimesClearSuspicion: TaskInvariant = {
  says: 'A task is under suspicion exactly from its event on until its holder names another time.',
  broken: ({ record, events }) => {
    if (!isHeld(record.state)) return null
    const last = events.findLast(
      ({ type, payload, generation }) =>
        generation === record.generation &&
        (type === 'task_hang_suspected' || (type === 'task_progress' && payload.doneBy !== undefined)),
    )
    const should = last?.type === 'task_hang_suspected'
    return (
      should !== (record.timers?.suspectedAt !== undefined) &&
      `suspected since ${record.timers?.suspectedAt}, the last event was ${last?.type}`
    )
  },
}

const hungTasksComeSooner: TaskInvariant = {
  says: 'A hung task is retried with a higher priority than it had.',
  broken: ({ news, before, record }) => {
    if (!before || news.some(({ type }) => type === 'task_updated')) return null
    const hung = news.filter(({ type }) => type === 'task_hung').length
    const expected = Math.min(before.priority + hung, 10)
    return record.priority !== expected && `priority ${record.priority} instead of ${expected}`
  },
}

const notStartedMeansLate: TaskInvariant = {
  says: 'A claim ends as not started only if it was assigned or timed, was not started, and the time for that was over.',
  broken: ({ claims, events, record }, { plan: { limits } }) => {
    for (const { endReason, endedAt, acquiredAt, generation } of claims) {
      if (endReason !== 'NOT_STARTED') continue
      const mayTakeMs = record.timers?.assignMs ?? limits.assignTimeoutSeconds * SECOND_MS
      if (endedAt! - acquiredAt < mayTakeMs) return `g${generation} had ${endedAt! - acquiredAt} ms`
      const begun = events.some((event) => event.generation === generation && event.type === 'task_started')
      if (begun) return `g${generation} had begun`
    }
    return null
  },
}

/** How many attempts are spent, according to the log; null: unknown, since a failure may have returned its last one. */
function attemptsInLog(events: readonly StoredEvent[]): number | null {
  let attempt: number | null = 0
  for (const { type, from, payload } of events) {
    if (type === 'task_failed') attempt = null
    if (RESETS.includes(type)) attempt = 0
    if (attempt === null) continue
    if (type === 'task_assigned') attempt += 1
    const attemptIsReturned =
      GIVES_BACK.includes(type) ||
      (type === 'task_paused' && from !== null && isHeld(from as TaskState)) ||
      (type === 'task_retrying' && payload.failureClass === 'rate_limited')
    if (attemptIsReturned) attempt -= 1
  }
  return attempt
}

const RESETS = ['task_reopened', 'task_retried', 'task_retried_to_wait', 'task_reset', 'task_reset_to_wait']
const GIVES_BACK = ['task_released', 'task_requeued', 'task_budget_exceeded']

const attemptsAreCounted: TaskInvariant = {
  says: 'Each claim spends an attempt, which is returned exactly when its holder did nothing wrong.',
  broken: ({ events, record }) => {
    const reported = attemptsInLog(events)
    return (
      reported !== null && reported !== record.attempt && `attempt ${record.attempt}, the log has ${reported}`
    )
  },
}

export const timerInvariants = {
  deadlinesAreKept,
  suspectedMeansLate,
  hungMeansHung,
  newTimesClearSuspicion,
  hungTasksComeSooner,
  notStartedMeansLate,
  attemptsAreCounted,
}

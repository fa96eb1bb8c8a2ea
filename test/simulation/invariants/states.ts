import { EVENTS } from '../../../src/kinds/catalogue.ts'
import { sooner } from '../../../src/kinds/task/rules/retry.ts'
import {
  isHeld,
  isTerminal,
  TASK_TRANSITIONS,
  type TaskState,
  type TransitionName,
} from '../../../src/pure/states.ts'
import { replay } from '../../support/replay.ts'
import { isSame } from '../observer.ts'
import type { TaskInvariant } from './invariant.ts'

const changesAreInTheTable: TaskInvariant = {
  says: 'Every change of state is one of the table of transitions.',
  broken: ({ news }) => {
    const wrong = news.find(({ type, from, to }) => {
      if (to === null || type === 'task_created') return false
      const rule = TASK_TRANSITIONS[type as TransitionName]
      return rule?.to !== to || !(rule.from as readonly TaskState[]).includes(from as TaskState)
    })
    return wrong ? `${wrong.type}: ${wrong.from} → ${wrong.to}` : null
  },
}

const oneEventForEachChange: TaskInvariant = {
  says: 'Every change of state leaves exactly one event, and every such event is one change.',
  broken: ({ news, before, record }) => {
    let state = before?.state ?? null
    for (const { from, to, type } of news) {
      if (to === null) continue
      if (from !== state) return `${type} leaves ${from}, the task was ${state}`
      state = to as TaskState
    }
    return state !== record.state && `the events lead to ${state}, the task is ${record.state}`
  },
}

const replayGivesTheTask: TaskInvariant = {
  says: 'Replaying the events of a task gives its state and its generation.',
  broken: ({ events, record }) => {
    const end = replay(events)
    return (
      (end?.state !== record.state || end.generation !== record.generation) &&
      `replayed ${end?.state} g${end?.generation}, stored ${record.state} g${record.generation}`
    )
  },
}

const eventTimesNeverFall: TaskInvariant = {
  says: 'The events of a task never go back in time: the clock is read under the lock.',
  broken: ({ events, news }) => {
    for (let i = Math.max(1, events.length - news.length); i < events.length; i++)
      if (events[i]!.at < events[i - 1]!.at) return `${events[i]!.type} is older than the event before it`
    return null
  },
}

const eventsFitTheirSchemas: TaskInvariant = {
  says: 'The payload of every event fits the catalogue.',
  broken: ({ news }) => {
    const wrong = news.find(({ type, payload }) => !EVENTS[type].safeParse(payload).success)
    return wrong ? `${wrong.type} ${JSON.stringify(wrong.payload)}` : null
  },
}

const WAITS_FOR_A_PERSON: readonly TaskState[] = ['paused', 'awaiting_human', 'budget_exceeded']

const everyRowCanMove: TaskInvariant = {
  says: 'A task that is not finished has a due time, a lease, an unmet dependency, a place in the queue or a person.',
  broken: ({ record }) => {
    const { state, dueAt, blocked, claimState, leaseExpiresAt, rank } = record
    const moves =
      isTerminal(state) ||
      WAITS_FOR_A_PERSON.includes(state) ||
      (state === 'queued' && rank !== null) ||
      (state === 'pending' && (blocked || dueAt !== null)) ||
      ((state === 'awaiting_retry' || state === 'verifying') && dueAt !== null) ||
      (claimState === 'active' && leaseExpiresAt !== null)
    return !moves && `nothing will ever move a task that is ${state}`
  },
}

const dueTimesAreForTimeToMove: TaskInvariant = {
  says: 'Only a task that time can move has a due time, or upkeep would check it forever.',
  broken: ({ record: { state, dueAt } }) =>
    dueAt !== null &&
    !['pending', 'queued', 'awaiting_retry', 'verifying', 'paused'].includes(state) &&
    !isHeld(state) &&
    `${state}, due at ${dueAt}`,
}

const queuedTasksKnowTheirEnd: TaskInvariant = {
  says: 'A task in the queue is due at its expiry time, its deadline, or when it is no longer reserved for the agent that held it.',
  broken: ({ record: { state, dueAt, expiresAt, timers, agentChoice } }) => {
    const endsAt = sooner(sooner(expiresAt, timers?.deadlineAt ?? null), agentChoice?.preferredUntil ?? null)
    return state === 'queued' && dueAt !== endsAt && `due at ${dueAt}, ends at ${endsAt}`
  },
}

const failsAtItsDeadline: TaskInvariant = {
  says: 'A task fails at its deadline only when it had all its time since it was first queued.',
  broken: ({ news, events, record: { timers } }) => {
    const failed = news.find(({ type, payload }) => type === 'task_failed' && payload.reason === 'deadline')
    // While it is held back by a dependency that was added, its clock is stopped; then the rest of its time is left.
    const opened = events.findLastIndex(({ from }) => from !== null && isTerminal(from as TaskState))
    const begun = events.find(({ to }, i) => i >= opened && to === 'queued')
    if (!failed || !begun || timers?.deadlineMs === undefined) return null
    const tookMs = failed.at - begun.at
    return tookMs < timers.deadlineMs && `failed after ${tookMs} of ${timers.deadlineMs} ms`
  },
}

const expiresInTime: TaskInvariant = {
  says: 'A task expires at its expiry time, and never before.',
  broken: ({ news, record: { expiresAt } }) => {
    const early = news.find(
      ({ type, at }) => type === 'task_expired' && (expiresAt === null || at < expiresAt),
    )
    return early && `expired at ${early.at}, expires at ${expiresAt}`
  },
}

const stalledMeansSilent: TaskInvariant = {
  says: 'A holder loses a task as stalled only if it was silent for as long as the limit.',
  broken: ({ news, events }) => {
    for (const { type, seq, at, payload } of news) {
      if (type !== 'task_stalled') continue
      const last = events.findLast((event) => event.seq < seq && SIGNS_OF_LIFE.includes(event.type))
      if (last && at - last.at < (payload.silentMs as number))
        return `${last.type} came ${at - last.at} ms before`
    }
    return null
  },
}

const SIGNS_OF_LIFE = [
  'task_assigned',
  'task_started',
  'task_progress',
  'task_continuing',
  'task_resumed',
  'claim_renewed',
]

const rankedMeansQueued: TaskInvariant = {
  says: 'A task has a place in the queue exactly while it is queued.',
  broken: ({ record: { rank, state } }) =>
    (rank !== null) !== (state === 'queued') && `${state}, rank ${rank}`,
}

const marksFitTheState: TaskInvariant = {
  says: 'completedAt is set exactly in terminal states, archivedAt only there, pausedFrom exactly while paused.',
  broken: ({ record: { state, completedAt, archivedAt, pausedFrom } }) =>
    ((completedAt !== null) !== isTerminal(state) ||
      (archivedAt !== null && !isTerminal(state)) ||
      (pausedFrom !== null) !== (state === 'paused')) &&
    `${state}, completedAt ${completedAt}, archivedAt ${archivedAt}, pausedFrom ${pausedFrom}`,
}

const versionGrows: TaskInvariant = {
  says: 'The version never falls, and grows when the task changes.',
  broken: ({ record, before }) =>
    before !== null &&
    (isSame({ ...record, awaited: before.awaited, upstream: before.upstream }, before)
      ? record.version < before.version
      : record.version <= before.version) &&
    `version ${before.version}, then ${record.version}`,
}

const attemptsAreBounded: TaskInvariant = {
  says: 'No claim makes more attempts than maxRetries + 1, and none are counted below zero.',
  broken: ({ record: { attempt, maxRetries }, before }) => {
    // A batch may claim the task first and lower the number after that.
    const allowed = Math.max(maxRetries, before?.maxRetries ?? 0) + 1
    return (
      (attempt < 0 || (attempt > (before?.attempt ?? 0) && attempt > allowed)) &&
      `attempt ${attempt} of ${allowed}`
    )
  },
}

const turnsAreOfOneClaim: TaskInvariant = {
  says: 'Continuations are counted within a claim: a new one begins at 0, and none exceeds maxContinuations.',
  broken: ({ record: { state, continuations, maxContinuations } }) =>
    (continuations > maxContinuations || (state === 'assigned' && continuations !== 0)) &&
    `${state} after ${continuations} of ${maxContinuations} continuations`,
}

export const stateInvariants = {
  changesAreInTheTable,
  oneEventForEachChange,
  replayGivesTheTask,
  eventTimesNeverFall,
  eventsFitTheirSchemas,
  everyRowCanMove,
  dueTimesAreForTimeToMove,
  queuedTasksKnowTheirEnd,
  failsAtItsDeadline,
  expiresInTime: expiresInTime,
  stalledMeansSilent,
  rankedMeansQueued,
  marksFitTheState,
  versionGrows,
  attemptsAreBounded,
  turnsAreOfOneClaim,
}

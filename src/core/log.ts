import type { z } from 'zod'
import { EVENTS, type EventType, eventTypes, type StoredEvent } from './events.ts'

/** How much an entry of a log matters (Mosaic's levels), the least first. */
export const LOG_LEVELS = ['DEBUG', 'INFO', 'WARN', 'ERROR', 'CRITICAL'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

/** A line that the holder of a task adds to the task's log. */
export interface LogEntry {
  level: LogLevel
  /** A name of its own for what happened. */
  event: string
  message: string
  details?: unknown
}

/** There is one log, the events. This is how much each of them matters; a holder's line says so itself. */
const LEVELS = {
  task_created: 'INFO',
  task_divided: 'INFO',
  task_queued: 'INFO',
  task_skipped: 'WARN',
  task_assigned: 'INFO',
  task_started: 'INFO',
  task_continuing: 'INFO',
  task_resumed: 'INFO',
  task_released: 'INFO',
  task_requeued: 'WARN',
  task_completed: 'INFO',
  task_output_submitted: 'INFO',
  task_human_review_requested: 'INFO',
  task_verification_passed: 'INFO',
  task_verification_failed: 'WARN',
  task_human_approved: 'INFO',
  task_human_rejected: 'WARN',
  task_retrying: 'WARN',
  task_lease_expired: 'WARN',
  task_worker_lost: 'ERROR',
  task_agent_lost: 'ERROR',
  task_stalled: 'ERROR',
  task_hung: 'ERROR',
  task_held_back: 'INFO',
  task_expired: 'WARN',
  task_merged: 'INFO',
  task_result_promoted: 'WARN',
  task_failed: 'ERROR',
  task_budget_exceeded: 'ERROR',
  task_paused: 'INFO',
  task_unpaused: 'INFO',
  task_unpaused_to_wait: 'INFO',
  task_retried: 'INFO',
  task_retried_to_wait: 'INFO',
  task_reset_to_wait: 'INFO',
  task_reset: 'INFO',
  task_cancelled: 'INFO',

  task_updated: 'INFO',
  task_archived: 'INFO',
  task_progress: 'INFO',
  task_hang_suspected: 'WARN',
  task_logged: 'INFO',
  task_result_rejected: 'WARN',
  alert_raised: 'CRITICAL',
  claim_renewed: 'DEBUG',
  claim_write_refused: 'WARN',

  workspace_created: 'INFO',
  key_created: 'INFO',
  key_revoked: 'INFO',
  limits_changed: 'INFO',
  agent_registered: 'INFO',
  agent_updated: 'INFO',
  agent_paused: 'INFO',
  agent_resumed: 'INFO',
  agent_leaving: 'INFO',
  agent_terminated: 'WARN',
  agent_removed: 'INFO',
  agent_stale: 'WARN',
  agent_recovered: 'INFO',
  agent_faulted: 'ERROR',
  dependency_cycle_found: 'ERROR',
  recovery_forced: 'WARN',
  session_started: 'DEBUG',
  session_ended: 'DEBUG',
  worker_registered: 'INFO',
  worker_draining: 'INFO',
  worker_lost: 'WARN',
  project_created: 'INFO',
  project_planned: 'INFO',
  track_changed: 'INFO',
  wakeup_requested: 'DEBUG',
  wakeup_coalesced: 'DEBUG',
  wakeup_skipped: 'INFO',
  run_queued: 'DEBUG',
  run_started: 'INFO',
  run_status: 'DEBUG',
  run_cancel_requested: 'INFO',
  run_flagged: 'WARN',
  run_finished: 'INFO',
  runtime_state_updated: 'DEBUG',
  runtime_state_reset: 'INFO',
  credential_parked: 'WARN',
} as const satisfies Record<EventType, LogLevel>

type Told = Pick<StoredEvent, 'type' | 'payload'>

const isLevel = (level: unknown): level is LogLevel => (LOG_LEVELS as readonly unknown[]).includes(level)

export function levelOf({ type, payload }: Told): LogLevel {
  return type === 'task_logged' && isLevel(payload.level) ? payload.level : LEVELS[type]
}

/** The types whose events are of one of these levels. Holders' lines are not among them: they are of any level. */
export const typesAt = (levels: readonly LogLevel[]): EventType[] =>
  eventTypes.filter((type) => type !== 'task_logged' && levels.includes(LEVELS[type]))

/**
 * What the coordinator did to tasks, and alarms about them. Its log is these, and whatever happened to no task in
 * particular. The index events_of_workspace names the same ones.
 */
export const COORDINATOR_EVENTS = [
  'task_lease_expired',
  'task_worker_lost',
  'task_agent_lost',
  'task_stalled',
  'task_hung',
  'task_hang_suspected',
  'task_requeued',
  'task_failed',
  'alert_raised',
  'dependency_cycle_found',
] as const satisfies readonly EventType[]

const firstWord = (name: string) => name.slice(0, name.indexOf('_') + 1)
const OWN_WORDS = new Set(eventTypes.map(firstWord))

/** Names that begin as Baton's own do are Baton's: a holder's "task_completed" would be taken for a fact. */
export const isNameOfBaton = (name: string) => OWN_WORDS.has(firstWord(name))

type Payload<T extends EventType> = z.output<(typeof EVENTS)[T]>

const moment = (ms: number) => new Date(ms).toISOString()
const span = (ms: number) => (ms < 1000 ? `${ms} ms` : `${Math.round(ms / 1000)} s`)
const MOST_SHOWN = 300
/** Texts of others in a sentence of ours: on one line, and not for ever. */
const brief = (text: string) => {
  const line = text.trim().replace(/\s+/g, ' ').replace(/\.$/, '')
  return line.length > MOST_SHOWN ? `${line.slice(0, MOST_SHOWN).toWellFormed()}…` : line
}
/** `: why`, if a reason was given. */
const why = (text: string | null | undefined) => (text?.trim() ? `: ${brief(text)}` : '')
const count = (many: number, one: string) => `${many} ${one}${many === 1 ? '' : 's'}`
const MOST_LISTED = 10
const list = (names: readonly string[], between = ', ') => {
  if (names.length === 0) return 'nothing'
  const rest = names.length - MOST_LISTED
  return names.slice(0, MOST_LISTED).join(between) + (rest > 0 ? `${between}${rest} more` : '')
}
const held = (claims: number) => (claims === 0 ? '' : `, holding ${count(claims, 'task')}`)

/** One sentence for each. Never what a task was given, what came of it or what was saved on the way: logs travel far. */
const SENTENCES: { [T in EventType]: (payload: Payload<T>) => string } = {
  task_created: ({ title, dependsOn }) =>
    `The task "${brief(title)}" was created${dependsOn.length > 0 ? `; it waits for ${count(dependsOn.length, 'other task')}` : ''}.`,
  task_divided: ({ parts }) => `The task was divided into ${count(parts, 'part')}.`,
  task_queued: ({ because }) =>
    because === 'due'
      ? 'The time of the task has come; it is in the queue.'
      : 'All that the task waited for is done; it is in the queue.',
  task_skipped: ({ because }) => `The task was skipped${why(because)}.`,
  task_assigned: ({ agent, leaseMs, attempt }) =>
    `The task was given to ${agent} for ${span(leaseMs)} (attempt ${attempt}).`,
  task_started: ({ agent, attempt }) => `${agent} began to work (attempt ${attempt}).`,
  task_continuing: ({ agent, continuations }) => `${agent} asked for another turn (number ${continuations}).`,
  task_resumed: ({ agent, continuations }) => `${agent} went on working (turn ${continuations}).`,
  task_released: ({ agent, reason }) => `${agent} gave the task back${why(reason)}.`,
  task_requeued: ({ because }) => `The task went back to the queue${why(because)}.`,
  task_completed: ({ agent, late }) =>
    `${agent} completed the task${late ? ', after its lease had ended' : ''}.`,
  task_output_submitted: ({ agent }) => `${agent} submitted a result, which is to be verified.`,
  task_human_review_requested: ({ reason }) => `A person is asked to look at the task${why(reason)}.`,
  task_verification_passed: ({ verdict }) => `The result passed verification${why(verdict)}.`,
  task_verification_failed: ({ verdict, attempt }) =>
    `The result failed verification (attempt ${attempt})${why(verdict)}.`,
  task_human_approved: ({ comment }) => `A person approved the result${why(comment)}.`,
  task_human_rejected: ({ comment, attempt }) =>
    `A person rejected the result (attempt ${attempt})${why(comment)}.`,
  task_retrying: ({ attempt, dueAt, failureClass, error }) =>
    `Attempt ${attempt} failed${failureClass ? ` (${failureClass})` : ''}; the task is tried again at ${moment(dueAt)}${why(error)}.`,
  task_lease_expired: ({ agent, attempt, leaseExpiredAt }) =>
    `The lease of ${agent} ended at ${moment(leaseExpiredAt)} (attempt ${attempt}).`,
  task_worker_lost: ({ agent, session, attempt, silentMs }) =>
    `The worker ${session} of ${agent} was silent for ${span(silentMs)} and lost the task (attempt ${attempt}).`,
  task_agent_lost: ({ agent, attempt, silentMs }) =>
    `${agent} was silent for ${span(silentMs)} and lost the task (attempt ${attempt}).`,
  task_stalled: ({ agent, attempt, silentMs }) =>
    `${agent} gave no sign of life for ${span(silentMs)} and lost the task (attempt ${attempt}).`,
  task_hung: ({ agent, attempt, withoutProgressMs }) =>
    `${agent} made no progress for ${span(withoutProgressMs)} and lost the task (attempt ${attempt}).`,
  task_held_back: ({ dependsOn }) => `The task waits for ${count(dependsOn.length, 'more task')}.`,
  task_expired: ({ expiresAt }) => `Nobody took the task before it expired at ${moment(expiresAt)}.`,
  task_merged: ({ parts }) => `The results of ${count(parts, 'part')} were merged; the task is completed.`,
  task_result_promoted: ({ promotedGeneration, promotedSession, replaced, reason }) =>
    `The result of generation ${promotedGeneration} by ${promotedSession} was promoted${replaced ? ' in place of another' : ''}${why(reason)}.`,
  task_failed: ({ reason, attempt, error, comment, verdict }) =>
    `The task failed for good (${brief(reason)}, attempt ${attempt})${why(error ?? comment ?? verdict)}.`,
  task_budget_exceeded: ({ error }) => `The task was stopped over its budget${why(error)}.`,
  task_paused: ({ reason }) => `The task was paused${why(reason)}.`,
  task_unpaused: () => 'The task goes on after a pause; it is in the queue.',
  task_unpaused_to_wait: () => 'The task goes on after a pause; it waits as before.',
  task_retried: ({ reason }) => `The task is to be tried again${why(reason)}.`,
  task_retried_to_wait: ({ reason }) =>
    `The task is to be tried again when its parts are done${why(reason)}.`,
  task_reset_to_wait: ({ reason, epoch }) =>
    `The task was opened anew (epoch ${epoch}) and waits for its parts${why(reason)}.`,
  task_reset: ({ reason, epoch }) => `The task was opened anew (epoch ${epoch})${why(reason)}.`,
  task_cancelled: ({ reason }) => `The task was cancelled${why(reason)}.`,

  task_updated: ({ fields }) => `The task was changed: ${list(fields)}.`,
  task_archived: () => 'The task was archived.',
  task_progress: ({ agent, percent, step, checkpoint }) =>
    `${agent} reports ${percent === undefined ? 'progress' : `${percent} %`}${checkpoint ? ' with a checkpoint' : ''}${why(step)}.`,
  task_hang_suspected: ({ agent, doneBy }) =>
    `${agent} should have been done by ${moment(doneBy)}; it may hang.`,
  task_logged: ({ message }) => message,
  task_result_rejected: ({ code, givenGeneration, givenSession, workLost }) =>
    `A result of ${givenSession} at generation ${givenGeneration} was rejected (${code})${workLost ? '; its work is lost' : ''}.`,
  alert_raised: ({ alert, error }) => `Alert ${alert}${why(error)}.`,
  claim_renewed: ({ agent, leaseExpiresAt }) => `${agent} renewed its lease until ${moment(leaseExpiresAt)}.`,
  claim_write_refused: ({ command, code, givenGeneration, givenSession }) =>
    `"${command}" by ${givenSession} at generation ${givenGeneration} was refused (${code}).`,

  workspace_created: ({ name }) => `The workspace "${brief(name)}" was created.`,
  key_created: ({ name, role }) => `The key "${brief(name)}" was made (${role}).`,
  key_revoked: ({ name }) => `The key "${brief(name)}" was revoked.`,
  limits_changed: ({ changed }) => `Limits were changed: ${list(Object.keys(changed))}.`,
  agent_registered: ({ agent, by }) => `The agent ${agent} was registered by ${by}.`,
  agent_updated: ({ agent, fields }) => `The agent ${agent} was changed: ${list(fields)}.`,
  agent_paused: ({ agent, reason }) => `The agent ${agent} was paused${why(reason)}.`,
  agent_resumed: ({ agent }) => `The agent ${agent} takes work again.`,
  agent_leaving: ({ agent, reason, claims }) =>
    `The agent ${agent} leaves when it has finished ${count(claims, 'task')}${why(reason)}.`,
  agent_terminated: ({ agent, reason, claims }) =>
    `The agent ${agent} was terminated${held(claims)}${why(reason)}.`,
  agent_removed: ({ agent }) => `The agent ${agent} was removed.`,
  agent_stale: ({ agent, silentMs, claims }) =>
    `The agent ${agent} has been silent for ${span(silentMs)}${held(claims)}.`,
  agent_recovered: ({ agent, after }) => `The agent ${agent} is back after "${after}".`,
  agent_faulted: ({ agent, reason }) =>
    `The agent ${agent} cannot work until somebody sees to it${why(reason)}.`,
  dependency_cycle_found: ({ cycle }) => `Tasks wait for each other: ${list(cycle, ' → ')}.`,
  recovery_forced: ({ did }) =>
    `Recovery was forced: ${list(Object.entries(did).map(([what, times]) => `${what} ${times}`))}.`,
  session_started: ({ session }) => `The session ${session} began.`,
  session_ended: ({ session, reason }) => `The session ${session} ended${why(reason)}.`,
  worker_registered: ({ session, capacity }) =>
    `The worker ${session} was registered; it can hold ${count(capacity, 'task')}.`,
  worker_draining: ({ session }) => `The worker ${session} takes no new work.`,
  worker_lost: ({ session, silentMs, claims }) =>
    `The worker ${session} was silent for ${span(silentMs)} and is taken to be gone${held(claims)}.`,
  project_created: ({ project }) => `The project ${project} was created.`,
  project_planned: ({ project, created, updated }) =>
    `The plan of ${project} made ${count(created, 'task')} and changed ${updated}.`,
  track_changed: ({ project, track, maxAgents }) =>
    maxAgents === null
      ? `Track ${track} of ${project} may have any number of agents.`
      : `Track ${track} of ${project} may have ${count(maxAgents, 'agent')}.`,
  wakeup_requested: ({ agent, source, reason }) => `${agent} is to be woken (${source})${why(reason)}.`,
  wakeup_coalesced: ({ agent, source }) => `${agent} was about to be woken already (${source}).`,
  wakeup_skipped: ({ agent, source, because }) => `${agent} was not woken (${source})${why(because)}.`,
  run_queued: ({ agent, source }) => `A run of ${agent} is being prepared (${source}).`,
  run_started: ({ agent, attempt }) =>
    `A run of ${agent} began${attempt === null ? '' : ` (attempt ${attempt})`}.`,
  run_status: ({ agent, message }) => `${agent} says${why(message)}.`,
  run_cancel_requested: ({ agent, reason }) => `The run of ${agent} is to be stopped${why(reason)}.`,
  run_flagged: ({ agent, code, detail }) => `The run of ${agent} looks wrong (${code})${why(detail)}.`,
  run_finished: ({ agent, status, errorCode }) =>
    `The run of ${agent} ended: ${status}${errorCode === null ? '' : ` (${errorCode})`}.`,
  runtime_state_updated: ({ agent, runs }) => `${agent} has had ${count(runs, 'run')}.`,
  runtime_state_reset: ({ agent, sessions }) => `The agent ${agent} forgot ${count(sessions, 'session')}.`,
  credential_parked: ({ agents, until }) =>
    `The model takes no more from ${count(agents, 'agent')} until ${moment(until)}.`,
}

/** What happened, in a sentence. An event that another version wrote otherwise is told by its name alone. */
export function messageOf({ type, payload }: Told): string {
  const told = EVENTS[type].safeParse(payload)
  if (!told.success) return `${type.replaceAll('_', ' ').replace(/^./, (letter) => letter.toUpperCase())}.`
  return (SENTENCES[type] as (payload: unknown) => string)(told.data)
}

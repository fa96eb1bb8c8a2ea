import type { z } from 'zod'
import { EVENTS, type EventType, eventTypes, type StoredEvent } from './events.ts'
import { LEVELS, LOG_LEVELS, type LogLevel } from './log-levels.ts'

/** A line that the holder of a task adds to the task's log. */
export interface LogEntry {
  level: LogLevel
  /** The holder's own name for what happened. */
  event: string
  message: string
  details?: unknown
}

type LoggedEvent = Pick<StoredEvent, 'type' | 'payload'>

const isLevel = (level: unknown): level is LogLevel => (LOG_LEVELS as readonly unknown[]).includes(level)

export function levelOf({ type, payload }: LoggedEvent): LogLevel {
  return type === 'task_logged' && isLevel(payload.level) ? payload.level : LEVELS[type]
}

/** The types whose events have one of these levels. Lines of holders are not among them: they have any level. */
export const typesAt = (levels: readonly LogLevel[]): EventType[] =>
  eventTypes.filter((type) => type !== 'task_logged' && levels.includes(LEVELS[type]))

/**
 * What the coordinator did to tasks, and alerts about them. The coordinator's log consists of these and of all events
 * that belong to no task. The index events_of_workspace names the same types.
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

/** Prefixes of Baton's own events are reserved: a holder's "task_completed" would be taken for a fact. */
export const isNameOfBaton = (name: string) => OWN_WORDS.has(firstWord(name))

type Payload<T extends EventType> = z.output<(typeof EVENTS)[T]>

const moment = (ms: number) => new Date(ms).toISOString()
const span = (ms: number) => (ms < 1000 ? `${ms} ms` : `${Math.round(ms / 1000)} s`)
const MOST_SHOWN = 300
/** Text of others within a sentence of ours: on one line, and shortened. */
const brief = (text: string) => {
  const line = text.trim().replace(/\s+/g, ' ').replace(/\.$/, '')
  return line.length > MOST_SHOWN ? `${line.slice(0, MOST_SHOWN).toWellFormed()}…` : line
}
/** `: reason`, if there is one. */
const why = (text: string | null | undefined) => (text?.trim() ? `: ${brief(text)}` : '')
const count = (many: number, one: string) => `${many} ${one}${many === 1 ? '' : 's'}`
const MOST_LISTED = 10
const list = (names: readonly string[], between = ', ') => {
  if (names.length === 0) return 'nothing'
  const rest = names.length - MOST_LISTED
  return names.slice(0, MOST_LISTED).join(between) + (rest > 0 ? `${between}${rest} more` : '')
}
const held = (claims: number) => (claims === 0 ? '' : `, holding ${count(claims, 'task')}`)

/** One sentence for each. Never a task's input, result or checkpoint: logs travel far. */
const SENTENCES: { [T in EventType]: (payload: Payload<T>) => string } = {
  task_created: ({ title, dependsOn }) =>
    `The task "${brief(title)}" was created${dependsOn.length > 0 ? `; it waits for ${count(dependsOn.length, 'other task')}` : ''}.`,
  task_divided: ({ parts }) => `The task was divided into ${count(parts, 'part')}.`,
  task_queued: ({ because }) =>
    because === 'due'
      ? 'The task is due; it is in the queue.'
      : 'All dependencies of the task are met; it is in the queue.',
  task_skipped: ({ because }) => `The task was skipped${why(because)}.`,
  task_assigned: ({ agent, leaseMs, attempt }) =>
    `The task was assigned to ${agent} for ${span(leaseMs)} (attempt ${attempt}).`,
  task_started: ({ agent, attempt }) => `${agent} started the task (attempt ${attempt}).`,
  task_continuing: ({ agent, continuations }) =>
    `${agent} requested a continuation (number ${continuations}).`,
  task_continues_later: ({ agent, after }) =>
    `${agent} continues with the task after ${count(after.length, 'other task')}.`,
  task_resumed: ({ agent, continuations }) => `${agent} resumed the task (continuation ${continuations}).`,
  task_released: ({ agent, reason }) => `${agent} released the task${why(reason)}.`,
  task_requeued: ({ because }) => `The task went back to the queue${why(because)}.`,
  task_completed: ({ agent, late }) =>
    `${agent} completed the task${late ? ', after its lease had expired' : ''}.`,
  task_output_submitted: ({ agent }) => `${agent} submitted a result for verification.`,
  task_human_review_requested: ({ reason, question }) =>
    question === undefined
      ? `The task waits for a review by a person${why(reason)}.`
      : `The task waits for an answer${why(question)}.`,
  task_completed_by_person: ({ comment }) => `A person gave the result${why(comment)}.`,
  task_answered: ({ answer }) => `The question was answered${why(answer)}.`,
  task_verification_passed: ({ verdict }) => `The result passed verification${why(verdict)}.`,
  task_verification_failed: ({ verdict, attempt }) =>
    `The result failed verification (attempt ${attempt})${why(verdict)}.`,
  task_verification_requested: ({ verifier }) =>
    `A person asked for another verdict on the result${verifier === null ? '' : ` by ${verifier}`}.`,
  task_human_approved: ({ comment }) => `A person approved the result${why(comment)}.`,
  task_human_rejected: ({ comment, attempt }) =>
    `A person rejected the result (attempt ${attempt})${why(comment)}.`,
  task_retrying: ({ attempt, dueAt, failureClass, error }) =>
    `Attempt ${attempt} failed${failureClass ? ` (${failureClass})` : ''}; the task is retried at ${moment(dueAt)}${why(error)}.`,
  task_lease_expired: ({ agent, attempt, leaseExpiredAt }) =>
    `The lease of ${agent} expired at ${moment(leaseExpiredAt)} (attempt ${attempt}).`,
  task_worker_lost: ({ agent, session, attempt, silentMs }) =>
    `The worker ${session} of ${agent} was silent for ${span(silentMs)} and lost the task (attempt ${attempt}).`,
  task_agent_lost: ({ agent, attempt, silentMs }) =>
    `${agent} was silent for ${span(silentMs)} and lost the task (attempt ${attempt}).`,
  task_stalled: ({ agent, attempt, silentMs }) =>
    `${agent} gave no sign of life for ${span(silentMs)} and lost the task (attempt ${attempt}).`,
  task_hung: ({ agent, attempt, withoutProgressMs }) =>
    `${agent} made no progress for ${span(withoutProgressMs)} and lost the task (attempt ${attempt}).`,
  task_held_back: ({ dependsOn }) => `The task depends on ${count(dependsOn.length, 'more task')}.`,
  task_expired: ({ expiresAt }) => `No agent claimed the task before it expired at ${moment(expiresAt)}.`,
  task_merged: ({ parts }) => `The results of ${count(parts, 'part')} were merged; the task is completed.`,
  task_result_promoted: ({ promotedGeneration, promotedSession, replaced, reason }) =>
    `The result of generation ${promotedGeneration} by ${promotedSession} was promoted${replaced ? ' in place of another' : ''}${why(reason)}.`,
  task_failed: ({ reason, attempt, error, comment, verdict }) =>
    `The task failed for good (${brief(reason)}, attempt ${attempt})${why(error ?? comment ?? verdict)}.`,
  task_budget_exceeded: ({ error }) => `The task was stopped because it exceeded its budget${why(error)}.`,
  task_paused: ({ reason }) => `The task was paused${why(reason)}.`,
  task_unpaused: () => 'The task was resumed after a pause; it is in the queue.',
  task_unpaused_to_wait: () => 'The task was resumed after a pause; it waits as before.',
  task_retried: ({ reason }) => `The task will be retried${why(reason)}.`,
  task_retried_to_wait: ({ reason }) => `The task will be retried when its parts are done${why(reason)}.`,
  task_reopened: ({ because }) => `The task waits again${why(because)}.`,
  task_reset_to_wait: ({ reason, epoch }) =>
    `The task was reset (epoch ${epoch}) and waits for its parts${why(reason)}.`,
  task_reset: ({ reason, epoch }) => `The task was reset (epoch ${epoch})${why(reason)}.`,
  task_cancelled: ({ reason }) => `The task was cancelled${why(reason)}.`,

  task_updated: ({ fields }) => `The task was updated: ${list(fields)}.`,
  task_archived: () => 'The task was archived.',
  task_work_removed: ({ because, generations, branches, folders }) =>
    `${because === 'retention' ? 'The task ended long ago: its work' : 'The work'} of ${generations.length === 1 ? 'generation' : 'generations'} ${list(generations.map(String))} was removed (branches: ${branches}, folders: ${folders}).`,
  task_progress: ({ agent, percent, step, checkpoint }) =>
    `${agent} reports ${percent === undefined ? 'progress' : `${percent} %`}${checkpoint ? ' with a checkpoint' : ''}${why(step)}.`,
  task_hang_suspected: ({ agent, doneBy }) =>
    `${agent} should have finished by ${moment(doneBy)}; it may hang.`,
  model_fallback: ({ agent, from, to }) => `${agent} uses ${to} instead of ${from ?? 'its own model'}.`,
  task_verification_started: ({ verifier, attempt }) =>
    `${verifier} verifies the result (attempt ${attempt}).`,
  task_logged: ({ message }) => message,
  task_result_rejected: ({ code, givenGeneration, givenSession, workLost }) =>
    `A result of ${givenSession} at generation ${givenGeneration} was rejected (${code})${workLost ? '; its work is lost' : ''}.`,
  stall_detected: ({ entityType, stalledState, stalledSince, action }) =>
    `The ${entityType} has stalled: ${stalledState} since ${moment(stalledSince)} (${action}).`,
  alert_raised: ({ alert, error }) => `Alert ${alert}${why(error)}.`,
  alert_cleared: ({ alert }) => `The alert ${alert} is over.`,
  claim_renewed: ({ agent, leaseExpiresAt }) => `${agent} renewed its lease until ${moment(leaseExpiresAt)}.`,
  claim_write_refused: ({ command, code, givenGeneration, givenSession }) =>
    `"${command}" by ${givenSession} at generation ${givenGeneration} was refused (${code}).`,

  workspace_created: ({ name }) => `The workspace "${brief(name)}" was created.`,
  key_created: ({ name, role }) => `The key "${brief(name)}" was created (${role}).`,
  key_revoked: ({ name }) => `The key "${brief(name)}" was revoked.`,
  limits_changed: ({ changed }) => `Limits were changed: ${list(Object.keys(changed))}.`,
  agent_registered: ({ agent, by }) => `The agent ${agent} was registered by ${by}.`,
  agent_updated: ({ agent, fields }) => `The agent ${agent} was updated: ${list(fields)}.`,
  agent_paused: ({ agent, reason, graceful }) =>
    `The agent ${agent} was ${graceful === false ? 'stopped and paused' : 'paused'}${why(reason)}.`,
  agent_resumed: ({ agent }) => `The agent ${agent} was resumed.`,
  agent_leaving: ({ agent, reason, claims }) =>
    `The agent ${agent} will be terminated when it has finished ${count(claims, 'task')}${why(reason)}.`,
  agent_terminated: ({ agent, reason, claims }) =>
    `The agent ${agent} was terminated${held(claims)}${why(reason)}.`,
  agent_removed: ({ agent }) => `The agent ${agent} was removed.`,
  agent_stale: ({ agent, silentMs, claims }) =>
    `The agent ${agent} has been silent for ${span(silentMs)}${held(claims)}.`,
  agent_recovered: ({ agent, after }) => `The agent ${agent} recovered after "${after}".`,
  agent_faulted: ({ agent, reason }) =>
    `The agent ${agent} is in error and gets no work until it is repaired${why(reason)}.`,
  agent_status_changed: ({ agent, to }) => `The agent ${agent} is ${to} now.`,
  dependency_cycle_found: ({ cycle }) => `Dependency cycle: ${list(cycle, ' → ')}.`,
  recovery_forced: ({ did, allWorkspaces }) =>
    allWorkspaces
      ? 'Recovery was forced in all workspaces.'
      : `Recovery was forced: ${list(Object.entries(did).map(([what, times]) => `${what} ${times}`))}.`,
  session_started: ({ session }) => `The session ${session} started.`,
  session_ended: ({ session, reason }) => `The session ${session} ended${why(reason)}.`,
  worker_registered: ({ session, capacity }) =>
    `The worker ${session} was registered; it can hold ${count(capacity, 'task')}.`,
  worker_draining: ({ session }) => `The worker ${session} is draining and takes no new work.`,
  worker_lost: ({ session, silentMs, claims }) =>
    `The worker ${session} was silent for ${span(silentMs)} and is lost${held(claims)}.`,
  project_created: ({ project }) => `The project ${project} was created.`,
  project_planned: ({ project, created, updated }) =>
    `The plan of ${project} created ${count(created, 'task')} and updated ${updated}.`,
  track_changed: ({ project, track, maxAgents }) =>
    maxAgents === null
      ? `Track ${track} of ${project} may have any number of agents.`
      : `Track ${track} of ${project} may have ${count(maxAgents, 'agent')}.`,
  wakeup_requested: ({ agent, source, reason }) =>
    `A wakeup of ${agent} was requested (${source})${why(reason)}.`,
  wakeup_coalesced: ({ agent, source }) => `A wakeup of ${agent} was merged into a pending one (${source}).`,
  wakeup_skipped: ({ agent, source, because }) => `${agent} was not woken (${source})${why(because)}.`,
  run_queued: ({ agent, source }) => `A run of ${agent} is queued (${source}).`,
  run_started: ({ agent, attempt }) =>
    `A run of ${agent} started${attempt === null ? '' : ` (attempt ${attempt})`}.`,
  run_status: ({ agent, message }) => `${agent} says${why(message)}.`,
  run_cancel_requested: ({ agent, reason }) => `A stop of the run of ${agent} was requested${why(reason)}.`,
  run_flagged: ({ agent, code, detail }) => `The run of ${agent} was flagged (${code})${why(detail)}.`,
  run_usage: ({ agent, taskTokens = 0 }) =>
    `The runs of the task of ${agent} have used ${taskTokens} tokens.`,
  run_finished: ({ agent, status, errorCode }) =>
    `The run of ${agent} ended: ${status}${errorCode === null ? '' : ` (${errorCode})`}.`,
  runtime_state_updated: ({ agent, runs }) => `${agent} has had ${count(runs, 'run')}.`,
  runtime_state_reset: ({ agent, sessions }) =>
    `The state of ${agent} was reset (${count(sessions, 'session')} deleted).`,
  credential_parked: ({ agents, until }) =>
    `The model rate limits ${count(agents, 'agent')} until ${moment(until)}.`,

  mission_created: ({ title }) => `The mission "${brief(title)}" was created.`,
  mission_planning_started: ({ agent }) =>
    `The mission is being planned${agent === null ? '' : ` by ${agent}`}.`,
  mission_plan_ready: ({ version, taskCount }) =>
    `Plan ${version} of the mission is ready: ${count(taskCount, 'task')}.`,
  mission_plan_rejected: ({ version, comment, follows }) =>
    `Plan ${version} was rejected; ${follows === undefined ? 'another one is made' : `the mission continues with plan ${follows}`}${why(comment)}.`,
  mission_plan_failed: ({ reason }) =>
    `The mission has no valid plan; a person has to propose one${why(reason)}.`,
  mission_approved: ({ version, approvedBy, taskCount }) =>
    `Plan ${version} was approved by ${approvedBy}: ${count(taskCount, 'task')}.`,
  mission_rejected: ({ comment }) => `The plan was rejected, and the mission ended${why(comment)}.`,
  mission_paused: ({ reason, held: tasks }) => `The mission was paused${held(tasks)}${why(reason)}.`,
  mission_resumed: () => 'The mission was resumed.',
  mission_updated: ({ fields }) => `The mission was updated: ${list(fields)}.`,
  mission_budget_exceeded: ({ totalCost }) =>
    `The mission has spent its budget${totalCost === null ? '' : ` ($${totalCost})`} and waits for a person.`,
  mission_budget_increased: () => 'The budget of the mission was increased.',
  mission_stopping: ({ reason, tasksRemaining }) =>
    `The mission is being stopped, with ${count(tasksRemaining, 'task')} left${why(reason)}.`,
  mission_completed: ({ tasksCompleted, totalCost }) =>
    `The mission is completed: ${count(tasksCompleted, 'task')}, ${totalCost === null ? 'unknown cost' : `$${totalCost}`}.`,
  mission_failed: ({ tasksFailed, reason }) =>
    `The mission failed: ${count(tasksFailed, 'task')} failed${why(reason)}.`,
  mission_cancelled: ({ reason }) => `The mission was cancelled${why(reason)}.`,
  mission_outcome_ready: () => 'The work of the mission is done; a person decides about the outcome.',
  mission_outcome_declined: ({ missing }) => `A person rejected the outcome of the mission${why(missing)}.`,
  mission_plan_proposed: ({ version, taskCount }) =>
    `Version ${version} of the plan was proposed, with ${count(taskCount, 'task')}.`,
  mission_plan_changed: ({ version, added, changed, cancelled }) =>
    `The mission follows version ${version} of its plan: ${added} added, ${changed} changed, ${cancelled} cancelled.`,
  mission_retrying: ({ reason, tasks }) =>
    `The mission does ${count(tasks, 'failed task')} again${why(reason)}.`,
  routine_created: ({ name }) => `The routine "${brief(name)}" was saved.`,
  routine_updated: ({ fields }) => `The routine was updated: ${list(fields)}.`,
  routine_removed: () => 'The routine was removed.',
  routine_started: ({ scheduledFor }) =>
    `The routine started a mission ${scheduledFor === null ? 'by hand' : `for ${scheduledFor}`}.`,
  routine_skipped: ({ scheduledFor }) =>
    `The routine was skipped at ${scheduledFor}: its last mission has not ended.`,
  routine_waiting: ({ scheduledFor }) => `The routine waits to start a mission for ${scheduledFor}.`,
  routine_missed: ({ since, until }) => `Scheduled times of the routine were missed, ${since} to ${until}.`,
  routine_failed: ({ reason }) => `The routine could not start a mission${why(reason)}.`,
  inbox_added: ({ item: { kind, reason } }) => `Something waits for a person (${kind})${why(reason)}.`,
  inbox_closed: ({ because }) => `It waits for a person no more${why(because)}.`,
  comment_added: ({ author, preview }) => `${author} commented${why(preview)}.`,
  report_written: ({ taskId, version, author }) =>
    `Version ${version} of the report on the ${taskId === undefined ? 'mission' : 'task'} was written by ${author}.`,
  mission_reopened: ({ tasks }) => `The mission is open again: ${count(tasks, 'task')} to do.`,
  cost_snapshot: ({ totalCost, percentUsed }) =>
    `The mission has spent ${totalCost === null ? 'an unknown amount' : `$${totalCost}`}${percentUsed === null ? '' : ` (${percentUsed} % of its budget)`}.`,
}

/** What happened, in a sentence. For an event of another version with a different payload, its name. */
export function messageOf({ type, payload }: LoggedEvent): string {
  const parsed = EVENTS[type].safeParse(payload)
  if (!parsed.success) return `${type.replaceAll('_', ' ').replace(/^./, (letter) => letter.toUpperCase())}.`
  // A question that ends a sentence ends it.
  return (SENTENCES[type] as (payload: unknown) => string)(parsed.data).replace(/([?!])\.$/, '$1')
}

import { z } from 'zod'
import { FAILED_WORDS, FAILURE_WORDS, withBlanks, wordsOf } from '../../pure/code-words.ts'
import { ERRORS } from '../../pure/errors.ts'
import { type EventSpec, eventsAbout, text } from '../../pure/event.ts'
import type { TransitionName } from '../../pure/states.ts'
import { brief, count, list, moment, span, why } from '../../pure/words.ts'
import {
  afterClaim,
  claimed,
  failure,
  held,
  judged,
  lasted,
  lost,
  retried,
  spentByRun,
  submitted,
} from './event-fields.ts'

const event = eventsAbout({ entity: 'task' }, {})

/** Why a write was refused: the title of its code. */
const refusalWords = (code: string) => (isRefusalCode(code) ? ERRORS[code].title : withBlanks(code))
const isRefusalCode = (code: string): code is keyof typeof ERRORS => Object.hasOwn(ERRORS, code)

/** Events of tasks. State changes are named as in states.ts; the rest leave the state alone. */
export const taskEvents = {
  task_created: event.info(
    {
      title: text,
      taskType: text,
      priority: z.int(),
      dependsOn: z.array(text),
      triggerRule: text.optional(),
      childOf: text.optional(),
    },
    ({ title, dependsOn }) =>
      `The task "${brief(title)}" was created${dependsOn.length > 0 ? `; it waits for ${count(dependsOn.length, 'other task')}` : ''}.`,
  ),
  task_divided: event.info(
    { parts: z.int(), merge: text },
    ({ parts }) => `The task was divided into ${count(parts, 'part')}.`,
  ),
  task_queued: event.info(
    { because: z.enum(['due', 'dependencies_met']), unblockedBy: text.optional() },
    ({ because }) =>
      because === 'due'
        ? 'The task is due; it is in the queue.'
        : 'All dependencies of the task are met; it is in the queue.',
  ),
  task_skipped: event.warn(
    { because: text, failedDependency: text.optional(), ...afterClaim },
    ({ because }) => `The task was skipped${why(because)}.`,
  ),
  task_assigned: event.info(
    { ...claimed, leaseMs: z.int(), attempt: z.int(), previousState: text.nullable() },
    ({ agent, leaseMs, attempt }) =>
      `The task was assigned to ${agent} for ${span(leaseMs)} (attempt ${attempt}).`,
  ),
  task_started: event.info(
    { ...held, attempt: z.int() },
    ({ agent, attempt }) => `${agent} started the task (attempt ${attempt}).`,
  ),
  task_continuing: event.info(
    { ...held, continuations: z.int(), ...spentByRun },
    ({ agent, continuations }) => `${agent} requested a continuation (number ${continuations}).`,
  ),
  task_continues_later: event.info(
    { ...afterClaim, ...held, after: z.array(text), ...spentByRun },
    ({ agent, after }) => `${agent} continues with the task after ${count(after.length, 'other task')}.`,
  ),
  task_resumed: event.info(
    { ...held, continuations: z.int() },
    ({ agent, continuations }) => `${agent} resumed the task (continuation ${continuations}).`,
  ),
  task_released: event.info(
    { ...afterClaim, ...held, reason: text },
    ({ agent, reason }) => `${agent} released the task${why(reason)}.`,
  ),
  task_requeued: event.warn(
    { because: text, ...afterClaim },
    ({ because }) => `The task went back to the queue${why(because)}.`,
  ),
  task_completed: event.info(
    { ...afterClaim, ...held, workProductRef: text, late: z.boolean(), ...submitted },
    ({ agent, late }) => `${agent} completed the task${late ? ', after its lease had expired' : ''}.`,
  ),
  task_output_submitted: event.info(
    { ...afterClaim, ...held, workProductRef: text, ...submitted },
    ({ agent }) => `${agent} submitted a result for verification.`,
  ),
  task_human_review_requested: event.info(
    {
      reason: text,
      workProductRef: text.optional(),
      question: text.optional(),
      options: z.array(text).optional(),
      ...judged,
      ...submitted,
      ...afterClaim,
    },
    ({ reason, question }) =>
      question === undefined
        ? `The task waits for a review by a person${why(reason)}.`
        : `The task waits for an answer${why(question)}.`,
  ),
  task_completed_by_person: event.info(
    { workProductRef: text, comment: text.nullable(), ...afterClaim },
    ({ comment }) => `A person gave the result${why(comment)}.`,
  ),
  task_answered: event.info(
    { question: text, answer: text },
    ({ answer }) => `The question was answered${why(answer)}.`,
  ),
  task_verification_passed: event.info(
    { verdict: text.nullable(), ...judged },
    ({ verdict }) => `The result passed verification${why(verdict)}.`,
  ),
  task_verification_failed: event.warn(
    { verdict: text.nullable(), attempt: z.int(), ...judged, ...retried },
    ({ verdict, attempt }) => `The result failed verification (attempt ${attempt})${why(verdict)}.`,
  ),
  task_verification_requested: event.info(
    { verifier: text.nullable() },
    ({ verifier }) =>
      `A person asked for another verdict on the result${verifier === null ? '' : ` by ${verifier}`}.`,
  ),
  task_human_approved: event.info(
    { comment: text.nullable() },
    ({ comment }) => `A person approved the result${why(comment)}.`,
  ),
  task_human_rejected: event.warn(
    { comment: text.nullable(), attempt: z.int(), ...retried },
    ({ comment, attempt }) => `A person rejected the result (attempt ${attempt})${why(comment)}.`,
  ),
  task_retrying: event.warn(
    {
      ...afterClaim,
      ...retried,
      ...failure,
      dueAt: z.number(),
      waitMs: z.number(),
      ...spentByRun,
    },
    ({ attempt, dueAt, failureClass, error }) =>
      `Attempt ${attempt} failed; the task is retried at ${moment(dueAt)}${why(error ?? (failureClass && wordsOf(FAILURE_WORDS, failureClass)))}.`,
  ),
  task_lease_expired: event.warn(
    {
      ...lost,
      leaseExpiredAt: z.number(),
    },
    ({ agent, attempt, leaseExpiredAt }) =>
      `The lease of ${agent} expired at ${moment(leaseExpiredAt)} (attempt ${attempt}).`,
  ),
  task_worker_lost: event.error(
    { ...lost, silentMs: z.number() },
    ({ agent, session, attempt, silentMs }) =>
      `The worker ${session} of ${agent} was silent for ${span(silentMs)} and lost the task (attempt ${attempt}).`,
  ),
  task_agent_lost: event.error(
    { ...lost, silentMs: z.number() },
    ({ agent, attempt, silentMs }) =>
      `${agent} was silent for ${span(silentMs)} and lost the task (attempt ${attempt}).`,
  ),
  task_stalled: event.error(
    { ...lost, silentMs: z.number() },
    ({ agent, attempt, silentMs }) =>
      `${agent} gave no sign of life for ${span(silentMs)} and lost the task (attempt ${attempt}).`,
  ),
  task_hung: event.error(
    {
      ...lost,
      withoutProgressMs: z.number(),
      priority: z.int(),
    },
    ({ agent, attempt, withoutProgressMs }) =>
      `${agent} made no progress for ${span(withoutProgressMs)} and lost the task (attempt ${attempt}).`,
  ),
  task_held_back: event.info(
    { dependsOn: z.array(text) },
    ({ dependsOn }) => `The task depends on ${count(dependsOn.length, 'more task')}.`,
  ),
  task_expired: event.warn(
    { expiresAt: z.number() },
    ({ expiresAt }) => `No agent claimed the task before it expired at ${moment(expiresAt)}.`,
  ),
  task_merged: event.info(
    { parts: z.int(), workProductRef: text },
    ({ parts }) => `The results of ${count(parts, 'part')} were merged; the task is completed.`,
  ),
  task_result_promoted: event.warn(
    {
      promotedGeneration: z.int(),
      promotedSession: text,
      workProductRef: text,
      replaced: z.boolean(),
      reason: text.nullable(),
      ...afterClaim,
    },
    ({ promotedGeneration, promotedSession, replaced, reason }) =>
      `The result of generation ${promotedGeneration} by ${promotedSession} was promoted${replaced ? ' in place of another' : ''}${why(reason)}.`,
  ),
  task_failed: event.error(
    {
      ...afterClaim,
      ...failure,
      reason: text,
      failedDependency: text.optional(),
      comment: text.nullable().optional(),
      verdict: text.nullable().optional(),
      ...judged,
      ...spentByRun,
      ...lasted,
    },
    ({ reason, attempt, error, comment, verdict }) =>
      `The task failed for good (${wordsOf(FAILED_WORDS, brief(reason))}, attempt ${attempt})${why(error ?? comment ?? verdict)}.`,
  ),
  task_budget_exceeded: event.error(
    { error: text.nullable().optional(), budgetId: text.optional(), ...spentByRun, ...afterClaim },
    ({ error }) => `The task was stopped because it exceeded its budget${why(error)}.`,
  ),
  task_budget_too_small: event.warn(
    { error: text.nullable().optional(), budgetId: text.optional(), ...afterClaim },
    ({ error }) => `The task does not begin${why(error)}.`,
  ),
  task_paused: event.info(
    { reason: text.nullable(), ...afterClaim },
    ({ reason }) => `The task was paused${why(reason)}.`,
  ),
  task_unpaused: event.info({}, () => 'The task was resumed after a pause; it is in the queue.'),
  task_unpaused_to_wait: event.info({}, () => 'The task was resumed after a pause; it waits as before.'),
  task_retried: event.info(
    { reason: text.nullable(), ...afterClaim },
    ({ reason }) => `The task will be retried${why(reason)}.`,
  ),
  task_retried_to_wait: event.info(
    { reason: text.nullable(), ...afterClaim },
    ({ reason }) => `The task will be retried when its parts are done${why(reason)}.`,
  ),
  task_reopened: event.info(
    { because: text, ...afterClaim },
    ({ because }) => `The task waits again${why(because)}.`,
  ),
  task_reset_to_wait: event.info(
    { reason: text.nullable(), epoch: z.int(), ...afterClaim },
    ({ reason, epoch }) => `The task was reset (epoch ${epoch}) and waits for its parts${why(reason)}.`,
  ),
  task_reset: event.info(
    { reason: text.nullable(), epoch: z.int(), ...afterClaim },
    ({ reason, epoch }) => `The task was reset (epoch ${epoch})${why(reason)}.`,
  ),
  task_cancelled: event.info(
    { reason: text.nullable(), ...afterClaim },
    ({ reason }) => `The task was cancelled${why(reason)}.`,
  ),

  task_updated: event.info(
    {
      fields: z.array(text),
      /** Of its short fields; without `from` where it is not known. */
      changes: z
        .record(text, z.object({ from: z.unknown().optional(), to: z.unknown().optional() }))
        .optional(),
      /** Tasks that it no longer waits for. */
      removedDependencies: z.array(text).optional(),
    },
    ({ fields }) => `The task was updated: ${list(fields)}.`,
  ),
  task_archived: event.info({}, () => 'The task was archived.'),
  /** The folders and branches of these generations are removed; `retention`: the task ended long ago. */
  task_work_removed: event.warn(
    {
      because: z.enum(['discarded', 'retention']),
      generations: z.array(z.int()),
      branches: z.int(),
      folders: z.int(),
    },
    ({ because, generations, branches, folders }) =>
      `${because === 'retention' ? 'The task ended long ago: its work' : 'The work'} of ${generations.length === 1 ? 'generation' : 'generations'} ${list(generations.map(String))} was removed (branches: ${branches}, folders: ${folders}).`,
  ),
  task_progress: event.info(
    {
      ...held,
      percent: z.number().optional(),
      step: text.optional(),
      checkpoint: z.boolean(),
      doneBy: z.number().optional(),
    },
    ({ agent, percent, step, checkpoint }) =>
      `${agent} reports ${percent === undefined ? 'progress' : `${percent} %`}${checkpoint ? ' with a checkpoint' : ''}${why(step)}.`,
  ),
  task_hang_suspected: event.warn(
    { ...held, doneBy: z.number() },
    ({ agent, doneBy }) => `${agent} should have finished by ${moment(doneBy)}; it may hang.`,
  ),
  task_logged: event.info(
    {
      ...held,
      level: text,
      event: text,
      message: text,
      details: z.unknown().optional(),
    },
    ({ message }) => message,
  ),
  model_fallback: event.warn(
    { ...held, from: text.nullable(), to: text, reason: text.nullable() },
    ({ agent, from, to }) => `${agent} uses ${to} instead of ${from ?? 'its own model'}.`,
  ),
  /** Somebody took on the verification of its result. */
  task_verification_started: event.info(
    {
      verifier: text,
      /** Null, or missing, where it is not known. */
      model: text.nullable().optional(),
      verification: text,
      attempt: z.int(),
    },
    ({ verifier, attempt }) => `${verifier} verifies the result (attempt ${attempt}).`,
  ),
  /** Nobody takes it: people are told, in the transaction of this. */
  task_untaken: event.warn({ reason: text }, ({ reason }) => `Nobody takes the task${why(reason)}.`),
  task_takable: event.info(
    {},
    () => 'Nobody needs to look after the task any more: it can be taken, or its mission is closed.',
  ),
  task_result_rejected: event.warn(
    {
      code: text,
      givenGeneration: z.int(),
      givenSession: text,
      workLost: z.boolean(),
      workProductRef: text,
      resultBytes: z.int(),
      /** A real holder: its agent, and the time since it claimed. */
      agent: text.optional(),
      processingMs: z.int().optional(),
    },
    ({ code, givenGeneration, givenSession, workLost }) =>
      `A result of ${givenSession} at generation ${givenGeneration} was rejected (${refusalWords(code)})${workLost ? '; its work is lost' : ''}.`,
  ),
  claim_renewed: event.debug(
    { ...held, leaseExpiresAt: z.number() },
    ({ agent, leaseExpiresAt }) => `${agent} renewed its lease until ${moment(leaseExpiresAt)}.`,
  ),
  claim_write_refused: event.warn(
    { command: text, code: text, givenGeneration: z.int(), givenSession: text },
    ({ command, code, givenGeneration, givenSession }) =>
      `"${command}" by ${givenSession} at generation ${givenGeneration} was refused (${refusalWords(code)}).`,
  ),
} satisfies Record<TransitionName, EventSpec> & Record<string, EventSpec>

type TaskEvents = typeof taskEvents
declare module '../events.ts' {
  interface Catalogue extends TaskEvents {}
}

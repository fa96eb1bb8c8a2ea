import { type Refusal, refuse } from '../../../pure/errors.ts'
import { CLAIM_ENDS } from '../../../pure/states.ts'
import type { TaskReply } from '../../replies.ts'
import type { Fence, RuleContext, TaskCommand } from '../command.ts'
import type { TaskDraft, TaskRecord } from '../record.ts'
import { whyNotHolder } from './acting.ts'
import { expireLease } from './attempts.ts'
import type { PastHolder } from './claim-request.ts'
import { closeForLateResults, isOpenForLateResults, judgeFence, leaseRanOut } from './fence.ts'
import { endMissionPause, isInGrace } from './pause-grace.ts'
import { storeResult } from './result-writes.ts'
import { standBy } from './standing-result.ts'
import { workProductRef } from './task-keys.ts'
import { firstVerdictCheckMs, verifyMsOf } from './timers.ts'

type Submit = Extract<TaskCommand, { kind: 'submit' }>

export const REVIEW_REQUIRED = 'The task requires review.'

/** Submits a result. Coditect 6.2: the higher generation wins, then the session; completed and unclaimed tasks take none. */
export function submit(draft: TaskDraft, command: Submit, context: RuleContext): TaskReply {
  const { record } = draft
  const ref = workProductRef(record.key ?? record.uuid, command.fence.generation, command.submission.hash)
  const foreign = whyForeign(record, command, context)
  if (foreign) return noteRejected(draft, command, foreign, ref, context, null)
  if (isSameSubmissionAgain(record, command)) return accepted(record, ref)
  const late = leaseRanOut(record, context.now) || isOpenForLateResults(record)
  const refusal = whyNotAccepted(record, command, context, late)
  if (refusal) {
    if (leaseRanOut(record, context.now)) expireLease(draft, context)
    return reject(draft, command, refusal, ref, context)
  }
  return accept(draft, command, ref, context, late)
}

/** Knowing the session of another agent's claim is not enough to write under it. */
const whyForeign = (
  { agent, session, generation, purpose }: TaskRecord,
  { fence }: Submit,
  context: RuleContext,
) =>
  fence.generation === generation && fence.session === session && agent !== null
    ? whyNotHolder(context.outside, agent, purpose)
    : null

/** A lost reply: the same holder submits the same work again and gets the same answer. */
function isSameSubmissionAgain(record: TaskRecord, { fence, submission }: Submit): boolean {
  return (
    record.resultHash !== null &&
    // Otherwise a person revoked the task, perhaps for a result with the same content.
    record.claimState !== 'superseded' &&
    record.resultHash === submission.hash &&
    record.generation === fence.generation &&
    record.session === fence.session
  )
}

function whyNotAccepted(
  record: TaskRecord,
  { fence }: Submit,
  context: RuleContext,
  late: boolean,
): Refusal | null {
  if (isInGrace(record, fence, context.now)) return null
  const fenced = judgeFence(record, fence, context.now, 'STALE_OR_FUTURE')
  const facts = { currentGeneration: record.generation, taskState: record.state }
  // A result of the newest generation for a task that already has one, from any sender.
  if (record.state === 'completed' && fence.generation === record.generation)
    return refuse(
      'TASK_ALREADY_COMPLETED',
      'The task already has a result; reset it to accept new work.',
      facts,
    )
  if (fenced?.code !== 'ALREADY_EXPIRED') return fenced
  // No agent has claimed since, or the generation would differ: the work is as good as on time.
  const untouched =
    late && (record.claimState === 'active' || ['awaiting_retry', 'queued'].includes(record.state))
  if (context.limits.lateResults && untouched) return null
  return refuse('NO_CLAIM', 'The lease had expired, and this workspace accepts no late results.', facts)
}

/** Its mission was closed while the result was on its way: the attempt counts after all, and its claim ended with its work. */
function takeFromPause(record: TaskRecord): void {
  record.attempt += 1
  record.claimState = CLAIM_ENDS.COMPLETED
  endMissionPause(record)
}

function accept(
  draft: TaskDraft,
  command: Submit,
  ref: string,
  context: RuleContext,
  late: boolean,
): TaskReply {
  const { record } = draft
  const { submission } = command
  const agent = record.agent!
  const session = record.session!
  const actor = `agent:${agent}`
  record.startedAt ??= context.now
  closeForLateResults(record)
  if (record.state === 'paused') takeFromPause(record)
  standBy(record, submission)
  // The errors of earlier attempts no longer apply.
  if (record.generation > 1)
    draft.effects.details.push({ taskId: record.id, set: { error: null, failureClass: null } })
  const by = { generation: record.generation, session, agent, acquiredAt: record.acquiredAt }
  storeResult(draft, submission, ref, by, record.verification === 'none' ? true : null)
  record.dueAt = verdictDueAt(record, context)
  if (record.verification === 'none') {
    draft.endClaim('COMPLETED')
    draft.move(
      'task_completed',
      actor,
      withSubmission({ agent, session, workProductRef: ref, late }, command),
    )
  } else {
    draft.endClaim('SUBMITTED')
    const [name, payload] =
      record.verification === 'human'
        ? (['task_human_review_requested', { reason: REVIEW_REQUIRED, workProductRef: ref }] as const)
        : (['task_output_submitted', { agent, session, workProductRef: ref }] as const)
    draft.move(name, actor, withSubmission(payload, command))
  }
  return accepted(record, ref)
}

/** Adds what the event says of the submission. Most results have no summary and no run, and nothing is added. */
function withSubmission(
  payload: Record<string, unknown>,
  { submission, spent }: Submit,
): Record<string, unknown> {
  if (submission.summary !== null) payload.summaryLength = submission.summary.length
  return spent ? Object.assign(payload, spent) : payload
}

/** When time moves on a task that has just got a result. */
export function verdictDueAt(
  { verification, timers }: TaskRecord,
  { now, limits }: RuleContext,
): number | null {
  if (verification === 'verifier') return now + verifyMsOf(timers, limits)
  return verification === 'baton' ? now + firstVerdictCheckMs(timers, limits) : null
}

const accepted = (record: TaskRecord, ref: string): TaskReply => ({
  ok: true,
  reason: 'ACCEPTED',
  workProductRef: ref,
  record,
})

function reject(
  draft: TaskDraft,
  command: Submit,
  refusal: Refusal,
  ref: string,
  context: RuleContext,
): TaskReply {
  const { record } = draft
  const { fence, submission } = command
  // Late work of a real holder is stored. A session that never held this generation did no work for it.
  const holder = heldOnce(record, fence, context)
  if (holder) storeResult(draft, submission, ref, { ...fence, ...holder }, false, refusal.code)
  return noteRejected(draft, command, refusal, ref, context, holder)
}

function noteRejected(
  draft: TaskDraft,
  { fence, submission }: Submit,
  refusal: Refusal,
  ref: string,
  context: RuleContext,
  holder: PastHolder | null,
): TaskReply {
  const workLost = holder !== null
  draft.note('task_result_rejected', context.actor, {
    code: refusal.code,
    givenGeneration: fence.generation,
    givenSession: fence.session,
    workLost,
    workProductRef: ref,
    resultBytes: submission.bytes,
    // Since its claim: what the work took that is lost.
    ...(holder?.agent != null && { agent: holder.agent }),
    ...(holder?.acquiredAt != null && { processingMs: Math.max(0, context.now - holder.acquiredAt) }),
  })
  return { ...refusal, currentGeneration: draft.record.generation, workLost }
}

/** The holder of this generation, if the session is its own. */
function heldOnce(
  record: TaskRecord,
  { generation, session }: Fence,
  { holderOf }: RuleContext,
): PastHolder | null {
  if (generation < 1 || generation > record.generation) return null
  const holder = generation === record.generation ? record : holderOf?.(record.id, generation)
  return holder?.session === session ? { agent: holder.agent, session, acquiredAt: holder.acquiredAt } : null
}

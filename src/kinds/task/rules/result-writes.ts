import { CLAIM_ENDS, type ClaimEnd } from '../../../pure/states.ts'
import type { Submission } from '../command.ts'
import type { TaskDraft } from '../record.ts'

/** What rules write of results, made by an agent, a merge or a person. */

/** The claim under which a result was made. */
interface MadeUnder {
  readonly generation: number
  readonly session: string
  readonly agent: string | null
  /** When that claim was granted. */
  readonly acquiredAt: number | null
}

/** `accepted`: null while a verdict is awaited. */
export function storeResult(
  { record, effects, now }: TaskDraft,
  submission: Submission,
  ref: string,
  { generation, session, agent, acquiredAt }: MadeUnder,
  accepted: boolean | null,
  rejection: string | null = null,
): void {
  effects.results.push({
    kind: 'written',
    taskId: record.id,
    epoch: record.epoch,
    generation,
    session,
    agent,
    accepted,
    rejection,
    ref,
    hash: submission.hash,
    data: submission.data,
    summary: submission.summary,
    commit: submission.commit ?? null,
    processingMs: acquiredAt === null ? null : Math.max(0, now - acquiredAt),
    at: now,
  })
}

/** The verdict on the result that awaits one. */
export function judgeResult(
  { record, effects }: TaskDraft,
  accepted: boolean,
  rejection: string | null,
): void {
  effects.results.push({ kind: 'judged', taskId: record.id, epoch: record.epoch, accepted, rejection })
}

export function dropPendingResult(draft: TaskDraft, rejection: string): void {
  if (draft.record.resultHash === null) return
  judgeResult(draft, false, rejection)
  draft.record.resultHash = null
}

/**
 * A claim that begins and ends at once, for a result that no holder submits. Its own generation keeps "one accepted result, one
 * claim" true, and work of earlier holders is refused as late.
 */
export function claimAtOnce(
  { record, effects, now }: TaskDraft,
  held: { agent: string; session: string },
  reason: ClaimEnd,
): MadeUnder {
  record.generation += 1
  record.claimState = CLAIM_ENDS[reason]
  record.startedAt ??= now
  Object.assign(record, held, { acquiredAt: now, leaseMs: 0, leaseExpiresAt: null })
  const claim = { taskId: record.id, generation: record.generation, ...held, at: now }
  effects.claims.push(
    { kind: 'opened', ...claim, leaseExpiresAt: now },
    { kind: 'ended', ...claim, state: record.claimState, reason, acquiredAt: now },
  )
  return { generation: record.generation, ...held, acquiredAt: now }
}

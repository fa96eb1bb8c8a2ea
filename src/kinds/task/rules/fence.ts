import { type Refusal, refuse } from '../../../pure/errors.ts'
import type { Fence } from '../command.ts'
import type { TaskRecord } from '../record.ts'
import { leaseIsOver } from './retry.ts'

/**
 * The fence: does this write come from the present holder? Checked under the row lock, at the database's time.
 * `names` selects the code for a wrong generation: renewals and results have different ones in the API.
 */
export function judgeFence(
  record: TaskRecord,
  fence: Fence,
  now: number,
  names: 'GENERATION_MISMATCH' | 'STALE_OR_FUTURE',
): Refusal | null {
  const facts = { currentGeneration: record.generation, taskState: record.state }
  if (record.generation === 0) return refuse('NO_CLAIM', 'The task has never been claimed.', facts)
  if (fence.generation !== record.generation) {
    const detail = `The request is for generation ${fence.generation}; the task is at generation ${record.generation}.`
    if (names === 'GENERATION_MISMATCH') return refuse('GENERATION_MISMATCH', detail, facts)
    return refuse(
      fence.generation < record.generation ? 'STALE_GENERATION' : 'FUTURE_GENERATION',
      detail,
      facts,
    )
  }
  if (fence.session !== record.session)
    return refuse('SESSION_MISMATCH', `Generation ${record.generation} belongs to another session.`, facts)
  if (record.claimState === 'expired')
    return refuse('ALREADY_EXPIRED', 'The lease expired before this write.', facts)
  if (record.claimState !== 'active')
    return refuse(
      'NO_CLAIM',
      `The claim has ended (${record.claimState}); the task is ${record.state}.`,
      facts,
    )
  if (leaseIsOver(record.leaseExpiresAt!, now))
    return refuse('ALREADY_EXPIRED', 'The lease expired before this write.', facts)
  return null
}

/** The lease is over but the row still says active: the sweep has not run yet, so the first caller settles it. */
export const leaseRanOut = (record: TaskRecord, now: number) =>
  record.claimState === 'active' && leaseIsOver(record.leaseExpiresAt!, now)

/**
 * After its lease a claim stays open for its result, until another agent claims, the result arrives, or a person acts on
 * the task. An expired claim that is no longer open has no lease time.
 */
export const isOpenForLateResults = (record: TaskRecord) =>
  record.claimState === 'expired' && record.leaseExpiresAt !== null

export function closeForLateResults(record: TaskRecord): void {
  if (record.claimState === 'expired') record.leaseExpiresAt = null
}

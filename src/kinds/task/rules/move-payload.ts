import type { ClaimState } from '../../../pure/states.ts'
import { retriesLeft } from './retry.ts'

interface Moved {
  readonly claimState: ClaimState | null
  readonly agent: string | null
  readonly attempt: number
  readonly maxRetries: number
  readonly acquiredAt: number | null
  /** When it moved. */
  readonly updatedAt: number
  readonly dueAt: number | null
  readonly state: string
}

/**
 * The payload of a move, with what else it changed that readers of the log show: whose claim ended, how many attempts are spent
 * by now, when it is tried again, how many retries are left of a task that failed. Only where the payload does not say so already: most moves need nothing more.
 */
export function movePayload(
  before: Moved,
  after: Moved,
  payload: Record<string, unknown>,
): Record<string, unknown> {
  const isClaimOver = before.claimState === 'active' && after.claimState !== 'active'
  const isRetried = after.state === 'awaiting_retry'
  const more: Record<string, unknown> = {}
  if (isClaimOver && !('agent' in payload)) more.agent = before.agent
  if (!('attempt' in payload)) {
    if (after.attempt !== before.attempt) more.attempt = after.attempt
  } else if (payload.attempt !== after.attempt) more.attemptsSpent = after.attempt
  if (isRetried) more.retryAt = after.dueAt
  if (isRetried || after.state === 'failed') {
    more.retriesRemaining = retriesLeft(after.attempt, after.maxRetries)
    if (isClaimOver) more.durationMs = after.updatedAt - before.acquiredAt!
  }
  for (const _any in more) return { ...payload, ...more }
  return payload
}

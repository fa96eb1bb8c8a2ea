import type { MissionEnd } from '../states.ts'
import { awaitAcceptance, workAgain } from './acceptance.ts'
import { endOf, openTasks } from './counts.ts'
import type { MissionDraft } from './draft.ts'
import { needsAcceptance, withoutOutcome } from './outcome.ts'
import { knownCost } from './spending.ts'

/** How a mission ends. */

/** Whatever its counts say happens: it ends when all its tasks have ended. */
export function settle(draft: MissionDraft, now: number): void {
  const { record } = draft
  if (record.phase !== 'running' && !record.closedBy.includes('cancelling')) return
  // What failed is about to be done again.
  if (record.retryAt !== null) return
  const { counts, config } = record
  const end = endOf(counts)
  if (end === null) {
    if (config.outcome) workAgain(draft)
    const isLost = (counts.byState.failed ?? 0) > counts.failedOptional
    if (config.onFailure === 'stop' && isLost) stop(draft, 'A task failed.')
    return
  }
  if (end === 'completed' && needsAcceptance(record)) awaitAcceptance(draft)
  else finish(draft, record.closedBy.includes('cancelling') && end === 'completed' ? 'cancelled' : end, now)
}

export function stop(draft: MissionDraft, reason: string): void {
  const { record } = draft
  if (record.closedBy.includes('cancelling')) return
  record.error = reason
  record.retryAt = null
  draft.move('mission_stopping', { reason, tasksRemaining: openTasks(record.counts) })
}

export function finish(draft: MissionDraft, end: MissionEnd, now: number): void {
  const { record } = draft
  record.completedAt = now
  if (record.config.outcome) record.config = withoutOutcome(record.config)
  record.dueAt = null
  record.retryAt = null
  // Whoever cancels a mission knows that it ends.
  record.unseen = end !== 'cancelled'
  const { tokens, byState, runs, unknownRuns } = record.counts
  const durationMs = record.startedAt === null ? null : now - record.startedAt
  draft.move(`mission_${end}`, {
    totalTokens: tokens,
    totalCost: knownCost(record.counts),
    ...{ runs, unknownRuns },
    durationMs,
    tasksCompleted: byState.completed ?? 0,
    tasksFailed: byState.failed ?? 0,
    ...(record.error === null ? {} : { reason: record.error }),
  })
}

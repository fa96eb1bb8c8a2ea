import { endOf, openTasks } from './counts.ts'
import type { MissionDraft } from './draft.ts'
import type { MissionEnd } from './states.ts'

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
    const isLost = (counts.byState.failed ?? 0) > counts.failedOptional
    if (config.onFailure === 'stop' && isLost) stop(draft, 'A task failed.')
    return
  }
  finish(draft, record.closedBy.includes('cancelling') && end === 'completed' ? 'cancelled' : end, now)
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
  record.dueAt = null
  record.retryAt = null
  const { tokens, usd, byState } = record.counts
  const durationMs = record.startedAt === null ? null : now - record.startedAt
  draft.move(`mission_${end}`, {
    totalTokens: tokens,
    totalCost: usd,
    durationMs,
    tasksCompleted: byState.completed ?? 0,
    tasksFailed: byState.failed ?? 0,
    ...(record.error === null ? {} : { reason: record.error }),
  })
}

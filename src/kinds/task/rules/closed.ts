import { isClosed } from '../../mission/rules/gate.ts'
import type { RuleContext } from '../command.ts'
import type { TaskDraft, TaskRecord } from '../record.ts'
import { expiryOf } from './agent-choice.ts'
import { without } from './groups.ts'
import { sooner } from './retry.ts'

/**
 * Clocks that stop while the gate of a mission is closed: how long a task may wait in the queue, and how long for a verdict. When
 * one of them runs out then, what was left of it at the closing is noted; when the gate is found open again, that much is left.
 */

/** How often a stopped clock is looked at. */
const CHECK_AGAIN_MS = 30_000

/** When the time is over for which it may be in this state; null: it has no such clock. */
const endsAt = (record: TaskRecord): number | null =>
  record.state === 'queued' ? expiryOf(record) : record.state === 'verifying' ? record.dueAt : null

/** Whether its time has not run out after all. */
export function stopsItsClock(draft: TaskDraft, { missionOf, now }: RuleContext): boolean {
  const { record } = draft
  const { missionId, timers } = record
  const at = endsAt(record)
  if (missionId === null || at === null || (at > now && timers?.clockMs === undefined)) return false
  const mission = missionOf?.(missionId)
  const closedAt = mission && isClosed(mission) ? mission.closedAt : null
  if (closedAt !== null) {
    record.timers = { ...timers, clockMs: timers?.clockMs ?? Math.max(0, at - closedAt) }
    record.dueAt = now + CHECK_AGAIN_MS
  } else if (timers?.clockMs !== undefined) goesOn(record, now + timers.clockMs)
  else return false
  draft.mark()
  return true
}

function goesOn(record: TaskRecord, until: number): void {
  const rest = without(record.timers, 'clockMs')
  if (record.state === 'queued') {
    const { preferredUntil = null } = record.agentChoice ?? {}
    record.timers = { ...rest, expiresAt: until }
    record.dueAt = sooner(until, sooner(rest?.deadlineAt ?? null, preferredUntil))
  } else {
    record.timers = rest
    record.dueAt = until
  }
}

/** It is still queued at the time of its expiry. */
export function hasExpired(record: TaskRecord, now: number): boolean {
  const at = expiryOf(record)
  return record.state === 'queued' && at !== null && at <= now && record.timers?.clockMs === undefined
}

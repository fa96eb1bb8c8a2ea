import type { TaskState } from '../../../pure/states.ts'
import type { EventDraft } from '../../events.ts'
import type { Limits } from '../../workspace/limits.ts'
import type { NewTask } from '../command.ts'
import type { TaskRecord } from '../record.ts'
import { placeInQueue, sooner } from './retry.ts'
import { parseTaskKey, trackQueueOf } from './task-keys.ts'
import { readinessOf, type Upstream } from './upstream-counts.ts'
import { preferPlanned } from './waiting.ts'
import { withClockRunning } from './watch-fields.ts'

/** A new task, queued at once unless it is scheduled or blocked. */
export function createTask(
  task: NewTask,
  /** Null: it depends on nothing. */
  upstream: Upstream | null,
  identity: { id: number; uuid: string; parentId: number | null; dependsOn: readonly string[] },
  actor: string,
  now: number,
  order: Limits['queueOrder'] = 'priority',
  /** How long the gate of its mission has been closed by now. */
  closedMs = 0,
): { record: TaskRecord; event: EventDraft } {
  const readiness = upstream ? readinessOf(upstream) : 'ready'
  const early = task.runAt !== null && task.runAt > now
  const state: TaskState =
    readiness === 'never' ? 'skipped' : readiness === 'wait' || early ? 'pending' : 'queued'
  const watch = state === 'queued' ? withClockRunning(task.watch, { now, closedMs }) : task.watch
  const endsAt = sooner(task.expiresAt, watch?.deadlineAt ?? null)
  const dueAt = state === 'queued' ? endsAt : early && state === 'pending' ? task.runAt : null
  // Field by field: a spread in front costs several times as much.
  const record: TaskRecord = {
    id: identity.id,
    uuid: identity.uuid,
    key: task.key,
    projectId: task.projectId,
    trackQueue: task.key === null ? '' : trackQueueOf(parseTaskKey(task.key)),
    parentId: identity.parentId,
    // On a part, `merge` describes how the whole is merged.
    merge: identity.parentId === null ? task.merge : 'none',
    state,
    pausedFrom: null,
    priority: task.priority,
    generation: 0,
    epoch: 1,
    version: 1,
    attempt: 0,
    maxRetries: task.maxRetries,
    continuations: 0,
    maxContinuations: task.maxContinuations,
    rank: state === 'queued' ? rankOf(task, order, now) : null,
    dueAt,
    expiresAt: task.expiresAt,
    blocked: readiness === 'wait',
    awaited: false,
    missionId: task.missionId,
    purpose: task.purpose,
    optional: task.optional,
    onlyAgent: task.onlyAgent,
    capabilities: task.capabilities,
    review: task.review,
    serves: task.serves ?? null,
    claimState: null,
    session: null,
    agent: null,
    acquiredAt: null,
    leaseMs: 0,
    minLeaseMs: 0,
    leaseExpiresAt: null,
    resultHash: null,
    createdAt: now,
    updatedAt: now,
    startedAt: null,
    completedAt: state === 'skipped' ? now : null,
    archivedAt: null,
    watch,
    upstream,
  }
  if (state === 'queued' && watch?.prefers !== undefined) preferPlanned(record, now)
  return { record, event: createdEvent(task, record, identity.dependsOn, actor, now) }
}

const rankOf = ({ priority, watch, purpose }: NewTask, order: Limits['queueOrder'], now: number) =>
  placeInQueue(order, now, priority, watch?.estimateMs, purpose)

function createdEvent(
  { details: { title, taskType }, priority, triggerRule, addedBy }: NewTask,
  { id, missionId, state, version }: TaskRecord,
  dependsOn: readonly string[],
  actor: string,
  now: number,
): EventDraft {
  const payload: Record<string, unknown> = { title, taskType, priority, dependsOn }
  if (dependsOn.length > 0) payload.triggerRule = triggerRule
  if (addedBy) payload.childOf = addedBy.uuid
  return {
    type: 'task_created',
    taskId: id,
    missionId: missionId ?? undefined,
    generation: 0,
    version,
    from: null,
    to: state,
    actor,
    payload,
    at: now,
  }
}

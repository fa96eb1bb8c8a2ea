import type { TaskState } from '../../../pure/states.ts'
import type { EventDraft } from '../../events.ts'
import type { Limits } from '../../workspace/limits.ts'
import type { NewTask } from '../command.ts'
import type { TaskRecord } from '../record.ts'
import { preferPlanned } from './agent-choice.ts'
import { placeInQueue, sooner } from './retry.ts'
import { parseTaskKey, trackQueueOf } from './task-keys.ts'
import { withClockRunning } from './timer-clock.ts'
import { readinessOf, type Upstream } from './upstream-counts.ts'

interface Identity {
  id: number
  uuid: string
  parentId: number | null
}

/** A new task, queued at once unless it is scheduled or blocked. */
export function createTask(
  task: NewTask,
  /** Null: it depends on nothing. */
  upstream: Upstream | null,
  identity: Identity & { dependsOn: readonly string[] },
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
  const timers = state === 'queued' ? withClockRunning(task.timers, { now, closedMs }) : task.timers
  const endsAt = sooner(task.expiresAt, timers?.deadlineAt ?? null)
  const dueAt = state === 'queued' ? endsAt : early && state === 'pending' ? task.runAt : null
  const rank = state === 'queued' ? rankOf(task, order, now) : null
  const record = recordOf(
    task,
    identity,
    { state, rank, dueAt, blocked: readiness === 'wait', timers, upstream },
    now,
  )
  if (state === 'queued' && task.agentChoice?.prefers !== undefined) preferPlanned(record, now)
  return { record, event: createdEvent(task, record, identity.dependsOn, actor, now) }
}

type Begun = Pick<TaskRecord, 'state' | 'rank' | 'dueAt' | 'blocked' | 'timers' | 'upstream'>

/** Field by field: a spread in front costs several times as much. */
function recordOf(
  task: NewTask,
  identity: Identity,
  { state, rank, dueAt, blocked, timers, upstream }: Begun,
  now: number,
): TaskRecord {
  return {
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
    rank,
    dueAt,
    expiresAt: task.expiresAt,
    blocked,
    awaited: false,
    missionId: task.missionId,
    purpose: task.purpose,
    optional: task.optional,
    onlyAgent: task.onlyAgent,
    capabilities: task.capabilities,
    verification: task.verification,
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
    timers,
    continuation: task.continuation,
    modelUse: null,
    agentChoice: task.agentChoice,
    holder: null,
    attention: null,
    children: task.children,
    resultCommit: null,
    upstream,
  }
}

const rankOf = ({ priority, timers, purpose }: NewTask, order: Limits['queueOrder'], now: number) =>
  placeInQueue(order, now, priority, timers?.estimateMs, purpose)

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

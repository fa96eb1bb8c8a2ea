import {
  CLAIM_ENDS,
  type ClaimEnd,
  type ClaimState,
  dropsProgress,
  isHeld,
  isTerminal,
  type SessionState,
  TASK_TRANSITIONS,
  type TaskState,
  type TransitionName,
} from '../../pure/states.ts'
import type { CommentAdded } from '../comment/record.ts'
import type { EventDraft, StoredEvent } from '../events.ts'
import type { ReportAdded } from '../report/rules/report.ts'
import type { Limits } from '../workspace/limits.ts'
import { expiryOf, preferPlanned } from './rules/agent-choice.ts'
import type { TaskGroups } from './rules/groups.ts'
import { isItem, taskItemsChanged } from './rules/inbox-events.ts'
import { movePayload } from './rules/move-payload.ts'
import type { ResultJudged, ResultPromoted, ResultWritten } from './rules/result-changes.ts'
import { placeInQueue, sooner } from './rules/retry.ts'
import type { Serves, VerifiedBy } from './rules/reviews.ts'
import { withClockReset, withClockRunning, withClockStopped } from './rules/timer-clock.ts'
import type {
  DependencyAdded,
  DependencyRecounted,
  DependencyRemoved,
  Upstream,
} from './rules/upstream-counts.ts'
import { afterLeaving, type WaitingDetails, waitsAfter } from './rules/waiting.ts'

/** What the claim path reads and writes of a task: one narrow row. Titles, inputs and results live beside it. */
export interface TaskRecord extends TaskGroups {
  readonly id: number
  readonly uuid: string
  readonly key: string | null
  /** 0: no project. */
  readonly projectId: number
  /** Its track queue, '' without a key. Parts of tasks have track queues of their own (keys.ts). */
  readonly trackQueue: string
  /** The task it is a part of. */
  readonly parentId: number | null
  state: TaskState
  /** The state a paused task returns to. */
  pausedFrom: TaskState | null
  priority: number
  /** Raised by one at each claim, by nothing else, and never lowered. */
  generation: number
  /** Raised by an explicit reset; at most one result is accepted in each epoch. */
  epoch: number
  version: number
  /** Attempts spent in this epoch; the first claim makes it 1. */
  attempt: number
  maxRetries: number
  /** What happens when the parts of a divided task are done: their results are merged, or an agent does the task. */
  merge: 'none' | 'object' | 'task'
  /** Continuations within this attempt; each claim begins at 0. */
  continuations: number
  maxContinuations: number
  /** Its rank while it is queued, else null. */
  rank: number | null
  /**
   * When time moves this task on: a retry, a scheduled start, the timeout of a verdict, its expiry. For a held task, when
   * its holder is checked next (rules/timers.ts): most have no deadline but their lease.
   */
  dueAt: number | null
  /** It waits for its dependencies. */
  blocked: boolean
  /** A task depends, or once depended, on it. The end of a task that nothing waits for need not be reported. */
  awaited: boolean
  onlyAgent: string | null
  /** The capabilities an agent must have, sorted; most tasks require none. */
  capabilities: readonly string[]
  /** If it is still queued at this time, it is cancelled. */
  readonly expiresAt: number | null
  readonly missionId: number | null
  readonly purpose: Purpose
  /** Its failure does not fail the mission. */
  optional: boolean
  verification: VerifiedBy
  readonly serves: Serves | null
  /** The state of the newest claim; null before the first one. Session, agent, time and lease are that claim's. */
  claimState: ClaimState | null
  session: string | null
  agent: string | null
  /** When that claim was granted. */
  acquiredAt: number | null
  leaseMs: number
  /** After a timeout the next holder gets at least this long. */
  minLeaseMs: number
  leaseExpiresAt: number | null
  /** Fingerprint of the result that is accepted, or awaits a verdict, in this epoch. */
  resultHash: string | null
  createdAt: number
  updatedAt: number
  startedAt: number | null
  completedAt: number | null
  archivedAt: number | null
  /** What it depends on, in numbers. Null without dependencies, and while they are not counted. Not part of the version. */
  upstream: Upstream | null
}

/** What a task is for. Workers that ask for the next task get `work`, unless they ask for others. */
export const PURPOSES = ['work', 'planning', 'verification', 'report'] as const
export type Purpose = (typeof PURPOSES)[number]

export interface ClaimOpened {
  readonly kind: 'opened'
  readonly taskId: number
  readonly generation: number
  readonly session: string
  readonly agent: string
  readonly leaseExpiresAt: number
  readonly at: number
}

export interface ClaimEnded {
  readonly kind: 'ended'
  readonly taskId: number
  readonly generation: number
  readonly session: string
  readonly agent: string
  readonly state: ClaimState
  readonly reason: ClaimEnd
  readonly acquiredAt: number
  readonly at: number
}

/** What people read of a task, changed with it: only the fields that are present. */
export interface DetailsChanged {
  readonly taskId: number
  readonly set: Partial<WaitingDetails> & {
    title?: string | undefined
    description?: string | null | undefined
    tags?: readonly string[] | undefined
    /** Null when the attempt is over: the next one has reported nothing yet. */
    progressPercent?: number | null | undefined
    progressStep?: string | null | undefined
    checkpoint?: unknown
    /** Why the last attempt failed; null when that no longer applies. */
    error?: string | null | undefined
    failureClass?: string | null | undefined
    /** What ran out: with it, a failed task is a dead letter. */
    exhausted?: string | null | undefined
    /** By a newer plan of its mission. */
    taskType?: string | undefined
    input?: unknown
    plan?: unknown
  }
}

/** A session holds claims under one name. With a capacity it is a worker, and loses its claims when it goes silent. */
export interface SessionRecord {
  readonly name: string
  readonly uuid: string
  agent: string | null
  userId: string | null
  project: string | null
  state: SessionState
  /** Opened explicitly, not merely named by a claim: such sessions count against maxActiveSessions. */
  declared: boolean
  /** How many tasks it can hold at once; null when it is not a worker. */
  capacity: number | null
  capabilities: readonly string[]
  /** The longest silence; after that it is over. */
  silenceMs: number
  startedAt: number
  lastSeenAt: number
  /** When its silence is checked; null when it is over. */
  dueAt: number | null
  endedAt: number | null
  endReason: string | null
}

/** What one decision writes beside the record itself. All of it goes into one transaction. */
export interface Effects {
  claims: (ClaimOpened | ClaimEnded)[]
  results: (ResultWritten | ResultJudged | ResultPromoted)[]
  details: DetailsChanged[]
  dependencies: DependencyAdded[]
  removed: DependencyRemoved[]
  /** Tasks whose earlier dependencies are gone. */
  replaced: number[]
  recounted: DependencyRecounted[]
  comments: CommentAdded[]
  reports: ReportAdded[]
  events: EventDraft[]
}

export const noEffects = (): Effects => ({
  ...{ claims: [], results: [], details: [], comments: [], reports: [], events: [] },
  ...{ dependencies: [], removed: [], replaced: [], recounted: [] },
})

/** `agent:<slug>`, `key:<id>`, `system`. */
export type Actor = string

/**
 * A task being changed. All rules change state through `move`, the only place that assigns `state`: it checks the table,
 * raises the version and records the one event.
 */
export class TaskDraft {
  readonly record: TaskRecord
  readonly effects: Effects
  readonly now: number
  readonly order: Limits['queueOrder']
  /** How long the gate of its mission has been closed by now. */
  readonly closedMs: number
  /** As it was before this decision. */
  readonly before: Readonly<TaskRecord>
  changed = false
  /** Only its counts of upstream tasks changed, or what its holder is told. */
  counted = false

  constructor(
    record: TaskRecord,
    now: number,
    effects: Effects = noEffects(),
    order: Limits['queueOrder'] = 'priority',
    closedMs = 0,
  ) {
    this.closedMs = closedMs
    this.before = record
    this.record = { ...record }
    this.now = now
    this.effects = effects
    this.order = order
  }

  /** Changed by time alone, which is not a sign of life of its holder. */
  mark(): void {
    if (!this.changed) this.record.version += 1
    this.changed = true
  }

  /** Not a change that people see: its version stays. */
  count(upstream: Upstream): void {
    this.record.upstream = upstream
    this.counted = true
  }

  /** For its holder alone: its version stays. */
  tell(holder: TaskRecord['holder']): void {
    this.record.holder = holder
    this.counted = true
  }

  touch(): void {
    this.mark()
    this.record.updatedAt = this.now
  }

  move(name: TransitionName, actor: Actor, payload: Record<string, unknown> = {}): void {
    const { from, to } = TASK_TRANSITIONS[name]
    const was = this.record.state
    const wasItem = isItem(this.record)
    if (!(from as readonly TaskState[]).includes(was)) throw new Error(`${name} is not possible from ${was}`)
    this.touch()
    this.record.state = to
    if (to !== 'paused') this.record.pausedFrom = null
    this.record.rank = to === 'queued' ? this.#place() : null
    if (to === 'queued') this.record.dueAt = expiryOf(this.record)
    if (this.record.timers?.deadlineMs !== undefined) this.#runClock(was, to)
    this.record.completedAt = isTerminal(to) ? this.now : null
    if (isTerminal(to)) this.record.dueAt = null
    if (dropsProgress(was, to))
      this.effects.details.push({
        taskId: this.record.id,
        set: { progressPercent: null, progressStep: null },
      })
    afterLeaving(this.record, was)
    if (to === 'queued') preferPlanned(this.record, this.now)
    const waits = waitsAfter(this.record, was, wasItem, payload, this.now)
    this.effects.details.push(...waits)
    // Before the move itself, which stays the last event of a decision.
    for (const { set } of waits)
      for (const [type, payload] of taskItemsChanged(wasItem ? this.before : null, this.record, set, name))
        this.note(type, actor, payload)
    this.note(name, actor, movePayload(this.before, this.record, payload), was, to)
  }

  /** A deadline counts only while the task waits for an agent or has one. */
  #runClock(from: TaskState, to: TaskState): void {
    const { record } = this
    if (isTerminal(from)) record.timers = withClockReset(record.timers)
    const waits = to === 'queued' || to === 'awaiting_retry'
    if (waits) record.timers = withClockRunning(record.timers, this)
    else if (!isHeld(to)) record.timers = withClockStopped(record.timers, this)
    if (waits) record.dueAt = sooner(record.dueAt, record.timers?.deadlineAt ?? null)
  }

  #place(): number {
    const { priority, timers, purpose } = this.record
    return placeInQueue(this.order, this.now, priority, timers?.estimateMs, purpose)
  }

  /** An event that changes no state. */
  note(
    type: EventDraft['type'],
    actor: Actor,
    payload: Record<string, unknown>,
    from: TaskState | null = null,
    to: TaskState | null = null,
  ): void {
    this.effects.events.push({
      type,
      taskId: this.record.id,
      missionId: this.record.missionId ?? undefined,
      generation: this.record.generation,
      version: this.record.version,
      from,
      to,
      actor,
      payload,
      at: this.now,
    })
  }

  endClaim(reason: ClaimEnd): void {
    const { record } = this
    if (record.claimState !== 'active') return
    record.claimState = CLAIM_ENDS[reason]
    this.touch()
    this.effects.claims.push({
      kind: 'ended',
      taskId: record.id,
      generation: record.generation,
      session: record.session!,
      agent: record.agent!,
      state: record.claimState,
      reason,
      acquiredAt: record.acquiredAt!,
      at: this.now,
    })
  }
}

/** An event, with what the log shows of its task. */
export interface EventWithTask extends StoredEvent {
  /** The UUID of its task. */
  taskUuid: string | null
  /** What its task is for, and its place in the plan of its mission. */
  purpose: Purpose | null
  number: number | null
  /** The UUID of its mission. */
  missionUuid: string | null
}

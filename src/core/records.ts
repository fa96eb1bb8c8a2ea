import type { EventDraft } from './events.ts'
import type { Limits } from './limits.ts'
import { placeInQueue } from './retry.ts'
import {
  type AgentState,
  CLAIM_ENDS,
  type ClaimEnd,
  type ClaimState,
  isTerminal,
  type SessionState,
  TASK_TRANSITIONS,
  type TaskState,
  type TransitionName,
  type TriggerRule,
} from './states.ts'

/** What the claim path reads and writes of a task: one narrow row. Titles, inputs and results live beside it. */
export interface TaskRecord {
  readonly id: number
  readonly uuid: string
  readonly key: string | null
  /** 0: it belongs to no project. */
  readonly projectId: number
  /** The line of the queue it stands in: its track, '' without a key. Parts of tasks have lines of their own (keys.ts). */
  readonly trackQueue: string
  /** The task it is a part of. */
  readonly parentId: number | null
  state: TaskState
  /** Where a paused task goes back to. */
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
  /** What a task that was divided does when its parts are done: it is their results in order, or it is done by somebody. */
  merge: 'none' | 'object' | 'task'
  /** Turns asked for within this attempt; each claim begins at 0. */
  continuations: number
  maxContinuations: number
  /** Its place in the queue while it is queued, else null. */
  rank: number | null
  /**
   * When time will move this task on: a retry, a start at a given time, a verdict that does not come, nobody's interest. Of
   * a held task it is when its holder is looked at (rules/watch.ts): most have nothing that is looked at, but their lease.
   */
  dueAt: number | null
  /** It waits for other tasks. */
  blocked: boolean
  onlyAgent: string | null
  /** What an agent must be able to do, sorted; most tasks ask for nothing. */
  readonly capabilities: readonly string[]
  /** Nobody needs it after this hour: waiting in the queue then, it is given up. */
  readonly expiresAt: number | null
  review: 'none' | 'human' | 'verifier'
  /** How the newest claim stands; null before the first one. Session, agent and lease are that claim's. */
  claimState: ClaimState | null
  session: string | null
  agent: string | null
  leaseMs: number
  /** After a timeout the next holder gets at least this long. */
  minLeaseMs: number
  leaseExpiresAt: number | null
  /** Fingerprint of the result that is accepted, or waits for a verdict, in this epoch. */
  resultHash: string | null
  createdAt: number
  updatedAt: number
  startedAt: number | null
  completedAt: number | null
  archivedAt: number | null
  /** What is watched while somebody holds it. Most tasks have nothing of it, so it is one column that is mostly null. */
  watch: TaskWatch | null
}

/** How long a task may take, and how it stands with that. Times that are not given are those of the workspace. */
export interface TaskWatch {
  /** How long whoever made the task expects it to take. */
  readonly estimateMs?: number | undefined
  /** Given by the coordinator, it must be started within this time. */
  readonly assignMs?: number | undefined
  /** The longest silence of a holder. */
  readonly stallMs?: number | undefined
  readonly verifyMs?: number | undefined
  /** How far beyond `doneBy` it may be before it is suspected to hang, and how long without progress from then on. */
  readonly hangGraceMs?: number | undefined
  readonly hangAbortMs?: number | undefined
  /** Its newest claim was made by the coordinator, and its agent has neither begun nor taken it up itself. */
  readonly given?: boolean | undefined
  /** When its holder, or its estimate, says it will be done. */
  readonly doneBy?: number | undefined
  /** When its holder last told of progress, as opposed to being alive. */
  readonly progressAt?: number | undefined
  /** Since when it is suspected to hang. */
  readonly suspectedAt?: number | undefined
}

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
  readonly at: number
}

export interface ResultWritten {
  readonly kind: 'written'
  readonly taskId: number
  readonly epoch: number
  readonly generation: number
  readonly session: string
  readonly agent: string | null
  /** null while a verdict is awaited. */
  readonly accepted: boolean | null
  readonly rejection: string | null
  readonly ref: string
  readonly hash: string
  /** The result as JSON text; parsed by nobody on the way in. */
  readonly data: string
  readonly summary: string | null
  readonly at: number
}

export interface ResultJudged {
  readonly kind: 'judged'
  readonly taskId: number
  readonly epoch: number
  readonly accepted: boolean
  readonly rejection: string | null
}

/** A rejected result is the accepted one from now on, and what was accepted before is not. */
export interface ResultPromoted {
  readonly kind: 'promoted'
  readonly taskId: number
  readonly epoch: number
  readonly generation: number
  readonly session: string
  readonly hash: string
}

/** What people read of a task, changed with it: only the fields that are there. */
export interface DetailsChanged {
  readonly taskId: number
  readonly set: {
    title?: string | undefined
    description?: string | null | undefined
    tags?: readonly string[] | undefined
    progressPercent?: number | undefined
    progressStep?: string | undefined
    checkpoint?: unknown
    /** Why the last attempt failed; null when that is over. */
    error?: string | null | undefined
    failureClass?: string | null | undefined
    /** What ran out: with it, a failed task is a dead letter. */
    exhausted?: string | null | undefined
  }
}

/** Whoever holds claims under one name. With a capacity it is a worker, and its silence costs it what it holds. */
export interface SessionRecord {
  readonly name: string
  readonly uuid: string
  agent: string | null
  userId: string | null
  project: string | null
  state: SessionState
  /** Opened on purpose, not merely named by a claim: such sessions count against maxActiveSessions. */
  declared: boolean
  /** How many tasks it can hold at once; null when it is no worker. */
  capacity: number | null
  capabilities: readonly string[]
  /** Silent for longer than this, it is over. */
  silenceMs: number
  startedAt: number
  lastSeenAt: number
  /** When its silence is judged; null when it is over. */
  dueAt: number | null
  endedAt: number | null
  endReason: string | null
}

/** What an agent is and may do, as people set it. */
export interface AgentProfile {
  name: string
  model: string | null
  /** 'external': it comes for its work by itself. Anything else is run by Baton. */
  adapterType: string
  adapterConfig: unknown
  runtimeConfig: unknown
  /** Sorted. */
  capabilities: readonly string[]
  /** How many tasks it may hold at once; null: any number. */
  maxConcurrentTasks: number | null
  /** How often it means to beat, and after how much silence it is taken to be gone. */
  heartbeatMs: number
  staleMs: number
  /** The coordinator gives it work, and takes it away when it falls silent. */
  coordinatorEnabled: boolean
  /** How many tasks of one kind the coordinator may give it at a time. */
  batchSize: number
}

/** What an agent's last beat told. */
export interface AgentHealth {
  lastSeenAt: number
  /** False when it only registered: whoever never promised to beat is not missed. */
  hasBeaten: boolean
  /** The sender's own time of the last beat. */
  sentAt: number | null
  status: 'healthy' | 'degraded'
  /** The session it works under. */
  session: string | null
  currentTask: string | null
  progressPercent: number | null
  step: string | null
  memoryMb: number | null
  cpuPercent: number | null
  metadata: unknown
  /** When its silence is judged. A beat leaves it alone; judging moves it on. */
  dueAt: number | null
}

export interface AgentRecord extends AgentProfile {
  readonly slug: string
  readonly uuid: string
  state: Exclude<AgentState, 'running'>
  /** Why it is in that state. */
  stateReason: string | null
  /** It finishes what it holds and is terminated then. */
  leaving: boolean
  /** Registered on purpose; others became known by claiming. */
  registered: boolean
  version: number
  readonly createdAt: number
  updatedAt: number
  /** Null before it was registered or first heard to beat. */
  health: AgentHealth | null
}

/** From now on a task waits for another, by the rule of all it waits for. */
interface DependencyAdded {
  readonly taskId: number
  readonly dependsOn: number
  readonly dependsOnUuid: string
  readonly rule: TriggerRule
}

/** What one decision wants written, beside the record itself. All of it goes into one transaction. */
export interface Effects {
  claims: (ClaimOpened | ClaimEnded)[]
  results: (ResultWritten | ResultJudged | ResultPromoted)[]
  details: DetailsChanged[]
  dependencies: DependencyAdded[]
  events: EventDraft[]
}

export const noEffects = (): Effects => ({
  claims: [],
  results: [],
  details: [],
  dependencies: [],
  events: [],
})

/** Who acts, as it is put on record: `agent:<slug>`, `key:<id>`, `system`. */
export type Actor = string

/**
 * A task being changed. All rules change state through `move`, which is the only place that assigns `state`: it
 * checks the table, raises the version and leaves the one event.
 */
export class TaskDraft {
  readonly record: TaskRecord
  readonly effects: Effects
  readonly now: number
  readonly order: Limits['queueOrder']
  changed = false

  constructor(
    record: TaskRecord,
    now: number,
    effects: Effects = noEffects(),
    order: Limits['queueOrder'] = 'priority',
  ) {
    this.record = { ...record }
    this.now = now
    this.effects = effects
    this.order = order
  }

  /** Changed by time alone, which is no sign of life of whoever holds it. */
  mark(): void {
    if (!this.changed) this.record.version += 1
    this.changed = true
  }

  touch(): void {
    this.mark()
    this.record.updatedAt = this.now
  }

  move(name: TransitionName, actor: Actor, payload: Record<string, unknown> = {}): void {
    const { from, to } = TASK_TRANSITIONS[name]
    const was = this.record.state
    if (!(from as readonly TaskState[]).includes(was)) throw new Error(`${name} is not possible from ${was}`)
    this.touch()
    this.record.state = to
    if (to !== 'paused') this.record.pausedFrom = null
    this.record.rank = to === 'queued' ? this.#place() : null
    if (to === 'queued') this.record.dueAt = this.record.expiresAt
    if (isTerminal(to)) {
      this.record.completedAt = this.now
      this.record.dueAt = null
    }
    if (!isTerminal(to)) this.record.completedAt = null
    this.note(name, actor, payload, was, to)
  }

  #place(): number {
    const { priority, watch } = this.record
    return placeInQueue(this.order, this.now, priority, watch?.estimateMs)
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
      generation: this.record.generation,
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
      at: this.now,
    })
  }
}

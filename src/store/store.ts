import type { Changes, NewKey, ReadSet, View } from '../core/batch/requests.ts'
import type { TaskDetails } from '../core/commands.ts'
import type { StoredEvent } from '../core/events.ts'
import type { Limits } from '../core/limits.ts'
import type { SessionRecord, TaskRecord } from '../core/records.ts'
import type { ClaimEnd, ClaimState, TaskState, TriggerRule } from '../core/states.ts'

/**
 * The one door for change. A store locks what the ask names, reads its own clock after the locks, lets `decide`
 * judge, and writes all changes with their events in one transaction. It resolves after commit, never before.
 */
export interface Transactor {
  transact<T>(
    workspaceId: number,
    readSet: ReadSet,
    decide: (view: View) => { answer: T; changes: Changes },
  ): Promise<T>
}

export interface StoredTask {
  record: TaskRecord
  details: TaskDetails
}

export interface StoredClaim {
  generation: number
  session: string
  agent: string
  state: ClaimState
  acquiredAt: number
  endedAt: number | null
  endReason: ClaimEnd | null
}

export interface StoredResult {
  generation: number
  epoch: number
  session: string
  agent: string | null
  accepted: boolean | null
  rejection: string | null
  ref: string
  hash: string
  data: unknown
  summary: string | null
  submittedAt: number
}

/** What a list of tasks may be narrowed by. Every store knows these. */
export interface TaskFilter {
  states?: readonly TaskState[] | undefined
  userId?: string | undefined
  /** Failed because their attempts or generations ran out. */
  deadLetters?: boolean | undefined
  /** Tasks with a smaller id: newest first, page by page. */
  before?: number | undefined
}

/** What can be read of a workspace without changing it. */
export interface Reader {
  task(workspaceId: number, taskId: number): Promise<StoredTask | null>
  /** Those of the given tasks that are there, in the order given. */
  tasksById(workspaceId: number, taskIds: readonly number[]): Promise<StoredTask[]>
  /** The same without what people read of them, which may be large. */
  recordsById(workspaceId: number, taskIds: readonly number[]): Promise<TaskRecord[]>
  /** What people read of tasks whose records are in hand, in their order. */
  detailsOf(workspaceId: number, records: readonly TaskRecord[]): Promise<TaskDetails[]>
  /** Those of the given keys that are given. */
  tasksByKey(workspaceId: number, keys: readonly NewKey[]): Promise<TaskRecord[]>
  /** Newest first. Archived ones are left out. */
  tasks(workspaceId: number, filter: TaskFilter, limit: number): Promise<StoredTask[]>
  /** The same without what people read of them. */
  records(workspaceId: number, filter: TaskFilter, limit: number): Promise<TaskRecord[]>
  /** The lineage of a task: every generation, oldest first. */
  claims(workspaceId: number, taskId: number): Promise<StoredClaim[]>
  /** Accepted and rejected, oldest first. */
  results(workspaceId: number, taskId: number): Promise<StoredResult[]>
  /** What a task waits for, and by which rule. */
  dependencies(
    workspaceId: number,
    taskId: number,
  ): Promise<{ uuid: string; state: TaskState; triggerRule: TriggerRule }[]>
  /** In the order of their seq, which is the order they were committed in. */
  events(workspaceId: number, after: number, limit: number): Promise<StoredEvent[]>
  session(workspaceId: number, name: string): Promise<SessionRecord | null>
  /** By state, and by whether they are workers. */
  sessions(workspaceId: number, filter: { workersOnly: boolean; limit: number }): Promise<SessionRecord[]>
  limits(workspaceId: number): Promise<Limits>
  counts(workspaceId: number): Promise<{ activeClaims: number; activeSessions: number }>
}

export interface DueTask {
  workspaceId: number
  taskId: number
  uuid: string
}

/** A task whose hour has come, as it was then. */
export interface DueVersion extends DueTask {
  version: number
  isBlocked: boolean
}

export interface BlockedTask extends DueTask {
  version: number
  merge: TaskRecord['merge']
  triggerRule: TriggerRule
  upstream: TaskState[]
}

/** Blocked tasks that nobody told what they wait for has ended. Whoever has told them says so: else they come again. */
export interface Forgotten {
  tasks: BlockedTask[]
  followed: () => Promise<void>
}

/** A blocked task and what it waits for, by inside ids. */
export interface TaskThatWaits {
  id: number
  uuid: string
  version: number
  isPaused: boolean
  waitsFor: number[]
}

export type Direction = 'upstream' | 'downstream'
export interface Walked {
  tasks: TaskThatWaits[]
  isWhole: boolean
}

/**
 * What time and finished work ask of a store, across workspaces or, where `only` is given, in that one. They only ask: each
 * change goes through the one door. Across workspaces, they take turns when more is due than the limit: one workspace's
 * backlog must not hide what is due in another.
 */
export interface Upkeep {
  /** Held tasks whose lease is over, and tasks whose hour has come. */
  dueTasks(limit: number, only?: number): Promise<DueVersion[]>
  /** Sessions whose silence is to be judged. */
  dueSessions(limit: number, only?: number): Promise<{ workspaceId: number; name: string }[]>
  /** Held tasks of a workspace that nobody touched since. */
  heldUntouchedSince(workspaceId: number, before: number, limit: number): Promise<DueTask[]>
  /** Blocked tasks that wait for any of these, with the states of everything they wait for. */
  downstreamOf(workspaceId: number, taskIds: readonly number[]): Promise<BlockedTask[]>
  /** The safety net: pending tasks that are blocked though something they wait for ended for good, or all of it did. */
  forgottenTasks(limit: number, only?: number): Promise<Forgotten>
  /**
   * Those of these tasks that are blocked, what they wait for as far as that is blocked too, what that waits for, and so
   * on; or, downstream, what waits for them. The nearest first, each once, `isWhole` if it was not more than `limit`.
   * A circle that goes through one of these tasks is in both.
   */
  blockedFrom(workspaceId: number, taskIds: readonly number[], way: Direction, limit: number): Promise<Walked>
  /** First answers and old claims are not kept for ever. */
  applyRetention(): Promise<void>
}

/** What was committed, for those who wait for it: a hint, never the truth. */
export type Committed = (workspaceId: number, what: { events: number; tasksWaiting: boolean }) => void

export interface Store extends Transactor, Reader, Upkeep {
  /** The workspace of this name, made if it is new. */
  workspace(name: string, limits?: Partial<Limits>): Promise<number>
  /** The number of a workspace's project, made if it is new. */
  project(workspaceId: number, slug: string): Promise<number>
  setTrack(workspaceId: number, projectId: number, track: string, maxAgents: number | null): Promise<void>
  /** Throws a `StartRefused` with one sentence when the server behind it cannot keep Baton's promises. */
  ready(): Promise<void>
  /** Called after each commit, of this process and, where the store can tell, of others. */
  onCommit(listener: Committed): () => void
  close(): Promise<void>
}

/** The store could not be asked, or it is unknown whether it wrote. Safe to ask again where the request is idempotent. */
export class StoreUnavailable extends Error {
  override name = 'StoreUnavailable'
}

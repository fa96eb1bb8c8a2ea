import type { StoredEvent } from '../../kinds/events.ts'
import type { KindName, PortableKind } from '../../kinds/kind.ts'
import type { RunsStep } from '../../kinds/run/rules/step.ts'
import type { TaskDetails } from '../../kinds/task/command.ts'
import type { SessionRecord, TaskRecord } from '../../kinds/task/record.ts'
import type { RecountStep } from '../../kinds/task/rules/recount.ts'
import type {
  DependencyKind,
  Upstream,
  UpstreamOutcome,
  UpstreamReport,
} from '../../kinds/task/rules/upstream-counts.ts'
import type { NewWorkspaceStep } from '../../kinds/workspace/create.ts'
import type { Limits } from '../../kinds/workspace/limits.ts'
import type { ClaimEnd, ClaimState, TaskState, TriggerRule } from '../../pure/states.ts'
import type { Changes, NewKey, ReadSet, View } from '../batch/requests.ts'

/** A write of tasks and of the kinds of records beside them: many requests, decided in one transaction. */
export interface BatchStep<T, K extends KindName = KindName> {
  on: 'batch'
  reads: ReadSet
  decide: (view: View<K>) => { answer: T; changes: Changes }
}

/** A write of tasks, of the kinds beside them, or of runs. */
export type AnyStep<T> = BatchStep<T> | RunsStep<T>

/** A write of anything that a server holds. */
export type ServerStep<T> = AnyStep<T> | RecountStep<T> | NewWorkspaceStep<T>

/**
 * The only way to write. A store locks what the step reads, reads its own clock after the locks, lets the step decide, and
 * writes all changes with their events in one transaction. It resolves after commit, never before.
 */
export interface Transactor<K extends KindName = PortableKind> {
  /**
   * From how many tasks on two batches are better than one. A store that decides one batch while it writes another gains early;
   * where batches wait for each other, only their size counts.
   */
  readonly smallestFullBatch?: number
  transact<T>(workspaceId: number, step: BatchStep<T, K>): Promise<T>
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
  /** Only stores that hold runs have commits. */
  commit: string | null
  /** From the claim to the submission. Only stores that hold runs keep it; null where the claim is forgotten. */
  processingMs: number | null
  submittedAt: number
}

/** Filters for a list of tasks. Every store supports these. */
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
  /** The given tasks that exist, in the given order. */
  tasksById(workspaceId: number, taskIds: readonly number[]): Promise<StoredTask[]>
  /** The same without the details, which may be large. */
  recordsById(workspaceId: number, taskIds: readonly number[]): Promise<TaskRecord[]>
  /** The details of tasks whose records are already read, in their order. */
  detailsOf(workspaceId: number, records: readonly TaskRecord[]): Promise<TaskDetails[]>
  /** Tasks that have one of the given keys. */
  tasksByKey(workspaceId: number, keys: readonly NewKey[]): Promise<TaskRecord[]>
  /** Newest first, without archived tasks. */
  tasks(workspaceId: number, filter: TaskFilter, limit: number): Promise<StoredTask[]>
  /** The same without the details. */
  records(workspaceId: number, filter: TaskFilter, limit: number): Promise<TaskRecord[]>
  /** The lineage of a task: every generation, oldest first. */
  claims(workspaceId: number, taskId: number): Promise<StoredClaim[]>
  /** Accepted and rejected, oldest first. */
  results(workspaceId: number, taskId: number): Promise<StoredResult[]>
  /** The tasks that a task depends on. */
  dependencies(workspaceId: number, taskId: number): Promise<StoredDependency[]>
  /** Ordered by seq, which is the order of commits. */
  events(workspaceId: number, after: number, limit: number): Promise<StoredEvent[]>
  /** The seq of the last event; 0 when there is none. */
  lastSeq(workspaceId: number): Promise<number>
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

/** A due task, at the version it was found. */
export interface DueVersion extends DueTask {
  version: number
  isBlocked: boolean
}

export interface BlockedTask extends DueTask {
  version: number
  merge: TaskRecord['merge']
  /** Null: its dependencies must be counted again. */
  upstream: Upstream | null
  /** Upstream tasks whose state is not the one that was counted. */
  edges: UpstreamReport[]
}

/** A dependency of a task, and the state of the upstream task. */
export interface StoredDependency {
  uuid: string
  state: TaskState
  version: number
  triggerRule: TriggerRule
  kind: DependencyKind
  /** What it contributed to the counts, and at which version of the upstream task. */
  countedVersion: number
  outcome: UpstreamOutcome | null
}

/** A blocked task and its dependencies, by internal ids. */
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
 * What upkeep reads: across workspaces or, with `only`, in one. It only reads; each change goes through `transact`. Across
 * workspaces the limit is shared fairly: one workspace's backlog must not hide what is due in another.
 */
export interface Upkeep {
  /** Held tasks whose lease has expired, and tasks whose due time has passed. */
  dueTasks(limit: number, only?: number): Promise<DueVersion[]>
  /** Sessions to check for missed heartbeats. */
  dueSessions(limit: number, only?: number): Promise<{ workspaceId: number; name: string }[]>
  /** Held tasks of a workspace that were not touched since. */
  heldUntouchedSince(workspaceId: number, before: number, limit: number): Promise<DueTask[]>
  /** Blocked tasks that depend on any of these, and have not counted how these stand. */
  downstreamOf(workspaceId: number, taskIds: readonly number[]): Promise<BlockedTask[]>
  /**
   * The safety net: blocked tasks that have not counted how their upstream tasks stand, or not merged their parts. Stores whose
   * log can be followed do without it (log-followers.ts).
   */
  missedTasks?(limit: number, only?: number): Promise<BlockedTask[]>
  /**
   * The blocked ones among these tasks, their blocked dependencies, the dependencies of those, and so on; or, downstream,
   * the tasks that depend on them. Nearest first, each once; `isWhole` when `limit` was not exceeded. A cycle through one of
   * these tasks is in both.
   */
  blockedFrom(workspaceId: number, taskIds: readonly number[], way: Direction, limit: number): Promise<Walked>
  /** Deletes old idempotency replies and old claims. */
  applyRetention(): Promise<void>
  /** Stores without it are asked for what is due itself, which costs them no more. */
  nextDue?(): Promise<NextUpkeep>
}

/** When upkeep has something to do, in all workspaces. Times are of the monotonic clock of this process. */
export interface NextUpkeep {
  /** When something is due by time; null: never, unless something changes. */
  upkeepAt: number | null
  /** Whether a log has grown since upkeep followed it last, so something may be due that is not due by time. */
  isLogAhead: boolean
}

/** What was committed, for those who wait for it: a hint, not the source of truth. */
export type Committed = (
  workspaceId: number,
  what: {
    events: number
    tasksWaiting: boolean
    /** The number of its last event, where that is known. */
    seq?: number | undefined
  },
) => void

export interface Store<K extends KindName = PortableKind> extends Transactor<K>, Reader, Upkeep {
  /** The kinds of records it holds beside tasks. */
  readonly kinds: { readonly [N in K]: true }
  /** The workspace of this name, created if it is new. */
  workspace(name: string, limits?: Partial<Limits>): Promise<number>
  /** The number of a workspace's project, created if it is new. */
  project(workspaceId: number, slug: string): Promise<number>
  setTrack(workspaceId: number, projectId: number, track: string, maxAgents: number | null): Promise<void>
  /** Throws a `StartRefused` with one sentence when the server cannot provide what Baton guarantees. */
  ready(): Promise<void>
  /** Called after each commit of this process and, where the store can see them, of others. */
  onCommit(listener: Committed): () => void
  close(): Promise<void>
}

/** The store is unreachable, or it is unknown whether it wrote. Safe to retry where the request is idempotent. */
export class StoreUnavailable extends Error {
  override name = 'StoreUnavailable'
  /** It can be read, but it has no room for what is written. */
  readonly isDiskFull: boolean

  constructor(message: string, options: ErrorOptions & { isDiskFull?: boolean } = {}) {
    super(message, options)
    this.isDiskFull = options.isDiskFull ?? false
  }
}

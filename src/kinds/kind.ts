import type { Refusal } from '../pure/errors.ts'
import type { CommentAdded } from './comment/record.ts'
import type { EventDraft, Origin } from './events.ts'
import type { MissionCommand } from './mission/rules/command.ts'
import type { SeenMission } from './mission/rules/gate.ts'
import type { KindGranted, SettledClaim } from './replies.ts'
import type { ReportAdded } from './report/rules/report.ts'
import type { NewTask, OnTask, TaskCommand } from './task/command.ts'
import type { Actor, TaskRecord } from './task/record.ts'
import type { Outside } from './task/rules/acting.ts'
import type { Limits } from './workspace/limits.ts'

/**
 * A kind of record beside tasks: what requests on it need, and how they are decided. A kind knows nothing of batches and
 * stores; those handle all kinds in the same way.
 */

/** The kinds of records beside tasks, with their types. The file kind.ts of each adds its own. */
// biome-ignore lint/suspicious/noEmptyInterface: kinds extend it.
export interface KindTypes {}
export type KindName = keyof KindTypes
/** The kinds that every store holds. */
export type PortableKind = 'session'
/** What a command on a record of each kind grants. */
export type GrantedOf = { [K in KindName]: KindTypes[K]['granted'] }
export type SeenOf<K extends KindName> = Seen<KindTypes[K]>
export type KindViews<K extends KindName> = { readonly [N in K]: KindView<KindTypes[N]> }
/** Records that are new or changed, whole, and the keys of those that are removed. */
export interface KindChanges<T extends KindShape = KindShape> {
  written: T['record'][]
  removed: string[]
}

/** The types of a kind. */
export interface KindShape {
  record: object
  command: { kind: string }
  granted: KindGranted
  /** What a store reads beside the record and the tasks it holds. */
  extra: object
}

/** A record under its lock. */
export type Seen<T extends KindShape> = {
  record: T['record']
  /** Ids of the tasks it holds; their records are in `View.records`. */
  holding: number[]
} & T['extra']

/** What a store read of one kind. */
export interface KindView<T extends KindShape> {
  seen: ReadonlyMap<string, Seen<T>>
  /** How many records count against the limit of their workspace. Only read when a record of this kind is to change. */
  counted: number
}

interface KindContext<T extends KindShape> {
  now: number
  limits: Limits
  actor: Actor
  /** The actor, and the key and address of the request. */
  origin: Origin
  outside: Outside | undefined
  /** The tasks it holds. */
  holding: readonly TaskRecord[]
  /** How many records of this kind count against the limit of the workspace. */
  counted: number
  /** A mission that was locked for the command. */
  missionOf: (missionId: number) => SeenMission | undefined
  /** The record and what was read with it; undefined: it is new. */
  seen: Seen<T> | undefined
  /** All records of this kind that were read, as this batch has left them. */
  all: () => T['record'][]
}

export interface KindDecision<T extends KindShape> {
  refusal: Refusal | null
  /** The record after the decision, the very same object when nothing changed; null when it is removed. */
  record: T['record'] | null
  events: EventDraft[]
  comments?: readonly CommentAdded[] | undefined
  reports?: readonly ReportAdded[] | undefined
  /** Other records of the same kind that change with it. */
  others?: Others<T> | undefined
  /** What happens to a task it holds. */
  settle: (task: TaskRecord) => TaskCommand | null
  /** New tasks, and changes of others, in the same transaction. If they are refused, so is the command. */
  creates?: TaskWork | undefined
  /** A mission to create in the same transaction. If it is refused, so is the command. */
  mission?: NewRecord | null | undefined
  /** Commands on missions and tasks that are locked with it, in the same transaction. If one is refused, so are all. */
  along?: Along | undefined
  /** A command on a record of another kind, in the same transaction. If it is refused, so is this one. It must be in `alsoIn`. */
  also?: AnyCommand | null | undefined
  /** The record, when it names a task of `creates`, which has its id by then. */
  withTasks?: ((created: readonly TaskRecord[]) => T['record']) | undefined
}

/** A command on a record of any kind. */
type AnyCommand = {
  [K in KindName]: { on: K; key: string; uuid: string; command: KindTypes[K]['command'] }
}[KindName]

interface Others<T extends KindShape> {
  written: readonly T['record'][]
  /** Keys. */
  removed: readonly string[]
}

export interface Along {
  missions: readonly NewRecord[]
  tasks: readonly OnTask[]
}

interface NewRecord {
  uuid: string
  command: MissionCommand
}

/** Tasks that a command on a record creates and changes. */
export interface TaskWork {
  tasks: readonly NewTask[]
  changes: readonly OnTask[]
}

/** What is known after a decision, for the reply. */
interface Settled<T extends KindShape> {
  /** Null when it was removed. */
  record: T['record'] | null
  /** Null when it is new. */
  before: T['record'] | null
  /** The tasks it held before. */
  holding: readonly TaskRecord[]
  /** The tasks it holds now. */
  holds: () => readonly TaskRecord[]
  settled: readonly SettledClaim[]
  seen: Seen<T> | undefined
  comments: readonly CommentAdded[]
  reports: readonly ReportAdded[]
  mission: NewRecord | null
  others: Others<T> | undefined
}

export interface Kind<T extends KindShape> {
  keyOf: (record: T['record']) => string
  /** The key of the record to which a claim belongs. Its tasks are locked and decided together with it. */
  holderOf: (claim: { session: string | null; agent: string | null }) => string | null
  /** Claims may name it before it has a record: then its tasks are among those that were read. */
  mayHoldBeforeItExists: boolean
  /** Whether a record counts against the limit of its workspace. */
  counts: (record: T['record'] | null) => boolean
  /** `uuid` is used when the record is new. */
  decide: (
    before: T['record'] | null,
    identity: { key: string; uuid: string },
    command: T['command'],
    context: KindContext<T>,
  ) => KindDecision<T>
  granted: (after: Settled<T>) => T['granted']
  /**
   * For kinds whose answers may have a secret in them: what is stored for a repeated request under the same idempotency key instead of
   * the first answer. Null: that answer has none.
   */
  repeated?: (granted: T['granted'], command: T['command']) => Refusal | T['granted'] | null
  /** The tasks that a command may create and change: what they need is locked and read with the record. */
  tasksIn?: (command: T['command']) => TaskWork | null
  /** The command on a record of another kind that a command brings with it: what that one needs is locked and read, too. */
  alsoIn?: (command: T['command']) => AnyCommand | null
  /** Other records of this kind that a command depends on: they are locked with it. */
  keysIn?: (command: T['command']) => readonly string[]
  /** Missions, by their number, that a command depends on: they are locked with the record. */
  missionsIn?: (command: T['command']) => readonly number[]
}

import type { Refusal } from '../pure/errors.ts'
import type { ClaimEnd, ClaimState } from '../pure/states.ts'
import type { AgentRecord } from './agent/record.ts'
import type { BudgetLeft } from './budget/rules/claims.ts'
import type { CommentAdded } from './comment/record.ts'
import type { MissionRecord } from './mission/record.ts'
import type { ReportKept } from './report/rules/report.ts'
import type { RoutineRecord } from './routine/record.ts'
import type { TaskCommand, TaskDetails } from './task/command.ts'
import type { SessionRecord, TaskRecord } from './task/record.ts'

/**
 * The reply to each request. A reply is either granted, in the shape of its request, or a refusal. Type aliases, not
 * interfaces: replies are stored and sent as plain JSON objects.
 */

export type Granted<R extends string = string> = {
  readonly ok: true
  readonly reason: R
}

/** When a lease ends: as an instant, and relative to the reply for clients with other clocks. */
export type LeaseEnd = {
  readonly leaseExpiresAt: string
  readonly ttlMs: number
}

/** A claim, as its holder gets it. */
export type ClaimGrant = LeaseEnd & {
  readonly taskId: string
  readonly generation: number
  readonly session: string
  readonly agent: string
  readonly state: ClaimState
  readonly attempt: number
}

/** The holder is suspected to hang: it loses the task at `abortAt` unless it reports progress. */
export type HolderRequest = {
  type: 'report_progress'
  since: string
  abortAt: string
}

/** A comment on the task that is for its holder, too. */
export type MessageToHolder = {
  commentId: string
  text: string
  at: string
}

export type RecordGranted<R extends string = string> = Granted<R> & {
  readonly record: TaskRecord
}

type ClaimGranted = Granted<'GRANTED'> & {
  readonly claim: ClaimGrant
}

export type RenewGranted = Granted<'RENEWED'> &
  LeaseEnd & {
    readonly requests: readonly HolderRequest[]
    readonly messages: readonly MessageToHolder[]
    readonly budget: BudgetLeft | null
  }

export type ResultGranted<R extends string = string> = RecordGranted<R> & {
  readonly workProductRef: string
}

type ContinueGranted = RecordGranted<'CONTINUING'> & {
  readonly resumeAfterMs: number
}

type CommentGranted = Granted<'COMMENTED'> & {
  readonly comment: CommentAdded
}

type GrantedByCommand = {
  claim: ClaimGranted
  renew: RenewGranted
  start: RecordGranted<'STARTED'>
  progress: RecordGranted<'NOTED'>
  log: RecordGranted<'NOTED'>
  continue: ContinueGranted
  release: RecordGranted<'RELEASED'>
  ask: RecordGranted<'ASKED'>
  fail: RecordGranted<'FAILED'>
  submit: ResultGranted<'ACCEPTED'>
  promote: ResultGranted<'PROMOTED'>
  complete: ResultGranted<'COMPLETED'>
  retry: RecordGranted<'DONE'>
  comment: CommentGranted
}

export type TaskGranted<K extends TaskCommand['kind']> = K extends keyof GrantedByCommand
  ? GrantedByCommand[K]
  : RecordGranted

export type TaskReply<K extends TaskCommand['kind'] = TaskCommand['kind']> = TaskGranted<K> | Refusal

type ManyGranted<K extends TaskCommand['kind'] = TaskCommand['kind']> = Granted & {
  /** In the order of the items. */
  readonly replies: readonly TaskReply<K>[]
}

/** A task that is handed out with its claim. */
export interface GrantedTask {
  readonly claim: ClaimGrant
  readonly record: TaskRecord
  /** Given by stores that read them on the way; not part of a stored reply. */
  details?: TaskDetails | undefined
}

export type NextGranted = Granted & {
  readonly claims: readonly GrantedTask[]
  /** The tasks that were read had expired: there may be work behind them. */
  readonly shouldRetry: boolean
}

/** The command was carried out; whether a task was handed out then is a reply of its own. */
type ThenNextGranted<K extends TaskCommand['kind'] = TaskCommand['kind']> = Granted & {
  readonly done: TaskGranted<K>
  readonly next: NextGranted | Refusal
}

export type NewGranted = Granted & {
  readonly records: readonly TaskRecord[]
  /** Which of them were created by an earlier request under the same idempotency key. */
  readonly existing: readonly boolean[]
  /**
   * Nothing was created: new tasks depend on these, which earlier requests created, and which must be locked. They are known
   * only by idempotency key until then; the same request with `alsoLock` creates the tasks.
   */
  readonly unlocked?: readonly number[]
}

/** What happened to a claim when its session or agent changed. */
export type SettledClaim = {
  readonly taskId: string
  readonly generation: number
  readonly reply: TaskReply
}

/** A claim that was revoked from its holder. */
export type LostClaim = {
  taskId: string
  generation: number
  reason: ClaimEnd
  at: number
}

/** A command on a record of any kind beside tasks was carried out. */
export type KindGranted = Granted & {
  readonly record: object
  readonly isNew: boolean
  /** What happened to the tasks it held. */
  readonly settled?: readonly SettledClaim[]
}

export type SessionGranted = KindGranted & {
  readonly record: SessionRecord
  readonly holds: number
  readonly settled: readonly SettledClaim[]
  /** Lost since its last heartbeat. */
  readonly lost: readonly LostClaim[]
}

export type AgentGranted = KindGranted & {
  /** As it was, when it was removed. */
  readonly record: AgentRecord
  /** The tasks it holds afterwards. */
  readonly holding: readonly TaskRecord[]
  readonly settled: readonly SettledClaim[]
  /** The request was answered before, under its idempotency key: the record is that of then, without settings. */
  readonly isRepeat?: true | undefined
}

export type MissionGranted = KindGranted & {
  readonly record: MissionRecord
  /** What was said with the command. */
  readonly comment?: CommentAdded | undefined
  /** The reports that it wrote. */
  readonly reports?: readonly ReportKept[] | undefined
}

export type RoutineGranted = KindGranted & {
  readonly record: RoutineRecord
  /** The mission that started with it. */
  readonly missionId: string | null
}

/** A step on runs was done: its answer. */
export type StepGranted = Granted<'DONE'> & { readonly answer: unknown }

export type AnyGranted =
  | TaskGranted<TaskCommand['kind']>
  | ManyGranted
  | NextGranted
  | ThenNextGranted
  | NewGranted
  | KindGranted
  | StepGranted

export type Reply = AnyGranted | Refusal

/** JSON of a reply under an idempotency key. It is read with `replyOf` (kernel/batch/stored-replies.ts), and no other way. */
export type ReplyAsStored = { readonly ok: boolean } & Readonly<Record<string, unknown>>

/** Of the replies that carry a record, the one to a single task. */
export const isRecordGranted = (reply: AnyGranted): reply is RecordGranted =>
  'record' in reply && !('isNew' in reply)

/** The reply to a request of this shape; `G` says what each kind of record beside tasks grants. */
export type ReplyTo<R, G> =
  | Refusal
  | (R extends { on: 'task'; command: infer C extends TaskCommand }
      ? TaskGranted<C['kind']>
      : R extends { on: 'many'; items: readonly { command: infer C extends TaskCommand }[] }
        ? ManyGranted<C['kind']>
        : R extends { on: 'next' }
          ? NextGranted
          : R extends { on: 'taskThenNext'; item: { command: infer C extends TaskCommand } }
            ? ThenNextGranted<C['kind']>
            : R extends { on: 'new' }
              ? NewGranted
              : R extends { on: infer K extends keyof G }
                ? G[K]
                : never)

import type { LogLevel } from '../../pure/event.ts'
import type { TaskState, TriggerRule } from '../../pure/states.ts'
import type { AgentRecord } from '../agent/record.ts'
import type { NewContractor } from '../agent/rules/contractors.ts'
import type { SeenOfBudgets } from '../budget/rules/claims.ts'
import type { NewComment } from '../comment/record.ts'
import type { SeenGate } from '../mission/rules/gate.ts'
import type { StoppedBy } from '../run/rules/ending.ts'
import type { SpentByRun } from '../run/rules/spent.ts'
import type { VerdictGiven } from '../verification/rules.ts'
import type { Limits } from '../workspace/limits.ts'
import type { Actor, DetailsChanged, Purpose, SessionRecord, TaskRecord } from './record.ts'
import type { Outside } from './rules/acting.ts'
import type { ClaimRequest, PastHolder } from './rules/claim-request.ts'
import type { ChildRoot, TaskGroups } from './rules/groups.ts'
import type { DetailsBefore, TaskPatch } from './rules/patch.ts'
import type { TaskPlan } from './rules/plan-fields.ts'
import type { FailureClass } from './rules/retry.ts'
import type { Serves } from './rules/reviews.ts'
import type {
  CountedDependency,
  DependencyKind,
  UpstreamOutcome,
  UpstreamReport,
} from './rules/upstream-counts.ts'
import type { WaitingDetails } from './rules/waiting.ts'

/** A line that the holder of a task adds to the task's log. */
interface LogEntry {
  level: LogLevel
  /** The holder's own name for what happened. */
  event: string
  message: string
  details?: unknown
}

/** What a newer plan may change of a task. */
type Replannable = Pick<
  NewTask,
  'priority' | 'maxRetries' | 'maxContinuations' | 'onlyAgent' | 'capabilities' | 'verification' | 'optional'
>

/** What a holder sends with every write: the claim it believes to hold. */
export interface Fence {
  session: string
  generation: number
}

/** The task whose holder adds another one to their mission, and the claim under which it does. */
export interface Adder {
  readonly id: number
  readonly uuid: string
  readonly fence: Fence
  /** Outside of missions: the task that counts it; null in a mission, which does. */
  readonly root: ChildRoot | null
}

/** Of what few tasks have, a new one may have these. */
type GivenGroups = Pick<TaskGroups, 'timers' | 'continuation' | 'agentChoice'>

export interface NewTask extends GivenGroups, Pick<TaskGroups, 'children'> {
  key: string | null
  projectId: number
  /** The task it is a part of: an existing one, or one of the same request by its index. */
  parent: { id: number; uuid: string } | { at: number } | null
  merge: TaskRecord['merge']
  priority: number
  maxRetries: number
  maxContinuations: number
  onlyAgent: string | null
  /** The agent it is reserved for, if that is to be made with it. */
  contractor?: NewContractor | undefined
  capabilities: readonly string[]
  verification: TaskRecord['verification']
  runAt: number | null
  expiresAt: number | null
  missionId: number | null
  purpose: Purpose
  optional: boolean
  /** The result it judges, of a task that is under our lock. */
  serves?: Serves | null | undefined
  /** The task whose holder adds it to their mission. */
  addedBy?: Adder | undefined
  dependsOn: readonly number[]
  /** Dependencies on tasks of the same request, by their index. */
  dependsOnNew: readonly number[]
  /** Those of both that only come earlier, and hand nothing on. */
  orderOnly?: { on: readonly number[]; onNew: readonly number[] } | undefined
  /** Created once under this key; a repeated request gets the first task. */
  unique: { key: string; bodyHash: string } | null
  triggerRule: TriggerRule
  details: TaskDetails
}

/** What people and prompts read of a task; the claim path never does. */
export interface TaskDetails extends Partial<WaitingDetails> {
  title: string
  taskType: string
  description: string | null
  input: unknown
  tags: readonly string[]
  /** Outside ids of its dependencies. */
  dependsOn: readonly string[]
  userId: string | null
  /** Slug of its project. */
  project: string | null
  /** Outside id of the task it is a part of. */
  parent: string | null
  /** The creator's own data; Baton does not interpret it. */
  metadata?: unknown
  /** The actor that created it. */
  createdBy?: string | null
  error?: string | null
  failureClass?: string | null
  exhausted?: string | null
  /** Outside id of its mission. On a new task: it joins that mission, which must be running. */
  mission?: string | null
  /** What its plan says about it, for agents that work on it and for those who judge it. */
  plan?: TaskPlan | null
  /** Reported by its holders. */
  progressPercent?: number | null
  progressStep?: string | null
  checkpoint?: unknown
  /** Comments on the task itself. */
  commentCount?: number | undefined
}

export interface Submission {
  /** JSON text of the result. */
  data: string
  hash: string
  bytes: number
  summary: string | null
  /** The commit of the work in its repository, if the run worked in one. */
  commit?: string | null | undefined
}

/** What a person saw when it decided: refused when the task is something else by now. */
interface SeenTask {
  generation?: number | undefined
  whileIn?: TaskState | undefined
}

export type TaskCommand =
  | ({ kind: 'claim' } & ClaimRequest)
  | { kind: 'renew'; fence: Fence; leaseMs?: number | undefined }
  /** `isRun`: the holder is a run of this Baton. */
  | { kind: 'start'; fence: Fence; isRun?: true | undefined }
  | {
      kind: 'progress'
      fence: Fence
      percent?: number | undefined
      step?: string | undefined
      checkpoint?: unknown
      /** When it will be done. */
      doneBy?: number | undefined
      ifVersion?: number | null | undefined
    }
  | { kind: 'log'; fence: Fence; entries: readonly LogEntry[] }
  /** A fallback replaces the model of the previous attempt; `from` null: the default of its agent. */
  | { kind: 'useModel'; fence: Fence; from: string | null; to: string; reason: string | null }
  | {
      kind: 'continue'
      fence: Fence
      /** Not before these tasks have ended; until then nobody holds it. `cycle`: one that this would close, if one is known. */
      after?: { tasks: readonly { id: number; uuid: string }[]; cycle: readonly string[] | null } | undefined
      spent?: SpentByRun | undefined
    }
  /** `waitsForAgent`: a continuation waits for its paused agent for a while. */
  | { kind: 'release'; fence: Fence; reason: string; waitsForAgent?: boolean | undefined }
  | { kind: 'submit'; fence: Fence; submission: Submission; spent?: SpentByRun | undefined }
  /** The holder asks a person. Without options, any answer is possible. */
  | { kind: 'ask'; fence: Fence; question: string; options: readonly string[] }
  | {
      kind: 'fail'
      fence: Fence
      failureClass: FailureClass
      error: string | null
      stack?: string | undefined
      retryAt?: number | undefined
      spent?: SpentByRun | undefined
      /** Nothing was tried: the attempt does not count. */
      spendsNoAttempt?: boolean | undefined
      /** Of whatever class it is: the next attempt gets more time. */
      tookTooLong?: boolean | undefined
      /** With class `budget`: the budget that stopped it. When that has room again, the task continues. */
      budget?: StoppedBy | undefined
      /** What it would have submitted. It is stored as rejected, so that a person can promote it. */
      submission?: Submission | undefined
    }
  /** The answer to the question of its last holder. */
  | { kind: 'answer'; answer: string; generation?: number | undefined }
  /** A person gives the result in place of a holder. */
  | { kind: 'complete'; submission: Submission; comment: string | null; generation?: number | undefined }
  | ({ kind: 'skip'; reason: string } & SeenTask)
  | ({ kind: 'cancel'; reason: string | null } & SeenTask)
  /** `byMission`: its mission was closed; it continues when the mission does. */
  | ({ kind: 'pause'; reason: string | null; byMission?: boolean | undefined } & SeenTask)
  | { kind: 'resume'; generation?: number | undefined }
  | { kind: 'retry'; reason: string | null; generation?: number | undefined; fresh?: boolean | undefined }
  | { kind: 'reset'; reason: string | null; generation?: number | undefined }
  /** It was skipped because of tasks that are to be done again. */
  | { kind: 'waitAgain'; because: string }
  /** Verdicts may name the generation whose result they judge; for another generation they are refused. */
  | { kind: 'approve'; comment: string | null; generation?: number | undefined; digest?: string | undefined }
  | {
      kind: 'reject'
      comment: string | null
      generation?: number | undefined
      /** Of the result that was seen. */
      digest?: string | undefined
      /** It fails, whatever attempts are left. */
      forGood?: boolean | undefined
      /** The next attempt starts over: from the base, in a new session. */
      fresh?: boolean | undefined
    }
  | {
      kind: 'verdict'
      verdict: 'passed' | 'failed' | 'unsure'
      note: string | null
      generation?: number | undefined
      /** Who judged, and how well it did. */
      given?: VerdictGiven | undefined
    }
  /** Nobody takes it, as it was at this version; and that is over. */
  | { kind: 'raiseAlert'; reason: string; version: number }
  | { kind: 'clearAlert' }
  /** An agent added a task below it. */
  | { kind: 'countChild' }
  /** A person wants another verdict on its result: by this agent, or by any that may judge it. */
  | { kind: 'verifyAgain'; agent: string | null; generation: number; digest?: string | undefined }
  /** The task was divided into parts: it waits for them from now on, and they may wait for others. */
  | {
      kind: 'divide'
      merge: 'object' | 'task'
      parts: number
      /** How they stand: a part that is new may be skipped already. */
      outcomes?: readonly (UpstreamOutcome | null)[] | undefined
    }
  /** All parts are done. The read is identified by the version of the whole and each part's generation and fingerprint. */
  | {
      kind: 'merge'
      version: number
      parts: readonly { id: number; generation: number; hash: string }[]
      submission: Submission
    }
  /** The worker or the agent that holds it went silent. */
  | { kind: 'lose'; fence: Fence; silentMs: number; who: 'worker' | 'agent' }
  /** The agent that holds it was terminated, or paused at once. */
  | { kind: 'revoke'; fence: Fence; how: 'AGENT_TERMINATED' | 'AGENT_PAUSED'; reason: string }
  /** The holder gave no sign of life for this long. */
  | { kind: 'stall'; silentMs: number }
  | {
      kind: 'promote'
      generation: number
      session: string
      hash: string
      commit?: string | null | undefined
      ref: string
      reason: string | null
    }
  | {
      kind: 'update'
      ifVersion: number | null
      patch: TaskPatch
      generation?: number | undefined
      before?: DetailsBefore | undefined
    }
  | { kind: 'archive'; generation?: number | undefined }
  /** Folders and branches of these generations go, and no later generation takes over their work. */
  | {
      kind: 'removeWork'
      because: 'discarded' | 'retention'
      /** Ascending. */
      generations: readonly number[]
      branches: number
      folders: number
      /** The version of the task when its work was looked at. */
      version: number
    }
  /** `toHolder`: who works on it is told at once. */
  | { kind: 'comment'; comment: NewComment; toHolder?: boolean | undefined }
  /** A newer plan of its mission says something else about it. */
  | {
      kind: 'replan'
      details: DetailsChanged['set']
      fields: Replannable & GivenGroups
      /** As in a new task. */
      contractor?: NewContractor | undefined
      /** The names of what differs. */
      changed: readonly string[]
      /** All that it depends on from now on; null: what it depends on stays. */
      edges: {
        rule: TriggerRule
        on: readonly { id: number; uuid: string; kind: DependencyKind }[]
        /** Tasks that the same request creates, by their index; then `made` is filled in. */
        onNew: readonly { at: number; kind: DependencyKind }[]
        made?: readonly (UpstreamReport & { kind: DependencyKind })[] | undefined
      } | null
    }
  /** Adds dependencies, removes others, or both. */
  | {
      kind: 'changeDependencies'
      /** The new dependencies, and their indexes in the request. */
      dependsOn: readonly { id: number; uuid: string; place: number; kind?: DependencyKind }[]
      triggerRule: TriggerRule
      /** The version of the task when its dependencies were read. */
      version: number
      /** It had none then, or none that stay. */
      areFirst?: boolean | undefined
      /** Those that go, and their indexes in the request. `areAll`: it had no others. */
      remove?: { on: readonly { id: number; uuid: string; place: number }[]; areAll: boolean } | undefined
      /** The cycle that would close, if one is known. */
      cycle: readonly string[] | null
      /** Other changes of the same request: all of them, or none. */
      ifVersion: number | null
      patch: TaskPatch | null
      before?: DetailsBefore | undefined
    }
  /** The task is part of a dependency cycle. */
  | { kind: 'failCycle'; cycle: readonly string[]; version: number }
  /** Time passed: whatever is due for this task happens now. `version`: the version of the task when it was found due. */
  | { kind: 'elapse'; version?: number | undefined }
  /** Tasks it depends on ended, or were opened again. */
  | {
      kind: 'countUpstream'
      edges: readonly UpstreamReport[]
      /** These are all its dependencies at this version: they are counted again. */
      version?: number | undefined
    }

/** A command on one task. */
export interface OnTask<C extends TaskCommand = TaskCommand> {
  taskId: number
  uuid: string
  command: C
  /** Together with others: if this does not hold, none of them is changed. */
  expects?: 'open' | 'never_claimed' | 'awaits_verdict' | undefined
  /** What is said with it: a comment of the task, if the command changes it. */
  said?: NewComment | undefined
}

export interface SessionOpening {
  agent: string | null
  userId: string | null
  project: string | null
  capacity: number | null
  capabilities: readonly string[]
  silenceMs: number | null
}

export type SessionCommand =
  /** Opened explicitly; an open session of that name is resumed with the new settings. */
  | { kind: 'open'; opening: SessionOpening }
  /** Named by a claim. */
  | { kind: 'touch'; agent: string }
  /** Alive, and so are all its claims. */
  | { kind: 'heartbeat' }
  | { kind: 'drain' }
  | { kind: 'end'; reason: string }
  /**
   * Time passed: a session that was silent for too long is over. `silentMs` overrides the limit. `listeningSince`: silence
   * before that does not count, because no node was running.
   */
  | { kind: 'elapse'; silentMs?: number | undefined; listeningSince?: number | undefined }

/** The context of a decision: the database's time, the workspace's limits and how many claims may still be granted. */
export interface RuleContext extends SeenOfBudgets {
  now: number
  limits: Limits
  roomForClaims: number
  /** The claiming session, if it is a worker. */
  worker?: Worker | undefined
  /** The claiming agent, if it is registered with a limit or may not claim now. */
  agent?: KnownAgent | undefined
  /** The mission of a task, as it is read without a lock. */
  missionOf?: ((missionId: number) => SeenGate | undefined) | undefined
  /** Whether the task's track has no free place for this agent. */
  trackIsFull?: ((record: TaskRecord, agent: string) => number | null) | undefined
  /** The present record of a task, under its lock. */
  recordOf?: ((id: number) => TaskRecord | undefined) | undefined
  /** A dependency, read under the lock of the task that has it. */
  dependencyOf?: ((taskId: number, dependsOn: number) => CountedDependency | undefined) | undefined
  actor: Actor
  outside?: Outside | undefined
  /** Who held an earlier generation of a task. */
  holderOf?: ((taskId: number, generation: number) => PastHolder | undefined) | undefined
}

/** A worker, and how many tasks it holds. */
export interface Worker {
  record: SessionRecord
  held: number
}

/** An agent, and how many tasks it holds. */
export interface KnownAgent {
  record: AgentRecord
  held: number
}

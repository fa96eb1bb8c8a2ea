import type { Limits } from './limits.ts'
import type { LogEntry } from './log.ts'
import type { Actor, AgentHealth, AgentProfile, AgentRecord, SessionRecord, TaskRecord } from './records.ts'
import type { FailureClass } from './retry.ts'
import type { TriggerRule } from './states.ts'

/** What the holder of a claim says with every write: which claim it believes to hold. */
export interface Fence {
  session: string
  generation: number
}

export interface NewTask {
  key: string | null
  projectId: number
  /** The task it is a part of: one that is there, or one of the same request by its place in it. */
  parent: { id: number; uuid: string } | { at: number } | null
  merge: TaskRecord['merge']
  priority: number
  maxRetries: number
  maxContinuations: number
  onlyAgent: string | null
  capabilities: readonly string[]
  review: TaskRecord['review']
  runAt: number | null
  expiresAt: number | null
  watch: TaskRecord['watch']
  dependsOn: readonly number[]
  /** Tasks of the same request it waits for, by their places in it. */
  dependsOnNew: readonly number[]
  /** Made once under this key; asked for again, the first one is the answer. */
  unique: { key: string; bodyHash: string } | null
  triggerRule: TriggerRule
  details: TaskDetails
}

/** What people and prompts read of a task; the claim path never does. */
export interface TaskDetails {
  title: string
  taskType: string
  description: string | null
  input: unknown
  tags: readonly string[]
  /** Outside ids of the tasks it waits for. */
  dependsOn: readonly string[]
  userId: string | null
  /** Slug of its project. */
  project: string | null
  /** Outside id of the task it is a part of. */
  parent: string | null
  /** What whoever made it wants to find again; Baton does not look at it. */
  metadata?: unknown
  /** On whose behalf it was made. */
  createdBy?: string | null
  error?: string | null
  failureClass?: string | null
  exhausted?: string | null
  /** What its holders reported on the way. */
  progressPercent?: number | null
  progressStep?: string | null
  checkpoint?: unknown
}

export interface Submission {
  /** JSON text of the result. */
  data: string
  hash: string
  bytes: number
  summary: string | null
}

export type TaskCommand =
  | {
      kind: 'claim'
      agent: string
      session: string
      leaseMs: number
      capabilities: readonly string[]
      /** Given by the coordinator, not asked for: it must be started in time. */
      byCoordinator?: boolean | undefined
    }
  | { kind: 'renew'; fence: Fence; leaseMs?: number | undefined }
  | { kind: 'start'; fence: Fence }
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
  | { kind: 'continue'; fence: Fence }
  | { kind: 'release'; fence: Fence; reason: string }
  | { kind: 'submit'; fence: Fence; submission: Submission }
  | {
      kind: 'fail'
      fence: Fence
      failureClass: FailureClass
      error: string | null
      retryAt?: number | undefined
    }
  | { kind: 'cancel'; reason: string | null }
  | { kind: 'pause'; reason: string | null }
  | { kind: 'resume' }
  | { kind: 'retry'; reason: string | null }
  | { kind: 'reset'; reason: string | null }
  /** Judgements may name the generation whose result they are about; of another one they are refused. */
  | { kind: 'approve'; comment: string | null; generation?: number | undefined }
  | { kind: 'reject'; comment: string | null; generation?: number | undefined }
  | {
      kind: 'verdict'
      verdict: 'passed' | 'failed' | 'unsure'
      note: string | null
      generation?: number | undefined
    }
  /** Part of a task that was divided in parts: it waits for them from now on, and they may wait for others. */
  | { kind: 'divide'; merge: 'object' | 'task'; parts: number }
  /** All parts are done. What was read is known by the whole's version and each part's generation and fingerprint. */
  | { kind: 'merge'; version: number; parts: readonly MergedPart[]; submission: Submission }
  /** The worker or the agent that holds it fell silent. */
  | { kind: 'lose'; fence: Fence; silentMs: number; who: 'worker' | 'agent' }
  /** The agent that holds it was terminated. */
  | { kind: 'takeBack'; fence: Fence; reason: string }
  /** No sign of life from the holder for this long. */
  | { kind: 'stall'; silentMs: number }
  | { kind: 'promote'; generation: number; session: string; hash: string; ref: string; reason: string | null }
  | { kind: 'update'; ifVersion: number | null; patch: TaskPatch }
  | { kind: 'archive' }
  /** It waits for these as well from now on. */
  | {
      kind: 'addDependencies'
      /** Those it does not wait for yet, and their places in the request. */
      dependsOn: readonly { id: number; uuid: string; place: number }[]
      triggerRule: TriggerRule
      /** The task as it was when it was looked up what it waits for already. */
      version: number
      /** The circle that would close, if one is known to. */
      cycle: readonly string[] | null
      /** What else is wished in the same request: all of it, or nothing. */
      ifVersion: number | null
      patch: TaskPatch | null
    }
  /** It is one of a circle of tasks that wait for each other. */
  | { kind: 'failCycle'; cycle: readonly string[]; version: number }
  /** Time passed: whatever is due for this task happens now. `version`: the task as it was when it was found to be due. */
  | { kind: 'elapse'; version?: number | undefined }
  /** Its dependencies, as far as they are met now. */
  | {
      kind: 'unblock'
      readiness: 'wait' | 'ready' | 'never'
      because: string
      /** The task as it was when that was found out; of a task that may get more parts it matters. */
      version?: number | undefined
    }

interface MergedPart {
  id: number
  generation: number
  hash: string
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
  /** Opened on purpose; an open one of that name is taken up again with what is new. */
  | { kind: 'open'; opening: SessionOpening }
  /** Named by a claim. */
  | { kind: 'touch'; agent: string }
  /** Alive, and so is all it holds. */
  | { kind: 'beat' }
  | { kind: 'drain' }
  | { kind: 'end'; reason: string }
  /**
   * Time passed: silent for too long, it is over. `silentMs` overrides how long is too long. `heardSince`: before that
   * nobody was there to hear it.
   */
  | { kind: 'elapse'; silentMs?: number | undefined; listeningSince?: number | undefined }

/** What an agent tells of itself. */
export type Beat = Omit<AgentHealth, 'lastSeenAt' | 'hasBeaten' | 'dueAt'>

export type AgentCommand =
  /** Registered on purpose; what is not said of one that is there stays as it is. */
  | { kind: 'register'; profile: Partial<AgentProfile>; ifVersion: number | null }
  /** Alive, and so is what it holds: leases that are well on their way are renewed. */
  | { kind: 'beat'; beat: Beat }
  /** It takes no new work. */
  | { kind: 'pause'; reason: string | null }
  | { kind: 'resume' }
  /** It is over: at once, with what it holds given to others, or when it has finished that. */
  | { kind: 'terminate'; graceful: boolean; reason: string }
  | { kind: 'remove' }
  /** It cannot work, whatever it is given; until somebody has seen to it, it is given nothing. */
  | { kind: 'fault'; reason: string }
  /** What kept it from working is over. */
  | { kind: 'clearFault' }
  /**
   * Time passed: its silence is judged, and whether it has finished what it stayed for. `heardSince`: before that nobody was
   * there to hear it.
   */
  | { kind: 'elapse'; listeningSince?: number | undefined }

export interface TaskPatch {
  title?: string | undefined
  description?: string | null | undefined
  tags?: readonly string[] | undefined
  priority?: number | undefined
  maxRetries?: number | undefined
  maxContinuations?: number | undefined
  onlyAgent?: string | null | undefined
}

/** What surrounds a decision: the database's time, the workspace's limits and how many claims may still be granted. */
export interface RuleContext {
  now: number
  limits: Limits
  roomForClaims: number
  /** The claiming session, if it is a worker. */
  worker?: Worker | undefined
  /** The claiming agent, if it is registered with a limit or may take nothing now. */
  agent?: KnownAgent | undefined
  /** Whether the task's track has no room for this agent. */
  trackIsFull?: ((record: TaskRecord, agent: string) => number | null) | undefined
  /** The task of this id as it is now, under its lock. */
  recordOf?: ((id: number) => TaskRecord | undefined) | undefined
  actor: Actor
  /** Who held an earlier generation of a task. */
  sessionOf?: ((taskId: number, generation: number) => string | undefined) | undefined
}

/** A worker and how much it holds. */
export interface Worker {
  record: SessionRecord
  held: number
}

/** An agent and how much it holds. */
export interface KnownAgent {
  record: AgentRecord
  held: number
}

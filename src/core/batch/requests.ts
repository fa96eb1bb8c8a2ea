import type { AgentCommand, KnownAgent, NewTask, SessionCommand, TaskCommand, Worker } from '../commands.ts'
import { trackQueuesOf } from '../keys.ts'
import type { Limits } from '../limits.ts'
import type { Actor, AgentRecord, Effects, SessionRecord, TaskRecord } from '../records.ts'
import type { LostClaim, Reply } from '../replies.ts'

/** What callers ask for, what a store must lock and look up for it, and what it must write in the end. */

/** A request under an idempotency key gets the first answer again, and refuses the key for any other request. */
export interface Idempotency {
  /** Whose key it is, a blank, and the key: those of others never meet it. */
  key: string
  bodyHash: string
}

/** Which waiting tasks somebody may be given: those kept for the agent, and those anybody with its capabilities may have. */
export interface Pick {
  agent: string
  /** Sorted. */
  capabilities: readonly string[]
  /** Only from this project; 0 is "in no project". */
  projectId?: number | undefined
  /** Only from these tracks. */
  tracks?: readonly string[] | undefined
}

export interface OnTask<C extends TaskCommand = TaskCommand> {
  taskId: number
  uuid: string
  command: C
}

interface Common {
  actor: Actor
  /** The term of office under which a coordinator asks: of one that is over it is refused. */
  term?: number | undefined
  idempotency?: Idempotency | undefined
}
export type Request = Common &
  (
    | ({ on: 'task' } & OnTask)
    /** Each on its own account, but one request: one answer under one idempotency key. */
    | {
        on: 'many'
        items: readonly OnTask[]
        /** All or none: unless every task is still at the version its command names, nothing is done. */
        ifAllAreAsSeen?: boolean | undefined
      }
    | { on: 'next'; pick: Pick; session: string; leaseMs: number; limit: number; byCoordinator?: boolean }
    | { on: 'new'; tasks: readonly NewTask[]; changes?: readonly OnTask[] }
    /** `uuid` is for a session that is new. */
    | { on: 'session'; name: string; uuid: string; command: SessionCommand }
    /** `uuid` is for an agent that is new. */
    | { on: 'agent'; slug: string; uuid: string; command: AgentCommand }
  )

/** The head of the queue for whoever has these capabilities, in one project or all, in some lines or all. */
export interface QueueQuery {
  capabilities: readonly string[]
  projectId: number | null
  trackQueues: readonly string[] | null
  limit: number
}

export interface NewKey {
  projectId: number
  key: string
}

/** What a batch of requests needs locked or looked up before it can be decided. */
export interface ReadSet {
  /** Ascending: everybody locks in one order, so nobody deadlocks. */
  taskIds: number[]
  /** For each head: the first waiting tasks that are kept for nobody, of every project and line, in its order. */
  waiting: QueueQuery[]
  /** Tasks kept for single agents. */
  reserved: { agent: string; capabilities: readonly string[]; limit: number }[]
  /** Generations that results are offered for: of those that are past, it must be known who held them. */
  offered: { taskId: number; generation: number }[]
  newTasks: number
  /** Task keys somebody wants to give. */
  newKeys: NewKey[]
  idempotencyKeys: string[]
  /** Sessions that claim: those among them that are workers are locked and shown. */
  claimants: string[]
  /** Sessions that are to change: locked and shown, with what they hold locked and shown as well. */
  sessions: string[]
  /** Agents that claim: those among them that have a limit or may take nothing now are locked and shown. */
  claimingAgents: string[]
  /** Agents that are to change: locked and shown, with what they hold locked and shown as well. */
  agents: string[]
  /** Terms of office that somebody acts under: whether they last is looked up and kept so until the end. */
  terms: number[]
}

export interface Remembered {
  bodyHash: string
  reply: Reply
}

/** How a track stands: how many agents it may have (null: any number), and who holds how many of its tasks. */
export interface TrackUse {
  maxAgents: number | null
  holders: ReadonlyMap<string, number>
}

/** A session under its lock. */
export interface SessionView {
  record: SessionRecord
  /** Ids of the tasks it holds; their records are in `records`. */
  holding: number[]
  /** What it lost since it was last seen. */
  lost: LostClaim[]
}

/** An agent under its lock. */
export interface AgentView {
  record: AgentRecord
  /** Ids of the tasks it holds; their records are in `records`. */
  holding: number[]
}

/** What the store saw under its locks, with its clock read after them. */
export interface View {
  now: number
  limits: Limits
  activeClaims: number
  /** Declared sessions that are not over. Only asked for when a session is to change. */
  activeSessions: number
  records: Map<number, TaskRecord>
  /**
   * Ids for each entry of `Ask.waiting`, each project and line in the order of its queue; their records are in `records`.
   * Every project and line that has a fitting task waiting is there with at least one.
   */
  waiting: number[][]
  /** Ids of the tasks kept for the asked agents. */
  reserved: number[]
  /** The sessions of past generations of `Ask.offered`, by `heldName`. */
  pastHolders: ReadonlyMap<string, string>
  /** An unused id and 22 random bits for each new task. */
  fresh: { id: number; random: number }[]
  /** Those of `Ask.newKeys` that are given already, by `keyName`. */
  takenKeys: ReadonlySet<string>
  remembered: Map<string, Remembered>
  /** Those of `Ask.claimants` that are workers, and how much they hold. */
  workers: ReadonlyMap<string, Worker>
  sessions: ReadonlyMap<string, SessionView>
  /** Those of `Ask.claimingAgents` that have a limit or may take nothing now. */
  claimingAgents: ReadonlyMap<string, KnownAgent>
  agents: ReadonlyMap<string, AgentView>
  /** Those of `Ask.terms` that last. */
  terms: ReadonlySet<number>
  /**
   * Declared tracks of all tasks in `records` that somebody may claim, by `trackName`. Locked when anything is claimed, so
   * that two agents cannot both be the last that fits in.
   */
  tracks: ReadonlyMap<string, TrackUse>
}

/** What a store sees that knows neither agents nor offices: queues used as a library have workers. */
export const NO_AGENTS: { [K in 'claimingAgents' | 'agents' | 'terms']: View[K] } = {
  claimingAgents: new Map(),
  agents: new Map(),
  terms: new Set(),
}

export interface Changes extends Effects {
  tasks: TaskRecord[]
  created: { record: TaskRecord; task: NewTask; parentUuid: string | null }[]
  /** New or changed, whole. */
  sessions: SessionRecord[]
  /** New or changed, whole. */
  agents: AgentRecord[]
  removedAgents: string[]
  remember: { key: string; bodyHash: string; reply: Reply }[]
  activeClaimsDelta: number
}

export const heldName = (taskId: number, generation: number) => `${taskId}/${generation}`
export const keyName = (projectId: number, key: string) => `${projectId}/${key}`
export const trackName = (projectId: number, track: string) => `${projectId}/${track}`
/** No principal is called so, and no header can carry a blank: the keys of single tasks are never those of requests. */
export const uniqueName = (key: string) => `task ${key}`

/** Whether the rule of agents per track holds for a task: parts of a task are there to be shared. */
export const isOnTrack = ({ projectId, trackQueue }: TaskRecord) =>
  projectId !== 0 && trackQueue !== '' && !trackQueue.endsWith('::')

export const queryName = ({ capabilities, projectId, tracks }: Pick) =>
  JSON.stringify([capabilities, projectId ?? null, tracks ?? null])

export function readSetOf(requests: readonly Request[]): ReadSet {
  const builder = new ReadSetBuilder()
  for (const request of requests) builder.add(request)
  return builder.readSet()
}

class ReadSetBuilder {
  readonly #taskIds = new Set<number>()
  readonly #heads = new Map<string, Pick>()
  readonly #reserved = new Map<string, Pick>()
  readonly #wantedBy = new Map<string, number>()
  readonly #idempotencyKeys = new Set<string>()
  readonly #newKeys = new Map<string, NewKey>()
  readonly #offered: ReadSet['offered'] = []
  readonly #claimants = new Set<string>()
  readonly #sessions = new Set<string>()
  readonly #claimingAgents = new Set<string>()
  readonly #agents = new Set<string>()
  readonly #terms = new Set<number>()
  #wanted = 0
  #newTasks = 0

  add(request: Request): void {
    if (request.on === 'task') this.#task(request)
    else if (request.on === 'many') for (const item of request.items) this.#task(item)
    else if (request.on === 'next') this.#next(request)
    else if (request.on === 'new') this.#new(request)
    else if (request.on === 'session') this.#sessions.add(request.name)
    else this.#agents.add(request.slug)
    if (request.term !== undefined) this.#terms.add(request.term)
    if (request.idempotency) this.#idempotencyKeys.add(request.idempotency.key)
  }

  #task({ taskId, command }: OnTask): void {
    this.#taskIds.add(taskId)
    if (command.kind === 'submit') this.#offered.push({ taskId, generation: command.fence.generation })
    else if (command.kind === 'claim') {
      this.#claimants.add(command.session)
      this.#claimingAgents.add(command.agent)
    } else if (command.kind === 'merge') for (const { id } of command.parts) this.#taskIds.add(id)
    // Locked too: what completes meanwhile either is seen as completed or sees the task waiting.
    else if (command.kind === 'addDependencies') for (const { id } of command.dependsOn) this.#taskIds.add(id)
  }

  #next({ pick, session, limit }: Extract<Request, { on: 'next' }>): void {
    const { agent, capabilities } = pick
    this.#heads.set(queryName(pick), pick)
    this.#reserved.set(JSON.stringify([agent, capabilities]), pick)
    this.#wantedBy.set(agent, (this.#wantedBy.get(agent) ?? 0) + limit)
    this.#wanted += limit
    this.#claimants.add(session)
    this.#claimingAgents.add(agent)
  }

  #new({ tasks, changes = [] }: Extract<Request, { on: 'new' }>): void {
    this.#newTasks += tasks.length
    for (const task of tasks) {
      // Locked too: a dependency that completes meanwhile either is seen as completed or sees the new task waiting.
      for (const id of task.dependsOn) this.#taskIds.add(id)
      if (task.parent && 'id' in task.parent) this.#taskIds.add(task.parent.id)
      if (task.key !== null)
        this.#newKeys.set(keyName(task.projectId, task.key), { projectId: task.projectId, key: task.key })
      if (task.unique) this.#idempotencyKeys.add(uniqueName(task.unique.key))
    }
    for (const change of changes) this.#task(change)
  }

  readSet(): ReadSet {
    return {
      taskIds: [...this.#taskIds].sort((a, b) => a - b),
      // Each head is as long as all callers together want: they may all be after the same tasks.
      waiting: [...this.#heads.values()].map(({ capabilities, projectId, tracks }) => ({
        capabilities,
        projectId: projectId ?? null,
        trackQueues: tracks?.flatMap(trackQueuesOf) ?? null,
        limit: this.#wanted,
      })),
      reserved: [...this.#reserved.values()].map(({ agent, capabilities }) => ({
        agent,
        capabilities,
        limit: this.#wantedBy.get(agent)!,
      })),
      offered: this.#offered,
      newTasks: this.#newTasks,
      newKeys: [...this.#newKeys.values()],
      idempotencyKeys: [...this.#idempotencyKeys],
      claimants: [...this.#claimants],
      sessions: [...this.#sessions],
      claimingAgents: [...this.#claimingAgents],
      agents: [...this.#agents],
      terms: [...this.#terms],
    }
  }
}

/** Whether this may be what somebody waits for: work that is in the queue now, or room on a track that was full. */
export const maySomebodyGoOn = ({ events, claims, tasks }: Changes) =>
  events.some(({ to }) => to === 'queued') ||
  (claims.some(({ kind }) => kind === 'ended') && tasks.some(isOnTrack))

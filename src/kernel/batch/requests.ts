import type { AgentRecord } from '../../kinds/agent/record.ts'
import { contractorsIn } from '../../kinds/agent/rules/contractors-of-tasks.ts'
import { KINDS, NO_KEYS } from '../../kinds/all.ts'
import type { SeenBudgets } from '../../kinds/budget/rules/claims.ts'
import type { Origin } from '../../kinds/events.ts'
import type { Kind, KindChanges, KindName, KindShape, KindTypes, KindViews } from '../../kinds/kind.ts'
import type { PlanVersion } from '../../kinds/mission/record.ts'
import type { CountsDelta } from '../../kinds/mission/rules/counts.ts'
import type { SeenGate } from '../../kinds/mission/rules/gate.ts'
import type { GrantedTask, ReplyAsStored } from '../../kinds/replies.ts'
import type { KnownAgent, NewTask, OnTask, Worker } from '../../kinds/task/command.ts'
import type { Actor, Effects, Purpose, TaskRecord } from '../../kinds/task/record.ts'
import type { Outside } from '../../kinds/task/rules/acting.ts'
import type { ClaimRequest, PastHolder } from '../../kinds/task/rules/claim-request.ts'
import { trackQueuesOf } from '../../kinds/task/rules/task-keys.ts'
import type { CountedDependency } from '../../kinds/task/rules/upstream-counts.ts'
import type { Limits } from '../../kinds/workspace/limits.ts'
import type { BudgetChanges } from './budget-batch.ts'
import { ONLY_WORK, type QueueFilter, queryName } from './queue-filter.ts'

/** What callers request, what a store must lock and read for it, and what it must write in the end. */

/** A request under an idempotency key gets the first answer again; the key is refused for any other request. */
export interface Idempotency {
  /** The owner of the key, a blank, and the key: keys of different owners never collide. */
  key: string
  bodyHash: string
}

/** A request for the next tasks of the queue. */
export interface NextWanted extends Omit<ClaimRequest, 'agent' | 'capabilities'> {
  pick: QueueFilter
  limit: number
}

/** New tasks, and changes of others: all of them or none. */
export interface NewWork {
  tasks: readonly NewTask[]
  changes?: readonly OnTask[]
  /** Tasks of earlier requests that new ones depend on by idempotency key: see `NewGranted.unlocked`. */
  alsoLock?: readonly number[]
}

interface Common {
  actor: Actor
  /** Of the request, with the actor: events of records beside tasks say where it came from. */
  origin?: Origin | undefined
  /** The term of the requesting coordinator: the request is refused when the term is over. */
  term?: number | undefined
  idempotency?: Idempotency | undefined
  outside?: Outside | undefined
}

/** A command on a record of one kind. `uuid` is used when the record is new. */
export type OnRecord<K extends KindName = KindName> = K extends KindName
  ? { on: K; key: string; uuid: string; command: KindTypes[K]['command'] }
  : never

export type Request<K extends KindName = KindName> = Common &
  (
    | ({ on: 'task' } & OnTask)
    /** Each is decided separately, but it is one request: one answer under one idempotency key. */
    | {
        on: 'many'
        items: readonly OnTask[]
        /** All or none: unless every task is still at the version its command names, nothing is done. */
        ifAllUnchanged?: boolean | undefined
      }
    | ({ on: 'next' } & NextWanted)
    /**
     * A command, then the next tasks: one request, so that a worker that finishes a task and takes the next one pays one
     * transaction. Nothing is handed out when the command is refused.
     */
    | { on: 'taskThenNext'; item: OnTask; next: NextWanted }
    | ({ on: 'new' } & NewWork)
    | OnRecord<K>
  )

/** A queue query: ready tasks for these capabilities, in one project or all, in some track queues or all. */
export interface QueueQuery {
  capabilities: readonly string[]
  projectId: number | null
  trackQueues: readonly string[] | null
  purposes: readonly Purpose[]
  /** Only work of these types. */
  taskTypes?: readonly string[] | undefined
  limit: number
}

export interface NewKey {
  projectId: number
  key: string
}

/** What a batch of requests needs locked or read before it can be decided. */
export interface ReadSet<K extends KindName = KindName> {
  /** Ascending: all callers lock in one order, so there are no deadlocks. */
  taskIds: number[]
  /** For each queue query: the first unreserved ready tasks of every project and track queue, in rank order. */
  waiting: QueueQuery[]
  /** Tasks reserved for single agents. */
  reserved: {
    agent: string
    capabilities: readonly string[]
    purposes: readonly Purpose[]
    limit: number
  }[]
  /** Generations of submitted results: for past ones, the holder must be known. */
  offered: { taskId: number; generation: number }[]
  /** Dependencies of tasks in `taskIds`, read after their locks: nothing else changes them. */
  dependencies: { taskId: number; dependsOn: number }[]
  newTasks: number
  /** Task keys that new tasks want to use. */
  newKeys: NewKey[]
  idempotencyKeys: string[]
  /** Sessions that claim: those that are workers are locked and read. */
  claimants: string[]
  /** Records that are to change, by kind: locked and read, together with the tasks they hold. */
  kinds: Readonly<Record<K, readonly string[]>>
  /** Agents that claim: those that have a limit or may not claim now are locked and read. */
  claimingAgents: string[]
  /** Agents to read without a lock: contractors that may already exist, and their templates. */
  agents: string[]
  /** Leader terms of the requests: whether they are current is read and locked until the commit. */
  terms: number[]
  /** Missions to lock, by their number: those that get tasks, and those that end, or open again, with this batch. */
  missions: number[]
  /** Whether time moves tasks: then it matters whether their mission is open. */
  isTimed: boolean
}

export interface StoredReply {
  bodyHash: string
  reply: ReplyAsStored
}

/** The use of a track: how many agents it may have (null: any number), and who holds how many of its tasks. */
export interface TrackUse {
  maxAgents: number | null
  holders: ReadonlyMap<string, number>
}

/** What the store read under its locks, with its clock read after them. */
export interface View<K extends KindName = KindName> {
  now: number
  limits: Limits
  activeClaims: number
  records: Map<number, TaskRecord>
  /**
   * Ids for each entry of `ReadSet.waiting`, each project and track queue in rank order; their records are in `records`.
   * Every project and track queue with a matching ready task is listed with at least one.
   */
  waiting: number[][]
  /** Ids of the tasks reserved for the requested agents. */
  reserved: number[]
  /** The holders of past generations of `ReadSet.offered`, by `heldName`. */
  pastHolders: ReadonlyMap<string, PastHolder>
  /** Those of `ReadSet.dependencies` that exist, by `dependencyName`. */
  dependencies: ReadonlyMap<string, CountedDependency>
  /** An unused id and 22 random bits for each new task. */
  fresh: { id: number; random: number }[]
  /** Those of `ReadSet.newKeys` that are already in use, by `keyName`. */
  takenKeys: ReadonlySet<string>
  storedReplies: Map<string, StoredReply>
  /** Those of `ReadSet.claimants` that are workers, and how many tasks they hold. */
  workers: ReadonlyMap<string, Worker>
  kinds: KindViews<K>
  /** Those of `ReadSet.claimingAgents` that have a limit or may not claim now. */
  claimingAgents: ReadonlyMap<string, KnownAgent>
  /** Those of `ReadSet.agents` that exist. */
  agents: ReadonlyMap<string, AgentRecord>
  /** Those of `ReadSet.terms` that are current. */
  terms: ReadonlySet<number>
  /**
   * Declared tracks of all tasks in `records` that can be claimed, by `trackName`. Locked when anything is claimed, so that
   * two agents cannot both get the last place.
   */
  tracks: ReadonlyMap<string, TrackUse>
  /**
   * The missions of tasks in `records` that may be claimed or moved by time, as read without a lock. A store that lets a claim
   * through checks again, before it commits, that the gate is still open.
   */
  gates: ReadonlyMap<number, SeenGate>
  /** The budgets of tasks that may be claimed, or are held; null: the workspace has none. */
  budgets: SeenBudgets | null
}

/** For stores without agents, leader leases and missions: queues used as a library have only workers. */
export const NO_AGENTS: { [K in 'claimingAgents' | 'agents' | 'terms' | 'gates' | 'budgets']: View[K] } = {
  claimingAgents: new Map(),
  agents: new Map(),
  terms: new Set(),
  gates: new Map(),
  budgets: null,
}

export interface Changes<K extends KindName = KindName> extends Effects {
  tasks: TaskRecord[]
  created: { record: TaskRecord; task: NewTask; parentUuid: string | null }[]
  kinds: { readonly [N in K]: KindChanges<KindTypes[N]> }
  /** Granted to callers that asked for the next tasks: a store may add their details. */
  grantedTasks: GrantedTask[]
  newReplies: ({ key: string } & StoredReply)[]
  missions: MissionChanges
  /** What claims reserve in budgets, and what is free again; null: nothing. */
  reservations: BudgetChanges | null
  activeClaimsDelta: number
}

export const dependencyName = (taskId: number, dependsOn: number) => `${taskId}/${dependsOn}`

/** How the tasks of a batch change the counts of their missions. */
export interface MissionChanges {
  deltas: ReadonlyMap<number, CountsDelta>
  /** Missions that tasks were claimed from: their gates must be open when the batch commits. */
  claimedFrom: readonly { missionId: number; purpose: Purpose }[]
  /** New versions of plans. A mission may get several in one batch: its record has only the last one. */
  plans: readonly { missionId: number; uuid: string; plan: PlanVersion }[]
}

export const heldName = (taskId: number, generation: number) => `${taskId}/${generation}`
export const keyName = (projectId: number, key: string) => `${projectId}/${key}`
export const trackName = (projectId: number, track: string) => `${projectId}/${track}`
/** No principal has this name, and no header can carry a blank: keys of tasks never collide with those of requests. */
export const uniqueName = (key: string) => `task ${key}`

/** Whether the agent limit of the track applies to a task: parts of a task are meant to be shared. */
export const isOnTrack = ({ projectId, trackQueue }: TaskRecord) =>
  projectId !== 0 && trackQueue !== '' && !trackQueue.endsWith('::')

export const isOnRecord = (request: Request): request is Request & OnRecord => request.on in KINDS

export const kindOf = ({ on }: OnRecord) => KINDS[on] as unknown as Kind<KindShape>

/** The tasks that a command on a record may create and change. */
export const workOf = (request: OnRecord): NewWork | null =>
  kindOf(request).tasksIn?.(request.command) ?? null

export function readSetOf(requests: readonly Request[]): ReadSet {
  const builder = new ReadSetBuilder()
  for (const request of requests) builder.add(request)
  return builder.readSet()
}

class ReadSetBuilder {
  readonly #taskIds = new Set<number>()
  readonly #queries = new Map<string, QueueFilter>()
  readonly #reserved = new Map<string, QueueFilter>()
  readonly #wantedBy = new Map<string, number>()
  readonly #idempotencyKeys = new Set<string>()
  readonly #newKeys = new Map<string, NewKey>()
  readonly #offered: ReadSet['offered'] = []
  readonly #dependencies: ReadSet['dependencies'] = []
  readonly #claimants = new Set<string>()
  readonly #claimingAgents = new Set<string>()
  readonly #kinds = new Map<KindName, Set<string>>()
  readonly #terms = new Set<number>()
  readonly #missions = new Set<number>()
  readonly #agents = new Set<string>()
  #isTimed = false
  #wanted = 0
  #newTasks = 0

  add(request: Request): void {
    if (request.on === 'task') this.#task(request)
    else if (request.on === 'many') for (const item of request.items) this.#task(item)
    else if (request.on === 'next') this.#next(request)
    else if (request.on === 'taskThenNext') {
      this.#task(request.item)
      this.#next(request.next)
    } else if (request.on === 'new') this.#new(request)
    else this.#record(request)
    if (request.term !== undefined) this.#terms.add(request.term)
    if (request.idempotency) this.#idempotencyKeys.add(request.idempotency.key)
  }

  #record(request: OnRecord): void {
    const keys = this.#kindKeys(request.on).add(request.key)
    for (const key of kindOf(request).keysIn?.(request.command) ?? []) keys.add(key)
    for (const id of kindOf(request).missionsIn?.(request.command) ?? []) this.#missions.add(id)
    const work = workOf(request)
    if (work) this.#new(work)
    const also = kindOf(request).alsoIn?.(request.command)
    if (also) this.#record(also)
  }

  #kindKeys(kind: KindName): Set<string> {
    const keys = this.#kinds.get(kind) ?? new Set()
    this.#kinds.set(kind, keys)
    return keys
  }

  #task({ taskId, command }: OnTask): void {
    this.#taskIds.add(taskId)
    if (command.kind === 'elapse' || command.kind === 'changeDependencies') this.#isTimed = true
    if (command.kind === 'submit') this.#offered.push({ taskId, generation: command.fence.generation })
    else if (command.kind === 'claim') {
      this.#claimants.add(command.session)
      this.#claimingAgents.add(command.agent)
    } else if (command.kind === 'merge') for (const { id } of command.parts) this.#taskIds.add(id)
    else if (command.kind === 'countUpstream')
      for (const { dependsOn } of command.edges) this.#dependencies.push({ taskId, dependsOn })
    else if (command.kind === 'replan') for (const { id } of command.edges?.on ?? []) this.#taskIds.add(id)
    else if (command.kind === 'continue')
      for (const { id: dependsOn } of command.after?.tasks ?? []) {
        this.#taskIds.add(dependsOn)
        this.#dependencies.push({ taskId, dependsOn })
      }
    else if (command.kind === 'changeDependencies') {
      // Locked too: a dependency that completes in the meantime is either seen as completed or sees the task waiting.
      for (const { id } of command.dependsOn) this.#taskIds.add(id)
      for (const { id: dependsOn } of command.remove?.on ?? []) this.#dependencies.push({ taskId, dependsOn })
    }
  }

  #next({ pick, session, limit }: NextWanted): void {
    const { agent, capabilities, purposes } = pick
    this.#queries.set(queryName(pick), pick)
    this.#reserved.set(`${queryName({ agent, capabilities, purposes })} ${agent}`, pick)
    this.#wantedBy.set(agent, (this.#wantedBy.get(agent) ?? 0) + limit)
    this.#wanted += limit
    this.#claimants.add(session)
    this.#claimingAgents.add(agent)
  }

  #new({ tasks, changes = [], alsoLock = [] }: NewWork): void {
    for (const { slug, template } of contractorsIn(tasks, changes)) this.#agents.add(slug).add(template)
    this.#newTasks += tasks.length
    for (const id of alsoLock) this.#taskIds.add(id)
    for (const task of tasks) {
      // Locked too: a dependency that completes in the meantime is either seen as completed or sees the new task waiting.
      for (const id of task.dependsOn) this.#taskIds.add(id)
      if (task.parent && 'id' in task.parent) this.#taskIds.add(task.parent.id)
      if (task.missionId !== null) this.#missions.add(task.missionId)
      if (task.addedBy) this.#taskIds.add(task.addedBy.id).add(task.addedBy.root?.id ?? task.addedBy.id)
      if (task.serves) this.#taskIds.add(task.serves.taskId)
      if (task.key !== null)
        this.#newKeys.set(keyName(task.projectId, task.key), { projectId: task.projectId, key: task.key })
      if (task.unique) this.#idempotencyKeys.add(uniqueName(task.unique.key))
    }
    for (const change of changes) this.#task(change)
  }

  #namedKeys(): Partial<Record<KindName, string[]>> {
    return Object.fromEntries([...this.#kinds].map(([kind, keys]) => [kind, [...keys]]))
  }

  readSet(): ReadSet {
    return {
      taskIds: [...this.#taskIds].sort((a, b) => a - b),
      // Each query has the limit of all callers together: they may all compete for the same tasks.
      waiting: [...this.#queries.values()].map(
        ({ capabilities, projectId, tracks, purposes, taskTypes }) => ({
          capabilities,
          projectId: projectId ?? null,
          trackQueues: tracks?.flatMap(trackQueuesOf) ?? null,
          purposes: purposes ?? ONLY_WORK,
          taskTypes,
          limit: this.#wanted,
        }),
      ),
      reserved: [...this.#reserved.values()].map(({ agent, capabilities, purposes }) => ({
        agent,
        capabilities,
        purposes: purposes ?? ONLY_WORK,
        limit: this.#wantedBy.get(agent)!,
      })),
      offered: this.#offered,
      dependencies: this.#dependencies,
      newTasks: this.#newTasks,
      newKeys: [...this.#newKeys.values()],
      idempotencyKeys: [...this.#idempotencyKeys],
      claimants: [...this.#claimants],
      kinds: this.#kinds.size === 0 ? NO_KEYS : { ...NO_KEYS, ...this.#namedKeys() },
      claimingAgents: [...this.#claimingAgents],
      agents: [...this.#agents],
      terms: [...this.#terms],
      missions: [...this.#missions],
      isTimed: this.#isTimed,
    }
  }
}

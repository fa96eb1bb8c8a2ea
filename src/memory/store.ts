import { keyName, type NewKey, type ReadSet, type View } from '../kernel/batch/requests.ts'
import { mayLetCallersProceed } from '../kernel/batch/waiting-callers.ts'
import { workersOf } from '../kernel/store/assemble-view.ts'
import { roundRobin } from '../kernel/store/round-robin.ts'
import type {
  BatchStep,
  BlockedTask,
  Committed,
  Direction,
  DueTask,
  DueVersion,
  Store,
  StoredClaim,
  StoredResult,
  StoredTask,
  TaskFilter,
  Walked,
} from '../kernel/store/store.ts'
import { byKind } from '../kinds/all.ts'
import type { EventDraft, StoredEvent } from '../kinds/events.ts'
import type { KindName } from '../kinds/kind.ts'
import type { TaskDetails } from '../kinds/task/command.ts'
import type { Purpose, SessionRecord, TaskRecord } from '../kinds/task/record.ts'
import { DEFAULT_LIMITS, type Limits } from '../kinds/workspace/limits.ts'
import { blockedFrom, dependenciesOf, downstreamOf, missedAmong } from './blocked.ts'
import { seenBudgets, settleReservations, syncBudgets } from './budgets.ts'
import { writeComments } from './comments.ts'
import { MemoryEventWriter } from './event-writer.ts'
import { lookAtKinds, writeKinds } from './kinds.ts'
import { MemoryLeaderLease } from './leader-lease.ts'
import { MemoryFollowers } from './log-followers.ts'
import { gatesOf, isLetThrough, missionsToLock } from './missions.ts'
import { writeReports } from './reports.ts'
import { can, dependenciesIn, isOfTypes, pastHolders, takenKeys, workerIn } from './view-parts.ts'
import {
  activeSessions,
  claimingAgents,
  copyOf,
  emptyWorkspace,
  firstWaiting,
  heldTasks,
  namedAgents,
  tracksOf,
  type Workspace,
  write,
} from './workspace.ts'

export interface MemoryStoreOptions {
  now?: () => number
  random?: () => number
  /** Awaited where a real store waits: for the lock and for the commit. The simulation lets others run there. */
  pause?: (where: 'before lock' | 'before commit' | 'after commit') => Promise<void>
}

/** What a transaction answers and writes. Its events are appended by the store. */
export interface MemoryDecision<T> {
  answer: T
  events: readonly EventDraft[]
  tasksWaiting: boolean
  write: () => void
}

/** Everything in maps, nothing persisted: for tests, the simulation and trials. The rules are the same as elsewhere. */
export class MemoryStore implements Store<KindName> {
  readonly kinds = byKind(() => true as const)
  readonly #workspaces = new Map<number, Workspace>()
  readonly #names = new Map<string, number>()
  protected readonly now: () => number
  readonly #random: () => number
  readonly #pause: NonNullable<MemoryStoreOptions['pause']>
  readonly #locks = new Map<number, Promise<void>>()
  readonly #log = new MemoryEventWriter()
  readonly leaderLease: MemoryLeaderLease
  readonly followers: MemoryFollowers
  #lastId = 0

  constructor(options: MemoryStoreOptions = {}) {
    this.now = options.now ?? Date.now
    this.leaderLease = new MemoryLeaderLease(this.now)
    this.followers = new MemoryFollowers(this.now, (workspaceId) => this.inside(workspaceId))
    this.#random = options.random ?? Math.random
    this.#pause = options.pause ?? (async () => undefined)
  }

  addWorkspace(workspaceId: number, limits: Partial<Limits> = {}): void {
    this.#workspaces.set(workspaceId, emptyWorkspace(workspaceId, { ...DEFAULT_LIMITS, ...limits }))
    this.followers.addWorkspace(workspaceId)
  }

  async workspace(name: string, limits: Partial<Limits> = {}): Promise<number> {
    const known = this.#names.get(name)
    if (known !== undefined) return known
    const workspaceId = this.#workspaces.size + 1
    this.addWorkspace(workspaceId, limits)
    this.#names.set(name, workspaceId)
    return workspaceId
  }

  async project(workspaceId: number, slug: string): Promise<number> {
    const { projects } = this.inside(workspaceId)
    if (!projects.has(slug)) projects.set(slug, projects.size + 1)
    return projects.get(slug)!
  }

  async setTrack(
    workspaceId: number,
    projectId: number,
    track: string,
    maxAgents: number | null,
  ): Promise<void> {
    this.inside(workspaceId).tracks.set(`${projectId}/${track}`, maxAgents)
  }

  async ready(): Promise<void> {}

  async close(): Promise<void> {}

  onCommit(listener: Committed): () => void {
    return this.#log.onCommit(listener)
  }

  async transact<T>(workspaceId: number, { reads, decide }: BatchStep<T>): Promise<T> {
    const decideHere = (workspace: Workspace) => {
      for (let asked = reads; ; ) {
        const { answer, changes } = decide(this.#look(workspace, asked))
        const missing = missionsToLock(workspace, asked, changes)
        if (missing.length === 0) {
          const tasksWaiting = mayLetCallersProceed(changes)
          const writeAll = () => {
            write(workspace, changes)
            writeKinds(workspace, changes)
            writeComments(workspace, changes)
            writeReports(workspace, changes)
            syncBudgets(workspace, changes, this.now())
            settleReservations(workspace, changes.reservations)
          }
          return { answer, events: changes.events, tasksWaiting, write: writeAll }
        }
        asked = { ...asked, missions: [...asked.missions, ...missing] }
      }
    }
    return this.changed(workspaceId, decideHere, reads.terms)
  }

  /** One transaction: decides under the lock, and writes after it has waited as a real store does. */
  protected async changed<T>(
    workspaceId: number,
    decide: (workspace: Workspace) => MemoryDecision<T>,
    terms: readonly number[] = [],
  ): Promise<T> {
    const workspace = this.inside(workspaceId)
    await this.#pause('before lock')
    const act = async () => {
      const decided = decide(workspace)
      await this.#pause('before commit')
      decided.write()
      this.#log.append(workspace, decided.events)
      return decided
    }
    const { answer, events, tasksWaiting } = await this.locked(workspaceId, () =>
      this.leaderLease.actUnder(terms, act),
    )
    if (events.length > 0) this.#log.committed(workspaceId, { events: events.length, tasksWaiting })
    await this.#pause('after commit')
    return answer
  }

  /** One at a time in each workspace. Overridden only to show that the simulation detects a missing lock. */
  protected locked<T>(workspaceId: number, act: () => Promise<T>): Promise<T> {
    const before = this.#locks.get(workspaceId) ?? Promise.resolve()
    const mine = before.then(act)
    this.#locks.set(
      workspaceId,
      mine.then(
        () => undefined,
        () => undefined,
      ),
    )
    return mine
  }

  async task(workspaceId: number, taskId: number): Promise<StoredTask | null> {
    return (await this.tasksById(workspaceId, [taskId]))[0] ?? null
  }

  async tasksById(workspaceId: number, taskIds: readonly number[]): Promise<StoredTask[]> {
    const { tasks, details } = this.inside(workspaceId)
    return taskIds
      .filter((id) => tasks.has(id))
      .map((id) => ({ record: copyOf(tasks.get(id)!), details: details.get(id)! }))
  }

  async recordsById(workspaceId: number, taskIds: readonly number[]): Promise<TaskRecord[]> {
    return (await this.tasksById(workspaceId, taskIds)).map(({ record }) => record)
  }

  async records(workspaceId: number, filter: TaskFilter, limit: number): Promise<TaskRecord[]> {
    return (await this.tasks(workspaceId, filter, limit)).map(({ record }) => record)
  }

  async detailsOf(workspaceId: number, records: readonly TaskRecord[]): Promise<TaskDetails[]> {
    const { details } = this.inside(workspaceId)
    return records.map(({ id }) => details.get(id)!)
  }

  async tasksByKey(workspaceId: number, keys: readonly NewKey[]): Promise<TaskRecord[]> {
    const names = new Set(keys.map(({ projectId, key }) => keyName(projectId, key)))
    return [...this.inside(workspaceId).tasks.values()]
      .filter(({ projectId, key }) => key !== null && names.has(keyName(projectId, key)))
      .map(copyOf)
  }

  async tasks(workspaceId: number, filter: TaskFilter, limit: number): Promise<StoredTask[]> {
    const { tasks, details } = this.inside(workspaceId)
    const { states, userId, deadLetters, before = Number.POSITIVE_INFINITY } = filter
    const isWanted = ({ id, state, archivedAt }: TaskRecord) => {
      if (archivedAt !== null) return false
      const { userId: owner, exhausted } = details.get(id)!
      if (deadLetters && !(state === 'failed' && exhausted)) return false
      return id < before && (!states || states.includes(state)) && (userId === undefined || owner === userId)
    }
    const ids = [...tasks.values()].filter(isWanted).map(({ id }) => id)
    return this.tasksById(workspaceId, ids.sort((a, b) => b - a).slice(0, limit))
  }

  async claims(workspaceId: number, taskId: number): Promise<StoredClaim[]> {
    return (this.inside(workspaceId).claims.get(taskId) ?? []).map(copyOf)
  }

  async results(workspaceId: number, taskId: number): Promise<StoredResult[]> {
    return (this.inside(workspaceId).results.get(taskId) ?? []).map(copyOf)
  }

  async events(workspaceId: number, after: number, limit: number): Promise<StoredEvent[]> {
    return this.inside(workspaceId).events.slice(after, after + limit)
  }

  async lastSeq(workspaceId: number): Promise<number> {
    return this.inside(workspaceId).events.length
  }

  async session(workspaceId: number, name: string): Promise<SessionRecord | null> {
    const session = this.inside(workspaceId).sessions.get(name)
    return session ? copyOf(session) : null
  }

  async sessions(workspaceId: number, { workersOnly, limit }: { workersOnly: boolean; limit: number }) {
    return [...this.inside(workspaceId).sessions.values()]
      .filter(({ capacity }) => !workersOnly || capacity !== null)
      .sort((a, b) => b.startedAt - a.startedAt || (a.name < b.name ? -1 : 1))
      .slice(0, limit)
      .map(copyOf)
  }

  async limits(workspaceId: number): Promise<Limits> {
    return { ...this.inside(workspaceId).limits }
  }

  async counts(workspaceId: number) {
    const workspace = this.inside(workspaceId)
    return { activeClaims: workspace.activeClaims, activeSessions: activeSessions(workspace) }
  }

  async dueTasks(limit: number, only?: number): Promise<DueVersion[]> {
    const now = this.now()
    const isDue = ({ claimState, leaseExpiresAt, dueAt }: TaskRecord) =>
      (claimState === 'active' && leaseExpiresAt! <= now) || (dueAt !== null && dueAt <= now)
    const due = this.those(only).flatMap(({ id: workspaceId, tasks }) =>
      [...tasks.values()].filter(isDue).map(({ id, uuid, version, blocked }) => ({
        workspaceId,
        taskId: id,
        uuid,
        version,
        isBlocked: blocked,
      })),
    )
    return roundRobin(due, limit)
  }

  async dueSessions(limit: number, only?: number) {
    const now = this.now()
    const due = this.those(only).flatMap(({ id, sessions }) =>
      [...sessions.values()]
        .filter(({ dueAt }) => dueAt !== null && dueAt <= now)
        .map(({ name }) => ({ workspaceId: id, name })),
    )
    return roundRobin(due, limit)
  }

  async heldUntouchedSince(workspaceId: number, before: number, limit: number): Promise<DueTask[]> {
    return heldTasks(this.inside(workspaceId))
      .filter(({ updatedAt }) => updatedAt <= before)
      .map(({ id, uuid }) => ({ workspaceId, taskId: id, uuid }))
      .slice(0, limit)
  }

  async downstreamOf(workspaceId: number, taskIds: readonly number[]): Promise<BlockedTask[]> {
    return downstreamOf(this.inside(workspaceId), taskIds)
  }

  async missedAmong(workspaceId: number, taskIds: readonly number[], limit: number): Promise<BlockedTask[]> {
    return missedAmong(this.inside(workspaceId), taskIds).slice(0, limit)
  }

  async dependencies(workspaceId: number, taskId: number) {
    return dependenciesOf(this.inside(workspaceId), taskId)
  }

  blockedFrom(
    workspaceId: number,
    taskIds: readonly number[],
    way: Direction,
    limit: number,
  ): Promise<Walked> {
    return blockedFrom(this.inside(workspaceId), taskIds, way, limit)
  }

  async applyRetention(): Promise<void> {}

  protected those(only: number | undefined): Workspace[] {
    return [...this.#workspaces.values()].filter(({ id }) => only === undefined || id === only)
  }

  protected inside(workspaceId: number): Workspace {
    const workspace = this.#workspaces.get(workspaceId)
    if (!workspace) throw new Error(`workspace ${workspaceId} does not exist`)
    return workspace
  }

  #look(workspace: Workspace, readSet: ReadSet): View {
    const records = new Map<number, TaskRecord>()
    const show = (record: TaskRecord | undefined) => record && records.set(record.id, copyOf(record))
    for (const id of readSet.taskIds) show(workspace.tasks.get(id))
    const first = (isFor: (task: TaskRecord) => boolean, limit: number) => {
      const waiting = firstWaiting(workspace, isFor, limit)
      waiting.forEach(show)
      return waiting.map(({ id }) => id)
    }
    const isOpen = (task: TaskRecord, purposes: readonly Purpose[]) =>
      purposes.includes(task.purpose) && isLetThrough(workspace, task)
    const waiting = readSet.waiting.map(
      ({ capabilities, projectId, trackQueues, purposes, taskTypes, limit }) =>
        first(
          (task) =>
            task.onlyAgent === null &&
            isOpen(task, purposes) &&
            (projectId === null || task.projectId === projectId) &&
            (trackQueues === null || trackQueues.includes(task.trackQueue)) &&
            can(task, capabilities) &&
            isOfTypes(workspace, task, taskTypes),
          limit,
        ),
    )
    const reserved = readSet.reserved.flatMap(({ agent, capabilities, purposes, limit }) =>
      first((task) => task.onlyAgent === agent && isOpen(task, purposes) && can(task, capabilities), limit),
    )
    return {
      now: this.now(),
      limits: workspace.limits,
      activeClaims: workspace.activeClaims,
      records,
      waiting,
      reserved,
      pastHolders: pastHolders(workspace, readSet),
      dependencies: dependenciesIn(workspace, readSet),
      fresh: Array.from({ length: readSet.newTasks }, () => ({
        id: ++this.#lastId,
        random: Math.floor(this.#random() * 2 ** 22),
      })),
      takenKeys: takenKeys(workspace, readSet),
      storedReplies: workspace.storedReplies,
      workers: workersOf(readSet, (name) => workerIn(workspace, name)),
      kinds: lookAtKinds(workspace, readSet, show),
      gates: gatesOf(workspace, records.values()),
      claimingAgents: claimingAgents(workspace, readSet),
      agents: namedAgents(workspace, readSet),
      terms: this.leaderLease.lasting(readSet.terms),
      tracks: tracksOf(workspace, records.values()),
      budgets: seenBudgets(workspace, readSet, records),
    }
  }
}

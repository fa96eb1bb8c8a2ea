import { randomInt } from 'node:crypto'
import { NO_AGENTS, type QueueQuery } from '../../core/batch/requests.ts'
import type { Worker } from '../../core/commands.ts'
import type { Limits } from '../../core/limits.ts'
import type { TaskRecord } from '../../core/records.ts'
import { pastGenerations, workersOf } from '../assemble-view.ts'
import type { Changes, ReadSet } from '../portable.ts'
import type { MarkedTask, TaskMarks } from './codec.ts'
import type { Keys } from './keys.ts'
import { type Ranked, ReadyPrefix } from './ready-prefix.ts'
import type { Seen } from './seen.ts'

/** More is not kept: what a batch needs is read again. */
const MOST_KEPT = 50_000
/** A query over more queues is left to the server. */
const MOST_QUEUES = 8

/** Ready tasks for any agent, or those reserved for one. */
export type AnyQuery = Omit<QueueQuery, 'limit'> & { agent: string | null }

/** What a read tells beyond the view of its batch. */
export interface Learnt {
  /** For each queue query: the queues that match it, with their first tasks. */
  queries: { query: AnyQuery; queues: { key: string; first: number[]; isWhole: boolean }[] }[]
  /** Sessions that claim, and whether they are workers. */
  claimants: Map<string, Worker | null>
  /** Null: not read. */
  declaredTracks: number | null
}

/** The numbers of a workspace after a write. */
export interface Meta {
  head: string
  version: number
  seq: number
  lastId: number
  activeClaims: number
  activeSessions: number
}

export const reservedQuery = (agent: string, capabilities: readonly string[]): AnyQuery => ({
  ...{ agent, capabilities, projectId: null, trackQueues: null },
})

const nameOf = ({ agent, capabilities, projectId, trackQueues }: AnyQuery) =>
  JSON.stringify([agent, capabilities, projectId, trackQueues])

function matches({ agent, capabilities, projectId, trackQueues }: AnyQuery, task: TaskRecord): boolean {
  return (
    task.onlyAgent === agent &&
    (projectId === null || task.projectId === projectId) &&
    (trackQueues === null || trackQueues.includes(task.trackQueue)) &&
    task.capabilities.every((one) => capabilities.includes(one))
  )
}

/**
 * What this process knows of a workspace as of one write, its head: from what it read, and from what it wrote itself. While no
 * other process writes, batches are decided on it without a read, even before the write before them is answered. The server
 * accepts their writes only if the head is still the one they were decided on; so a mirror that is out of date costs a round
 * trip and nothing else.
 */
export class Mirror {
  #meta: Meta
  readonly #limits: Limits
  /** A later read has found the workspace as this process left it: no other process is writing. */
  isConfirmed = false
  #declaredTracks: number | null = null
  /** Those that a batch may name next: in a known part of a queue, or held. */
  readonly #tasks = new Map<number, MarkedTask>()
  readonly #queues = new Map<string, ReadyPrefix>()
  readonly #queries = new Map<string, { query: AnyQuery; queues: Set<string> }>()
  readonly #claimants = new Map<string, Worker | null>()

  constructor({ head, version, seq, lastId, view }: Seen) {
    const activeSessions = view.kinds.session.counted
    this.#meta = { head, version, seq, lastId, activeClaims: view.activeClaims, activeSessions }
    this.#limits = view.limits
  }

  get head(): string {
    return this.#meta.head
  }

  /** What a batch must see; null when not all of it is known. */
  seen(readSet: ReadSet, now: number): Seen | null {
    const { kinds, newKeys, idempotencyKeys, claimants, newTasks } = readSet
    if (kinds.session.length + newKeys.length + idempotencyKeys.length > 0) return null
    if (readSet.dependencies.length > 0) return null
    if (claimants.length > 0 && this.#declaredTracks !== 0) return null
    if (!claimants.every((name) => this.#claimants.has(name))) return null
    const records = new Map<number, TaskRecord>()
    const marks = new Map<number, TaskMarks>()
    const see = (id: number): boolean => {
      const task = this.#tasks.get(id)
      if (!task) return false
      records.set(id, task.record)
      marks.set(id, task.marks)
      return true
    }
    if (!readSet.taskIds.every(see)) return null
    if (pastGenerations(readSet, records).length > 0) return null
    const waiting: number[][] = []
    for (const { limit, ...query } of readSet.waiting) {
      const ids = this.#first({ ...query, agent: null }, limit)
      if (!ids?.every(see)) return null
      waiting.push(ids)
    }
    const reserved: number[] = []
    for (const { agent, capabilities, limit } of readSet.reserved) {
      const ids = this.#first(reservedQuery(agent, capabilities), limit)
      if (!ids?.every(see)) return null
      reserved.push(...ids)
    }
    const { activeClaims, activeSessions, ...meta } = this.#meta
    return {
      ...meta,
      marks,
      hasWriterLock: false,
      view: {
        ...{ now, limits: this.#limits, activeClaims, records, waiting, reserved },
        pastHolders: new Map(),
        dependencies: new Map(),
        fresh: freshIds(meta.lastId, newTasks),
        takenKeys: new Set(),
        storedReplies: new Map(),
        workers: workersOf(readSet, (name) => this.#claimants.get(name)!),
        kinds: { session: { seen: new Map(), counted: activeSessions } },
        tracks: new Map(),
        ...NO_AGENTS,
      },
    }
  }

  #first(query: AnyQuery, limit: number): number[] | null {
    const known = this.#queries.get(nameOf(query))
    if (!known || known.queues.size > MOST_QUEUES) return null
    const found: Ranked[] = []
    for (const key of known.queues) {
      const first = this.#queues.get(key)!.first(limit)
      if (!first) return null
      found.push(...first)
    }
    if (known.queues.size > 1) found.sort((a, b) => a.rank - b.rank || a.id - b.id)
    return found.map(({ id }) => id)
  }

  /** Of a read at this head. */
  learn({ view, marks }: Seen, { queries, claimants, declaredTracks }: Learnt): void {
    if (this.#tasks.size + view.records.size > MOST_KEPT) this.#forget()
    for (const [id, record] of view.records) this.#tasks.set(id, { record, marks: marks.get(id)! })
    for (const { query, queues } of queries) {
      this.#queries.set(nameOf(query), { query, queues: new Set(queues.map(({ key }) => key)) })
      for (const { key, first, isWhole } of queues) {
        const ranked = first.map((id) => ({ id, rank: view.records.get(id)!.rank! }))
        this.#queues.set(key, new ReadyPrefix(ranked, isWhole))
      }
    }
    for (const [name, worker] of claimants) this.#claimants.set(name, worker)
    if (declaredTracks !== null) this.#declaredTracks = declaredTracks
  }

  /** What this process has written on top of the head. */
  apply(
    keys: Keys,
    before: Seen,
    tasks: ReadonlyMap<number, MarkedTask>,
    changes: Changes,
    meta: Meta,
  ): void {
    this.#meta = meta
    for (const [id, task] of tasks) {
      const isInPrefix = this.#requeue(keys, before.view.records.get(id) ?? null, task.record)
      if (isInPrefix || task.record.claimState === 'active') this.#tasks.set(id, task)
      else this.#tasks.delete(id)
    }
    for (const { name } of changes.kinds.session.written) this.#claimants.delete(name)
    for (const { kind, session } of changes.claims) {
      const worker = this.#claimants.get(session)
      if (worker)
        this.#claimants.set(session, { ...worker, held: worker.held + (kind === 'opened' ? 1 : -1) })
    }
    if (this.#tasks.size > MOST_KEPT || this.#claimants.size > MOST_KEPT) this.#forget()
  }

  /** Returns whether it is in a known part of a queue now. */
  #requeue(keys: Keys, before: TaskRecord | null, after: TaskRecord): boolean {
    if (before && before.rank !== null && this.#tasks.has(before.id))
      this.#queues.get(keys.queue(before).key)?.remove(before.id)
    if (after.rank === null) return false
    const { key } = keys.queue(after)
    for (const { query, queues } of this.#queries.values()) {
      if (queues.has(key) || !matches(query, after)) continue
      // No task was in it before: the query would have found it.
      if (!this.#queues.has(key)) this.#queues.set(key, new ReadyPrefix([], true))
      queues.add(key)
    }
    return this.#queues.get(key)?.add({ id: after.id, rank: after.rank }) ?? false
  }

  #forget(): void {
    this.#tasks.clear()
    this.#queues.clear()
    this.#queries.clear()
    this.#claimants.clear()
  }
}

/** An unused id and 22 random bits for each. */
export const freshIds = (lastId: number, count: number) =>
  Array.from({ length: count }, (_, i) => ({ id: lastId + 1 + i, random: randomInt(2 ** 22) }))

import { NO_AGENTS } from '../../src/kernel/batch/requests.ts'
import { pastGenerations } from '../../src/kernel/store/assemble-view.ts'
import type { Changes, ReadSet } from '../../src/kernel/store/portable.ts'
import type { Worker } from '../../src/kinds/task/command.ts'
import type { TaskRecord } from '../../src/kinds/task/record.ts'
import { isTerminal } from '../../src/pure/states.ts'
import type { TaskMarks } from './codec.ts'
import { freshIds } from './fresh-ids.ts'
import type { Keys } from './keys.ts'
import { KnownQueues } from './known-queues.ts'
import type { Read, Seen } from './seen.ts'
import type { TasksAfter } from './tasks-after.ts'
import { metaAfter } from './writes.ts'

/** A clock that was read longer ago is read again: the server's may have been set. */
const CLOCK_VALID_MS = 500

/**
 * The state of a workspace: the last read, and what this process has written since. A batch that needs no more than this
 * is decided without a read, while the previous write is still on its way. Its write names the head it was decided on: if
 * another process wrote in between, or if the previous write failed, nothing is written, and the batch is decided again.
 */
export class Known {
  readonly #keys: Keys
  readonly #records = new Map<number, TaskRecord>()
  readonly #marks = new Map<number, TaskMarks>()
  readonly #queues = new KnownQueues(this.#records)
  /** Null: a session that is not a worker. */
  readonly #claimants = new Map<string, Worker | null>()
  #seen: Seen
  #isPlain = true
  #hasWorkers = false
  /** The server's clock, and our own when the answer came: with the time since then added, it is never ahead. */
  #clock = { server: 0, own: 0 }

  constructor(keys: Keys, read: Read, readSet: ReadSet) {
    this.#keys = keys
    this.#seen = read.seen
    this.add(read, readSet)
  }

  /** The last write. */
  get head(): string {
    return this.#seen.head
  }

  get size(): number {
    return this.#records.size
  }

  /** Another read, with the same head. */
  add({ seen, queues, isPlain, hasWorkers }: Read, { claimants }: ReadSet): void {
    const { view, marks } = seen
    this.#seen = seen
    this.#isPlain = isPlain
    this.#hasWorkers = hasWorkers
    for (const [id, record] of view.records) {
      this.#records.set(id, record)
      this.#marks.set(id, marks.get(id)!)
    }
    this.#queues.add(queues)
    for (const name of claimants) this.#claimants.set(name, view.workers.get(name) ?? null)
    this.setClock(view.now)
  }

  /** The server's clock, as an answer that has just come says. */
  setClock(now: number): void {
    this.#clock = { server: now, own: performance.now() }
  }

  /** What a batch needs, as a read would find it; null when not all of it is known. */
  seenFor(readSet: ReadSet): Seen | null {
    const passed = performance.now() - this.#clock.own
    if (passed > CLOCK_VALID_MS || !this.#isPlain || !this.#knowsAll(readSet)) return null
    const waiting: number[][] = []
    for (const query of readSet.waiting) {
      const ids = this.#queues.waitingFor(query)
      if (ids === null) return null
      waiting.push(ids)
    }
    const workers = new Map<string, Worker>()
    if (this.#hasWorkers)
      for (const name of readSet.claimants) {
        const worker = this.#claimants.get(name)
        if (worker) workers.set(name, worker)
      }
    const { head, version, seq, lastId, view } = this.#seen
    return {
      ...{ head, version, seq, lastId, hasWriterLock: false, marks: this.#marks },
      view: {
        now: Math.max(view.now, Math.floor(this.#clock.server + passed)),
        limits: view.limits,
        activeClaims: view.activeClaims,
        records: this.#records,
        waiting,
        reserved: [],
        pastHolders: new Map(),
        dependencies: new Map(),
        fresh: freshIds(lastId, readSet.newTasks),
        takenKeys: new Set(),
        storedReplies: new Map(),
        workers,
        kinds: { session: { seen: new Map(), counted: view.kinds.session.counted } },
        tracks: new Map(),
        ...NO_AGENTS,
      },
    }
  }

  #knowsAll(readSet: ReadSet): boolean {
    const { kinds, idempotencyKeys, newKeys, dependencies, taskIds, claimants } = readSet
    return (
      kinds.session.length + idempotencyKeys.length + newKeys.length + dependencies.length === 0 &&
      taskIds.every((id) => this.#records.has(id)) &&
      (!this.#hasWorkers || claimants.every((name) => this.#claimants.has(name))) &&
      // Who held past generations is not kept here.
      pastGenerations(readSet, this.#records).length === 0
    )
  }

  /** A write that was decided on what is known now, and has been sent. False: its queues must be read again. */
  wrote(seen: Seen, { tasks }: TasksAfter, changes: Changes, head: string): boolean {
    const { activeClaims, activeSessions, ...numbers } = metaAfter(seen, changes)
    const kinds = { session: { seen: new Map(), counted: activeSessions } }
    this.#seen = { ...seen, ...numbers, head, view: { ...seen.view, activeClaims, kinds } }
    for (const { record, marks } of tasks.values()) {
      if (!this.#isKept(record)) {
        this.#records.delete(record.id)
        this.#marks.delete(record.id)
        continue
      }
      this.#records.set(record.id, record)
      this.#marks.set(record.id, marks)
    }
    this.#countClaims(changes)
    return this.#queues.isKnown
  }

  /** Whether the next batches may need it: it is held, or among the first of a queue. */
  #isKept(record: TaskRecord): boolean {
    if (isTerminal(record.state)) return false
    if (record.rank === null) return record.claimState === 'active'
    const before = this.#records.get(record.id)
    const queue = this.#keys.queue(record)
    if (before && before.rank === record.rank && this.#keys.queue(before).key === queue.key) return true
    if (record.onlyAgent !== null) this.#isPlain = false
    return this.#queues.enter(queue.key, record)
  }

  #countClaims({ claims, kinds }: Changes): void {
    for (const { name, capacity } of kinds.session.written) {
      if (capacity !== null) this.#hasWorkers = true
      this.#claimants.delete(name)
    }
    if (!this.#hasWorkers) return
    for (const { kind, session } of claims) {
      const worker = this.#claimants.get(session)
      if (!worker) continue
      const held = worker.held + (kind === 'opened' ? 1 : -1)
      this.#claimants.set(session, { ...worker, held })
    }
  }
}

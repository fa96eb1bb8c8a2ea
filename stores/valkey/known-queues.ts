import type { QueueQuery } from '../../src/kernel/batch/requests.ts'
import type { TaskRecord } from '../../src/kinds/task/record.ts'

/** The first tasks of ready queues, as read. */
export interface ReadQueues {
  /** The keys of the queues that each query sees, by `nameOf`. */
  seenBy: Map<string, readonly string[]>
  /** By key, in rank order. Whole: there are no more. */
  queues: Map<string, { ids: number[]; isWhole: boolean }>
}

interface KnownQueue {
  ids: number[]
  /** Those before it are no longer in the queue. */
  from: number
  isWhole: boolean
  /** What comes behind it in an incomplete queue is not known, and need not be. Null: nothing is known of the queue. */
  last: { rank: number; id: number } | null
}

/** A queue that grows beyond this is known only up to here. */
const LONGEST = 2_000

export const nameOf = ({ capabilities, projectId, trackQueues }: QueueQuery) =>
  JSON.stringify([capabilities, projectId, trackQueues])

/** The first tasks of ready queues, with the changes by this process since they were read. */
export class KnownQueues {
  readonly #records: ReadonlyMap<number, TaskRecord>
  readonly #seenBy = new Map<string, readonly string[]>()
  readonly #queues = new Map<string, KnownQueue>()

  constructor(records: ReadonlyMap<number, TaskRecord>) {
    this.#records = records
  }

  add({ seenBy, queues }: ReadQueues): void {
    for (const [name, keys] of seenBy) this.#seenBy.set(name, keys)
    for (const [key, { ids, isWhole }] of queues) {
      const last = ids.length === 0 ? null : this.#records.get(ids.at(-1)!)!
      this.#queues.set(key, { ids, isWhole, from: 0, last: last && { rank: last.rank!, id: last.id } })
    }
  }

  get isKnown(): boolean {
    return this.#seenBy.size > 0
  }

  forget(): void {
    this.#seenBy.clear()
    this.#queues.clear()
  }

  /** The first tasks that a query finds, as many as it wants of each queue; null when so many are not known. */
  waitingFor(query: QueueQuery): number[] | null {
    const keys = this.#seenBy.get(nameOf(query))
    if (!keys) return null
    const found: number[] = []
    for (const key of keys) if (!this.#take(this.#queues.get(key)!, query.limit, found)) return null
    return keys.length === 1 ? found : found.sort(this.#byRank)
  }

  #take(queue: KnownQueue, limit: number, found: number[]): boolean {
    const { ids, isWhole } = queue
    while (queue.from < ids.length && !this.#isReady(ids[queue.from]!)) queue.from += 1
    let missing = limit
    for (let i = queue.from; i < ids.length && missing > 0; i++) {
      if (!this.#isReady(ids[i]!)) continue
      found.push(ids[i]!)
      missing -= 1
    }
    return isWhole || missing === 0
  }

  #isReady = (id: number) => (this.#records.get(id)?.rank ?? null) !== null

  #byRank = (a: number, b: number) => this.#records.get(a)!.rank! - this.#records.get(b)!.rank! || a - b

  /**
   * A task enters a queue, or changes its place there. Whether it is among those known from now on: behind them it need not
   * be. False, too, if its place is before the last one; then the queues must be read again.
   */
  enter(key: string, { id, rank }: TaskRecord): boolean {
    const queue = this.#queues.get(key)
    // A queue that did not exist when it was asked for: any query may see it.
    if (!queue?.last || rank! < queue.last.rank || (rank === queue.last.rank && id < queue.last.id)) {
      this.forget()
      return false
    }
    if (!queue.isWhole) return false
    if (queue.ids.length - queue.from >= LONGEST) {
      queue.isWhole = false
      return false
    }
    queue.ids.push(id)
    queue.last = { rank: rank!, id }
    return true
  }
}

import { decideAll } from '../core/batch/decide-all.ts'
import { type Request, readSetOf } from '../core/batch/requests.ts'
import { ProjectFairness } from '../core/fairness.ts'
import type { Reply } from '../core/replies.ts'
import { StoreUnavailable, type Transactor } from '../store/store.ts'

interface PendingRequest {
  request: Request
  weight: number
  resolve: (reply: Reply) => void
  reject: (error: unknown) => void
}

/** Requests of one workspace that wait for a transaction, and how many transactions it has under way. */
interface WorkspaceBatch {
  waiting: PendingRequest[]
  /** Of all that wait. */
  weight: number
  underWay: number
  scheduled: boolean
}

/**
 * How many tasks a request is about. A call for a thousand tasks is as much work as a thousand calls: batches that were cut
 * by calls could hold any number of tasks, and then nothing is decided while they are written.
 */
function weightOf(request: Request): number {
  if (request.on === 'new') return request.tasks.length + (request.changes?.length ?? 0)
  if (request.on === 'many') return request.items.length
  return request.on === 'next' ? request.limit : 1
}

/** From here on, one more task in a batch saves little: better two batches at once than one that is twice as long. */
const WORTH_A_BATCH = 500
const REMEMBERED_WORKSPACES = 10_000

/**
 * Turns concurrent requests into few transactions: whatever has gathered when a transaction may start goes into it
 * together. No time is spent waiting for company; under load the company is there already. Each caller is answered
 * after commit.
 */
export class Combiner {
  readonly #store: Transactor
  readonly #lanes = new Map<number, WorkspaceBatch>()
  /** Whose turn it is in each workspace; they outlive their lanes, and the longest unused is forgotten first. */
  readonly #fairness = new Map<number, ProjectFairness>()
  /** In tasks. A request for more than that goes alone. */
  readonly #largestBatch: number
  /** Two: while one batch is being written, the next can be locked and decided. */
  readonly #underWayPerWorkspace: number
  #closed = false
  #idle: (() => void)[] = []

  constructor(store: Transactor, options: { largestBatch?: number; underWayPerWorkspace?: number } = {}) {
    this.#store = store
    // Large: when requests come faster than they are served, larger batches serve more of them.
    this.#largestBatch = options.largestBatch ?? 2_000
    this.#underWayPerWorkspace = options.underWayPerWorkspace ?? 2
  }

  run(workspaceId: number, request: Request): Promise<Reply> {
    if (this.#closed) return Promise.reject(new StoreUnavailable('Baton is shutting down.'))
    return new Promise((resolve, reject) => {
      const lane = this.#lane(workspaceId)
      const weight = weightOf(request)
      lane.waiting.push({ request, weight, resolve, reject })
      lane.weight += weight
      this.#schedule(workspaceId, lane)
    })
  }

  /** Finishes what was begun and takes nothing new. */
  async close(): Promise<void> {
    this.#closed = true
    if (this.#lanes.size > 0) await new Promise<void>((resolve) => this.#idle.push(resolve))
  }

  #lane(workspaceId: number): WorkspaceBatch {
    let lane = this.#lanes.get(workspaceId)
    if (!lane) {
      lane = { waiting: [], weight: 0, underWay: 0, scheduled: false }
      this.#lanes.set(workspaceId, lane)
    }
    return lane
  }

  #schedule(workspaceId: number, lane: WorkspaceBatch): void {
    if (lane.scheduled || lane.underWay >= this.#underWayPerWorkspace) return
    lane.scheduled = true
    // After the present turn of the event loop: requests that were read from sockets together travel together.
    setImmediate(() => {
      lane.scheduled = false
      this.#flush(workspaceId, lane)
      this.#forgetIfIdle(workspaceId, lane)
    })
  }

  #flush(workspaceId: number, lane: WorkspaceBatch): void {
    if (lane.waiting.length === 0 || lane.underWay >= this.#underWayPerWorkspace) return
    const batch = this.#nextBatch(lane)
    lane.underWay += 1
    void this.#transact(workspaceId, batch).finally(() => {
      lane.underWay -= 1
      this.#flush(workspaceId, lane)
      this.#forgetIfIdle(workspaceId, lane)
    })
    if (lane.waiting.length > 0) this.#flush(workspaceId, lane)
  }

  #nextBatch(lane: WorkspaceBatch): PendingRequest[] {
    // Half of a long queue, so that the next batch is decided while this one is written.
    const share = Math.max(Math.ceil(lane.weight / 2), WORTH_A_BATCH)
    const room = Math.min(share, this.#largestBatch)
    let [count, weight] = [1, lane.waiting[0]!.weight]
    while (count < lane.waiting.length && weight + lane.waiting[count]!.weight <= room) {
      weight += lane.waiting[count]!.weight
      count += 1
    }
    lane.weight -= weight
    return lane.waiting.splice(0, count)
  }

  #forgetIfIdle(workspaceId: number, lane: WorkspaceBatch): void {
    if (lane.waiting.length > 0 || lane.underWay > 0 || lane.scheduled) return
    this.#lanes.delete(workspaceId)
    if (this.#lanes.size > 0) return
    for (const resolve of this.#idle.splice(0)) resolve()
  }

  #fairnessOf(workspaceId: number): ProjectFairness {
    const fairness = this.#fairness.get(workspaceId) ?? new ProjectFairness()
    this.#fairness.delete(workspaceId)
    this.#fairness.set(workspaceId, fairness)
    if (this.#fairness.size > REMEMBERED_WORKSPACES)
      this.#fairness.delete(this.#fairness.keys().next().value!)
    return fairness
  }

  async #transact(workspaceId: number, batch: PendingRequest[]): Promise<void> {
    const requests = batch.map(({ request }) => request)
    const fairness = this.#fairnessOf(workspaceId)
    try {
      const replies = await this.#store.transact(workspaceId, readSetOf(requests), (view) => {
        const { replies, changes } = decideAll(view, requests, fairness)
        return { answer: replies, changes }
      })
      for (const [i, waiting] of batch.entries()) waiting.resolve(replies[i]!)
    } catch (error) {
      if (batch.length === 1 || error instanceof StoreUnavailable) {
        for (const waiting of batch) waiting.reject(error)
        return
      }
      // One bad request must not sink the others: halve until it stands alone. Nothing was written, so nothing is done twice.
      const middle = batch.length >> 1
      await this.#transact(workspaceId, batch.slice(0, middle))
      await this.#transact(workspaceId, batch.slice(middle))
    }
  }
}

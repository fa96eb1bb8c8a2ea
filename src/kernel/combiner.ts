import type { Reply } from '../kinds/replies.ts'
import { ProjectFairness } from '../pure/fairness.ts'
import { grouped } from '../pure/grouped.ts'
import type { Answered } from './batch/answered.ts'
import { decideAll } from './batch/decide-all.ts'
import type { Change } from './batch/moved.ts'
import { type NewWork, type Request, readSetOf, workOf } from './batch/requests.ts'
import type { Follow, Following } from './reactions.ts'
import { StoreUnavailable, type Transactor } from './store/store.ts'

interface PendingRequest {
  request: Request
  weight: number
  following: Following
  resolve: (reply: Reply) => void
  reject: (error: unknown) => void
}

/** Answers one caller. */
type Answer = () => void
const resolving =
  ({ resolve }: PendingRequest, reply: Reply): Answer =>
  () =>
    resolve(reply)
const rejecting =
  ({ reject }: PendingRequest, error: unknown): Answer =>
  () =>
    reject(error)

/** Requests of one workspace that wait for a transaction, and how many of its transactions are in flight. */
interface WorkspaceBatch {
  waiting: PendingRequest[]
  /** The sum over all waiting requests. */
  weight: number
  underWay: number
  /** Transactions that have ended, and whose callers are answered in a moment. */
  unanswered: number
  scheduled: boolean
}

/**
 * How many tasks a request touches. A call for a thousand tasks is as much work as a thousand calls: a limit by calls would
 * allow batches of any size, and no other request is decided while such a batch is written.
 */
function weightOf(request: Request): number {
  switch (request.on) {
    case 'new':
      return weightOfWork(request)
    case 'many':
      return request.items.length
    case 'next':
      return request.limit
    case 'taskThenNext':
      return 1 + request.next.limit
    case 'task':
      return request.command.kind === 'countUpstream' ? request.command.edges.length || 1 : 1
    default:
      return 1 + weightOfWork(workOf(request))
  }
}

const weightOfWork = (work: NewWork | null) => (work ? work.tasks.length + (work.changes?.length ?? 0) : 0)

/** Beyond this size, one more task in a batch saves little: two concurrent batches are better than one twice as long. */
const SMALLEST_FULL_BATCH = 500
const CACHED_WORKSPACES = 10_000
const AFTERWARDS: Following = {}

/** Hears of each batch, once it is committed and before its callers are answered. Must not throw. */
export type OnAnswered = (workspaceId: number, answered: Answered) => void

/**
 * Combines concurrent requests into few transactions: all requests that are waiting when a transaction can start go into
 * it. No request is delayed to fill a batch; under load batches fill on their own. Each caller is answered after commit.
 */
export class Combiner {
  readonly #store: Transactor
  readonly #follow: Follow
  readonly #answered: OnAnswered
  readonly #batches = new Map<number, WorkspaceBatch>()
  /** The fairness state of each workspace. It outlives the waiting batch; the least recently used is evicted first. */
  readonly #fairness = new Map<number, ProjectFairness>()
  /** In tasks. A larger request gets a transaction of its own. */
  readonly #largestBatch: number
  readonly #smallestFullBatch: number
  /** Default 2: while one batch is written, the next is locked and decided. One more may start if it is full. */
  readonly #underWayPerWorkspace: number
  #closed = false
  #idle: (() => void)[] = []

  constructor(
    store: Transactor,
    options: { largestBatch?: number; underWayPerWorkspace?: number } = {},
    follow: Follow = async () => undefined,
    answered: OnAnswered = () => undefined,
  ) {
    this.#store = store
    this.#follow = follow
    this.#answered = answered
    // Large: under overload, larger batches have a higher throughput.
    this.#smallestFullBatch = store.smallestFullBatch ?? SMALLEST_FULL_BATCH
    this.#largestBatch = options.largestBatch ?? 2_000
    this.#underWayPerWorkspace = options.underWayPerWorkspace ?? 2
  }

  run(workspaceId: number, request: Request, following = AFTERWARDS): Promise<Reply> {
    if (this.#closed) return Promise.reject(new StoreUnavailable('Baton is shutting down.'))
    return new Promise((resolve, reject) => {
      const pending = this.#batchOf(workspaceId)
      const weight = weightOf(request)
      pending.waiting.push({ request, weight, following, resolve, reject })
      pending.weight += weight
      this.#schedule(workspaceId, pending)
    })
  }

  /** Finishes accepted requests and refuses new ones. */
  async close(): Promise<void> {
    this.#closed = true
    if (this.#batches.size > 0) await new Promise<void>((resolve) => this.#idle.push(resolve))
  }

  #batchOf(workspaceId: number): WorkspaceBatch {
    let pending = this.#batches.get(workspaceId)
    if (!pending) {
      pending = { waiting: [], weight: 0, underWay: 0, unanswered: 0, scheduled: false }
      this.#batches.set(workspaceId, pending)
    }
    return pending
  }

  #schedule(workspaceId: number, pending: WorkspaceBatch): void {
    if (pending.scheduled || !this.#mayStart(pending)) return
    pending.scheduled = true
    // After the current event loop iteration: requests read from sockets together are batched together.
    setImmediate(() => {
      pending.scheduled = false
      this.#flush(workspaceId, pending)
      this.#removeIfIdle(workspaceId, pending)
    })
  }

  #flush(workspaceId: number, pending: WorkspaceBatch): void {
    if (pending.waiting.length === 0 || !this.#mayStart(pending)) return
    pending.underWay += 1
    void this.#transact(workspaceId, this.#nextBatch(pending)).then((answers) =>
      this.#finish(workspaceId, pending, answers),
    )
    if (pending.waiting.length > 0) this.#flush(workspaceId, pending)
  }

  /** While two batches are both being written, this process would be idle: a full third one is decided meanwhile. */
  #mayStart({ underWay, weight }: WorkspaceBatch): boolean {
    const free = this.#underWayPerWorkspace - underWay
    return free > 0 || (free === 0 && weight >= SMALLEST_FULL_BATCH)
  }

  /** The next batch is sent before the callers are answered: what they do next would delay it by milliseconds. */
  #finish(workspaceId: number, pending: WorkspaceBatch, answers: readonly Answer[]): void {
    const isDelayed = pending.waiting.length + pending.unanswered > 0
    const answerAll = () => {
      pending.unanswered -= 1
      for (const answer of answers) answer()
      this.#removeIfIdle(workspaceId, pending)
    }
    pending.underWay -= 1
    pending.unanswered += 1
    this.#flush(workspaceId, pending)
    if (isDelayed) setImmediate(answerAll)
    else answerAll()
  }

  #nextBatch(pending: WorkspaceBatch): PendingRequest[] {
    // Half of a long queue, so that the next batch is decided while this one is written.
    const share = Math.max(Math.ceil(pending.weight / 2), this.#smallestFullBatch)
    const room = Math.min(share, this.#largestBatch)
    let [count, weight] = [1, pending.waiting[0]!.weight]
    while (count < pending.waiting.length && weight + pending.waiting[count]!.weight <= room) {
      weight += pending.waiting[count]!.weight
      count += 1
    }
    pending.weight -= weight
    return pending.waiting.splice(0, count)
  }

  #removeIfIdle(workspaceId: number, pending: WorkspaceBatch): void {
    if (pending.waiting.length + pending.underWay + pending.unanswered > 0 || pending.scheduled) return
    this.#batches.delete(workspaceId)
    if (this.#batches.size > 0) return
    for (const resolve of this.#idle.splice(0)) resolve()
  }

  #fairnessOf(workspaceId: number): ProjectFairness {
    const fairness = this.#fairness.get(workspaceId) ?? new ProjectFairness()
    this.#fairness.delete(workspaceId)
    this.#fairness.set(workspaceId, fairness)
    if (this.#fairness.size > CACHED_WORKSPACES) this.#fairness.delete(this.#fairness.keys().next().value!)
    return fairness
  }

  /** Returns what is left to do: to answer each caller. */
  async #transact(workspaceId: number, batch: readonly PendingRequest[]): Promise<Answer[]> {
    const requests = batch.map(({ request }) => request)
    const fairness = this.#fairnessOf(workspaceId)
    try {
      const { replies, moved, records, newKeys } = await this.#store.transact(workspaceId, {
        on: 'batch',
        reads: readSetOf(requests),
        decide(view) {
          const { changes, ...answer } = decideAll(view, requests, fairness)
          const newKeys = new Set(changes.newReplies.map(({ key }) => key))
          return { answer: { ...answer, records: view.records, newKeys }, changes }
        },
      })
      this.#answered(workspaceId, { requests, replies, records, newKeys })
      if (moved.length === 0) return batch.map((one, i) => resolving(one, replies[i]!))
      const movedBy = grouped(moved, ({ place }) => place)
      return batch.map((one, i) => {
        const own = movedBy.get(i)
        return own ? this.#following(workspaceId, one, replies[i]!, own) : resolving(one, replies[i]!)
      })
    } catch (error) {
      if (batch.length === 1 || error instanceof StoreUnavailable)
        return batch.map((one) => rejecting(one, error))
      // One bad request must not fail the others: halve until it is alone. Nothing was written, so nothing happens twice.
      const middle = batch.length >> 1
      const first = await this.#transact(workspaceId, batch.slice(0, middle))
      return [...first, ...(await this.#transact(workspaceId, batch.slice(middle)))]
    }
  }

  #following =
    (workspaceId: number, one: PendingRequest, reply: Reply, moved: readonly Change[]): Answer =>
    () => {
      const { waits, within } = one.following
      const followed = this.#follow(workspaceId, moved, within)
      // A reaction that waits for what follows from its own requests would wait for itself.
      if (waits && !within) void followed.then(() => one.resolve(reply))
      else one.resolve(reply)
    }
}

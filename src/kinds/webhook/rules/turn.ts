import type { DeliveryState } from './delivery.ts'
import { MOST_ATTEMPTS, retryAfterMs } from './schedule.ts'

/**
 * A turn of a webhook: what it sends before it writes down how that went. What is about the same thing is in a lane, and goes out one after
 * the other; a failure stops its lane, and no other.
 */

/** One that is stored: it failed before, or waited behind one that did. */
export interface StoredDelivery {
  seq: number
  type: string
  entity: string
  lane: string
  attempts: number
  firstAt: number | null
}

/** Something to send. Those that are new have no row yet. */
export interface Job extends StoredDelivery {
  isNew: boolean
}

/** How an attempt ended. */
export interface Attempt {
  isDelivered: boolean
  httpStatus: number | null
  durationMs: number
  answer: string | null
  error: string | null
  /** The receiver is gone for good. */
  isGone: boolean
  /** It asked to be left alone for so long. */
  holdMs: number | null
  at: number
}

/** How a row is to be written. */
export interface WrittenDelivery extends StoredDelivery {
  state: DeliveryState
  lastAt: number | null
  retryInMs: number | null
  durationMs: number | null
  httpStatus: number | null
  answer: string | null
  error: string | null
}

/** So many things in a row of which none arrived: the receiver is held, and the rest stays in the log. */
const FAILURES_THAT_HOLD = 5

export class Turn {
  /** What can be sent now, in the order of the log: the first of each lane. */
  readonly #ready: Job[] = []
  /** What comes after it in its lane. */
  readonly #behind = new Map<string, Job[]>()
  /** Lanes in which something failed, or waits that this turn does not have. */
  readonly #closed: Set<string>
  readonly #fresh: readonly Job[]
  /** New ones that were not sent. */
  readonly #unsent: Set<Job>
  readonly #written: WrittenDelivery[] = []
  readonly #dropped: Job[] = []
  readonly #random: () => number
  #lastStarted = 0
  #failuresInRow = 0
  #delivered = 0
  #failed = 0
  /** Nothing more is sent in this turn. */
  isHeld = false
  isGone = false
  /** For how long the receiver asked to be left alone. */
  holdMs: number | null = null

  /**
   * `due`: rows in the order of the log, whole lanes or their beginnings; `fresh`: events after them; `closed`: lanes of which a row waits
   * that is not among `due`.
   */
  constructor(
    due: readonly StoredDelivery[],
    fresh: readonly StoredDelivery[],
    closed: ReadonlySet<string>,
    random: () => number,
  ) {
    this.#random = random
    this.#closed = new Set(closed)
    this.#fresh = fresh.map((one) => ({ ...one, isNew: true }))
    this.#unsent = new Set(this.#fresh)
    for (const job of due) this.#add({ ...job, isNew: false })
    for (const job of this.#fresh) if (!closed.has(job.lane)) this.#add(job)
    this.#ready.sort((a, b) => a.seq - b.seq)
  }

  #add(job: Job): void {
    const behind = this.#behind.get(job.lane)
    if (behind) behind.push(job)
    else {
      this.#behind.set(job.lane, [])
      this.#ready.push(job)
    }
  }

  /** What is sent next; null: nothing, unless something that is under way makes room for more. */
  next(): Job | null {
    const job = this.isHeld ? undefined : this.#ready.shift()
    if (!job) return null
    this.#unsent.delete(job)
    this.#lastStarted = Math.max(this.#lastStarted, job.seq)
    return job
  }

  /** Null: the format has no word for it, since it was changed. */
  ended(job: Job, attempt: Attempt | null): void {
    if (attempt) this.#count(attempt)
    if (attempt) this.#written.push(written(job, attempt, this.#random()))
    else if (!job.isNew) this.#dropped.push(job)
    // One that is given up is over like one that has arrived.
    if (attempt && !attempt.isDelivered && job.attempts + 1 < MOST_ATTEMPTS) this.#closed.add(job.lane)
    else this.#insert(this.#behind.get(job.lane)!.shift())
  }

  /** It was stopped before it was known how it ended: it is sent again. */
  stopped(job: Job): void {
    if (job.isNew) this.#unsent.add(job)
  }

  #count({ isDelivered, isGone, holdMs }: Attempt): void {
    if (isDelivered) this.#delivered++
    else this.#failed++
    this.#failuresInRow = isDelivered ? 0 : this.#failuresInRow + 1
    if (holdMs !== null) this.holdMs = Math.max(this.holdMs ?? 0, holdMs)
    this.isGone ||= isGone
    this.isHeld ||= isGone || holdMs !== null || this.#failuresInRow >= FAILURES_THAT_HOLD
  }

  #insert(job: Job | undefined): void {
    if (!job) return
    const place = this.#ready.findIndex(({ seq }) => seq > job.seq)
    this.#ready.splice(place === -1 ? this.#ready.length : place, 0, job)
  }

  /**
   * What is to be written, when nothing is under way. `seq`: how far the log is handled. What was not sent before that is a row; what comes
   * after it is read from the log again.
   */
  result(upTo: number) {
    const firstLeft = this.#fresh.find((job) => this.#unsent.has(job) && !this.#closed.has(job.lane))?.seq
    const seq = firstLeft === undefined ? upTo : Math.max(firstLeft - 1, this.#lastStarted)
    const left = [...this.#unsent].filter((job) => job.seq <= seq)
    const rows = [...this.#written, ...left.map(waiting)]
    return {
      seq,
      rows,
      /** The numbers of rows that are to be deleted. */
      dropped: this.#dropped.map(({ seq: number }) => number),
      /** In which the first row that waits may have to be made due. */
      lanes: [...new Set([...rows, ...this.#dropped].map(({ lane }) => lane))],
      delivered: this.#delivered,
      failed: this.#failed,
    }
  }
}

const NOTHING = { durationMs: null, httpStatus: null, answer: null, error: null }

const waiting = ({ isNew: _isNew, ...job }: Job): WrittenDelivery => ({
  ...{ ...job, ...NOTHING, state: 'waiting', lastAt: null, retryInMs: null },
})

function written({ isNew: _isNew, ...job }: Job, attempt: Attempt, random: number): WrittenDelivery {
  const { isDelivered, httpStatus, durationMs, answer, error, at } = attempt
  const attempts = job.attempts + 1
  const retryInMs = isDelivered ? null : retryAfterMs(attempts, random)
  return {
    ...{ ...job, attempts, httpStatus, durationMs, answer, error, retryInMs },
    state: isDelivered ? 'delivered' : retryInMs === null ? 'failed' : 'retrying',
    ...{ firstAt: job.firstAt ?? at, lastAt: at },
  }
}

import { quiet } from './quiet.ts'
import type { Random } from './random.ts'
import type { Trace } from './trace.ts'

export interface Job {
  readonly at: number
  readonly label: string
  readonly run: () => void
  cancelled: boolean
}

export const START = Date.UTC(2030, 0, 1)

/**
 * Time and order of a run. Every wait, for a message, a lock or a time, is a job here. Jobs that are due run one at a time
 * in an order that only the seed decides; when there are none, time jumps to the next one.
 */
export class Scheduler {
  now = START
  readonly #random: Random
  readonly #trace: Trace
  readonly #ready: Job[] = []
  /** Latest first, so that the next one is popped off the end. */
  readonly #later: Job[] = []
  readonly #outside = new Set<Promise<unknown>>()
  #shown = { at: START, text: '0.000' }

  constructor(random: Random, trace: Trace) {
    this.#random = random
    this.#trace = trace
  }

  after(ms: number, label: string, run: () => void): Job {
    const job: Job = { at: this.now + Math.max(0, Math.round(ms)), label, run, cancelled: false }
    if (job.at <= this.now) this.#ready.push(job)
    else {
      let i = this.#later.length
      while (i > 0 && this.#later[i - 1]!.at <= job.at) i--
      this.#later.splice(i, 0, job)
    }
    return job
  }

  sleep(ms: number, label: string): Promise<void> {
    return new Promise((resolve) => this.after(ms, label, resolve))
  }

  /** A wait for a real server. It takes none of the run's time, and no step ends before it does. */
  outside<T>(wait: Promise<T>): Promise<T> {
    this.#outside.add(wait)
    const done = () => this.#outside.delete(wait)
    wait.then(done, done)
    return wait
  }

  /** Runs one job and everything that follows from it up to the next wait. False when nothing waits. */
  async step(): Promise<boolean> {
    const job = this.#next()
    if (job) {
      this.#trace.add(`${this.#clock()} ${job.label}`)
      job.run()
    }
    await this.#quiet()
    return job !== null
  }

  async #quiet(): Promise<void> {
    for (;;) {
      await quiet()
      if (this.#outside.size === 0) return
      await Promise.allSettled(this.#outside)
    }
  }

  /** The time of the run in seconds, to be read by people. */
  #clock(): string {
    if (this.#shown.at !== this.now)
      this.#shown = { at: this.now, text: ((this.now - START) / 1000).toFixed(3) }
    return this.#shown.text
  }

  #next(): Job | null {
    for (;;) {
      while (this.#ready.length > 0) {
        const i = this.#random.int(0, this.#ready.length - 1)
        const job = this.#ready[i]!
        this.#ready[i] = this.#ready.at(-1)!
        this.#ready.pop()
        if (!job.cancelled) return job
      }
      const next = this.#later.pop()
      if (!next) return null
      if (next.cancelled) continue
      this.now = next.at
      this.#ready.push(next)
      while (this.#later.at(-1)?.at === this.now) this.#ready.push(this.#later.pop()!)
    }
  }
}

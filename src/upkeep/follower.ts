import type { StoredEvent } from '../core/events.ts'
import { backoffMs } from '../core/retry.ts'
import type { LogFollowers, LogRange } from '../store/log-followers.ts'
import type { Store } from '../store/store.ts'
import { pause } from './pause.ts'

/** Does something about the events of workspaces, in their order; see store/log-followers.ts for what it can rely on. */
export interface Follower {
  name: string
  /** Resolves when the events are handled. When it throws, it gets the same events again, and perhaps more. */
  handle(workspaceId: number, events: readonly StoredEvent[]): Promise<void>
}

interface FollowerOptions {
  /** How many workspaces at a time, and how many events of each. */
  workspaces: number
  events: number
  leaseMs: number
  /** For what no commit announces: lost notices, waits and leases that end. */
  pollMs: number
  waitMs: (failures: number) => number
}

const USUAL: FollowerOptions = {
  workspaces: 8,
  events: 500,
  leaseMs: 30_000,
  pollMs: 1_000,
  waitMs: backoffMs,
}

interface Log {
  warn(about: object, message: string): void
}

type FollowedStore = Pick<Store, 'events' | 'onCommit'> & { followers: LogFollowers }

/** Runs a follower on this node. Any number of nodes may run it: each range of the log is leased to one of them. */
export class FollowerRunner {
  readonly #store: FollowedStore
  readonly #follower: Follower
  readonly #log: Log
  readonly #options: FollowerOptions
  readonly #stopping = new AbortController()
  #stopListening: () => void = () => undefined
  #wake = new AbortController()
  #running: Promise<void> = Promise.resolve()

  constructor(store: FollowedStore, follower: Follower, log: Log, options: Partial<FollowerOptions> = {}) {
    this.#store = store
    this.#follower = follower
    this.#log = log
    this.#options = { ...USUAL, ...options }
  }

  start(): this {
    this.#stopListening = this.#store.onCommit((_workspaceId, { events }) => {
      if (events > 0) this.#wake.abort()
    })
    this.#running = this.#run()
    return this
  }

  /** Finishes the ranges that it works on. */
  async stop(): Promise<void> {
    this.#stopListening()
    this.#stopping.abort()
    this.#wake.abort()
    await this.#running
  }

  async #run(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      // Before the read: a commit during the read is not missed.
      this.#wake = new AbortController()
      const found = await this.#handleNext().catch((error) => {
        this.#log.warn(
          { err: error, follower: this.#follower.name },
          'the log could not be followed; retrying',
        )
        return 0
      })
      if (found === 0 && !this.#stopping.signal.aborted) await pause(this.#options.pollMs, this.#wake.signal)
    }
  }

  async #handleNext(): Promise<number> {
    const ranges = await this.#store.followers.next(this.#follower.name, this.#options)
    await Promise.all(ranges.map((range) => this.#handle(range)))
    return ranges.length
  }

  async #handle(range: LogRange): Promise<void> {
    const { followers } = this.#store
    const { leaseMs, waitMs } = this.#options
    // When a renewal fails, the next one is the retry; when the lease is lost, `advance` has no effect.
    const renewal = setInterval(
      () => void followers.renew(range, leaseMs).catch(() => undefined),
      leaseMs / 3,
    )
    try {
      const { workspaceId, after, upTo } = range
      await this.#follower.handle(workspaceId, await this.#store.events(workspaceId, after, upTo - after))
      await followers.advance(range)
    } catch (error) {
      const { workspaceId, follower, failures } = range
      this.#log.warn({ err: error, workspaceId, follower, failures }, 'events could not be handled; retrying')
      await followers.postpone(range, waitMs(failures + 1))
    } finally {
      clearInterval(renewal)
    }
  }
}

import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import type { LogRange } from '../door/execution.ts'
import type { ServerStore } from '../door/server-store.ts'
import { type Followed, isFollowed, type LiveOutput } from '../kernel/live-output.ts'
import type { NodeMessage } from '../kernel/store/node-messages.ts'
import type { LogPage } from '../logs/protocol.ts'
import { OutputSender, type SentOutput } from './sent-output.ts'
import type { Timers } from './timers.ts'

/** Which output the readers of other nodes want, as those nodes say. A node that says nothing for a while wants nothing. */

/** How often a node repeats what its readers want. */
const REPEAT_EVERY_MS = 5_000
const KNOWN_FOR_MS = 3 * REPEAT_EVERY_MS

interface Wanted {
  workspaceId: number
  /** Null: all. */
  runs: ReadonlySet<string> | null
  until: number
}

export class OtherFollowers {
  readonly #timers: Timers
  /** By node and workspace. */
  readonly #wanted = new Map<string, Wanted>()

  constructor(timers: Timers) {
    this.#timers = timers
  }

  hear(node: string, { workspaceId, runs }: Extract<NodeMessage, { follows: unknown }>['follows']): void {
    const name = `${node}/${workspaceId}`
    this.#wanted.delete(name)
    if (runs?.length === 0) return
    const until = this.#timers.now() + KNOWN_FOR_MS
    this.#wanted.set(name, { workspaceId, runs: runs && new Set(runs), until })
  }

  want({ workspaceId, runId }: { workspaceId: number; runId: string }): boolean {
    if (this.#wanted.size === 0) return false
    const now = this.#timers.now()
    for (const wanted of this.#wanted.values())
      if (wanted.workspaceId === workspaceId && wanted.until > now && (wanted.runs?.has(runId) ?? true))
        return true
    return false
  }

  forgetSilent(): void {
    const now = this.#timers.now()
    for (const [name, { until }] of this.#wanted) if (until <= now) this.#wanted.delete(name)
  }
}

/**
 * Output and logs of runs on other nodes. A node says what its readers want; the node that has the run puts that, and nothing
 * else, into rows of the database, and tells the others. Output that nobody wants costs nothing.
 */

/** A node that has the log answers within this time. */
const ANSWER_WITHIN_MS = 2_000
/** A payload is limited to 8,000 bytes. */
const MOST_NAMED_RUNS = 150
/** A run without output for so long is read from the start of the tail again. */
const FORGET_AFTER_MS = 60_000

interface Place {
  /** The last row that was read; null: none. */
  number: number | null
  at: number
  isReading: boolean
  readsAgain: boolean
}

interface Options {
  store: ServerStore
  live: LiveOutput
  timers: Timers
  log: Logger
  /** A page of a log that is on this node; null: it is not. */
  readHere: (workspaceId: number, runId: string, range: LogRange) => Promise<LogPage | null>
  /** There may be a message for a run of this node. */
  onCallback: (runId: string) => void
}

export class OutputRelay {
  readonly #options: Options
  readonly #others: OtherFollowers
  readonly #sender: OutputSender
  readonly #places = new Map<string, Place>()
  readonly #asked = new Map<string, () => void>()
  #announced: ReadonlySet<number> = new Set()
  #stops: (() => void)[] = []

  constructor(options: Options) {
    this.#options = options
    this.#others = new OtherFollowers(options.timers)
    this.#sender = new OutputSender(options.store, options.timers)
  }

  start(): this {
    const { store, live, timers } = this.#options
    this.#stops = [
      store.onNodeMessage((message, from) => this.#hear(message, from)),
      live.onPublished((chunk) =>
        this.#others.want(chunk) ? this.#sender.send(chunk) : this.#sender.remember(chunk),
      ),
      live.onDemand(() => this.#sayDemand()),
      timers.every(REPEAT_EVERY_MS, () => this.#tick()),
    ]
    store.broadcast({ whoFollows: true })
    return this
  }

  stop(): void {
    for (const stop of this.#stops) stop()
    this.#sender.close()
    for (const done of this.#asked.values()) done()
  }

  /** A page of a log that another node has; null: none has answered. */
  async read(workspaceId: number, runId: string, range: LogRange): Promise<LogPage | null> {
    const { store, timers } = this.#options
    const id = randomUUID()
    let cancel = () => {}
    const answered = new Promise<void>((resolve) => {
      this.#asked.set(id, resolve)
      cancel = timers.after(ANSWER_WITHIN_MS, resolve)
    })
    store.broadcast({ asks: { id, workspaceId, runId, ...range } })
    await answered
    cancel()
    this.#asked.delete(id)
    return ((await store.logTail.take(workspaceId, runId, id)) as LogPage | undefined) ?? null
  }

  #hear(message: NodeMessage | null, from = ''): void {
    if (message === null || 'whoFollows' in message) this.#sayDemand()
    else if ('callback' in message) this.#options.onCallback(message.callback.runId)
    else if ('follows' in message) {
      this.#others.hear(from, message.follows)
      this.#sender.sendRecent((chunk) => this.#others.want(chunk))
    } else if ('output' in message) this.#readNew(message.output)
    else if ('answers' in message) this.#asked.get(message.answers.id)?.()
    else if ('asks' in message)
      this.#answer(message.asks).catch((error) =>
        this.#options.log.warn({ err: error }, 'a log could not be read for another node'),
      )
  }

  #sayDemand(): void {
    const demand = this.#options.live.demand()
    // Workspaces whose output was wanted before and is not wanted now.
    const ended = [...this.#announced].filter((workspaceId) => !demand.has(workspaceId))
    this.#announced = new Set(demand.keys())
    for (const workspaceId of ended) this.#say(workspaceId, [])
    for (const [workspaceId, followed] of demand) this.#say(workspaceId, followed)
  }

  #say(workspaceId: number, followed: Followed): void {
    const runs = followed === 'all' || followed.length > MOST_NAMED_RUNS ? null : followed
    this.#options.store.broadcast({ follows: { workspaceId, runs } })
  }

  #tick(): void {
    this.#sayDemand()
    this.#others.forgetSilent()
    const before = this.#options.timers.now() - FORGET_AFTER_MS
    for (const [runId, { at }] of this.#places) if (at < before) this.#places.delete(runId)
    // What stays is deleted by retention.
    this.#sender.trim().catch(() => undefined)
  }

  #readNew({ workspaceId, runs }: { workspaceId: number; runs: readonly string[] }): void {
    const followed = this.#options.live.demand().get(workspaceId)
    for (const runId of runs) if (isFollowed(followed, runId)) this.#readTail(workspaceId, runId)
  }

  /** One read of a run at a time; a hint meanwhile causes one more. */
  #readTail(workspaceId: number, runId: string): void {
    const place = this.#places.get(runId) ?? { number: null, at: 0, isReading: false, readsAgain: false }
    this.#places.set(runId, place)
    place.at = this.#options.timers.now()
    if (place.isReading) {
      place.readsAgain = true
      return
    }
    place.isReading = true
    this.#show(workspaceId, runId, place)
      // The next hint reads it.
      .catch(() => undefined)
      .finally(() => {
        place.isReading = false
        if (!place.readsAgain) return
        place.readsAgain = false
        this.#readTail(workspaceId, runId)
      })
  }

  async #show(workspaceId: number, runId: string, place: Place): Promise<void> {
    const { store, live } = this.#options
    for (const { number, body } of await store.logTail.after(workspaceId, runId, place.number)) {
      place.number = number
      const { agent, chunks } = body as SentOutput
      for (const chunk of chunks) live.show({ workspaceId, runId, agent, ...chunk })
    }
  }

  async #answer(asked: Extract<NodeMessage, { asks: unknown }>['asks']): Promise<void> {
    const { id, workspaceId, runId, offset, limitBytes } = asked
    const { store, readHere } = this.#options
    const page = await readHere(workspaceId, runId, { offset, limitBytes })
    if (!page) return
    // The node that asked may have given up; then the answer is trimmed like output.
    this.#sender.hasRows(workspaceId, runId)
    await store.logTail.add(workspaceId, [{ runId, asked: id, body: page }], { answers: { id } })
  }
}

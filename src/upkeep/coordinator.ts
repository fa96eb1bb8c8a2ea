import { Refused } from '../core/errors.ts'
import { Assignment } from '../flow/assignment.ts'
import type { Coordination, CoordinatorState, PassReport } from '../flow/coordination.ts'
import type { ServerKernel } from '../kernel/server-kernel.ts'
import { StoreUnavailable } from '../store/store.ts'
import type { Leadership } from './leadership.ts'
import { assignIn, CHORES, STEPS, type UpkeepStep } from './pass.ts'
import { pause } from './pause.ts'
import { BATCH } from './steps.ts'

const TICK_MS = 250
const GATHER_MS = 5
/** While the database is away: the first wait, and the longest. */
const FIRST_WAIT_MS = 250
const LONGEST_WAIT_MS = 5_000
/** Away for longer than this, it is a matter for somebody who can do something about it. */
const TOO_LONG_MS = 300_000

interface Log {
  info(about: object, message: string): void
  warn(about: object, message: string): void
  error(about: object, message: string): void
}

/**
 * Keeps work going. Of all nodes the one that holds the office does it: all steps on a tick, as a net that nothing falls
 * through, and assignment at once when something was committed that may allow it. It reads anew what is to be done each
 * time and keeps nothing that matters, so it may stop anywhere and another may go on; what it writes carries its term,
 * and is refused when that is over.
 */
export class Coordinator implements Coordination {
  readonly #kernel: ServerKernel
  readonly #leadership: Leadership
  readonly #nodeId: string
  readonly #log: Log
  readonly #stopping = new AbortController()
  /** When each step was last done. */
  readonly #doneAt = new Map<Pick<UpkeepStep, 'run'>, number>()
  readonly #assignable = new Set<number>()
  readonly #assignment = new Assignment()
  /** Workspaces in which something happened that may allow an assignment. */
  readonly #stirred = new Set<number>()
  #wake = new AbortController()
  #running: Promise<void> = Promise.resolve()
  #stopListening: () => void = () => undefined
  #heard: { term: number; since: number } | null = null
  #passes = 0
  #lastPass: { at: number; ms: number } | null = null
  #away: { since: number; waitMs: number; isTold: boolean } | null = null

  constructor(kernel: ServerKernel, leadership: Leadership, nodeId: string, log: Log) {
    this.#kernel = kernel
    this.#leadership = leadership
    this.#nodeId = nodeId
    this.#log = log
  }

  start(): this {
    this.#stopListening = this.#kernel.store.onCommit((workspaceId, { events }) => {
      if (events === 0 || !this.#assignable.has(workspaceId) || this.#leadership.term === null) return
      this.#stirred.add(workspaceId)
      this.#wake.abort()
    })
    this.#running = this.#run()
    return this
  }

  /** Ends what it is doing and lets go of the office, so that another node need not wait for the end of the lease. */
  async stop(): Promise<void> {
    this.#stopListening()
    this.#stopping.abort()
    this.#wake.abort()
    await this.#running
    await this.#leadership.resign()
  }

  state(): CoordinatorState {
    return {
      nodeId: this.#nodeId,
      term: this.#leadership.term,
      passes: this.#passes,
      lastPassAt: this.#lastPass?.at ?? null,
      lastPassMs: this.#lastPass?.ms ?? null,
      awaySince: this.#away?.since ?? null,
    }
  }

  async recover(only: number): Promise<PassReport> {
    const did = nothing()
    const since = await this.#kernel.store.cluster.listeningSince()
    const context = {
      ...this.#contextOf(undefined),
      listeningSince: since,
      assignable: new Set<number>(),
      only,
    }
    for (const { name, run } of STEPS) did[name] = await run(context)
    return did
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      try {
        const term = await this.#leadership.hold()
        if (term !== null) await this.#pass(term)
        this.#back()
        await this.#tick(term)
      } catch (error) {
        await pause(this.#stumble(error), signal)
      }
    }
  }

  /** Until the next pass; meanwhile it assigns where something happened. */
  async #tick(term: number | null): Promise<void> {
    const until = performance.now() + TICK_MS
    for (;;) {
      const left = until - performance.now()
      if (left <= 0 || this.#stopping.signal.aborted) return
      if (this.#stirred.size === 0) await pause(left, this.#wake.signal)
      // What comes in the same moment is seen to together.
      await pause(GATHER_MS, this.#stopping.signal)
      this.#wake = new AbortController()
      if (this.#stopping.signal.aborted) return
      const stirred = [...this.#stirred]
      this.#stirred.clear()
      if (term === null || this.#leadership.term !== term) continue
      await Promise.all(stirred.map((workspaceId) => assignIn(this.#contextOf(term), workspaceId)))
    }
  }

  async #pass(term: number): Promise<void> {
    if (this.#heard?.term !== term)
      this.#heard = { term, since: await this.#kernel.store.cluster.listeningSince() }
    const began = performance.now()
    this.#stirred.clear()
    for (const step of [...STEPS, ...CHORES]) {
      const lastly = this.#doneAt.get(step) ?? Number.NEGATIVE_INFINITY
      if (began - lastly < step.everyMs) continue
      await this.#repeat(step, term).catch((error) => {
        // What ails one step must not keep the others from being done.
        if (isEndOfPass(error)) throw error
        this.#log.error({ err: error, step: step.run.name }, 'a step of the coordinator failed')
      })
      this.#doneAt.set(step, began)
    }
    this.#passes += 1
    this.#lastPass = { at: Date.now(), ms: performance.now() - began }
  }

  /** Again while as much was due as is done at a time. Between, the office is kept: who cannot keep it stops. */
  async #repeat({ run }: Pick<UpkeepStep, 'run'>, term: number): Promise<void> {
    for (;;) {
      if ((await this.#leadership.hold()) !== term)
        throw new Refused('NOT_LEADER', `Term ${term} of the coordinator is over.`)
      const done = await run(this.#contextOf(term))
      if (done < BATCH || this.#stopping.signal.aborted) return
    }
  }

  #contextOf(term: number | undefined) {
    const since = this.#heard?.since
    return {
      kernel: this.#kernel,
      term,
      listeningSince: since,
      assignable: this.#assignable,
      assignment: this.#assignment,
    }
  }

  /** How long to wait before it is tried again. */
  #stumble(error: unknown): number {
    if (error instanceof Refused && error.code === 'NOT_LEADER') {
      this.#log.info({ node: this.#nodeId }, 'another node coordinates now')
      return 0
    }
    if (!(error instanceof StoreUnavailable)) {
      this.#log.error({ err: error }, 'a pass of the coordinator failed and will be tried again')
      return TICK_MS
    }
    // Once is a hiccup: this process may have been busy for longer than its office lasts.
    if (this.#away?.waitMs === FIRST_WAIT_MS * 2)
      this.#log.warn({ err: error }, 'the database cannot be reached; the coordinator tries again')
    this.#away ??= { since: Date.now(), waitMs: FIRST_WAIT_MS, isTold: false }
    const away = this.#away
    if (!away.isTold && Date.now() - away.since > TOO_LONG_MS) {
      away.isTold = true
      this.#log.error({ since: new Date(away.since) }, 'the database has been away for five minutes')
    }
    const waitMs = away.waitMs
    away.waitMs = Math.min(away.waitMs * 2, LONGEST_WAIT_MS)
    // Nodes that lost the database together must not all come back to it at once.
    return waitMs * (0.75 + Math.random() / 2)
  }

  #back(): void {
    if (this.#away) this.#log.info({ since: new Date(this.#away.since) }, 'the database is back')
    this.#away = null
  }
}

/** Neither the office nor the database is there any more: whatever came next would fail as well. */
const isEndOfPass = (error: unknown) =>
  error instanceof StoreUnavailable || (error instanceof Refused && error.code === 'NOT_LEADER')

const nothing = (): PassReport => ({
  agentsJudged: 0,
  sessionsJudged: 0,
  tasksMoved: 0,
  tasksUnblocked: 0,
  tasksAssigned: 0,
  agentsWoken: 0,
  countersCorrected: 0,
})

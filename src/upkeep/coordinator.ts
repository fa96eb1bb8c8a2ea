import type { Coordination, CoordinatorState, PassReport } from '../door/coordination.ts'
import type { ServerKernel } from '../door/server-kernel.ts'
import { keeper } from '../door/upkeep-step.ts'
import { StoreUnavailable } from '../kernel/store/store.ts'
import { BATCH, isEndOfPass } from '../kernel/upkeep-context.ts'
import { PassFigures } from '../kinds/alert/acts/pass-figures.ts'
import { Assignable, assignIn } from '../kinds/run/upkeep.ts'
import { type Announcement, KnownWebhooks } from '../kinds/webhook/acts/announce.ts'
import { type Outgoing, USUAL_OUTGOING } from '../outgoing/outgoing.ts'
import { Refused } from '../pure/errors.ts'
import { Beside } from './follower.ts'
import type { Leadership } from './leadership.ts'
import type { Outages } from './outages.ts'
import { CHORES, type PassStep, STEPS } from './pass.ts'
import { pause } from './pause.ts'

const TICK_MS = 250
/** The longest time between two ticks when there is nothing to do; the leader lease must be renewed. */
const REST_MS = 600
/** When nothing was committed and nothing is due by time, all steps run this often: notices of other nodes can be lost. */
const PASS_ANYWAY_MS = 20_000
/** Steps that run at once when something is committed or is due by time. The others then run at their own intervals. */
const AWAITING = STEPS.filter(({ everyMs }) => everyMs < 1_000)
const BATCH_WAIT_MS = 5
/** Backoff while the database is unreachable. */
const FIRST_WAIT_MS = 250
const LONGEST_WAIT_MS = 5_000
/** After this long without the database, operators are told, so that they can act. */
const LONG_OUTAGE_MS = 300_000
/** Batches of one step when recovery was requested for all workspaces. */
const MOST_ROUNDS = 20

interface Log {
  info(about: object, message: string): void
  warn(about: object, message: string): void
  error(about: object, message: string): void
}

interface Around {
  /** Where webhooks may be sent. */
  outgoing: Outgoing
  /** Hears how long each pass took. */
  passed: (ms: number) => void
  /** Hears when the database is away for long, and when it is back. */
  outages: Pick<Outages, 'isLong' | 'isOver'>
}

/**
 * One node, the elected leader, coordinates. On a tick it runs all steps, if anything was committed since they ran or
 * something is due by time (`store.nextDue`); otherwise it rests. It assigns at once after a commit that may allow an
 * assignment. Each pass reads from the store what is due and keeps no state that matters: it can stop anywhere and another
 * node can continue. Its writes carry its term, and are refused when the term has ended.
 */
export class Coordinator implements Coordination {
  readonly #kernel: ServerKernel
  readonly #leadership: Leadership
  readonly #nodeId: string
  readonly #log: Log
  readonly #outgoing: Outgoing
  readonly #passed: (ms: number) => void
  readonly #outages: Pick<Outages, 'isLong' | 'isOver'> | undefined
  readonly #stopping = new AbortController()
  /** When each step last ran. */
  readonly #doneAt = new Map<PassStep, number>()
  /** Those of AWAITING that may have something to do. */
  readonly #pending = new Set<PassStep>(AWAITING)
  #upkeepAt = Number.POSITIVE_INFINITY
  /** When something was last known to be committed or due: a step that began later has nothing to do. */
  #pendingSince = performance.now()
  readonly #kept = keeper()
  readonly #beside = new Beside(() => this.#noticed())
  /** Workspaces with a commit that may allow an assignment. */
  readonly #changed = new Set<number>()
  #wake = new AbortController()
  #running: Promise<void> = Promise.resolve()
  #stopListening: () => void = () => undefined
  #listening: { term: number; since: number } | null = null
  #passes = 0
  #lastPass: { at: number; ms: number } | null = null
  #outage: { since: number; waitMs: number } | null = null

  constructor(
    kernel: ServerKernel,
    leadership: Leadership,
    nodeId: string,
    log: Log,
    { outgoing = USUAL_OUTGOING, passed = () => undefined, outages }: Partial<Around> = {},
  ) {
    this.#kernel = kernel
    this.#passed = passed
    this.#leadership = leadership
    this.#nodeId = nodeId
    this.#log = log
    this.#outgoing = outgoing
    this.#outages = outages
  }

  start(): this {
    this.#stopListening = this.#kernel.store.onCommit((workspaceId, { events }) => {
      this.#noticed()
      if (events === 0 || !this.#kept(Assignable).has(workspaceId) || this.#leadership.term === null) return
      this.#changed.add(workspaceId)
      this.#wake.abort()
    })
    this.#running = this.#run()
    return this
  }

  /** Finishes the current work and resigns, so that another node need not wait for the lease to expire. */
  async stop(): Promise<void> {
    this.#stopListening()
    this.#stopping.abort()
    this.#wake.abort()
    await this.#running
    await this.#beside.ended()
    await this.#leadership.resign()
  }

  /** Tells webhooks what cannot be an event while the database is away: those that this node knew of when it last led. */
  async announce(said: Announcement): Promise<void> {
    await this.#kept(KnownWebhooks).announce(this.#outgoing, said, this.#stopping.signal)
  }

  state(): CoordinatorState {
    return {
      nodeId: this.#nodeId,
      term: this.#leadership.term,
      passes: this.#passes,
      lastPassAt: this.#lastPass?.at ?? null,
      lastPassMs: this.#lastPass?.ms ?? null,
      awaySince: this.#outage?.since ?? null,
    }
  }

  async recover(only: number | null): Promise<PassReport> {
    const did: Record<string, number> = {}
    const since = await this.#kernel.store.cluster.listeningSince()
    const context = {
      ...this.#contextOf(undefined),
      listeningSince: since,
      kept: keeper(),
      isRequested: true,
      beside: undefined,
      only: only ?? undefined,
    }
    // A step takes a batch at a time: of all workspaces, one must not hide the others behind its own.
    const rounds = only === null ? MOST_ROUNDS : 1
    for (const { name, run } of STEPS) {
      did[name] = 0
      for (let round = 0; round < rounds; round++) {
        const done = await run(context)
        did[name] += done
        if (done < BATCH) break
      }
    }
    return did as PassReport
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      try {
        const term = await this.#leadership.hold()
        if (term !== null) {
          await this.#lookAhead(term)
          await this.#pass(term)
        }
        await this.#endOutage()
        await this.#tick(term)
      } catch (error) {
        await pause(this.#retryDelayAfter(error), signal)
      }
    }
  }

  /** Waits for the next pass; until then, assigns in workspaces with new commits. */
  async #tick(term: number | null): Promise<void> {
    const began = performance.now()
    for (;;) {
      const left = this.#nextTick(began, term) - performance.now()
      if (left <= 0 || this.#stopping.signal.aborted) return
      if (this.#changed.size === 0) await pause(left, this.#wake.signal)
      if (!this.#wake.signal.aborted) return
      // Commits of the same moment are handled in one batch.
      await pause(BATCH_WAIT_MS, this.#stopping.signal)
      this.#wake = new AbortController()
      if (this.#stopping.signal.aborted) return
      const changed = [...this.#changed]
      this.#changed.clear()
      if (term === null || this.#leadership.term !== term) continue
      await Promise.all(changed.map((workspaceId) => assignIn(this.#contextOf(term), workspaceId)))
    }
  }

  /** Not later than something is due, but no two passes follow each other at once: what is due may not be available yet. */
  #nextTick(began: number, term: number | null): number {
    if (term === null || this.#pending.size > 0) return began + TICK_MS
    const restMs = Math.min(REST_MS, this.#leadership.leaseMs * 0.6)
    return Math.max(began + TICK_MS, Math.min(began + restMs, this.#upkeepAt))
  }

  /** Steps wait until something was committed or is due. A new leader runs them all. */
  async #lookAhead(term: number): Promise<void> {
    if (this.#listening?.term !== term) {
      this.#listening = { term, since: await this.#kernel.store.cluster.listeningSince() }
      this.#allPending()
    }
    if (this.#pending.size === AWAITING.length) return
    try {
      const { upkeepAt, isLogAhead } = await this.#kernel.store.nextDue()
      this.#upkeepAt = upkeepAt ?? Number.POSITIVE_INFINITY
      if (isLogAhead || this.#upkeepAt <= performance.now()) this.#allPending()
    } catch (error) {
      if (isEndOfPass(error)) throw error
      // Steps that can read what they need must not wait for those that cannot.
      this.#log.error({ err: error }, 'could not read what is due')
      this.#allPending()
    }
  }

  /** Something may be to be done. */
  #noticed(): void {
    const isResting = this.#pending.size === 0
    this.#allPending()
    if (isResting) this.#wake.abort()
  }

  #allPending(): void {
    this.#pendingSince = performance.now()
    for (const step of AWAITING) this.#pending.add(step)
  }

  /** Nothing was committed or due since it ran. Chores depend on time alone, so they never rest. */
  #isResting(step: PassStep): boolean {
    if (AWAITING.some((one) => one === step)) return !this.#pending.has(step)
    return STEPS.some((one) => one === step) && this.#pendingSince <= (this.#doneAt.get(step) ?? 0)
  }

  async #pass(term: number): Promise<void> {
    const began = performance.now()
    this.#changed.clear()
    for (const step of [...STEPS, ...CHORES]) {
      const sinceLast = began - (this.#doneAt.get(step) ?? Number.NEGATIVE_INFINITY)
      if (sinceLast < (this.#isResting(step) ? Math.max(PASS_ANYWAY_MS, step.everyMs) : step.everyMs))
        continue
      // Before it reads: what is committed from here on is for the next pass.
      const isAwaiting = this.#pending.delete(step)
      await this.#repeat(step, term).catch((error) => {
        if (isAwaiting) this.#pending.add(step)
        else this.#pendingSince = performance.now()
        // A failing step must not stop the others.
        if (isEndOfPass(error)) throw error
        this.#log.error({ err: error, step: step.name }, 'a step of the coordinator failed')
      })
      this.#doneAt.set(step, began)
    }
    this.#passes += 1
    this.#lastPass = { at: Date.now(), ms: performance.now() - began }
    this.#passed(this.#lastPass.ms)
    this.#kept(PassFigures).passed(this.#lastPass.ms)
  }

  /** Repeats while a full batch was due. Renews the leader lease in between, and stops when that fails. */
  async #repeat({ run }: PassStep, term: number): Promise<void> {
    for (;;) {
      if ((await this.#leadership.hold()) !== term)
        throw new Refused('NOT_LEADER', `Term ${term} of the coordinator is over.`)
      const done = await run(this.#contextOf(term))
      if (!(Number(done) >= BATCH) || this.#stopping.signal.aborted) return
    }
  }

  #contextOf(term: number | undefined) {
    const since = this.#listening?.since
    return {
      kernel: this.#kernel,
      term,
      listeningSince: since,
      kept: this.#kept,
      beside: this.#beside,
      outgoing: this.#outgoing,
      again: () => this.#noticed(),
    }
  }

  /** How long to wait before the retry. */
  #retryDelayAfter(error: unknown): number {
    if (error instanceof Refused && error.code === 'NOT_LEADER') {
      this.#log.info({ node: this.#nodeId }, 'another node is the leader now')
      return 0
    }
    if (!(error instanceof StoreUnavailable)) {
      this.#log.error({ err: error }, 'a pass of the coordinator failed; retrying')
      return TICK_MS
    }
    // Not at the first failure: this process may only have been busy for longer than its leader lease.
    if (this.#outage?.waitMs === FIRST_WAIT_MS * 2)
      this.#log.warn({ err: error }, 'the database is unreachable; the coordinator retries')
    this.#kept(PassFigures).failed()
    this.#outage ??= { since: Date.now(), waitMs: FIRST_WAIT_MS }
    const outage = this.#outage
    if (Date.now() - outage.since > LONG_OUTAGE_MS) this.#outages?.isLong(outage.since)
    const waitMs = outage.waitMs
    outage.waitMs = Math.min(outage.waitMs * 2, LONGEST_WAIT_MS)
    // Jitter: nodes that lost the database together must not all reconnect at once.
    return waitMs * (0.75 + Math.random() / 2)
  }

  async #endOutage(): Promise<void> {
    if (this.#outage)
      this.#log.info({ since: new Date(this.#outage.since) }, 'the database is reachable again')
    this.#outage = null
    await this.#outages?.isOver()
  }
}

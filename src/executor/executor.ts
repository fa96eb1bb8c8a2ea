import { setTimeout as sleep } from 'node:timers/promises'
import type { Stop } from '../core/runs/ending.ts'
import type { DueWakeup, RunToLookAt } from '../store/server-store.ts'
import { StoreUnavailable } from '../store/store.ts'
import { ActiveRun } from './active-run.ts'
import type { ExecutorContext } from './context.ts'
import { renewWaitingClaims } from './holding.ts'
import { dispatch, run } from './run.ts'

/** Without a hint, what is due is looked for this often; so is what must be stopped. */
const LOOK_EVERY_MS = 1_000
const TICK_MS = 250
/** Leases are a second at least, and renewed with more than half of it left. */
const RENEW_EVERY_MS = 500
/** One look answers for all commits of this time. */
const HINT_AFTER_MS = 50

/**
 * Runs agents on this node. What waits and what must stop is read from the database each time: nothing that matters is only
 * known here, but which processes are its own.
 */
export class Executor {
  readonly #context: ExecutorContext
  readonly #active = new Map<string, ActiveRun>()
  readonly #ending = new Set<Promise<void>>()
  readonly #starting = new Set<string>()
  #ticker: NodeJS.Timeout | null = null
  #stopListening: () => void = () => undefined
  #soon: NodeJS.Timeout | null = null
  #looking: Promise<unknown> | null = null
  #looksAgain = false
  #watching: Promise<void> | null = null
  #watchesAgain = false
  #lookedAt = 0
  #renewedAt = 0
  #renewing: Promise<unknown> | null = null
  #isStopping = false

  constructor(context: ExecutorContext) {
    this.#context = context
  }

  start(): this {
    const { kernel } = this.#context
    const onWoken = kernel.woken.on(() => this.look())
    // Commits may be thousands a second, and few of them matter here: what other nodes asked for, and what must stop.
    const onCommit = kernel.store.onCommit((workspaceId, { events }) => {
      if (events === 0) return
      this.#lookSoon()
      if ([...this.#active.values()].some((active) => active.workspaceId === workspaceId)) this.#watch()
    })
    this.#stopListening = () => {
      onWoken()
      onCommit()
    }
    this.#ticker = setInterval(() => this.#tick(), TICK_MS)
    this.look()
    return this
  }

  /** Whether this run is going on here. */
  runs(runId: string): boolean {
    return this.#active.has(runId)
  }

  /** Ends what is going on, each with its grace, and waits until that is on record. */
  async stop(): Promise<void> {
    this.#isStopping = true
    this.#stopListening()
    if (this.#ticker) clearInterval(this.#ticker)
    if (this.#soon) clearTimeout(this.#soon)
    await Promise.all([this.#looking, this.#renewing])
    for (const active of this.#active.values()) active.stop(SHUTDOWN)
    this.#context.storeRetry.leave()
    // Leases must not end while agents use their grace.
    const ticker = setInterval(() => this.#tickAll(), TICK_MS)
    while (this.#ending.size > 0) await Promise.all(this.#ending)
    clearInterval(ticker)
  }

  /** Something may be due. One look at a time; a hint during a look makes one more. */
  look(): void {
    if (this.#isStopping) return
    if (this.#looking) {
      this.#looksAgain = true
      return
    }
    this.#lookedAt = performance.now()
    this.#looking = this.#startWhatIsDue()
      .catch((error) => this.#stumble(error, 'what is due could not be looked up'))
      .finally(() => {
        this.#looking = null
        if (!this.#looksAgain) return
        this.#looksAgain = false
        this.look()
      })
  }

  #lookSoon(): void {
    this.#soon ??= setTimeout(() => {
      this.#soon = null
      this.look()
    }, HINT_AFTER_MS)
  }

  #tick(): void {
    this.#tickAll()
    this.#renewWhatWaits()
    if (performance.now() - this.#lookedAt < LOOK_EVERY_MS) return
    this.look()
    if (this.#active.size > 0) this.#watch()
  }

  #tickAll(): void {
    for (const active of this.#active.values()) active.tick()
  }

  #renewWhatWaits(): void {
    if (this.#renewing || performance.now() - this.#renewedAt < RENEW_EVERY_MS) return
    this.#renewedAt = performance.now()
    this.#renewing = renewWaitingClaims(this.#context)
      .catch((error) => this.#stumble(error, 'claims that wait could not be renewed'))
      .finally(() => {
        this.#renewing = null
      })
  }

  async #startWhatIsDue(): Promise<void> {
    const { kernel, node, mostRuns } = this.#context
    const room = mostRuns - this.#active.size - this.#starting.size
    if (room <= 0) return
    const due = await kernel.store.wakeups.due(node.name, room)
    for (const one of due) if (!this.#starting.has(one.id) && !this.#isStopping) this.#launch(one)
  }

  #launch(due: DueWakeup): void {
    this.#starting.add(due.id)
    const whole = this.#runOf(due)
      .then(
        () => true,
        (error) => this.#stumble(error, 'a run failed inside Baton'),
      )
      .then((isWell) => {
        this.#starting.delete(due.id)
        this.#ending.delete(whole)
        // What fails at once would fail again at once: then the next look comes by itself.
        if (isWell) this.look()
      })
    this.#ending.add(whole)
  }

  async #runOf(due: DueWakeup): Promise<void> {
    const dispatched = await dispatch(this.#context, due)
    if (!dispatched) return
    const { runId, workspaceId, agent } = dispatched
    const active = new ActiveRun(this.#context, { runId, workspaceId, agent: agent.slug })
    this.#active.set(runId, active)
    this.#starting.delete(due.id)
    if (this.#isStopping) active.stop(SHUTDOWN)
    try {
      await run(this.#context, dispatched, active)
    } finally {
      this.#active.delete(runId)
      await active.close()
    }
  }

  /** Looks which runs must stop. */
  #watch(): void {
    if (this.#watching) {
      this.#watchesAgain = true
      return
    }
    this.#watching = this.#stopWhatMust()
      .catch((error) => this.#stumble(error, 'what must stop could not be looked up'))
      .then(() => sleep(HINT_AFTER_MS))
      .finally(() => {
        this.#watching = null
        if (!this.#watchesAgain) return
        this.#watchesAgain = false
        this.#watch()
      })
  }

  async #stopWhatMust(): Promise<void> {
    const { kernel, node } = this.#context
    for (const found of await kernel.store.runs.toCheck(node.id)) {
      const active = this.#active.get(found.runId)
      const stop = whyStop(found)
      if (stop) active?.stop(stop)
      else active?.suspect(found.suspectedAt!)
    }
  }

  #stumble(error: unknown, what: string): false {
    // The database is away: the next look is the second try.
    if (!(error instanceof StoreUnavailable)) this.#context.log.error({ err: error }, what)
    return false
  }
}

const SHUTDOWN: Stop = { code: 'control_plane_restart', reason: 'Baton is being stopped.', byPerson: false }

function whyStop({ cancelReason, agentState, hasClaim, claimEnd }: RunToLookAt): Stop | null {
  if (cancelReason !== null) return { code: 'cancelled', reason: cancelReason, byPerson: true }
  if (agentState === null) return { code: 'cancelled', reason: 'Its agent was removed.', byPerson: false }
  if (agentState === 'paused' || agentState === 'terminated')
    return { code: 'cancelled', reason: `Its agent is ${agentState}.`, byPerson: false }
  if (hasClaim) return null
  return { code: 'claim_lost', reason: `Its claim is over (${claimEnd ?? 'unknown'}).`, byPerson: false }
}

import type { DueWakeup, RunToCheck } from '../kernel/store/run-store.ts'
import { StoreUnavailable } from '../kernel/store/store.ts'
import { whyStopped } from '../kinds/budget/rules/words.ts'
import type { Run } from '../kinds/run/record.ts'
import { overBudget, type Stop } from '../kinds/run/rules/ending.ts'
import { ActiveRun } from './active-run.ts'
import { adopt, resume } from './adopt.ts'
import type { ExecutorContext } from './context.ts'
import type { Dispatched } from './dispatched.ts'
import { renewWaitingClaims } from './holding.ts'
import { dispatch, run } from './run.ts'
import { sleep } from './timers.ts'

/** How often due wakeups and runs to stop are read when no commit gives a hint. */
const POLL_EVERY_MS = 1_000
/** While runs are in progress or claims wait for one. */
const TICK_MS = 250
/** A lease is one second or more, and is renewed with more than half of it left. */
const RENEW_EVERY_MS = 500
/** One poll covers all commits within this time. */
const HINT_AFTER_MS = 50

/**
 * Runs agents on this node. Due wakeups and runs to stop are read from the database each time: the only state kept in memory
 * is which processes belong to this node.
 */
export class Executor {
  readonly #context: ExecutorContext
  readonly #active = new Map<string, ActiveRun>()
  readonly #ending = new Set<Promise<void>>()
  readonly #starting = new Set<string>()
  #cancelTick: () => void = () => undefined
  /** Nothing runs and no claim waits for a run: ticks only ask what is due, and are less frequent. */
  #isResting = false
  /** Counts the hints that something may be due. */
  #hints = 0
  #stopListening: () => void = () => undefined
  #cancelSoon: (() => void) | null = null
  #polling: Promise<unknown> | null = null
  #pollsAgain = false
  #watching: Promise<void> | null = null
  #watchesAgain = false
  #polledAt = 0
  #renewedAt = 0
  #renewing: Promise<unknown> | null = null
  #isStopping = false

  constructor(context: ExecutorContext) {
    this.#context = context
  }

  start(): this {
    const { kernel } = this.#context
    const onWoken = kernel.woken.on(() => this.poll())
    // There may be thousands of commits a second. The few that matter here are wakeups from other nodes and runs to stop.
    const onCommit = kernel.store.onCommit((workspaceId, { events }) => {
      if (events === 0) return
      this.#pollSoon()
      if ([...this.#active.values()].some((active) => active.workspaceId === workspaceId)) this.#watch()
    })
    this.#stopListening = () => {
      onWoken()
      onCommit()
    }
    this.#scheduleTick()
    this.poll()
    return this
  }

  /** Whether this run is in progress on this node. */
  runs(runId: string): boolean {
    return this.#active.has(runId)
  }

  /** Stops all runs, each with its grace period, and waits until their ends are recorded. */
  async stop(): Promise<void> {
    this.#isStopping = true
    this.#stopListening()
    this.#cancelTick()
    this.#cancelSoon?.()
    await Promise.all([this.#polling, this.#renewing])
    for (const active of this.#active.values()) stopOrLeave(active)
    this.#context.storeRetry.shutDown()
    // Leases must not expire during the grace period.
    const stopTicking = this.#context.timers.every(TICK_MS, () => this.#tickAll())
    while (this.#ending.size > 0) await Promise.all(this.#ending)
    stopTicking()
  }

  /** Reads and starts what is due. One poll at a time; a hint during a poll causes one more. */
  poll(): void {
    if (this.#isStopping) return
    this.#endRest()
    if (this.#polling) {
      this.#pollsAgain = true
      return
    }
    this.#polledAt = this.#context.timers.now()
    this.#polling = this.#startDue()
      .catch((error) => this.#logFailure(error, 'due wakeups could not be read'))
      .finally(() => {
        this.#polling = null
        if (!this.#pollsAgain) return
        this.#pollsAgain = false
        this.poll()
      })
  }

  #pollSoon(): void {
    this.#cancelSoon ??= this.#context.timers.after(HINT_AFTER_MS, () => {
      this.#cancelSoon = null
      this.poll()
    })
  }

  #scheduleTick(): void {
    this.#cancelTick()
    this.#cancelTick = this.#context.timers.after(this.#isResting ? POLL_EVERY_MS : TICK_MS, () => {
      this.#tick()
      this.#scheduleTick()
    })
  }

  #endRest(): void {
    this.#hints += 1
    if (!this.#isResting || this.#isStopping) return
    this.#isResting = false
    this.#scheduleTick()
  }

  #tick(): void {
    this.#tickAll()
    this.#renewWaiting()
    const now = this.#context.timers.now()
    if (!this.#isResting && now - this.#polledAt < POLL_EVERY_MS) return
    this.#polledAt = now
    this.#pollIfDue()
    if (this.#active.size > 0) this.#watch()
  }

  /** Without a hint: asks for what is due only if something may be. */
  #pollIfDue(): void {
    this.#context.kernel.store.nextDue().then(
      ({ wakeupAt }) => {
        if (wakeupAt !== null && wakeupAt <= this.#context.timers.now()) this.poll()
      },
      (error) => this.#logFailure(error, 'what is due could not be read'),
    )
  }

  #tickAll(): void {
    for (const active of this.#active.values()) active.tick()
  }

  #renewWaiting(): void {
    if (this.#renewing || this.#context.timers.now() - this.#renewedAt < RENEW_EVERY_MS) return
    this.#renewedAt = this.#context.timers.now()
    const hints = this.#hints
    this.#renewing = this.#context.kernel.store
      .nextDue()
      .then(({ areClaimsWaiting }) => {
        this.#isResting = !areClaimsWaiting && this.#active.size === 0 && this.#hints === hints
        return areClaimsWaiting ? renewWaitingClaims(this.#context) : undefined
      })
      .catch((error) => this.#logFailure(error, 'waiting claims could not be renewed'))
      .finally(() => {
        this.#renewing = null
      })
  }

  async #startDue(): Promise<void> {
    const { kernel, node, mostRuns } = this.#context
    const room = mostRuns - this.#active.size - this.#starting.size
    if (room <= 0) return
    const due = await kernel.store.wakeups.due(node.name, room)
    for (const one of due) if (!this.#starting.has(one.id) && !this.#isStopping) this.#launch(one)
  }

  #launch(due: DueWakeup): void {
    this.#starting.add(due.id)
    const finished = this.#runOf(due)
      .then(
        () => true,
        (error) => this.#logFailure(error, 'a run failed inside Baton'),
      )
      .then((ok) => {
        this.#starting.delete(due.id)
        this.#ending.delete(finished)
        // After a failure wait for the next regular poll: an immediate one would probably fail again.
        if (ok) this.poll()
      })
    this.#ending.add(finished)
  }

  async #runOf(due: DueWakeup): Promise<void> {
    const dispatched = await dispatch(this.#context, due)
    if (!dispatched) return
    this.#starting.delete(due.id)
    await this.#inProgress(dispatched, (active) => {
      if (this.#isStopping) active.stop(SHUTDOWN)
      return run(this.#context, dispatched, active)
    })
  }

  async #inProgress(
    { runId, workspaceId, agent }: Dispatched,
    act: (active: ActiveRun) => Promise<void>,
  ): Promise<void> {
    const active = new ActiveRun(this.#context, { runId, workspaceId, agent: agent.slug })
    this.#active.set(runId, active)
    this.#endRest()
    try {
      await act(active)
    } finally {
      this.#active.delete(runId)
      await active.close()
    }
  }

  /** Goes on with a run of a lost node whose agent has accepted its work. False: this node cannot. */
  async adopt(run: Run): Promise<boolean> {
    if (this.#isStopping || this.#active.has(run.id)) return true
    const adopted = await adopt(this.#context, run)
    if (adopted === 'impossible' || adopted === 'elsewhere') return adopted === 'elsewhere'
    // A stop that came while it was adopted: the next node takes it.
    if (this.#isStopping) return true
    const finished = this.#inProgress(adopted.dispatched, (active) => resume(this.#context, adopted, active))
      .catch((error) => void this.#logFailure(error, 'a run failed inside Baton'))
      .finally(() => this.#ending.delete(finished))
    this.#ending.add(finished)
    return true
  }

  /** Reads which runs must stop, and stops them. */
  #watch(): void {
    if (this.#watching) {
      this.#watchesAgain = true
      return
    }
    this.#watching = this.#stopFlagged()
      .catch((error) => this.#logFailure(error, 'runs to stop could not be read'))
      .then(() => sleep(this.#context.timers, HINT_AFTER_MS))
      .finally(() => {
        this.#watching = null
        if (!this.#watchesAgain) return
        this.#watchesAgain = false
        this.#watch()
      })
  }

  async #stopFlagged(): Promise<void> {
    const { kernel, node } = this.#context
    for (const found of await kernel.store.runs.toCheck(node.id)) {
      const active = this.#active.get(found.runId)
      const stop = whyStop(found)
      if (stop) active?.stop(stop)
      else active?.ask(found)
    }
  }

  #logFailure(error: unknown, what: string): false {
    // The database is unreachable: the next poll tries again.
    if (!(error instanceof StoreUnavailable)) this.#context.log.error({ err: error }, what)
    return false
  }
}

/** A run without a process on this node is continued by another node. */
function stopOrLeave(active: ActiveRun): void {
  if (active.isAccepted && !active.stopped) active.leave()
  else active.stop(SHUTDOWN)
}

const SHUTDOWN: Stop = { code: 'control_plane_restart', reason: 'Baton is shutting down.', byPerson: false }

function whyStop({
  cancelReason,
  agentState,
  stopsRuns,
  hasClaim,
  claimEnd,
  blockedBy,
}: RunToCheck): Stop | null {
  if (cancelReason !== null) return { code: 'cancelled', reason: cancelReason, byPerson: true }
  if (agentState === null) return { code: 'cancelled', reason: 'The agent was deleted.', byPerson: false }
  if (stopsRuns) return { code: 'cancelled', reason: `The agent is ${agentState}.`, byPerson: false }
  if (hasClaim && blockedBy) return overBudget(blockedBy, whyStopped(blockedBy, blockedBy.why))
  if (hasClaim) return null
  return { code: 'claim_lost', reason: `The claim ended (${claimEnd ?? 'unknown'}).`, byPerson: false }
}

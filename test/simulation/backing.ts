import type { Changes, ReadSet, View } from '../../src/kernel/batch/requests.ts'
import type { BatchStep, Store, Transactor } from '../../src/kernel/store/store.ts'
import { NO_CHANGES, NO_RECORDS } from '../../src/kinds/all.ts'
import type { KindName, PortableKind } from '../../src/kinds/kind.ts'
import { noEffects } from '../../src/kinds/task/record.ts'
import type { Limits } from '../../src/kinds/workspace/limits.ts'
import { MemoryStore } from '../../src/memory/store.ts'
import { heldByAgent } from '../../src/memory/workspace.ts'
import { type LeaderLease, leaderLeaseOf, PacedLeaderLease } from './leader-lease.ts'
import type { Random } from './random.ts'
import type { Scheduler } from './scheduler.ts'
import { NodeDied, type Pauses } from './transaction-pauses.ts'

/** Where the state of a run lives. Its transactions pause where the run lets others act. */
export interface Backing extends Transactor<KindName> {
  readonly store: Store
  /** Null where the store has neither agents nor a leader. */
  readonly leaderLease: LeaderLease | null
  newWorkspace(limits: Limits): Promise<number>
  /** A transaction that changes nothing, past all locks of the run and without a pause. */
  read(workspaceId: number, ask: ReadSet): Promise<View>
  /** Around every other wait for the store. */
  waitFor<T>(answer: Promise<T>): Promise<T>
}

const NOTHING: Changes = {
  ...noEffects(),
  tasks: [],
  created: [],
  dependencies: [],
  kinds: NO_CHANGES,
  grantedTasks: [],
  newReplies: [],
  missions: { deltas: new Map(), claimedFrom: [], plans: [] },
  reservations: null,
  activeClaimsDelta: 0,
}
const seeing = (view: View<PortableKind>) => ({ answer: whole(view), changes: NOTHING })
/** A store that does not hold a kind has no records of it. */
const whole = (view: View<PortableKind>): View => ({ ...view, kinds: { ...NO_RECORDS, ...view.kinds } })

/**
 * The memory store itself waits where the run says so. As in Postgres, the tasks of an agent are locked before the agent: what it
 * got in between is counted, but not among the tasks that a change of it applies to.
 */
export class PausingMemory extends MemoryStore implements Backing {
  readonly #looking: { now: boolean }
  readonly store = this

  constructor(scheduler: Scheduler, random: Random, pauses: Pauses) {
    const reading = { now: false }
    super({
      now: () => scheduler.now,
      random: () => random.next(),
      pause: async (where) => (reading.now ? undefined : pauses.pause(where)),
    })
    this.#looking = reading
  }

  protected override locked<T>(workspaceId: number, act: () => Promise<T>): Promise<T> {
    return this.#looking.now ? act() : super.locked(workspaceId, act)
  }

  override transact<T>(workspaceId: number, step: BatchStep<T>): Promise<T> {
    const { on, reads: ask, decide } = step
    if (this.#looking.now || ask.kinds.agent.length === 0) return super.transact(workspaceId, step)
    const workspace = this.inside(workspaceId)
    const locked = new Set(
      ask.kinds.agent.flatMap((slug) => heldByAgent(workspace, slug).map(({ id }) => id)),
    )
    const decideHere: typeof decide = (view) => {
      const partial = withoutClaimedSince(view, ask, locked)
      const decision = decide(partial)
      return hasSeenTooLittle(partial, decision.changes) ? decide(view) : decision
    }
    return super.transact(workspaceId, { on, reads: ask, decide: decideHere })
  }

  newWorkspace = (limits: Limits) => this.workspace('run', limits)
  waitFor = <T>(answer: Promise<T>) => answer

  async read(workspaceId: number, ask: ReadSet): Promise<View> {
    this.#looking.now = true
    try {
      return await this.transact(workspaceId, { on: 'batch', reads: ask, decide: seeing })
    } finally {
      this.#looking.now = false
    }
  }
}

function withoutClaimedSince(view: View, ask: ReadSet, locked: ReadonlySet<number>): View {
  const { agent, session } = view.kinds
  const ofSessions = [...session.seen.values()].flatMap(({ holding }) => holding)
  const read = new Set([...locked, ...ask.taskIds, ...view.waiting.flat(), ...view.reserved, ...ofSessions])
  const seen = new Map(
    [...agent.seen].map(([slug, one]) => [
      slug,
      { ...one, holding: one.holding.filter((id) => read.has(id)) },
    ]),
  )
  const records = new Map([...view.records].filter(([id]) => read.has(id)))
  return { ...view, records, kinds: { ...view.kinds, agent: { ...agent, seen } } }
}

/** Postgres then reads again. */
const hasSeenTooLittle = ({ kinds }: View, changes: Changes): boolean => {
  const isNew = (slug: string, version: number | null) => {
    const seen = kinds.agent.seen.get(slug)
    return seen !== undefined && seen.held > seen.holding.length && seen.record.version !== version
  }
  const { written, removed } = changes.kinds.agent
  return (
    written.some(({ slug, version }) => isNew(slug, version)) || removed.some((slug) => isNew(slug, null))
  )
}

/** A real store, and workspaces in it that are a run's own. */
export interface RealStore {
  readonly store: Store
  newWorkspace(limits: Limits): Promise<number>
}

/**
 * A real store in the run's time. Its transactions run one at a time, in the order the run decides, so that a seed is still
 * a run. A node's death means the same: before the commit the transaction was never sent, or it was sent and the answer is
 * lost.
 */
export class PacedStore implements Backing {
  readonly store: Store
  readonly leaderLease: PacedLeaderLease | null
  readonly newWorkspace: RealStore['newWorkspace']
  readonly #scheduler: Scheduler
  readonly #random: Random
  readonly #pauses: Pauses
  #lock: Promise<unknown> = Promise.resolve()
  #lastId = 0

  constructor(real: RealStore, scheduler: Scheduler, random: Random, pauses: Pauses) {
    this.store = real.store
    const leaderLease = leaderLeaseOf(real.store)
    this.leaderLease =
      leaderLease &&
      new PacedLeaderLease(
        (command) => this.waitFor(leaderLease(command)),
        () => scheduler.now,
      )
    this.newWorkspace = real.newWorkspace
    this.#scheduler = scheduler
    this.#random = random
    this.#pauses = pauses
  }

  transact: Transactor<KindName>['transact'] = async (workspaceId, { on, reads, decide }) => {
    const pauses = this.#pauses
    const transaction = pauses.entering
    await pauses.pause('before lock')
    const answer = await this.#alone(async () => {
      if (transaction.abandoned) throw new NodeDied()
      // Read when the lock is held. What follows may take time: no one else can change anything.
      const { now } = this.#scheduler
      pauses.deciding = transaction
      await pauses.pause('before commit')
      return this.waitFor(
        this.store.transact(workspaceId, {
          on,
          reads: this.#asked(reads),
          decide: (seen) => {
            const view = whole(seen)
            return decide({ ...view, now, fresh: this.#drawn(view), terms: this.#lasting(reads, view, now) })
          },
        }),
      )
    })
    await pauses.pause('after commit')
    return answer
  }

  waitFor = <T>(answer: Promise<T>) => this.#scheduler.outside(answer)

  read = async (workspaceId: number, ask: ReadSet): Promise<View> => {
    const view = await this.store.transact(workspaceId, { on: 'batch', reads: ask, decide: seeing })
    return { ...view, now: this.#scheduler.now }
  }

  #asked = (ask: ReadSet): ReadSet =>
    this.leaderLease ? { ...ask, terms: ask.terms.map(this.leaderLease.realOf) } : ask
  #lasting = ({ terms }: ReadSet, view: View, now: number) =>
    this.leaderLease?.lasting(terms, view.terms, now) ?? view.terms

  /** Not the server's own: how long a task waits after a failure depends on its id, and the server's depend on its clock. */
  #drawn = (view: View) =>
    view.fresh.map(() => ({ id: ++this.#lastId, random: this.#random.int(0, 2 ** 22 - 1) }))

  #alone<T>(act: () => Promise<T>): Promise<T> {
    const mine = this.#lock.then(act)
    this.#lock = mine.catch(() => undefined)
    return mine
  }
}

import type { EventWithOrigin, Origin } from '../kinds/events.ts'
import type { GrantedOf, KindName } from '../kinds/kind.ts'
import { priceTable } from '../kinds/price/record.ts'
import type { Granted, ReplyTo } from '../kinds/replies.ts'
import type { PriceTable } from '../kinds/run/prices/cost.ts'
import type { RunsChanges, RunsStep, RunsView } from '../kinds/run/rules/step.ts'
import { isTouched } from '../kinds/session/rules.ts'
import type { TaskDetails } from '../kinds/task/command.ts'
import type { SessionRecord, TaskRecord } from '../kinds/task/record.ts'
import type { Outside } from '../kinds/task/rules/acting.ts'
import type { RecountStep } from '../kinds/task/rules/recount.ts'
import type { Limits } from '../kinds/workspace/limits.ts'
import { notLeader, type Refusal, Refused } from '../pure/errors.ts'
import type { Right } from '../pure/rights.ts'
import { ActorNames } from './actor-names.ts'
import type { Idempotency, Request } from './batch/requests.ts'
import { BatchLoader } from './batch-loader.ts'
import { Combiner, type OnAnswered } from './combiner.ts'
import { CommitWaiters } from './commit-waiters.ts'
import { freshUuid } from './fresh-uuid.ts'
import { type Follow, type Following, follower, type Reaction } from './reactions.ts'
import type { RunStore } from './store/run-store.ts'
import type { ServerStep, Store } from './store/store.ts'
import { TtlCache } from './ttl-cache.ts'

/** Notifies listeners in this process. Only a hint: listeners read the state themselves, and also poll. */
class Signal {
  readonly #listeners = new Set<() => void>()

  fire(): void {
    for (const listener of this.#listeners) listener()
  }

  on(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }
}

/** The caller of a request: the workspace of its key, its rights, and what events record of it. */
export interface Caller extends Origin, Following {
  workspaceId: number
  rights: ReadonlySet<Right>
  idempotency?: Idempotency | undefined
  /** As which agent it may act; absent: Baton itself, or a program that uses it as a library. */
  outside?: Outside | undefined
  /** The leader term, when the coordinator is the caller. */
  term?: number | undefined
  /** The run of the token: its access is limited to the run's own task and agent. */
  run?:
    | {
        runId: string
        agent: string
        agentId: string
        taskUuid: string | null
        generation: number | null
        /** The length of the chain of runs that woke each other up to this one. */
        depth: number
      }
    | undefined
}

/**
 * The owner of an idempotency key. Stored as a prefix with a space after it, which Baton's internal keys never contain, so
 * that keys of different callers, and Baton's own, cannot collide.
 */
export const principalOf = ({ actor, run }: Caller) => (run ? `run:${run.runId}` : actor)

const KNOWN_FOR_MS = 5_000

/** Resolves the names of agents, projects and keys. The server and the library queue have their own. */
export interface Directory {
  /** An agent by slug or id, with its capabilities; an unknown slug is registered as an external agent. */
  agentOf(caller: Caller, agent: string): Promise<KnownAgent>
  /** The id of a project, or null when no project has this slug. */
  projectOf(workspaceId: number, slug: string): Promise<number | null>
  /** All that a claim must know, in one read that registers nothing. Without it each is looked up separately. */
  claimantOf?(workspaceId: number, claiming: Claiming): Promise<KnownClaimant>
  /** The names of keys by id, for directories that have keys. */
  namesOfKeys?(workspaceId: number, keyIds: readonly string[]): Promise<ReadonlyMap<string, string>>
}

export interface KnownAgent {
  slug: string
  capabilities: readonly string[]
  /** The types of work it takes; none: any. */
  taskTypes?: readonly string[]
}

/** The agent of a session, and its capabilities if it is a worker. */
type KnownSession = Pick<SessionRecord, 'capabilities' | 'agent'>

/** Who claims what: an agent by slug or id, a session, and the ids of the tasks, if it names some. */
export interface Claiming {
  agent: string
  session: string
  tasks: readonly string[]
}

export interface CachedClaimant {
  limits: Limits
  agent: KnownAgent
  session: KnownSession
}

export interface KnownClaimant {
  limits: Limits
  /** Null: not registered. */
  agent: KnownAgent | null
  session: (KnownSession & Parameters<typeof isTouched>[0]) | null
  now: number
  /** Whether one of the tasks exists. */
  namesATask: boolean
}

export type Fault = (error: unknown, what: string) => void

/** Without a logger, faults go to stderr. */
const warn: Fault = (error, what) => process.emitWarning(`${what}: ${error}`, { type: 'BatonFault' })

/** Shared by all steps of the flow: access to the store, and short-lived caches of names and limits. */
export class Kernel<S extends Store = Store> {
  readonly store: S
  /** For callers that wait for work, and for callers that wait for any event. */
  readonly arrivals: CommitWaiters
  readonly changes: CommitWaiters
  /** Fires when an agent must be woken. */
  readonly woken = new Signal()
  /** Reports an error that no caller waits for. */
  readonly fault: Fault
  /** Task details, batched: many concurrent claims of single tasks each need the details of one task. */
  readonly details: BatchLoader<TaskRecord, TaskDetails>
  /** Does what follows from tasks that changed. After each commit the combiner calls it. */
  readonly follow: Follow
  /** Events record keys by id; people know them by name. */
  readonly actorNames: ActorNames
  readonly #answeredListeners = new Set<OnAnswered>()
  readonly #directory: Directory
  readonly #combiner: Combiner
  readonly #limits = new TtlCache<Limits>(KNOWN_FOR_MS, 10_000)
  readonly #prices = new TtlCache<PriceTable>(KNOWN_FOR_MS, 10_000)
  readonly #agents = new TtlCache<KnownAgent>(KNOWN_FOR_MS, 100_000)
  readonly #projects = new TtlCache<number | null>(KNOWN_FOR_MS, 100_000)
  readonly #sessions = new TtlCache<KnownSession>(KNOWN_FOR_MS, 100_000)

  constructor(store: S, directory: Directory, reactions: readonly Reaction<Kernel>[], fault: Fault = warn) {
    this.store = store
    this.fault = fault
    this.#directory = directory
    this.actorNames = new ActorNames(
      async (...asked) => (await directory.namesOfKeys?.(...asked)) ?? new Map(),
    )
    this.follow = follower<Kernel>(this, reactions)
    this.#combiner = new Combiner(store, {}, this.follow, (...answered) => {
      for (const listener of this.#answeredListeners) listener(...answered)
    })
    this.arrivals = new CommitWaiters(store, ({ tasksWaiting }) => tasksWaiting)
    this.changes = new CommitWaiters(store, ({ events }) => events > 0)
    this.details = new BatchLoader((workspaceId, records) => store.detailsOf(workspaceId, records))
  }

  run<R extends KernelRequest<keyof S['kinds'] & KindName>>(
    caller: Caller,
    request: R,
  ): Promise<ReplyTo<R, GrantedOf>> {
    // Set on the request itself: a copy by spreading costs more than everything else here.
    const full = request as unknown as Request
    full.actor = caller.actor
    full.origin = caller
    full.idempotency = caller.idempotency
    full.term = caller.term
    full.outside = caller.outside
    // A store answers each request in its own shape; batches mix them.
    return this.#combiner.run(caller.workspaceId, full, caller) as Promise<ReplyTo<R, GrantedOf>>
  }

  /** A write that is not batched: lets a rule decide under the locks of what it reads. */
  step<T>(this: Kernel<RunStore>, by: StepCaller, step: RunsStep<T>): Promise<T>
  step<T>(this: Kernel<ServerSteps>, by: StepCaller, step: RecountStep<T>): Promise<T>
  async step<T>(this: Kernel<ServerSteps>, by: StepCaller, step: RunsStep<T> | RecountStep<T>): Promise<T> {
    if (step.on === 'counters')
      return this.store.transact(by.workspaceId, { ...step, ...sentBy(by, step.reads, step.decide) })
    let wakes = false
    const sent = sentBy(by, step.reads, (view: RunsView) => {
      const decided = step.decide(view)
      wakes = mayWake(decided.changes)
      return decided
    })
    const answer = await this.store.transact(by.workspaceId, { ...step, ...sent })
    if (wakes) this.woken.fire()
    return answer
  }

  /** Called with each batch that was committed, before its callers are answered. A listener must not throw. */
  onAnswered(listener: OnAnswered): () => void {
    this.#answeredListeners.add(listener)
    return () => this.#answeredListeners.delete(listener)
  }

  limits(workspaceId: number): Limits | Promise<Limits> {
    return this.#limits.get(`${workspaceId}`, () => this.store.limits(workspaceId))
  }

  limitsChanged(workspaceId: number, limits: Limits): void {
    this.#limits.set(`${workspaceId}`, limits)
  }

  /** Of tokens that are being used. What a run cost is decided by the prices of its end: those are read. */
  prices(this: Kernel<RunStore>, workspaceId: number): PriceTable | Promise<PriceTable> {
    const lookUp = async () => priceTable(await this.store.prices.list(workspaceId))
    return this.#prices.get(`${workspaceId}`, lookUp)
  }

  pricesChanged(workspaceId: number): void {
    this.#prices.forget(`${workspaceId}`)
  }

  agentOf(caller: Caller, agent: string): KnownAgent | Promise<KnownAgent> {
    return this.#agents.get(`${caller.workspaceId}/${agent}`, () => this.#directory.agentOf(caller, agent))
  }

  agentChanged(workspaceId: number, slug: string): void {
    this.#agents.forget(`${workspaceId}/${slug}`)
  }

  async projectOf(workspaceId: number, slug: string): Promise<number | null> {
    const name = `${workspaceId}/${slug}`
    const projectId = await this.#projects.get(name, () => this.#directory.projectOf(workspaceId, slug))
    // Not cached: the project may be created at any moment.
    if (projectId === null) this.#projects.forget(name)
    return projectId
  }

  /** Registers the session on first use. */
  sessionIsKnown(caller: Caller, session: string, agent: string): KnownSession | Promise<KnownSession> {
    return this.#sessions.get(`${caller.workspaceId}/${session}`, async () => {
      const command = { kind: 'touch', agent } as const
      const alone = { ...caller, idempotency: undefined }
      const request = { on: 'session', key: session, uuid: freshUuid(), command } as const
      // Every store holds sessions.
      const portable: Kernel = this
      return granted(await portable.run(alone, request)).record
    })
  }

  /** All that a claim must know; null unless everything is cached. */
  cachedClaimant(
    { workspaceId }: Caller,
    claiming: Pick<Claiming, 'agent' | 'session'>,
  ): CachedClaimant | null {
    const limits = this.#limits.peek(`${workspaceId}`)
    const agent = limits && this.#agents.peek(`${workspaceId}/${claiming.agent}`)
    const session = agent && this.#sessions.peek(`${workspaceId}/${claiming.session}`)
    return session ? { limits: limits!, agent: agent!, session } : null
  }

  /**
   * What a claim must know and is not cached, in one read that registers nothing. Null, and at once, when everything is
   * cached or the directory has no such read.
   */
  claimant(caller: Caller, claiming: Claiming): Promise<KnownClaimant> | null {
    if (!this.#directory.claimantOf || this.cachedClaimant(caller, claiming)) return null
    return this.#findClaimant(caller.workspaceId, claiming)
  }

  async #findClaimant(workspaceId: number, claiming: Claiming): Promise<KnownClaimant> {
    const [ofLimits, ofAgents, ofSessions] = [this.#limits, this.#agents, this.#sessions].map(
      ({ invalidations }) => invalidations,
    ) as [number, number, number]
    const known = await this.#directory.claimantOf!(workspaceId, claiming)
    this.#limits.keep(`${workspaceId}`, known.limits, ofLimits)
    const { agent, session } = known
    if (!agent) return known
    this.#agents.keep(`${workspaceId}/${claiming.agent}`, agent, ofAgents)
    if (session && isTouched(session, agent.slug, known.now))
      this.#sessions.keep(`${workspaceId}/${claiming.session}`, session, ofSessions)
    return known
  }

  sessionChanged(caller: Caller, session: string): void {
    this.#sessions.forget(`${caller.workspaceId}/${session}`)
  }

  async close(): Promise<void> {
    this.arrivals.close()
    this.changes.close()
    await this.#combiner.close()
  }
}

/** Who lets a rule decide; nobody: Baton itself. */
type StepCaller = Pick<Caller, 'workspaceId' | 'term'> & Partial<Origin>

/** A store that takes every step of a server. */
type ServerSteps = Store & { transact<T>(workspaceId: number, step: ServerStep<T>): Promise<T> }

/** What a caller sends: it lasts only under its term, and its events say where it came from. */
function sentBy<R extends { terms: readonly number[] }, V extends { terms: ReadonlySet<number> }, C, T>(
  by: StepCaller,
  reads: R,
  decide: (view: V) => { answer: T; changes: C & { events: readonly EventWithOrigin[] } },
) {
  const { term } = by
  return {
    reads: term === undefined ? reads : { ...reads, terms: [term] },
    decide(view: V) {
      if (term !== undefined && !view.terms.has(term)) throw Refused.because(notLeader(term))
      const { answer, changes } = decide(view)
      return { answer, changes: { ...changes, events: changes.events.map((event) => from(by, event)) } }
    },
  }
}

/** Events of the caller carry the key that it presented and the address it came from. */
const from = ({ actor, keyId, address }: StepCaller, event: EventWithOrigin): EventWithOrigin =>
  event.actor === actor ? { ...event, ...(keyId && { keyId }), ...(address && { address }) } : event

const mayWake = ({ newWakeups, wakeups }: RunsChanges) =>
  newWakeups.length > 0 || wakeups.some(({ set }) => set.dueAt !== undefined)

type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never
type KernelRequest<K extends KindName> = DistributiveOmit<
  Request<K>,
  'actor' | 'origin' | 'idempotency' | 'term' | 'outside'
>

/** The granted reply; a refusal is thrown. */
export function granted<G extends Granted>(reply: G | Refusal): G {
  if (reply.ok) return reply
  throw Refused.because(reply)
}

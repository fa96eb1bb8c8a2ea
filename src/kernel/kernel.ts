import type { Idempotency, Request } from '../core/batch/requests.ts'
import type { TaskDetails } from '../core/commands.ts'
import { type Refusal, Refused } from '../core/errors.ts'
import type { Limits } from '../core/limits.ts'
import type { SessionRecord, TaskRecord } from '../core/records.ts'
import type { Granted, ReplyTo } from '../core/replies.ts'
import type { Right } from '../core/shapes/administration.ts'
import type { Store } from '../store/store.ts'
import { ActorNames } from './actor-names.ts'
import { BatchLoader } from './batch-loader.ts'
import { Combiner } from './combiner.ts'
import { CommitWaiters } from './commit-waiters.ts'
import { freshUuid } from './fresh-uuid.ts'
import { Signal } from './signal.ts'
import { TtlCache } from './ttl-cache.ts'

/** Who asks: a key's workspace, how it is named on record and its rights. */
export interface Caller {
  workspaceId: number
  actor: string
  rights: ReadonlySet<Right>
  idempotency?: Idempotency | undefined
  /** The term of office of the coordinator that asks. */
  term?: number | undefined
  /** The run whose token was shown: it may do no more than the run is about. */
  run?:
    | {
        runId: string
        agent: string
        agentId: string
        taskId: string | null
        generation: number | null
        /** How many runs, each of which woke the next, lead to it. */
        depth: number
      }
    | undefined
}

/**
 * Whose idempotency keys these are. Kept with a blank behind it, which no key of Baton's own has, so that callers meet
 * neither those of others nor Baton's.
 */
export const principalOf = ({ actor, run }: Caller) => (run ? `run:${run.runId}` : actor)

const KNOWN_FOR_MS = 5_000

/** What is known of names beside tasks and sessions. Each front door has its own. */
export interface Directory {
  /** An agent by its slug or id, and what it can do; a slug that is new becomes an external agent. */
  agentOf(caller: Caller, agent: string): Promise<KnownAgent>
  /** The number of a project, or null when there is none of this slug. */
  projectOf(workspaceId: number, slug: string): Promise<number | null>
  /** The names of keys, by id, where there are keys. */
  namesOfKeys?(workspaceId: number, keyIds: readonly string[]): Promise<ReadonlyMap<string, string>>
}

interface KnownAgent {
  slug: string
  capabilities: readonly string[]
}

/** What a session can do if it is a worker, and as which agent it works. */
type KnownSession = Pick<SessionRecord, 'capabilities' | 'agent'>

export type Fault = (error: unknown, what: string) => void
type Follow = (kernel: Kernel, workspaceId: number, ended: readonly number[]) => Promise<void>

/** Where there is no log, on stderr. */
const warn: Fault = (error, what) => process.emitWarning(`${what}: ${error}`, { type: 'BatonFault' })

/** What all steps of the flow share: the door to the store, and a short memory of names and limits. */
export class Kernel<S extends Store = Store> {
  readonly store: S
  /** For those who wait for work, and for those who wait for anything to happen. */
  readonly arrivals: CommitWaiters
  readonly changes: CommitWaiters
  /** An agent is to be woken. */
  readonly woken = new Signal()
  /** Something went wrong that no caller waits to hear of. */
  readonly fault: Fault
  /** What people read of tasks: whoever claims single tasks, many at a time, needs them one by one. */
  readonly details: BatchLoader<TaskRecord, TaskDetails>
  /** Tasks that ended: what waits for them is looked at. */
  readonly ended: BatchLoader<number, undefined>
  /** Keys are on record by their ids; people know them by their names. */
  readonly actorNames: ActorNames
  readonly #directory: Directory
  readonly #combiner: Combiner
  readonly #limits = new TtlCache<Limits>(KNOWN_FOR_MS, 10_000)
  readonly #agents = new TtlCache<KnownAgent>(KNOWN_FOR_MS, 100_000)
  readonly #projects = new TtlCache<number | null>(KNOWN_FOR_MS, 100_000)
  readonly #sessions = new TtlCache<KnownSession>(KNOWN_FOR_MS, 100_000)

  /** `follow` is told which tasks ended. */
  constructor(store: S, directory: Directory, follow: Follow, fault: Fault = warn) {
    this.store = store
    this.fault = fault
    this.#directory = directory
    this.actorNames = new ActorNames(
      async (...asked) => (await directory.namesOfKeys?.(...asked)) ?? new Map(),
    )
    this.#combiner = new Combiner(store)
    this.arrivals = new CommitWaiters(store, ({ tasksWaiting }) => tasksWaiting)
    this.changes = new CommitWaiters(store, ({ events }) => events > 0)
    this.details = new BatchLoader((workspaceId, records) => store.detailsOf(workspaceId, records))
    this.ended = new BatchLoader(async (workspaceId, ended) => {
      await follow(this, workspaceId, ended)
      return []
    })
  }

  run<R extends KernelRequest>(caller: Caller, request: R): Promise<ReplyTo<R>> {
    // Set on the request itself: a copy by spreading costs more than everything else here.
    const full = request as unknown as Request
    full.actor = caller.actor
    full.idempotency = caller.idempotency
    full.term = caller.term
    // A store answers each request in its own shape; batches mix them.
    return this.#combiner.run(caller.workspaceId, full) as Promise<ReplyTo<R>>
  }

  limits(workspaceId: number): Limits | Promise<Limits> {
    return this.#limits.get(`${workspaceId}`, () => this.store.limits(workspaceId))
  }

  limitsChanged(workspaceId: number, limits: Limits): void {
    this.#limits.set(`${workspaceId}`, limits)
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
    // That there is none may be untrue in a moment.
    if (projectId === null) this.#projects.forget(name)
    return projectId
  }

  /** The session is remembered on first use. */
  sessionIsKnown(caller: Caller, session: string, agent: string): KnownSession | Promise<KnownSession> {
    return this.#sessions.get(`${caller.workspaceId}/${session}`, async () => {
      const command = { kind: 'touch', agent } as const
      const alone = { ...caller, idempotency: undefined }
      const request = { on: 'session', name: session, uuid: freshUuid(), command } as const
      return granted(await this.run(alone, request)).record
    })
  }

  /** Whether a claim by these would make nobody known. */
  knows(caller: Caller, agent: string, session: string): boolean {
    return (
      this.#agents.has(`${caller.workspaceId}/${agent}`) &&
      this.#sessions.has(`${caller.workspaceId}/${session}`)
    )
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

type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never
type KernelRequest = DistributiveOmit<Request, 'actor' | 'idempotency' | 'term'>

/** The granted reply; a refusal is thrown. */
export function granted<G extends Granted>(reply: G | Refusal): G {
  if (reply.ok) return reply
  throw Refused.because(reply)
}

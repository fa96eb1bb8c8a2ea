import type { Idempotency, Request } from '../core/batch.ts'
import type { Granted } from '../core/commands.ts'
import { type Refusal, Refused } from '../core/errors.ts'
import type { Limits } from '../core/limits.ts'
import type { Right } from '../core/shapes/administration.ts'
import { Combiner } from '../store/combiner.ts'
import { rememberAgent, rememberSession } from '../store/postgres/names.ts'
import type { PostgresStore } from '../store/postgres/store.ts'
import { changeLimits, readLimitsOf } from '../store/postgres/workspaces.ts'
import { Remembering } from './remembering.ts'
import { WorkArrivals } from './work-arrivals.ts'

/** Who asks: a key's workspace, its name on record and its rights. */
export interface Caller {
  workspaceId: number
  actor: string
  rights: ReadonlySet<Right>
  idempotency?: Idempotency | undefined
}

const KNOWN_FOR_MS = 5_000

/** What all steps of the flow share: the door to the store, and a short memory of names and limits. */
export class Kernel {
  readonly store: PostgresStore
  readonly arrivals: WorkArrivals
  readonly #combiner: Combiner
  readonly #limits: Remembering<Limits>
  readonly #agents: Remembering<readonly string[]>
  readonly #sessions: Remembering<true>

  constructor(store: PostgresStore) {
    this.store = store
    this.#combiner = new Combiner(store)
    this.arrivals = new WorkArrivals(store)
    this.#limits = new Remembering(KNOWN_FOR_MS, 10_000)
    this.#agents = new Remembering(KNOWN_FOR_MS, 100_000)
    this.#sessions = new Remembering(KNOWN_FOR_MS, 100_000)
  }

  run(
    caller: Caller,
    request: DistributiveOmit<Request, 'actor' | 'idempotency'>,
  ): Promise<Granted | Refusal> {
    // Set on the request itself: a copy by spreading costs more than all else that happens here.
    const full = request as Request
    full.actor = caller.actor
    full.idempotency = caller.idempotency
    return this.#combiner.run(caller.workspaceId, full)
  }

  limits(workspaceId: number): Limits | Promise<Limits> {
    return this.#limits.get(`${workspaceId}`, () => readLimitsOf(this.store.writers, workspaceId))
  }

  /** `allowed` sees the present limits under their lock, and throws to refuse. */
  async changeLimits(
    caller: Caller,
    changed: Partial<Limits>,
    allowed: (present: Limits) => void,
  ): Promise<Limits> {
    const limits = await changeLimits(this.store.writers, caller.workspaceId, changed, caller.actor, allowed)
    this.#limits.set(`${caller.workspaceId}`, limits)
    return limits
  }

  /** What an agent can do, by its registration; a slug that is new becomes an external agent. */
  capabilitiesOf(caller: Caller, agent: string): readonly string[] | Promise<readonly string[]> {
    return this.#agents.get(`${caller.workspaceId}/${agent}`, async () => {
      const { capabilities } = await rememberAgent(
        this.store.writers,
        caller.workspaceId,
        agent,
        caller.actor,
      )
      return capabilities
    })
  }

  sessionIsKnown(caller: Caller, session: string, agent: string): true | Promise<true> {
    return this.#sessions.get(`${caller.workspaceId}/${session}`, async () => {
      await rememberSession(this.store.writers, caller.workspaceId, { session, agent }, caller.actor)
      return true
    })
  }

  /** Whether a claim by these would make nobody known. */
  knows(caller: Caller, agent: string, session: string): boolean {
    return (
      this.#agents.has(`${caller.workspaceId}/${agent}`) &&
      this.#sessions.has(`${caller.workspaceId}/${session}`)
    )
  }

  sessionEnded(caller: Caller, session: string): void {
    this.#sessions.forget(`${caller.workspaceId}/${session}`)
  }

  async close(): Promise<void> {
    this.arrivals.close()
    await this.#combiner.close()
  }
}

type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never

/** The reply, or the refusal thrown on to whoever words it. */
export function granted(reply: Granted | Refusal): Granted {
  if (reply.ok) return reply as Granted
  throw Refused.because(reply as Refusal)
}

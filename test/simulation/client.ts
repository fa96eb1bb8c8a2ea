import type { QueueFilter } from '../../src/kernel/batch/queue-filter.ts'
import type { Request } from '../../src/kernel/batch/requests.ts'
import type { Reply } from '../support/replies.ts'
import type { Agent } from './agent.ts'
import type { Grant } from './describe.ts'
import { work } from './holder.ts'
import { Unanswered } from './network.ts'
import { beginAsAgent, isNotWanted } from './registered.ts'
import { beginSession, comeBack, mayLeave } from './session.ts'
import { hashOf } from './trace.ts'
import type { TaskRef, World } from './world.ts'

/** What a client believes to hold, and until when: in the run's time, though it counted on its own clock. */
export interface Holding {
  readonly task: TaskRef
  readonly generation: number
  /** Assigned by the coordinator, it may be another one than its holder's own. */
  readonly session: string
  believesUntil: number
  /** It has ended its work, or given up on it. */
  over: boolean
}

/** A client counts this much less than its answer says: its clock may be slow. */
const SAFETY = 0.95

const NO_WORKER = ['WORKER_GONE', 'WORKER_DRAINING']
const NO_AGENT = ['AGENT_PAUSED', 'AGENT_TERMINATED']

class ClientDied extends Error {
  override name = 'Gone'
}

/** One life of a client process: a session. What it knows is lost with it. */
export class Life {
  readonly agent: Agent
  readonly world: World
  readonly session: string
  /** Of its agent. */
  readonly isFirst: boolean
  readonly holdings: Holding[] = []
  alive = true
  /** It is a worker, as far as it knows. */
  registered = false
  heartbeating = false
  #keys = 0

  constructor(agent: Agent, session: string, isFirst: boolean) {
    this.isFirst = isFirst
    this.agent = agent
    this.world = agent.world
    this.session = session
  }

  async run(): Promise<void> {
    await beginSession(this)
    await beginAsAgent(this)
    for (;;) {
      const holdings = await this.claim()
      for (const holding of holdings) await work(this, holding)
      await mayLeave(this)
      await this.rest(this.#idleMs(holdings.length > 0))
    }
  }

  /** Something this client does beside its other work, until it is done or the client dies. */
  begin(deed: Promise<unknown>): void {
    deed.catch((error) => {
      if (!(error instanceof ClientDied)) this.world.breaks('clientsNeverThrow', String(error.stack))
    })
  }

  #idleMs(foundWork: boolean): number {
    const { random, calm } = this.world
    if (calm) return random.int(2_000, 20_000)
    return foundWork ? random.int(0, 1_000) : random.int(2_000, 20_000)
  }

  rest(ms: number): Promise<void> {
    return this.#whileAlive(this.world.scheduler.sleep(ms, `${this.session} rests`))
  }

  /** Sends once. Throws `Unanswered` when no answer comes. */
  ask(request: Request): Promise<Reply> {
    return this.#whileAlive(this.world.network.call(this.agent, request))
  }

  /** Sends until there is an answer or its retries are used up; returns when it began. */
  async insist(request: Request): Promise<{ reply: Reply; askedAt: number } | null> {
    const { world } = this
    let askedAt = world.scheduler.now
    for (;;) {
      try {
        return { reply: await this.ask(request), askedAt }
      } catch (error) {
        if (!(error instanceof Unanswered)) throw error
        if (!world.calm && world.random.chance(0.15)) return null
        await this.rest(world.random.int(100, 1_500))
        // An answer has the time left when it is given, so the time counts from the try that is answered.
        askedAt = world.scheduler.now
      }
    }
  }

  /** Counts a lease from the moment it sent the request: the server's clock cannot have started earlier. */
  believes(holding: Holding, ttlMs: number, askedAt: number): void {
    holding.believesUntil = askedAt + (ttlMs * SAFETY) / this.agent.plan.clockRate
  }

  /** The same key and body make the same request. A confused client uses an old key for a new one. */
  keyed<T extends Request>(request: T): T {
    const reuse = this.agent.plan.confused && this.#keys > 0 && this.world.random.chance(0.2)
    if (!reuse) this.#keys += 1
    const key = `${this.session}-${this.#keys}`
    const reason = reuse ? ` for another reason ${this.world.trace.lines}` : ''
    return { ...request, idempotency: { key, bodyHash: hashOf(`${JSON.stringify(request)}${reason}`) } }
  }

  /** Death and pauses happen at every wait: it wakes up dead, or much later than it thinks. */
  async #whileAlive<T>(wait: Promise<T>): Promise<T> {
    this.#mayMeetMishap()
    try {
      return await wait
    } finally {
      const { scheduler } = this.world
      while (this.alive && this.agent.pausedUntil > scheduler.now)
        await scheduler.sleep(this.agent.pausedUntil - scheduler.now, `${this.session} wakes up`)
      // biome-ignore lint/correctness/noUnsafeFinally: a dead client gets neither answers nor errors.
      if (!this.alive) throw new ClientDied()
    }
  }

  #mayMeetMishap(): void {
    const { random, faults, scheduler } = this.world
    const soon = () => random.int(0, 60)
    if (random.chance(faults.agentCrash))
      scheduler.after(soon(), `${this.session} dies`, () => this.agent.crash(this, random.int(100, 10_000)))
    if (random.chance(faults.agentPause))
      scheduler.after(soon(), `${this.session} stands still`, () =>
        this.agent.pause(random.int(1_000, 45_000)),
      )
  }

  async claim(): Promise<Holding[]> {
    const { random } = this.world
    const plain = this.#claimRequest()
    if (!plain) return []
    const request = random.chance(0.85) ? this.keyed(plain) : plain
    const answer = await this.insist(request)
    if (!answer) return []
    const { reply, askedAt } = answer
    if (!reply.ok) {
      if (NO_WORKER.includes(String(reply.code))) await comeBack(this)
      if (NO_AGENT.includes(String(reply.code))) await isNotWanted(this, String(reply.code))
      return []
    }
    const granted =
      request.on === 'task'
        ? [{ claim: reply.claim as Grant, record: { id: request.taskId } }]
        : (reply.claims as { claim: Grant; record: { id: number } }[])
    return granted.map(({ claim, record }) => this.took(claim, record.id, askedAt))
  }

  took({ taskId, generation, session, ttlMs }: Grant, id: number, askedAt: number): Holding {
    const holding: Holding = {
      task: { id, uuid: taskId },
      generation,
      session,
      believesUntil: 0,
      over: false,
    }
    this.believes(holding, ttlMs, askedAt)
    this.holdings.push(holding)
    return holding
  }

  #claimRequest(): Request | null {
    const { random, tasks } = this.world
    const { name, capabilities, leaseMs } = this.agent.plan
    const { session } = this
    const actor = `agent:${name}`
    if (random.chance(0.6))
      return { on: 'next', actor, pick: this.#pick(), session, leaseMs, limit: random.int(1, 2) }
    if (tasks.length === 0) return null
    const { id, uuid } = random.pick(tasks)
    const command = { kind: 'claim', agent: name, session, leaseMs, capabilities } as const
    return { on: 'task', actor, taskId: id, uuid, command }
  }

  #pick(): QueueFilter {
    const { random, projects, calm } = this.world
    const { name: agent, capabilities } = this.agent.plan
    // In a calm world every task is to be done.
    const choosy = !calm && random.chance(0.2)
    return {
      agent,
      capabilities,
      ...(choosy && { projectId: random.pick([0, ...projects]) }),
      ...(choosy && random.chance(0.5) && { tracks: [random.pick(['A', 'B'])] }),
    }
  }
}

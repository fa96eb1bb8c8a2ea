import type { Request } from '../../src/kernel/batch/requests.ts'
import { type AssignableTask, type Candidate, offersFor } from '../../src/kinds/agent/rules/assignment.ts'
import type { SeenOf } from '../../src/kinds/kind.ts'
import type { TaskRecord } from '../../src/kinds/task/record.ts'
import type { LeaderLeaseCommand } from '../../src/pure/leader-lease.ts'
import { COORDINATORS } from './leader-lease.ts'
import type { CoordinatorPlan } from './plan.ts'
import type { World } from './world.ts'

/**
 * A node that wants to coordinate. While it holds the leader lease it judges silent agents and assigns work to the others.
 */
export class Coordinator {
  readonly #world: World
  readonly #plan: CoordinatorPlan
  readonly #name: string
  readonly #nodeId: string
  #held: { term: number; until: number } | null = null

  constructor(world: World, place: number) {
    this.#world = world
    this.#plan = world.plan.coordinators[place]!
    this.#name = `c${place + 1}`
    this.#nodeId = COORDINATORS[place]!
  }

  async run(): Promise<void> {
    for (;;) {
      await this.#rest(this.#world.random.int(0, 2 * this.#plan.passMs))
      this.#mayMeetMishap()
      const term = await this.#hold()
      if (term === null) continue
      // The lease it holds now may be lost when it acts.
      if (this.#mishap('stall')) await this.#rest(this.#world.random.int(1_000, 30_000))
      await this.#pass(term)
      if (!this.#world.calm && this.#world.random.chance(0.03)) await this.#requestLease('resign')
    }
  }

  #rest = (ms: number) => this.#world.scheduler.sleep(ms, `${this.#name} rests`)
  #mishap = (kind: 'stall' | 'agentCrash' | 'lostReply') =>
    this.#world.random.chance(this.#world.faults[kind])

  #mayMeetMishap(): void {
    if (!this.#mishap('agentCrash')) return
    this.#world.coverage.fault('coordinator crash')
    this.#held = null
  }

  /** The term it acts under. The lease counts from before it was requested, unless the node ignores that. */
  async #hold(): Promise<number | null> {
    const { scheduler, plan } = this.#world
    const askedAt = scheduler.now
    const isOver = this.#held === null || askedAt >= this.#held.until
    const holds = await this.#requestLease(isOver ? 'take' : 'renew')
    if (holds) this.#held = { term: holds.term, until: askedAt + plan.leaderLeaseMs }
    if (!this.#held || (scheduler.now >= this.#held.until && !this.#plan.stubborn)) return null
    return this.#held.term
  }

  async #requestLease(kind: LeaderLeaseCommand['kind']) {
    const { store, trace, plan, random } = this.#world
    if (random.chance(0.3)) await this.#rest(random.int(0, 2_000))
    const holds = await store.leaderLease({ kind, nodeId: this.#nodeId, leaseMs: plan.leaderLeaseMs })
    trace.add(`  ${this.#name} wants to ${kind} the leader lease → ${holds?.term ?? 'none'}`)
    if (random.chance(0.3)) await this.#rest(random.int(0, 2_000))
    return this.#mishap('lostReply') ? null : holds
  }

  async #pass(term: number): Promise<void> {
    const { store, scheduler, random } = this.#world
    const { now } = scheduler
    const agents = await store.agents()
    const tasks = (await store.tasks()).map(({ record }) => record)
    const due = agents.filter(({ record, holding }) => isToBeJudged(record, holding.length, now))
    const judged = due.map(({ record: { slug } }) =>
      this.#ask(term, {
        on: 'agent',
        actor: '',
        key: slug,
        uuid: this.#world.uuid(),
        command: { kind: 'elapse' },
      }),
    )
    await Promise.all([...judged, ...this.#moveSome(term, tasks)])
    const free = agents.filter(({ record }) => isAssignable(record, now) || random.chance(0.05))
    const offers = offersFor(free.map(candidateOf), waitingAmong(tasks), random.int(1, 4))
    await Promise.all(
      offers.map((slug) => this.#offer(term, free.find(({ record }) => record.slug === slug)!)),
    )
  }

  /** Upkeep does that as well, and under no term. */
  #moveSome(term: number, tasks: readonly TaskRecord[]): Promise<unknown>[] {
    const { scheduler, random } = this.#world
    const isDue = ({ dueAt, blocked }: TaskRecord) => dueAt !== null && dueAt <= scheduler.now && !blocked
    return tasks
      .filter((task) => isDue(task) && random.chance(0.5))
      .map(({ id: taskId, uuid, version }) =>
        this.#ask(term, {
          on: 'task',
          actor: '',
          taskId,
          uuid,
          command: { kind: 'elapse', version },
        }),
      )
  }

  async #offer(term: number, { record }: SeenOf<'agent'>): Promise<void> {
    const { random } = this.#world
    const { slug: agent, capabilities, health } = record
    const session = health?.session ?? `agent:${agent}`
    if (random.chance(0.5))
      await this.#ask(term, {
        on: 'session',
        actor: '',
        key: session,
        uuid: this.#world.uuid(),
        command: { kind: 'touch', agent },
      })
    const pick = { agent, capabilities }
    const leaseMs = random.pick([5_000, 30_000])
    await this.#ask(term, { on: 'next', actor: '', pick, session, leaseMs, limit: 1, byCoordinator: true })
  }

  /** In the log its acts carry its term. */
  async #ask(term: number, request: Request): Promise<void> {
    const { network, scheduler } = this.#world
    const sender = { name: this.#name, clock: () => scheduler.now }
    await network.call(sender, { ...request, term, actor: `coordinator:${term}` }).catch(() => undefined)
  }
}

type Agent = SeenOf<'agent'>['record']

export const isToBeJudged = ({ health, leaving }: Agent, holds: number, now: number) =>
  (leaving && holds === 0) || (health !== null && health.dueAt !== null && health.dueAt <= now)

const isAssignable = ({ state, leaving, coordinatorEnabled, health, staleMs }: Agent, now: number) =>
  state === 'idle' &&
  !leaving &&
  coordinatorEnabled &&
  health?.hasHeartbeat === true &&
  health.lastSeenAt + staleMs > now

const candidateOf = ({ record, holding }: SeenOf<'agent'>): Candidate => ({
  slug: record.slug,
  capabilities: record.capabilities,
  held: holding.length,
  capacity: record.maxConcurrentTasks,
  isDegraded: record.health?.status === 'degraded',
  takes: record.adapterType === 'external' ? 'work' : 'all',
})

function waitingAmong(tasks: readonly TaskRecord[]): AssignableTask {
  const queued = tasks.filter(({ rank }) => rank !== null)
  const reserved = new Map<string, number>()
  for (const { onlyAgent } of queued)
    if (onlyAgent !== null) reserved.set(onlyAgent, (reserved.get(onlyAgent) ?? 0) + 1)
  const kinds = queued
    .filter(({ onlyAgent }) => onlyAgent === null)
    .map(({ capabilities, purpose }) => ({ capabilities, isWork: purpose === 'work', waiting: 1 }))
  return { kinds, reserved }
}

import { uuidCarrying } from '../../src/pure/ids.ts'
import { Agent } from './agent.ts'
import { PacedStore, PausingMemory, type RealStore } from './backing.ts'
import { BatchingNode } from './batching-node.ts'
import { CombinerNode } from './combiner-node.ts'
import { Coordinator } from './coordinator.ts'
import type { Coverage } from './coverage.ts'
import { Ledger } from './ledger.ts'
import { Network } from './network.ts'
import type { ServerNode } from './node.ts'
import { CALM, drawPlan, type Faults, type Plan } from './plan.ts'
import type { TaskPlan } from './plan-tasks.ts'
import type { PlantedBug } from './planted-bug.ts'
import { Random } from './random.ts'
import { Scheduler } from './scheduler.ts'
import { RunStore } from './store.ts'
import { Trace } from './trace.ts'
import { Pauses } from './transaction-pauses.ts'

export interface TaskRef {
  readonly id: number
  readonly uuid: string
}

/** An invariant that was broken. */
export interface Broken {
  readonly invariant: string
  readonly detail: string
}

interface WorldOptions {
  bug: Partial<PlantedBug>
  coverage: Coverage
  /** How much of the trace to keep. */
  lines: number
  /** Where the state lives; in memory unless it is given. */
  real: RealStore | null
}

/** The whole state of one run. All differences between two runs come from the seed. */
export class World {
  readonly random: Random
  readonly trace: Trace
  readonly scheduler: Scheduler
  readonly plan: Plan
  /** The tasks of all requests, by their places. */
  readonly taskPlans: readonly TaskPlan[]
  readonly pauses: Pauses
  readonly store: RunStore
  readonly nodes: ServerNode[]
  readonly network: Network
  readonly ledger: Ledger
  readonly agents: Agent[]
  readonly coordinators: Coordinator[]
  readonly bug: Partial<PlantedBug>
  readonly coverage: Coverage
  /** Tasks that were created, as a list request would show them: those of the plan by their places, then parts. */
  readonly tasks: TaskRef[] = []
  /** The numbers of the plan's projects. */
  readonly projects: number[] = []
  /** Parts that a person wanted to divide a task into. */
  partsRequested = 0
  faults: Faults
  calm = false
  decisions = 0
  broken: Broken | null = null
  readonly #names = new Map<number, string>()
  #uuids = 0

  constructor(seed: number, { bug, coverage, lines, real }: WorldOptions) {
    this.trace = new Trace(lines)
    this.random = new Random(seed)
    this.bug = bug
    this.coverage = coverage
    this.scheduler = new Scheduler(this.random, this.trace)
    this.plan = drawPlan(this.random)
    // A real server is slower; so its runs are shorter.
    if (real) this.plan.stormMs /= 2
    this.taskPlans = this.plan.requests.flat()
    this.faults = this.plan.faults
    this.pauses = new Pauses(this.scheduler, this.random, coverage, () => this.faults)
    const Memory = bug.Memory ?? PausingMemory
    this.store = new RunStore(
      real
        ? new PacedStore(real, this.scheduler, this.random, this.pauses)
        : new Memory(this.scheduler, this.random, this.pauses),
      this.plan.agents.map(({ name }) => name),
    )
    // Bugs are planted where requests are batched, so a broken server does not use the real combiner.
    const Node = this.plan.combiner && !bug.says ? CombinerNode : BatchingNode
    this.nodes = Array.from({ length: this.plan.nodes }, (_, i) => new Node(this, `n${i + 1}`))
    this.network = new Network(this)
    this.ledger = new Ledger((invariant, detail) => this.breaks(invariant, detail), coverage.reply)
    this.agents = this.plan.agents.map((plan) => new Agent(this, plan))
    this.coordinators = this.store.hasAgents
      ? this.plan.coordinators.map((_, place) => new Coordinator(this, place))
      : []
  }

  /** What exists before any actor starts. */
  async prepare(): Promise<void> {
    const { store, plan } = this
    await store.begin(plan.limits)
    for (const [i, { maxAgentsOnTrackA }] of plan.projects.entries()) {
      const projectId = await store.project(`p${i + 1}`)
      this.projects.push(projectId)
      if (maxAgentsOnTrackA !== undefined) await store.setTrack(projectId, 'A', maxAgentsOnTrackA)
    }
  }

  /** `t1`, `t2`, …: in the order in which tasks are first mentioned, since their ids may be the server's own. */
  nameOf = (taskId: number): string => {
    const name = this.#names.get(taskId) ?? `t${this.#names.size + 1}`
    this.#names.set(taskId, name)
    return name
  }

  uuid(): string {
    this.#uuids += 1
    return uuidCarrying(this.#uuids, this.scheduler.now, this.random.int(0, 2 ** 22 - 1))
  }

  /** The first broken invariant is kept: what follows may only be its consequence. */
  breaks(invariant: string, detail: string): void {
    this.broken ??= { invariant, detail }
  }

  calmDown(): void {
    this.calm = true
    this.faults = CALM
  }
}

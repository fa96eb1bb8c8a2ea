import { Agent } from './agent.ts'
import { CombinerNode } from './combiner-node.ts'
import type { Coverage } from './coverage.ts'
import { GatheringNode } from './gathering-node.ts'
import { Ledger } from './ledger.ts'
import { Network } from './network.ts'
import type { ServerNode } from './node.ts'
import { CALM, drawPlan, type Faults, type Plan } from './plan.ts'
import type { PlantedBug } from './planted-bug.ts'
import { Random } from './random.ts'
import { Scheduler } from './scheduler.ts'
import { Pauses, SimulatedStore, WORKSPACE } from './store.ts'
import { Trace } from './trace.ts'

export interface TaskRef {
  readonly id: number
  readonly uuid: string
}

/** A sentence that turned out to be false. */
export interface Broken {
  readonly invariant: string
  readonly detail: string
}

interface WorldOptions {
  bug: Partial<PlantedBug>
  coverage: Coverage
  /** How much of the trace to keep. */
  lines: number
}

/** One run's everything. Whatever differs between two runs comes from the seed. */
export class World {
  readonly random: Random
  readonly trace: Trace
  readonly scheduler: Scheduler
  readonly plan: Plan
  readonly pauses: Pauses
  readonly store: SimulatedStore
  readonly nodes: ServerNode[]
  readonly network: Network
  readonly ledger: Ledger
  readonly agents: Agent[]
  readonly bug: Partial<PlantedBug>
  readonly coverage: Coverage
  /** Tasks that were created, as a list request would show them. */
  readonly tasks: TaskRef[] = []
  faults: Faults
  calm = false
  decisions = 0
  broken: Broken | null = null

  constructor(seed: number, { bug, coverage, lines }: WorldOptions) {
    this.trace = new Trace(lines)
    this.random = new Random(seed)
    this.bug = bug
    this.coverage = coverage
    this.scheduler = new Scheduler(this.random, this.trace)
    this.plan = drawPlan(this.random)
    this.faults = this.plan.faults
    this.pauses = new Pauses(this.scheduler, this.random, coverage, () => this.faults)
    const Store = bug.Store ?? SimulatedStore
    this.store = new Store(this.scheduler, this.random, this.pauses)
    this.store.addWorkspace(WORKSPACE, this.plan.limits)
    // Bugs are planted where requests are gathered, so a broken server does not use the real combiner.
    const Node = this.plan.combiner && !bug.says ? CombinerNode : GatheringNode
    this.nodes = Array.from({ length: this.plan.nodes }, (_, i) => new Node(this, `n${i + 1}`))
    this.network = new Network(this)
    this.ledger = new Ledger((invariant, detail) => this.breaks(invariant, detail), coverage.reply)
    this.agents = this.plan.agents.map((plan) => new Agent(this, plan))
  }

  /** The first broken sentence is kept: what follows may only be its consequence. */
  breaks(invariant: string, detail: string): void {
    this.broken ??= { invariant, detail }
  }

  calmDown(): void {
    this.calm = true
    this.faults = CALM
  }
}

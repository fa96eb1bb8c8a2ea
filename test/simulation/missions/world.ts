import { systemCaller } from '../../../src/kernel/caller.ts'
import type { Caller } from '../../../src/kernel/kernel.ts'
import type { RunStore } from '../../../src/kernel/store/run-store.ts'
import { StoreUnavailable } from '../../../src/kernel/store/store.ts'
import { commandAgent } from '../../../src/kinds/agent/acts/agents.ts'
import { Coverage } from '../coverage.ts'
import { CALM, type Faults } from '../plan.ts'
import { Random } from '../random.ts'
import { PausingRunMemory } from '../runs/memory.ts'
import { Scheduler } from '../scheduler.ts'
import { Trace } from '../trace.ts'
import { Pauses } from '../transaction-pauses.ts'
import type { MissionBug } from './bugs.ts'
import { MissionNetwork } from './network.ts'
import { MissionNode } from './node.ts'
import { TEMPLATE } from './plans.ts'

/** People and agents act, and things go wrong; then nobody acts, and upkeep has to repair; then everybody does what helps. */
export type Season = 'storm' | 'still' | 'calm'

/** People, agents and nodes that die: all differences between two runs come from the seed. */
export class MissionWorld {
  readonly random: Random
  readonly trace: Trace
  readonly scheduler: Scheduler
  readonly coverage = new Coverage()
  readonly pauses: Pauses
  readonly memory: PausingRunMemory
  readonly network: MissionNetwork
  readonly workspace = 1
  readonly nodes: MissionNode[] = []
  readonly agents: readonly string[]
  /** Contractors are made from it while it is there. */
  readonly template = TEMPLATE
  /** Those that may plan. */
  readonly planners: readonly string[]
  readonly stormMs: number
  readonly #bug: Partial<MissionBug>
  readonly #storm: Faults
  season: Season = 'storm'
  broken: { invariant: string; detail: string } | null = null
  /** Until then no node is started. */
  #darkUntil = 0
  #started = 0

  constructor(seed: number, bug: Partial<MissionBug>, lines: number) {
    this.#bug = bug
    this.random = new Random(seed)
    this.trace = new Trace(lines)
    const { random } = this
    this.scheduler = new Scheduler(random, this.trace)
    this.#storm = drawFaults(random)
    this.pauses = new Pauses(this.scheduler, random, this.coverage, () => this.faults)
    this.memory = new PausingRunMemory(this.scheduler, random, this.pauses)
    this.memory.addWorkspace(this.workspace, { lateResults: random.chance(0.7) })
    this.network = new MissionNetwork(this)
    this.agents = Array.from({ length: random.int(2, 4) }, (_, i) => `a${i + 1}`)
    this.planners = this.agents.slice(0, random.int(1, 2))
    this.stormMs = random.pick([30_000, 60_000, 120_000, 300_000])
  }

  get faults(): Faults {
    return this.season === 'storm' ? this.#storm : CALM
  }

  /** Upkeep is quick in a storm, so that it meets others at work. */
  get upkeepMs(): number {
    return this.season === 'storm' ? 1_500 : 5_000
  }

  /** A person, who may do everything. */
  get person(): Caller {
    return {
      ...systemCaller(this.workspace),
      actor: 'key:person',
      waits: undefined,
      rights: new Set(['configure_agents', 'operate']),
    }
  }

  async begin(): Promise<void> {
    for (let i = 0; i < this.random.int(1, 2); i++) this.startNode()
    if (this.stormMs > 200_000) this.#planOutage()
    for (const slug of [...this.agents, this.template]) {
      const profile = { capabilities: this.planners.includes(slug) ? ['planning'] : [] }
      await commandAgent(this.nodes[0]!.kernel, this.person, slug, {
        ...{ kind: 'register', profile, ifVersion: null },
      })
    }
  }

  startNode(): void {
    const node = new MissionNode(this, `n${++this.#started}`)
    this.nodes.push(node)
    node.start().catch((error) => this.fault(error, 'a node'))
  }

  died(): void {
    this.coverage.fault('node died')
    const darkMs = Math.max(0, this.#darkUntil - this.scheduler.now)
    this.scheduler.after(darkMs + this.random.int(100, 10_000), 'another node starts', () => this.startNode())
  }

  /** For minutes no node runs: what is due in that time is missed. */
  #planOutage(): void {
    const { random, scheduler, stormMs } = this
    const lastsMs = random.int(50_000, 200_000)
    scheduler.after(random.int(20_000, stormMs - lastsMs - 20_000), 'an outage', () => {
      this.coverage.fault('outage')
      this.#darkUntil = scheduler.now + lastsMs
      for (const node of this.alive) node.kill()
    })
  }

  get alive(): MissionNode[] {
    return this.nodes.filter((node) => node.isAlive())
  }

  /** One node does upkeep; now and then another believes that it has to. */
  leads = (node: MissionNode) =>
    this.alive[0] === node || (this.season === 'storm' && this.random.chance(0.3))

  /** The store with its planted bug. */
  bugged(store: RunStore): RunStore {
    const { view = (seen) => seen, changes = (decided) => decided, reads } = this.#bug
    const transact: RunStore['transact'] = (workspaceId, step) => {
      if (step.on !== 'batch') return store.transact(workspaceId, step)
      const decide: typeof step.decide = (seen) => {
        const decided = step.decide(view(seen))
        return { ...decided, changes: changes(decided.changes) }
      }
      return store.transact(workspaceId, { ...step, decide })
    }
    const over = (part: object, more: object | undefined) =>
      more ? Object.assign(Object.create(part), more) : part
    const { missions, verifications, reports, routines, agents, followers, ...whole } = reads ?? {}
    return Object.assign(Object.create(store), whole, {
      transact,
      missions: over(store.missions, missions),
      verifications: over(store.verifications, verifications),
      reports: over(store.reports, reports),
      routines: over(store.routines, routines),
      agents: over(store.agents, agents),
      followers: over(store.followers, followers),
    })
  }

  note(text: string): void {
    this.trace.note(text)
  }

  breaks(invariant: string, detail: string): void {
    this.broken ??= { invariant, detail }
  }

  /** An error that nobody should have met. */
  fault(error: unknown, what: string): void {
    if (error instanceof StoreUnavailable) return
    this.breaks('nothingFails', `${what}: ${error instanceof Error ? error.stack : String(error)}`)
  }
}

/** Each kind is missing from some worlds: a fault that is always there can hide what happens without it. */
const drawFaults = (random: Random): Faults => ({
  ...CALM,
  lostRequest: random.pick([0, 0.05]),
  lostReply: random.pick([0, 0.1, 0.2]),
  duplicate: random.pick([0, 0.1, 0.3]),
  slow: random.pick([0, 0.1, 0.3]),
  stall: random.pick([0, 0.02, 0.1]),
  nodeCrash: random.pick([0, 0.01, 0.03, 0.06]),
})

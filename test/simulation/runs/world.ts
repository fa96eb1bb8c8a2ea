import type { RunKernel } from '../../../src/door/server-kernel.ts'
import type { WorkFolders } from '../../../src/executor/work/folders.ts'
import { systemCaller } from '../../../src/kernel/caller.ts'
import type { RunStore } from '../../../src/kernel/store/run-store.ts'
import { type BatchStep, StoreUnavailable } from '../../../src/kernel/store/store.ts'
import { commandAgent } from '../../../src/kinds/agent/acts/agents.ts'
import type { AgentProfile } from '../../../src/kinds/agent/record.ts'
import { runFolderOf } from '../../../src/kinds/run/shapes/folder.ts'
import { uuidCarrying } from '../../../src/pure/ids.ts'
import { openKernel } from '../../../src/upkeep/open-kernel.ts'
import { Coverage } from '../coverage.ts'
import { CALM, type Faults } from '../plan.ts'
import { Random } from '../random.ts'
import { Scheduler } from '../scheduler.ts'
import { Trace } from '../trace.ts'
import { Pauses } from '../transaction-pauses.ts'
import type { RunBug } from './bugs.ts'
import { Repository, type SimulatedFolder } from './folders.ts'
import { LaterAgents } from './later.ts'
import { Machine, memoryLogs } from './machine.ts'
import { PausingRunMemory, storeOf } from './memory.ts'
import { RunNode } from './node.ts'

/** The step of a batch that writes something else than what was decided. */
const withChanges = <T>(step: BatchStep<T>, change: NonNullable<RunBug['batch']>): BatchStep<T> => ({
  ...step,
  decide(view) {
    const decided = step.decide(view)
    return { ...decided, changes: change(decided.changes) }
  },
})

/** A fleet of agents that Baton runs, on nodes that die: all differences between two runs come from the seed. */
export class RunWorld {
  readonly random: Random
  readonly trace: Trace
  readonly scheduler: Scheduler
  readonly coverage = new Coverage()
  readonly pauses: Pauses
  readonly memory: PausingRunMemory
  readonly logs = memoryLogs()
  readonly workspace = 1
  readonly machines: Machine[]
  readonly nodes: RunNode[] = []
  /** Those who are no node: people and programs that create and change things. They never die. */
  readonly outside: RunKernel
  readonly slugs: readonly string[]
  readonly tasks: { id: number; uuid: string }[] = []
  readonly stormMs: number
  /** Whether its agents accept their work and answer later. */
  readonly answersLater: boolean
  readonly later = new LaterAgents(this)
  readonly repository = new Repository()
  /** The runs whose programs worked for a task, by its id. */
  readonly worked = new Map<string, { runId: string; generation: number }[]>()
  readonly #bug: Partial<RunBug>
  readonly #faults: Faults
  calm = false
  broken: { invariant: string; detail: string } | null = null
  #uuids = 0
  #started = 0

  /** Whether people set budgets, which its agents spend. */
  readonly hasMoney: boolean

  constructor(
    seed: number,
    { bug, lines, later, money }: { bug: Partial<RunBug>; lines: number; later: boolean; money: boolean },
  ) {
    this.#bug = bug
    this.answersLater = later
    this.hasMoney = money
    this.random = new Random(seed)
    this.trace = new Trace(lines)
    const { random } = this
    this.scheduler = new Scheduler(random, this.trace)
    this.#faults = { ...CALM, stall: random.pick([0, 0.01]), nodeCrash: random.pick([0, 0.003, 0.01, 0.03]) }
    this.pauses = new Pauses(this.scheduler, random, this.coverage, () => (this.calm ? CALM : this.#faults))
    // The world begins at midnight, so that a period of a day ends in the storm.
    const behindMs = money ? random.int(2_000, 20_000) : 0
    this.memory = new PausingRunMemory(this.scheduler, random, this.pauses, behindMs)
    this.memory.addWorkspace(this.workspace, { maxConcurrentClaims: 1_000 })
    this.machines = Array.from({ length: random.int(1, 2) }, (_, i) => new Machine(`m${i + 1}`))
    this.slugs = Array.from({ length: random.int(1, 3) }, (_, i) => `a${i + 1}`)
    this.stormMs = random.pick([20_000, 60_000, 180_000])
    const person = {
      label: 'person',
      order: 0,
      abandoned: false,
      committing: false,
      killNode: () => undefined,
    }
    const user = { name: 'person', isAlive: () => true, begin: () => ({ ...person }), end: () => undefined }
    const store = storeOf(this.memory, { ...user, readMs: () => 0 }, this.scheduler)
    const nobody = { agentOf: () => Promise.reject(new Error('unused')), projectOf: async () => null }
    this.outside = openKernel(store, nobody)
  }

  async registerAgents(): Promise<void> {
    const { random } = this
    for (const slug of this.slugs) {
      const profile: Partial<AgentProfile> = {
        adapterType: this.answersLater ? 'later' : 'scripted',
        adapterConfig: {
          ...{ timeoutSec: random.pick([5, 60]), graceSec: random.pick([0, 2]) },
          ...{ cwd: '/repository', workspace: 'git_worktree' },
        },
        runtimeConfig: {
          heartbeat: {
            intervalSec: random.pick([null, null, 5]),
            cooldownSec: random.pick([0, 0, 3]),
            maxWakeupsPerTaskPerHour: 100_000,
          },
        },
        maxConcurrentTasks: random.pick([1, 1, 2, 3]),
        coordinatorEnabled: random.chance(0.8),
      }
      await commandAgent(this.outside, systemCaller(this.workspace), slug, {
        kind: 'register',
        profile,
        ifVersion: null,
      })
    }
  }

  /** The store with its planted bug. */
  bugged(store: RunStore): RunStore {
    const { view = (seen) => seen, changes = (decided) => decided, wakeups, runs, cluster, batch } = this.#bug
    const transact: RunStore['transact'] = (workspaceId, step) => {
      if (step.on !== 'runs') return store.transact(workspaceId, batch ? withChanges(step, batch) : step)
      const decide: typeof step.decide = (seen) => {
        const decided = step.decide(view(seen))
        return { ...decided, changes: changes(decided.changes, seen) }
      }
      return store.transact(workspaceId, { ...step, decide })
    }
    const over = <T extends object>(part: T, more: Partial<T> | undefined) =>
      more ? Object.assign(Object.create(part), more) : part
    return Object.assign(Object.create(store), {
      transact,
      wakeups: over(store.wakeups, wakeups),
      runs: over(store.runs, runs),
      cluster: over(store.cluster, cluster),
    })
  }

  /** Folders with their planted bug. */
  buggedFolders(folders: WorkFolders): WorkFolders {
    return { ...folders, ...this.#bug.folders?.(folders, this) }
  }

  /** A program leaves its mark in its folder as soon as it starts. */
  work(
    runId: string,
    task: { id: string; generation: number } | null,
    folder: SimulatedFolder | undefined,
  ): void {
    if (!task || !folder) return
    folder.marks.add(runId)
    const runs = this.worked.get(task.id) ?? []
    this.worked.set(task.id, [...runs, { runId, generation: task.generation }])
  }

  /** Whether a program of any run works in a folder. */
  isWorkedIn({ programs }: Machine, path: string): boolean {
    const { runs } = this.memory.whole(this.workspace)
    return [...programs.keys()].some((runId) => runFolderOf(runs.get(runId)?.folder)?.path === path)
  }

  startNode(machine: Machine): void {
    const node = new RunNode(this, `n${++this.#started}`, machine)
    this.nodes.push(node)
    node.start()
  }

  died(node: RunNode): void {
    this.coverage.fault('node died')
    this.note(`${node.name} dies`)
    this.scheduler.after(this.random.int(100, 20_000), `another ${node.name} starts`, () =>
      this.startNode(node.machine),
    )
  }

  get alive(): RunNode[] {
    return this.nodes.filter((node) => node.isAlive())
  }

  /** One node coordinates; now and then another believes that it does, too. */
  leads = (node: RunNode) => this.alive[0] === node || (!this.calm && this.random.chance(0.1))

  uuid(): string {
    return uuidCarrying(++this.#uuids, this.scheduler.now, this.random.int(0, 2 ** 22 - 1))
  }

  note(text: string): void {
    this.trace.note(text)
  }

  breaks(invariant: string, detail: string): void {
    this.broken ??= { invariant, detail }
  }

  /** An error that nobody should have met. Adapters have faults of their own. */
  fault(error: unknown, what: string): void {
    if (error instanceof StoreUnavailable) return
    this.breaks('nothingFails', `${what}: ${error instanceof Error ? error.stack : String(error)}`)
  }
}

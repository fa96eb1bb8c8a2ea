import type { Logger } from 'pino'
import { AdapterRegistry } from '../../../src/adapters/registry.ts'
import type { RunKernel } from '../../../src/door/server-kernel.ts'
import { keeper } from '../../../src/door/upkeep-step.ts'
import { RunCallbacks } from '../../../src/executor/callbacks.ts'
import type { ExecutorContext } from '../../../src/executor/context.ts'
import { Executor } from '../../../src/executor/executor.ts'
import {
  recoverAtStart,
  recoverForgotten,
  recoverRuns,
  releaseClaimsLeft,
} from '../../../src/executor/recovery.ts'
import { StoreRetry } from '../../../src/executor/store-retry.ts'
import { type Processes, sleep, type Timers } from '../../../src/executor/timers.ts'
import type { Directory } from '../../../src/kernel/kernel.ts'
import { LiveOutput } from '../../../src/kernel/live-output.ts'
import { Refused } from '../../../src/pure/errors.ts'
import { openKernel } from '../../../src/upkeep/open-kernel.ts'
import { type CoordinatorContext, STEPS } from '../../../src/upkeep/pass.ts'
import type { Transaction } from '../transaction-pauses.ts'
import { simulatedAgents } from './adapter.ts'
import { simulatedFolders } from './folders.ts'
import { laterAgents } from './later.ts'
import type { Machine } from './machine.ts'
import { type StoreUser, storeOf } from './memory.ts'
import type { RunWorld } from './world.ts'

const HEARTBEAT_MS = 2_000
const RECOVER_MS = 10_000
const FORGOTTEN_AFTER_MS = 35_000

/** The memory store has no counters to correct, nor an inbox. */
const NOT_HERE = new Set(['countersCorrected', 'alertsSettled', 'alertsFollowed', 'alertsSwept'])

/** A process of Baton that runs agents and coordinates: the real executor, recovery and upkeep, until it dies. */
export class RunNode implements StoreUser {
  readonly name: string
  readonly id: string
  readonly machine: Machine
  readonly kernel: RunKernel
  readonly context: ExecutorContext
  readonly executor: Executor
  readonly #world: RunWorld
  readonly #pid: number
  readonly #underWay = new Set<Transaction>()
  #alive = true
  #transactions = 0

  constructor(world: RunWorld, name: string, machine: Machine) {
    this.#world = world
    this.name = name
    this.machine = machine
    this.id = world.uuid()
    this.#pid = machine.start()
    const store = world.bugged(storeOf(world.memory, this, world.scheduler))
    this.kernel = openKernel(store, directoryOf(world), (error, what) => world.fault(error, what))
    const registry = new AdapterRegistry()
    const storeRetry = new StoreRetry(this.timers)
    const callbacks = new RunCallbacks(store, { nodeId: this.id, timers: this.timers, storeRetry })
    registry.register(simulatedAgents(world, machine, this.timers))
    registry.register(laterAgents(world, callbacks, this.timers))
    this.context = {
      ...{ kernel: this.kernel, node: { id: this.id, name }, registry, live: new LiveOutput() },
      ...{ logs: world.logs, logStores: new Map([[world.logs.type, world.logs]]) },
      ...{ callbacks, storeRetry, secrets: new Map(), own: {}, dataFolder: '/', agentRoots: [] },
      ...{ policy: { adapters: ['*'], commands: null, env: [] }, nodeSecrets: [] },
      ...{ baseUrl: () => 'http://127.0.0.1:1', mostRuns: 8, excerptBytes: 32_768 },
      ...{ timers: this.timers, processes: this.#processes, log: this.#log },
      folders: world.buggedFolders(simulatedFolders(world, machine, this.timers)),
      ...{ working: new Map(), requestsFile: async () => null, traces: null },
    }
    this.executor = new Executor(this.context)
  }

  isAlive = () => this.#alive
  readMs = () => {
    const { random, calm } = this.#world
    return !calm && random.chance(0.02) ? random.int(100, 5_000) : random.int(0, 3)
  }

  begin(): Transaction {
    const label = `${this.name}#${++this.#transactions}`
    const transaction = { label, order: 0, abandoned: false, committing: false, killNode: () => this.kill() }
    this.#underWay.add(transaction)
    return transaction
  }

  end(transaction: Transaction): void {
    this.#underWay.delete(transaction)
  }

  start(): void {
    this.#beat()
    void recoverAtStart(this.context, this.machine.host)
      .catch((error) => this.#world.fault(error, 'recovery at start'))
      .then(() => this.executor.start())
      .then(() => (this.#world.answersLater ? this.#recover() : undefined))
      .catch((error) => this.#world.fault(error, 'runs of lost nodes'))
    const missingSince = new Map<string, number>()
    const unworkedSince = new Map<string, number>()
    this.#loop(RECOVER_MS, async () => {
      await this.#recover()
      const isInProgress = (runId: string) => this.executor.runs(runId)
      const afterMs = FORGOTTEN_AFTER_MS
      await recoverForgotten(this.context, isInProgress, { missingSince, afterMs })
      await releaseClaimsLeft(this.context, { missingSince: unworkedSince, afterMs })
    })
    const kept = keeper()
    this.#loop(1_000, async () => {
      if (!this.#world.leads(this)) return
      const about = { kernel: this.kernel, kept }
      for (const { name, run } of STEPS)
        if (!NOT_HERE.has(name)) await run(about as unknown as CoordinatorContext)
    })
  }

  #recover = () => recoverRuns(this.context, this.machine.host, (run) => this.executor.adopt(run))

  /** As `kill -9` does it: its programs keep running. */
  kill(): void {
    if (!this.#alive) return
    this.#alive = false
    this.machine.started.delete(this.#pid)
    for (const transaction of this.#underWay) transaction.abandoned = true
    this.#world.died(this)
  }

  #beat(): void {
    const { machine, id: nodeId } = this
    const pidStarted = machine.started.get(this.#pid)!
    const node = { nodeId, pid: this.#pid, host: machine.host, bootId: machine.bootId, pidStarted }
    this.#world.memory.cluster.nodeIsSeen(node)
    this.timers.after(HEARTBEAT_MS, () => this.#beat())
  }

  #loop(everyMs: number, act: () => Promise<unknown>): void {
    const again = async () => {
      for (;;) {
        await sleep(this.timers, everyMs * (0.5 + this.#world.random.next()))
        await act().catch((error) => {
          // Decided by another node meanwhile.
          if (!(error instanceof Refused)) this.#world.fault(error, 'a loop')
        })
      }
    }
    void again()
  }

  readonly timers: Timers = {
    now: () => this.#world.scheduler.now,
    random: () => this.#world.random.next(),
    after: (ms, act) => {
      if (!this.#alive) return () => undefined
      const job = this.#world.scheduler.after(ms, `${this.name} timer`, () => {
        if (this.#alive) act()
      })
      return () => {
        job.cancelled = true
      }
    },
    every: (ms, act) => {
      let cancel = () => {}
      const again = () => {
        cancel = this.timers.after(ms, () => {
          again()
          act()
        })
      }
      again()
      return () => cancel()
    },
  }

  readonly #processes: Processes = {
    end: async ({ runId }) => {
      await sleep(this.timers, this.#world.random.int(0, 50))
      this.machine.programs.delete(runId)
    },
    ofRun: async (runId) => (this.machine.programs.has(runId) ? [{ pid: 0, startTime: '0' }] : []),
    inFolder: async (path) =>
      this.#world.isWorkedIn(this.machine, path) ? [{ pid: 0, startTime: '0' }] : [],
    marked: () => [...this.machine.programs.keys()],
    bootId: () => this.machine.bootId,
    startTimeOf: (pid) => this.machine.started.get(pid) ?? null,
  }

  /** What is logged as an error is one: nothing in this world may cause it but the adapter's own faults. */
  readonly #log = {
    info: () => undefined,
    warn: () => undefined,
    error: (about: { err?: unknown }, what: string) => this.#world.fault(about.err, what),
  } as unknown as Logger
}

/** Agents are registered beforehand. */
const directoryOf = (world: RunWorld): Directory => ({
  async agentOf(_caller, name) {
    const agents = await world.memory.agents.list(world.workspace, {}, 1_000)
    const found = agents.find(({ record }) => record.slug === name || record.uuid === name)
    if (!found) throw new Refused('NOT_FOUND', `There is no agent "${name}".`)
    return { slug: found.record.slug, capabilities: found.record.capabilities }
  },
  projectOf: async () => null,
})

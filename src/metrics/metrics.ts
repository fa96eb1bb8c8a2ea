import { collectDefaultMetrics, type Registry } from 'prom-client'
import type { Coordination } from '../door/coordination.ts'
import type { ServerKernel } from '../door/server-kernel.ts'
import { outages } from '../postgres/connection/unavailable.ts'
import { ClusterGauges } from './cluster.ts'
import { Counting } from './counting.ts'
import { Labels } from './labels.ts'
import { type Instruments, instruments } from './registry.ts'

/** How exactly the delays of the event loop are measured: each measurement wakes the process. */
const LAG_EVERY_MS = 100

interface About {
  kernel: ServerKernel
  coordinator: Pick<Coordination, 'state'>
  version: string
  node: string
  /** How many workspaces, and how many projects, have series of their own. */
  mostLabels: number
  runsActive: () => number
  /** How long figures of all nodes are kept; by default ten seconds. */
  knownForMs?: number
}

/** The metrics of a node. What is counted costs next to nothing; everything else is read when it is scraped. */
export class Metrics {
  readonly contentType: string
  readonly #registry: Registry
  readonly #all: Instruments
  readonly #about: About
  readonly #counting: Counting
  readonly #cluster: ClusterGauges
  #isMeasured = false
  readonly #stops: (() => void)[]

  constructor(about: About) {
    const { kernel, version, node, mostLabels, knownForMs } = about
    const { registry, all } = instruments()
    this.#about = about
    this.#registry = registry
    this.#all = all
    this.contentType = registry.contentType
    const labels = new Labels(kernel.store.readers, mostLabels)
    this.#counting = new Counting(all, labels, kernel.fault)
    this.#cluster = new ClusterGauges({ store: kernel.store, labels, all, fault: kernel.fault, knownForMs })
    all.baton_build_info.set({ version, node }, 1)
    this.#stops = [kernel.store.onWritten(this.#counting.written), kernel.onAnswered(this.#counting.answered)]
  }

  /** A request that was answered. */
  answered(method: string, route: string, status: number, ms: number): void {
    const labels = { method, route, status: `${Math.floor(status / 100)}xx` }
    this.#all.baton_http_request_duration_seconds.observe(labels, ms / 1000)
  }

  /** A pass of the coordinator. */
  passed(ms: number): void {
    this.#all.baton_coordinator_cycle_duration_seconds.observe(ms / 1000)
  }

  /** All of it, in the text format. */
  async text(): Promise<string> {
    this.#measureProcess()
    const { coordinator, runsActive } = this.#about
    const isLeader = coordinator.state().term !== null
    await this.#cluster.refresh(isLeader)
    await this.#counting.settled()
    this.#all.baton_coordinator_leads.set(isLeader ? 1 : 0)
    this.#all.baton_runs_active.set(runsActive())
    this.#setConnections()
    return this.#registry.metrics()
  }

  close(): void {
    for (const stop of this.#stops) stop()
  }

  /** From the first scrape on: a server that nobody watches is not woken for it. */
  #measureProcess(): void {
    if (this.#isMeasured) return
    this.#isMeasured = true
    collectDefaultMetrics({ register: this.#registry, eventLoopMonitoringPrecision: LAG_EVERY_MS })
  }

  #setConnections(): void {
    const { readers, writers, control, output } = this.#about.kernel.store
    for (const [pool, { totalCount, idleCount, waitingCount }] of Object.entries({
      ...{ readers, writers, control, output },
    })) {
      this.#all.baton_database_connections.set({ pool, state: 'busy' }, totalCount - idleCount)
      this.#all.baton_database_connections.set({ pool, state: 'idle' }, idleCount)
      this.#all.baton_database_connections.set({ pool, state: 'waiting' }, waitingCount)
    }
    this.#all.baton_database_errors_total.reset()
    this.#all.baton_database_errors_total.inc(outages.count)
  }
}

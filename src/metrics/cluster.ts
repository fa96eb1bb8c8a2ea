import type { ServerStore } from '../door/server-store.ts'
import { type Labels, OTHER } from './labels.ts'
import { clusterCounts, queueAge } from './postgres.ts'
import type { Instruments } from './registry.ts'

/** What is about all nodes: read from the database, by the leader alone, when it is scraped. */

/** A scrape within this time gets the same figures. */
const KNOWN_FOR_MS = 10_000
/** A database that does not answer must not hold up the metrics that show it. */
const WAITED_FOR_MS = 2_000

const CLUSTER = [
  ...(['baton_active_claims', 'baton_pending_tasks', 'baton_completed_tasks', 'baton_tasks'] as const),
  ...(['baton_queue_age_seconds', 'baton_workspace_info', 'baton_agents'] as const),
  ...(['baton_coordinator_stale_agents', 'baton_follower_lag_events', 'baton_nodes'] as const),
]

type ReadStore = Pick<ServerStore, 'readers' | 'cluster' | 'followers'>

export class ClusterGauges {
  readonly #store: ReadStore
  readonly #labels: Labels
  readonly #all: Instruments
  readonly #fault: (error: unknown, what: string) => void
  readonly #knownForMs: number
  #readAt = Number.NEGATIVE_INFINITY
  #reading: Promise<void> | null = null

  constructor(of: {
    store: ReadStore
    labels: Labels
    all: Instruments
    fault: (error: unknown, what: string) => void
    knownForMs?: number | undefined
  }) {
    this.#store = of.store
    this.#labels = of.labels
    this.#all = of.all
    this.#fault = of.fault
    this.#knownForMs = of.knownForMs ?? KNOWN_FOR_MS
  }

  /** A node that does not lead has no such series, so a sum over nodes is right. */
  async refresh(isLeader: boolean): Promise<void> {
    if (!isLeader) return this.#clear()
    if (performance.now() - this.#readAt < this.#knownForMs) return
    this.#reading ??= this.#read().finally(() => {
      this.#reading = null
    })
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<'late'>((resolve) => {
      timer = setTimeout(() => resolve('late'), WAITED_FOR_MS)
    })
    const outcome = await Promise.race([this.#reading, late]).finally(() => clearTimeout(timer))
    // What is not known is left out: an old figure would look like a new one.
    if (outcome === 'late') this.#clear()
  }

  #clear(): void {
    this.#readAt = Number.NEGATIVE_INFINITY
    for (const name of CLUSTER) this.#all[name].reset()
  }

  async #read(): Promise<void> {
    try {
      await this.#labels.learn()
      const { named, projects } = this.#labels
      const ids = named.map(({ workspaceId }) => workspaceId)
      const [counts, nodes] = await Promise.all([
        clusterCounts(this.#store.readers, { workspaces: ids, projects }, this.#store.followers.cached),
        this.#store.cluster.nodes(),
      ])
      const queued = counts.workspaces.filter(
        ({ workspaceId, states }) => workspaceId > 0 && states.queued! > 0,
      )
      const ages = await Promise.all(
        queued.map(
          async ({ workspaceId }) => [workspaceId, await queueAge(this.#store.readers, workspaceId)] as const,
        ),
      )
      this.#clear()
      this.#set(counts, new Map(ages))
      for (const state of ['alive', 'silent', 'stopped'] as const)
        this.#all.baton_nodes.set({ state }, nodes.filter((node) => node.state === state).length)
      this.#readAt = performance.now()
    } catch (error) {
      this.#clear()
      this.#fault(error, 'the figures of all nodes could not be read')
    }
  }

  #set(counts: Awaited<ReturnType<typeof clusterCounts>>, ages: ReadonlyMap<number, number | null>): void {
    const all = this.#all
    for (const { uuid, name } of this.#labels.named)
      all.baton_workspace_info.set({ workspace: uuid, name }, 1)
    const inProjects = new Map<number, { pending: number; completed: number; activeClaims: number }>()
    for (const { workspaceId, projectId, ...row } of counts.projects) {
      const project = (projectId > 0 && this.#labels.of(workspaceId, projectId)?.project) || OTHER
      this.#work({ workspace: this.#workspace(workspaceId), project }, row)
      const sum = inProjects.get(workspaceId) ?? { pending: 0, completed: 0, activeClaims: 0 }
      sum.pending += row.pending
      sum.completed += row.completed
      sum.activeClaims += row.activeClaims
      inProjects.set(workspaceId, sum)
    }
    for (const { workspaceId, activeClaims, states } of counts.workspaces) {
      const workspace = this.#workspace(workspaceId)
      const inside = inProjects.get(workspaceId) ?? { pending: 0, completed: 0, activeClaims: 0 }
      const pending = states.pending! + states.queued! + states.awaiting_retry!
      this.#work(
        { workspace, project: '' },
        {
          pending: pending - inside.pending,
          completed: states.completed! - inside.completed,
          activeClaims: activeClaims - inside.activeClaims,
        },
      )
      for (const [state, tasks] of Object.entries(states)) all.baton_tasks.set({ workspace, state }, tasks)
      if (workspaceId > 0) all.baton_queue_age_seconds.set({ workspace }, ages.get(workspaceId) ?? 0)
      all.baton_coordinator_stale_agents.inc({ workspace }, 0)
    }
    for (const { workspaceId, state, count } of counts.agents) {
      const workspace = this.#workspace(workspaceId)
      all.baton_agents.set({ workspace, state }, count)
      if (state === 'offline' || state === 'error')
        all.baton_coordinator_stale_agents.inc({ workspace }, count)
    }
    for (const { follower, lag } of counts.followers) all.baton_follower_lag_events.set({ follower }, lag)
  }

  #work(
    labels: { workspace: string; project: string },
    { pending, completed, activeClaims }: { pending: number; completed: number; activeClaims: number },
  ): void {
    this.#all.baton_pending_tasks.inc(labels, pending)
    this.#all.baton_completed_tasks.inc(labels, completed)
    this.#all.baton_active_claims.inc(labels, activeClaims)
  }

  #workspace(workspaceId: number): string {
    return (workspaceId > 0 && this.#labels.workspace(workspaceId)) || OTHER
  }
}

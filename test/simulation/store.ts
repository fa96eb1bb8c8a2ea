import { ONLY_WORK } from '../../src/kernel/batch/queue-filter.ts'
import { readSetOf, type View } from '../../src/kernel/batch/requests.ts'
import type { Direction, Transactor } from '../../src/kernel/store/store.ts'
import { NO_KEYS } from '../../src/kinds/all.ts'
import type { StoredEvent } from '../../src/kinds/events.ts'
import type { KindName, SeenOf } from '../../src/kinds/kind.ts'
import type { Limits } from '../../src/kinds/workspace/limits.ts'
import type { LeaderLeaseCommand, LeaderTerm } from '../../src/pure/leader-lease.ts'
import type { Backing } from './backing.ts'
import { CAPABILITY } from './plan-tasks.ts'

/** More than any run makes. */
const ALL = 1_000

/** The one workspace of a run: its transact, its reads, and a read of everything between two steps. */
export class RunStore {
  readonly #in: Backing
  /** Of all tasks that were ever created, according to the log: lists leave out some. */
  readonly #taskIds = new Set<number>()
  /** All names that may be registered as agents. */
  readonly #slugs: readonly string[]
  #workspaceId = 0

  constructor(backing: Backing, slugs: readonly string[]) {
    this.#in = backing
    this.#slugs = backing.leaderLease ? slugs : []
  }

  /** The store has agents, and a leader lease. */
  get hasAgents(): boolean {
    return this.#in.leaderLease !== null
  }

  get terms(): readonly LeaderTerm[] {
    return this.#in.leaderLease?.terms ?? []
  }

  leaderLease = (command: LeaderLeaseCommand): Promise<LeaderTerm | null> =>
    this.#in.leaderLease!.command(command)

  async begin(limits: Limits): Promise<void> {
    this.#workspaceId = await this.#in.newWorkspace(limits)
  }

  transact: Transactor<KindName>['transact'] = (_, step) => this.#in.transact(this.#workspaceId, step)

  project = (slug: string) => this.#in.store.project(this.#workspaceId, slug)
  setTrack = (projectId: number, track: string, maxAgents: number | null) =>
    this.#in.store.setTrack(this.#workspaceId, projectId, track, maxAgents)

  task = (taskId: number) => this.#in.waitFor(this.#in.store.task(this.#workspaceId, taskId))
  tasks = () => this.#in.waitFor(this.#in.store.tasksById(this.#workspaceId, this.#allIds()))
  claims = (taskId: number) => this.#in.waitFor(this.#in.store.claims(this.#workspaceId, taskId))
  results = (taskId: number) => this.#in.waitFor(this.#in.store.results(this.#workspaceId, taskId))
  sessions = () =>
    this.#in.waitFor(this.#in.store.sessions(this.#workspaceId, { workersOnly: false, limit: ALL }))
  dependencies = (taskId: number) => this.#in.waitFor(this.#in.store.dependencies(this.#workspaceId, taskId))
  blockedFrom = (taskIds: readonly number[], direction: Direction, limit: number) =>
    this.#in.waitFor(this.#in.store.blockedFrom(this.#workspaceId, taskIds, direction, limit))
  downstreamOf = (taskIds: readonly number[]) =>
    this.#in.waitFor(this.#in.store.downstreamOf(this.#workspaceId, taskIds))

  async events(after: number): Promise<StoredEvent[]> {
    const events = await this.#in.waitFor(this.#in.store.events(this.#workspaceId, after, ALL))
    for (const { type, taskId } of events) if (type === 'task_created') this.#taskIds.add(taskId!)
    return events
  }

  #allIds = () => [...this.#taskIds].sort((a, b) => a - b)

  async agents(): Promise<SeenOf<'agent'>[]> {
    const ask = {
      ...readSetOf([]),
      kinds: { ...NO_KEYS, agent: [...this.#slugs] },
    }
    return [...(await this.#in.waitFor(this.#in.read(this.#workspaceId, ask))).kinds.agent.seen.values()]
  }

  /** Everything as it is committed, as far as the log was read. */
  async readAll(): Promise<View> {
    const sessions = (await this.sessions()).map(({ name }) => name)
    return this.#in.read(this.#workspaceId, {
      ...readSetOf([]),
      taskIds: this.#allIds(),
      kinds: { ...NO_KEYS, session: sessions, agent: [...this.#slugs] },
      claimants: sessions,
      claimingAgents: [...this.#slugs],
      waiting: [
        { capabilities: [CAPABILITY], projectId: null, trackQueues: null, purposes: ONLY_WORK, limit: ALL },
      ],
    })
  }
}

import type { Request } from '../../src/kernel/batch/requests.ts'
import { type Caller, type Directory, Kernel } from '../../src/kernel/kernel.ts'
import type { RunStore } from '../../src/kernel/store/run-store.ts'
import { type BlockedTask, StoreUnavailable } from '../../src/kernel/store/store.ts'
import type { TaskRecord } from '../../src/kinds/task/record.ts'
import { readinessOf } from '../../src/kinds/task/rules/upstream-counts.ts'
import { REACTIONS } from '../../src/upkeep/open-kernel.ts'
import { type CoordinatorContext, STEPS } from '../../src/upkeep/pass.ts'
import { startUpkeep } from '../../src/upkeep/upkeep.ts'
import type { Reply } from '../support/replies.ts'
import { isToBeJudged } from './coordinator.ts'
import { Unanswered } from './network.ts'
import type { World } from './world.ts'

/**
 * The real upkeep, in the run's time: its steps read without a lock, and send their requests over the run's network. Under
 * no term: the coordinator does the same under its own.
 */
export function keepUp(world: World): void {
  const { random, scheduler, store } = world
  const kernel = new UpkeepKernel(world)
  const failed = (error: unknown) => {
    // What was not done is found again.
    if (!(error instanceof StoreUnavailable))
      world.breaks('clientsNeverThrow', String((error as Error).stack))
  }
  const wait = (ms: number) => scheduler.sleep(Math.max(ms, random.int(500, 6_000)), 'upkeep')
  startUpkeep(kernel, { warn: ({ err }) => failed(err) }, wait)
  const judgeAgents = async () => {
    for (;;) {
      await wait(0)
      await AGENTS.run({ kernel } as unknown as CoordinatorContext).catch(failed)
    }
  }
  if (store.hasAgents) void judgeAgents()
}

const AGENTS = STEPS.find(({ name }) => name === 'agentsJudged')!

/** A kernel whose requests go to any node. */
class UpkeepKernel extends Kernel<RunStore> {
  readonly #world: World
  readonly #reads: UpkeepReads
  readonly #reports = new Map<number, Request[]>()

  constructor(world: World) {
    const reads = new UpkeepReads(world)
    super(reads as unknown as RunStore, NOBODY, REACTIONS, (error) =>
      world.breaks('clientsNeverThrow', String((error as Error).stack)),
    )
    this.#world = world
    this.#reads = reads
  }

  override run = (async (caller: Caller, request: Omit<Request, 'actor'>) => {
    const { network, scheduler } = this.#world
    const sent = { ...request, actor: caller.actor, term: caller.term } as Request
    const sender = { name: 'upkeep', clock: () => scheduler.now }
    const seen = sent.on === 'task' ? this.#reads.lastSeen(sent.taskId) : null
    await scheduler.sleep(this.#thinkingMs(sent), 'upkeep sends')
    const late = this.#lateReport(sent)
    if (late) network.call(sender, late, seen).catch(() => undefined)
    try {
      const reply = await network.call(sender, sent, seen)
      await this.#following(caller, seen, reply)
      return reply
    } catch (error) {
      if (error instanceof Unanswered) throw new StoreUnavailable('No answer came.')
      throw error
    }
  }) as unknown as Kernel<RunStore>['run']

  /** The nodes of this run react to nothing: upkeep does, to what its own requests changed. */
  async #following({ within }: Caller, seen: TaskRecord | null, { record }: Reply): Promise<void> {
    if (!seen || !record) return
    const followed = this.follow(0, [{ before: seen, after: record as TaskRecord }], within)
    if (!within) await followed
  }

  /** Reports come twice, and long after others. */
  #lateReport(request: Request): Request | null {
    if (request.on !== 'task' || request.command.kind !== 'countUpstream') return null
    const { random } = this.#world
    const earlier = this.#reports.get(request.taskId) ?? []
    this.#reports.set(request.taskId, [...earlier, request].slice(-5))
    return earlier.length > 0 && random.chance(0.3) ? random.pick(earlier) : null
  }

  /** A long list takes a while, and so does the merging of many results. */
  #thinkingMs(request: Request): number {
    const { random, calm } = this.#world
    const isBusy = random.chance(0.3)
    const delayMs = isBusy ? random.int(0, 4_000) : 0
    const kind = request.on === 'task' ? request.command.kind : null
    if (calm || (kind !== 'merge' && kind !== 'countUpstream')) return delayMs
    return random.chance(kind === 'merge' ? 0.7 : 0.35) ? delayMs + random.int(0, 20_000) : delayMs
  }
}

const isToBeMerged = ({ blocked, merge, state, upstream }: TaskRecord) =>
  blocked &&
  merge === 'object' &&
  state === 'pending' &&
  upstream !== null &&
  readinessOf(upstream) === 'ready'

const asBlocked = ({ id: taskId, uuid, version, merge, upstream }: TaskRecord): BlockedTask => ({
  ...{ workspaceId: 0, taskId, uuid, version, merge, upstream },
  edges: [],
})

const NOBODY: Directory = {
  agentOf: () => Promise.reject(new Error('Upkeep asks for no agent by name.')),
  projectOf: () => Promise.reject(new Error('Upkeep asks for no project by name.')),
}

/**
 * What upkeep reads. The queries by which real stores find what is due use another clock than the run's, so that is read
 * from the records; sometimes a little early: by the time it is judged, a lease may be over, or renewed.
 */
class UpkeepReads {
  readonly #world: World
  readonly #seen = new Map<number, TaskRecord>()
  #last: Promise<unknown> = Promise.resolve()

  constructor(world: World) {
    this.#world = world
  }

  /** The task as upkeep last read it. */
  lastSeen = (taskId: number) => this.#seen.get(taskId) ?? null

  /** One read after the other: real servers answer in any order, and a seed must stay a run. */
  #inTurn<T>(read: () => Promise<T>): Promise<T> {
    const answer = this.#last.then(read)
    this.#last = answer.catch(() => undefined)
    return answer
  }

  onCommit = () => () => undefined
  applyRetention = async () => undefined
  task = (_: number, taskId: number) => this.#inTurn(() => this.#world.store.task(taskId))
  results = (_: number, taskId: number) => this.#inTurn(() => this.#world.store.results(taskId))
  dependencies = (_: number, taskId: number) => this.#inTurn(() => this.#world.store.dependencies(taskId))
  downstreamOf = (_: number, taskIds: readonly number[]) =>
    this.#inTurn(() => this.#world.store.downstreamOf(taskIds))
  blockedFrom: RunStore['blockedFrom'] = (_, ...asked) =>
    this.#inTurn(() => this.#world.store.blockedFrom(...asked))

  recordsById = async (workspaceId: number, taskIds: readonly number[]) =>
    (await this.tasksById(workspaceId, taskIds)).map(({ record }) => record)

  async tasksById(_: number, taskIds: readonly number[]) {
    const tasks = await this.#inTurn(() => this.#world.store.tasks())
    return tasks.filter(({ record }) => taskIds.includes(record.id))
  }

  async dueTasks() {
    const { random, scheduler } = this.#world
    const isDue = ({ claimState, leaseExpiresAt, dueAt }: TaskRecord) => {
      const isOver = claimState === 'active' && leaseExpiresAt! <= scheduler.now + this.#earlyMs(5_000)
      return isOver || (dueAt !== null && dueAt <= scheduler.now) || random.chance(0.03)
    }
    const due = (await this.#records()).filter(isDue)
    return due.map(({ id, uuid, version, blocked }) => ({
      ...{ workspaceId: 0, taskId: id, uuid, version, isBlocked: blocked },
    }))
  }

  async missedTasks() {
    const records = await this.#records()
    const isAnyBlocked = records.some(({ blocked }) => blocked)
    const uncounted = isAnyBlocked
      ? await this.downstreamOf(
          0,
          records.map(({ id }) => id),
        )
      : []
    for (const { edges } of uncounted) edges.sort((a, b) => a.dependsOn - b.dependsOn)
    const found = new Set(uncounted.map(({ taskId }) => taskId))
    const merging = records.filter((record) => !found.has(record.id) && isToBeMerged(record)).map(asBlocked)
    return [...uncounted, ...merging].sort((a, b) => a.taskId - b.taskId)
  }

  async dueSessions() {
    const { store, random, scheduler } = this.#world
    const sessions = (await this.#inTurn(store.sessions)).sort((a, b) => (a.name < b.name ? -1 : 1))
    return sessions
      .filter(({ dueAt }) => {
        const isDue = dueAt !== null && dueAt <= scheduler.now + this.#earlyMs(3_000)
        return isDue || random.chance(0.01)
      })
      .map(({ name }) => ({ workspaceId: 0, name }))
  }

  readonly agents = {
    due: async () => {
      const { store, random, scheduler } = this.#world
      return (await this.#inTurn(() => store.agents()))
        .filter(({ record, holding }) => {
          const by = scheduler.now + this.#earlyMs(3_000)
          return isToBeJudged(record, holding.length, by) || random.chance(0.01)
        })
        .map(({ record: { slug } }) => ({ workspaceId: 0, slug }))
    },
  }

  #earlyMs = (ms: number) => (this.#world.random.chance(0.3) ? ms : 0)

  async #records(): Promise<TaskRecord[]> {
    const records = (await this.#inTurn(() => this.#world.store.tasks())).map(({ record }) => record)
    for (const record of records) this.#seen.set(record.id, record)
    return records
  }
}

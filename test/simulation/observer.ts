import type { View } from '../../src/kernel/batch/requests.ts'
import type { StoredClaim, StoredDependency, StoredResult } from '../../src/kernel/store/store.ts'
import type { AgentRecord } from '../../src/kinds/agent/record.ts'
import type { StoredEvent } from '../../src/kinds/events.ts'
import type { SessionRecord, TaskRecord } from '../../src/kinds/task/record.ts'
import type { LeaderTerm } from '../../src/pure/leader-lease.ts'
import type { World } from './world.ts'

/** A task as it is in the store after a step, and as it was before. */
export interface SeenTask {
  record: TaskRecord
  before: TaskRecord | null
  claims: readonly StoredClaim[]
  results: readonly StoredResult[]
  resultsBefore: readonly StoredResult[]
  readonly events: StoredEvent[]
  /** The events since `before`. */
  news: readonly StoredEvent[]
  /** The true times at which each generation was first seen open and ended, whatever the rows say. */
  readonly openedAt: Map<number, number>
  readonly endedAt: Map<number, number>
  /** Its dependencies, present and past. */
  waitsFor: readonly string[]
  dependencies: readonly StoredDependency[]
  dependenciesBefore: readonly StoredDependency[]
}

/** The same of a session. */
export interface SeenSession {
  record: SessionRecord
  before: SessionRecord | null
}

/** The same of a registered agent; null: there is none of that name, or no longer. */
interface SeenAgent {
  slug: string
  record: AgentRecord | null
  before: AgentRecord | null
}

export interface Sight {
  readonly now: number
  readonly view: View
  readonly tasks: ReadonlyMap<number, SeenTask>
  readonly changed: readonly SeenTask[]
  readonly changedSessions: readonly SeenSession[]
  readonly agents: ReadonlyMap<string, SeenAgent>
  readonly changedAgents: readonly SeenAgent[]
  /** Leader terms, oldest first, and how many there were before. */
  readonly terms: readonly LeaderTerm[]
  readonly termsBefore: number
  readonly newEvents: readonly StoredEvent[]
  /** The seq of the last event before these. */
  readonly lastSeq: number
}

/** Reads the store after every step. It reads what is committed, as any other node would find it. */
export class Observer {
  readonly tasks = new Map<number, SeenTask>()
  readonly #sessions = new Map<string, SeenSession>()
  readonly #agents = new Map<string, SeenAgent>()
  readonly #world: World
  #lastSeq = 0
  #termsSeen = 0
  #last: Sight | null = null
  #reads = 0
  #commitsSeen = 0

  constructor(world: World) {
    this.#world = world
  }

  /** What the last step has left behind. Between two commits nothing can change; still it is read from time to time. */
  async read(): Promise<Sight> {
    const { pauses, scheduler } = this.#world
    this.#reads += 1
    const { now } = scheduler
    if (this.#last && pauses.commits === this.#commitsSeen && this.#reads % 20 !== 0)
      return this.#nothingNew(this.#last, now)
    this.#commitsSeen = pauses.commits
    this.#last = await this.#lookAtAll()
    return this.#last
  }

  #nothingNew(last: Sight, now: number): Sight {
    const { terms } = this.#world.store
    const termsBefore = this.#termsSeen
    this.#termsSeen = terms.length
    const none = { changed: [], changedSessions: [], changedAgents: [], newEvents: [] }
    return { ...last, now, ...none, terms, termsBefore }
  }

  async #lookAtAll(): Promise<Sight> {
    const { store, scheduler, coverage } = this.#world
    const newEvents = await store.events(this.#lastSeq)
    const view = await store.readAll()
    const changed: SeenTask[] = []
    for (const record of view.records.values()) {
      const known = this.tasks.get(record.id)
      if (known && newEvents.length === 0 && isSame(known.record, record)) continue
      const news = newEvents.filter(({ taskId }) => taskId === record.id)
      if (known && news.length === 0 && isSame(known.record, record)) continue
      changed.push(await this.#update(record, news, scheduler.now))
    }
    for (const event of newEvents) coverage.event(event)
    const lastSeq = this.#lastSeq
    this.#lastSeq += newEvents.length
    const changedSessions = this.#updateSessions(view)
    const changedAgents = this.#updateAgents(view)
    const { terms } = store
    const termsBefore = this.#termsSeen
    this.#termsSeen = terms.length
    return {
      now: scheduler.now,
      view,
      tasks: this.tasks,
      changed,
      changedSessions,
      agents: this.#agents,
      changedAgents,
      terms,
      termsBefore,
      newEvents,
      lastSeq,
    }
  }

  #updateSessions(view: View): SeenSession[] {
    const changed: SeenSession[] = []
    for (const [name, { record }] of view.kinds.session.seen) {
      const known = this.#sessions.get(name)
      if (known && isSame(known.record, record)) continue
      const session = { record, before: known?.record ?? null }
      this.#sessions.set(name, session)
      changed.push(session)
    }
    return changed
  }

  #updateAgents(view: View): SeenAgent[] {
    const changed: SeenAgent[] = []
    for (const slug of new Set([...this.#agents.keys(), ...view.kinds.agent.seen.keys()])) {
      const record = view.kinds.agent.seen.get(slug)?.record ?? null
      const before = this.#agents.get(slug)?.record ?? null
      if (record === before || JSON.stringify(record) === JSON.stringify(before)) continue
      const agent = { slug, record, before }
      this.#agents.set(slug, agent)
      changed.push(agent)
    }
    return changed
  }

  async #update(record: TaskRecord, news: StoredEvent[], now: number): Promise<SeenTask> {
    const { store } = this.#world
    const task = this.tasks.get(record.id) ?? neverSeen(record)
    task.before = this.tasks.has(record.id) ? task.record : null
    this.tasks.set(record.id, task)
    task.record = record
    task.news = news
    task.events.push(...news)
    const { id } = record
    const all = [store.claims(id), store.results(id), store.dependencies(id)] as const
    const [claims, results, dependencies] = await Promise.all(all)
    task.claims = claims
    task.waitsFor = dependencies.map(({ uuid }) => uuid)
    task.dependenciesBefore = task.dependencies
    task.dependencies = dependencies
    task.resultsBefore = task.results
    task.results = results
    for (const { generation, state } of task.claims) {
      if (!task.openedAt.has(generation)) task.openedAt.set(generation, now)
      if (state !== 'active' && !task.endedAt.has(generation)) task.endedAt.set(generation, now)
    }
    return task
  }
}

const neverSeen = (record: TaskRecord): SeenTask => ({
  record,
  before: null,
  claims: [],
  results: [],
  resultsBefore: [],
  events: [],
  news: [],
  openedAt: new Map(),
  endedAt: new Map(),
  waitsFor: [],
  dependencies: [],
  dependenciesBefore: [],
})

export function isSame<T extends TaskRecord | SessionRecord>(a: T, b: T): boolean {
  for (const field in a) if (a[field] !== b[field] && !isAlike(a[field], b[field])) return false
  return true
}

/** Stores return new lists and objects each time. */
const isAlike = (a: unknown, b: unknown) =>
  typeof a === 'object' && typeof b === 'object' && JSON.stringify(a) === JSON.stringify(b)

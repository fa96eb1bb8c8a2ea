import { type Ask, type Changes, heldName, type Remembered, type View } from '../../core/batch.ts'
import type { TaskDetails } from '../../core/commands.ts'
import type { StoredEvent } from '../../core/events.ts'
import { DEFAULT_LIMITS, type Limits } from '../../core/limits.ts'
import type { ResultWritten, TaskRecord } from '../../core/records.ts'
import type { Store, StoredClaim, StoredResult, StoredTask } from '../store.ts'

interface Workspace {
  limits: Limits
  tasks: Map<number, TaskRecord>
  details: Map<number, TaskDetails>
  claims: Map<number, StoredClaim[]>
  results: Map<number, StoredResult[]>
  events: StoredEvent[]
  remembered: Map<string, Remembered>
  activeClaims: number
}

export interface MemoryStoreOptions {
  now?: () => number
  random?: () => number
  /** Awaited where a real store would wait: for the lock, and for the commit. The simulation lets others run there. */
  pause?: (where: 'before lock' | 'before commit' | 'after commit') => Promise<void>
}

/** Everything in maps, nothing kept: for tests, the simulation and trying things out. The rules are the same ones. */
export class MemoryStore implements Store {
  readonly #workspaces = new Map<number, Workspace>()
  readonly #now: () => number
  readonly #random: () => number
  readonly #pause: NonNullable<MemoryStoreOptions['pause']>
  readonly #locks = new Map<number, Promise<void>>()
  #lastId = 0

  constructor(options: MemoryStoreOptions = {}) {
    this.#now = options.now ?? Date.now
    this.#random = options.random ?? Math.random
    this.#pause = options.pause ?? (async () => undefined)
  }

  addWorkspace(workspaceId: number, limits: Partial<Limits> = {}): void {
    this.#workspaces.set(workspaceId, {
      limits: { ...DEFAULT_LIMITS, ...limits },
      tasks: new Map(),
      details: new Map(),
      claims: new Map(),
      results: new Map(),
      events: [],
      remembered: new Map(),
      activeClaims: 0,
    })
  }

  async transact<T>(
    workspaceId: number,
    ask: Ask,
    decide: (view: View) => { answer: T; changes: Changes },
  ): Promise<T> {
    const workspace = this.#workspace(workspaceId)
    await this.#pause('before lock')
    const answer = await this.locked(workspaceId, async () => {
      const { answer, changes } = decide(this.#look(workspace, ask))
      await this.#pause('before commit')
      write(workspace, changes)
      return answer
    })
    await this.#pause('after commit')
    return answer
  }

  /** One at a time in each workspace. Overridden only to show that the simulation notices when it is missing. */
  protected locked<T>(workspaceId: number, act: () => Promise<T>): Promise<T> {
    const before = this.#locks.get(workspaceId) ?? Promise.resolve()
    const mine = before.then(act)
    this.#locks.set(
      workspaceId,
      mine.then(
        () => undefined,
        () => undefined,
      ),
    )
    return mine
  }

  async task(workspaceId: number, taskId: number): Promise<StoredTask | null> {
    const { tasks, details } = this.#workspace(workspaceId)
    const record = tasks.get(taskId)
    return record ? { record: { ...record }, details: details.get(taskId)! } : null
  }

  async claims(workspaceId: number, taskId: number): Promise<StoredClaim[]> {
    return (this.#workspace(workspaceId).claims.get(taskId) ?? []).map((claim) => ({ ...claim }))
  }

  async results(workspaceId: number, taskId: number): Promise<StoredResult[]> {
    return (this.#workspace(workspaceId).results.get(taskId) ?? []).map((result) => ({ ...result }))
  }

  async events(workspaceId: number, after: number, limit: number): Promise<StoredEvent[]> {
    return this.#workspace(workspaceId).events.slice(after, after + limit)
  }

  #workspace(workspaceId: number): Workspace {
    const workspace = this.#workspaces.get(workspaceId)
    if (!workspace) throw new Error(`workspace ${workspaceId} does not exist`)
    return workspace
  }

  #look(workspace: Workspace, ask: Ask): View {
    const records = new Map<number, TaskRecord>()
    const show = (record: TaskRecord | undefined) => record && records.set(record.id, { ...record })
    for (const id of ask.taskIds) show(workspace.tasks.get(id))
    const first = (isFor: (task: TaskRecord) => boolean, limit: number) => {
      const waiting = firstWaiting(workspace, isFor, limit)
      waiting.forEach(show)
      return waiting.map(({ id }) => id)
    }
    const waiting = ask.waiting.map(({ capabilities, limit }) =>
      first(
        (task) =>
          task.onlyAgent === null && (task.capabilities ?? []).every((one) => capabilities.includes(one)),
        limit,
      ),
    )
    const reserved = ask.reserved.flatMap(({ agent, capabilities, limit }) =>
      first(
        (task) =>
          task.onlyAgent === agent && (task.capabilities ?? []).every((one) => capabilities.includes(one)),
        limit,
      ),
    )
    const fresh = Array.from({ length: ask.newTasks }, () => ({
      id: ++this.#lastId,
      random: Math.floor(this.#random() * 2 ** 22),
    }))
    const pastHolders = new Map<string, string>()
    for (const { taskId, generation } of ask.offered) {
      const claim = workspace.claims.get(taskId)?.find((one) => one.generation === generation)
      if (claim) pastHolders.set(heldName(taskId, generation), claim.session)
    }
    const given = new Set([...workspace.tasks.values()].map(({ key }) => key))
    const takenKeys = new Set(ask.newKeys.filter((key) => given.has(key)))
    const { limits, activeClaims, remembered } = workspace
    return {
      now: this.#now(),
      limits,
      activeClaims,
      records,
      waiting,
      reserved,
      pastHolders,
      fresh,
      takenKeys,
      remembered,
    }
  }
}

function firstWaiting(
  workspace: Workspace,
  isFor: (task: TaskRecord) => boolean,
  limit: number,
): TaskRecord[] {
  return [...workspace.tasks.values()]
    .filter((task) => task.rank !== null && isFor(task))
    .sort((a, b) => a.rank! - b.rank! || a.id - b.id)
    .slice(0, limit)
}

function write(workspace: Workspace, changes: Changes): void {
  // Read before anything is written: a result that is no JSON must fail the whole transaction, as in a database.
  const data = new Map(
    changes.results
      .filter((result) => result.kind === 'written')
      .map((result) => [result, JSON.parse(result.data)]),
  )
  for (const { record, task } of changes.created) {
    workspace.tasks.set(record.id, record)
    workspace.details.set(record.id, task.details)
  }
  for (const task of changes.tasks) workspace.tasks.set(task.id, task)
  for (const change of changes.claims) {
    const claims = listOf(workspace.claims, change.taskId)
    if (change.kind === 'opened') {
      const { generation, session, agent, at } = change
      claims.push({
        generation,
        session,
        agent,
        state: 'active',
        acquiredAt: at,
        endedAt: null,
        endReason: null,
      })
    } else {
      const claim = claims.find(({ generation }) => generation === change.generation)!
      Object.assign(claim, { state: change.state, endedAt: change.at, endReason: change.reason })
    }
  }
  for (const change of changes.results) {
    const results = listOf(workspace.results, change.taskId)
    if (change.kind === 'written') addResult(results, change, data.get(change))
    else {
      const awaited = results.find(({ epoch, accepted }) => epoch === change.epoch && accepted === null)
      if (awaited) Object.assign(awaited, { accepted: change.accepted, rejection: change.rejection })
    }
  }
  for (const { taskId, set } of changes.details) {
    const given = Object.entries(set).filter(([, value]) => value !== undefined)
    workspace.details.set(taskId, { ...workspace.details.get(taskId)!, ...Object.fromEntries(given) })
  }
  for (const { key, bodyHash, reply } of changes.remember) workspace.remembered.set(key, { bodyHash, reply })
  for (const event of changes.events) workspace.events.push({ ...event, seq: workspace.events.length + 1 })
  workspace.activeClaims += changes.activeClaimsDelta
}

function addResult(results: StoredResult[], result: ResultWritten, data: unknown): void {
  const { generation, session, hash, epoch, agent, accepted, rejection, ref, summary, at } = result
  const row = {
    generation,
    epoch,
    session,
    agent,
    accepted,
    rejection,
    ref,
    hash,
    data,
    summary,
    submittedAt: at,
  }
  const known = results.find(
    (other) => other.generation === generation && other.session === session && other.hash === hash,
  )
  if (!known) results.push(row)
  // Refused before, accepted now: the same row changes its verdict.
  else if (known.accepted === false && accepted !== false) Object.assign(known, row)
}

function listOf<T>(map: Map<number, T[]>, key: number): T[] {
  const list = map.get(key) ?? []
  map.set(key, list)
  return list
}

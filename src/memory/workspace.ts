import type { Changes, ReadSet, StoredReply, TrackUse } from '../kernel/batch/requests.ts'
import { isOnTrack, trackName } from '../kernel/batch/requests.ts'
import type { StoredComment } from '../kernel/store/comment-reads.ts'
import { foldDetails, foldRecounted } from '../kernel/store/fold-changes.ts'
import type { StoredReport } from '../kernel/store/run-store.ts'
import type { StoredClaim, StoredResult } from '../kernel/store/store.ts'
import type { AgentRecord } from '../kinds/agent/record.ts'
import { byKind } from '../kinds/all.ts'
import type { StoredEvent } from '../kinds/events.ts'
import type { KindName, KindTypes, SeenOf } from '../kinds/kind.ts'
import type { MissionRecord, PlanVersion } from '../kinds/mission/record.ts'
import type { RoutineRecord } from '../kinds/routine/record.ts'
import type { RunRecord, RuntimeState, TaskSession, WakeupRecord } from '../kinds/run/record.ts'
import type { NewRunEvent } from '../kinds/run/rules/step.ts'
import type { CallbackMessage } from '../kinds/run/shapes/callbacks.ts'
import type { KeptInvocation } from '../kinds/run/shapes/told.ts'
import { isLive, isPending } from '../kinds/run/states.ts'
import { countsAsActive } from '../kinds/session/rules.ts'
import type { KnownAgent, TaskDetails } from '../kinds/task/command.ts'
import type { SessionRecord, TaskRecord } from '../kinds/task/record.ts'
import type { ResultWritten } from '../kinds/task/rules/result-changes.ts'
import type { CountedDependency, DependencyKind } from '../kinds/task/rules/upstream-counts.ts'
import type { Reservation, UsageRow, UsageSource } from '../kinds/usage/record.ts'
import type { Limits } from '../kinds/workspace/limits.ts'

/** Rows by id. Those that are not over are kept apart as well: the others become many, and few ask for them. */
class OpenedRows<T extends { id: string; status: string }> extends Map<string, T> {
  readonly #isOpen: (row: T) => boolean
  readonly #open = new Map<string, T>()

  constructor(isOpen: (row: T) => boolean) {
    super()
    this.#isOpen = isOpen
  }

  /** In the order of their arrival. */
  get open(): ReadonlyMap<string, T> {
    return this.#open
  }

  override set(id: string, row: T): this {
    if (this.#isOpen(row)) this.#open.set(id, row)
    else this.#open.delete(id)
    return super.set(id, row)
  }

  override delete(id: string): boolean {
    this.#open.delete(id)
    return super.delete(id)
  }
}

interface Dependency extends CountedDependency {
  kind: DependencyKind
}

/** The whole state of a workspace, in maps. */
export interface Workspace {
  readonly id: number
  limits: Limits
  tasks: Map<number, TaskRecord>
  details: Map<number, TaskDetails>
  /** By task, then by the task it depends on; and the reverse. */
  dependencies: Map<number, Map<number, Dependency>>
  dependents: Map<number, Set<number>>
  claims: Map<number, StoredClaim[]>
  results: Map<number, StoredResult[]>
  events: StoredEvent[]
  sessions: Map<string, SessionRecord>
  agents: Map<string, AgentRecord>
  missions: Map<string, MissionRecord>
  /** All versions of their plans, by mission. */
  missionPlans: Map<string, PlanVersion[]>
  routines: Map<string, RoutineRecord>
  /** The records of each kind that has no place of its own here, by key. */
  plain: { [K in KindName]: Map<string, KindTypes[K]['record']> }
  /** In the order in which they were written. */
  comments: (StoredComment & { of: number })[]
  reports: StoredReport[]
  storedReplies: Map<string, StoredReply>
  projects: Map<string, number>
  /** Declared tracks, by `trackName`: how many agents each may have. */
  tracks: Map<string, number | null>
  activeClaims: number
  wakeups: OpenedRows<WakeupRecord>
  runs: OpenedRows<RunRecord>
  /** Messages of agents that answer later, by run. */
  messages: Map<string, { number: number; message: CallbackMessage }[]>
  /** The timelines of runs. */
  runEvents: Map<string, NewRunEvent[]>
  /** What runs were told. */
  invocations: Map<string, KeptInvocation>
  /** What agents keep between runs, by agent. */
  runtime: Map<string, RuntimeState>
  /** By agent, adapter and task key. */
  taskSessions: Map<string, TaskSession>
  /** Until when credentials are parked. */
  parked: Map<string, number>
  /** The ledger, and what is reserved, by `sourceName`. */
  usageSources: Map<string, UsageSource>
  usageRows: UsageRow[]
  reservations: Map<string, Reservation>
}

export const emptyWorkspace = (id: number, limits: Limits): Workspace => ({
  id,
  limits,
  tasks: new Map(),
  details: new Map(),
  dependencies: new Map(),
  dependents: new Map(),
  claims: new Map(),
  results: new Map(),
  events: [],
  sessions: new Map(),
  agents: new Map(),
  missions: new Map(),
  missionPlans: new Map(),
  routines: new Map(),
  plain: byKind(() => new Map()),
  comments: [],
  reports: [],
  storedReplies: new Map(),
  projects: new Map(),
  tracks: new Map(),
  activeClaims: 0,
  wakeups: new OpenedRows(({ status }) => isPending(status)),
  runs: new OpenedRows(({ status }) => isLive(status)),
  messages: new Map(),
  runEvents: new Map(),
  invocations: new Map(),
  runtime: new Map(),
  taskSessions: new Map(),
  parked: new Map(),
  usageSources: new Map(),
  usageRows: [],
  reservations: new Map(),
})

/** Stored values and values in use must not change through each other. */
export const copyOf = <T extends object>(value: T): T => ({ ...value })

export const heldTasks = (workspace: Workspace, by?: string): TaskRecord[] =>
  [...workspace.tasks.values()].filter(
    ({ claimState, session }) => claimState === 'active' && (by === undefined || session === by),
  )

export const heldByAgent = (workspace: Workspace, slug: string) =>
  heldTasks(workspace).filter(({ agent }) => agent === slug)

/** Agents to change, with what they hold, and agents that claim. */
export function agentsOf(
  workspace: Workspace,
  slugs: readonly string[],
  show: (record: TaskRecord) => void,
): Map<string, SeenOf<'agent'>> {
  const agents = new Map<string, SeenOf<'agent'>>()
  for (const slug of slugs) {
    const record = workspace.agents.get(slug)
    const holding = heldByAgent(workspace, slug)
    holding.forEach(show)
    if (!record) continue
    agents.set(slug, { record, holding: holding.map(({ id }) => id), held: holding.length })
  }
  return agents
}

export function claimingAgents(workspace: Workspace, readSet: ReadSet): Map<string, KnownAgent> {
  const agents = new Map<string, KnownAgent>()
  for (const slug of readSet.claimingAgents) {
    const record = workspace.agents.get(slug)
    if (record) agents.set(slug, { record, held: heldByAgent(workspace, slug).length })
  }
  return agents
}

export const namedAgents = ({ agents }: Workspace, readSet: ReadSet): Map<string, AgentRecord> =>
  new Map(
    readSet.agents.flatMap((slug) => {
      const record = agents.get(slug)
      return record ? [[slug, record]] : []
    }),
  )

export const activeSessions = ({ sessions }: Workspace) =>
  [...sessions.values()].filter(countsAsActive).length

export function tracksOf(workspace: Workspace, records: Iterable<TaskRecord>): Map<string, TrackUse> {
  const tracks = new Map<string, TrackUse>()
  for (const { projectId, trackQueue } of [...records].filter(isOnTrack)) {
    const name = trackName(projectId, trackQueue)
    const maxAgents = workspace.tracks.get(name)
    if (maxAgents === undefined || tracks.has(name)) continue
    const holders = new Map<string, number>()
    for (const task of heldTasks(workspace))
      if (task.projectId === projectId && task.trackQueue === trackQueue)
        holders.set(task.agent!, (holders.get(task.agent!) ?? 0) + 1)
    tracks.set(name, { maxAgents, holders })
  }
  return tracks
}

/** The first tasks of each project and track queue. */
export function firstWaiting(
  workspace: Workspace,
  isFor: (task: TaskRecord) => boolean,
  limit: number,
): TaskRecord[] {
  const waiting = [...workspace.tasks.values()]
    .filter((task) => task.rank !== null && isFor(task))
    .sort((a, b) => a.rank! - b.rank! || a.id - b.id)
  const taken = new Map<string, number>()
  return waiting.filter(({ projectId, trackQueue, serves }) => {
    const name = `${trackName(projectId, trackQueue)} ${serves?.notAgents ?? ''}`
    const count = (taken.get(name) ?? 0) + 1
    taken.set(name, count)
    return count <= limit
  })
}

export function write(workspace: Workspace, changes: Changes): void {
  // Parsed before anything is written: a result that is not JSON must fail the whole transaction, as in a database.
  const data = new Map(
    changes.results
      .filter((result) => result.kind === 'written')
      .map((result) => [result, JSON.parse(result.data)]),
  )
  for (const { record, task, parentUuid } of changes.created) {
    workspace.tasks.set(record.id, record)
    workspace.details.set(record.id, { ...task.details, dependsOn: [], parent: parentUuid })
  }
  writeDependencies(workspace, changes)
  for (const task of changes.tasks) workspace.tasks.set(task.id, task)
  writeClaims(workspace, changes)
  writeResults(workspace, changes, data)
  for (const [taskId, set] of foldDetails(changes))
    workspace.details.set(taskId, { ...workspace.details.get(taskId)!, ...set } as TaskDetails)
  for (const { key, bodyHash, reply } of changes.newReplies)
    workspace.storedReplies.set(key, { bodyHash, reply })
  workspace.activeClaims += changes.activeClaimsDelta
}

function writeDependencies(workspace: Workspace, changes: Changes): void {
  const { dependencies, removed, replaced } = changes
  for (const { taskId, dependsOn: on, dependsOnUuid } of removed) {
    workspace.dependents.get(on)?.delete(taskId)
    workspace.dependencies.get(taskId)?.delete(on)
    const details = workspace.details.get(taskId)!
    const dependsOn = details.dependsOn.filter((uuid) => uuid !== dependsOnUuid)
    workspace.details.set(taskId, { ...details, dependsOn })
  }
  for (const taskId of replaced) {
    for (const on of workspace.dependencies.get(taskId)?.keys() ?? [])
      workspace.dependents.get(on)?.delete(taskId)
    workspace.dependencies.delete(taskId)
    workspace.details.set(taskId, { ...workspace.details.get(taskId)!, dependsOn: [] })
  }
  const added = new Map<number, string[]>()
  for (const { taskId, dependsOn: on, dependsOnUuid, rule, kind, countedVersion, outcome } of dependencies) {
    const own = workspace.dependencies.get(taskId) ?? new Map()
    workspace.dependencies.set(taskId, own.set(on, { rule, kind, countedVersion, outcome }))
    const dependents = workspace.dependents.get(on) ?? new Set()
    workspace.dependents.set(on, dependents.add(taskId))
    listOf(added, taskId).push(dependsOnUuid)
  }
  for (const [taskId, uuids] of added) {
    const details = workspace.details.get(taskId)!
    workspace.details.set(taskId, { ...details, dependsOn: [...details.dependsOn, ...uuids] })
  }
  for (const { taskId, dependsOn, countedVersion, outcome } of foldRecounted(changes)) {
    const own = workspace.dependencies.get(taskId)!
    own.set(dependsOn, { ...own.get(dependsOn)!, countedVersion, outcome })
  }
}

/** Its wakeups go with it, and what it kept between runs; its runs stay. */
export function removeAgent(workspace: Workspace, slug: string): void {
  workspace.agents.delete(slug)
  workspace.runtime.delete(slug)
  for (const rows of [workspace.wakeups, workspace.taskSessions] as Map<string, { agent: string }>[])
    for (const [key, { agent }] of rows) if (agent === slug) rows.delete(key)
}

function writeClaims(workspace: Workspace, changes: Changes): void {
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
}

function writeResults(
  workspace: Workspace,
  changes: Changes,
  data: ReadonlyMap<ResultWritten, unknown>,
): void {
  for (const change of changes.results) {
    const results = listOf(workspace.results, change.taskId)
    if (change.kind === 'written') addResult(results, change, data.get(change))
    else if (change.kind === 'judged') {
      const awaited = results.find(({ epoch, accepted }) => epoch === change.epoch && accepted === null)
      if (awaited) Object.assign(awaited, { accepted: change.accepted, rejection: change.rejection })
    } else {
      const { epoch, generation, session, hash } = change
      const replaced = results.find((result) => result.epoch === epoch && result.accepted !== false)
      if (replaced) Object.assign(replaced, { accepted: false, rejection: 'REPLACED' })
      const promoted = results.find(
        (result) => result.generation === generation && result.session === session && result.hash === hash,
      )
      Object.assign(promoted!, { epoch, accepted: true, rejection: null })
    }
  }
}

function addResult(results: StoredResult[], result: ResultWritten, data: unknown): void {
  const { kind: _kind, taskId: _taskId, at: submittedAt, ...rest } = result
  const row: StoredResult = {
    ...rest,
    commit: rest.commit ?? null,
    processingMs: rest.processingMs ?? null,
    data,
    submittedAt,
  }
  const known = results.find(
    ({ generation, session, hash }) =>
      generation === row.generation && session === row.session && hash === row.hash,
  )
  if (!known) results.push(row)
  // Rejected before, accepted now: the same row changes its verdict.
  else if (known.accepted === false && row.accepted !== false) Object.assign(known, row)
}

function listOf<K, T>(map: Map<K, T[]>, key: K): T[] {
  const list = map.get(key) ?? []
  map.set(key, list)
  return list
}

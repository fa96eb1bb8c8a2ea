import { randomInt } from 'node:crypto'
import type pg from 'pg'
import type { OnWritten, ServerStore } from '../door/server-store.ts'
import type { NodeMessage, OnNodeMessage } from '../kernel/store/node-messages.ts'
import { runAlone } from '../kernel/store/run-alone.ts'
import type { NextDue } from '../kernel/store/run-store.ts'
import type {
  BlockedTask,
  Committed,
  Direction,
  DueTask,
  DueVersion,
  ServerStep,
  Walked,
} from '../kernel/store/store.ts'
import { agentReads } from '../kinds/agent/postgres/agents.ts'
import { assignmentReads } from '../kinds/agent/postgres/assignment.ts'
import { byKind } from '../kinds/all.ts'
import { budgetReads } from '../kinds/budget/postgres/reads.ts'
import { commentReads } from '../kinds/comment/postgres.ts'
import { MissionCounters } from '../kinds/mission/postgres/counters.ts'
import { missionReads } from '../kinds/mission/postgres/reads.ts'
import { modelTierReads } from '../kinds/model-tier/postgres.ts'
import { priceReads } from '../kinds/price/postgres.ts'
import { findProject, newProjectId, projectReads, slugOfProject } from '../kinds/project/postgres.ts'
import { reportReads } from '../kinds/report/postgres.ts'
import { routineReads } from '../kinds/routine/postgres.ts'
import { runReads } from '../kinds/run/postgres/run-reads.ts'
import { runtimeReads } from '../kinds/run/postgres/runtime-state.ts'
import { wakeupReads } from '../kinds/run/postgres/wakeups.ts'
import { blockedFrom } from '../kinds/task/postgres/cycles.ts'
import { downstreamOf, missedAmong } from '../kinds/task/postgres/dependents.ts'
import * as due from '../kinds/task/postgres/due.ts'
import { PostgresReader } from '../kinds/task/postgres/reader.ts'
import { verificationReads } from '../kinds/verification/postgres.ts'
import type { Limits } from '../kinds/workspace/limits.ts'
import { ensureWorkspace, workspaceReads } from '../kinds/workspace/postgres.ts'
import { clusterOf } from '../postgres/cluster/cluster.ts'
import { readInstanceId } from '../postgres/cluster/instance.ts'
import { serverPool } from '../postgres/connection/connect.ts'
import { type Database, findDatabase } from '../postgres/connection/database.ts'
import { DiskWatch } from '../postgres/connection/disk-watch.ts'
import { LogHeads } from '../postgres/connection/log-heads.ts'
import { Notices, type Revoked } from '../postgres/connection/notices.ts'
import { FOR_READING, PLAN_FOR_WRITING } from '../postgres/connection/session-settings.ts'
import { EventWriter } from '../postgres/statements/event-writer.ts'
import { PostgresFollowers } from '../postgres/statements/log-cursors.ts'
import { LogTailRows } from '../postgres/statements/log-tail.ts'
import { uuidCarrying } from '../pure/ids.ts'
import { PostgresTransactor } from './batch/transact.ts'
import { assertSafeToServe, migrate } from './migrate.ts'
import { nextDue } from './next-due.ts'
import { applyRetention } from './retention.ts'

export const SERVER_ROLE = 'baton_server'

const WRITERS = 4
const READERS = 5
/** For heartbeats and the leader lease: a queue of work before them must not make this node look dead. */
const CONTROL_CONNECTIONS = 2
/** For output of runs and notices to other nodes: neither waits for what is decided, nor holds it up. */
const OUTPUT_CONNECTIONS = 2
const FOLLOW_EVERY_MS = 1_000
const DUE_KNOWN_MS = 1_000
/** What the store does without a caller. */
const SYSTEM = 'system'

/** The pools of a store: open before what is bound to them. */
class Pools extends PostgresReader {
  readonly readers: pg.Pool
  readonly writers: pg.Pool
  readonly control: pg.Pool
  readonly output: pg.Pool

  constructor(database: Database, role: string) {
    const readers = serverPool(database, role, READERS, FOR_READING)
    super(readers)
    this.readers = readers
    this.writers = serverPool(database, role, WRITERS, PLAN_FOR_WRITING)
    this.control = serverPool(database, role, CONTROL_CONNECTIONS)
    this.output = serverPool(database, role, OUTPUT_CONNECTIONS)
  }
}

/** An open Postgres store: migrated to this version, checked to be safe, with separate pools for writing and reading. */
export class PostgresStore extends Pools implements ServerStore {
  readonly kinds = byKind(() => true as const)
  /** One line about the database, for people. */
  readonly found: string
  #instance = ''
  /** Of Postgres. */
  readonly version: string
  readonly agents = agentReads(this)
  readonly assignment = assignmentReads(this)
  readonly cluster = clusterOf(this)
  readonly modelTiers = modelTierReads(this)
  readonly prices = priceReads(this)
  readonly projects = projectReads(this)
  readonly comments = commentReads(this)
  readonly missionCounters = new MissionCounters(this.readers)
  readonly missions = missionReads(this)
  readonly reports = reportReads(this)
  readonly routines = routineReads(this)
  readonly budgets = budgetReads(this)
  readonly runs = runReads(this)
  readonly runtime = runtimeReads(this)
  readonly verifications = verificationReads(this)
  readonly wakeups = wakeupReads(this)
  readonly workspaces = workspaceReads(this)
  readonly followers = new PostgresFollowers(this.readers, this.writers)
  readonly logTail: LogTailRows
  /** How far each log is known to be: a lower bound of what a read from now on contains. */
  readonly heads = new LogHeads((workspaceId) => this.lastSeq(workspaceId))
  readonly #log = new EventWriter((workspaceId, what) => this.#committed(workspaceId, what))
  readonly #transactor: PostgresTransactor
  readonly #disk = new DiskWatch()
  readonly #notices: Notices
  readonly #listeners = new Set<Committed>()
  readonly #writtenListeners = new Set<OnWritten>()
  readonly #revocationListeners = new Set<Revoked>()
  readonly #nodeListeners = new Set<OnNodeMessage>()
  #followAgainAt = 0
  #due: { askedAt: number; answer: Promise<NextDue> } | null = null

  private constructor(database: Database, role: string) {
    super(database, role)
    this.found = database.found
    this.version = database.version
    this.#notices = new Notices(database, this.output, {
      heard: this.#notify,
      revoked: (keyIds) => this.#revocationListeners.forEach((listener) => void listener(keyIds)),
      messaged: (...message) => this.#nodeListeners.forEach((listener) => void listener(...message)),
    })
    this.logTail = new LogTailRows(this, this.#notices)
    this.#transactor = new PostgresTransactor(this.writers, this.#log, (...written) => {
      for (const listener of this.#writtenListeners) listener(...written)
    })
  }

  static async open(url: string, role = SERVER_ROLE): Promise<PostgresStore> {
    const database = await findDatabase(url)
    await migrate(database, role)
    const store = new PostgresStore(database, role)
    try {
      await store.ready()
      store.#instance = await readInstanceId(store.readers)
      await store.#notices.listen()
    } catch (error) {
      await store.close()
      throw error
    }
    return store
  }

  /** The id of the database, read when it was opened. */
  get instance(): string {
    return this.#instance
  }

  ready(): Promise<void> {
    return assertSafeToServe(this.readers)
  }

  transact<T>(workspaceId: number, step: ServerStep<T>): Promise<T> {
    return this.#disk.watching(step, (watched) => this.#transactor.transact(workspaceId, watched))
  }

  workspace(name: string, limits: Partial<Limits> = {}): Promise<number> {
    return ensureWorkspace(this, name, limits)
  }

  async project(workspaceId: number, slug: string): Promise<number> {
    const known = await findProject(this.writers, workspaceId, slug)
    if (known) return known.projectId
    const uuid = uuidCarrying(await newProjectId(this.writers, workspaceId), Date.now(), randomInt(2 ** 22))
    const command = { kind: 'create', name: slug, orKeep: true } as const
    const made = await runAlone(this, workspaceId, { on: 'project', key: slug, uuid, command, actor: SYSTEM })
    return made.record.projectId
  }

  async setTrack(
    workspaceId: number,
    projectId: number,
    track: string,
    maxAgents: number | null,
  ): Promise<void> {
    const slug = await slugOfProject(this.writers, workspaceId, projectId)
    const command = { kind: 'setTracks', tracks: [{ track, maxAgents }] } as const
    await runAlone(this, workspaceId, { on: 'project', key: slug, uuid: '', command, actor: SYSTEM })
  }

  async dueTasks(limit: number, only?: number): Promise<DueVersion[]> {
    // Not for a single workspace on request: it touches the claims of all workspaces, and being late hides nothing.
    if (only === undefined) await this.#followRenewals(limit)
    const [expired, dueTasks] = await Promise.all([
      due.expiredLeases(this.readers, limit, only),
      due.dueTasks(this.readers, limit, only),
    ])
    return [...expired, ...dueTasks]
  }

  /** A renewal does not move its claim in the index; the claim is moved when its old lease end has passed. */
  async #followRenewals(limit: number): Promise<void> {
    if (performance.now() < this.#followAgainAt) return
    const renewed = await due.renewedLeases(this.readers, limit)
    for (const workspaceId of new Set(renewed.map((claim) => claim.workspaceId))) {
      const own = renewed.filter((claim) => claim.workspaceId === workspaceId)
      const taskIds = own.map(({ taskId }) => taskId)
      await due.postponeChecks(this.writers, workspaceId, taskIds)
    }
    this.#followAgainAt = performance.now() + (renewed.length < limit ? FOLLOW_EVERY_MS : 0)
  }

  /** Asked once for all parts of this node: at most once in this time, unless something was committed since. */
  nextDue(): Promise<NextDue> {
    const now = performance.now()
    if (this.#due && now - this.#due.askedAt < DUE_KNOWN_MS) return this.#due.answer
    const due = { askedAt: now, answer: nextDue(this.readers, this.followers.cached) }
    this.#due = due
    // A failure is not an answer for others.
    due.answer.catch(() => {
      if (this.#due === due) this.#due = null
    })
    return due.answer
  }

  dueSessions(limit: number, only?: number) {
    return due.dueSessions(this.readers, limit, only)
  }

  heldUntouchedSince(workspaceId: number, before: number, limit: number): Promise<DueTask[]> {
    return due.heldUntouchedSince(this.readers, workspaceId, before, limit)
  }

  downstreamOf(workspaceId: number, taskIds: readonly number[]): Promise<BlockedTask[]> {
    return downstreamOf(this.readers, workspaceId, taskIds)
  }

  missedAmong(workspaceId: number, taskIds: readonly number[], limit: number): Promise<BlockedTask[]> {
    return missedAmong(this.readers, workspaceId, taskIds, limit)
  }

  blockedFrom(
    workspaceId: number,
    taskIds: readonly number[],
    way: Direction,
    limit: number,
  ): Promise<Walked> {
    return blockedFrom(this.readers, workspaceId, taskIds, way, limit)
  }

  async applyRetention(): Promise<void> {
    await this.followers.writeCached()
    await applyRetention(this.writers)
  }

  onCommit(listener: Committed): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  onWritten(listener: OnWritten): () => void {
    this.#writtenListeners.add(listener)
    return () => this.#writtenListeners.delete(listener)
  }

  /** Notifies of revoked keys, whichever node revoked them. */
  onRevoked(listener: Revoked): () => void {
    this.#revocationListeners.add(listener)
    return () => this.#revocationListeners.delete(listener)
  }

  broadcast(message: NodeMessage): void {
    this.#notices.send(message)
  }

  /** What other nodes tell. */
  onNodeMessage(listener: OnNodeMessage): () => void {
    this.#nodeListeners.add(listener)
    return () => this.#nodeListeners.delete(listener)
  }

  #committed: Committed = (workspaceId, what) => {
    this.#notify(workspaceId, what)
    this.#notices.say(workspaceId, what)
  }

  #notify: Committed = (workspaceId, what) => {
    this.#due = null
    if (what.seq !== undefined) this.heads.learn(workspaceId, what.seq)
    for (const listener of this.#listeners) listener(workspaceId, what)
  }

  /** Throws when the database does not answer, or has no room for what is written. */
  async ping(): Promise<void> {
    await this.readers.query('select 1')
    this.#disk.throwIfFull()
  }

  async close(): Promise<void> {
    await this.#notices.close()
    const pools = [this.writers, this.readers, this.control, this.output]
    await Promise.all(pools.map((pool) => pool.end()))
  }
}

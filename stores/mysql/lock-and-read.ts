import {
  dependencyName,
  heldName,
  isOnTrack,
  keyName,
  NO_AGENTS,
  type StoredReply,
  trackName,
} from '../../src/kernel/batch/requests.ts'
import { pastGenerations, sessionsOf, TrackUses, workersOf } from '../../src/kernel/store/assemble-view.ts'
import type { ReadSet, View } from '../../src/kernel/store/portable.ts'
import type { LostClaim } from '../../src/kinds/replies.ts'
import type { SessionRecord, TaskRecord } from '../../src/kinds/task/record.ts'
import type { PastHolder } from '../../src/kinds/task/rules/claim-request.ts'
import type { CountedDependency } from '../../src/kinds/task/rules/upstream-counts.ts'
import { inLists } from './bulk.ts'
import { readRecord, readSession, textOf } from './columns.ts'
import type { Connection, Row } from './connect.ts'
import { Packet } from './packet.ts'
import { canServe, matchesQuery, nonEmptyQueues, type Queue, readQueue, rowsWanted } from './queues.ts'
import { BEGIN, LockStatements, type TrackKey } from './statements.ts'
import { readWorkspaceState, type WorkspaceState } from './workspace-state.ts'

/** From this many queues on it is cheaper to lock the tasks of all queues first and read them afterwards. */
const MANY_QUEUES = 6
const QUEUES_AT_ONCE = 100

/**
 * Locks what a read set names and reads the rest, in at most six packets, mostly one. Every transaction locks in the same
 * order: tasks by id, the first tasks of queues (skipping rows locked by others), tracks, sessions. The clock is read by the
 * last statement. What is read without a lock is read after the locks that guard it.
 */
export class LockAndRead {
  readonly #connection: Connection
  readonly #workspaceId: number
  readonly #readSet: ReadSet
  readonly #statements: LockStatements
  readonly #records = new Map<number, TaskRecord>()
  readonly #storedReplies = new Map<string, StoredReply>()
  readonly #takenKeys = new Set<string>()
  readonly #pastHolders = new Map<string, PastHolder>()
  readonly #dependencies = new Map<string, CountedDependency>()
  readonly #tracks = new TrackUses()
  readonly #sessions = new Map<string, SessionRecord>()
  readonly #holding = new Map<string, number[]>()
  readonly #lost = new Map<string, LostClaim[]>()
  readonly #tasksOfQueue = new Map<Queue, number[]>()
  #queues: Queue[] = []
  #workers: string[] = []
  #workspaceState: WorkspaceState | null = null

  constructor(connection: Connection, isMariadb: boolean, workspaceId: number, readSet: ReadSet) {
    this.#connection = connection
    this.#workspaceId = workspaceId
    this.#readSet = readSet
    this.#statements = new LockStatements(isMariadb, workspaceId)
  }

  async view(fresh: View['fresh']): Promise<View> {
    const held = await this.#heldBySessions()
    await this.#lockTasks(held)
    await this.#lockQueues()
    await this.#lockTracksAndSessions()
    await this.#lockTasksClaimedMeanwhile()
    const { now, activeClaims, activeSessions, limits } = this.#workspaceState!
    const waiting = this.#readSet.waiting.map((query) => this.#tasksIn((queue) => matchesQuery(query, queue)))
    const reserved = this.#readSet.reserved.flatMap(({ agent, capabilities }) =>
      this.#tasksIn((queue) => queue.onlyAgent === agent && canServe(capabilities, queue)),
    )
    return {
      now,
      limits,
      activeClaims,
      records: this.#records,
      waiting,
      reserved,
      pastHolders: this.#pastHolders,
      dependencies: this.#dependencies,
      fresh,
      takenKeys: this.#takenKeys,
      storedReplies: this.#storedReplies,
      workers: this.#workersSeen(),
      kinds: { session: { seen: this.#sessionsSeen(), counted: activeSessions } },
      ...NO_AGENTS,
      tracks: this.#tracks.byName,
    }
  }

  /** Before any lock: tasks are locked before sessions, and what sessions hold is to be locked too. */
  async #heldBySessions(): Promise<number[]> {
    if (this.#readSet.kinds.session.length === 0) return []
    const packet = new Packet()
    const held: number[] = []
    packet.ask(this.#statements.heldBy(this.#readSet.kinds.session), (rows) => {
      for (const [, taskId] of rows) held.push(taskId as number)
    })
    await packet.send(this.#connection)
    return held
  }

  #show = (row: Row): number => {
    const record = readRecord(row)
    // A transaction that locks a claim row without its task's lock would make SKIP LOCKED skip the task, too.
    if (record.generation > 0 && record.session === null)
      throw new Error(`task ${record.id} has no row for its newest claim`)
    this.#records.set(record.id, record)
    return record.id
  }

  async #lockTasks(held: readonly number[]): Promise<void> {
    const { taskIds, waiting, reserved, claimants, newKeys, idempotencyKeys } = this.#readSet
    const ids = held.length === 0 ? taskIds : [...new Set([...taskIds, ...held])].sort((a, b) => a - b)
    const packet = new Packet()
    packet.ask(BEGIN)
    for (const list of inLists(ids))
      packet.ask(this.#statements.lockTasks(list), (rows) => rows.forEach(this.#show))
    if (waiting.length > 0 || reserved.length > 0) {
      const agents = [...new Set(reserved.map(({ agent }) => agent))]
      packet.ask(nonEmptyQueues(this.#workspaceId, agents), (rows) => (this.#queues = rows.map(readQueue)))
    }
    for (const list of inLists(claimants))
      packet.ask(this.#statements.workersAmong(list), (rows) =>
        this.#workers.push(...rows.map(([name]) => textOf(name))),
      )
    for (const list of inLists(this.#readSet.dependencies))
      packet.ask(this.#statements.dependenciesOf(list), (rows) => rows.forEach(this.#readDependency))
    for (const list of inLists(newKeys))
      packet.ask(this.#statements.takenKeys(list), (rows) => {
        for (const [projectId, key] of rows) this.#takenKeys.add(keyName(projectId as number, textOf(key)))
      })
    for (const list of inLists(idempotencyKeys))
      packet.ask(this.#statements.storedReplies(list), (rows) => {
        for (const [key, bodyHash, reply] of rows)
          this.#storedReplies.set(textOf(key), {
            bodyHash: textOf(bodyHash),
            reply: JSON.parse(reply as string),
          })
      })
    await this.#sendWithClock(packet)
  }

  #readDependency = ([taskId, dependsOn, rule, countedVersion, outcome]: Row): void => {
    const name = dependencyName(taskId as number, dependsOn as number)
    this.#dependencies.set(name, { rule, countedVersion, outcome } as CountedDependency)
  }

  async #sendWithClock(packet: Packet): Promise<void> {
    packet.ask(this.#statements.workspaceState(), ([row]) => {
      if (!row) throw new Error(`workspace ${this.#workspaceId} does not exist`)
      this.#workspaceState = readWorkspaceState(row)
    })
    await packet.send(this.#connection)
  }

  async #lockQueues(): Promise<void> {
    const wanted = [...rowsWanted(this.#readSet, this.#queues)]
    if (wanted.length === 0) return
    const packet = new Packet()
    if (wanted.length > MANY_QUEUES) await this.#lockManyQueues(wanted, packet)
    else
      for (const [queue, limit] of wanted)
        packet.ask(this.#statements.lockWaiting(queue.id, limit), (rows) =>
          this.#tasksOfQueue.set(queue, rows.map(this.#show)),
        )
    await this.#sendWithClock(packet)
  }

  /** Locks them with few statements; `packet` then reads them. */
  async #lockManyQueues(wanted: readonly (readonly [Queue, number])[], packet: Packet): Promise<void> {
    const locking = new Packet()
    const queues = new Map(wanted.map(([queue]) => [queue.id, queue]))
    for (const list of inLists(wanted, QUEUES_AT_ONCE))
      locking.ask(this.#statements.lockWaitingOfMany(list.map(([{ id }, limit]) => [id, limit])), (rows) => {
        for (const [queueId, taskId] of rows as unknown as [number, number][]) {
          const queue = queues.get(queueId)!
          const ids = this.#tasksOfQueue.get(queue)
          if (ids) ids.push(taskId)
          else this.#tasksOfQueue.set(queue, [taskId])
        }
      })
    await locking.send(this.#connection)
    for (const list of inLists([...this.#tasksOfQueue.values()].flat()))
      packet.ask(this.#statements.lockTasks(list), (rows) => rows.forEach(this.#show))
  }

  #tasksIn(isWanted: (queue: Queue) => boolean): number[] {
    return [...this.#tasksOfQueue].flatMap(([queue, ids]) => (isWanted(queue) ? ids : []))
  }

  async #lockTracksAndSessions(): Promise<void> {
    const packet = new Packet()
    const { claimants } = this.#readSet
    const { session: sessions } = this.#readSet.kinds
    if (claimants.length > 0 && this.#workspaceState!.hasTracks) this.#askForTracks(packet)
    const names = [...new Set([...this.#workers, ...sessions])].sort()
    for (const list of inLists(names)) {
      packet.ask(this.#statements.lockSessions(list), (rows) => {
        for (const record of rows.map(readSession)) this.#sessions.set(record.name, record)
      })
    }
    for (const list of inLists(names))
      packet.ask(this.#statements.heldBy(list), (rows) => {
        for (const [name, taskId] of rows) {
          const held = this.#holding.get(textOf(name))
          if (held) held.push(taskId as number)
          else this.#holding.set(textOf(name), [taskId as number])
        }
      })
    for (const list of inLists(sessions)) packet.ask(this.#statements.lostBy(list), this.#readLost)
    this.#askForPastHolders(packet)
    if (!packet.isEmpty) await this.#sendWithClock(packet)
  }

  #askForTracks(packet: Packet): void {
    const places = new Map<string, TrackKey>()
    for (const record of this.#records.values())
      if (isOnTrack(record))
        places.set(trackName(record.projectId, record.trackQueue), [record.projectId, record.trackQueue])
    const inOrder = [...places].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, place]) => place)
    for (const list of inLists(inOrder)) {
      packet.ask(this.#statements.lockTracks(list), (rows) => {
        for (const [projectId, track, maxAgents] of rows)
          this.#tracks.declare(trackName(projectId as number, textOf(track)), maxAgents as number | null)
      })
      packet.ask(this.#statements.holdersOfTracks(list), (rows) => {
        for (const [projectId, track, agent, count] of rows)
          this.#tracks.holds(trackName(projectId as number, textOf(track)), textOf(agent), count as number)
      })
    }
  }

  #readLost = (rows: Row[]): void => {
    for (const [session, taskId, generation, reason, at] of rows) {
      const lost = this.#lost.get(textOf(session)) ?? []
      lost.push({ taskId, generation, reason: textOf(reason), at } as LostClaim)
      this.#lost.set(textOf(session), lost)
    }
  }

  /** Needed only for a result of a past generation, which is rare. */
  #askForPastHolders(packet: Packet): void {
    const past = pastGenerations(this.#readSet, this.#records)
    for (const list of inLists(past))
      packet.ask(this.#statements.holdersOf(list), (rows) => {
        for (const [taskId, generation, session, agent, acquiredAt] of rows)
          this.#pastHolders.set(heldName(taskId as number, generation as number), {
            ...{ session: textOf(session), agent: textOf(agent), acquiredAt: acquiredAt as number | null },
          })
      })
  }

  /**
   * A session may have claimed more between the first read and its lock. These locks are out of order, so a deadlock is
   * possible.
   */
  async #lockTasksClaimedMeanwhile(): Promise<void> {
    const held = this.#readSet.kinds.session.flatMap((name) => this.#holding.get(name) ?? [])
    const unseen = held.filter((id) => !this.#records.has(id)).sort((a, b) => a - b)
    if (unseen.length === 0) return
    const packet = new Packet()
    for (const list of inLists(unseen))
      packet.ask(this.#statements.lockTasks(list), (rows) => rows.forEach(this.#show))
    await this.#sendWithClock(packet)
  }

  #workersSeen = () =>
    workersOf({ claimants: this.#workers }, (name) => {
      const record = this.#sessions.get(name)
      return record ? { record, held: this.#holding.get(name)?.length ?? 0 } : null
    })

  #sessionsSeen = () =>
    sessionsOf(this.#readSet.kinds.session, (name) => {
      const record = this.#sessions.get(name)
      if (!record) return null
      const isHeld = ({ session, claimState }: TaskRecord) => session === name && claimState === 'active'
      const holding = (this.#holding.get(name) ?? []).filter((id) => isHeld(this.#records.get(id)!))
      return { record, holding, lost: this.#lost.get(name) ?? [] }
    })
}

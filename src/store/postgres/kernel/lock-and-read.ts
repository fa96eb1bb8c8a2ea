import { randomInt } from 'node:crypto'
import type pg from 'pg'
import {
  heldName,
  isOnTrack,
  keyName,
  type ReadSet,
  trackName,
  type View,
} from '../../../core/batch/requests.ts'
import type { Limits } from '../../../core/limits.ts'
import type { TaskRecord } from '../../../core/records.ts'
import type { LostClaim } from '../../../core/replies.ts'
import { pastGenerations, sessionsOf, TrackUses, workersOf } from '../../assemble-view.ts'
import { healthOf, heldByAgents, lockAgents, readAgents } from './agent-rows.ts'
import { readRecord, readSession } from './columns.ts'
import { arrayLiteral } from './rows.ts'
import { send } from './send.ts'
import type { Bound } from './statements.ts'
import * as sql from './statements.ts'

/** A session claimed more between the read of what it holds and its lock: read again. */
export class ChangedMeanwhile extends Error {
  override name = 'ChangedMeanwhile'
}

type Rows = unknown[][]

/**
 * Begins the transaction, locks and reads what the read set names: one round trip, unless tracks or past generations matter.
 */
export async function lockAndRead(
  client: pg.PoolClient,
  workspaceId: number,
  readSet: ReadSet,
): Promise<View> {
  const questions = new Questions(workspaceId)
  questions.ask(sql.begin, [])
  questions.ask(sql.nameWorkspace, [String(workspaceId)])
  const locked = askForTasks(questions, readSet)
  const asksForSessions = readSet.kinds.session.length + readSet.claimants.length > 0
  const names = [arrayLiteral(readSet.kinds.session), arrayLiteral(readSet.claimants)]
  const sessionRows = asksForSessions ? questions.askIn(sql.lockSessions, names) : NOTHING
  const heldRows = asksForSessions ? questions.askIn(sql.heldBySessions, names) : NOTHING
  const lostRows =
    readSet.kinds.session.length > 0 ? questions.askIn(sql.lostBySessions, [names[0]]) : NOTHING
  const active = readSet.kinds.session.length > 0 ? questions.askIn(sql.activeSessions, []) : NOTHING
  const agents = askForAgents(questions, readSet)
  const terms =
    readSet.terms.length > 0 ? questions.ask(sql.keepTerms, [arrayLiteral(readSet.terms)]) : NOTHING
  const workspaceState = questions.askIn(sql.workspaceState, [])
  const fresh = readSet.newTasks > 0 ? questions.ask(sql.freshIds, [readSet.newTasks]) : NOTHING
  const taken = readSet.newKeys.length > 0 ? questions.askIn(sql.takenKeys, keysOf(readSet)) : NOTHING
  const storedReplies =
    readSet.idempotencyKeys.length > 0
      ? questions.askIn(sql.storedReplies, [arrayLiteral(readSet.idempotencyKeys)])
      : NOTHING

  await questions.send(client)
  const records = new Map<number, TaskRecord>()
  const read = (row: unknown[]) => {
    const record = readRecord(row)
    records.set(record.id, record)
    return record.id
  }
  locked.tasks().forEach(read)
  const waiting = locked.waiting.map((rows) => rows().map(read))
  const reserved = locked.reserved().map(read)
  const { sessions, workers } = readSessions(readSet, records, sessionRows(), heldRows(), lostRows())
  const { changing, claiming } = seenAgents(readSet, records, agents)
  const { now, activeClaims, limits } = readWorkspaceState(workspaceId, workspaceState())
  const tracks = await lockTracks(client, workspaceId, readSet, records)
  // The clock is read after all locks, including those of tracks.
  const after = tracks?.now ?? now
  return {
    now: after,
    activeClaims: tracks?.activeClaims ?? activeClaims,
    limits,
    records,
    waiting,
    reserved,
    pastHolders: await pastHoldersOf(client, workspaceId, readSet, records),
    fresh: fresh().map(([id]) => ({ id: id as number, random: randomInt(2 ** 22) })),
    takenKeys: new Set(taken().map(([projectId, key]) => keyName(projectId as number, key as string))),
    storedReplies: new Map(
      storedReplies().map(([key, bodyHash, reply]) => [key, { bodyHash, reply }] as never),
    ),
    workers,
    kinds: {
      session: { seen: sessions, counted: (active()[0]?.[0] as number | undefined) ?? 0 },
      agent: { seen: changing, counted: 0 },
    },
    claimingAgents: claiming,
    terms: new Set(terms().flatMap(([term, until]) => ((until as number) > after ? [term as number] : []))),
    tracks: tracks?.uses ?? new Map(),
  }
}

const NOTHING = (): Rows => []

/** Statements that are sent together; each returns a function that gives its rows afterwards. */
class Questions {
  readonly #workspaceId: number
  readonly #statements: Bound[] = []
  #answers: pg.QueryArrayResult[] = []

  constructor(workspaceId: number) {
    this.#workspaceId = workspaceId
  }

  ask(statement: Bound[0], values: unknown[]): () => Rows {
    const place = this.#statements.push([statement, values]) - 1
    return () => this.#answers[place]!.rows
  }

  /** With the workspace as the first parameter. */
  askIn = (statement: Bound[0], values: unknown[]) => this.ask(statement, [this.#workspaceId, ...values])

  async send(client: pg.PoolClient): Promise<void> {
    this.#answers = await send(client, this.#statements)
  }
}

function askForTasks(questions: Questions, readSet: ReadSet) {
  const ids = arrayLiteral(readSet.taskIds)
  const tasks =
    readSet.kinds.session.length + readSet.kinds.agent.length > 0
      ? questions.askIn(sql.lockTasksAndHeld, [
          ids,
          arrayLiteral(readSet.kinds.session),
          arrayLiteral(readSet.kinds.agent),
        ])
      : questions.askIn(sql.lockTasks, [ids])
  const waiting = readSet.waiting.map(({ capabilities, limit, projectId, trackQueues }) =>
    questions.askIn(sql.lockWaiting, [
      arrayLiteral(capabilities),
      limit,
      projectId,
      trackQueues && arrayLiteral(trackQueues),
    ]),
  )
  const reserved =
    readSet.reserved.length > 0
      ? questions.askIn(sql.lockReserved, [
          arrayLiteral(readSet.reserved.map(({ agent }) => agent)),
          arrayLiteral(readSet.reserved.map(({ limit }) => limit)),
          arrayLiteral(readSet.reserved.map((one) => one.capabilities)),
        ])
      : NOTHING
  return { tasks, waiting, reserved }
}

function askForAgents(questions: Questions, readSet: ReadSet) {
  const names = [arrayLiteral(readSet.kinds.agent), arrayLiteral(readSet.claimingAgents)]
  const isAsked = readSet.kinds.agent.length + readSet.claimingAgents.length > 0
  return {
    agents: isAsked ? questions.askIn(lockAgents, names) : NOTHING,
    held: isAsked ? questions.askIn(heldByAgents, names) : NOTHING,
    health: readSet.kinds.agent.length > 0 ? questions.askIn(healthOf, [names[0]]) : NOTHING,
  }
}

function seenAgents(
  readSet: ReadSet,
  records: ReadonlyMap<number, TaskRecord>,
  asked: ReturnType<typeof askForAgents>,
) {
  const rows = { agents: asked.agents(), held: asked.held(), health: asked.health() }
  return readAgents(readSet, records, rows)
}

const keysOf = ({ newKeys }: ReadSet) => [
  arrayLiteral([...new Set(newKeys.map(({ projectId }) => projectId))]),
  arrayLiteral(newKeys.map(({ key }) => key)),
]

function readSessions(
  readSet: ReadSet,
  records: ReadonlyMap<number, TaskRecord>,
  sessionRows: Rows,
  heldRows: Rows,
  lostRows: Rows,
) {
  const held = new Map(heldRows.map(([session, ids]) => [session as string, (ids as unknown[]).map(Number)]))
  const lost = new Map<string, LostClaim[]>()
  for (const [session, taskId, generation, reason, at] of lostRows) {
    const list = lost.get(session as string) ?? []
    lost.set(session as string, [...list, { taskId, generation, reason, at } as LostClaim])
  }
  const found = new Map(sessionRows.map((row) => [row[0] as string, readSession(row)]))
  const sessions = sessionsOf(readSet.kinds.session, (name) => {
    const record = found.get(name)
    const holding = held.get(name) ?? []
    if (record && !holding.every((id) => records.has(id))) throw new ChangedMeanwhile()
    return record ? { record, holding, lost: lost.get(name) ?? [] } : null
  })
  const workers = workersOf(readSet, (name) => {
    const record = found.get(name)
    return record ? { record, held: held.get(name)?.length ?? 0 } : null
  })
  return { sessions, workers }
}

function readWorkspaceState(workspaceId: number, rows: Rows) {
  const [row] = rows
  if (!row) throw new Error(`workspace ${workspaceId} does not exist`)
  const [now, activeClaims, ...limits] = row as number[]
  return { now: now!, activeClaims: activeClaims!, limits: readLimits(limits) }
}

/** Locked only for claims on a track: two agents must not both take the last free place. */
async function lockTracks(
  client: pg.PoolClient,
  workspaceId: number,
  readSet: ReadSet,
  records: ReadonlyMap<number, TaskRecord>,
) {
  if (readSet.claimants.length === 0) return null
  const onTracks = [...records.values()].filter(isOnTrack)
  if (onTracks.length === 0) return null
  const names = [
    arrayLiteral([...new Set(onTracks.map(({ projectId }) => projectId))]),
    arrayLiteral([...new Set(onTracks.map(({ trackQueue }) => trackQueue))]),
  ]
  const questions = new Questions(workspaceId)
  const tracks = questions.askIn(sql.lockTracks, names)
  const holders = questions.askIn(sql.onTracks, names)
  const workspaceState = questions.askIn(sql.workspaceState, [])
  await questions.send(client)
  const uses = new TrackUses()
  for (const [projectId, track, maxAgents] of tracks())
    uses.declare(trackName(projectId as number, track as string), maxAgents as number | null)
  for (const [projectId, track, agent, count] of holders())
    uses.holds(trackName(projectId as number, track as string), agent as string, count as number)
  const { now, activeClaims } = readWorkspaceState(workspaceId, workspaceState())
  return { uses: uses.byName, now, activeClaims }
}

/** Read only for a result of a past generation, which is rare. */
async function pastHoldersOf(
  client: pg.PoolClient,
  workspaceId: number,
  readSet: ReadSet,
  records: ReadonlyMap<number, TaskRecord>,
): Promise<Map<string, string>> {
  const past = pastGenerations(readSet, records)
  if (past.length === 0) return new Map()
  const ids = arrayLiteral(past.map(({ taskId }) => taskId))
  const generations = arrayLiteral(past.map(({ generation }) => generation))
  const [found] = await send(client, [[sql.holdersOf, [workspaceId, ids, generations]]])
  return new Map(found!.rows.map(([taskId, generation, session]) => [heldName(taskId, generation), session]))
}

const readLimits = (row: unknown[]) =>
  ({
    minLeaseSeconds: row[0],
    maxLeaseSeconds: row[1],
    maxConcurrentClaims: row[2],
    maxGenerationsPerTask: row[3],
    maxResultBytes: row[4],
    lateResults: row[5],
    maxActiveSessions: row[6],
    claimHistoryRetentionDays: row[7],
    assignTimeoutSeconds: row[8],
    stallTimeoutSeconds: row[9],
    verifyTimeoutSeconds: row[10],
    hangGraceSeconds: row[11],
    hangAbortSeconds: row[12],
    queueOrder: row[13],
  }) as Limits

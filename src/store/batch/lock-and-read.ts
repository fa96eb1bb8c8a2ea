import { randomFillSync } from 'node:crypto'
import type pg from 'pg'
import {
  dependencyName,
  heldName,
  isOnTrack,
  keyName,
  type ReadSet,
  trackName,
  type View,
} from '../../kernel/batch/requests.ts'
import { pastGenerations, TrackUses } from '../../kernel/store/assemble-view.ts'
import { askForAgents } from '../../kinds/agent/postgres/write.ts'
import { askForBudgets } from '../../kinds/budget/postgres/seen.ts'
import type { SeenBudgets } from '../../kinds/budget/rules/claims.ts'
import type { SeenGate } from '../../kinds/mission/rules/gate.ts'
import type { TaskRecord } from '../../kinds/task/record.ts'
import type { PastHolder } from '../../kinds/task/rules/claim-request.ts'
import type { CountedDependency } from '../../kinds/task/rules/upstream-counts.ts'
import type { Limits } from '../../kinds/workspace/limits.ts'
import { RECORD_WIDTH, readRecord } from '../../postgres/statements/columns.ts'
import { NOTHING, Pipeline, type Rows } from '../../postgres/statements/pipeline.ts'
import { arrayLiteral } from '../../postgres/statements/rows.ts'
import { send } from '../../postgres/statements/send.ts'
import * as sql from '../../postgres/statements/statements.ts'
import { askForKinds, namesRecords, readKinds } from '../stored-kinds.ts'

/** What the last batches of each workspace needed: it is read at once, and only what else turns out to matter costs a round trip. */
export class LastNeeded {
  /** Workspaces where something limited the last callers that claimed. */
  readonly restricted = new Set<number>()
  /** Workspaces that have budgets: one may refuse the first tasks of a queue, so that more of them are read. */
  readonly budgeted = new Set<number>()
  /** The missions of the tasks that were claimed last. */
  readonly missions = new Map<number, readonly number[]>()
}

/**
 * Begins the transaction, locks and reads what the read set names: one round trip, unless tracks, past generations or, for the
 * first time in a while, limits of those that claim or other missions matter.
 */
export async function lockAndRead(
  client: pg.PoolClient,
  workspaceId: number,
  readSet: ReadSet,
  last: LastNeeded,
): Promise<View> {
  const { restricted, budgeted } = last
  const pipeline = new Pipeline(workspaceId)
  pipeline.add(sql.begin, [])
  pipeline.add(sql.nameWorkspace, [String(workspaceId)])
  const locked = askForTasks(pipeline, readSet, budgeted.has(workspaceId) ? MORE_UNDER_BUDGETS : 0)
  const isClaim = readSet.claimants.length > 0
  const isLocking = namesRecords(readSet) || restricted.has(workspaceId)
  const callers = isLocking ? askForKinds(pipeline, readSet) : null
  const gates = askForGates(pipeline, readSet, last.missions.get(workspaceId) ?? [])
  const rest = askForTheRest(pipeline, readSet)
  const agents = askForAgents(pipeline, readSet)
  const terms =
    readSet.terms.length > 0 ? pipeline.add(sql.keepTerms, [arrayLiteral(readSet.terms)]) : NOTHING
  const workspaceState =
    isClaim && !callers
      ? pipeline.addIn(sql.workspaceStateForClaims, claimingIn(readSet))
      : pipeline.addIn(sql.workspaceState, [])

  await pipeline.send(client)
  const { records, waiting, reserved } = readTasks(locked)
  const state = readWorkspaceState(workspaceId, workspaceState())
  const isRestricted = workspaceState()[0]!.at(-1) === true
  if (state.hasBudgets) budgeted.add(workspaceId)
  else budgeted.delete(workspaceId)
  const found =
    isClaim && !callers && isRestricted
      ? await lockCallers(client, workspaceId, readSet)
      : { callers, ...state }
  const limiting = readKinds(found.callers, records)
  if (isClaim) {
    if (limiting.workers.size + limiting.claimingAgents.size > 0) restricted.add(workspaceId)
    else restricted.delete(workspaceId)
  }
  const tracks = await lockTracks(client, workspaceId, readSet, records)
  // The clock is read after all locks, including those of callers and tracks.
  const { now, activeClaims } = tracks ?? found
  return {
    now,
    activeClaims,
    limits: state.limits,
    records,
    waiting,
    reserved,
    pastHolders: await pastHoldersOf(client, workspaceId, readSet, records),
    ...readRest(rest),
    ...limiting,
    agents: agents(),
    terms: new Set(terms().flatMap(([term, until]) => ((until as number) > now ? [term as number] : []))),
    tracks: tracks?.uses ?? new Map(),
    gates: await gatesOf(client, workspaceId, { readSet, records, gates, last }),
    budgets: state.hasBudgets
      ? await budgetsOf(client, workspaceId, { readSet, records, ...state.limits })
      : null,
  }
}

/** What is asked for beyond what is wanted. Where budgets refuse even more, the next calls find what is behind them when it has moved. */
const MORE_UNDER_BUDGETS = 16

function askForTasks(pipeline: Pipeline, readSet: ReadSet, more: number) {
  const { taskIds, reserved } = readSet
  const { session: sessions, agent: agents } = readSet.kinds
  const ids = arrayLiteral(taskIds)
  const tasks =
    sessions.length + agents.length > 0
      ? pipeline.addIn(sql.lockTasksAndHeld, [ids, arrayLiteral(sessions), arrayLiteral(agents)])
      : taskIds.length > 0
        ? pipeline.addIn(sql.lockTasks, [ids])
        : NOTHING
  // Only requests for the next task have reserved ones, so there is a queue to look for them with.
  const forAgents = [
    arrayLiteral(reserved.map(({ agent }) => agent)),
    arrayLiteral(reserved.map(({ limit }) => limit + more)),
    arrayLiteral(reserved.map((one) => one.capabilities)),
  ]
  const waiting = readSet.waiting.map(
    ({ capabilities, limit, projectId, trackQueues, purposes, taskTypes }, i) =>
      pipeline.addIn(taskTypes ? sql.lockWaitingOfTypes : sql.lockWaiting, [
        arrayLiteral(capabilities),
        limit + more,
        projectId,
        trackQueues && arrayLiteral(trackQueues),
        ...(i === 0 ? forAgents : ['{}', '{}', '{}']),
        arrayLiteral(purposes),
        ...(taskTypes ? [arrayLiteral(taskTypes)] : []),
      ]),
  )
  return { tasks, waiting }
}

function readTasks({ tasks, waiting }: ReturnType<typeof askForTasks>) {
  const records = new Map<number, TaskRecord>()
  const read = (row: unknown[]) => {
    const record = readRecord(row)
    records.set(record.id, record)
    return record.id
  }
  tasks().forEach(read)
  const reserved: number[] = []
  const queues = waiting.map((rows) => {
    const ids: number[] = []
    for (const row of rows()) (row[RECORD_WIDTH] === true ? reserved : ids).push(read(row))
    return ids
  })
  return { records, waiting: queues, reserved }
}

/** What creations, repeated requests and counts of dependencies need. */
function askForTheRest(pipeline: Pipeline, readSet: ReadSet) {
  const { newTasks, newKeys, idempotencyKeys, dependencies } = readSet
  return {
    fresh: newTasks > 0 ? pipeline.add(sql.freshIds, [newTasks]) : NOTHING,
    taken: newKeys.length > 0 ? pipeline.addIn(sql.takenKeys, keysOf(readSet)) : NOTHING,
    stored:
      idempotencyKeys.length > 0
        ? pipeline.addIn(sql.storedReplies, [arrayLiteral(idempotencyKeys)])
        : NOTHING,
    dependencies:
      dependencies.length > 0
        ? pipeline.addIn(sql.dependenciesOf, [
            arrayLiteral(dependencies.map(({ taskId }) => taskId)),
            arrayLiteral(dependencies.map(({ dependsOn }) => dependsOn)),
          ])
        : NOTHING,
  }
}

/** 22 bits for each, all made at once. */
function withRandomBits(ids: readonly string[]): View['fresh'] {
  const bits = randomFillSync(new Uint32Array(ids.length))
  return ids.map((id, i) => ({ id: Number(id), random: bits[i]! >>> 10 }))
}

type Rest = Pick<View, 'fresh' | 'takenKeys' | 'storedReplies' | 'dependencies'>

const readRest = ({ fresh, taken, stored, dependencies }: ReturnType<typeof askForTheRest>): Rest => ({
  fresh: withRandomBits((fresh()[0]?.[0] as string | undefined)?.split(',') ?? []),
  takenKeys: new Set(taken().map(([projectId, key]) => keyName(projectId as number, key as string))),
  storedReplies: new Map(stored().map(([key, bodyHash, reply]) => [key, { bodyHash, reply }] as never)),
  dependencies: new Map(
    dependencies().map(([taskId, dependsOn, rule, countedVersion, outcome]) => [
      dependencyName(taskId as number, dependsOn as number),
      { rule, countedVersion, outcome } as CountedDependency,
    ]),
  ),
})

const claimingIn = ({ claimants, claimingAgents }: ReadSet) => [
  arrayLiteral(claimants),
  arrayLiteral(claimingAgents),
]

/** In a round trip of their own, in workspaces that have budgets: it depends on the tasks which of them matter. */
async function budgetsOf(
  client: pg.PoolClient,
  workspaceId: number,
  { readSet, records, timeZone }: Pick<GatesWanted, 'readSet' | 'records'> & Pick<Limits, 'timeZone'>,
): Promise<SeenBudgets> {
  const pipeline = new Pipeline(workspaceId)
  const budgets = askForBudgets(pipeline, readSet, records, timeZone)
  await pipeline.send(client)
  return budgets()
}

/** In a round trip of their own: before, it was not known that any of them must be locked. */
async function lockCallers(client: pg.PoolClient, workspaceId: number, readSet: ReadSet) {
  const pipeline = new Pipeline(workspaceId)
  const callers = askForKinds(pipeline, readSet)
  const workspaceState = pipeline.addIn(sql.workspaceState, [])
  await pipeline.send(client)
  return { callers, ...readWorkspaceState(workspaceId, workspaceState()) }
}

const keysOf = ({ newKeys }: ReadSet) => [
  arrayLiteral([...new Set(newKeys.map(({ projectId }) => projectId))]),
  arrayLiteral(newKeys.map(({ key }) => key)),
]

function readWorkspaceState(workspaceId: number, rows: Rows) {
  const [row] = rows
  if (!row) throw new Error(`workspace ${workspaceId} does not exist`)
  const [now, activeClaims, hasBudgets, ...limits] = row as [number, number, boolean, ...unknown[]]
  return { now, activeClaims, hasBudgets, limits: readLimits(limits) }
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
  const pipeline = new Pipeline(workspaceId)
  const tracks = pipeline.addIn(sql.lockTracks, names)
  const holders = pipeline.addIn(sql.onTracks, names)
  const workspaceState = pipeline.addIn(sql.workspaceState, [])
  await pipeline.send(client)
  const uses = new TrackUses()
  for (const [projectId, track, maxAgents] of tracks())
    uses.declare(trackName(projectId as number, track as string), maxAgents as number | null)
  for (const [projectId, track, agent, count] of holders())
    uses.holds(trackName(projectId as number, track as string), agent as string, count as number)
  const { now, activeClaims } = readWorkspaceState(workspaceId, workspaceState())
  return { uses: uses.byName, now, activeClaims }
}

const needsGates = ({ claimants, isTimed }: ReadSet) => claimants.length > 0 || isTimed

const askForGates = (pipeline: Pipeline, readSet: ReadSet, missions: readonly number[]) =>
  needsGates(readSet) && missions.length > 0 ? pipeline.addIn(sql.gatesOf, [arrayLiteral(missions)]) : NOTHING

interface GatesWanted {
  readSet: ReadSet
  records: ReadonlyMap<number, TaskRecord>
  /** Those that were read with the tasks. */
  gates: () => Rows
  last: LastNeeded
}

/** The missions of tasks that may be claimed, that time moves on, or that have a deadline. Read without a lock: `missionChecks` looks again. */
async function gatesOf(
  client: pg.PoolClient,
  workspaceId: number,
  { readSet, records, gates, last }: GatesWanted,
): Promise<Map<number, SeenGate>> {
  const isForAll = needsGates(readSet)
  const ids = new Set<number>()
  for (const { missionId, timers } of records.values())
    if (missionId !== null && (isForAll || timers?.deadlineMs !== undefined)) ids.add(missionId)
  if (isForAll) rememberMissions(last, workspaceId, ids)
  const seen = new Map(gates().map(gateIn))
  const unseen = [...ids].filter((id) => !seen.has(id))
  if (unseen.length === 0) return seen
  const [found] = await send(client, [[sql.gatesOf, [workspaceId, arrayLiteral(unseen)]]])
  for (const row of found!.rows) seen.set(...gateIn(row))
  return seen
}

/** Reading the gates of more missions than this costs more than a second round trip for those that matter. */
const MOST_REMEMBERED = 50

function rememberMissions({ missions }: LastNeeded, workspaceId: number, ids: ReadonlySet<number>): void {
  if (ids.size > 0) missions.set(workspaceId, [...ids].slice(0, MOST_REMEMBERED))
  else missions.delete(workspaceId)
}

const gateIn = ([id, uuid, phase, closedBy, maxParallel, held, closedMs, closedAt]: unknown[]): [
  number,
  SeenGate,
] => [id as number, { uuid, phase, closedBy, maxParallel, held, closedMs, closedAt } as SeenGate]

/** Read only for a result of a past generation, which is rare. */
async function pastHoldersOf(
  client: pg.PoolClient,
  workspaceId: number,
  readSet: ReadSet,
  records: ReadonlyMap<number, TaskRecord>,
): Promise<Map<string, PastHolder>> {
  const past = pastGenerations(readSet, records)
  if (past.length === 0) return new Map()
  const ids = arrayLiteral(past.map(({ taskId }) => taskId))
  const generations = arrayLiteral(past.map(({ generation }) => generation))
  const [found] = await send(client, [[sql.holdersOf, [workspaceId, ids, generations]]])
  return new Map(
    found!.rows.map(([taskId, generation, session, agent, acquiredAt]) => [
      heldName(taskId, generation),
      { session, agent, acquiredAt },
    ]),
  )
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
    branchRetentionDays: row[14],
    timeZone: row[15],
  }) as Limits

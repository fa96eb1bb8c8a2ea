import { randomInt } from 'node:crypto'
import type pg from 'pg'
import { type Ask, type Changes, heldName, type View } from '../../core/batch.ts'
import type { Limits } from '../../core/limits.ts'
import type {
  ClaimEnded,
  ClaimOpened,
  DetailsChanged,
  ResultJudged,
  ResultWritten,
  TaskRecord,
} from '../../core/records.ts'
import { StoreUnavailable, type Transactor } from '../store.ts'
import { ALL, changesRareColumns, fieldsOf, HOT, RARE, readRecord } from './columns.ts'
import { asUnavailable, connectionFrom, isTransient } from './connect.ts'
import { arrayLiteral } from './rows.ts'
import type { Bound } from './statements.ts'
import * as sql from './statements.ts'

const TRIES = 5

/** What was committed, for those who wait for it: a hint, never the truth. */
export type Committed = (workspaceId: number, what: { events: number; tasksWaiting: boolean }) => void

export class PostgresTransactor implements Transactor {
  readonly #pool: pg.Pool
  readonly #committed: Committed

  constructor(pool: pg.Pool, committed: Committed = () => undefined) {
    this.#pool = pool
    this.#committed = committed
  }

  async transact<T>(
    workspaceId: number,
    ask: Ask,
    decide: (view: View) => { answer: T; changes: Changes },
  ): Promise<T> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.#once(workspaceId, ask, decide)
      } catch (error) {
        if (!(isTransient(error) || lostARace(error))) throw error
        if (tries === TRIES) throw new StoreUnavailable('Others were faster each time.', { cause: error })
      }
    }
  }

  /** Two round trips: begin, lock and look; then write and commit. Each is sent as a whole before its answers are read. */
  async #once<T>(
    workspaceId: number,
    ask: Ask,
    decide: (view: View) => { answer: T; changes: Changes },
  ): Promise<T> {
    const client = await connectionFrom(this.#pool)
    let broken = true
    try {
      const view = await look(client, workspaceId, ask)
      const { answer, changes } = decide(view)
      const writes = plan(workspaceId, view, changes)
      if (writes.length === 0) {
        await send(client, [[sql.rollback, []]])
      } else {
        const results = await send(client, [...writes, [sql.commit, []]])
        if (results.at(-1)!.command !== 'COMMIT')
          throw new StoreUnavailable('The transaction was not committed.')
        this.#committed(workspaceId, {
          events: changes.events.length,
          tasksWaiting: changes.events.some(({ to }) => to === 'queued'),
        })
      }
      broken = false
      return answer
    } finally {
      // A connection with an unknown transaction on it is not used again.
      if (broken)
        await client.query(sql.rollback).then(
          () => (broken = false),
          () => undefined,
        )
      client.release(broken)
    }
  }
}

/** Unique violations that mean: somebody else was first, so look again. */
function lostARace(error: unknown): boolean {
  const { code, constraint } = error as { code?: string; constraint?: string }
  const isOurs = constraint === 'idempotency_keys_pkey' || constraint === 'tasks_key'
  return code === 'BT001' || (code === '23505' && isOurs)
}

/** Sends all statements, then waits for all answers; throws the first error of the server, which the later ones only echo. */
async function send(client: pg.PoolClient, statements: readonly Bound[]): Promise<pg.QueryArrayResult[]> {
  const sent = statements.map(([statement, values]) =>
    client.query({ ...statement, values, rowMode: 'array' }),
  )
  const settled = await Promise.allSettled(sent)
  return settled.map((outcome) => {
    if (outcome.status === 'rejected') throw asUnavailable(outcome.reason)
    return outcome.value
  })
}

async function look(client: pg.PoolClient, workspaceId: number, ask: Ask): Promise<View> {
  const statements: Bound[] = [
    [sql.begin, []],
    [sql.nameWorkspace, [String(workspaceId)]],
    [sql.lockTasks, [workspaceId, arrayLiteral(ask.taskIds)]],
  ]
  for (const { capabilities, limit } of ask.waiting)
    statements.push([sql.lockWaiting, [workspaceId, arrayLiteral(capabilities), limit]])
  if (ask.reserved.length > 0) {
    const agents = arrayLiteral(ask.reserved.map(({ agent }) => agent))
    const limits = arrayLiteral(ask.reserved.map(({ limit }) => limit))
    const capabilities = arrayLiteral(ask.reserved.map((one) => one.capabilities))
    statements.push([sql.lockReserved, [workspaceId, agents, limits, capabilities]])
  }
  statements.push([sql.circumstances, [workspaceId]])
  if (ask.newTasks > 0) statements.push([sql.freshIds, [ask.newTasks]])
  if (ask.newKeys.length > 0) statements.push([sql.takenKeys, [workspaceId, arrayLiteral(ask.newKeys)]])
  if (ask.idempotencyKeys.length > 0)
    statements.push([sql.rememberedReplies, [workspaceId, arrayLiteral(ask.idempotencyKeys)]])

  const [, , locked, ...rest] = await send(client, statements)
  const records = new Map<number, TaskRecord>()
  const read = (row: unknown[]) => {
    const record = readRecord(row)
    records.set(record.id, record)
    return record.id
  }
  locked!.rows.forEach(read)
  const waiting = ask.waiting.map(() => rest.shift()!.rows.map(read))
  const reserved = ask.reserved.length === 0 ? [] : rest.shift()!.rows.map(read)
  const [around] = rest.shift()!.rows
  if (!around) throw new Error(`workspace ${workspaceId} does not exist`)
  const fresh =
    ask.newTasks === 0 ? [] : rest.shift()!.rows.map(([id]) => ({ id, random: randomInt(2 ** 22) }))
  const taken = ask.newKeys.length === 0 ? [] : rest.shift()!.rows
  const remembered = ask.idempotencyKeys.length === 0 ? [] : rest.shift()!.rows
  const [now, activeClaims, ...limits] = around
  const pastHolders = await holdersOfThePast(client, workspaceId, ask, records)
  return {
    now,
    activeClaims,
    limits: readLimits(limits),
    records,
    waiting,
    reserved,
    pastHolders,
    fresh,
    takenKeys: new Set(taken.map(([key]) => key)),
    remembered: new Map(remembered.map(([key, bodyHash, reply]) => [key, { bodyHash, reply }])),
  }
}

/** Asked for only when somebody offers a result of a past generation, which is rare. */
async function holdersOfThePast(
  client: pg.PoolClient,
  workspaceId: number,
  ask: Ask,
  records: ReadonlyMap<number, TaskRecord>,
): Promise<Map<string, string>> {
  const past = ask.offered.filter(
    ({ taskId, generation }) => generation < (records.get(taskId)?.generation ?? 0),
  )
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
  }) as Limits

/** All changes as statements, in the order they must be written: tasks before what refers to them, events last. */
function plan(workspaceId: number, view: View, changes: Changes): Bound[] {
  const writes = [
    ...planTasks(workspaceId, view, changes),
    ...planDetails(workspaceId, changes),
    ...planClaims(workspaceId, changes),
    ...planResults(workspaceId, changes),
  ]
  const { remember, events } = changes
  if (remember.length > 0) {
    const replies = remember.map(({ reply }) => JSON.stringify(reply))
    writes.push(
      sql.rememberReplies(workspaceId, [
        remember.map((one) => one.key),
        remember.map((one) => one.bodyHash),
        replies,
      ]),
    )
  }
  if (events.length > 0) {
    const payloads = events.map(({ payload }) => JSON.stringify(payload))
    const first = [workspaceId, events.length, changes.activeClaimsDelta, view.limits.maxConcurrentClaims]
    writes.push(
      sql.appendEvents(first, [
        payloads,
        events.map((event) => event.type),
        events.map((event) => event.taskId),
        events.map((event) => event.generation),
        events.map((event) => event.from),
        events.map((event) => event.to),
        events.map((event) => event.actor),
        events.map((event) => event.at),
      ]),
    )
  }
  return writes
}

const insertTasks = sql.insertTasks(ALL)
const updateHot = sql.updateTasks('update_tasks', HOT)
const updateWhole = sql.updateTasks('update_tasks_whole', [...HOT, ...RARE])

function planTasks(workspaceId: number, view: View, changes: Changes): Bound[] {
  const writes: Bound[] = []
  if (changes.created.length > 0) writes.push(...planNewTasks(workspaceId, changes.created))
  // By the state they go to: tasks that do the same have most columns in common.
  const groups = new Map<string, TaskRecord[]>()
  for (const task of changes.tasks) {
    const isWhole = changesRareColumns(view.records.get(task.id)!, task)
    const name = isWhole ? `whole ${task.state}` : task.state
    const group = groups.get(name)
    if (group) group.push(task)
    else groups.set(name, [task])
  }
  for (const [name, tasks] of groups) {
    const ids = tasks.map((one) => one.id)
    if (name.startsWith('whole'))
      writes.push(updateWhole(workspaceId, [ids, ...fieldsOf([...HOT, ...RARE], tasks)]))
    else writes.push(updateHot(workspaceId, [ids, ...fieldsOf(HOT, tasks)]))
  }
  return writes
}

function planNewTasks(workspaceId: number, created: Changes['created']): Bound[] {
  const records = created.map((one) => one.record)
  const details = created.map(({ task }) => task.details)
  const ids = records.map((one) => one.id)
  const inputs = details.map(({ input }) => (input === undefined ? null : JSON.stringify(input)))
  const dependencies = created.flatMap(({ record, task }) =>
    task.dependsOn.map((dependsOn) => ({ taskId: record.id, dependsOn, rule: task.triggerRule })),
  )
  const writes = [
    insertTasks(workspaceId, fieldsOf(ALL, records)),
    sql.insertDetails(workspaceId, [
      ids,
      details.map((one) => one.title),
      details.map((one) => one.taskType),
      details.map((one) => one.description),
      inputs,
      details.map((one) => one.tags),
    ]),
  ]
  if (dependencies.length > 0) {
    const columns = [
      dependencies.map((one) => one.taskId),
      dependencies.map((one) => one.dependsOn),
      dependencies.map((one) => one.rule),
    ]
    writes.push(sql.insertDependencies(workspaceId, columns))
  }
  return writes
}

const DETAIL_COLUMNS = {
  title: 'title',
  description: 'description',
  tags: 'tags',
  progressPercent: 'progress_percent',
  progressStep: 'progress_step',
  checkpoint: 'checkpoint',
} as const satisfies Record<keyof DetailsChanged['set'], string>

/** Row by row, only the columns that changed: details change rarely, and seldom many at once. */
function planDetails(workspaceId: number, changes: Changes): Bound[] {
  const writes: Bound[] = []
  for (const { taskId, set } of changes.details) {
    const given = Object.entries(set).filter(([, value]) => value !== undefined) as [
      keyof typeof set,
      unknown,
    ][]
    if (given.length === 0) continue
    const columns = given.map(([field]) => DETAIL_COLUMNS[field])
    const values = given.map(([field, value]) => (field === 'checkpoint' ? JSON.stringify(value) : value))
    writes.push([sql.updateDetails(columns), [workspaceId, taskId, ...values]])
  }
  return writes
}

/** A claim that was granted and ended within one batch is written once, as ended. */
function planClaims(workspaceId: number, changes: Changes): Bound[] {
  const opened = new Map<string, { claim: ClaimOpened; end: ClaimEnded | null }>()
  const ended: ClaimEnded[] = []
  for (const claim of changes.claims) {
    const name = `${claim.taskId}/${claim.generation}`
    if (claim.kind === 'opened') opened.set(name, { claim, end: null })
    else {
      const fresh = opened.get(name)
      if (fresh) fresh.end = claim
      else ended.push(claim)
    }
  }
  const writes: Bound[] = []
  if (ended.length > 0) {
    writes.push(
      sql.endClaims(workspaceId, [
        ended.map((claim) => claim.taskId),
        ended.map((claim) => claim.generation),
        ended.map((claim) => claim.state),
        ended.map((claim) => claim.reason),
        ended.map((claim) => claim.at),
      ]),
    )
  }
  if (opened.size > 0) {
    const claims = [...opened.values()].map(({ claim }) => claim)
    const ends = [...opened.values()].map(({ end }) => end)
    writes.push(
      sql.openClaims(workspaceId, [
        claims.map((claim) => claim.taskId),
        claims.map((claim) => claim.generation),
        claims.map((claim) => claim.session),
        claims.map((claim) => claim.agent),
        ends.map((end) => end?.state ?? 'active'),
        claims.map((claim) => claim.at),
        claims.map((claim) => claim.leaseExpiresAt),
        ends.map((end) => end?.at),
        ends.map((end) => end?.reason),
      ]),
    )
  }
  return writes
}

function planResults(workspaceId: number, changes: Changes): Bound[] {
  if (changes.results.length === 0) return []
  const written = changes.results.filter((result): result is ResultWritten => result.kind === 'written')
  const judged = changes.results.filter((result): result is ResultJudged => result.kind === 'judged')
  const writes: Bound[] = []
  if (written.length > 0)
    writes.push(
      sql.insertResults(workspaceId, [
        written.map((result) => result.taskId),
        written.map((result) => result.generation),
        written.map((result) => result.session),
        written.map((result) => result.hash),
        written.map((result) => result.epoch),
        written.map((result) => result.agent),
        written.map((result) => result.accepted),
        written.map((result) => result.rejection),
        written.map((result) => result.ref),
        written.map((result) => result.data),
        written.map((result) => result.summary),
        written.map((result) => result.at),
      ]),
    )
  if (judged.length > 0) {
    const columns = [
      judged.map((one) => one.taskId),
      judged.map((one) => one.epoch),
      judged.map((one) => one.accepted),
      judged.map((one) => one.rejection),
    ]
    writes.push(sql.judgeResults(workspaceId, columns))
  }
  return writes
}

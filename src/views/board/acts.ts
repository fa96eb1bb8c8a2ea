import { z } from 'zod'
import { actsOf } from '../../door/door.ts'
import { readCursor, writeCursor } from '../../door/paging.ts'
import type { ServerKernel } from '../../door/server-kernel.ts'
import { type Caller, granted } from '../../kernel/kernel.ts'
import { commandOfAct } from '../../kinds/task/acts/commands.ts'
import { commentFrom } from '../../kinds/task/acts/comment-from.ts'
import { readStates } from '../../kinds/task/acts/tasks.ts'
import { updatesOf } from '../../kinds/task/acts/update-many.ts'
import { Refused } from '../../pure/errors.ts'
import { idCarriedBy } from '../../pure/ids.ts'
import { instant } from '../../pure/instant.ts'
import { LATEST_MS, valuesOf } from '../../pure/paging.ts'
import type { AnswerOf } from '../../pure/shapes.ts'
import { TASK_STATES } from '../../pure/states.ts'
import { askedFilter } from './acts/asked-filter.ts'
import * as api from './api.ts'
import { BOARD_COLUMNS, type BoardColumn, COLUMN_ORDER, comparePlaces, placeIn, statesIn } from './columns.ts'
import * as rows from './postgres/board.ts'
import { type CardRow, cardsOfTasks, type LackingWork } from './postgres/cards.ts'
import type { BoardFilter } from './postgres/conditions.ts'
import { boardValues } from './postgres/values.ts'
import type { ActAnswer, ActBody, Board, Card } from './shapes.ts'

/** One act on many tasks: each is decided separately. */

type Body = z.output<typeof ActBody>
type Outcome = AnswerOf<typeof ActAnswer>['items'][number]

/** No task has this number: what names none is refused like a task that does not exist. */
const NO_TASK = 0

async function actOnTasks(
  kernel: ServerKernel,
  caller: Caller,
  { act, fields, ids, items, reason, comment }: Body,
): Promise<AnswerOf<typeof ActAnswer>> {
  if (ids === undefined && items === undefined)
    throw Refused.field('VALIDATION_FAILED', 'ids', 'is missing; name tasks here or in items')
  const asked = [...(ids ?? []).map((id) => ({ id, generation: undefined })), ...(items ?? [])]
  const commands =
    act === 'update'
      ? await updatesOf(kernel, caller, fieldsOf(fields), asked)
      : asked.map(({ generation }) => commandOfAct(act, { reason, generation }))
  if (act !== 'update' && fields !== undefined)
    throw Refused.field('VALIDATION_FAILED', 'fields', `is for "update" alone, not for "${act}"`)
  const onTasks = asked.map(({ id }, i) => ({
    ...{ taskId: idCarriedBy(id) ?? NO_TASK, uuid: id, said: commentFrom(comment) },
    command: commands[i]!,
  }))
  // One request, so that a repeat under the same idempotency key does nothing twice.
  const { replies } = granted(await kernel.run(caller, { on: 'many', items: onTasks }))
  const now = new Map(
    (
      await readStates(
        kernel,
        caller,
        asked.map(({ id }) => id),
      )
    ).map((task) => [task.id, task]),
  )
  const all = asked.map(({ id }, i): Outcome => {
    const { state = null, generation = null, version = null } = now.get(id) ?? {}
    const reply = replies[i]!
    const why = reply.ok ? { code: null, detail: null } : { code: reply.code, detail: reply.detail }
    return { id, done: reply.ok, ...why, state, generation, version }
  })
  return { items: all, done: all.filter(({ done }) => done).length }
}

function fieldsOf(fields: Body['fields']) {
  if (fields === undefined || Object.keys(fields).length === 0)
    throw Refused.field('VALIDATION_FAILED', 'fields', 'is missing or empty; name what "update" changes')
  return fields
}

const AWAITS = {
  review: 'result',
  question: 'question',
  budget: 'budget',
  dead_letter: 'person',
  alert: 'agent',
} as const

/** In as few words as a card has room for; the page of the run says more. */
function workNote({ isNotSaved, isMissing, leftOut, unread }: LackingWork): string {
  if (isNotSaved) return 'Work not saved'
  if (isMissing) return 'Earlier work missing'
  if (leftOut === 0 && unread !== null) return unread
  return leftOut === 1 ? '1 file left out' : `${leftOut} files left out`
}

/** Field by field: spreading costs several times as much, and a board has thousands of cards. */
const cardView = (row: CardRow): AnswerOf<typeof Card> => ({
  id: row.id,
  number: row.number,
  key: row.key,
  title: row.title,
  taskType: row.taskType,
  purpose: row.purpose,
  state: row.state,
  stateSince: instant(row.stateSince),
  board: TASK_STATES[row.state].board,
  priority: row.priority,
  project: row.project,
  agent: row.agent,
  holder: row.holder === null ? null : { agent: row.holder, leaseExpiresAt: instant(row.leaseExpiresAt!) },
  lastAgent: row.lastAgent,
  generation: row.generation,
  version: row.version,
  attempt: row.attempt,
  maxRetries: row.maxRetries,
  step: row.step,
  percent: row.percent,
  reason: row.reason,
  awaits: row.waitsKind && AWAITS[row.waitsKind],
  resultDigest: row.resultDigest,
  dueAt: instant(row.dueAt),
  waitsFor: row.waitsFor ?? [],
  openDeps: row.openDeps ?? 0,
  missionId: row.missionId,
  verification: row.verification === 'none' ? null : row.verification,
  tags: row.tags,
  costUsd: row.costUsd,
  isSimulated: row.isSimulated,
  tokensUsed: row.tokens,
  runId: row.runId,
  workNote: row.work && workNote(row.work),
  commentCount: row.commentCount,
  summary: row.summary,
  workMs: row.workMs,
  notTaken: row.notTaken,
  createdAt: instant(row.createdAt),
  updatedAt: instant(row.updatedAt),
  completedAt: instant(row.completedAt),
})

/** The cards of these tasks, in the order of their creation; unknown tasks are left out. */
async function cardsOf(kernel: ServerKernel, { workspaceId }: Caller, uuids: readonly string[]) {
  const asked = new Set(uuids)
  const ids = uuids.map(idCarriedBy).filter((id) => id !== null)
  const { cards, seq } = await cardsOfTasks(kernel.store.readers, workspaceId, ids)
  return { items: cards.filter(({ id }) => asked.has(id)).map(cardView), seq }
}

/** The board of a workspace. */

interface AskedPage {
  /** Undefined: all columns, from their beginning. */
  column?: BoardColumn | undefined
  after: readonly number[] | null
  /** In each column; 0: only counts. */
  limit: number
}

export async function readBoard(
  kernel: ServerKernel,
  { workspaceId }: Caller,
  filter: BoardFilter,
  { column, after, limit }: AskedPage,
): Promise<AnswerOf<typeof Board>> {
  const columns = column === undefined ? BOARD_COLUMNS : [column]
  const read = await rows.readBoard(kernel.store.readers, workspaceId, filter, {
    columns,
    after,
    // One more shows whether there is another page.
    limit: limit === 0 ? 0 : limit + 1,
  })
  const placedIn = new Map(columns.map((name) => [name, [] as { card: CardRow; place: number[] }[]]))
  for (const card of read.cards) {
    const name = TASK_STATES[card.state].board
    placedIn.get(name)?.push({ card, place: placeIn(name, card) })
  }
  const columnView = (name: BoardColumn) => {
    const placed = placedIn.get(name)!.sort((a, b) => comparePlaces(a.place, b.place))
    const shown = placed.slice(0, limit)
    return {
      count: statesIn(name).reduce((sum, state) => sum + (read.counts[state] ?? 0), 0),
      items: shown.map(({ card }) => cardView(card)),
      sort: COLUMN_ORDER[name],
      nextCursor: placed.length > limit ? cursorAt(name, shown.at(-1)!.place) : null,
    }
  }
  return {
    columns: Object.fromEntries(columns.map((name) => [name, columnView(name)])),
    counts: read.counts,
    isDoneBounded: read.isDoneBounded,
    seq: read.seq,
  }
}

type Cursor = [BoardColumn, ...number[]]
const Moment = z.int().min(-LATEST_MS).max(LATEST_MS)
const Id = z.int()
const Inbox = z.tuple([z.literal('inbox'), z.int().min(-10).max(-1), Moment, Id])
const Other = (column: BoardColumn) => z.tuple([z.literal(column), Moment, Id])

/** Each column has its own order, and so its own cursor. */
const cursorOf = (column: BoardColumn) => valuesOf<Cursor>(column === 'inbox' ? Inbox : Other(column))

const cursorAt = (column: BoardColumn, place: readonly number[]) =>
  writeCursor(cursorOf(column), [column, ...place])

function placeOf(column: BoardColumn | undefined, cursor: string | undefined): number[] | null {
  if (cursor === undefined) return null
  if (column === undefined)
    throw Refused.field('VALIDATION_FAILED', 'cursor', 'continues one column, which "column" must name')
  const [, ...place] = readCursor(cursorOf(column), cursor)
  return place
}

export const boardActs = actsOf(api)({
  readBoard: async ({ kernel }, call) => {
    const { query, caller } = call
    const filter = await askedFilter(kernel, caller, query)
    const { column, cursor, counts } = query
    const limit = counts ? 0 : call.page.limit
    return readBoard(kernel, caller, filter, { column, after: placeOf(column, cursor), limit })
  },
  readBoardValues: ({ kernel }, { caller }) => boardValues(kernel.store.readers, caller.workspaceId),
  readCards: ({ kernel }, { body, caller }) => cardsOf(kernel, caller, body.ids),
  actOnMany: ({ kernel }, { body, caller }) => actOnTasks(kernel, caller, body),
})

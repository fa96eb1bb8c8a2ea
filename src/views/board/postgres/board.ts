import type pg from 'pg'
import { LAST_SEQ } from '../../../postgres/statements/log-head.ts'
import { BY_KEYS, scopedQueries } from '../../../postgres/statements/scoped-query.ts'
import { type TaskState, taskStates } from '../../../pure/states.ts'
import { type BoardColumn, statesIn } from '../columns.ts'
import { type CardRow, NO_CARDS, readCards, type StoredCards, selectCards, valuesOf } from './cards.ts'
import {
  type BoardFilter,
  type Conditions,
  conditionsOf,
  isEmpty,
  isOfStatesAlone,
  isSearched,
  MOST_DONE_SEARCHED,
  newestTagged,
  statesShown,
} from './conditions.ts'

/** The tasks of a workspace by column of the board. */

interface BoardPage {
  /** All columns, or one. */
  columns: readonly BoardColumn[]
  /** The place of the last task of the previous page, in that one column. */
  after: readonly number[] | null
  /** In each column; 0: only counts are read. */
  limit: number
}

export interface BoardRead {
  seq: number
  /** How many tasks are in each state. */
  counts: Partial<Record<TaskState, number>>
  /** In the order of their creation. */
  cards: CardRow[]
  /** Not all finished tasks were looked through. */
  isDoneBounded: boolean
}

/**
 * Tasks that have not ended, by the indexes that have them: each task is in exactly one of these sets. On its way through the
 * queue a task enters no index for the board's sake.
 */
export const OPEN_SETS = [
  't.rank is not null and t.only_agent is null',
  `t.rank is not null and t.only_agent is not null and t.lane < '~'`,
  `t.rank is not null and t.only_agent is not null and t.lane >= '~'`,
  `t.blocked and t.state = 'pending'`,
  `t.claim_state = 'active' and t.agent is not null`,
  `(t.state in ('awaiting_retry', 'verifying', 'awaiting_human', 'paused', 'budget_exceeded') or (t.state = 'pending' and not t.blocked))`,
]

const ROW = `t.id, t.state, t.priority, t.created_at, coalesce(t.state_since, t.updated_at) as since`
export const WORK = `t.workspace_id = $1 and t.purpose = 'work'`
export const DONE_WORK = `${WORK} and t.completed_at is not null and t.archived_at is null`

const listed = (states: readonly TaskState[]) => states.map((state) => `'${state}'`).join(', ')
/** Literally, so that the planner knows which indexes have them. */
const inStates = (states: readonly TaskState[] | undefined) =>
  states === undefined ? '' : states.length === 0 ? ' and false' : ` and t.state in (${listed(states)})`

function openTasks(filter: BoardFilter, where: string): string {
  const sets = filter.missions?.some.length ? ['t.completed_at is null'] : OPEN_SETS
  const shown = inStates(statesShown(filter, false))
  return sets
    .map((set) => `select ${ROW} from tasks t where ${WORK} and ${set}${shown}${where}`)
    .join(' union all ')
}

/** Those that ended, newest first. What needs their details is looked for among the newest alone. */
function doneTasks(filter: BoardFilter, { text: where, tags }: Conditions): string {
  const states = statesShown(filter, true)
  const isBad = states !== undefined && !states.includes('completed')
  // What did not succeed is rare, and has an index of its own.
  const ended = `${DONE_WORK}${isBad ? ` and t.state <> 'completed'` : ''}${inStates(states)}`
  const fields = 't.id, t.state, t.completed_at'
  if (!isSearched(filter)) return `select ${fields} from tasks t where ${ended}${where}`
  if (tags !== '')
    return `select ${fields} from (${newestTagged(tags)}) g cross join lateral (
        select * from tasks x where x.workspace_id = $1 and x.id = g.task_id offset 0) t where ${ended}${where}`
  return `select ${fields} from (select * from tasks t where ${ended}
      order by t.completed_at desc, t.id desc limit ${MOST_DONE_SEARCHED}) t where true${where}`
}

const among = (column: BoardColumn) => `in (${listed(statesIn(column))})`
const instant = (value: string) => `to_timestamp(${value}::double precision / 1000)`

/** The ids of the tasks of a page of a column. */
function pageOf(
  column: BoardColumn,
  { after }: BoardPage,
  limit: string,
  value: (value: unknown) => string,
): string {
  const [a, b, c] = (after ?? []).map((part) => value(Math.abs(part)))
  const until = `limit ${limit}::int`
  if (column === 'inbox') {
    const rest = after
      ? ` and (-o.priority, o.created_at, o.id) > (-${a}::int, ${instant(b!)}, ${c}::bigint)`
      : ''
    return `select o.id from open o where o.state ${among(column)}${rest} order by o.priority desc, o.created_at, o.id ${until}`
  }
  if (column === 'done') {
    const rest = after ? ` where (o.completed_at, o.id) < (${instant(a!)}, ${b}::bigint)` : ''
    return `select o.id from done o${rest} order by o.completed_at desc, o.id desc ${until}`
  }
  const rest = after ? ` and (o.since, o.id) > (${instant(a!)}, ${b}::bigint)` : ''
  return `select o.id from open o where o.state ${among(column)}${rest} order by o.since, o.id ${until}`
}

/** Whether there are more finished tasks than are looked through. */
function isBounded(filter: BoardFilter, tags: string): string {
  if (!isSearched(filter)) return 'false'
  if (tags !== '')
    return `(select count(*) > ${MOST_DONE_SEARCHED} from (${newestTagged(tags, MOST_DONE_SEARCHED + 1)}) g)`
  const states = statesShown(filter, true) ?? statesIn('done')
  const count = ['0', ...states.map((state) => `k.${state}`)].join(' + ')
  return `(select ${count} > ${MOST_DONE_SEARCHED} from workspace_counters k where k.workspace_id = $1)`
}

/** Of all work that is not archived, by state. */
export const STORED_COUNTS = `select json_build_object(${taskStates.map((state) => `'${state}', k.${state}`).join(', ')})
  from workspace_counters k where k.workspace_id = $1`
const COUNTED = `select json_object_agg(c.state, c.tasks) from (
  select o.state, count(*) as tasks from (select state from open union all select state from done) o group by o.state) c`

/** Exactly as of one event: one statement sees one moment. */
export async function readBoard(
  pool: pg.Pool,
  workspaceId: number,
  filter: BoardFilter,
  page: BoardPage,
): Promise<BoardRead> {
  const all = conditionsOf(workspaceId, filter)
  const open = openTasks(filter, all.text)
  const done = doneTasks(filter, all)
  const counts = isOfStatesAlone(filter) ? STORED_COUNTS : COUNTED
  const limit = all.value(page.limit)
  const pages = page.columns.map((column) => `(${pageOf(column, page, limit, (value) => all.value(value))})`)
  const cards = page.limit === 0 ? NO_CARDS : selectCards('array(select p.id from page p)')
  // What needs the details of tasks is looked for once, for the page and for the counts.
  const materialized = isSearched(filter) ? 'materialized' : 'not materialized'
  const [, rows] = await scopedQueries<
    { seq: number; counts: BoardRead['counts'] | null; bounded: boolean } & StoredCards
  >(pool, 'baton.workspace_id', String(workspaceId), [
    BY_KEYS,
    {
      // Whole boards are read most, and planned once: that takes as long as reading fifty cards of each column.
      ...(isEmpty(filter) &&
        page.columns.length > 1 && { name: page.limit === 0 ? 'board_counts' : 'board' }),
      text: `with open as (${open}), done as ${materialized} (${done}), page as (${pages.join(' union all ')})
        select ${LAST_SEQ} as seq, (${counts}) as counts, ${valuesOf(cards)}, ${isBounded(filter, all.tags)} as bounded`,
      values: all.values,
    },
  ])
  const [row] = rows!
  return {
    seq: row!.seq,
    counts: countsShown(row!.counts ?? {}, filter),
    cards: readCards(row!),
    isDoneBounded: row!.bounded,
  }
}

/** The stored counts are of all states. */
function countsShown(counts: BoardRead['counts'], { states }: BoardFilter): BoardRead['counts'] {
  if (states === undefined) return counts
  return Object.fromEntries(Object.entries(counts).filter(([state]) => states.includes(state as TaskState)))
}

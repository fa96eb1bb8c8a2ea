import type pg from 'pg'
import { taggedTasks } from '../../../kinds/task/postgres/search.ts'
import { LAST_SEQ } from '../../../postgres/statements/log-head.ts'
import { BY_KEYS, scopedQueries } from '../../../postgres/statements/scoped-query.ts'
import { type TaskState, taskStates } from '../../../pure/states.ts'
import { type BoardColumn, statesIn } from '../columns.ts'
import { type CardRow, readCards, type StoredCards, selectCards } from './cards.ts'

/** The tasks of a workspace by column of the board. */

export interface BoardFilter {
  missionId?: number | undefined
  projectId?: number | undefined
  /** It holds the task, or the task is for it alone. */
  agent?: string | undefined
  tag?: string | undefined
  /** In its title. */
  text?: string | undefined
}

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

/** Tasks with a tag that are looked through for finished ones, and finished tasks for a text: the newest ones. */
const MOST_DONE_SEARCHED = 10_000

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

/** Conditions on a task t, and their values. */
class Conditions {
  readonly values: unknown[]
  /** The value of the tag that is asked for. */
  tag = ''
  readonly #texts: string[] = []

  constructor(workspaceId: number) {
    this.values = [workspaceId]
  }

  value(value: unknown): string {
    return `$${this.values.push(value)}`
  }

  add(text: string): void {
    this.#texts.push(text)
  }

  get text(): string {
    return this.#texts.map((text) => ` and ${text}`).join('')
  }
}

function conditionsOf(workspaceId: number, filter: BoardFilter): Conditions {
  const all = new Conditions(workspaceId)
  const { missionId, projectId, agent, tag, text } = filter
  if (missionId !== undefined) all.add(`t.mission_id = ${all.value(missionId)}::bigint`)
  if (projectId !== undefined) all.add(`t.project_id = ${all.value(projectId)}::int`)
  if (agent !== undefined) {
    const name = `${all.value(agent)}::text`
    all.add(`(t.only_agent = ${name} or (t.claim_state = 'active' and t.agent = ${name}))`)
  }
  const details = []
  if (tag !== undefined) {
    all.tag = all.value(tag)
    all.add(`t.id in (${taggedTasks(all.tag)})`)
    details.push(`d.tags @> array[${all.tag}::text]`)
  }
  if (text !== undefined) details.push(`position(lower(${all.value(text)}::text) in lower(d.title)) > 0`)
  if (details.length > 0)
    // By the key of each (offset 0): the planner expects that most match, and would read the details of all tasks there are.
    all.add(
      `exists (select from (select k.title, k.tags from task_details k where k.workspace_id = $1 and k.task_id = t.id offset 0) d
        where ${details.join(' and ')})`,
    )
  return all
}

const ROW = `t.id, t.state, t.priority, t.created_at, coalesce(t.state_since, t.updated_at) as since`
export const WORK = `t.workspace_id = $1 and t.purpose = 'work'`
export const DONE_WORK = `${WORK} and t.completed_at is not null and t.archived_at is null`

const openTasks = ({ missionId }: BoardFilter, where: string) => {
  const sets = missionId === undefined ? OPEN_SETS : ['t.completed_at is null']
  return sets.map((set) => `select ${ROW} from tasks t where ${WORK} and ${set}${where}`).join(' union all ')
}

/** Of the tasks with a tag, those that were made last. */
const newestTagged = (tag: string, most = MOST_DONE_SEARCHED) =>
  `${taggedTasks(tag)} order by g.task_id desc limit ${most}`

/** Those that ended, newest first. What needs their details is looked for among the newest alone. */
function doneTasks({ tag, text }: BoardFilter, { text: where, tag: tagValue }: Conditions): string {
  if (tag === undefined && text === undefined)
    return `select t.id, t.state, t.completed_at from tasks t where ${DONE_WORK}${where}`
  if (tag !== undefined)
    return `select t.id, t.state, t.completed_at from (${newestTagged(tagValue)}) g cross join lateral (
        select * from tasks x where x.workspace_id = $1 and x.id = g.task_id offset 0) t where ${DONE_WORK}${where}`
  return `select t.id, t.state, t.completed_at from (select * from tasks t where ${DONE_WORK}
      order by t.completed_at desc, t.id desc limit ${MOST_DONE_SEARCHED}) t where true${where}`
}

const among = (column: BoardColumn) =>
  `in (${statesIn(column)
    .map((state) => `'${state}'`)
    .join(', ')})`
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
const isBounded = ({ tag, text }: BoardFilter, tagValue: string) =>
  tag !== undefined
    ? `(select count(*) > ${MOST_DONE_SEARCHED} from (${newestTagged(tagValue, MOST_DONE_SEARCHED + 1)}) g)`
    : text === undefined
      ? 'false'
      : `(select ${statesIn('done')
          .map((state) => `k.${state}`)
          .join(' + ')} > ${MOST_DONE_SEARCHED} from workspace_counters k where k.workspace_id = $1)`

const isEmpty = (filter: BoardFilter) => Object.values(filter).every((value) => value === undefined)
/** Of all work that is not archived, by state. */
export const STORED_COUNTS = `select json_build_object(${taskStates.map((state) => `'${state}', k.${state}`).join(', ')})
  from workspace_counters k where k.workspace_id = $1`
const COUNTED = `select json_object_agg(c.state, c.tasks) from (
  select o.state, count(*) as tasks from (select state from open union all select state from done) o group by o.state) c`

const NO_CARDS = { cards: 'null::json', runs: 'null::json' }

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
  const counts = isEmpty(filter) ? STORED_COUNTS : COUNTED
  const limit = all.value(page.limit)
  const pages = page.columns.map((column) => `(${pageOf(column, page, limit, (value) => all.value(value))})`)
  const { cards, runs } = page.limit === 0 ? NO_CARDS : selectCards('array(select p.id from page p)')
  // What needs the details of tasks is looked for once, for the page and for the counts.
  const isSearched = filter.tag !== undefined || filter.text !== undefined
  const [, rows] = await scopedQueries<
    { seq: number; counts: BoardRead['counts'] | null; bounded: boolean } & StoredCards
  >(pool, 'baton.workspace_id', String(workspaceId), [
    BY_KEYS,
    {
      // Whole boards are read most, and planned once: that takes as long as reading fifty cards of each column.
      ...(isEmpty(filter) &&
        page.columns.length > 1 && { name: page.limit === 0 ? 'board_counts' : 'board' }),
      text: `with open as (${open}), done as ${isSearched ? '' : 'not '}materialized (${done}), page as (${pages.join(' union all ')})
        select ${LAST_SEQ} as seq, (${counts}) as counts, ${cards} as cards, ${runs} as runs,
          ${isBounded(filter, all.tag)} as bounded`,
      values: all.values,
    },
  ])
  const [row] = rows!
  return {
    seq: row!.seq,
    counts: row!.counts ?? {},
    cards: readCards(row!),
    isDoneBounded: row!.bounded,
  }
}

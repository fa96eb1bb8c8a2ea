import type pg from 'pg'
import { LISTED, SHOWN_STATE } from '../../../kinds/agent/postgres/agents.ts'
import { insideByKeys } from '../../../postgres/statements/scoped-query.ts'
import { TASK_STATES, taskStates } from '../../../pure/states.ts'
import { DONE_WORK, OPEN_SETS, WORK } from '../../board/postgres/board.ts'

/** Tasks, missions, agents and runs that a few letters find, and failures by a part of what went wrong. */

export interface Found {
  kind: 'task' | 'mission' | 'agent' | 'run'
  /** The id of the run or the task, the slug of the agent. */
  id: string
  key: string | null
  title: string
  state: string
  updatedAt: number
  /** By its whole id or its number, or by its key or the beginning of it. */
  isExact: boolean
  /** The part of its error that has the text, if that is how it was found. */
  error: string | null
  /** Of a task. */
  number: number | null
  /** The title of the mission of a task. */
  mission: string | null
}

export interface SearchRead {
  found: Found[]
  /** There is more than was looked through. */
  isBounded: boolean
  seq: number
}

/** How many are looked through for a part of their title: of the open tasks, of the finished ones and of the rest. */
const MOST_OPEN = 5_000
const MOST_DONE = 3_000
const MOST_OTHERS = 5_000
const MOST_PROJECTS = 1_000
/** Of the newest runs, those whose error is looked into. */
const MOST_RUNS = 2_000
/** Shorter texts are in every error. */
const SHORTEST_IN_ERRORS = 4
/** Of an error, how much is looked into: thousands of long ones would take too long. And how much is shown, with what stands before the text. */
const ERROR_LENGTH = 600
const SHOWN_LENGTH = 200
const SHOWN_BEFORE = 60

// $1 workspace, $2 the text, $3 the task with that id, $4 and $5 the first and the last id that begin like it, $6 how many,
// $7 the task with that number.
const contains = (column: string) => `position(lower($2::text) in lower(${column})) > 0`
const errs = (column: string) =>
  `(length($2::text) >= ${SHORTEST_IN_ERRORS} and ${contains(`left(${column}, ${ERROR_LENGTH})`)})`
const shownError = (column: string) => `case when ${errs(column)} then substr(${column},
    greatest(position(lower($2::text) in lower(left(${column}, ${ERROR_LENGTH}))) - ${SHOWN_BEFORE}, 1), ${SHOWN_LENGTH}) end`
const begins = (column: string) => `${column} between $4::uuid and $5::uuid`

const TASK = 't.id as n, t.uuid, t.key, t.state, t.updated_at, t.mission_id'
const OPEN = [...OPEN_SETS]
  // Those that are held or wait for people before those that wait in the queue.
  .reverse()
  .map((set) => `select ${TASK} from tasks t where ${WORK} and ${set}`)
  .join(' union all ')
const DONE = `select ${TASK} from tasks t
  where ${DONE_WORK}
  order by t.completed_at desc, t.id desc limit ${MOST_DONE}`

const titled = (tasks: string, isExact: boolean, where = 'true') => `
  select 'task' as kind, t.uuid::text as id, t.key, d.title, t.state, ms(t.updated_at) as "updatedAt", ${isExact} as "isExact",
    ${shownError('d.error')} as error, t.n as number,
    (select m.title from missions m where m.workspace_id = $1 and m.mission_id = t.mission_id) as mission
    from (${tasks}) t cross join lateral (
      select x.title, x.error from task_details x where x.workspace_id = $1 and x.task_id = t.n offset 0) d
   where ${where} limit $6`

// Keys that begin with the text are in one range of the index of each project; 0 stands for no project.
const BY_KEY = `select k.* from (select 0 as project_id union all (select p.project_id from projects p where p.workspace_id = $1
      order by p.project_id limit ${MOST_PROJECTS})) p
    cross join lateral (select ${TASK} from tasks t where t.workspace_id = $1 and t.project_id = p.project_id
      and t.key is not null and t.key >= $2::text and t.key < $2::text || chr(1114111) order by t.key limit $6) k
  order by k.key limit $6`
const BY_ID = `select ${TASK} from tasks t where t.workspace_id = $1 and t.id = $3::bigint and ${begins('t.uuid')}`
const BY_NUMBER = `select ${TASK} from tasks t where t.workspace_id = $1 and t.id = $7::bigint`
const BY_TEXT = `(select * from (${OPEN}) o limit ${MOST_OPEN}) union all (${DONE})`

const MISSIONS = `select 'mission' as kind, m.uuid::text as id, null as key, m.title, m.state, ms(m.updated_at), m.mission_id = $3::bigint
    and ${begins('m.uuid')}, null, null, null from (
      select uuid, title, state, updated_at, mission_id from missions where workspace_id = $1 order by mission_id desc limit ${MOST_OTHERS}) m
   where ${contains('m.title')} or ${begins('m.uuid')} limit $6`
const AGENTS = `select 'agent' as kind, a.slug as id, null as key, a.name, ${SHOWN_STATE}, ms(a.updated_at), a.slug = $2::text, null, null, null from (
      select * from agents a where a.workspace_id = $1 and ${LISTED} order by a.slug limit ${MOST_OTHERS}) a
   where ${contains('a.slug')} or ${contains('a.name')} or ${begins('a.agent_id')} limit $6`
const RUNS = `select 'run' as kind, r.run_id::text as id, t.key, coalesce(d.title, r.agent), r.status,
    ms(coalesce(r.finished_at, r.started_at, r.created_at)), r.is_named and $4::uuid = $5::uuid, ${shownError('r.error_message')}, null, null
  from ((select r.*, true as is_named from runs r where r.workspace_id = $1 and ${begins('r.run_id')} order by r.run_id desc limit $6)
    union all
    (select e.*, false from (select * from runs x where x.workspace_id = $1 order by x.run_id desc limit ${MOST_RUNS}) e
      where e.error_message is not null and ${errs('e.error_message')} limit $6)) r
  left join lateral (select k.key from tasks k where k.workspace_id = $1 and k.id = r.task_id offset 0) t on true
  left join lateral (select k.title from task_details k where k.workspace_id = $1 and k.task_id = r.task_id offset 0) d on true`

const counted = (isOver: boolean) =>
  taskStates
    .filter((state) => (TASK_STATES[state].type === 'terminal') === isOver)
    .map((state) => `k.${state}`)
    .join(' + ')
const isMore = (table: string) =>
  `exists (select from ${table} x where x.workspace_id = $1 offset ${MOST_OTHERS})`
const STATE = `select k.last_seq as seq, ${counted(false)} > ${MOST_OPEN} or ${counted(true)} > ${MOST_DONE}
    or ${isMore('missions')} or ${isMore('agents')} as bounded from workspace_counters k where k.workspace_id = $1`

// Each part ends with its first hits: what is common is found at once, and what is rare is looked for in so many rows at most.
const SEARCH = `with
    hits as (${[titled(BY_ID, true), titled(BY_NUMBER, true), titled(BY_KEY, true), titled(BY_TEXT, false, `${contains('d.title')} or ${begins('t.uuid')} or ${errs('d.error')}`), MISSIONS, AGENTS, RUNS].map((part) => `(${part})`).join(' union all ')}),
    state as (${STATE})
  select s.seq, s.bounded, h.* from state s left join hits h on true`

/** As of one event: one statement sees one moment. */
export async function searchWorkspace(
  pool: pg.Pool,
  workspaceId: number,
  { text, id, number, range, limit }: SearchText,
): Promise<SearchRead> {
  const [first, last] = range ?? [null, null]
  const values = [text, id, first, last, limit, number]
  const rows = await insideByKeys<Found & { seq: number; bounded: boolean }>(
    pool,
    workspaceId,
    SEARCH,
    values,
  )
  return {
    found: rows
      .filter(({ kind }) => kind !== null)
      .map(({ seq: _seq, bounded: _bounded, ...found }) => ({ ...found, isExact: found.isExact === true })),
    isBounded: rows[0]!.bounded,
    seq: rows[0]!.seq,
  }
}

interface SearchText {
  text: string
  /** The number that the text carries, if it is a whole id. */
  id: number | null
  /** The number that the text is, as people name a task. */
  number: number | null
  /** The first and the last id that begin with the text. */
  range: readonly [string, string] | null
  limit: number
}

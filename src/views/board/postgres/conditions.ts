import { taggedTasks } from '../../../kinds/task/postgres/search.ts'
import { TASK_STATES, type TaskState, taskStates } from '../../../pure/states.ts'

/** The filter of a board as conditions on tasks: what `matches` (views/board/filter.ts) says of cards. */

/** A task has one of some of these, and none of the others. */
export interface Of<T> {
  readonly some: readonly T[]
  readonly none: readonly T[]
}

export interface BoardFilter {
  missions?: Of<number> | undefined
  projects?: Of<number> | undefined
  /** They hold the task, or the task is for one of them alone. */
  agents?: Of<string> | undefined
  tags?: Of<string> | undefined
  types?: Of<string> | undefined
  priorities?: Of<number> | undefined
  /** Those that are shown. */
  states?: readonly TaskState[] | undefined
  /** In its title. */
  text?: string | undefined
}

export const isEmpty = (filter: BoardFilter) => Object.values(filter).every((value) => value === undefined)

/** Only the state is asked about: the stored counts say all. */
export const isOfStatesAlone = ({ states: _states, ...rest }: BoardFilter) => isEmpty(rest)

/** States of the finished or of the others that the filter shows; undefined: all of them. */
export function statesShown({ states }: BoardFilter, areFinished: boolean): TaskState[] | undefined {
  if (states === undefined) return undefined
  const all = taskStates.filter((state) => (TASK_STATES[state].type === 'terminal') === areFinished)
  const shown = all.filter((state) => states.includes(state))
  return shown.length === all.length ? undefined : shown
}

/** Conditions on a task t, and their values. */
export class Conditions {
  readonly values: unknown[]
  /** The value of the tags that are asked for. */
  tags = ''
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

export function conditionsOf(workspaceId: number, filter: BoardFilter): Conditions {
  const all = new Conditions(workspaceId)
  const { missions, projects, agents, tags, priorities } = filter
  if (missions) addOf(all, missions, 't.mission_id', 'bigint')
  if (projects) addOf(all, projects, 't.project_id', 'int')
  if (priorities) addOf(all, priorities, 't.priority', 'smallint')
  if (agents) {
    const { some, none } = agents
    if (some.length > 0) all.add(isOfAgent(all.value(some)))
    if (none.length > 0) all.add(`not ${isOfAgent(all.value(none))}`)
  }
  if (tags && tags.some.length > 0) {
    all.tags = all.value(tags.some)
    all.add(`t.id in (${taggedWith(all.tags)})`)
  }
  const details = detailsOf(filter, all)
  if (details.length > 0)
    // By the key of each (offset 0): the planner expects that most match, and would read the details of all tasks there are.
    all.add(
      `exists (select from (select k.title, k.tags, k.task_type from task_details k where k.workspace_id = $1 and k.task_id = t.id offset 0) d
        where ${details.join(' and ')})`,
    )
  return all
}

/** What the narrow row of a task does not say. */
function detailsOf({ tags, types, text }: BoardFilter, all: Conditions): string[] {
  const details = []
  if (tags && tags.some.length > 0) details.push(`d.tags && ${all.tags}::text[]`)
  if (tags && tags.none.length > 0) details.push(`not d.tags && ${all.value(tags.none)}::text[]`)
  if (types && types.some.length > 0) details.push(`d.task_type = any(${all.value(types.some)}::text[])`)
  if (types && types.none.length > 0) details.push(`d.task_type <> all(${all.value(types.none)}::text[])`)
  if (text !== undefined) details.push(`position(lower(${all.value(text)}::text) in lower(d.title)) > 0`)
  return details
}

function addOf<T>(all: Conditions, { some, none }: Of<T>, column: string, type: string): void {
  if (some.length > 0) all.add(`${column} = any(${all.value(some)}::${type}[])`)
  if (none.length > 0) all.add(`coalesce(${column} <> all(${all.value(none)}::${type}[]), true)`)
}

const isOfAgent = (names: string) =>
  `(coalesce(t.only_agent = any(${names}::text[]), false) or coalesce(t.claim_state = 'active' and t.agent = any(${names}::text[]), false))`

const taggedWith = (tags: string) =>
  `select g.task_id from task_tags g where g.workspace_id = $1 and g.tag = any(${tags}::text[])`

/** Tasks with a tag that are looked through for finished ones, and finished tasks for what only their details say: the newest ones. */
export const MOST_DONE_SEARCHED = 10_000

/** Of the tasks with these tags, those that were made last. */
export const newestTagged = (tags: string, most = MOST_DONE_SEARCHED) =>
  `select distinct x.task_id from unnest(${tags}::text[]) as w(tag) cross join lateral (
     ${taggedTasks('w.tag')} order by g.task_id desc limit ${most}) x order by x.task_id desc limit ${most}`

/** Finished tasks are looked through for something that only their details say. */
export const isSearched = ({ tags, types, text }: BoardFilter) =>
  text !== undefined || types !== undefined || tags !== undefined

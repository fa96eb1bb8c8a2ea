import type pg from 'pg'
import { entityTypeOf, NAMED_IN, typesAbout } from '../../kinds/event-entities.ts'
import type { EventFilter } from '../../kinds/event-filter.ts'
import type { EventType } from '../../kinds/events.ts'
import { COORDINATOR_EVENTS } from '../../kinds/log.ts'
import { EVENT_COLUMNS, readEvent } from '../../kinds/task/postgres/reader.ts'
import type { EventWithTask } from '../../kinds/task/record.ts'
import { scopedQuery } from '../../postgres/statements/scoped-query.ts'
import { OF_THE_WORKSPACE } from '../logs/postgres.ts'

/** A part of the log, page by page. */

/**
 * How many events are looked at for one page when nothing but their order leads to them. A page may then be short, or empty,
 * before the end of the log: it says how far it has looked.
 */
const LOOKED_AT = 20_000

export interface EventPage {
  events: EventWithTask[]
  /** Up to here nothing is missing: all other events up to this number are outside of the filter. */
  upTo: number
  /** Whether the log has more beyond that. */
  isMore: boolean
}

/** The newest events of a part of the log that a task or a mission leads to, before a number; oldest first. */
export async function eventsBefore(
  pool: pg.Pool,
  workspaceId: number,
  filter: EventFilter,
  before: number,
  limit: number,
): Promise<EventPage> {
  const values: unknown[] = [workspaceId, before, limit]
  const bind: Bind = (value) => `$${values.push(value)}`
  const { from } = sourceOf(filter, bind)
  const conditions = conditionsOf(filter, bind).map((condition) => ` and ${condition}`)
  const text = `
    select ${EVENT_COLUMNS} from ${from} e where e.workspace_id = $1 and e.seq < $2${conditions.join('')} order by e.seq desc limit $3`
  const statement = { text, values, rowMode: 'array' as const }
  const rows = await scopedQuery<unknown[]>(pool, 'baton.workspace_id', String(workspaceId), statement)
  const events = rows.reverse().map((row) => readEvent(row))
  return { events, upTo: events.at(-1)?.seq ?? 0, isMore: false }
}

export async function eventPage(
  pool: pg.Pool,
  workspaceId: number,
  filter: EventFilter,
  after: number,
  limit: number,
): Promise<EventPage> {
  const values: unknown[] = [workspaceId, after, limit]
  const bind: Bind = (value) => `$${values.push(value)}`
  const { from, isInOrder } = sourceOf(filter, bind)
  const conditions = conditionsOf(filter, bind).map((condition) => ` and ${condition}`)
  // The last number of the log is read with the page, as of the same moment.
  const text = `
    with k as (select last_seq from workspace_counters where workspace_id = $1),
         e as materialized (
           select e.* from ${from} e where e.workspace_id = $1 and e.seq > $2${conditions.join('')} order by e.seq limit $3)
    select k.last_seq, ${EVENT_COLUMNS} from k left join e on true order by e.seq`
  const statement = { text, values, rowMode: 'array' as const }
  const rows = await scopedQuery<unknown[]>(pool, 'baton.workspace_id', String(workspaceId), statement)
  const last = (rows[0]?.[0] as number | undefined) ?? 0
  const events = rows.filter(([, seq]) => seq !== null).map((row) => readEvent(row.slice(1)))
  const looked = isInOrder ? Math.min(last, after + LOOKED_AT) : last
  const upTo = Math.max(after, events.length === limit ? events.at(-1)!.seq : looked)
  return { events, upTo, isMore: upTo < last }
}

type Bind = (value: unknown) => string

/** How the events are found: by their task, their mission or their type where an index leads to them, else in their order. */
function sourceOf(filter: EventFilter, bind: Bind): { from: string; isInOrder: boolean } {
  const { task, mission, agent, entity } = filter
  const numberOf = (type: 'task' | 'mission') => (entity?.type === type ? entity.number : null)
  const taskId = task?.id ?? numberOf('task')
  // Materialized: otherwise the planner may scan the whole log in seq order to find a task's few events.
  if (taskId !== null)
    return found(`(with of_task as materialized (
      select * from events where workspace_id = $1 and task_id = ${bind(taskId)}) select * from of_task)`)
  const missionId = mission?.id ?? numberOf('mission')
  if (missionId !== null)
    return found(`(select * from events where workspace_id = $1 and mission_id = ${bind(missionId)})`)
  const types = typesIn(filter)
  if (types?.every(isOfTheWorkspace) && agent === undefined && (entity?.id ?? null) === null)
    return found(ofTypes(bind(types)))
  return {
    from: `(select * from events where workspace_id = $1 and seq > $2 and seq <= $2::bigint + ${LOOKED_AT})`,
    isInOrder: true,
  }
}

const found = (from: string) => ({ from, isInOrder: false })

/** The first of each type: so a rare type is found without scanning the frequent ones. */
const ofTypes = (types: string) => `(
  select first_of_type.* from unnest(${types}::text[]) as wanted (type) cross join lateral (
    select * from events where workspace_id = $1 and type = wanted.type and seq > $2 and ${OF_THE_WORKSPACE}
     order by seq limit $3) first_of_type)`

/** Whether the index events_of_workspace has all events of the type. */
function isOfTheWorkspace(type: EventType): boolean {
  const entity = entityTypeOf(type)
  return (entity !== null && entity !== 'task') || (COORDINATOR_EVENTS as readonly EventType[]).includes(type)
}

/** The types that the filter leaves; null: all. */
function typesIn({ types, entity }: EventFilter): EventType[] | null {
  if (!entity) return types ? [...types] : null
  const { always, perhaps } = typesAbout(entity.type)
  return [...always, ...perhaps].filter((type) => types?.has(type) ?? true)
}

/** The same as `isIn` in kinds/event-filter.ts. */
function conditionsOf(filter: EventFilter, bind: Bind): string[] {
  const { task, mission, agent, entity } = filter
  const conditions: string[] = []
  const types = typesIn(filter)
  if (types) conditions.push(`e.type = any(${bind(types)}::text[])`)
  if (task) conditions.push(`e.task_id = ${bind(task.id)}`)
  if (mission) conditions.push(`e.mission_id = ${bind(mission.id)}`)
  if (agent !== undefined) {
    const slug = bind(agent)
    conditions.push(`(e.actor = 'agent:' || ${slug} or e.payload ->> 'agent' = ${slug})`)
  }
  if (entity) conditions.push(...isAbout(entity, bind))
  return conditions
}

const CARRIED = {
  task: 'e.task_id is not null',
  mission: 'e.task_id is null and e.mission_id is not null',
  workspace: 'e.task_id is null and e.mission_id is null',
} as const

function isAbout({ type, id, number }: NonNullable<EventFilter['entity']>, bind: Bind): string[] {
  const { always, perhaps } = typesAbout(type)
  const carried =
    type in CARRIED && perhaps.length > 0
      ? [`(e.type = any(${bind(always)}::text[]) or (${CARRIED[type as keyof typeof CARRIED]}))`]
      : []
  if (id === null) return carried
  const name = NAMED_IN[type]
  const named =
    name === undefined
      ? `e.${type}_id = ${bind(number)}::bigint`
      : `e.payload ->> '${name}' = ${bind(id)}::text`
  return [...carried, named]
}

import type pg from 'pg'
import { entityTypeOf, NAMED_IN, typesAbout } from '../../kinds/event-entities.ts'
import type { EventFilter } from '../../kinds/event-filter.ts'
import type { EventType } from '../../kinds/events.ts'
import { COORDINATOR_EVENTS, typesAt } from '../../kinds/log.ts'
import { EVENT_COLUMNS, readEvent } from '../../kinds/task/postgres/reader.ts'
import type { EventWithTask } from '../../kinds/task/record.ts'
import { LAST_SEQ, seqAt } from '../../postgres/statements/log-head.ts'
import { scopedQuery } from '../../postgres/statements/scoped-query.ts'
import { ACTOR_KINDS } from '../../pure/actors.ts'
import type { LogLevel } from '../../pure/event.ts'
import { OF_THE_WORKSPACE } from '../logs/postgres.ts'

/** A part of the log, page by page. */

/**
 * How many events are looked at for one page when nothing but their order leads to them. A page may then be short, or empty,
 * before the end of the log: it says how far it has looked.
 */
const LOOKED_AT = 20_000

export interface EventPage {
  events: EventWithTask[]
  /** Up to here, or down to here, nothing is missing: all other events until there are outside of the filter. */
  upTo: number
  /** Whether the log has more beyond that. */
  isMore: boolean
}

/** Which events are looked at, by their numbers: those between the two, neither of which belongs to it. */
export interface EventRange {
  order: 'asc' | 'desc'
  low: number
  high: number
}

const ENDLESS = Number.MAX_SAFE_INTEGER
export const onwardsFrom = (after: number): EventRange => ({ order: 'asc', low: after, high: ENDLESS })

/** A page of the log that continues after this number in its order, within a period; null: that side is open. */
export async function rangeOf(
  pool: pg.Pool,
  workspaceId: number,
  order: EventRange['order'],
  after: number | undefined,
  { from, to }: { from: number | null; to: number | null },
): Promise<EventRange> {
  const values: unknown[] = [workspaceId]
  // Transactions commit in another order than they began: a minute more, and times are compared as well.
  const seqOf = (at: number | null, more: string) =>
    at === null
      ? 'null::bigint'
      : seqAt(`to_timestamp($${values.push(at)}::float8 / 1000) ${more} interval '1 minute'`)
  const text = `select ${LAST_SEQ} as last, ${seqOf(from, '-')} as first, ${seqOf(to, '+')} as "end"`
  const [found] = await scopedQuery<{ last: number | null; first: number | null; end: number | null }>(
    pool,
    'baton.workspace_id',
    String(workspaceId),
    { text, values },
  )
  const low = (found?.first ?? 1) - 1
  const high = Math.min(found?.end ?? ENDLESS, ENDLESS)
  if (order === 'asc') return { order, low: Math.max(after ?? 0, low), high }
  return { order, low, high: Math.min(after ?? ENDLESS, high, (found?.last ?? 0) + 1) }
}

export async function eventPage(
  pool: pg.Pool,
  workspaceId: number,
  filter: EventFilter,
  range: EventRange,
  limit: number,
): Promise<EventPage> {
  const { order, low, high } = range
  const values: unknown[] = [workspaceId, low, limit, high]
  const bind: Bind = (value) => `$${values.push(value)}`
  const { from, isInOrder } = sourceOf(filter, order, bind)
  const conditions = conditionsOf(filter, bind).map((condition) => ` and ${condition}`)
  // The last number of the log is read with the page, as of the same moment.
  const text = `
    with k as (select last_seq from workspace_counters where workspace_id = $1),
         e as materialized (
           select e.* from ${from} e where e.workspace_id = $1 and e.seq > $2 and e.seq < $4${conditions.join('')}
            order by e.seq ${order} limit $3)
    select k.last_seq, ${EVENT_COLUMNS} from k left join e on true order by e.seq ${order}`
  const statement = { text, values, rowMode: 'array' as const }
  const rows = await scopedQuery<unknown[]>(pool, 'baton.workspace_id', String(workspaceId), statement)
  const last = (rows[0]?.[0] as number | undefined) ?? 0
  const events = rows.filter(([, seq]) => seq !== null).map((row) => readEvent(row.slice(1)))
  const reached = events.length === limit ? events.at(-1)!.seq : null
  return { events, ...howFar(range, isInOrder, reached, last) }
}

/** How far a page has looked, and whether there is more; `reached`: its last event, if it is full. */
function howFar({ order, low, high }: EventRange, isInOrder: boolean, reached: number | null, last: number) {
  if (order === 'asc') {
    const end = Math.min(last, high - 1)
    const upTo = Math.max(low, reached ?? (isInOrder ? Math.min(end, low + LOOKED_AT) : end))
    return { upTo, isMore: upTo < end }
  }
  const upTo = Math.min(high, reached ?? (isInOrder ? Math.max(low + 1, high - LOOKED_AT) : low + 1))
  return { upTo, isMore: upTo > low + 1 }
}

type Bind = (value: unknown) => string

/** How the events are found: by their task, their mission or their type where an index leads to them, else in their order. */
function sourceOf(
  filter: EventFilter,
  order: EventRange['order'],
  bind: Bind,
): { from: string; isInOrder: boolean } {
  const { task, mission, agent, entity, by, levels, period } = filter
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
  const hasOnlyTypes = [agent, by, levels, period, entity?.id ?? undefined].every((one) => one === undefined)
  if (types?.every(isOfTheWorkspace) && hasOnlyTypes) return found(ofTypes(bind(types), order))
  const looked = order === 'asc' ? `seq <= $2::bigint + ${LOOKED_AT}` : `seq >= $4::bigint - ${LOOKED_AT}`
  return {
    from: `(select * from events where workspace_id = $1 and seq > $2 and seq < $4 and ${looked})`,
    isInOrder: true,
  }
}

const found = (from: string) => ({ from, isInOrder: false })

/** The first of each type: so a rare type is found without scanning the frequent ones. */
const ofTypes = (types: string, order: EventRange['order']) => `(
  select first_of_type.* from unnest(${types}::text[]) as wanted (type) cross join lateral (
    select * from events where workspace_id = $1 and type = wanted.type and seq > $2 and seq < $4 and ${OF_THE_WORKSPACE}
     order by seq ${order} limit $3) first_of_type)`

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
  const { task, mission, agent, entity, by, levels, period } = filter
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
  if (by) conditions.push(isBy(by, bind))
  if (levels) conditions.push(isAt(levels, bind))
  if (period?.from != null) conditions.push(`e.at >= to_timestamp(${bind(period.from)}::float8 / 1000)`)
  if (period?.to != null) conditions.push(`e.at < to_timestamp(${bind(period.to)}::float8 / 1000)`)
  return conditions
}

const KNOWN_ACTORS = ACTOR_KINDS.filter((kind) => kind !== 'other')

function isBy({ kind, id }: NonNullable<EventFilter['by']>, bind: Bind): string {
  if (id !== null) return `e.actor = ${bind(`${kind}:${id}`)}::text`
  const first = `split_part(e.actor, ':', 1)`
  return kind === 'other'
    ? `${first} <> all(${bind(KNOWN_ACTORS)}::text[])`
    : `${first} = ${bind(kind)}::text`
}

/** A line of a holder has a level of its own. */
const isAt = (levels: readonly LogLevel[], bind: Bind) =>
  `(e.type = any(${bind(typesAt(levels))}::text[]) or (e.type = 'task_logged' and e.payload ->> 'level' = any(${bind(levels)}::text[])))`

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

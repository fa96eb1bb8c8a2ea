import type { z } from 'zod'
import { included, periodIn } from '../../door/asked.ts'
import { actsOf } from '../../door/door.ts'
import type { Page } from '../../door/paging.ts'
import type { ServerKernel } from '../../door/server-kernel.ts'
import type { Caller } from '../../kernel/kernel.ts'
import type { EntityType } from '../../kinds/event-entities.ts'
import { type EventFilter, typesNamed } from '../../kinds/event-filter.ts'
import { messageOf } from '../../kinds/log.ts'
import { requireMission } from '../../kinds/mission/acts/missions.ts'
import { requireRecord } from '../../kinds/task/acts/tasks.ts'
import { eventView } from '../../kinds/task/acts/views.ts'
import type { EventWithTask } from '../../kinds/task/record.ts'
import { Refused } from '../../pure/errors.ts'
import type { LogLevel } from '../../pure/event.ts'
import type { AnswerOf } from '../../pure/shapes.ts'
import * as api from './api.ts'
import { eventPage, onwardsFrom, rangeOf } from './postgres.ts'
import type { EventFilterQuery, EventList, EventView as EventShape } from './shapes.ts'

/** Filters of the log as clients name them, with the records that they are about. */

export type AskedEvents = { [K in keyof typeof EventFilterQuery]?: z.output<(typeof EventFilterQuery)[K]> }

/** Null: the whole log. Refused when a task or mission is not of this workspace, or when no type has such a name. */
export async function eventFilter(
  kernel: ServerKernel,
  caller: Caller,
  { task, mission, agent, type, entity, by, level }: AskedEvents,
): Promise<EventFilter | null> {
  if ([task, mission, agent, type, entity, by, level].every((one) => one === undefined)) return null
  return {
    task: task === undefined ? undefined : await innerOf(kernel, caller, 'task', task),
    mission: mission === undefined ? undefined : await innerOf(kernel, caller, 'mission', mission),
    agent,
    types: type === undefined ? undefined : typesIn(type),
    entity: entity === undefined ? undefined : await entityIn(kernel, caller, entity),
    by: by === undefined ? undefined : actorNamed(by),
    levels: level?.split(',') as LogLevel[] | undefined,
  }
}

function actorNamed(text: string): EventFilter['by'] {
  const colon = text.indexOf(':')
  return colon === -1 ? { kind: text, id: null } : { kind: text.slice(0, colon), id: text.slice(colon + 1) }
}

async function innerOf(kernel: ServerKernel, caller: Caller, kind: 'task' | 'mission', uuid: string) {
  const { id } =
    kind === 'task' ? await requireRecord(kernel, caller, uuid) : await requireMission(kernel, caller, uuid)
  return { id, uuid }
}

function typesIn(text: string) {
  const { types, unknown } = typesNamed(text.split(','))
  const [first] = unknown
  if (first !== undefined)
    throw Refused.field('VALIDATION_FAILED', 'type', `names no type of event: "${first}"`)
  return types
}

async function entityIn(kernel: ServerKernel, caller: Caller, text: string) {
  const colon = text.indexOf(':')
  if (colon === -1) return { type: text as EntityType, id: null, number: null }
  const [type, id] = [text.slice(0, colon) as EntityType, text.slice(colon + 1)]
  if (type === 'workspace')
    throw Refused.field('VALIDATION_FAILED', 'entity', 'has no id for the workspace: it is always your own')
  const isInner = type === 'task' || type === 'mission'
  return { type, id, number: isInner ? (await innerOf(kernel, caller, type, id)).id : null }
}

export type EventView = AnswerOf<typeof EventShape>

/** A page of the event log, with the names of the actors. */
export async function eventViews(
  kernel: ServerKernel,
  workspaceId: number,
  events: readonly EventWithTask[],
): Promise<EventView[]> {
  const actors = events.map(({ actor }) => actor)
  const nameOf = await kernel.actorNames.of(workspaceId, actors)
  return events.map((event) => eventView(event, nameOf(event.actor)))
}

async function listedViews(
  kernel: ServerKernel,
  workspaceId: number,
  events: readonly EventWithTask[],
  isSaid: boolean,
): Promise<AnswerOf<typeof EventList>['items']> {
  const views = await eventViews(kernel, workspaceId, events)
  return isSaid ? views.map((view, place) => ({ ...view, message: messageOf(events[place]!) })) : views
}

interface AskedList extends AskedEvents {
  order?: 'asc' | 'desc' | undefined
  from?: string | undefined
  to?: string | undefined
  include?: string | undefined
}

/** A page of the whole log, or of a part of it. */
async function listEvents(
  kernel: ServerKernel,
  caller: Caller,
  { order = 'asc', from, to, include, ...asked }: AskedList,
  page: Page<number>,
): Promise<AnswerOf<typeof EventList>> {
  const { workspaceId } = caller
  const filter = await eventFilter(kernel, caller, asked)
  const { after, limit } = page
  const isSaid = included(include, 'message').has('message')
  const period = periodIn({ from, to })
  const isWithin = period.from !== null || period.to !== null
  if (filter || isWithin || order === 'desc') {
    const range =
      isWithin || order === 'desc'
        ? await rangeOf(kernel.store.readers, workspaceId, order, after, period)
        : onwardsFrom(after ?? 0)
    const within = { ...filter, ...(isWithin && { period }) }
    const read = await eventPage(kernel.store.readers, workspaceId, within, range, limit)
    const items = await listedViews(kernel, workspaceId, read.events, isSaid)
    return { items, nextCursor: page.next(read.isMore ? read.upTo : null), upTo: read.upTo }
  }
  const events = await kernel.store.events(workspaceId, after ?? 0, limit)
  const upTo = events.at(-1)?.seq ?? after ?? 0
  const items = await listedViews(kernel, workspaceId, events, isSaid)
  return { items, nextCursor: page.next(events.length === limit ? upTo : null), upTo }
}

export const eventActs = actsOf(api)({
  listEvents: ({ kernel }, { query, caller, page }) => listEvents(kernel, caller, query, page),
  listEventsOfTask: ({ kernel }, { params, query, caller, page }) =>
    listEvents(kernel, caller, { ...query, task: params.id }, page),
  listEventsOfMission: ({ kernel }, { params, query, caller, page }) =>
    listEvents(kernel, caller, { ...query, mission: params.id }, page),
})

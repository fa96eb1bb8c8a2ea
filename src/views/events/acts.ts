import type { z } from 'zod'
import { actsOf } from '../../door/door.ts'
import type { Page } from '../../door/paging.ts'
import type { ServerKernel } from '../../door/server-kernel.ts'
import type { Caller } from '../../kernel/kernel.ts'
import type { EntityType } from '../../kinds/event-entities.ts'
import { type EventFilter, typesNamed } from '../../kinds/event-filter.ts'
import { requireMission } from '../../kinds/mission/acts/missions.ts'
import { requireRecord } from '../../kinds/task/acts/tasks.ts'
import { eventView } from '../../kinds/task/acts/views.ts'
import type { EventWithTask } from '../../kinds/task/record.ts'
import { Refused } from '../../pure/errors.ts'
import type { AnswerOf } from '../../pure/shapes.ts'
import * as api from './api.ts'
import { eventPage, eventsBefore } from './postgres.ts'
import type { EventFilterQuery, EventList, EventView as EventShape } from './shapes.ts'

/** Filters of the log as clients name them, with the records that they are about. */

export type AskedEvents = { [K in keyof typeof EventFilterQuery]?: z.output<(typeof EventFilterQuery)[K]> }

/** Null: the whole log. Refused when a task or mission is not of this workspace, or when no type has such a name. */
export async function eventFilter(
  kernel: ServerKernel,
  caller: Caller,
  { task, mission, agent, type, entity }: AskedEvents,
): Promise<EventFilter | null> {
  if ([task, mission, agent, type, entity].every((one) => one === undefined)) return null
  return {
    task: task === undefined ? undefined : await innerOf(kernel, caller, 'task', task),
    mission: mission === undefined ? undefined : await innerOf(kernel, caller, 'mission', mission),
    agent,
    types: type === undefined ? undefined : typesIn(type),
    entity: entity === undefined ? undefined : await entityIn(kernel, caller, entity),
  }
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

/** A page of the whole log, or of a part of it. */
async function listEvents(
  kernel: ServerKernel,
  { workspaceId }: Caller,
  filter: EventFilter | null,
  page: Page<number>,
): Promise<AnswerOf<typeof EventList>> {
  const { after = 0, limit } = page
  if (filter) {
    const { events, upTo, isMore } = await eventPage(kernel.store.readers, workspaceId, filter, after, limit)
    const items = await eventViews(kernel, workspaceId, events)
    return { items, nextCursor: page.next(isMore ? upTo : null), upTo }
  }
  const events = await kernel.store.events(workspaceId, after, limit)
  const upTo = events.at(-1)?.seq ?? after
  const items = await eventViews(kernel, workspaceId, events)
  return { items, nextCursor: page.next(events.length === limit ? upTo : null), upTo }
}

/** Backwards from a number. */
async function listBefore(
  kernel: ServerKernel,
  caller: Caller,
  { before, after, ...asked }: AskedEvents & { before: string; after?: string | undefined },
  { limit }: Page<number>,
): Promise<AnswerOf<typeof EventList>> {
  if (after !== undefined)
    throw Refused.field('VALIDATION_FAILED', 'before', 'cannot be given together with "after"')
  const { workspaceId } = caller
  const filter = (await eventFilter(kernel, caller, asked))!
  const { events, upTo } = await eventsBefore(
    kernel.store.readers,
    workspaceId,
    filter,
    Number(before),
    limit,
  )
  return { items: await eventViews(kernel, workspaceId, events), nextCursor: null, upTo }
}

export const eventActs = actsOf(api)({
  listEvents: async ({ kernel }, { query, caller, page }) =>
    listEvents(kernel, caller, await eventFilter(kernel, caller, query), page),
  listEventsOfTask: async ({ kernel }, { params, query, caller, page }) =>
    listEvents(kernel, caller, await eventFilter(kernel, caller, { ...query, task: params.id }), page),
  listEventsOfMission: async ({ kernel }, { params, query: { before, ...query }, caller, page }) => {
    const asked = { ...query, mission: params.id }
    if (before !== undefined) return listBefore(kernel, caller, { ...asked, before }, page)
    return listEvents(kernel, caller, await eventFilter(kernel, caller, asked), page)
  },
})

import { actsOf } from '../../door/door.ts'
import type { Page } from '../../door/paging.ts'
import type { ServerKernel } from '../../door/server-kernel.ts'
import type { EventWithTask } from '../../door/server-store.ts'
import type { Caller } from '../../kernel/kernel.ts'
import type { EventFilter } from '../../kinds/event-filter.ts'
import { eventView } from '../../kinds/task/acts/views.ts'
import type { AnswerOf } from '../../pure/shapes.ts'
import { eventFilter } from './acts/filters.ts'
import * as api from './api.ts'
import type { EventList, EventView as EventShape } from './shapes.ts'

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
    const { events, upTo, isMore } = await kernel.store.logs.page(workspaceId, filter, after, limit)
    const items = await eventViews(kernel, workspaceId, events)
    return { items, nextCursor: page.next(isMore ? upTo : null), upTo }
  }
  const events = await kernel.store.events(workspaceId, after, limit)
  const upTo = events.at(-1)?.seq ?? after
  const items = await eventViews(kernel, workspaceId, events)
  return { items, nextCursor: page.next(events.length === limit ? upTo : null), upTo }
}

export const eventActs = actsOf(api)({
  listEvents: async ({ kernel }, { query, caller, page }) =>
    listEvents(kernel, caller, await eventFilter(kernel, caller, query), page),
  listEventsOfTask: async ({ kernel }, { params, query, caller, page }) =>
    listEvents(kernel, caller, await eventFilter(kernel, caller, { ...query, task: params.id }), page),
  listEventsOfMission: async ({ kernel }, { params, query, caller, page }) =>
    listEvents(kernel, caller, await eventFilter(kernel, caller, { ...query, mission: params.id }), page),
})

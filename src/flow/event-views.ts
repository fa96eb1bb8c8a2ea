import type { AnswerOf } from '../core/shapes/common.ts'
import type { EventView as EventShape } from '../core/shapes/events.ts'
import type { ServerKernel } from '../kernel/server-kernel.ts'
import type { EventWithTask } from '../store/server-store.ts'
import { eventView } from './views.ts'

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

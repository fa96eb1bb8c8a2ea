import { z } from 'zod'
import { eventsAbout, text } from '../../pure/event.ts'
import { brief, list, momentOf, why } from '../../pure/words.ts'

const event = eventsAbout({ entity: 'routine', namedIn: 'routineId' }, { routineId: text })

export const routineEvents = {
  routine_created: event.info(
    { name: text, origin: text.nullable() },
    ({ name }) => `The routine "${brief(name)}" was saved.`,
  ),
  routine_updated: event.info(
    { fields: z.array(text) },
    ({ fields }) => `The routine was updated: ${list(fields)}.`,
  ),
  routine_removed: event.info({}, () => 'The routine was removed.'),
  /** A mission was started, by hand or at its scheduled time. */
  routine_started: event.info(
    { missionId: text, scheduledFor: text.nullable() },
    ({ scheduledFor }) =>
      `The routine started a mission ${scheduledFor === null ? 'by hand' : `for ${momentOf(scheduledFor)}`}.`,
  ),
  /** The mission before has not ended. */
  routine_skipped: event.warn(
    { scheduledFor: text, inRow: z.int() },
    ({ scheduledFor }) =>
      `The routine was skipped at ${momentOf(scheduledFor)}: its last mission has not ended.`,
  ),
  routine_waiting: event.info(
    { scheduledFor: text, because: text, times: z.int() },
    ({ scheduledFor }) => `The routine waits to start a mission for ${momentOf(scheduledFor)}.`,
  ),
  /** Scheduled times that nobody noticed, and that are not caught up; or that waited, and gave way to a newer one. */
  routine_missed: event.warn(
    { since: text, until: text },
    ({ since, until }) =>
      `Scheduled times of the routine were missed, ${momentOf(since)} to ${momentOf(until)}.`,
  ),
  routine_failed: event.error(
    { scheduledFor: text, reason: text },
    ({ reason }) => `The routine could not start a mission${why(reason)}.`,
  ),
}

type RoutineEvents = typeof routineEvents
declare module '../events.ts' {
  interface Catalogue extends RoutineEvents {}
}

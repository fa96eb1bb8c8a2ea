import { z } from 'zod'
import { alertWords, withBlanks } from '../../pure/code-words.ts'
import { eventsAbout, text } from '../../pure/event.ts'
import { moment, why } from '../../pure/words.ts'

const event = eventsAbout({ entity: null }, {})

export const alertEvents = {
  /** Upkeep found something that makes no progress; what it does about it is in the next event. */
  stall_detected: event.warn(
    {
      entityType: z.enum(['task', 'mission']),
      entityId: text,
      stalledState: text,
      stalledSince: z.number(),
      action: text,
    },
    ({ entityType, stalledState, stalledSince, action }) =>
      `The ${entityType} has stalled: ${withBlanks(stalledState)} since ${moment(stalledSince)} (${withBlanks(action)}).`,
  ),
  alert_raised: event.critical(
    { alert: text, error: text.nullable() },
    ({ alert, error }) => `${alertWords(alert)}${why(error)}.`,
  ),
  /** What an alert about this task said is no longer so. */
  alert_cleared: event.info({ alert: text }, ({ alert }) => `It is over: ${alertWords(alert)}.`),
}

type AlertEvents = typeof alertEvents
declare module '../events.ts' {
  interface Catalogue extends AlertEvents {}
}

import { z } from 'zod'
import { withBlanks } from '../../pure/code-words.ts'
import { eventsAbout, text } from '../../pure/event.ts'
import { brief, moment, why } from '../../pure/words.ts'
import { alertWords, SEVERITIES } from './causes.ts'

const event = eventsAbout({ entity: null }, {})

/** `alert` is the cause, `error` the detail. Older events have no more than these two. */
const ofAlert = {
  alert: text,
  error: text.nullable(),
  alertId: text.optional(),
  severity: z.enum(SEVERITIES).optional(),
  about: text.optional(),
  subject: text.optional(),
  name: text.nullable().optional(),
  count: z.int().optional(),
}

const what = ({ alert, name }: { alert: string; name?: string | null | undefined }) =>
  name == null ? alertWords(alert) : `${alertWords(alert)} (${brief(name)})`

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
  alert_raised: event.critical(ofAlert, (alert) => `${what(alert)}${why(alert.error)}.`),
  /** Noticed again while it is open, or for another reason. */
  alert_repeated: event.info(
    ofAlert,
    (alert) =>
      `Noticed again${alert.count === undefined ? '' : `, ${alert.count} times by now`}: ${what(alert)}${why(alert.error)}.`,
  ),
  alert_acknowledged: event.info(
    { ...ofAlert, comment: text.optional() },
    (alert) => `Somebody looks after it: ${what(alert)}${why(alert.comment ?? null)}.`,
  ),
  /** Its cause is gone. */
  alert_resolved: event.info(
    { ...ofAlert, comment: text.optional() },
    (alert) => `It is over: ${what(alert)}.`,
  ),
  /** Written by older versions: what an alert about this task said is no longer so. */
  alert_cleared: event.info({ alert: text }, ({ alert }) => `It is over: ${alertWords(alert)}.`),
}

type AlertEvents = typeof alertEvents
declare module '../events.ts' {
  interface Catalogue extends AlertEvents {}
}

import type { AnswerTo } from '../../../../src/client/client.ts'
import type { LiveEvent } from '../../live/card.ts'
import { type EventFilter, LEVELS } from './search.ts'

/** The log on the screen: which events belong to it, and how its pages are put together. Pure. */

export type EventPage = AnswerTo<'GET', '/events'>
export type ListedEvent = EventPage['items'][number]

export interface Head extends EventPage {
  /** Events of the list that were written since it was read. */
  readonly newer: number
}

const HOUR_MS = 3_600_000
const SINCE_MS = { '1h': HOUR_MS, '24h': 24 * HOUR_MS, '7d': 168 * HOUR_MS, '30d': 720 * HOUR_MS }

/** The filter as the API takes it. */
export function queryOf({ type, entity, by, agent, task, mission, level, since }: EventFilter, now: number) {
  return {
    ...{ type, entity, by, agent, task, mission },
    level: level === undefined ? undefined : LEVELS.slice(LEVELS.indexOf(level)).join(),
    from: since === undefined ? undefined : new Date(now - SINCE_MS[since]).toISOString(),
  }
}

const isNamed = (pattern: string, type: string) =>
  pattern.endsWith('*') ? type.startsWith(pattern.slice(0, -1)) : type === pattern

/** Whether an event that was just written belongs to the list, as the server would say. */
export function belongs(filter: EventFilter, event: LiveEvent): boolean {
  const { type, entity, by, agent, task, mission, level } = filter
  return (
    (type === undefined || type.split(',').some((pattern) => isNamed(pattern, event.type))) &&
    (entity === undefined || event.entityType === entity) &&
    (by === undefined || event.by.kind === by) &&
    (agent === undefined || event.actor === `agent:${agent}` || event.payload.agent === agent) &&
    (task === undefined || event.taskId === task) &&
    (mission === undefined || event.missionId === mission) &&
    (level === undefined || LEVELS.indexOf(event.level) >= LEVELS.indexOf(level))
  )
}

export const afterEvent =
  (filter: EventFilter) =>
  <H extends Pick<Head, 'newer'>>(head: H, event: LiveEvent): H =>
    belongs(filter, event) ? { ...head, newer: head.newer + 1 } : head

/** What is loaded: newest first, without a hole. */
export interface Loaded {
  readonly key: string
  readonly events: readonly ListedEvent[]
  /** Where it goes on; null: it ends here. */
  readonly cursor: string | null
}

/** The head of the list was read: with what is loaded if they meet, else alone. */
export function withHead(before: Loaded | null, key: string, head: EventPage): Loaded {
  const alone = { key, events: head.items, cursor: head.nextCursor }
  if (before?.key !== key) return alone
  const newest = before.events[0]?.seq
  // Down to `upTo` nothing is missing in the head.
  if (newest === undefined || head.upTo > newest + 1) return alone
  const first = head.items.filter(({ seq }) => seq > newest)
  const oldest = before.events.at(-1)!.seq
  if (head.nextCursor === null || head.upTo <= oldest) return alone
  return { ...before, events: [...first, ...before.events] }
}

export function withOlder(before: Loaded, page: EventPage): Loaded {
  const oldest = before.events.at(-1)?.seq ?? Number.POSITIVE_INFINITY
  const older = page.items.filter(({ seq }) => seq < oldest)
  return { ...before, events: [...before.events, ...older], cursor: page.nextCursor }
}

/** Where a person wants to go: a number of the log, or a time in their zone. Null: neither. */
export function placeIn(text: string, now: number): { seq: number } | { at: number } | null {
  const given = text.trim()
  if (/^#?\d[\d,]*$/.test(given)) return { seq: Number(given.replace(/[#,]/g, '')) }
  const clock = /^(\d{1,2}):(\d{2})(?::(\d{2}))?$/.exec(given)
  if (clock) {
    const day = new Date(now)
    const [hours, minutes, seconds = 0] = clock.slice(1).map((part) => Number(part ?? 0))
    if (hours! > 23 || minutes! > 59 || seconds > 59) return null
    day.setHours(hours!, minutes!, seconds, 0)
    // A time that is still to come is that of yesterday.
    if (day.getTime() > now) day.setDate(day.getDate() - 1)
    return { at: day.getTime() }
  }
  const date = /^(\d{4})-(\d{2})-(\d{2})(?:[ T](\d{1,2}):(\d{2})(?::(\d{2}))?)?$/.exec(given)
  if (!date) return null
  const [year, month, day, hours, minutes, seconds] = date.slice(1).map((part) => Number(part ?? 0))
  const at = new Date(year!, month! - 1, day!, hours, minutes, seconds)
  return at.getMonth() === month! - 1 && at.getDate() === day ? { at: at.getTime() } : null
}

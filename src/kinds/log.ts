import { type EventSpec, LOG_LEVELS, type LogLevel } from '../pure/event.ts'
import { CATALOGUE } from './all.ts'
import { eventTypes } from './catalogue.ts'
import type { EventType, StoredEvent } from './events.ts'

/** There is one log, the events. Each has a severity and a sentence by its type; a holder's line states its own. */

type LoggedEvent = Pick<StoredEvent, 'type' | 'payload'>

const isLevel = (level: unknown): level is LogLevel => (LOG_LEVELS as readonly unknown[]).includes(level)

/** Undefined: a node of a newer version wrote it. */
const known = (type: EventType): EventSpec | undefined => CATALOGUE[type]

export function levelOf({ type, payload }: LoggedEvent): LogLevel {
  return type === 'task_logged' && isLevel(payload.level) ? payload.level : (known(type)?.level ?? 'INFO')
}

/** The types whose events have one of these levels. Lines of holders are not among them: they have any level. */
export const typesAt = (levels: readonly LogLevel[]): EventType[] =>
  eventTypes.filter((type) => type !== 'task_logged' && levels.includes(CATALOGUE[type].level))

/**
 * What the coordinator did to tasks, and alerts about them. The coordinator's log consists of these and of all events
 * that belong to no task. The index events_of_workspace names the same types.
 */
export const COORDINATOR_EVENTS = [
  'task_lease_expired',
  'task_worker_lost',
  'task_agent_lost',
  'task_stalled',
  'task_hung',
  'task_hang_suspected',
  'task_requeued',
  'task_failed',
  'alert_raised',
  'dependency_cycle_found',
] as const satisfies readonly EventType[]

const firstWord = (name: string) => name.slice(0, name.indexOf('_') + 1)
const OWN_WORDS = new Set(eventTypes.map(firstWord))

/** Prefixes of Baton's own events are reserved: a holder's "task_completed" would be taken for a fact. */
export const isNameOfBaton = (name: string) => OWN_WORDS.has(firstWord(name))

/** What happened, in a sentence. For an event of another version with a different payload, its name. */
export function messageOf({ type, payload }: LoggedEvent): string {
  const spec = known(type)
  const parsed = spec?.payload.safeParse(payload)
  if (!spec || !parsed?.success)
    return `${type.replaceAll('_', ' ').replace(/^./, (letter) => letter.toUpperCase())}.`
  // A question that ends a sentence ends it.
  return spec.sentence(parsed.data).replace(/([?!])\.$/, '$1')
}

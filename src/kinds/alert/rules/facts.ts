import type { EventType } from '../../events.ts'
import { type AlertCause, causeOf } from '../causes.ts'
import type { Finding } from './decide.ts'

/** Alerts that events open and end: what is wrong is not to be seen in the database. */

/** An event of the log, as it tells about an alert. */
export interface ToldEvent {
  seq: number
  type: string
  taskId: number | null
  missionId: number | null
  /** The task that it is about, outside, and its title. */
  taskUuid: string | null
  title: string | null
  from: string | null
  payload: Record<string, unknown>
}

interface Fact {
  /** The event that opens it, or counts it. */
  by: string
  /** Of those events, the ones that are meant. */
  where?: (payload: Record<string, unknown>) => boolean
  /** The events that end it. */
  over: readonly string[]
  /** What the event says of its subject; of a task, the task. */
  subject: (event: ToldEvent) => string | null
  /** Null: the detail of the event is its reason. */
  detail?: (payload: Record<string, unknown>) => string | null
}

const text = (value: unknown) => (typeof value === 'string' ? value : null)
const field = (name: string) => (event: ToldEvent) => text(event.payload[name])
const ofTask = (event: ToldEvent) => event.taskUuid

const ENDS_OF_ROUTINES = ['routine_started', 'routine_updated', 'routine_removed'] satisfies EventType[]

const FACTS: Partial<Record<AlertCause, Fact>> = {
  out_of_memory: {
    by: 'task_failed' satisfies EventType,
    where: ({ reason, failureClass }) => reason === 'out_of_memory' || failureClass === 'out_of_memory',
    // And whatever leads away from `failed`.
    over: ['task_archived' satisfies EventType],
    subject: ofTask,
    detail: ({ error }) => text(error),
  },
  cycle: {
    by: 'dependency_cycle_found' satisfies EventType,
    over: [],
    subject: ({ payload: { cycle } }) => (Array.isArray(cycle) ? text(cycle[0]) : null),
    detail: ({ cycle }) => (Array.isArray(cycle) ? cycle.join(' → ') : null),
  },
  counter_drift: {
    by: 'counters_corrected' satisfies EventType,
    over: [],
    subject: field('counter'),
    detail: ({ error }) => text(error),
  },
  routine_failed: {
    by: 'routine_failed' satisfies EventType,
    over: ENDS_OF_ROUTINES,
    subject: field('routineId'),
  },
  routine_stuck: {
    by: 'routine_skipped' satisfies EventType,
    where: ({ inRow }) => typeof inRow === 'number' && inRow >= SKIPS_FOR_ALERT,
    over: ENDS_OF_ROUTINES,
    subject: field('routineId'),
    detail: ({ inRow }) => `it was skipped ${inRow} times in a row`,
  },
  webhook_disabled: {
    by: 'webhook_disabled',
    over: ['webhook_resumed', 'webhook_updated', 'webhook_changed', 'webhook_removed', 'webhook_deleted'],
    subject: field('webhookId'),
  },
}

const SKIPS_FOR_ALERT = 3

const entries = Object.entries(FACTS) as [AlertCause, Fact][]

/** Whether only events say that it is over. */
export const isToldByEvents = (cause: AlertCause): boolean =>
  FACTS[cause] !== undefined && causeOf(cause).quietMs === undefined

/** The events whose payloads must be read. */
export const FACT_TYPES: readonly string[] = [
  ...new Set(entries.flatMap(([, { by, over }]) => [by, ...over])),
]

/** What follows from events, in their order: findings to count, and alerts that are over. */
export type FromEvents =
  | { does: 'raise'; finding: Finding; seq: number; times: number }
  | { does: 'resolve'; cause: AlertCause; subject: string }

export function fromEvents(events: readonly ToldEvent[]): FromEvents[] {
  const followed: FromEvents[] = []
  for (const event of events)
    for (const [cause, fact] of entries) {
      const subject = fact.subject(event)
      if (subject === null) continue
      if (isOver(cause, fact, event)) followed.push({ does: 'resolve', cause, subject })
      else if (event.type === fact.by && (fact.where?.(event.payload) ?? true)) {
        const { detail = ({ reason }) => text(reason) } = fact
        const { taskId, missionId, title, seq, payload } = event
        const finding = {
          cause,
          subject,
          name: nameOf(event, title),
          detail: detail(payload),
          taskId,
          missionId,
        }
        const last = followed.at(-1)
        const isSame =
          last?.does === 'raise' && last.finding.cause === cause && last.finding.subject === subject
        // Many of the same kind follow each other: they are counted in one go.
        if (isSame) followed[followed.length - 1] = { does: 'raise', finding, seq, times: last.times + 1 }
        else followed.push({ does: 'raise', finding, seq, times: 1 })
      }
    }
  return followed
}

const nameOf = ({ payload }: ToldEvent, title: string | null) =>
  title ?? text(payload.name) ?? text(payload.url)

const isOver = (cause: AlertCause, { over }: Fact, { type, from }: ToldEvent) =>
  over.includes(type) || (causeOf(cause).about === 'task' && over.length > 0 && from === 'failed')

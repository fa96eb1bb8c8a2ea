import { bigint, instant, int, orNull, type RecordOf, text, uuid } from '../../pure/fields.ts'
import type { AlertCause, AlertScope, Severity } from './causes.ts'

/** Something that is wrong, from when it was noticed until it is over. Of one cause about one subject, one is open at a time. */
export const ALERT_FIELDS = {
  alertId: uuid(),
  cause: text<AlertCause>(),
  /** The id or the slug of what it is about; empty: the workspace, or the instance. */
  subject: text(),
  /** How often this cause was raised about this subject: the id follows from the three. */
  number: int(),
  scope: text<AlertScope>(),
  severity: text<Severity>(),
  /** What the subject was called when it was raised. */
  name: orNull(text()),
  detail: orNull(text()),
  /** The task and the mission that it is about, by their numbers. */
  taskId: orNull(bigint()),
  missionId: orNull(bigint()),
  /** How often it was noticed while it was open. */
  count: int(),
  firstAt: instant(),
  lastAt: instant(),
  /** The last event that was counted; null: it is not counted by events. */
  lastSeq: orNull(bigint()),
  acknowledgedAt: orNull(instant()),
  acknowledgedBy: orNull(text()),
  comment: orNull(text()),
  resolvedAt: orNull(instant()),
}

export interface AlertRecord extends RecordOf<typeof ALERT_FIELDS> {}

export type AlertState = 'open' | 'acknowledged' | 'resolved'
export const ALERT_STATES = ['open', 'acknowledged', 'resolved'] as const satisfies AlertState[]

export const stateOf = ({
  acknowledgedAt,
  resolvedAt,
}: Pick<AlertRecord, 'acknowledgedAt' | 'resolvedAt'>): AlertState =>
  resolvedAt !== null ? 'resolved' : acknowledgedAt !== null ? 'acknowledged' : 'open'

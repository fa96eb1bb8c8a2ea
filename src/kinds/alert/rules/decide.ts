import { type Refusal, refuse } from '../../../pure/errors.ts'
import { type EventDraft, type EventType, type Origin, workspaceEvent } from '../../events.ts'
import { itemsChanged } from '../../task/rules/inbox-events.ts'
import { type AlertCause, causeOf } from '../causes.ts'
import type { AlertRecord } from '../record.ts'

/** What a command does to an alert. */

/** What is wrong, as it was found. */
export interface Finding {
  cause: AlertCause
  subject: string
  name: string | null
  detail: string | null
  taskId: number | null
  missionId: number | null
}

export type AlertCommand =
  /** `seq`: the last of the events that say so, and `times` how many; without: it is so now. */
  | ({ kind: 'raise'; number: number; seq?: number | null; times?: number } & Finding)
  | { kind: 'resolve' }
  | { kind: 'acknowledge'; comment: string | null; mayInstance: boolean }

interface AlertContext {
  now: number
  origin: Origin
}

interface AlertDecision {
  refusal: Refusal | null
  record: AlertRecord | null
  events: EventDraft[]
}

const LONGEST = 500
const short = (text: string | null) => (text === null ? null : text.slice(0, LONGEST).toWellFormed())

const unchanged = (record: AlertRecord | null): AlertDecision => ({ refusal: null, record, events: [] })
const refused = (record: AlertRecord | null, refusal: Refusal): AlertDecision => ({
  ...{ refusal, record, events: [] },
})

export function decideAlert(
  before: AlertRecord | null,
  alertId: string,
  command: AlertCommand,
  context: AlertContext,
): AlertDecision {
  if (command.kind === 'raise')
    return before ? raiseAgain(before, command, context) : raise(alertId, command, context)
  if (!before) return refused(before, refuse('NOT_FOUND', `There is no alert "${alertId}".`))
  return command.kind === 'resolve' ? resolve(before, context) : acknowledge(before, command, context)
}

type Raise = Extract<AlertCommand, { kind: 'raise' }>

function raise(alertId: string, command: Raise, context: AlertContext): AlertDecision {
  const { cause, subject, number, name, detail, taskId, missionId, seq = null, times = 1 } = command
  const { severity, scope } = causeOf(cause)
  const record: AlertRecord = {
    ...{ alertId, cause, subject, number, scope, severity, taskId, missionId },
    ...{ name: short(name), detail: short(detail), count: times, lastSeq: seq },
    ...{ firstAt: context.now, lastAt: context.now, resolvedAt: null },
    ...{ acknowledgedAt: null, acknowledgedBy: null, comment: null },
  }
  return changed(null, record, 'alert_raised', context)
}

/** An open alert is counted, not raised a second time. Events that were counted before change nothing. */
function raiseAgain(before: AlertRecord, command: Raise, context: AlertContext): AlertDecision {
  if (before.resolvedAt !== null) return unchanged(before)
  const { seq = null, times = 1 } = command
  const detail = short(command.detail)
  const isNews = seq === null ? detail !== before.detail : seq > (before.lastSeq ?? 0)
  if (!isNews) return unchanged(before)
  const lastSeq = seq ?? before.lastSeq
  const record = { ...before, detail, lastSeq, count: before.count + times, lastAt: context.now }
  return changed(before, record, 'alert_repeated', context)
}

function resolve(before: AlertRecord, context: AlertContext): AlertDecision {
  if (before.resolvedAt !== null) return unchanged(before)
  return changed(before, { ...before, resolvedAt: context.now }, 'alert_resolved', context)
}

/** The first one who acknowledges it is the one who did. Where nothing shows when it is over, that is all that there is to do. */
function acknowledge(
  before: AlertRecord,
  { comment, mayInstance }: Extract<AlertCommand, { kind: 'acknowledge' }>,
  context: AlertContext,
): AlertDecision {
  if (before.scope === 'instance' && !mayInstance)
    return refused(
      before,
      refuse('FORBIDDEN', 'An alert of the instance is acknowledged with the right "instance".'),
    )
  if (before.acknowledgedAt !== null) return unchanged(before)
  if (before.resolvedAt !== null) return refused(before, refuse('WRONG_STATE', 'The alert is over by now.'))
  const { now, origin } = context
  const acknowledged = { ...before, acknowledgedAt: now, acknowledgedBy: origin.actor, comment }
  const decided = changed(before, acknowledged, 'alert_acknowledged', context)
  if (causeOf(before.cause).quietMs === undefined) return decided
  const resolved = changed(acknowledged, { ...acknowledged, resolvedAt: now }, 'alert_resolved', context)
  return { ...resolved, events: [...decided.events, ...resolved.events] }
}

function changed(
  before: AlertRecord | null,
  record: AlertRecord,
  type: EventType,
  { now, origin }: AlertContext,
): AlertDecision {
  const by = { ...origin, now }
  const about = ({ taskId, missionId }: AlertRecord) => ({ taskId, ...(missionId !== null && { missionId }) })
  const items = itemsChanged(itemsOf(before), itemsOf(record), type)
  const events = [[type, payloadOf(record)] as const, ...items].map(([name, payload]) => ({
    ...workspaceEvent(name, payload, by),
    ...about(record),
  }))
  return { refusal: null, record, events }
}

const payloadOf = (record: AlertRecord) => ({
  ...{ alert: record.cause, error: record.detail, alertId: record.alertId, severity: record.severity },
  ...{ about: causeOf(record.cause).about, subject: record.subject, name: record.name, count: record.count },
  ...(record.comment !== null && { comment: record.comment }),
})

/** `alert:` names tasks. */
export const alertItemId = (alertId: string) => `raised:${alertId}`

/** It waits for a person until somebody has acknowledged it, unless the inbox has an item about the same. */
export const isItem = ({ cause, acknowledgedAt, resolvedAt }: AlertRecord): boolean =>
  causeOf(cause).isItemAlready !== true && acknowledgedAt === null && resolvedAt === null

const itemsOf = (record: AlertRecord | null) =>
  record && isItem(record)
    ? [
        {
          ...{ id: alertItemId(record.alertId), kind: 'alert' as const, agent: null },
          ...{ reason: record.detail, since: record.firstAt, generation: null, digest: null },
        },
      ]
    : []

import type { InboxItem } from '../../things/inbox/kinds.ts'

/** The list keeps its order while it is read. Pure. */

/** What ended an item's wait: it is shown in grey for a moment. */
export interface Closed {
  by: string | null
  because: string
  at: number
}

export interface Row {
  item: InboxItem
  closed: Closed | null
}

/** An end of which nobody knows who caused it. */
export const CLOSED_UNSEEN: Closed = { by: null, because: '', at: 0 }

/**
 * Rows stay where they are, ended ones turn grey, and new ones are added below: nothing moves under the reader, or under a
 * key that is on its way.
 */
export function rowsAfter(
  rows: readonly Row[],
  items: readonly InboxItem[],
  closed: Readonly<Record<string, Closed>>,
): Row[] {
  const waiting = new Map(items.map((item) => [item.id, item]))
  const known = new Set(rows.map(({ item }) => item.id))
  return [
    ...rows.map((row): Row => {
      const item = waiting.get(row.item.id)
      if (item) return { item, closed: null }
      return row.closed ? row : { ...row, closed: closed[row.item.id] ?? CLOSED_UNSEEN }
    }),
    ...items.filter(({ id }) => !known.has(id)).map((item): Row => ({ item, closed: null })),
  ]
}

/** The row to go to when this one is answered: the next one that waits, else the previous one. */
export function rowAfter(rows: readonly Row[], id: string): string | null {
  const place = rows.findIndex(({ item }) => item.id === id)
  const waits = ({ item, closed }: Row) => closed === null && item.id !== id
  const next = rows.slice(place + 1).find(waits) ?? rows.slice(0, Math.max(place, 0)).findLast(waits)
  return next?.item.id ?? null
}

/** What ended it, by the event that did. */
const ENDED_BY: Partial<Record<string, string>> = {
  task_human_approved: 'Approved',
  task_human_rejected: 'Rejected',
  task_completed_by_person: 'Completed by hand',
  task_answered: 'Answered',
  task_retried: 'Queued again',
  task_retried_to_wait: 'Queued again',
  task_reset: 'Put back in the queue',
  task_reset_to_wait: 'Put back in the queue',
  task_resumed: 'Resumed',
  task_unpaused: 'Resumed',
  task_unpaused_to_wait: 'Resumed',
  task_paused: 'Paused',
  task_skipped: 'Skipped',
  task_cancelled: 'Cancelled',
  task_archived: 'Archived',
  task_verification_requested: 'Sent to another verifier',
  task_result_promoted: 'Another result was promoted',
  mission_approved: 'Approved',
  mission_plan_changed: 'Approved',
  mission_rejected: 'Rejected',
  mission_plan_rejected: 'Rejected',
  mission_outcome_declined: 'Rejected',
  mission_completed: 'Accepted',
  mission_cancelled: 'Cancelled',
  mission_stopping: 'Cancelled',
  mission_budget_increased: 'The budget was raised',
  budget_increased: 'The budget was raised',
  budget_changed: 'The budget was changed',
  budget_moved: 'The budget got more from another one',
  budget_renewed: 'A new period began',
  mission_seen: 'Seen',
  alert_acknowledged: 'Acknowledged',
  mission_reopened: 'Opened again',
  agent_resumed: 'Resumed',
  agent_paused: 'Paused',
  agent_terminated: 'Terminated',
}

/** How it ended and by whom, as far as events say. */
export function closedWords({ by, because }: Closed): string {
  if (because === 'alert_resolved') return 'Its cause is gone.'
  if (because === 'task_takable' || because === 'alert_cleared') return 'An agent can take it again.'
  const did = ENDED_BY[because]
  return did === undefined ? 'This is no longer waiting.' : by === null ? `${did}.` : `${did} by ${by}.`
}

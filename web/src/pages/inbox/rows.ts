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

/** Who ended it, and how, as far as events say. */
export function closedWords({ by, because }: Closed): string {
  if (because === 'alert_cleared') return 'An agent can take it again.'
  const who = by ?? 'Somebody'
  const did = because.replace(/^(task|mission|agent)_/, '').replaceAll('_', ' ')
  return did === '' ? 'This is no longer waiting.' : `${who}: ${did}.`
}

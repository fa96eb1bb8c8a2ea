import { Refused } from '../core/errors.ts'

/** Cursors are opaque to clients: the order of a list may change. */
export const cursorOf = (id: number) => Buffer.from(`t${id}`).toString('base64url')

export function readCursor(cursor: string): number {
  const [, id] = /^t(\d{1,16})$/.exec(Buffer.from(cursor, 'base64url').toString()) ?? []
  if (id === undefined) throw Refused.field('VALIDATION_FAILED', 'cursor', 'is not a cursor of this list')
  return Number(id)
}

/** A page of a list. The caller reads one row more than fits, which shows whether there is another page. */
export function pageOf<T, V>(
  rows: readonly T[],
  limit: number,
  { view, idOf }: { view: (row: T) => V; idOf: (row: T) => number },
): { items: V[]; nextCursor: string | null } {
  const shown = rows.slice(0, limit)
  return { items: shown.map(view), nextCursor: rows.length > limit ? cursorOf(idOf(shown.at(-1)!)) : null }
}

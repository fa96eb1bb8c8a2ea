import { Refused } from '../core/errors.ts'

/** Cursors are opaque outside: a list may be ordered otherwise one day. */
export const cursorOf = (id: number) => Buffer.from(`t${id}`).toString('base64url')

export function readCursor(cursor: string): number {
  const [, id] = /^t(\d{1,16})$/.exec(Buffer.from(cursor, 'base64url').toString()) ?? []
  if (id === undefined) throw Refused.field('VALIDATION_FAILED', 'cursor', 'is not a cursor of this list')
  return Number(id)
}

/** A page of a list of which one more than fits was read: whether there is another page is known by it. */
export function pageOf<T, V>(
  rows: readonly T[],
  limit: number,
  { view, idOf }: { view: (row: T) => V; idOf: (row: T) => number },
): { items: V[]; nextCursor: string | null } {
  const shown = rows.slice(0, limit)
  return { items: shown.map(view), nextCursor: rows.length > limit ? cursorOf(idOf(shown.at(-1)!)) : null }
}

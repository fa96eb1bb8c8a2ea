import { Refused } from '../core/errors.ts'

/** Cursors are opaque outside: a list may be ordered otherwise one day. */
export const cursorOf = (id: number) => Buffer.from(`t${id}`).toString('base64url')

export function readCursor(cursor: string): number {
  const [, id] = /^t(\d{1,16})$/.exec(Buffer.from(cursor, 'base64url').toString()) ?? []
  if (id === undefined) throw Refused.field('VALIDATION_FAILED', 'cursor', 'is not a cursor of this list')
  return Number(id)
}

import { Refused } from '../core/errors.ts'

/** Cursors are opaque outside: a list may be ordered otherwise one day. */
export const cursorOf = (id: number) => Buffer.from(`t${id}`).toString('base64url')

export function readCursor(cursor: string): number {
  const [, id] = /^t(\d{1,16})$/.exec(Buffer.from(cursor, 'base64url').toString()) ?? []
  if (id === undefined) {
    const message = 'is not a cursor of this list'
    throw new Refused('VALIDATION_FAILED', `cursor ${message}.`, { errors: [{ field: 'cursor', message }] })
  }
  return Number(id)
}

import type { z } from 'zod'
import { Refused } from '../core/errors.ts'

/** Cursors are opaque to clients: the order of a list may change. */
export const cursorOf = (id: number) => Buffer.from(`t${id}`).toString('base64url')

export function readCursor(cursor: string): number {
  const [, id] = /^t(\d{1,16})$/.exec(Buffer.from(cursor, 'base64url').toString()) ?? []
  if (id === undefined) throw Refused.field('VALIDATION_FAILED', 'cursor', 'is not a cursor of this list')
  return Number(id)
}

/** A cursor of several values. */
export const cursorWith = (values: readonly unknown[]) =>
  Buffer.from(JSON.stringify(values)).toString('base64url')

/** The values of such a cursor, if they have the shape that the list expects. */
export function valuesIn<T>(cursor: string, shape: z.ZodType<T>, field = 'cursor'): T {
  const refused = () => Refused.field('VALIDATION_FAILED', field, 'is not a cursor of this list')
  let value: unknown
  try {
    value = JSON.parse(Buffer.from(cursor, 'base64url').toString())
  } catch {
    throw refused()
  }
  const read = shape.safeParse(value)
  if (!read.success) throw refused()
  return read.data
}

/** The last moment that a date can be. */
export const LATEST_MS = 8_640_000_000_000_000

/** A page of a list. The caller reads one row more than fits, which shows whether there is another page. */
export function pageOf<T, V>(
  rows: readonly T[],
  limit: number,
  { view, idOf }: { view: (row: T) => V; idOf: (row: T) => number },
): { items: V[]; nextCursor: string | null } {
  const shown = rows.slice(0, limit)
  return { items: shown.map(view), nextCursor: rows.length > limit ? cursorOf(idOf(shown.at(-1)!)) : null }
}

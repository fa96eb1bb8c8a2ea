import { Refused } from '../pure/errors.ts'
import type { Cursor, Paging } from '../pure/paging.ts'
import { LARGEST_PAGE, type ListAnswer } from '../pure/shapes.ts'

/** The page that a request asks for. */
export class Page<Place> {
  readonly limit: number
  /** Where the page before it ended; undefined: it is the first. */
  readonly after: Place | undefined
  readonly #cursor: Cursor<Place> | undefined

  constructor(paging: Paging, query: Readonly<Record<string, unknown>>) {
    const { param = 'cursor', cursor } = paging
    this.limit = pageSize(query.limit as string | undefined, paging)
    this.#cursor = cursor as Cursor<Place> | undefined
    const text = query[param]
    this.after = cursor && text !== undefined ? readCursor(this.#cursor!, String(text), param) : undefined
  }

  /** Read one row more than fits: it shows whether there is another page. */
  get rows(): number {
    return this.limit + 1
  }

  /** The answer, from the rows that were read. */
  of<T, V>(rows: readonly T[], view: (row: T) => V, placeOf: (row: T) => Place): ListAnswer<V> {
    const shown = rows.slice(0, this.limit)
    return {
      items: shown.map(view),
      nextCursor: this.next(rows.length > this.limit ? placeOf(shown.at(-1)!) : null),
    }
  }

  /** The cursor of the page after this place; null: there is none. */
  next(place: Place | null): string | null {
    return place === null ? null : writeCursor(this.#cursor!, place)
  }
}

function pageSize(limit: string | undefined, { usual = 50, most = LARGEST_PAGE }: Paging): number {
  const wanted = limit === undefined ? usual : Number(limit)
  if (wanted > most) throw Refused.field('VALIDATION_FAILED', 'limit', `must be at most ${most}`)
  return Math.max(wanted, 1)
}

export function readCursor<Place>(cursor: Cursor<Place>, text: string, param = 'cursor'): Place {
  const place = cursor.read(cursor.isPlain ? text : Buffer.from(text, 'base64url').toString())
  if (place === null) throw Refused.field('VALIDATION_FAILED', param, 'is not a cursor of this list')
  return place
}

export function writeCursor<Place>(cursor: Cursor<Place>, place: Place): string {
  const text = cursor.write(place)
  return cursor.isPlain ? text : Buffer.from(text).toString('base64url')
}

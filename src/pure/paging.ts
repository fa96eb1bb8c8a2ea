import type { z } from 'zod'
import { isUuid } from './ids.ts'
import { Generation, Slug } from './shapes.ts'

/** How a list is read page by page. */
export interface Paging {
  /** Items of a page unless the request says so: 50. */
  readonly usual?: number
  /** The most of them: LARGEST_PAGE. */
  readonly most?: number
  /** Without one the list has no cursor, or its handler reads it. */
  readonly cursor?: Cursor<unknown>
  /** The query parameter of the cursor: "cursor". */
  readonly param?: string
}

/** The place where a page ends, as text. It is opaque to clients, unless it is plain: the order of a list may change. */
export interface Cursor<Place> {
  /** Null: the text is not a cursor of the list. */
  read(text: string): Place | null
  write(place: Place): string
  /** The text is sent as it is; others are sent in base64url. */
  readonly isPlain?: true
}

/** The place is the id of a record. */
const id: Cursor<number> = {
  read: (text) => (/^t\d{1,16}$/.test(text) ? Number(text.slice(1)) : null),
  write: (place) => `t${place}`,
}

export const byId = { cursor: id } satisfies Paging

/** The ids of projects have a smaller range than those of tasks. */
export const bySmallId = {
  cursor: {
    read: (text) => {
      const place = id.read(text)
      return place !== null && place < 2 ** 31 ? place : null
    },
    write: id.write,
  } satisfies Cursor<number>,
} satisfies Paging

/** The place is the slug of a record. */
export const bySlug = {
  cursor: {
    read: (text) => Slug.safeParse(text).data ?? null,
    write: (slug) => slug,
  } satisfies Cursor<string>,
} satisfies Paging

/** The place is the id of a record, as clients know it. */
export const byUuid = {
  cursor: {
    isPlain: true,
    read: (text) => (isUuid(text) ? text : null),
    write: (uuid) => uuid,
  } satisfies Cursor<string>,
} satisfies Paging

/** The place is the number of an event, which its shape has checked. */
export const afterSeq = {
  param: 'after',
  cursor: { isPlain: true, read: Number, write: String } satisfies Cursor<number>,
} satisfies Paging

/** The place of a result: when it was submitted, its task, its generation and its hash. */
type ResultPlace = readonly [number, number, number, string]

export const byResult = {
  cursor: {
    isPlain: true,
    read: (text): ResultPlace | null => {
      const [, at, task, generation, hash] =
        /^(\d{1,15})-(\d{1,16})-(\d{1,10})-([0-9a-f]{1,64})$/.exec(text) ?? []
      if (hash === undefined || !Generation.safeParse(Number(generation)).success) return null
      return [Number(at), Number(task), Number(generation), hash]
    },
    write: (place) => place.join('-'),
  } satisfies Cursor<ResultPlace>,
} satisfies Paging

/** The place has several values. */
export const valuesOf = <Place>(shape: z.ZodType<Place>): Cursor<Place> => ({
  read: (text) => {
    const place = shape.safeParse(parsed(text))
    return place.success ? place.data : null
  },
  write: (place) => JSON.stringify(place),
})

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The last moment that a date can be. */
export const LATEST_MS = 8_640_000_000_000_000

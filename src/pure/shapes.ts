import { z } from 'zod'

/** Shapes of the API. Each is declared once: the server validates and documents with it, and clients derive their types. */

// biome-ignore lint/suspicious/noControlCharactersInRegex: keeping them out is the point
const NO_CONTROL_CHARACTERS = /^[^\u0000-\u001f\u007f]+$/

const nameUpTo = (length: number) => z.string().min(1).max(length).regex(NO_CONTROL_CHARACTERS)
export const Name = nameUpTo(200)
export const Title = nameUpTo(500)
export const Path = nameUpTo(4_096)
export const Slug = z
  .string()
  .min(1)
  .max(100)
  .regex(/^[A-Za-z0-9][A-Za-z0-9._@-]*$/)
export const Tag = nameUpTo(100)
export const Track = z.string().regex(/^[A-Z]{1,8}$/)
export const Text = z.string().max(100_000)
export const ShortText = z.string().max(2_000)
export const Uuid = z.string().regex(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
/** Query values are strings of digits. */
export const Digits = z.string().regex(/^\d{1,15}$/)
export const Instant = z.iso.datetime({ offset: true })
export const LeaseSeconds = z.int().min(1).max(86_400)
export const Generation = z.int().min(0).max(2_147_483_647)

export const IdParams = z.object({ id: Name })

/** The most rows of a page. */
export const LARGEST_PAGE = 200

/** How many a page is to have. More than it can have is refused: a shorter page would look like the end of the list. */
export const limitUpTo = (most: number, description = `At most ${most}; more is refused`) =>
  Digits.meta({ description, most }).optional()

/** Query parameters of lists. */
export const Page = { cursor: Name.optional(), limit: limitUpTo(LARGEST_PAGE) }

/** `?include=`: large fields that lists leave out by default. */
export const include = (...names: string[]) =>
  z
    .string()
    .min(1)
    .max(200)
    .optional()
    .describe(`Large fields to include, separated by commas: ${names.join(', ')}`)

/** Beside a cost. */
export const IsSimulated = z
  .boolean()
  .describe('True: simulated agents spent it, or a part of it, and nobody pays that')

/** What a holder sends with every write. */
export const fence = { session: Name, generation: Generation }

export const listOf = <T extends z.ZodType>(item: T) =>
  z.object({ items: z.array(item), nextCursor: z.string().nullable() })

/** The type of a list's answer, by the type of its items. */
export interface ListAnswer<T> {
  readonly items: readonly T[]
  readonly nextCursor: string | null
}

/** The type of an answer of this shape. Its lists are read-only: records are shown without copying theirs. */
export type AnswerOf<S extends z.ZodType> = ReadonlyLists<z.output<S>>
/** Also what clients send: they may have got it from an answer. */
export type ReadonlyLists<T> = T extends readonly (infer I)[]
  ? readonly ReadonlyLists<I>[]
  : T extends object
    ? { [K in keyof T]: ReadonlyLists<T[K]> }
    : T

export const Fresh = z
  .boolean()
  .describe(
    'Start over: from the base, in a new session. Otherwise the work of the last attempt is continued',
  )

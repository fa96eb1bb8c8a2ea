import { z } from 'zod'

const NOT_A_RATE = {
  error:
    'must be dollars for a million tokens as text, such as "2.50": below a million, with at most twelve decimals',
}
const Rate = z.string(NOT_A_RATE).regex(/^\d{1,6}(\.\d{1,12})?$/, NOT_A_RATE)

const CACHED = 'Input that is read from the cache; default: as input'
const WRITTEN = 'Input that is written to the cache; null, the default: as input'
const WRITTEN_1H = 'Input that the cache keeps for an hour; null, the default: as cacheWrite'
const rates = {
  input: Rate,
  cachedInput: Rate.optional().describe(CACHED),
  cacheWrite: Rate.nullable().optional().describe(WRITTEN),
  cacheWrite1h: Rate.nullable().optional().describe(WRITTEN_1H),
  output: Rate,
}
const LARGEST_CONTEXT = 1_000_000_000

export const PriceBody = z.strictObject({
  ...rates,
  longContext: z
    .strictObject({
      fromTokens: z.int().min(1).max(LARGEST_CONTEXT).describe('Requests with more input cost this'),
      ...rates,
    })
    .nullable()
    .optional()
    .describe('What all tokens of long requests cost; null, the default: as those of others'),
})

const shown = {
  input: z.string(),
  cachedInput: z.string(),
  cacheWrite: z.string().nullable(),
  cacheWrite1h: z.string().nullable(),
  output: z.string(),
}

export const PriceView = z.object({
  model: z.string(),
  ...shown,
  longContext: z.object({ fromTokens: z.int(), ...shown }).nullable(),
  setBy: z.enum(['list', 'workspace']).describe('Whose price it is: that of the list, or of this workspace'),
  seenOn: z.string().describe('The day on which the price was seen, or set'),
  source: z.string(),
})

const LONGEST_MODEL = 200
export const PriceParams = z.object({
  model: z
    .string()
    .min(1)
    .max(LONGEST_MODEL)
    .regex(/^[\x21-\x7e]+$/, { error: 'must be the name of a model: no spaces, and ASCII only' })
    .describe('As programs write it: provider, context window and date do not matter'),
})

import { z } from 'zod'

/** What models have read and written. */
export const Tokens = z.object({
  input: z.int().describe('Uncached input'),
  cachedInput: z.int().nullable(),
  cacheWrite: z.int().nullable().describe('Of the input, what was written to the cache; null: not known'),
  output: z.int(),
})
export type Tokens = z.output<typeof Tokens>

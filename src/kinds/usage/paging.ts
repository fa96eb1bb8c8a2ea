import { z } from 'zod'
import { type Paging, valuesOf } from '../../pure/paging.ts'
import { Generation, Uuid } from '../../pure/shapes.ts'
import { COST_BASES } from './record.ts'

/** The database has no text with a character 0. */
const Model = z
  .string()
  .max(1_000)
  .refine((text) => !text.includes('\0'))
/** Where a page of the ledger ends: when, in microseconds, source, generation, model, number and basis of a row. */
const Place = z.tuple([z.int(), Uuid, Generation, Model, Generation, z.enum(COST_BASES)])

export const byUsage = { cursor: valuesOf(Place) } satisfies Paging

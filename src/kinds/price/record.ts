import { decimal, instant, json, orNull, type RecordOf, text } from '../../pure/fields.ts'
import type { PriceTable } from '../run/prices/cost.ts'
import { type LongContextRates, PRICES, type Price } from '../run/prices/table.ts'

/** What a workspace has set as the price of a model: it replaces the one of the list. */
export const PRICE_FIELDS = {
  /** As `priceName` writes it. */
  model: text(),
  input: decimal(),
  cachedInput: decimal(),
  cacheWrite: orNull(decimal()),
  cacheWrite1h: orNull(decimal('cache_write_1h')),
  output: decimal(),
  longContext: orNull(json<LongContextRates>()),
  changedAt: instant(),
}

export interface PriceRecord extends RecordOf<typeof PRICE_FIELDS> {}

/** Of a price that a workspace has set. */
export const OWN_SOURCE = 'This workspace'

const asPrice = ({ model: _model, changedAt, ...rates }: PriceRecord): Price => ({
  ...rates,
  seenOn: new Date(changedAt).toISOString().slice(0, 10),
  source: OWN_SOURCE,
})

/** The prices in a workspace: those that it has set, and the list's of all other models. */
export const priceTable = (own: readonly PriceRecord[]): PriceTable =>
  own.length === 0
    ? PRICES
    : { ...PRICES, ...Object.fromEntries(own.map((price) => [price.model, asPrice(price)])) }

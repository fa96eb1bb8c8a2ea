import { type Refusal, refuse } from '../../pure/errors.ts'
import { type EventDraft, type Origin, workspaceEvent } from '../events.ts'
import type { Rates } from '../run/prices/table.ts'
import { storedDollars } from '../run/rules/dollars.ts'
import type { PriceRecord } from './record.ts'

/** What a command does to the price that a workspace has of a model. */

export type PriceRates = Pick<PriceRecord, 'longContext' | keyof Rates>

export type PriceCommand =
  /** `isAsRead`: whether the price is still the one that the caller has read; null: the workspace has none of its own. */
  | { kind: 'set'; rates: PriceRates; isAsRead: (own: PriceRecord | null) => boolean }
  | { kind: 'remove'; isAsRead: (own: PriceRecord | null) => boolean }

interface PriceContext {
  now: number
  origin: Origin
  /** How many models have a price of this workspace. */
  count: number
}

interface PriceDecision {
  refusal: Refusal | null
  /** Null: there is none. */
  record: PriceRecord | null
  events: EventDraft[]
}

/** Every run that ends reads them. */
const MOST_PRICES = 1_000

const refused = (record: PriceRecord | null, refusal: Refusal): PriceDecision => ({
  ...{ refusal, record, events: [] },
})

export function decidePrice(
  before: PriceRecord | null,
  model: string,
  command: PriceCommand,
  { now, origin, count }: PriceContext,
): PriceDecision {
  if (command.kind === 'remove' && !before)
    return refused(before, refuse('NOT_FOUND', `This workspace has no price of its own for "${model}".`))
  if (!command.isAsRead(before))
    return refused(before, refuse('VERSION_MISMATCH', 'The price was changed since it was read.'))
  if (command.kind === 'remove')
    return {
      refusal: null,
      record: null,
      events: [workspaceEvent('price_removed', { model }, { ...origin, now })],
    }
  if (!before && count >= MOST_PRICES)
    return refused(
      before,
      refuse('LIMIT_REACHED', `A workspace may set the prices of ${MOST_PRICES} models.`),
    )
  const rates = storedRates(command.rates)
  if (before && isSame(before, rates)) return { refusal: null, record: before, events: [] }
  const events = [workspaceEvent('price_changed', { model, ...rates }, { ...origin, now })]
  return { refusal: null, record: { model, ...rates, changedAt: now }, events }
}

/** Decimals as every store gives them back. */
const storedRates = ({ longContext, ...rates }: PriceRates): PriceRates => ({
  ...plain(rates),
  longContext: longContext && { fromTokens: longContext.fromTokens, ...plain(longContext) },
})

const plain = ({ input, cachedInput, cacheWrite, cacheWrite1h, output }: Rates): Rates => ({
  input: storedDollars(input)!,
  cachedInput: storedDollars(cachedInput)!,
  cacheWrite: storedDollars(cacheWrite),
  cacheWrite1h: storedDollars(cacheWrite1h),
  output: storedDollars(output)!,
})

const isSame = (a: PriceRates, b: PriceRates) =>
  JSON.stringify(storedRates(a)) === JSON.stringify(storedRates(b))

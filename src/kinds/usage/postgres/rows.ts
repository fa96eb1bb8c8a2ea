import { plainRows } from '../../../postgres/statements/plain-rows.ts'
import { SOURCE_FIELDS, type UsageSource } from '../record.ts'
import { totalsOf } from '../rules/book.ts'

/** The ledger as rows. */

const total = (of: (totals: ReturnType<typeof totalsOf>) => unknown) => (source: UsageSource) =>
  of(totalsOf(source.booked))

export const sourceRows = plainRows('usage_sources', SOURCE_FIELDS, {
  keyWidth: 2,
  derived: {
    input_tokens: ['bigint', total(({ inputTokens }) => inputTokens)],
    cached_input_tokens: ['bigint', total(({ cachedInputTokens }) => cachedInputTokens)],
    output_tokens: ['bigint', total(({ outputTokens }) => outputTokens)],
    work_ms: ['bigint', total(({ workMs }) => workMs)],
    cost_usd: ['numeric', total(({ costUsd }) => costUsd)],
    notional_usd: ['numeric', total(({ notionalUsd }) => notionalUsd)],
    is_cost_unknown: ['boolean', total(({ isCostUnknown }) => isCostUnknown)],
  },
})

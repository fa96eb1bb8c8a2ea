import type { ModelTotals, UsageRow, UsageSource } from '../../src/kinds/usage/record.ts'
import { NO_TOTALS, newSource, tokensOf } from '../../src/kinds/usage/rules/book.ts'
import { sumOfDollars } from '../../src/pure/money.ts'

/** Sources, totals and rows of the ledger, for tests of its rules. */

export const RUN = '00000000-0000-7000-8000-000000000001'

export const aSource = (more: Partial<UsageSource> = {}): UsageSource => ({
  ...newSource(
    { sourceId: RUN, generation: 0 },
    {
      ...{ agent: 'dev', session: null, taskId: 1, missionId: null, projectId: 0, taskType: 'coding' },
      ...{ operation: 'work', isSimulated: false },
    },
    0,
  ),
  ...more,
})

/** Output tokens, and what they cost. */
export const used = (outputTokens: number, costUsd: string | null = null, more: Partial<ModelTotals> = {}) =>
  ({
    ...NO_TOTALS,
    outputTokens,
    costUsd,
    basis: costUsd === null ? 'unknown' : 'reported',
    ...more,
  }) satisfies ModelTotals

/** What the rows of a model add up to; null: no cost of it is known. */
export function sumsOf(rows: readonly UsageRow[], model?: string) {
  const own = rows.filter((row) => model === undefined || row.model === model)
  const costs = (...bases: readonly string[]) =>
    sumOfDollars(...own.map(({ basis, costUsd }) => (bases.includes(basis) ? costUsd : null)))
  const of = (field: 'inputTokens' | 'cachedInputTokens' | 'outputTokens') =>
    own.reduce((all, row) => all + row[field], 0)
  return {
    ...{ inputTokens: of('inputTokens'), cachedInputTokens: of('cachedInputTokens') },
    outputTokens: of('outputTokens'),
    cacheWrite5mTokens: own.reduce((all, row) => all + row.cacheWrite5mTokens, 0),
    cacheWrite1hTokens: own.reduce((all, row) => all + row.cacheWrite1hTokens, 0),
    tokens: own.reduce((all, row) => all + tokensOf(row), 0),
    paid: costs('reported', 'priced'),
    notional: costs('notional'),
  }
}

import { type Bound, columnsOf, insertInto } from '../../../postgres/statements/statements.ts'
import { reservationWrites } from '../../budget/postgres/reserve.ts'
import { budgetRows, reservationRows } from '../../budget/postgres/rows.ts'
import type { UsageRow } from '../record.ts'
import type { UsageChanges } from '../rules/step.ts'
import { sourceRows } from './rows.ts'

const LEDGER = columnsOf({
  source_id: 'uuid',
  generation: 'int',
  model: 'text',
  number: 'int',
  basis: 'text',
  at: 'instant',
  input_tokens: 'bigint',
  cached_input_tokens: 'bigint',
  cache_write_5m_tokens: 'bigint',
  cache_write_1h_tokens: 'bigint',
  output_tokens: 'bigint',
  reasoning_tokens: 'bigint',
  cost_usd: 'numeric',
  work_ms: 'bigint',
})
const ADDED = ['input_tokens', 'cached_input_tokens', 'output_tokens', 'work_ms']
const ALL_ADDED = [...ADDED, 'cache_write_5m_tokens', 'cache_write_1h_tokens']
const adding = (table: string, columns: readonly string[]) =>
  columns.map((name) => `${name} = ${table}.${name} + excluded.${name}`).join(', ')
/** What is unknown adds nothing to what is known. */
const addingKnown = (table: string, name: string) =>
  `${name} = case when excluded.${name} is null then ${table}.${name} else coalesce(${table}.${name}, 0) + excluded.${name} end`

// Rows of the ledger. Reports within a second are one row.
const insertUsage = insertInto(
  'usage',
  LEDGER,
  `on conflict (workspace_id, source_id, generation, model, number, basis) do update set at = excluded.at,
     ${adding('usage', ALL_ADDED)}, ${addingKnown('usage', 'reasoning_tokens')}, ${addingKnown('usage', 'cost_usd')}`,
)
const QUARTER = columnsOf({
  quarter: 'instant',
  source_id: 'uuid',
  generation: 'int',
  model: 'text',
  basis: 'text',
  input_tokens: 'bigint',
  cached_input_tokens: 'bigint',
  output_tokens: 'bigint',
  cost_usd: 'numeric',
  work_ms: 'bigint',
})
const QUARTER_MS = 900_000
// What was used in quarters of an hour.
const insertQuarters = insertInto(
  'usage_quarters',
  QUARTER,
  `on conflict (workspace_id, quarter, source_id, generation, model, basis) do update set
     ${adding('usage_quarters', ADDED)}, ${addingKnown('usage_quarters', 'cost_usd')}`,
)

const ledgerValues = (rows: readonly UsageRow[]) => [
  rows.map((row) => row.sourceId),
  rows.map((row) => row.generation),
  rows.map((row) => row.model),
  rows.map((row) => row.number),
  rows.map((row) => row.basis),
  rows.map((row) => row.at),
  rows.map((row) => row.inputTokens),
  rows.map((row) => row.cachedInputTokens),
  rows.map((row) => row.cacheWrite5mTokens),
  rows.map((row) => row.cacheWrite1hTokens),
  rows.map((row) => row.outputTokens),
  rows.map((row) => row.reasoningTokens),
  rows.map((row) => row.costUsd),
  rows.map((row) => row.workMs ?? 0),
]

const quarterValues = (rows: readonly UsageRow[]) => [
  rows.map((row) => Math.floor(row.at / QUARTER_MS) * QUARTER_MS),
  rows.map((row) => row.sourceId),
  rows.map((row) => row.generation),
  rows.map((row) => row.model),
  rows.map((row) => row.basis),
  rows.map((row) => row.inputTokens),
  rows.map((row) => row.cachedInputTokens),
  rows.map((row) => row.outputTokens),
  rows.map((row) => row.costUsd),
  rows.map((row) => row.workMs ?? 0),
]

/** Sources before the rows that name them. */
export function usageWrites(workspaceId: number, changes: UsageChanges): Bound[] {
  const { sources, rows, budgets, reservations, released } = changes
  const writes: Bound[] = []
  if (sources.length > 0) writes.push(sourceRows.upsert(workspaceId, sources))
  if (rows.length > 0)
    writes.push(
      insertUsage(workspaceId, ledgerValues(rows)),
      insertQuarters(workspaceId, quarterValues(rows)),
    )
  if (reservations.length > 0) writes.push(reservationRows.upsert(workspaceId, reservations))
  if (budgets.length > 0) writes.push(budgetRows.upsert(workspaceId, budgets))
  if (released.length > 0) writes.push(...reservationWrites(workspaceId, { reserved: [], released }))
  return writes
}

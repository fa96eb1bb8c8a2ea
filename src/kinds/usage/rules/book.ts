import { picosOf, sumOfDollars, textOfPicos } from '../../../pure/money.ts'
import type { BookedTo, CostBasis, Counts, ModelTotals, SourceId, UsageRow, UsageSource } from '../record.ts'

/** How a report of totals becomes rows of the ledger. */

export interface UsageReport {
  /** Reports of a source are numbered. One that is not above the last adds nothing; without a number, totals only grow. */
  number: number | null
  /** It names all models that were used: what was booked for others is taken back. */
  isWhole: boolean
  /** The last one of its source: it counts whatever its number. */
  isFinal?: boolean | undefined
  models: Readonly<Record<string, ModelTotals>>
}

export interface Booked {
  source: UsageSource
  rows: UsageRow[]
  /** What is new: tokens of all kinds together, dollars that are paid by use, and those that are not. */
  tokens: number
  usd: string
  notionalUsd: string
}

/** Rows of one source in a shorter time are added up. */
const ROW_EVERY_MS = 1000

const COUNTED = [
  'inputTokens',
  'cachedInputTokens',
  'cacheWrite5mTokens',
  'cacheWrite1hTokens',
  'outputTokens',
  'workMs',
] as const satisfies readonly (keyof ModelTotals)[]
type Counted = Record<(typeof COUNTED)[number], number>
const countsOf = (of: (field: (typeof COUNTED)[number]) => number): Counted =>
  Object.fromEntries(COUNTED.map((field) => [field, of(field)])) as Counted

export const NO_TOTALS: ModelTotals = {
  ...{ inputTokens: 0, cachedInputTokens: 0, cacheWrite5mTokens: 0, cacheWrite1hTokens: 0, outputTokens: 0 },
  ...{ reasoningTokens: null, costUsd: null, basis: 'unknown' },
}

export const newSource = (id: SourceId, to: BookedTo, now: number): UsageSource => ({
  ...id,
  ...to,
  ...{ number: 0, rows: 0, rowAt: null, booked: {}, startedAt: now, updatedAt: now, toldAt: null },
})

/** Null: it adds nothing. */
export function book(before: UsageSource, report: UsageReport, now: number): Booked | null {
  const { number, isFinal = false, isWhole } = report
  if (!isFinal && number !== null && number <= before.number) return null
  const mayFall = isFinal || number !== null
  const names = new Set([
    ...Object.keys(report.models),
    ...(isWhole && mayFall ? Object.keys(before.booked) : []),
  ])
  const joins = before.rowAt !== null && !isFinal && now - before.rowAt < ROW_EVERY_MS
  const rowNumber = joins ? before.rows : before.rows + 1
  const booked = new Map(Object.entries(before.booked))
  const rows: UsageRow[] = []
  for (const model of names) {
    const was = booked.get(model) ?? NO_TOTALS
    const said = totalsIn(report.models, model)
    const is = mayFall ? said : grown(was, said)
    booked.set(model, is)
    rows.push(
      ...differences(was, is).map((one) => ({ ...before, ...one, model, number: rowNumber, at: now })),
    )
  }
  const numbered = number === null ? before.number : Math.max(number, before.number)
  if (rows.length === 0 && numbered === before.number) return null
  const hasRows = rows.length > 0
  return {
    source: {
      ...before,
      ...{ booked: Object.fromEntries(booked), number: numbered, updatedAt: now },
      ...(hasRows && { rows: rowNumber, rowAt: joins ? before.rowAt : now }),
    },
    rows: rows.map(rowOf),
    tokens: rows.reduce((sum, row) => sum + tokensOf(row), 0),
    usd: sumOfDollars(...rows.map((row) => (isPaid(row.basis) ? row.costUsd : null))),
    notionalUsd: sumOfDollars(...rows.map((row) => (row.basis === 'notional' ? row.costUsd : null))),
  }
}

/** Programs name their models: `constructor` is a name, too. */
const totalsIn = (models: UsageReport['models'], model: string): ModelTotals =>
  Object.hasOwn(models, model) ? models[model]! : NO_TOTALS

const rowOf = ({ sourceId, generation, model, number, at, ...row }: UsageRow): UsageRow => ({
  ...{ sourceId, generation, model, number, at },
  ...{ inputTokens: row.inputTokens, cachedInputTokens: row.cachedInputTokens },
  ...{ cacheWrite5mTokens: row.cacheWrite5mTokens, cacheWrite1hTokens: row.cacheWrite1hTokens },
  ...{ outputTokens: row.outputTokens, reasoningTokens: row.reasoningTokens },
  ...{ costUsd: row.costUsd, basis: row.basis },
  ...(row.workMs && { workMs: row.workMs }),
})

export const tokensOf = ({
  inputTokens,
  cachedInputTokens,
  outputTokens,
}: Pick<Counts, 'inputTokens' | 'cachedInputTokens' | 'outputTokens'>) =>
  inputTokens + cachedInputTokens + outputTokens

const isPaid = (basis: CostBasis) => basis === 'reported' || basis === 'priced'
const groupOf = (basis: CostBasis) => (isPaid(basis) ? 'paid' : basis)

/** Models have none. */
const withoutNoTime = ({ workMs, ...counts }: Counted) => ({ ...counts, ...(workMs !== 0 && { workMs }) })

/** Of each figure the larger one. */
function grown(was: ModelTotals, said: ModelTotals): ModelTotals {
  const counts = countsOf((field) => Math.max(was[field] ?? 0, said[field] ?? 0))
  const reasoningTokens =
    said.reasoningTokens === null
      ? was.reasoningTokens
      : Math.max(said.reasoningTokens, was.reasoningTokens ?? 0)
  const isMore =
    said.costUsd !== null && (was.costUsd === null || picosOf(said.costUsd) > picosOf(was.costUsd))
  const { costUsd, basis } = isMore ? said : was
  return {
    ...withoutNoTime(counts),
    reasoningTokens,
    costUsd,
    basis: costUsd === null ? said.basis : basis,
  }
}

/** One row; two where the cost has another basis now, which takes back the old one whole. */
function differences(was: ModelTotals, is: ModelTotals): ModelTotals[] {
  const counts = countsOf((field) => (is[field] ?? 0) - (was[field] ?? 0))
  const reasoning = is.reasoningTokens === null ? null : is.reasoningTokens - (was.reasoningTokens ?? 0)
  const tokens = { ...counts, reasoningTokens: reasoning }
  const hasMoved = COUNTED.some((field) => counts[field] !== 0) || (reasoning ?? 0) !== 0
  const wasKnown = was.costUsd !== null && picosOf(was.costUsd) !== 0n
  if (wasKnown && groupOf(was.basis) !== groupOf(is.basis))
    return [
      { ...NO_TOTALS, costUsd: textOfPicos(-picosOf(was.costUsd!)), basis: was.basis },
      { ...tokens, costUsd: is.costUsd, basis: is.basis },
    ]
  if (is.costUsd === null) return hasMoved ? [{ ...tokens, costUsd: null, basis: is.basis }] : []
  const more = picosOf(is.costUsd) - picosOf(was.costUsd ?? '0')
  if (!hasMoved && more === 0n && was.costUsd !== null) return []
  return [{ ...tokens, costUsd: textOfPicos(more), basis: is.basis }]
}

/** Models that used tokens, and whose cost is not known. */
export const unknownModels = ({ booked }: Pick<UsageSource, 'booked'>): string[] =>
  Object.entries(booked).flatMap(([model, one]) => (one.costUsd === null && tokensOf(one) > 0 ? [model] : []))

/** The last report, which adds nothing: it only says that no cost will be known. */
export const nothingMore = (source: UsageSource): Booked => ({
  ...{ source, rows: [], tokens: 0, usd: '0', notionalUsd: '0' },
})

/** All models of a source together. */
export interface Totals extends Counts {
  tokens: number
  workMs: number
  /** What is paid by use; null: nothing of it is known. */
  costUsd: string | null
  notionalUsd: string | null
  /** A model used tokens, and their cost is not known. */
  isCostUnknown: boolean
}

/** Whether something is known of it but its time: what a program tells nothing of is not nothing. */
export function hasTold({ booked }: Pick<UsageSource, 'booked'>): boolean {
  const { tokens, costUsd, notionalUsd } = totalsOf(booked)
  return tokens > 0 || costUsd !== null || notionalUsd !== null
}

export function totalsOf(booked: UsageSource['booked']): Totals {
  const models = Object.values(booked)
  const sum = (field: (typeof COUNTED)[number]) => models.reduce((all, one) => all + (one[field] ?? 0), 0)
  const costs = (isWanted: (basis: CostBasis) => boolean) => {
    const known = models.flatMap(({ basis, costUsd }) => (isWanted(basis) ? (costUsd ?? []) : []))
    return known.length === 0 ? null : sumOfDollars(...known)
  }
  const reasoning = models.flatMap(({ reasoningTokens }) => reasoningTokens ?? [])
  const counts = countsOf(sum)
  return {
    ...counts,
    reasoningTokens: reasoning.length === 0 ? null : reasoning.reduce((all, one) => all + one, 0),
    tokens: tokensOf(counts),
    costUsd: costs(isPaid),
    notionalUsd: costs((basis) => basis === 'notional'),
    isCostUnknown: models.some((one) => one.costUsd === null && tokensOf(one) > 0),
  }
}

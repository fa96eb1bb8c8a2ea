import { count, type Json, record } from '../../transcript/json.ts'
import { dollarText, picoDollars } from '../cli-lines.ts'
import { isOlderThan, type Version } from './version.ts'

/**
 * Claude reports dollars (`total_cost_usd`) and tokens by model (`modelUsage`). Older versions count per process, newer ones
 * per session, including resumed runs. The figures show which it is: those of a session are at least the figures after the
 * previous run plus the usage of this run.
 */

/** The program's counters at the end of the previous run of a session. */
export interface Counted {
  sessionId: string
  costUsd: string
  /** Tokens by model: input, output, read from the cache, written to it. */
  models: Record<string, ModelTokens>
}
type ModelTokens = [input: number, output: number, cacheRead: number, cacheWrite: number]

const FIGURES = ['inputTokens', 'outputTokens', 'cacheReadInputTokens', 'cacheCreationInputTokens'] as const
const OF_THIS_RUN = [
  'input_tokens',
  'output_tokens',
  'cache_read_input_tokens',
  'cache_creation_input_tokens',
] as const
/** From this version on Claude counts per session. Used only when the figures allow both readings. */
const COUNTS_SESSIONS_SINCE: Version = [2, 1, 277]

export function countedIn(state: unknown): Counted | null {
  const { sessionId, costUsd, models } = record(state)
  if (typeof sessionId !== 'string' || typeof costUsd !== 'string' || !/^\d+(\.\d+)?$/.test(costUsd))
    return null
  const entries = Object.entries(record(models))
  return { sessionId, costUsd, models: Object.fromEntries(entries.map(([name, of]) => [name, tokensOf(of)])) }
}

const tokensOf = (value: unknown): ModelTokens => {
  const figures = Array.isArray(value) ? value : []
  return [count(figures[0]), count(figures[1]), count(figures[2]), count(figures[3])]
}

export function countedBy(result: Json, sessionId: string): Counted | null {
  const cost = picoDollars(result.total_cost_usd)
  if (cost === null) return null
  const entries = Object.entries(record(result.modelUsage))
  const models = Object.fromEntries(
    entries.map(([model, usage]) => [model, tokensOf(FIGURES.map((figure) => record(usage)[figure]))]),
  )
  return { sessionId, costUsd: dollarText(cost), models }
}

/** The cost of this run, from its last result. */
export function costOf(
  now: Counted,
  before: Counted | null,
  usage: Json,
  version: string | null,
): { costUsd: string; isDelta: boolean } {
  const isDelta = before?.sessionId === now.sessionId && countsTheSession(now, before, usage, version)
  if (!isDelta) return { costUsd: now.costUsd, isDelta }
  const cost = picoDollars(Number(now.costUsd))! - picoDollars(Number(before!.costUsd))!
  return { costUsd: dollarText(cost), isDelta }
}

function countsTheSession(now: Counted, before: Counted, usage: Json, version: string | null): boolean {
  if (Number(now.costUsd) < Number(before.costUsd)) return false
  const isAllKept = Object.entries(before.models).every(([model, tokens]) =>
    tokens.every((figure, i) => (now.models[model]?.[i] ?? 0) >= figure),
  )
  if (!isAllKept) return false
  const [all, allBefore] = [totals(now), totals(before)]
  const hasRoomForThisRun = OF_THIS_RUN.every((figure, i) => all[i]! >= allBefore[i]! + count(usage[figure]))
  // The usage of helper models is in `modelUsage` only, and may exceed everything counted before.
  return hasRoomForThisRun && !isOlderThan(version, COUNTS_SESSIONS_SINCE)
}

function totals({ models }: Counted): ModelTokens {
  const all = Object.values(models)
  const sum = (i: 0 | 1 | 2 | 3) => all.reduce((total, tokens) => total + tokens[i], 0)
  return [sum(0), sum(1), sum(2), sum(3)]
}

import { isObject, type Json, record } from '../../transcript/json.ts'
import { claudeModelUsage, claudeUsage, type Tokens } from '../../transcript/usage.ts'
import { usageOf } from '../answers-used.ts'
import { dollarText, isAtLeast, minus, most, NONE_USED, picoDollars, plus, type Used } from '../cli-lines.ts'
import { isOlderThan, type Version } from './version.ts'

/**
 * What claude tells at the end of a turn: dollars (`total_cost_usd`) and tokens by model (`modelUsage`), with subagents. Newer versions
 * tell what the turn used (`model_usage_since_last_result`). Without that the totals are those of the process in old versions, and in
 * newer ones of the session, over all its runs: then what was counted before the run is subtracted.
 */

/** The program's counters before a run, or after it. */
export interface Counted {
  sessionId: string
  costUsd: string | null
  models: Record<string, Tokens>
}

/** As it is kept between runs. */
type KeptTokens = [
  ...[input: number, output: number, cacheRead: number, cacheWrite: number],
  ...[cacheWrite1h: number, thinking: number | null],
]

/** From this version on Claude counts per session. */
const COUNTS_SESSIONS_SINCE: Version = [2, 1, 277]

/** What an earlier run of the session kept. */
export function countedIn(state: unknown): Counted | null {
  const { sessionId, costUsd, models } = record(state)
  if (typeof sessionId !== 'string' || typeof costUsd !== 'string' || !/^\d+(\.\d+)?$/.test(costUsd))
    return null
  const entries = Object.entries(record(models)).map(([name, kept]) => [name, tokensOf(kept)])
  return { sessionId, costUsd, models: Object.fromEntries(entries) }
}

function tokensOf(kept: unknown): Tokens {
  const [input, output, cacheRead, cacheWrite, cacheWrite1h, thinking] = Array.isArray(kept) ? kept : []
  return claudeModelUsage({
    ...{ inputTokens: input, outputTokens: output, thinkingTokens: thinking },
    ...{ cacheReadInputTokens: cacheRead, cacheCreationInputTokens: cacheWrite },
    cacheCreationEphemeral1hInputTokens: cacheWrite1h,
  })
}

export const keptOf = ({ sessionId, costUsd, models }: Counted) => ({
  ...{ sessionId, costUsd },
  models: Object.fromEntries(Object.entries(models).map(([name, tokens]) => [name, keptTokens(tokens)])),
})

function keptTokens(tokens: Tokens): KeptTokens {
  const { inputTokens, outputTokens, cachedInputTokens, cacheWriteInputTokens: cacheWrite = 0 } = tokens
  const { cacheWrite1hInputTokens: cacheWrite1h = 0, reasoningTokens: thinking = null } = tokens
  return [inputTokens - cacheWrite, outputTokens, cachedInputTokens, cacheWrite, cacheWrite1h, thinking]
}

/** Null: it tells nothing by model. */
export function countedBy(result: Json, sessionId: string): Counted | null {
  const cost = picoDollars(result.total_cost_usd ?? result.totalCostUSD)
  if (!isObject(result.modelUsage)) return null
  return { sessionId, costUsd: cost === null ? null : dollarText(cost), models: modelsIn(result.modelUsage) }
}

const modelsIn = (usage: Json): Record<string, Tokens> =>
  Object.fromEntries(
    Object.entries(usage).map(([model, figures]) => [model, claudeModelUsage(record(figures))]),
  )

export interface Told {
  usage: Used
  /** Null: it tells no cost. */
  costUsd: string | null
  isDelta: boolean
}

export interface Known {
  /** What the messages until the last result have used, as far as it is known. */
  counted: Used | null
  /** The counters with which the program may have begun, the likeliest first. */
  before: readonly Counted[]
  version: string | null
}

/** What a run used, by its results. Null: they say nothing that can be true, less than its messages have used. */
export function toldBy(results: readonly Json[], known: Known): Told | null {
  const floor = known.counted ?? NONE_USED
  const told = byTurns(results) ?? byTotals(results, known, floor) ?? withoutModels(results)
  return told && isAtLeast(main(told.usage), main(floor)) ? told : null
}

/** What all tell of an answer. */
const main = ({ inputTokens, outputTokens, cachedInputTokens }: Tokens): Tokens => ({
  ...{ inputTokens, outputTokens, cachedInputTokens },
})

/** Each result tells what was used since the one before it. */
function byTurns(results: readonly Json[]): Told | null {
  const turns = results.map(({ model_usage_since_last_result: usage }) => usage)
  if (!turns.every(isObject)) return null
  const models = new Map<string, { all: Tokens; cost: bigint }>()
  for (const [model, figures] of turns.flatMap((turn) => Object.entries(turn))) {
    const { all, cost } = models.get(model) ?? { all: NONE_USED, cost: 0n }
    const used = record(figures)
    models.set(model, {
      all: plus(all, claudeModelUsage(used)),
      cost: cost + (picoDollars(used.costUSD) ?? 0n),
    })
  }
  const costs = [...models.values()].reduce((sum, { cost }) => sum + cost, 0n)
  const used = [...models].map(([model, { all, cost }]) => ({ model, all, costUsd: dollarText(cost) }))
  return { usage: usageOf(used), costUsd: dollarText(costs), isDelta: false }
}

/** The totals after the last result, without those before the run. */
function byTotals(results: readonly Json[], { before, version }: Known, floor: Tokens): Told | null {
  const last = results.at(-1)
  const now = last && countedBy(last, '')
  if (!now) return null
  const turns = results.map(({ usage }) => claudeUsage(record(usage)))
  const least = turns.length === 1 ? turns[0]! : NONE_USED
  const isEnough = ({ usage }: Told) => isAtLeast(main(usage), most(main(floor), main(least)))
  const candidates = isOlderThan(version, COUNTS_SESSIONS_SINCE) ? [] : before
  const told = candidates.map((base) => less(now, base)).find((one) => one !== null && isEnough(one))
  if (told) return told
  const used = Object.entries(now.models).map(([model, all]) => ({ model, all }))
  const whole = { usage: usageOf(used), costUsd: now.costUsd, isDelta: false }
  return isEnough(whole) ? whole : null
}

/** Null: counters never fall, so these did not go on. */
function less(now: Counted, base: Counted): Told | null {
  const names = Object.keys(base.models)
  if (!names.every((name) => now.models[name] && isAtLeast(now.models[name], base.models[name]!))) return null
  const [cost, costBefore] = [now, base].map(({ costUsd }) => (costUsd === null ? null : Number(costUsd)))
  if (cost != null && costBefore != null && cost < costBefore) return null
  const used = Object.entries(now.models).map(([model, all]) => ({
    model,
    all: since(all, base.models[model]),
  }))
  const isKnown = cost != null && costBefore != null
  return {
    usage: usageOf(used),
    costUsd: isKnown ? dollarText(picoDollars(cost)! - picoDollars(costBefore)!) : null,
    isDelta: true,
  }
}

function since(all: Tokens, before: Tokens | undefined): Tokens {
  if (!before) return all
  const { reasoningTokens, ...more } = minus(all, before)
  // Kept by a version of Baton that did not know it.
  const isTold = before.reasoningTokens !== undefined && reasoningTokens !== undefined
  return isTold ? { ...more, reasoningTokens } : more
}

/** What its turns used, without subagents. */
function withoutModels(results: readonly Json[]): Told | null {
  const last = results.at(-1)
  if (!last) return null
  const all = results.map(({ usage }) => claudeUsage(record(usage))).reduce(plus, NONE_USED)
  const cost = picoDollars(last.total_cost_usd)
  return { usage: all, costUsd: cost === null ? null : dollarText(cost), isDelta: false }
}

/** The counters that its session file has: what the program will begin with. */
export function costStateIn(line: Json): Counted | null {
  return line.type === 'cost-state'
    ? countedBy(line, typeof line.sessionId === 'string' ? line.sessionId : '')
    : null
}

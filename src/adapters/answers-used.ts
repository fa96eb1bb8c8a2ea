import { longContextFrom } from '../kinds/run/prices/cost.ts'
import type { ModelUsage } from '../kinds/run/rules/usage.ts'
import type { Tokens } from '../transcript/usage.ts'
import { minus, NONE_USED, plus, sameTokens, type Used } from './cli-lines.ts'

/** What the answers of models have used together, each of them counted once. */

export interface Answer {
  /** Null: not told. */
  model: string | null
  tokens: Tokens
}

interface OfModel {
  all: Tokens
  /** Of requests that are priced as long ones. */
  long: Tokens
}

/** No model gives an answer of this size. */
const MOST_OF_AN_ANSWER = 100_000_000
/** Beyond this, the oldest ids are forgotten; what they have used stays counted. */
const MOST_ANSWERS = 50_000

export class AnswersUsed {
  readonly #answers = new Map<string, Answer>()
  readonly #models = new Map<string | null, OfModel>()

  get isEmpty(): boolean {
    return this.#answers.size === 0
  }

  get(id: string): Answer | undefined {
    return this.#answers.get(id)
  }

  /** Counts it, or replaces what was counted of it. False: nothing has changed. */
  set(id: string, answer: Answer): boolean {
    if (!isPlausible(answer.tokens)) return false
    const before = this.#answers.get(id)
    if (before && before.model === answer.model && sameTokens(before.tokens, answer.tokens)) return false
    this.remove(id)
    const [oldest] = this.#answers.keys()
    if (this.#answers.size >= MOST_ANSWERS && oldest !== undefined) this.#answers.delete(oldest)
    this.#answers.set(id, answer)
    this.#count(answer, plus)
    return true
  }

  remove(id: string): void {
    const before = this.#answers.get(id)
    if (!before) return
    this.#answers.delete(id)
    this.#count(before, minus)
  }

  /** Null: nothing is counted. */
  usage(): Used | null {
    return this.isEmpty ? null : usageOf([...this.#models].map(([model, used]) => ({ model, ...used })))
  }

  #count({ model, tokens }: Answer, by: (a: Tokens, b: Tokens) => Tokens): void {
    const { all, long } = this.#models.get(model) ?? { all: NONE_USED, long: NONE_USED }
    this.#models.set(model, {
      all: by(all, tokens),
      long: isLong(model, tokens) ? by(long, tokens) : long,
    })
  }
}

const isPlausible = ({ inputTokens, cachedInputTokens, outputTokens }: Tokens) =>
  Math.max(inputTokens, cachedInputTokens, outputTokens) <= MOST_OF_AN_ANSWER

function isLong(model: string | null, { inputTokens, cachedInputTokens }: Tokens): boolean {
  const from = model === null ? null : longContextFrom(model)
  return from !== null && inputTokens + cachedInputTokens > from
}

interface OfOne {
  model: string | null
  all: Tokens
  long?: Tokens | undefined
  costUsd?: string | undefined
}

/** All models together, and by model if every one has a name. */
export function usageOf(used: readonly OfOne[]): Used {
  const parts = used.filter(({ all, costUsd }) => costUsd !== undefined || !isNothing(all))
  const total = parts.reduce((sum, { all }) => plus(sum, all), NONE_USED)
  const models = parts.flatMap(({ model, all, long = NONE_USED, costUsd }): ModelUsage[] =>
    model === null
      ? []
      : [
          {
            model,
            ...all,
            ...(costUsd !== undefined && { costUsd }),
            ...(!isNothing(long) && { longContext: long }),
          },
        ],
  )
  return models.length === parts.length && parts.length > 0 ? { ...total, models } : total
}

const isNothing = ({ inputTokens, cachedInputTokens, outputTokens }: Tokens) =>
  inputTokens + cachedInputTokens + outputTokens === 0

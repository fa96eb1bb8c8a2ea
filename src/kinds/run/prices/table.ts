import { dollarsOf, picosOf } from '../rules/dollars.ts'

/** What a model costs: dollars for a million tokens, as exact decimals. */
export interface Rates {
  readonly input: string
  readonly cachedInput: string
  /** What the cache keeps for minutes. Null where it is not billed apart: then it costs as much as input. */
  readonly cacheWrite: string | null
  /** What the cache keeps for an hour. Null where it is not billed apart: then it costs as much as `cacheWrite`. */
  readonly cacheWrite1h: string | null
  readonly output: string
}

/** For requests with more input than `fromTokens`, cached input included: all of their tokens cost this. */
export interface LongContextRates extends Rates {
  readonly fromTokens: number
}

/**
 * The price of a model in the standard tier. Each of the list names the page it goes back to and the day on which it stood there. Prices
 * change: a workspace may set its own instead.
 */
export interface Price extends Rates {
  /** Null where long requests cost what others do. */
  readonly longContext: LongContextRates | null
  /** The day on which the price was seen, YYYY-MM-DD. */
  readonly seenOn: string
  readonly source: string
}

type Row = [input: string, cachedInput: string, cacheWrite: string | null, output: string]

const listed =
  (source: string, seenOn: string, cacheWrite1h: (input: string) => string | null) =>
  ([input, cachedInput, cacheWrite, output]: Row, long: LongContextRates | null = null): Price => ({
    ...{ input, cachedInput, cacheWrite, cacheWrite1h: cacheWrite1h(input), output },
    longContext: long,
    ...{ seenOn, source },
  })

const times = (dollars: string, by: bigint, of = 1n) => dollarsOf((picosOf(dollars) * by) / of)
const twice = (dollars: string) => times(dollars, 2n)
const notBilledApart = () => null

const anthropic = listed('platform.claude.com/docs/en/about-claude/pricing', '2026-10-10', twice)
const openai = listed('developers.openai.com/api/docs/pricing', '2026-09-18', notBilledApart)
const google = listed('ai.google.dev/gemini-api/docs/pricing', '2026-09-18', notBilledApart)
/** Models that are no longer listed, with the prices of Mosaic's table; cached at a tenth of input, written at 1.25 times. */
const mosaic = listed('Mosaic, Model Tier Optimization', '2026-02-04', twice)

/** Of Sonnet 4 and 4.5 with a context of a million tokens: platform.claude.com/docs/en/about-claude/pricing, seen on 2026-02-18. */
const SONNET_LONG: LongContextRates = {
  fromTokens: 200_000,
  ...{ input: '6', cachedInput: '0.6', cacheWrite: '7.5', cacheWrite1h: '12', output: '22.5' },
}

/** Twice the input and 1.5 times the output above 272K: developers.openai.com/api/docs/models, seen on 2026-11-19. */
const openaiLong = (row: Row): Price => {
  const [input, cachedInput, cacheWrite, output] = row
  return openai(row, {
    fromTokens: 272_000,
    ...{ input: twice(input), cachedInput: twice(cachedInput) },
    ...{ cacheWrite: cacheWrite && twice(cacheWrite), cacheWrite1h: null, output: times(output, 3n, 2n) },
  })
}

/** The second of the two prices of a model: ai.google.dev/gemini-api/docs/pricing, seen on 2026-09-18. */
const above200k = (input: string, cachedInput: string, output: string): LongContextRates => ({
  fromTokens: 200_000,
  ...{ input, cachedInput, cacheWrite: null, cacheWrite1h: null, output },
})

export const PRICES: Readonly<Record<string, Price>> = {
  'claude-fable-5-1': anthropic(['10', '0.25', '12.5', '50']),
  'claude-fable-5': anthropic(['10', '1', '12.5', '50']),
  'claude-opus-5-5': anthropic(['4', '0.2', '5', '20']),
  'claude-opus-5': anthropic(['5', '0.5', '6.25', '25']),
  'claude-opus-4-8': anthropic(['5', '0.5', '6.25', '25']),
  'claude-opus-4-7': anthropic(['5', '0.5', '6.25', '25']),
  'claude-opus-4-6': anthropic(['5', '0.5', '6.25', '25']),
  'claude-opus-4-5': anthropic(['5', '0.5', '6.25', '25']),
  'claude-opus-4-1': anthropic(['15', '1.5', '18.75', '75']),
  'claude-opus-4': mosaic(['15', '1.5', '18.75', '75']),
  'claude-sonnet-5-5': anthropic(['2', '0.1', '2.5', '10']),
  'claude-sonnet-5': anthropic(['2', '0.2', '2.5', '10']),
  'claude-sonnet-4-6': anthropic(['3', '0.3', '3.75', '15']),
  'claude-sonnet-4-5': anthropic(['3', '0.3', '3.75', '15'], SONNET_LONG),
  'claude-sonnet-4': mosaic(['3', '0.3', '3.75', '15'], SONNET_LONG),
  'claude-haiku-5-5': anthropic(['0.1', '0.01', '0.125', '0.5']),
  'claude-haiku-4-5': anthropic(['1', '0.1', '1.25', '5']),
  'claude-haiku-3-5': mosaic(['0.8', '0.08', '1', '4']),
  'gpt-6-astra': openaiLong(['10', '1', '12.5', '50']),
  'gpt-5.6-sol': openaiLong(['4', '0.4', '5', '20']),
  'gpt-5.6-terra': openaiLong(['2', '0.2', '2.5', '12']),
  'gpt-5.6-luna': openaiLong(['0.2', '0.02', '0.25', '1.2']),
  'gpt-5.5': openaiLong(['5', '0.5', null, '30']),
  'gpt-5.4': openaiLong(['2.5', '0.25', null, '15']),
  'gpt-5.4-mini': openai(['0.75', '0.075', null, '4.5']),
  'gpt-5.4-nano': openai(['0.2', '0.02', null, '1.25']),
  'gpt-5.2': openai(['1.75', '0.175', null, '14']),
  'gpt-5.1': openai(['1.25', '0.125', null, '10']),
  'gpt-5-codex': openai(['1.25', '0.125', null, '10']),
  'gpt-5': openai(['1.25', '0.125', null, '10']),
  'gpt-5-mini': openai(['0.25', '0.025', null, '2']),
  'gpt-5-nano': openai(['0.05', '0.005', null, '0.4']),
  'gpt-4.1': openai(['2', '0.5', null, '8']),
  'gpt-4.1-mini': openai(['0.4', '0.1', null, '1.6']),
  'gpt-4o': openai(['2.5', '1.25', null, '10']),
  'gpt-4o-mini': openai(['0.15', '0.075', null, '0.6']),
  o3: openai(['2', '0.5', null, '8']),
  'o4-mini': openai(['1.1', '0.275', null, '4.4']),
  'gemini-3.8-flash': google(['0.75', '0.075', null, '3.75']),
  'gemini-3.5-flash': google(['1.5', '0.15', null, '9']),
  'gemini-3.5-flash-lite': google(['0.3', '0.03', null, '2.5']),
  'gemini-3.1-pro-preview': google(['2', '0.2', null, '12'], above200k('4', '0.4', '18')),
  'gemini-3-flash-preview': google(['0.5', '0.05', null, '3']),
  'gemini-2.5-pro': google(['1.25', '0.125', null, '10'], above200k('2.5', '0.25', '15')),
  'gemini-2.5-flash': google(['0.3', '0.03', null, '2.5']),
  'gemini-2.5-flash-lite': google(['0.1', '0.01', null, '0.4']),
}

/** What the agent CLIs and APIs take as a model without a version, and what that stood for when the prices were seen. */
export const ALIASES: Readonly<Record<string, string>> = {
  fable: 'claude-fable-5-1',
  opus: 'claude-opus-5-5',
  sonnet: 'claude-sonnet-5-5',
  haiku: 'claude-haiku-5-5',
  'gpt-5.6': 'gpt-5.6-sol',
  'claude-opus-4-0': 'claude-opus-4',
  'claude-sonnet-4-0': 'claude-sonnet-4',
  'claude-3-5-haiku': 'claude-haiku-3-5',
}

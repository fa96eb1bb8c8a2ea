/**
 * List prices of models: dollars for a million tokens, as exact decimals. They are of the standard tier and of prompts
 * without a surcharge for long contexts. Each names the page it goes back to and the day on which it stood there. Prices
 * change: later a workspace may set its own instead.
 */
export interface Price {
  readonly input: string
  readonly cachedInput: string
  /** Null where writing to the cache is not billed apart: then it costs as much as input. */
  readonly cacheWrite: string | null
  readonly output: string
  /** The day on which the price was seen, YYYY-MM-DD. */
  readonly seenOn: string
  readonly source: string
}

const price = (
  source: string,
  seenOn: string,
  [input, cachedInput, cacheWrite, output]: [string, string, string | null, string],
): Price => ({ input, cachedInput, cacheWrite, output, seenOn, source })

type Row = Parameters<typeof price>[2]
const anthropic = (row: Row) => price('platform.claude.com/docs/en/about-claude/pricing', '2026-10-10', row)
const openai = (row: Row) => price('developers.openai.com/api/docs/pricing', '2026-09-18', row)
const google = (row: Row) => price('ai.google.dev/gemini-api/docs/pricing', '2026-09-18', row)
/** Models that are no longer listed, with the prices of Mosaic's table; cached at a tenth of input, written at 1.25 times. */
const mosaic = (row: Row) => price('Mosaic, Model Tier Optimization', '2026-02-04', row)

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
  'claude-sonnet-4-5': anthropic(['3', '0.3', '3.75', '15']),
  'claude-sonnet-4': mosaic(['3', '0.3', '3.75', '15']),
  'claude-haiku-5-5': anthropic(['0.1', '0.01', '0.125', '0.5']),
  'claude-haiku-4-5': anthropic(['1', '0.1', '1.25', '5']),
  'claude-haiku-3-5': mosaic(['0.8', '0.08', '1', '4']),
  'gpt-6-astra': openai(['10', '1', '12.5', '50']),
  'gpt-5.6-sol': openai(['4', '0.4', '5', '20']),
  'gpt-5.6-terra': openai(['2', '0.2', '2.5', '12']),
  'gpt-5.6-luna': openai(['0.2', '0.02', '0.25', '1.2']),
  'gpt-5.5': openai(['5', '0.5', null, '30']),
  'gpt-5.4': openai(['2.5', '0.25', null, '15']),
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
  'gemini-3.1-pro-preview': google(['2', '0.2', null, '12']),
  'gemini-3-flash-preview': google(['0.5', '0.05', null, '3']),
  'gemini-2.5-pro': google(['1.25', '0.125', null, '10']),
  'gemini-2.5-flash': google(['0.3', '0.03', null, '2.5']),
  'gemini-2.5-flash-lite': google(['0.1', '0.01', null, '0.4']),
}

/** What the agent CLIs take as a model without a version, and what that stood for when the prices were seen. */
export const ALIASES: Readonly<Record<string, string>> = {
  fable: 'claude-fable-5-1',
  opus: 'claude-opus-5-5',
  sonnet: 'claude-sonnet-5-5',
  haiku: 'claude-haiku-5-5',
  'claude-opus-4-0': 'claude-opus-4',
  'claude-sonnet-4-0': 'claude-sonnet-4',
  'claude-3-5-haiku': 'claude-haiku-3-5',
}

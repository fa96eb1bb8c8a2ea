import type { AnswerTo } from '../../../../src/client/client.ts'

/** Prices of models as they are written and shown: dollars for a million tokens. Pure. */

export type Price = AnswerTo<'GET', '/prices'>['items'][number]

export const RATES = ['input', 'cachedInput', 'cacheWrite', 'cacheWrite1h', 'output'] as const
export type Rate = (typeof RATES)[number]

export const RATE_WORDS: Record<Rate, { label: string; column: string; usual: string }> = {
  input: { label: 'Input', column: 'In', usual: '' },
  cachedInput: { label: 'Input from the cache', column: 'Cached', usual: 'as input' },
  cacheWrite: { label: 'Written to the cache', column: 'Cache write', usual: 'as input' },
  cacheWrite1h: { label: 'Written for an hour', column: 'For an hour', usual: 'as written' },
  output: { label: 'Output', column: 'Out', usual: '' },
}

export type PriceDraft = { model: string } & Record<Rate, string>

export const NEW_PRICE: PriceDraft = {
  ...{ model: '', input: '', cachedInput: '', cacheWrite: '', cacheWrite1h: '', output: '' },
}

export const draftOf = ({
  model,
  input,
  cachedInput,
  cacheWrite,
  cacheWrite1h,
  output,
}: Price): PriceDraft => ({
  ...{ model, input, cachedInput, output },
  cacheWrite: cacheWrite ?? '',
  cacheWrite1h: cacheWrite1h ?? '',
})

const isRate = (text: string) => /^\d{1,6}(\.\d{1,12})?$/.test(text)

/** What is wrong with a price as it is written, by field. */
export function priceProblems(draft: PriceDraft): Partial<Record<keyof PriceDraft, string>> {
  const problems: Partial<Record<keyof PriceDraft, string>> = {}
  for (const rate of RATES)
    if (draft[rate] !== '' && !isRate(draft[rate])) problems[rate] = 'Write dollars, such as 2.50.'
  if (draft.model !== '' && !/^[\x21-\x7e]{1,200}$/.test(draft.model))
    problems.model = 'A model has no spaces in its name.'
  return problems
}

/** What keeps it from being sent; null: nothing. */
export function missingIn(draft: PriceDraft): string | null {
  const [problem] = Object.values(priceProblems(draft))
  if (problem) return problem
  if (draft.model === '') return 'Name the model.'
  return draft.input === '' || draft.output === '' ? 'Input and output need a price.' : null
}

/** As the API takes it. What long requests cost stays as it was. */
export const bodyOf = (draft: PriceDraft, before: Price | undefined) => ({
  ...{ input: draft.input, output: draft.output },
  ...(draft.cachedInput !== '' && { cachedInput: draft.cachedInput }),
  cacheWrite: draft.cacheWrite === '' ? null : draft.cacheWrite,
  cacheWrite1h: draft.cacheWrite1h === '' ? null : draft.cacheWrite1h,
  longContext: before?.longContext ?? null,
})

/** Those of this workspace first; then by name. */
export const inOrder = (prices: readonly Price[]): Price[] =>
  [...prices].sort(
    (a, b) =>
      Number(b.setBy === 'workspace') - Number(a.setBy === 'workspace') || a.model.localeCompare(b.model),
  )

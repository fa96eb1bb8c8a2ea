import { expect, test } from 'vitest'
import { efficiencyOf } from '../../../src/kinds/usage/rules/efficiency.ts'

const done = { insertions: 60, deletions: 40, inputTokens: 20_000, outputTokens: 10_000 }

test('a hundred changed lines may take twice 15,000 tokens, and not one more', () => {
  expect(efficiencyOf(done, null)).toEqual({
    ...{ changedLines: 100, expectedTokens: 15_000, tokensUsed: 30_000, efficiency: 0.5, isLow: false },
  })
  expect(efficiencyOf({ ...done, outputTokens: 10_001 }, null)).toMatchObject({
    efficiency: 0.5,
    isLow: true,
  })
})

test('a project may say how many tokens a line may take', () => {
  expect(efficiencyOf(done, 300)).toMatchObject({ expectedTokens: 30_000, efficiency: 1, isLow: false })
  expect(efficiencyOf(done, 15)).toMatchObject({ efficiency: 0.05, isLow: true })
})

test('work that changed nothing is not efficient, and of unknown usage nothing is said', () => {
  expect(efficiencyOf({ ...done, insertions: 0, deletions: 0 }, null)).toMatchObject({
    efficiency: 0,
    isLow: true,
  })
  expect(efficiencyOf({ ...done, inputTokens: 0, outputTokens: 0 }, null)).toBeNull()
})

import { describe, expect, test } from 'vitest'
import { costOf } from '../../../src/kinds/run/prices/cost.ts'
import { modelOfTier, tierOf } from '../../../src/kinds/run/rules/tiers.ts'

const task = { priority: 5, taskType: 'coding' }

describe('the tier of a task', () => {
  test.each([
    ['critical: priority 9', { priority: 9 }, 'large'],
    ['critical: priority 10, though it is small', { priority: 10, estimatedTokens: 100 }, 'large'],
    ['not critical: priority 8', { priority: 8 }, 'medium'],
    ['complexity above 8', { complexity: 9, taskType: 'boilerplate' }, 'large'],
    ['complexity 8', { complexity: 8 }, 'medium'],
    ['boilerplate, however many tokens', { taskType: 'boilerplate', estimatedTokens: 50_000 }, 'small'],
    ['less than 10,000 tokens', { estimatedTokens: 9_999 }, 'small'],
    ['10,000 tokens', { estimatedTokens: 10_000 }, 'medium'],
    ['a complexity that is estimated below 10,000 tokens', { complexity: 5 }, 'small'],
    ['a complexity that is estimated above 10,000 tokens', { complexity: 6 }, 'medium'],
    [
      'an estimate that somebody made, whatever the complexity',
      { complexity: 5, estimatedTokens: 20_000 },
      'medium',
    ],
    ['nothing said', {}, 'medium'],
  ] as const)('with %s', (_what, set, tier) => {
    expect(tierOf({ ...task, ...set })).toBe(tier)
  })
})

describe('the model of a tier', () => {
  test('is off until it is named, tier by tier', () => {
    expect(modelOfTier(task, null)).toBeNull()
    expect(modelOfTier(task, { small: 'a' })).toBeNull()
    expect(modelOfTier(task, { small: 'a', medium: 'b' })).toBe('b')
  })

  test('saves more than 40 % on a mixed plan, against the large one for all', () => {
    const tiers = { small: 'claude-haiku-4-5', medium: 'claude-sonnet-4-5', large: 'claude-opus-4-5' }
    const plan = [
      ...Array.from({ length: 4 }, () => ({ ...task, taskType: 'boilerplate' })),
      ...Array.from({ length: 5 }, () => task),
      { ...task, priority: 10 },
    ]
    const used = { input: 80_000, output: 20_000 }
    const costs = (modelOf: (one: (typeof plan)[number]) => string) =>
      plan.reduce((sum, one) => sum + Number(costOf(modelOf(one), used)), 0)
    const all = costs(() => tiers.large)
    expect(1 - costs((one) => modelOfTier(one, tiers)!) / all).toBeGreaterThan(0.4)
  })
})

import { describe, expect, test } from 'vitest'
import type { ModelTierRecord, NamedTiers } from '../../../src/kinds/model-tier/record.ts'
import { decideModelTiers } from '../../../src/kinds/model-tier/rules.ts'

const NOON = Date.parse('2026-05-04T12:00:00Z')
const NONE: NamedTiers = { small: null, medium: null, large: null }
const decide = (before: ModelTierRecord | null, tiers: Partial<NamedTiers>, count = 0) =>
  decideModelTiers(
    before,
    'claude_local',
    { kind: 'set', tiers: { ...NONE, ...tiers } },
    { now: NOON, origin: { actor: 'key:1' }, count },
  )

describe('the tiers of a workspace', () => {
  test('are replaced as a whole and told by an event; the same again changes nothing', () => {
    const { record, events } = decide(null, { small: 'haiku', large: 'opus' })
    expect(record).toEqual({
      ...{ adapterType: 'claude_local', small: 'haiku', medium: null, large: 'opus' },
      changedAt: NOON,
    })
    expect(events).toMatchObject([{ type: 'model_tiers_changed', payload: { small: 'haiku', medium: null } }])
    expect(decide(record, { small: 'haiku', large: 'opus' })).toMatchObject({ record, events: [] })
    expect(decide(record, { medium: 'sonnet' }).record).toMatchObject({ small: null, medium: 'sonnet' })
  })

  test('are gone when none is named, and there may be those of 200 adapters', () => {
    const { record } = decide(null, { small: 'haiku' })
    expect(decide(record, {})).toMatchObject({ record: null, events: [{ type: 'model_tiers_changed' }] })
    expect(decide(null, {})).toMatchObject({ refusal: null, record: null, events: [] })
    expect(decide(null, { small: 'a' }, 200).refusal?.code).toBe('LIMIT_REACHED')
    expect(decide(record, { small: 'b' }, 200).refusal).toBeNull()
  })
})

import { type Refusal, refuse } from '../../pure/errors.ts'
import { type EventDraft, type Origin, workspaceEvent } from '../events.ts'
import type { ModelTierRecord, NamedTiers } from './record.ts'

/** Those that were there are replaced. Without any, the adapter has no tiers. */
export interface ModelTierCommand {
  kind: 'set'
  tiers: NamedTiers
}

interface ModelTierContext {
  now: number
  origin: Origin
  /** How many adapters have tiers. */
  count: number
}

interface ModelTierDecision {
  refusal: Refusal | null
  /** Null: there are none. */
  record: ModelTierRecord | null
  events: EventDraft[]
}

/** More than any server has: the list is one answer. */
const MOST_ADAPTERS = 200

export function decideModelTiers(
  before: ModelTierRecord | null,
  adapterType: string,
  { tiers }: ModelTierCommand,
  { now, origin, count }: ModelTierContext,
): ModelTierDecision {
  const { small, medium, large } = tiers
  const named = { small, medium, large }
  const isNone = small === null && medium === null && large === null
  if (isNone ? before === null : before !== null && isSame(before, named))
    return { refusal: null, record: before, events: [] }
  if (!before && count >= MOST_ADAPTERS)
    return {
      refusal: refuse('LIMIT_REACHED', `A workspace may name models for ${MOST_ADAPTERS} adapters.`),
      ...{ record: before, events: [] },
    }
  const event = workspaceEvent('model_tiers_changed', { adapterType, ...named }, { ...origin, now })
  return {
    refusal: null,
    record: isNone ? null : { adapterType, ...named, changedAt: now },
    events: [event],
  }
}

const isSame = (a: NamedTiers, b: NamedTiers) =>
  a.small === b.small && a.medium === b.medium && a.large === b.large

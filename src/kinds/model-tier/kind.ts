import type { Kind } from '../kind.ts'
import type { KindGranted } from '../replies.ts'
import type { ModelTierRecord } from './record.ts'
import { decideModelTiers, type ModelTierCommand } from './rules.ts'

export interface ModelTierTypes {
  record: ModelTierRecord
  command: ModelTierCommand
  granted: KindGranted
  extra: object
}

declare module '../kind.ts' {
  interface KindTypes {
    modelTier: ModelTierTypes
  }
}

/** There were none, and there are none. */
const NO_TIERS = {}

/** The models that a workspace has named for tasks by their size. */
export const modelTierKind: Kind<ModelTierTypes> = {
  keyOf: ({ adapterType }) => adapterType,
  holderOf: () => null,
  mayHoldBeforeItExists: false,
  counts: () => false,
  decide: (before, { key: adapterType }, command, { now, origin, all }) => ({
    ...decideModelTiers(before, adapterType, command, { now, origin, count: all().length }),
    settle: () => null,
  }),
  granted: ({ record, before }) => ({
    ...{ ok: true, reason: 'DONE', record: record ?? before ?? NO_TIERS, isNew: before === null },
  }),
}

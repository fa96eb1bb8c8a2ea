import { instant, orNull, type RecordOf, text } from '../../pure/fields.ts'

/** The models that a workspace has named for small, medium and large tasks: by adapter, since each has models of its own. */
export const MODEL_TIER_FIELDS = {
  adapterType: text(),
  /** Null: not named. */
  small: orNull(text()),
  medium: orNull(text()),
  large: orNull(text()),
  changedAt: instant(),
}

export interface ModelTierRecord extends RecordOf<typeof MODEL_TIER_FIELDS> {}
export type NamedTiers = Pick<ModelTierRecord, 'small' | 'medium' | 'large'>

import type { AlertCause } from '../alert/causes.ts'
import type { Kind } from '../kind.ts'
import type { KindGranted } from '../replies.ts'
import type { ThresholdRecord } from './record.ts'
import { decideThreshold, type ThresholdCommand } from './rules.ts'

export interface ThresholdTypes {
  record: ThresholdRecord
  command: ThresholdCommand
  granted: KindGranted & { readonly record: ThresholdRecord }
  extra: object
}

declare module '../kind.ts' {
  interface KindTypes {
    threshold: ThresholdTypes
  }
}

/** Thresholds of alerts that a workspace has set. */
export const thresholdKind: Kind<ThresholdTypes> = {
  keyOf: ({ cause }) => cause,
  holderOf: () => null,
  mayHoldBeforeItExists: false,
  counts: () => false,
  decide: (before, { key }, command, { now, origin }) => ({
    ...decideThreshold(before, key as AlertCause, command, { now, origin }),
    settle: () => null,
  }),
  granted: ({ record, before }) => ({
    ...{ ok: true, reason: 'DONE', record: (record ?? before)!, isNew: before === null },
  }),
}

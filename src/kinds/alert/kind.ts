import type { Kind } from '../kind.ts'
import type { KindGranted } from '../replies.ts'
import type { AlertRecord } from './record.ts'
import { type AlertCommand, decideAlert } from './rules/decide.ts'

export interface AlertTypes {
  record: AlertRecord
  command: AlertCommand
  granted: KindGranted & { readonly record: AlertRecord }
  extra: object
}

declare module '../kind.ts' {
  interface KindTypes {
    alert: AlertTypes
  }
}

/** Alerts. The id of one follows from its cause, its subject and how often that was raised. */
export const alertKind: Kind<AlertTypes> = {
  keyOf: ({ alertId }) => alertId,
  holderOf: () => null,
  mayHoldBeforeItExists: false,
  counts: () => false,
  decide: (before, { key }, command, { now, origin }) => ({
    ...decideAlert(before, key, command, { now, origin }),
    settle: () => null,
  }),
  granted: ({ record, before }) => ({
    ...{ ok: true, reason: 'DONE', record: (record ?? before)!, isNew: before === null },
  }),
}

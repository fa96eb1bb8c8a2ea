import type { Kind } from '../kind.ts'
import type { KindGranted } from '../replies.ts'
import type { HookDeliveryRecord } from './record.ts'
import { decideHookDelivery, type HookDeliveryCommand, routineOf, tasksOf } from './rules.ts'

export interface HookDeliveryTypes {
  record: HookDeliveryRecord
  command: HookDeliveryCommand
  granted: KindGranted & { readonly record: HookDeliveryRecord }
  extra: object
}

declare module '../kind.ts' {
  interface KindTypes {
    hookDelivery: HookDeliveryTypes
  }
}

/** Deliveries to hooks. What one makes is created in its transaction, so that no delivery is done twice or in part. */
export const hookDeliveryKind: Kind<HookDeliveryTypes> = {
  keyOf: ({ key }) => key,
  holderOf: () => null,
  mayHoldBeforeItExists: false,
  counts: () => false,
  decide: (before, identity, command, { now, origin }) => ({
    ...decideHookDelivery(before, identity, command, { now, origin }),
    settle: () => null,
  }),
  granted: ({ record, before }) => ({
    ...{ ok: true, reason: 'DONE', record: record!, isNew: before === null },
  }),
  tasksIn: tasksOf,
  alsoIn: routineOf,
}

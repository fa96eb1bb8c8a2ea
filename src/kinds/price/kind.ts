import type { Kind } from '../kind.ts'
import type { KindGranted } from '../replies.ts'
import type { PriceRecord } from './record.ts'
import { decidePrice, type PriceCommand } from './rules.ts'

export interface PriceTypes {
  record: PriceRecord
  command: PriceCommand
  granted: KindGranted & { readonly record: PriceRecord }
  extra: object
}

declare module '../kind.ts' {
  interface KindTypes {
    price: PriceTypes
  }
}

/** Prices of models that a workspace has set. */
export const priceKind: Kind<PriceTypes> = {
  keyOf: ({ model }) => model,
  holderOf: () => null,
  mayHoldBeforeItExists: false,
  counts: () => false,
  decide: (before, { key: model }, command, { now, origin, all }) => ({
    ...decidePrice(before, model, command, { now, origin, count: all().length }),
    settle: () => null,
  }),
  granted: ({ record, before }) => ({
    ...{ ok: true, reason: 'DONE', record: (record ?? before)!, isNew: before === null },
  }),
}

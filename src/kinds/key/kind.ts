import { secretWasGiven } from '../../pure/repeated.ts'
import type { Kind } from '../kind.ts'
import type { KindGranted } from '../replies.ts'
import type { KeyRecord } from './record.ts'
import { decideKey, type KeyCommand } from './rules.ts'

export interface KeyTypes {
  record: KeyRecord
  command: KeyCommand
  granted: KindGranted & {
    readonly record: KeyRecord
    /** Keys that were revoked with it. */
    readonly others: readonly string[]
  }
  extra: object
}

declare module '../kind.ts' {
  interface KindTypes {
    key: KeyTypes
  }
}

/** Keys of the API. Commands on one see all keys of the workspace. */
export const keyKind: Kind<KeyTypes> = {
  keyOf: ({ keyId }) => keyId,
  holderOf: () => null,
  mayHoldBeforeItExists: false,
  counts: () => false,
  decide(before, { key }, command, { now, origin, all }) {
    const standing = all().filter(({ revokedAt }) => revokedAt === null)
    const { others, ...decision } = decideKey(before, key, command, { now, origin, standing })
    return { ...decision, settle: () => null, others: { written: others, removed: [] } }
  },
  granted: ({ record, before, others }) => ({
    ...{ ok: true, reason: 'DONE', record: record!, isNew: before === null },
    others: (others?.written ?? []).map(({ keyId }) => keyId),
  }),
  repeated: ({ record }) => secretWasGiven(`key ${record.keyId}`),
}

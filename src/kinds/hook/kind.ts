import { secretWasGiven } from '../../pure/repeated.ts'
import type { Kind } from '../kind.ts'
import type { KindGranted } from '../replies.ts'
import type { HookRecord } from './record.ts'
import { decideHook, type HookCommand } from './rules.ts'

export interface HookTypes {
  record: HookRecord
  command: HookCommand
  granted: KindGranted & { readonly record: HookRecord }
  extra: object
}

declare module '../kind.ts' {
  interface KindTypes {
    hook: HookTypes
  }
}

/** Replies are stored under idempotency keys: whoever made a secret knows it. */
const withoutSecrets = (record: HookRecord): HookRecord => ({ ...record, secret: '', previousSecret: null })

/** Hooks: addresses that other programs call. Commands on one see all hooks of the workspace. */
export const hookKind: Kind<HookTypes> = {
  keyOf: ({ hookId }) => hookId,
  holderOf: () => null,
  mayHoldBeforeItExists: false,
  counts: () => false,
  decide: (before, { key }, command, { now, origin, all }) => ({
    ...decideHook(before, key, command, {
      ...{ now, origin },
      standing: all().filter(({ removedAt }) => removedAt === null),
    }),
    settle: () => null,
  }),
  granted: ({ record, before }) => ({
    ...{ ok: true, reason: 'DONE', record: withoutSecrets(record!), isNew: before === null },
  }),
  repeated: ({ record }, { kind }) =>
    kind === 'create' || kind === 'rotate' ? secretWasGiven(`a secret of the hook ${record.hookId}`) : null,
}

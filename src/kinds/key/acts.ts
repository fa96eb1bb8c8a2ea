import type { ServerKernel } from '../../door/server-kernel.ts'
import { type Caller, granted } from '../../kernel/kernel.ts'
import { type NewKey, newKey } from '../../kernel/store/new-key.ts'
import type { ApiKey } from './postgres.ts'
import type { KeyHolder } from './rules.ts'

/** Run tokens have no right to these. */
const holder = ({ keyId, rights }: Caller): KeyHolder => ({ keyId: keyId!, rights })

/** A new key, and its secret, which is in this answer alone. */
export async function createKey(
  kernel: ServerKernel,
  caller: Caller,
  wanted: NewKey,
): Promise<ApiKey & { key: string }> {
  const { secret, request } = newKey(wanted, holder(caller))
  const { record } = granted(await kernel.run(caller, request))
  return { ...record, workspaceId: caller.workspaceId, key: secret }
}

/** Revokes a key and the keys that depend on it; returns the ids of all revoked keys. */
export async function revokeKey(kernel: ServerKernel, caller: Caller, keyId: string): Promise<string[]> {
  const command = { kind: 'revoke', by: holder(caller) } as const
  const { others } = granted(await kernel.run(caller, { on: 'key', key: keyId, uuid: keyId, command }))
  return [keyId, ...others]
}

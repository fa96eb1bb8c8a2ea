import { createHash, randomBytes, randomInt } from 'node:crypto'
import type { KeyHolder } from '../../kinds/key/rules.ts'
import { uuidCarrying } from '../../pure/ids.ts'
import type { Right, Role } from '../../pure/rights.ts'
import type { OnRecord } from '../batch/requests.ts'

export interface NewKey {
  name: string
  role: Role
  scopes?: readonly Right[] | undefined
  expiresAt?: number | undefined
  instanceAdmin?: boolean | undefined
  agent?: string | undefined
  /** A key that was generated earlier, before it could be stored; otherwise a new one is generated. */
  secret?: string
}

export const newSecret = () => `baton_${randomBytes(32).toString('base64url')}`

/** 256 random bits, for what is not a key: links, tickets, and the two parts of a session. */
export const newToken = () => randomBytes(32).toString('base64url')

export const hashOf = (secret: string) => createHash('sha256').update(secret).digest()

/** The secret of a new key, and the request for it: only its hash is stored. `by` is null for keys that no key makes. */
export function newKey(
  { name, role, scopes, expiresAt, instanceAdmin, agent, secret = newSecret() }: NewKey,
  by: KeyHolder | null,
): { secret: string; request: OnRecord<'key'> } {
  const keyId = uuidCarrying(randomInt(2 ** 47), Date.now(), randomInt(2 ** 22))
  const key = {
    ...{ name, role, scopes: scopes ? [...scopes] : null, instanceAdmin: instanceAdmin ?? false },
    ...{ agent: agent ?? null, expiresAt: expiresAt ?? null },
    hash: hashOf(secret).toString('hex'),
    prefix: secret.slice(0, 12),
  }
  return { secret, request: { on: 'key', key: keyId, uuid: keyId, command: { kind: 'create', key, by } } }
}

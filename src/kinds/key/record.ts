import { fields } from '../../pure/fields.ts'
import type { Right, Role } from '../../pure/rights.ts'

/** A key of the API. Of the secret only its hash is known. */
export interface KeyRecord {
  keyId: string
  name: string
  /** SHA-256 of the secret. */
  hash: string
  /** The beginning of the secret, for people. */
  prefix: string
  role: Role
  scopes: Right[] | null
  instanceAdmin: boolean
  /** The slug of the only agent that it may act as; null: it is bound to none. */
  agent: string | null
  /** The key that created it; null when none of this workspace did. */
  createdBy: string | null
  createdAt: number
  expiresAt: number | null
  revokedAt: number | null
}

export const KEY_FIELDS = fields<KeyRecord>({
  keyId: 'uuid',
  name: 'text',
  hash: ['bytes', 'key_hash'],
  prefix: 'text',
  role: 'text',
  scopes: 'texts',
  instanceAdmin: 'boolean',
  agent: 'text',
  createdBy: 'uuid',
  createdAt: 'instant',
  expiresAt: 'instant',
  revokedAt: 'instant',
})

import { boolean, bytes, instant, orNull, type RecordOf, text, texts, uuid } from '../../pure/fields.ts'
import type { Right, Role } from '../../pure/rights.ts'

/** A key of the API. Of the secret only its hash is known. */
export const KEY_FIELDS = {
  keyId: uuid(),
  name: text(),
  /** SHA-256 of the secret. */
  hash: bytes('key_hash'),
  /** The beginning of the secret, for people. */
  prefix: text(),
  role: text<Role>(),
  scopes: orNull(texts<Right[]>()),
  instanceAdmin: boolean(),
  /** The slug of the only agent that it may act as; null: it is bound to none. */
  agent: orNull(text()),
  /** The key that created it; null when none of this workspace did. */
  createdBy: orNull(uuid()),
  createdAt: instant(),
  expiresAt: orNull(instant()),
  revokedAt: orNull(instant()),
}

export interface KeyRecord extends RecordOf<typeof KEY_FIELDS> {}

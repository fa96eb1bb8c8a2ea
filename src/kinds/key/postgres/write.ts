import { revokedNotices } from '../../../postgres/connection/notices.ts'
import { plainKind } from '../../../postgres/statements/plain-kind.ts'
import { plainRows } from '../../../postgres/statements/plain-rows.ts'
import type { StoredKind } from '../../../postgres/statements/stored-kind.ts'
import { KEY_FIELDS } from '../record.ts'

/** For the first key of a new workspace. */
export const keyRows = plainRows('api_keys', KEY_FIELDS)

const rows = plainKind('key', {
  table: 'api_keys',
  fields: KEY_FIELDS,
  may: 'select, insert, update',
  // All that are not revoked: two owners cannot revoke each other, and what a revoked key made is found.
  reads: 'r.revoked_at is null',
})

/** Keys of the API. All nodes are told of those that are revoked. */
export const storedKeys: StoredKind<'key'> = {
  ...rows,
  write(workspaceId, view, changes) {
    const revoked = changes.kinds.key.written.filter(({ revokedAt }) => revokedAt !== null)
    return [...rows.write(workspaceId, view, changes), ...revokedNotices(revoked.map(({ keyId }) => keyId))]
  },
}

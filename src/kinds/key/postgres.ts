import type pg from 'pg'
import { hashOf, type NewKey, newKey } from '../../kernel/store/new-key.ts'
import { runAlone } from '../../kernel/store/run-alone.ts'
import { StoreUnavailable, type Transactor } from '../../kernel/store/store.ts'
import type { Connections } from '../../postgres/statements/connections.ts'
import { plainKind } from '../../postgres/statements/plain-kind.ts'
import { plainRows } from '../../postgres/statements/plain-rows.ts'
import { revokedNotices } from '../../postgres/statements/revoked-notices.ts'
import { inside, scopedQuery } from '../../postgres/statements/scoped-query.ts'
import type { StoredKind } from '../../postgres/statements/stored-kind.ts'
import type { Origin } from '../events.ts'
import type { KindName } from '../kind.ts'
import { KEY_FIELDS, type KeyRecord } from './record.ts'

export interface ApiKey extends Omit<KeyRecord, 'hash'> {
  workspaceId: number
}

/** For the first key of a new workspace. */
export const keyRows = plainRows('api_keys', KEY_FIELDS)

/** Of keys k, without the hash. */
export const KEY_COLUMNS = `${keyRows.named('k', ['hash'])}, k.workspace_id as "workspaceId"`

/** Creates a key that no key makes: for starts. */
export async function createKey(
  store: Transactor<KindName>,
  workspaceId: number,
  wanted: NewKey,
  origin: Origin,
): Promise<ApiKey & { key: string }> {
  const { secret, request } = newKey(wanted, null)
  const { record } = await runAlone(store, workspaceId, { ...request, actor: origin.actor, origin })
  return { ...record, workspaceId, key: secret }
}

/** A key in a list, with when it was last used: by a program, or in a browser. */
export type ListedKey = ApiKey & { lastUsedAt: number | null }

export const listKeys = (pool: pg.Pool, workspaceId: number) =>
  inside<ListedKey & pg.QueryResultRow>(
    pool,
    workspaceId,
    `select ${KEY_COLUMNS}, ms(greatest(k.last_used_at, (select max(s.last_seen_at) from browser_sessions s
        where s.workspace_id = $1 and s.key_id = k.key_id))) as "lastUsedAt"
       from api_keys k where workspace_id = $1 order by created_at, key_id`,
  )

/** Written at most once a minute. */
const IS_STALE = `(k.last_used_at is null or k.last_used_at < clock_timestamp() - interval '1 minute')`

/** Notes that a key or a session is in use. Nobody is kept out because that cannot be written now: a full disk can still be read. */
export async function noteUse(writers: pg.Pool, workspaceId: number, text: string, values: unknown[]) {
  await inside(writers, workspaceId, text, values).catch((error: unknown) => {
    if (!(error instanceof StoreUnavailable)) throw error
  })
}

/** The key of a request, if it is valid now; and notes that it is in use. */
export async function findKeyInUse({ readers, writers }: Connections, key: string) {
  const found = await findKey(readers, key)
  if (found?.isStale)
    await noteUse(
      writers,
      found.workspaceId,
      `update api_keys k set last_used_at = clock_timestamp() where k.workspace_id = $1 and k.key_id = $2 and ${IS_STALE}`,
      [found.keyId],
    )
  return found
}

/** Names by id, of those that are keys of this workspace. */
export async function namesOfKeys(
  pool: pg.Pool,
  workspaceId: number,
  keyIds: readonly string[],
): Promise<Map<string, string>> {
  const text = 'select key_id as id, name from api_keys where workspace_id = $1 and key_id = any($2::uuid[])'
  const rows = await inside<{ id: string; name: string }>(pool, workspaceId, text, [keyIds])
  return new Map(rows.map(({ id, name }) => [id, name]))
}

type FoundKey = ApiKey & { leftMs: number | null; isStale: boolean }

/** The key with this secret, if it is valid now. The row policy shows only the row with this hash. */
export async function findKey(pool: pg.Pool, key: string): Promise<FoundKey | null> {
  const [found] = await scopedQuery<FoundKey>(pool, 'baton.key_hash', hashOf(key).toString('hex'), {
    text: `select ${KEY_COLUMNS}, (extract(epoch from expires_at - clock_timestamp()) * 1000)::float8 as "leftMs", ${IS_STALE} as "isStale" from api_keys k
      where revoked_at is null and (expires_at is null or expires_at > clock_timestamp())`,
  })
  return found ?? null
}

const rows = plainKind('key', {
  rows: keyRows,
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

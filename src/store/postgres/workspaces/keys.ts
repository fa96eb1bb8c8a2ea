import { createHash, randomBytes, randomInt } from 'node:crypto'
import type pg from 'pg'
import { Refused } from '../../../core/errors.ts'
import type { Origin } from '../../../core/events.ts'
import { uuidCarrying } from '../../../core/ids.ts'
import type { Right, Role } from '../../../core/rights.ts'
import {
  endsItsChildren,
  expiryOfChild,
  refuseNewKey,
  refuseRevocation,
} from '../../../core/rules/api-key.ts'
import { notifyRevoked } from '../connection/notices.ts'
import type { Connections } from '../kernel/connections.ts'
import { inside, scopedQuery } from '../kernel/scoped-query.ts'
import type { WorkspaceTransaction } from '../kernel/workspace-transaction.ts'

export interface ApiKey {
  workspaceId: number
  keyId: string
  name: string
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

export interface NewKey {
  name: string
  role: Role
  scopes?: readonly Right[] | undefined
  expiresAt?: number | undefined
  instanceAdmin?: boolean
  agent?: string | undefined
  /** A key that was generated earlier, before it could be stored; otherwise a new one is generated. */
  secret?: string
}

/** The key that creates or revokes a key, when it belongs to the same workspace. */
export interface KeyHolder extends Origin {
  keyId: string
  rights: ReadonlySet<Right>
}

export const newSecret = () => `baton_${randomBytes(32).toString('base64url')}`

export const hashOf = (key: string) => createHash('sha256').update(key).digest()

export const KEY_COLUMNS = `k.key_id as "keyId", k.name, k.prefix, k.role, k.scopes, k.instance_admin as "instanceAdmin", k.agent,
  k.created_by as "createdBy", ms(k.created_at) as "createdAt", ms(k.expires_at) as "expiresAt", ms(k.revoked_at) as "revokedAt",
  k.workspace_id as "workspaceId"`

const noLonger = () => new Refused('UNAUTHENTICATED', 'This key has been revoked or has expired.')

/** Creates a key. The secret is only in the answer: the database stores its hash. */
export async function createKey(
  store: Connections,
  workspaceId: number,
  key: NewKey,
  by: KeyHolder | Origin,
) {
  const secret = key.secret ?? newSecret()
  const keyId = uuidCarrying(randomInt(2 ** 47), Date.now(), randomInt(2 ** 22))
  const made = await store.change(workspaceId, async (tx) => {
    const maker = 'rights' in by ? await makerUnderLock(tx, workspaceId, by, key) : null
    const wanted = key.expiresAt ?? null
    const { rows } = await tx.query(
      `insert into api_keys as k (workspace_id, key_id, name, key_hash, prefix, role, scopes, instance_admin, agent, expires_at, created_by)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, to_timestamp($10::double precision / 1000), $11) returning ${KEY_COLUMNS}`,
      [
        workspaceId,
        keyId,
        key.name,
        hashOf(secret),
        secret.slice(0, 12),
        key.role,
        key.scopes ?? null,
        key.instanceAdmin ?? false,
        key.agent ?? null,
        maker ? expiryOfChild(maker, wanted) : wanted,
        maker?.keyId ?? null,
      ],
    )
    const { name, role, agent } = key
    tx.emit('key_created', by, { keyId, name, role, ...(agent !== undefined && { agent }) })
    return rows[0] as ApiKey
  })
  return { key: secret, ...made }
}

/** Locked until the new key is inserted: a concurrent revocation of the creator waits, and then finds what it created. */
async function makerUnderLock(
  tx: WorkspaceTransaction,
  workspaceId: number,
  by: KeyHolder,
  wanted: NewKey,
): Promise<ApiKey> {
  const refusal = refuseNewKey(by.rights, wanted)
  if (refusal) throw Refused.because(refusal)
  const { rows } = await tx.query(
    `select ${KEY_COLUMNS} from api_keys k where k.workspace_id = $1 and k.key_id = $2 and k.revoked_at is null
        and (k.expires_at is null or k.expires_at > clock_timestamp()) for share`,
    [workspaceId, by.keyId],
  )
  if (rows.length === 0) throw noLonger()
  return rows[0]
}

export const listKeys = (pool: pg.Pool, workspaceId: number) =>
  inside<ApiKey & pg.QueryResultRow>(
    pool,
    workspaceId,
    `select ${KEY_COLUMNS} from api_keys k where workspace_id = $1 order by created_at, key_id`,
  )

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

/** Revokes a key and the keys that depend on it; returns the ids of all revoked keys. */
export async function revokeKey(
  store: Connections,
  workspaceId: number,
  keyId: string,
  by: KeyHolder,
): Promise<string[]> {
  return store.change(workspaceId, async (tx) => {
    // Locks all keys of the workspace, so that two owners cannot revoke each other at the same time.
    const { rows } = await tx.query(
      `select ${KEY_COLUMNS}, coalesce(expires_at <= clock_timestamp(), false) as "isExpired"
         from api_keys k where workspace_id = $1 and revoked_at is null order by key_id for update`,
      [workspaceId],
    )
    const standing = rows as (ApiKey & { isExpired: boolean })[]
    if (!standing.some((one) => one.keyId === by.keyId && !one.isExpired)) throw noLonger()
    const key = standing.find((one) => one.keyId === keyId)
    if (!key) throw new Refused('NOT_FOUND', `There is no key ${keyId} in this workspace.`)
    const refusal = refuseRevocation(by.rights, key, standing)
    if (refusal) throw Refused.because(refusal)
    const revoked = await revokeWhere(tx, workspaceId, by, null, 'key_id = any($2::uuid[])', [keyId])
    // Level by level: a key that was created while we waited for its creator's lock is seen by the next statement.
    for (let makers = endsItsChildren(key) ? revoked : []; makers.length > 0; ) {
      makers = await revokeWhere(tx, workspaceId, by, keyId, 'created_by = any($2::uuid[])', makers)
      revoked.push(...makers)
    }
    await notifyRevoked(tx, revoked)
    return revoked
  })
}

async function revokeWhere(
  tx: WorkspaceTransaction,
  workspaceId: number,
  by: Origin,
  endedWith: string | null,
  which: string,
  keyIds: readonly string[],
): Promise<string[]> {
  const { rows } = await tx.query(
    `update api_keys set revoked_at = clock_timestamp()
      where workspace_id = $1 and ${which} and revoked_at is null returning key_id as "keyId", name`,
    [workspaceId, keyIds],
  )
  for (const { keyId, name } of rows) tx.emit('key_revoked', by, { keyId, name, endedWith })
  return rows.map(({ keyId }) => keyId)
}

/** The key of a request, if it is valid now. The row policy shows only the row with this hash. */
export async function findKey(
  pool: pg.Pool,
  key: string,
): Promise<(ApiKey & { leftMs: number | null }) | null> {
  const [found] = await scopedQuery<ApiKey & { leftMs: number | null }>(
    pool,
    'baton.key_hash',
    hashOf(key).toString('hex'),
    {
      text: `select ${KEY_COLUMNS}, (extract(epoch from expires_at - clock_timestamp()) * 1000)::float8 as "leftMs" from api_keys k
      where revoked_at is null and (expires_at is null or expires_at > clock_timestamp())`,
    },
  )
  return found ?? null
}

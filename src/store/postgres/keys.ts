import { createHash, randomBytes, randomInt } from 'node:crypto'
import type pg from 'pg'
import { uuidCarrying } from '../../core/ids.ts'
import type { Right, Role } from '../../core/shapes/administration.ts'
import { scopedQuery } from './scoped-query.ts'
import { inWorkspace, type WorkspaceTransaction } from './workspace-transaction.ts'

export interface ApiKey {
  workspaceId: number
  keyId: string
  name: string
  prefix: string
  role: Role
  scopes: Right[] | null
  instanceAdmin: boolean
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
  /** A key that was made before it could be stored; else a new one is made. */
  secret?: string
}

export const newSecret = () => `baton_${randomBytes(32).toString('base64url')}`

const hashOf = (key: string) => createHash('sha256').update(key).digest()

const KEY_COLUMNS = `k.key_id as "keyId", k.name, k.prefix, k.role, k.scopes, k.instance_admin as "instanceAdmin",
  ms(k.created_at) as "createdAt", ms(k.expires_at) as "expiresAt", ms(k.revoked_at) as "revokedAt",
  k.workspace_id as "workspaceId"`

/** Makes a key. The key itself is in the answer and nowhere else: only its hash is kept. */
export async function createKey(pool: pg.Pool, workspaceId: number, key: NewKey, actor: string) {
  const secret = key.secret ?? newSecret()
  const keyId = uuidCarrying(randomInt(2 ** 47), Date.now(), randomInt(2 ** 22))
  const made = await inWorkspace(pool, workspaceId, async (tx) => {
    const { rows } = await tx.query(
      `insert into api_keys as k (workspace_id, key_id, name, key_hash, prefix, role, scopes, instance_admin, expires_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8, to_timestamp($9::double precision / 1000)) returning ${KEY_COLUMNS}`,
      [
        workspaceId,
        keyId,
        key.name,
        hashOf(secret),
        secret.slice(0, 12),
        key.role,
        key.scopes ?? null,
        key.instanceAdmin ?? false,
        key.expiresAt ?? null,
      ],
    )
    tx.emit('key_created', actor, { keyId, name: key.name, role: key.role })
    return rows[0] as ApiKey
  })
  return { key: secret, ...made }
}

export async function listKeys(pool: pg.Pool, workspaceId: number): Promise<ApiKey[]> {
  return inWorkspace(pool, workspaceId, async (tx) => {
    const { rows } = await tx.query(
      `select ${KEY_COLUMNS} from api_keys k where workspace_id = $1 order by created_at, key_id`,
      [workspaceId],
    )
    return rows
  })
}

/** Revokes a key; false when there is none, or it was revoked before. The last owner's key stays: nobody could make another. */
export async function revokeKey(
  pool: pg.Pool,
  workspaceId: number,
  keyId: string,
  actor: string,
): Promise<'revoked' | 'unknown' | 'last owner'> {
  return inWorkspace(pool, workspaceId, async (tx) => {
    // All keys of the workspace, so that two owners cannot revoke each other at the same moment.
    const { rows } = await tx.query(
      `select ${KEY_COLUMNS}, coalesce(expires_at <= clock_timestamp(), false) as "isExpired"
         from api_keys k where workspace_id = $1 and revoked_at is null order by key_id for update`,
      [workspaceId],
    )
    const keys = rows as (ApiKey & { isExpired: boolean })[]
    const isOwners = ({ role, scopes, isExpired }: (typeof keys)[number]) =>
      role === 'owner' && scopes === null && !isExpired
    const key = keys.find((candidate) => candidate.keyId === keyId)
    if (!key) return 'unknown'
    if (isOwners(key) && keys.filter(isOwners).length === 1) return 'last owner'
    await revoke(tx, workspaceId, key, actor)
    return 'revoked'
  })
}

async function revoke(
  tx: WorkspaceTransaction,
  workspaceId: number,
  key: ApiKey,
  actor: string,
): Promise<void> {
  await tx.query(
    'update api_keys set revoked_at = clock_timestamp() where workspace_id = $1 and key_id = $2',
    [workspaceId, key.keyId],
  )
  tx.emit('key_revoked', actor, { keyId: key.keyId, name: key.name })
}

/** The key a request presents, if it is one that is valid now. The policy shows just the row with this hash. */
export async function findKey(pool: pg.Pool, key: string): Promise<ApiKey | null> {
  const [found] = await scopedQuery<ApiKey>(pool, 'baton.key_hash', hashOf(key).toString('hex'), {
    text: `select ${KEY_COLUMNS} from api_keys k
      where revoked_at is null and (expires_at is null or expires_at > clock_timestamp())`,
  })
  return found ?? null
}

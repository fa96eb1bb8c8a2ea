import type pg from 'pg'
import { hashOf } from '../../../kernel/store/new-key.ts'
import type { Connections } from '../../../postgres/statements/connections.ts'
import { inside, scopedQuery } from '../../../postgres/statements/scoped-query.ts'
import { type ApiKey, KEY_COLUMNS } from '../../key/postgres/reads.ts'

/** Sessions of people in browsers. */

export interface BrowserSession {
  sessionId: string
  keyId: string
  keyName: string
  userAgent: string | null
  createdAt: number
  lastSeenAt: number
  expiresAt: number
}

/** The key of a session, and how long both are still valid. */
export type SessionKey = ApiKey & { sessionId: string; sessionEndsAt: number; leftMs: number }

const ENDS_AT = 'least(s.expires_at, k.expires_at)'
const IS_VALID = `s.workspace_id = $1 and k.workspace_id = s.workspace_id and k.key_id = s.key_id
  and k.revoked_at is null and ${ENDS_AT} > clock_timestamp()`
/** Written at most once a minute. */
const IS_STALE = `s.last_seen_at < clock_timestamp() - interval '1 minute'`
const SESSION_KEY = (
  more = '',
) => `select ${KEY_COLUMNS}, s.session_id as "sessionId", ms(${ENDS_AT}) as "sessionEndsAt",
       (extract(epoch from ${ENDS_AT} - clock_timestamp()) * 1000)::float8 as "leftMs"${more}
  from browser_sessions s, api_keys k where ${IS_VALID}`

/** The session with this cookie and this value of its page, if both are right and it is valid; and notes that it is in use. */
export async function findByCookie(
  { readers, writers }: Connections,
  workspaceId: number,
  cookie: string,
  pageValue: string,
): Promise<SessionKey | null> {
  const both = 's.cookie_hash = $2 and s.page_hash = $3'
  const secrets = [hashOf(cookie), hashOf(pageValue)]
  const text = `${SESSION_KEY(`, ${IS_STALE} as "isStale"`)} and ${both}`
  const [found] = await inside<SessionKey & { isStale: boolean }>(readers, workspaceId, text, secrets)
  if (!found) return null
  const { isStale, ...key } = found
  if (isStale)
    await inside(
      writers,
      workspaceId,
      `update browser_sessions s set last_seen_at = clock_timestamp() where s.workspace_id = $1 and ${both} and ${IS_STALE}`,
      secrets,
    )
  return key
}

/** Those whose cookie and page value a browser has, valid or not, and their keys. */
export const sessionsWith = (
  pool: pg.Pool,
  workspaceId: number,
  cookie: string,
  pageValues: readonly string[],
) =>
  inside<{ sessionId: string; keyId: string }>(
    pool,
    workspaceId,
    `select session_id as "sessionId", key_id as "keyId" from browser_sessions
      where workspace_id = $1 and cookie_hash = $2 and page_hash = any($3)`,
    [hashOf(cookie), pageValues.map(hashOf)],
  )

/** The key of a session, valid or not; null: there is none. */
export async function keyOfSession(
  pool: pg.Pool,
  workspaceId: number,
  sessionId: string,
): Promise<string | null> {
  const text = 'select key_id as "keyId" from browser_sessions where workspace_id = $1 and session_id = $2'
  const [found] = await inside<{ keyId: string }>(pool, workspaceId, text, [sessionId])
  return found?.keyId ?? null
}

/** The session with this id, if it is valid. */
export async function findById(
  pool: pg.Pool,
  workspaceId: number,
  sessionId: string,
): Promise<SessionKey | null> {
  const text = `${SESSION_KEY()} and s.session_id = $2`
  const [found] = await inside<SessionKey & pg.QueryResultRow>(pool, workspaceId, text, [sessionId])
  return found ?? null
}

/** Those that are valid, the latest used first; of one key, or of all. */
export const listSessions = (pool: pg.Pool, workspaceId: number, keyId: string | null) =>
  inside<BrowserSession & pg.QueryResultRow>(
    pool,
    workspaceId,
    `select s.session_id as "sessionId", s.key_id as "keyId", k.name as "keyName", s.user_agent as "userAgent",
            ms(s.created_at) as "createdAt", ms(s.last_seen_at) as "lastSeenAt", ms(${ENDS_AT}) as "expiresAt"
       from browser_sessions s, api_keys k where ${IS_VALID} and ($2::uuid is null or s.key_id = $2)
      order by s.last_seen_at desc, s.session_id`,
    [keyId],
  )

/** What has expired, in all workspaces. Used links are forgotten a day later: until then they are known as used. */
export async function forgetOldSignIns(pool: pg.Pool): Promise<void> {
  const statements = [
    'delete from socket_tickets where expires_at < clock_timestamp()',
    `delete from sign_in_links where expires_at < clock_timestamp() - interval '1 day'`,
    'delete from browser_sessions where expires_at < clock_timestamp()',
  ]
  for (const text of statements) await scopedQuery(pool, 'baton.scope', 'upkeep', { text })
}

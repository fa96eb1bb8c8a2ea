import { randomBytes, randomInt } from 'node:crypto'
import type pg from 'pg'
import { uuidCarrying } from '../../../core/ids.ts'
import { notifyRevoked } from '../connection/notices.ts'
import type { Connections } from '../kernel/connections.ts'
import { inside, scopedQuery } from '../kernel/scoped-query.ts'
import type { WorkspaceTransaction } from '../kernel/workspace-transaction.ts'
import { type ApiKey, hashOf, KEY_COLUMNS } from './keys.ts'

/** Sessions of people in browsers. */

const SESSION_DAYS = 30
const LONGEST_USER_AGENT = 300

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

/** What a browser gets. Only hashes of the two secrets are stored. */
export interface NewSession {
  sessionId: string
  cookie: string
  pageValue: string
  expiresAt: number
}

/** What signs in. */
export interface Browser {
  userAgent: string | null
  /** Its cookies, by workspace: the new session replaces the one that it has there. */
  cookies: ReadonlyMap<number, string>
}

/** 256 random bits. */
export const newToken = () => randomBytes(32).toString('base64url')

export function beginSession(
  store: Connections,
  workspaceId: number,
  keyId: string,
  browser: Browser,
): Promise<NewSession> {
  return store.change(workspaceId, (tx) => insertSession(tx, workspaceId, keyId, browser))
}

export async function insertSession(
  tx: WorkspaceTransaction,
  workspaceId: number,
  keyId: string,
  { userAgent, cookies }: Browser,
): Promise<NewSession> {
  const [cookie, pageValue] = [newToken(), newToken()]
  const sessionId = uuidCarrying(randomInt(2 ** 47), Date.now(), randomInt(2 ** 22))
  // The browser is about to forget the cookie of the session before: nobody could use or end it.
  const replaced = cookies.get(workspaceId)
  if (replaced !== undefined) await endWhere(tx, workspaceId, 'cookie_hash = $2', hashOf(replaced))
  const { rows } = await tx.query(
    `insert into browser_sessions (workspace_id, session_id, key_id, cookie_hash, page_hash, user_agent, expires_at)
     values ($1, $2, $3, $4, $5, $6, clock_timestamp() + make_interval(days => $7)) returning ms(expires_at) as "expiresAt"`,
    [
      workspaceId,
      sessionId,
      keyId,
      hashOf(cookie),
      hashOf(pageValue),
      userAgent?.slice(0, LONGEST_USER_AGENT) || null,
      SESSION_DAYS,
    ],
  )
  await tx.query(
    'update api_keys set signed_in_at = clock_timestamp() where workspace_id = $1 and key_id = $2',
    [workspaceId, keyId],
  )
  return { sessionId, cookie, pageValue, expiresAt: rows[0].expiresAt }
}

const ENDS_AT = 'least(s.expires_at, k.expires_at)'
const IS_VALID = `s.workspace_id = $1 and k.workspace_id = s.workspace_id and k.key_id = s.key_id
  and k.revoked_at is null and ${ENDS_AT} > clock_timestamp()`
const SESSION_KEY = `select ${KEY_COLUMNS}, s.session_id as "sessionId", ms(${ENDS_AT}) as "sessionEndsAt",
       (extract(epoch from ${ENDS_AT} - clock_timestamp()) * 1000)::float8 as "leftMs"
  from browser_sessions s, api_keys k where ${IS_VALID}`

/** The session with this cookie and this value of its page, if both are right and it is valid; and notes that it is in use. */
export async function findByCookie(
  pool: pg.Pool,
  workspaceId: number,
  cookie: string,
  pageValue: string,
): Promise<SessionKey | null> {
  const [found] = await inside<SessionKey & pg.QueryResultRow>(
    pool,
    workspaceId,
    `with seen as (update browser_sessions set last_seen_at = clock_timestamp()
        where workspace_id = $1 and cookie_hash = $2 and page_hash = $3
          and last_seen_at < clock_timestamp() - interval '1 minute')
     ${SESSION_KEY} and s.cookie_hash = $2 and s.page_hash = $3`,
    [hashOf(cookie), hashOf(pageValue)],
  )
  return found ?? null
}

/** The session with this id, if it is valid. */
export async function findById(
  pool: pg.Pool,
  workspaceId: number,
  sessionId: string,
): Promise<SessionKey | null> {
  const text = `${SESSION_KEY} and s.session_id = $2`
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

/** Ends a session, of this key or of any, and tells all nodes. Returns whether there was one. */
export const endSession = (
  store: Connections,
  workspaceId: number,
  sessionId: string,
  keyId: string | null,
): Promise<boolean> =>
  store.change(workspaceId, (tx) =>
    endWhere(tx, workspaceId, 'session_id = $2 and ($3::uuid is null or key_id = $3)', sessionId, keyId),
  )

async function endWhere(
  tx: WorkspaceTransaction,
  workspaceId: number,
  which: string,
  ...values: unknown[]
): Promise<boolean> {
  const { rows } = await tx.query(
    `delete from browser_sessions where workspace_id = $1 and ${which} returning session_id as id`,
    [workspaceId, ...values],
  )
  await notifyRevoked(
    tx,
    rows.map(({ id }) => id),
  )
  return rows.length > 0
}

/** What has expired, in all workspaces. Used links are forgotten a day later: until then they are known as used. */
export async function forgetOldSignIns(pool: pg.Pool): Promise<void> {
  const statements = [
    'delete from socket_tickets where expires_at < clock_timestamp()',
    `delete from sign_in_links where expires_at < clock_timestamp() - interval '1 day'`,
    'delete from browser_sessions where expires_at < clock_timestamp()',
  ]
  for (const text of statements) await scopedQuery(pool, 'baton.scope', 'upkeep', { text })
}

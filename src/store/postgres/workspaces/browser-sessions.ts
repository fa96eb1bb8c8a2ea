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
/** Of one key. A further one ends the one that was not used for the longest time. */
const MOST_SESSIONS = 20

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
  /** Sessions that ended because this one began. */
  ended: readonly string[]
}

/** What signs in. The new session replaces the one that it has in the workspace, if it has both parts of it. */
export interface Browser {
  userAgent: string | null
  /** By workspace. */
  cookies: ReadonlyMap<number, string>
  /** Of its pages, of any workspaces. */
  pageValues: readonly string[]
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
  browser: Browser,
): Promise<NewSession> {
  // First: it locks the key, so that of several at once each one sees the sessions of those before.
  await tx.query(
    'update api_keys set signed_in_at = clock_timestamp() where workspace_id = $1 and key_id = $2',
    [workspaceId, keyId],
  )
  const ended = await makeRoom(tx, workspaceId, keyId, browser)
  const [cookie, pageValue] = [newToken(), newToken()]
  const sessionId = uuidCarrying(randomInt(2 ** 47), Date.now(), randomInt(2 ** 22))
  const { rows } = await tx.query(
    `insert into browser_sessions (workspace_id, session_id, key_id, cookie_hash, page_hash, user_agent, expires_at)
     values ($1, $2, $3, $4, $5, $6, clock_timestamp() + make_interval(days => $7)) returning ms(expires_at) as "expiresAt"`,
    [
      workspaceId,
      sessionId,
      keyId,
      hashOf(cookie),
      hashOf(pageValue),
      browser.userAgent?.slice(0, LONGEST_USER_AGENT) || null,
      SESSION_DAYS,
    ],
  )
  return { sessionId, cookie, pageValue, expiresAt: rows[0].expiresAt, ended }
}

/** Ends the session that the browser is about to forget, and the least used ones of a key that has too many. */
async function makeRoom(
  tx: WorkspaceTransaction,
  workspaceId: number,
  keyId: string,
  { cookies, pageValues }: Browser,
): Promise<string[]> {
  const cookie = cookies.get(workspaceId)
  // The cookie alone does not end a session: other programs on the host of the browser are sent it, too.
  const replaced =
    cookie === undefined || pageValues.length === 0
      ? []
      : await endWhere(
          tx,
          workspaceId,
          'cookie_hash = $2 and page_hash = any($3)',
          hashOf(cookie),
          pageValues.map(hashOf),
        )
  const tooMany = await endWhere(
    tx,
    workspaceId,
    `session_id in (select session_id from browser_sessions where workspace_id = $1 and key_id = $2
       order by last_seen_at desc, session_id desc offset $3)`,
    keyId,
    MOST_SESSIONS - 1,
  )
  return [...replaced, ...tooMany]
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
export const endSession = async (
  store: Connections,
  workspaceId: number,
  sessionId: string,
  keyId: string | null,
): Promise<boolean> => {
  const which = 'session_id = $2 and ($3::uuid is null or key_id = $3)'
  const ended = await store.change(workspaceId, (tx) => endWhere(tx, workspaceId, which, sessionId, keyId))
  return ended.length > 0
}

/** Ends all sessions of a key and all links that would begin one, and tells all nodes. Returns the ids of the sessions. */
export const endSessionsOf = (store: Connections, workspaceId: number, keyId: string): Promise<string[]> =>
  store.change(workspaceId, async (tx) => {
    const ofKey = [workspaceId, keyId]
    // The link, then the key, as signing in locks them: a session that begins now has begun, or finds its link gone.
    await tx.query(
      'delete from sign_in_links where workspace_id = $1 and key_id = $2 and used_at is null',
      ofKey,
    )
    await tx.query('select from api_keys where workspace_id = $1 and key_id = $2 for update', ofKey)
    return endWhere(tx, workspaceId, 'key_id = $2', keyId)
  })

async function endWhere(
  tx: WorkspaceTransaction,
  workspaceId: number,
  which: string,
  ...values: unknown[]
): Promise<string[]> {
  const { rows } = await tx.query(
    `delete from browser_sessions where workspace_id = $1 and ${which} returning session_id as id`,
    [workspaceId, ...values],
  )
  const ended = rows.map(({ id }) => id as string)
  await notifyRevoked(tx, ended)
  return ended
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

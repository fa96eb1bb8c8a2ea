import type pg from 'pg'
import { hashOf } from '../../kernel/store/new-key.ts'
import type { Connections } from '../../postgres/statements/connections.ts'
import { plainRows } from '../../postgres/statements/plain-rows.ts'
import { revokedNotices } from '../../postgres/statements/revoked-notices.ts'
import { arrayLiteral } from '../../postgres/statements/rows.ts'
import { inside, scopedQuery } from '../../postgres/statements/scoped-query.ts'
import { type Bound, statement } from '../../postgres/statements/statements.ts'
import type { StoredKind } from '../../postgres/statements/stored-kind.ts'
import { grouped } from '../../pure/grouped.ts'
import { isUuid } from '../../pure/ids.ts'
import { type ApiKey, KEY_COLUMNS, noteUse } from '../key/postgres.ts'
import type { SeenOf } from '../kind.ts'
import { BROWSER_SESSION_FIELDS, LINK_FIELDS, type SignInRecord, TICKET_FIELDS } from './record.ts'

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
    await noteUse(
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

/** What is used once: links that begin a session, and tickets that open a socket of one. */

/** Where the link with this token belongs: whoever presents it does not say so. */
export async function findLink(
  pool: pg.Pool,
  token: string,
): Promise<{ workspaceId: number; keyId: string } | null> {
  const hash = hashOf(token)
  const [link] = await scopedQuery<{ workspaceId: number; keyId: string }>(
    pool,
    'baton.key_hash',
    hash.toString('hex'),
    {
      text: 'select workspace_id as "workspaceId", key_id as "keyId" from sign_in_links where link_hash = $1',
      values: [hash],
    },
  )
  return link ?? null
}

/** Whether somebody has ever signed in to this workspace. */
export async function hasBeenSignedInTo(pool: pg.Pool, workspaceId: number): Promise<boolean> {
  const text = 'select from api_keys where workspace_id = $1 and signed_in_at is not null limit 1'
  return (await inside(pool, workspaceId, text)).length > 0
}

/** The session of a ticket, once. Not a command: like a key, a ticket is presented before the workspace is known. */
export async function takeTicket(
  pool: pg.Pool,
  ticket: string,
): Promise<{ workspaceId: number; sessionId: string } | null> {
  const hash = hashOf(ticket)
  const [taken] = await scopedQuery<{ workspaceId: number; sessionId: string }>(
    pool,
    'baton.key_hash',
    hash.toString('hex'),
    {
      text: `delete from socket_tickets where ticket_hash = $1 and expires_at > clock_timestamp()
             returning workspace_id as "workspaceId", session_id as "sessionId"`,
      values: [hash],
    },
  )
  return taken ?? null
}

const links = plainRows('sign_in_links', LINK_FIELDS)
const sessions = plainRows('browser_sessions', BROWSER_SESSION_FIELDS)
const tickets = plainRows('socket_tickets', TICKET_FIELDS)

// The keys, which are locked for all that belongs to their sign-ins. $1 workspace, $2 keys.
const lockKeys = statement(
  'lock_keys_of_sign_ins',
  `select k.key_id, ms(k.signed_in_at), ms(least(k.expires_at, k.revoked_at)) from api_keys k
    where k.workspace_id = $1 and k.key_id = any($2::uuid[]) order by k.key_id for no key update`,
)
// After that lock. $1 workspace, $2 keys.
const linksOf = statement(
  'links_of_keys',
  `select ${links.select('l')} from sign_in_links l where l.workspace_id = $1 and l.key_id = any($2::uuid[])`,
)
const sessionsOf = statement(
  'browser_sessions_of_keys',
  `select ${sessions.select('s')} from browser_sessions s where s.workspace_id = $1 and s.key_id = any($2::uuid[])`,
)
// $1 workspace, $2 key, $3 when.
const signedIn = statement(
  'signed_in',
  'update api_keys set signed_in_at = to_timestamp($3::double precision / 1000) where workspace_id = $1 and key_id = $2',
)
// $1 workspace, $2 sessions.
const endSessions = statement(
  'end_browser_sessions',
  'delete from browser_sessions where workspace_id = $1 and session_id = any($2::uuid[])',
)
// $1 workspace, $2 hashes of links.
const removeLinks = statement(
  'remove_sign_in_links',
  `delete from sign_in_links where workspace_id = $1
      and link_hash = any(array(select decode(h, 'hex') from unnest($2::text[]) as h))`,
)

/** Sign-ins of people. All nodes are told of sessions that end. */
export const storedSignIns: StoredKind<'signIn'> = {
  tables: {
    browser_sessions: 'select, insert, update, delete',
    sign_in_links: 'select, insert, update, delete',
    socket_tickets: 'select, insert, delete',
  },
  ask(questions, { kinds }) {
    if (kinds.signIn.length === 0) return null
    const names = [arrayLiteral(kinds.signIn.filter(isUuid))]
    const keys = questions.addIn(lockKeys, names)
    const asked = [questions.addIn(linksOf, names), questions.addIn(sessionsOf, names)] as const
    return () => {
      const ofKey = ({ keyId }: { keyId: string }) => keyId
      const linksByKey = grouped(asked[0]().map(links.read), ofKey)
      const sessionsByKey = grouped(asked[1]().map(sessions.read), ofKey)
      const seen = new Map<string, SeenOf<'signIn'>>()
      for (const [keyId, signedInAt, keyEndsAt] of keys() as [string, number | null, number | null][]) {
        const own = { links: linksByKey.get(keyId) ?? [], sessions: sessionsByKey.get(keyId) ?? [] }
        seen.set(keyId, { record: { keyId, signedInAt, ...own, tickets: [] }, holding: [], keyEndsAt })
      }
      return { view: { seen, counted: 0 } }
    }
  },
  write: (workspaceId, view, { kinds }) =>
    kinds.signIn.written.flatMap((record) =>
      changesOf(workspaceId, view.kinds.signIn.seen.get(record.keyId)!.record, record),
    ),
}

function changesOf(workspaceId: number, before: SignInRecord, after: SignInRecord): Bound[] {
  const { keyId } = after
  const [newLinks, goneLinks] = difference(before.links, after.links, ({ hash }) => hash)
  const [newSessions, ended] = difference(before.sessions, after.sessions, ({ sessionId }) => sessionId)
  const writes: Bound[] = []
  if (after.signedInAt !== before.signedInAt) writes.push([signedIn, [workspaceId, keyId, after.signedInAt]])
  if (goneLinks.length > 0) writes.push([removeLinks, [workspaceId, arrayLiteral(goneLinks)]])
  const ofKey = <T>(list: readonly T[]) => list.map((one) => ({ ...one, keyId }))
  if (newLinks.length > 0) writes.push(links.upsert(workspaceId, ofKey(newLinks)))
  if (ended.length > 0)
    writes.push([endSessions, [workspaceId, arrayLiteral(ended)]], ...revokedNotices(ended))
  if (newSessions.length > 0) writes.push(sessions.insert(workspaceId, ofKey(newSessions)))
  if (after.tickets.length > 0) writes.push(tickets.insert(workspaceId, after.tickets))
  return writes
}

/** What is new or changed, and the keys of what is gone. */
function difference<T>(
  before: readonly T[],
  after: readonly T[],
  keyOf: (one: T) => string,
): [changed: T[], gone: string[]] {
  const left = new Set(after.map(keyOf))
  return [after.filter((one) => !before.includes(one)), before.map(keyOf).filter((key) => !left.has(key))]
}

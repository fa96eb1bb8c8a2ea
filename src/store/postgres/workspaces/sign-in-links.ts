import type pg from 'pg'
import type { Connections } from '../kernel/connections.ts'
import { inside, scopedQuery } from '../kernel/scoped-query.ts'
import { type Browser, insertSession, type NewSession, newToken } from './browser-sessions.ts'
import { hashOf } from './keys.ts'

/** What is used once: links that begin a session, and tickets that open a socket of one. */

const LINK_MINUTES = 10
const TICKET_SECONDS = 30

export async function createLink(pool: pg.Pool, workspaceId: number, keyId: string) {
  const token = newToken()
  const [made] = await inside<{ expiresAt: number }>(
    pool,
    workspaceId,
    `insert into sign_in_links (workspace_id, link_hash, key_id, expires_at)
     values ($1, $2, $3, clock_timestamp() + make_interval(mins => $4)) returning ms(expires_at) as "expiresAt"`,
    [hashOf(token), keyId, LINK_MINUTES],
  )
  return { token, expiresAt: made!.expiresAt }
}

/** Why a link begins no session. */
export type LinkRefused = 'unknown' | 'used' | 'expired' | 'key ended'

type Linked = { workspaceId: number; session: NewSession }

/** Begins the session of a link, once, even if several requests on several nodes ask at the same time. */
export async function useLink(
  store: Connections,
  token: string,
  browser: Browser,
): Promise<Linked | LinkRefused> {
  const hash = hashOf(token)
  const [link] = await scopedQuery<{ workspaceId: number }>(
    store.readers,
    'baton.key_hash',
    hash.toString('hex'),
    { text: 'select workspace_id as "workspaceId" from sign_in_links where link_hash = $1', values: [hash] },
  )
  if (!link) return 'unknown'
  const { workspaceId } = link
  return store.change(workspaceId, async (tx) => {
    // The row is locked: a second caller waits here, and then finds it used.
    const { rows } = await tx.query(
      `select l.key_id as "keyId", l.used_at is not null as "isUsed", l.expires_at <= clock_timestamp() as "isExpired",
              k.revoked_at is not null or coalesce(k.expires_at <= clock_timestamp(), false) as "keyEnded"
         from sign_in_links l join api_keys k on k.workspace_id = l.workspace_id and k.key_id = l.key_id
        where l.workspace_id = $1 and l.link_hash = $2 for update of l`,
      [workspaceId, hash],
    )
    if (rows.length === 0) return 'unknown'
    const { keyId, isUsed, isExpired, keyEnded } = rows[0]
    if (isUsed) return 'used'
    if (isExpired) return 'expired'
    if (keyEnded) return 'key ended'
    await tx.query(
      'update sign_in_links set used_at = clock_timestamp() where workspace_id = $1 and link_hash = $2',
      [workspaceId, hash],
    )
    return { workspaceId, session: await insertSession(tx, workspaceId, keyId, browser) }
  })
}

/** Whether somebody has ever signed in to this workspace. */
export async function hasBeenSignedInTo(pool: pg.Pool, workspaceId: number): Promise<boolean> {
  const text = 'select from api_keys where workspace_id = $1 and signed_in_at is not null limit 1'
  return (await inside(pool, workspaceId, text)).length > 0
}

export async function createTicket(pool: pg.Pool, workspaceId: number, sessionId: string) {
  const ticket = newToken()
  const [made] = await inside<{ expiresAt: number }>(
    pool,
    workspaceId,
    `insert into socket_tickets (workspace_id, ticket_hash, session_id, expires_at)
     values ($1, $2, $3, clock_timestamp() + make_interval(secs => $4)) returning ms(expires_at) as "expiresAt"`,
    [hashOf(ticket), sessionId, TICKET_SECONDS],
  )
  return { ticket, expiresAt: made!.expiresAt }
}

/** The session of a ticket, once. */
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

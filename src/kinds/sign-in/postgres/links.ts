import type pg from 'pg'
import { hashOf } from '../../../kernel/store/new-key.ts'
import { inside, scopedQuery } from '../../../postgres/statements/scoped-query.ts'

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

import { revokedNotices } from '../../../postgres/connection/notices.ts'
import { plainRows } from '../../../postgres/statements/plain-rows.ts'
import { arrayLiteral } from '../../../postgres/statements/rows.ts'
import { type Bound, statement } from '../../../postgres/statements/statements.ts'
import type { StoredKind } from '../../../postgres/statements/stored-kind.ts'
import { grouped } from '../../../pure/grouped.ts'
import { isUuid } from '../../../pure/ids.ts'
import type { SeenOf } from '../../all.ts'
import { BROWSER_SESSION_FIELDS, LINK_FIELDS, type SignInRecord, TICKET_FIELDS } from '../record.ts'

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

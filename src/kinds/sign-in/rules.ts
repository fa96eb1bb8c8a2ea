import { type Refusal, refuse } from '../../pure/errors.ts'
import type { BrowserSession, SignInRecord } from './record.ts'

/** What a command does to the sign-ins of a key. */

const LINK_MS = 10 * 60_000
const TICKET_MS = 30_000
const SESSION_MS = 30 * 24 * 3_600_000
/** Of one key. A further one ends the one that was not used for the longest time. */
const MOST_SESSIONS = 20

interface NewSession extends Pick<BrowserSession, 'sessionId' | 'cookieHash' | 'pageHash' | 'userAgent'> {
  /** The session that the browser is about to forget. */
  replaces: string | null
}

export type SignInCommand =
  | { kind: 'makeLink'; hash: string }
  /** Begins the session of a link, once. */
  | { kind: 'useLink'; hash: string; session: NewSession }
  | { kind: 'signIn'; session: NewSession }
  | { kind: 'makeTicket'; hash: string; sessionId: string }
  | { kind: 'end'; sessionId: string }
  /** Also ends all links that would begin a session. */
  | { kind: 'endAll' }

interface SignInContext {
  now: number
  /** When the key expires or was revoked. */
  keyEndsAt: number | null
}

interface SignInDecision {
  refusal: Refusal | null
  record: SignInRecord | null
}

const LINK_REFUSALS = {
  unknown: 'This sign-in link is not valid; "npm run link" makes a new one.',
  used: 'This sign-in link was used already; "npm run link" makes a new one.',
  expired: 'This sign-in link has expired; "npm run link" makes a new one.',
  keyEnded: 'The key of this sign-in link has been revoked or has expired; sign in with another one.',
}

export const refuseLink = (why: keyof typeof LINK_REFUSALS) => refuse('UNAUTHENTICATED', LINK_REFUSALS[why])

export function decideSignIn(
  before: SignInRecord,
  command: SignInCommand,
  context: SignInContext,
): SignInDecision {
  const { now } = context
  const done = (changed: Partial<SignInRecord>) => ({ refusal: null, record: { ...before, ...changed } })
  switch (command.kind) {
    case 'makeLink': {
      const link = { hash: command.hash, expiresAt: now + LINK_MS, usedAt: null }
      return done({ links: [...before.links, link] })
    }
    case 'useLink':
      return useLink(before, command, context)
    case 'signIn':
      return done(begun(before, command.session, now))
    case 'makeTicket': {
      const { hash, sessionId } = command
      return done({ tickets: [...before.tickets, { hash, sessionId, expiresAt: now + TICKET_MS }] })
    }
    case 'end':
      return done({ sessions: before.sessions.filter(({ sessionId }) => sessionId !== command.sessionId) })
    case 'endAll':
      return done({ sessions: [], links: before.links.filter(({ usedAt }) => usedAt !== null) })
  }
}

function useLink(
  before: SignInRecord,
  { hash, session }: Extract<SignInCommand, { kind: 'useLink' }>,
  { now, keyEndsAt }: SignInContext,
): SignInDecision {
  const refused = (why: Parameters<typeof refuseLink>[0]) => ({ refusal: refuseLink(why), record: before })
  const link = before.links.find((one) => one.hash === hash)
  if (!link) return refused('unknown')
  if (link.usedAt !== null) return refused('used')
  if (link.expiresAt <= now) return refused('expired')
  if (keyEndsAt !== null && keyEndsAt <= now) return refused('keyEnded')
  const links = before.links.map((one) => (one === link ? { ...link, usedAt: now } : one))
  return { refusal: null, record: { ...before, ...begun(before, session, now), links } }
}

function begun(
  { sessions }: SignInRecord,
  { replaces, ...session }: NewSession,
  now: number,
): Pick<SignInRecord, 'sessions' | 'signedInAt'> {
  const lastUsedFirst = sessions
    .filter(({ sessionId }) => sessionId !== replaces)
    .sort((a, b) => b.lastSeenAt - a.lastSeenAt || (a.sessionId < b.sessionId ? 1 : -1))
  const kept = lastUsedFirst.slice(0, MOST_SESSIONS - 1)
  const fresh = { ...session, createdAt: now, lastSeenAt: now, expiresAt: now + SESSION_MS }
  return { sessions: [...kept, fresh], signedInAt: now }
}

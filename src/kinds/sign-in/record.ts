import { bytes, instant, orNull, type RecordOf, text, uuid } from '../../pure/fields.ts'

/** How people sign in with a key: links that begin a session, sessions in browsers, and tickets that open their sockets. */
export interface SignInRecord {
  keyId: string
  /** When somebody last did. */
  signedInAt: number | null
  links: readonly RecordOf<typeof LINK>[]
  sessions: readonly BrowserSession[]
  /** Only new ones: a ticket is used and removed by whoever presents it. */
  tickets: readonly RecordOf<typeof TICKET_FIELDS>[]
}

/** Of all secrets only the SHA-256 is known. */
const LINK = {
  hash: bytes('link_hash'),
  expiresAt: instant(),
  usedAt: orNull(instant()),
}

export const LINK_FIELDS = { ...LINK, keyId: uuid() }

const BROWSER_SESSION = {
  sessionId: uuid(),
  cookieHash: bytes(),
  pageHash: bytes(),
  userAgent: orNull(text()),
  createdAt: instant(),
  lastSeenAt: instant(),
  expiresAt: instant(),
}

export interface BrowserSession extends RecordOf<typeof BROWSER_SESSION> {}

export const BROWSER_SESSION_FIELDS = { ...BROWSER_SESSION, keyId: uuid() }

export const TICKET_FIELDS = {
  hash: bytes('ticket_hash'),
  sessionId: uuid(),
  expiresAt: instant(),
}

import { fields } from '../../pure/fields.ts'

/** How people sign in with a key: links that begin a session, sessions in browsers, and tickets that open their sockets. */
export interface SignInRecord {
  keyId: string
  /** When somebody last did. */
  signedInAt: number | null
  links: readonly Link[]
  sessions: readonly BrowserSession[]
  /** Only new ones: a ticket is used and removed by whoever presents it. */
  tickets: readonly Ticket[]
}

/** Of all secrets only the SHA-256 is known. */
interface Link {
  hash: string
  expiresAt: number
  usedAt: number | null
}

export interface BrowserSession {
  sessionId: string
  cookieHash: string
  pageHash: string
  userAgent: string | null
  createdAt: number
  lastSeenAt: number
  expiresAt: number
}

interface Ticket {
  hash: string
  sessionId: string
  expiresAt: number
}

type OfKey = Pick<SignInRecord, 'keyId'>

export const LINK_FIELDS = fields<Link & OfKey>({
  hash: ['bytes', 'link_hash'],
  keyId: 'uuid',
  expiresAt: 'instant',
  usedAt: 'instant',
})

export const BROWSER_SESSION_FIELDS = fields<BrowserSession & OfKey>({
  sessionId: 'uuid',
  keyId: 'uuid',
  cookieHash: 'bytes',
  pageHash: 'bytes',
  userAgent: 'text',
  createdAt: 'instant',
  lastSeenAt: 'instant',
  expiresAt: 'instant',
})

export const TICKET_FIELDS = fields<Ticket>({
  hash: ['bytes', 'ticket_hash'],
  sessionId: 'uuid',
  expiresAt: 'instant',
})

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Browser } from '../kinds/sign-in/acts.ts'
import { Refused } from '../pure/errors.ts'
import { workspaceCarriedBy } from '../pure/ids.ts'
import { cookiesIn } from './cookies.ts'

/**
 * What a browser presents. A cookie is sent to every port of a host, and with requests that any page there makes: an agent's
 * development server on localhost would get it. So it opens nothing without the value that only the pages of our origin can read,
 * and they send that as a header.
 */

const COOKIE = /^baton-([0-9a-f-]{36})$/
const TOKEN = /^[A-Za-z0-9_-]{43}$/
/** Cookies go where the API is, and with no request for a page. */
const COOKIE_PATH = '/api/v1'

/** Browsers cannot send headers with a socket, so a ticket in its address stands for the session. */
export const isSocket = ({ routeOptions }: FastifyRequest) =>
  routeOptions.url?.endsWith('/events/ws') ?? false

export type Presented =
  | { ticket: string }
  | { workspaceId: number; cookie: string; pageValue: string }
  /** Something is missing. */
  | { lacks: string }

/** Only for requests without `Authorization`: what has a key needs no cookie. Null: not from a session. */
export function presentedBy(request: FastifyRequest): Presented | null {
  const { ticket } = (request.query ?? {}) as { ticket?: unknown }
  const pageValue = request.headers['baton-session']
  const isTicket = isSocket(request) && typeof ticket === 'string'
  const cookies = request.headers.cookie === undefined ? [] : sessionCookies(request)
  if (!isTicket && pageValue === undefined && cookies.length === 0) return null
  refuseOtherSites(request)
  if (isTicket) return TOKEN.test(ticket) ? { ticket } : { lacks: 'The ticket is not valid.' }
  if (cookies.length === 0) return { lacks: 'The cookie of the session is missing; sign in.' }
  if (typeof pageValue !== 'string' || !TOKEN.test(pageValue))
    return { lacks: 'The cookie alone opens nothing: send the value of the page as "Baton-Session".' }
  const named = request.headers['x-workspace-id']
  const [chosen, other] = cookies.filter(({ workspace }) => named === undefined || named === workspace)
  if (!chosen) return { lacks: 'This browser is not signed in to that workspace.' }
  if (other)
    return { lacks: 'This browser is signed in to several workspaces; name one with X-Workspace-Id.' }
  return { workspaceId: chosen.workspaceId, cookie: chosen.cookie, pageValue }
}

function sessionCookies(request: FastifyRequest) {
  return [...cookiesIn(request)].flatMap(([name, cookie]) => {
    const workspace = COOKIE.exec(name)?.[1] ?? ''
    const workspaceId = workspaceCarriedBy(workspace)
    return workspaceId !== null && TOKEN.test(cookie) ? [{ workspace, workspaceId, cookie }] : []
  })
}

/**
 * Browsers say where a request comes from, and pages cannot change that. Another port of the same host is "same-site", which
 * SameSite does not stop.
 */
export function refuseOtherSites({ headers }: FastifyRequest): void {
  const from = headers['sec-fetch-site']
  if (from !== undefined && from !== 'same-origin')
    throw new Refused(
      'ORIGIN_NOT_ALLOWED',
      "Sessions are for Baton's own pages; this request is from another.",
    )
}

/** A browser may be signed in to this many workspaces and more; the values of the others are then not looked at. */
const MOST_PAGE_VALUES = 50

/** The sign-in page does not know the workspace yet, so it sends the values of all that it has. */
export const browserOf = (request: FastifyRequest): Browser => ({
  userAgent: printable(request.headers['user-agent']),
  cookies: new Map(sessionCookies(request).map(({ workspaceId, cookie }) => [workspaceId, cookie])),
  pageValues: String(request.headers['baton-session'] ?? '')
    .split(',', MOST_PAGE_VALUES)
    .map((value) => value.trim())
    .filter((value) => TOKEN.test(value)),
})

/** Header values are bytes, which browsers keep to ASCII. */
const printable = (text: string | undefined) => text?.replace(/[^\x20-\x7e]/g, '') || null

interface CookiesFor {
  workspace: { id: string }
  isSecure: boolean
}

export const giveCookie = (reply: FastifyReply, of: CookiesFor, { cookie, expiresAt }: GivenCookie) =>
  setCookie(reply, of, cookie, Math.max(1, Math.round((Date.parse(expiresAt) - Date.now()) / 1000)))

interface GivenCookie {
  cookie: string
  expiresAt: string
}

export const dropCookie = (reply: FastifyReply, of: CookiesFor) => setCookie(reply, of, '', 0)

function setCookie(
  reply: FastifyReply,
  { workspace, isSecure }: CookiesFor,
  value: string,
  maxAgeSeconds: number,
): void {
  const attributes = `Path=${COOKIE_PATH}; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Strict`
  reply.header('set-cookie', `baton-${workspace.id}=${value}; ${attributes}${isSecure ? '; Secure' : ''}`)
}

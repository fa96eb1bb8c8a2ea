import { Refused } from '../core/errors.ts'
import { isUuid } from '../core/ids.ts'
import { allRightsOf } from '../core/rules/api-key.ts'
import type {
  BrowserSessionView,
  LinkAnswer,
  SessionAnswer,
  SignedIn,
} from '../core/shapes/browser-sessions.ts'
import type { AnswerOf, ListAnswer } from '../core/shapes/common.ts'
import { INBOX_KINDS } from '../core/waiting.ts'
import type { Caller } from '../kernel/kernel.ts'
import type { ServerKernel } from '../kernel/server-kernel.ts'
import type { ApiKey, Browser, BrowserSession, LinkRefused } from '../store/server-store.ts'
import { instant } from './views.ts'

/** People sign in with a one-time link or a key; their session acts as that key. */

const REFUSALS: Record<LinkRefused, string> = {
  unknown: 'This sign-in link is not valid; "npm run link" makes a new one.',
  used: 'This sign-in link was used already; "npm run link" makes a new one.',
  expired: 'This sign-in link has expired; "npm run link" makes a new one.',
  'key ended': 'The key of this sign-in link has been revoked or has expired; sign in with another one.',
}

interface SignIn {
  answer: AnswerOf<typeof SignedIn>
  cookie: string
  /** Sessions that ended because this one began. */
  ended: readonly string[]
}

/** Begins a session, with the token of a link or with a key that was found valid. */
export async function signIn(
  kernel: ServerKernel,
  by: string | ApiKey,
  browser: Browser,
  version: string,
): Promise<SignIn> {
  const { browserSessions, signInLinks } = kernel.store
  const begun =
    typeof by === 'string'
      ? await signInLinks.use(by, browser)
      : {
          workspaceId: by.workspaceId,
          session: await browserSessions.begin(by.workspaceId, by.keyId, browser),
        }
  if (typeof begun === 'string') throw new Refused('UNAUTHENTICATED', REFUSALS[begun])
  const { cookie, pageValue, sessionId, ended } = begun.session
  const key = await browserSessions.findById(begun.workspaceId, sessionId)
  // Revoked in this very moment.
  if (!key) throw new Refused('UNAUTHENTICATED', REFUSALS['key ended'])
  const session = { id: sessionId, expiresAt: key.sessionEndsAt }
  const shown = await showSession(kernel, key, session, version)
  const answer = { ...shown, id: sessionId, pageValue, expiresAt: instant(key.sessionEndsAt) }
  return { answer, cookie, ended }
}

/** Who makes this request, and where the workspace is. */
export async function showSession(
  kernel: ServerKernel,
  key: ApiKey,
  session: { id: string; expiresAt: number } | null,
  version: string,
): Promise<AnswerOf<typeof SessionAnswer>> {
  const { store } = kernel
  const { uuid, name } = await store.workspaces.read(key.workspaceId)
  const all = { kinds: INBOX_KINDS, missionId: null, sort: 'oldest', after: null } as const
  const { counts, seq } = await store.inbox.read(key.workspaceId, all, 1)
  return {
    id: session?.id ?? null,
    workspace: { id: uuid, name },
    key: { id: key.keyId, name: key.name },
    role: key.role,
    rights: [...allRightsOf(key)],
    head: seq,
    inboxCount: Object.values(counts).reduce((sum, count) => sum + count, 0),
    version,
    instance: store.instance,
    expiresAt: instant(session ? session.expiresAt : key.expiresAt),
  }
}

/** The key whose sessions a caller may see and end; null: of all keys. */
const within = ({ rights, keyId }: Caller) => (rights.has('admin') ? null : (keyId ?? null))

export async function listSessions(
  kernel: ServerKernel,
  caller: Caller,
  current: string | null,
): Promise<ListAnswer<AnswerOf<typeof BrowserSessionView>>> {
  const sessions = await kernel.store.browserSessions.list(caller.workspaceId, within(caller))
  return { items: sessions.map((session) => sessionView(session, current)), nextCursor: null }
}

const sessionView = (
  session: BrowserSession,
  current: string | null,
): AnswerOf<typeof BrowserSessionView> => ({
  id: session.sessionId,
  key: { id: session.keyId, name: session.keyName },
  userAgent: session.userAgent,
  isCurrent: session.sessionId === current,
  createdAt: instant(session.createdAt),
  lastSeenAt: instant(session.lastSeenAt),
  expiresAt: instant(session.expiresAt),
})

export async function endSession(kernel: ServerKernel, caller: Caller, id: string): Promise<void> {
  const ended = isUuid(id) && (await kernel.store.browserSessions.end(caller.workspaceId, id, within(caller)))
  if (!ended) throw new Refused('NOT_FOUND', `There is no browser session ${id} that this key may end.`)
}

/** Ends all sessions of a key, by default of the caller's own. Returns their ids. */
export async function endAllSessions(
  kernel: ServerKernel,
  { workspaceId, rights }: Caller,
  own: string,
  keyId: string = own,
): Promise<readonly string[]> {
  if (keyId !== own && !rights.has('admin'))
    throw new Refused('FORBIDDEN', 'Ending the sessions of another key needs the right "admin".')
  return kernel.store.browserSessions.endAll(workspaceId, keyId)
}

/** A link to this address that signs in with a key, once. The token is in the fragment, which browsers send to no server. */
export async function makeLink(
  kernel: ServerKernel,
  { workspaceId, keyId }: Pick<ApiKey, 'workspaceId' | 'keyId'>,
  baseUrl: string,
): Promise<AnswerOf<typeof LinkAnswer>> {
  const { token, expiresAt } = await kernel.store.signInLinks.create(workspaceId, keyId)
  return { url: `${baseUrl}/sign-in#${token}`, expiresAt: instant(expiresAt) }
}

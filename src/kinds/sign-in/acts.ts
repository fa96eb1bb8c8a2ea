import type { ServerKernel } from '../../door/server-kernel.ts'
import { freshUuid } from '../../kernel/fresh-uuid.ts'
import { type Caller, granted } from '../../kernel/kernel.ts'
import { outcomeOf } from '../../kernel/many.ts'
import { hashOf, newToken } from '../../kernel/store/new-key.ts'
import { Refused } from '../../pure/errors.ts'
import { isUuid } from '../../pure/ids.ts'
import { instant } from '../../pure/instant.ts'
import type { AnswerOf, ListAnswer } from '../../pure/shapes.ts'
import { readInbox } from '../../views/inbox/postgres.ts'
import { allRightsOf } from '../key/granting.ts'
import { type ApiKey, listKeys } from '../key/postgres.ts'
import type { GrantedOf } from '../kind.ts'
import { ASKING_KINDS } from '../task/rules/waiting.ts'
import * as rows from './postgres.ts'
import { refuseLink, type SignInCommand } from './rules.ts'
import type { BrowserSessionView, LinkAnswer, SessionAnswer, SignedIn, TicketAnswer } from './shapes.ts'

/** People sign in with a one-time link or a key; their session acts as that key. */

/** What signs in. The new session replaces the one that it has in the workspace, if it has both parts of it. */
export interface Browser {
  userAgent: string | null
  /** By workspace. */
  cookies: ReadonlyMap<number, string>
  /** Of its pages, of any workspaces. */
  pageValues: readonly string[]
}

const LONGEST_USER_AGENT = 300
const hexOf = (secret: string) => hashOf(secret).toString('hex')

async function commandSignIns(
  kernel: ServerKernel,
  caller: Caller,
  keyId: string,
  command: SignInCommand,
): Promise<GrantedOf['signIn']> {
  return granted(await kernel.run(caller, { on: 'signIn', key: keyId, uuid: keyId, command }))
}

/** Whoever presents a link or a key is admitted by that alone. */
const callerWith = (workspaceId: number, keyId: string): Caller => ({
  ...{ workspaceId, keyId, actor: `key:${keyId}`, rights: new Set<never>() },
})

interface SignIn {
  answer: AnswerOf<typeof SignedIn>
  cookie: string
  /** Sessions that ended because this one began. */
  ended: readonly string[]
}

/** What pages learn of the server. */
type ShownServer = Pick<AnswerOf<typeof SessionAnswer>, 'version' | 'traceUrl'>

/** Begins a session, with the token of a link or with a key that was found valid. */
export async function signIn(
  kernel: ServerKernel,
  by: string | ApiKey,
  browser: Browser,
  server: ShownServer,
): Promise<SignIn> {
  const { readers } = kernel.store
  const of = typeof by === 'string' ? await rows.findLink(readers, by) : by
  if (!of) throw Refused.because(refuseLink('unknown'))
  const { workspaceId, keyId } = of
  const [cookie, pageValue, sessionId] = [newToken(), newToken(), freshUuid()]
  const forgotten = await sessionsOf(kernel, workspaceId, browser)
  const session = {
    ...{ sessionId, cookieHash: hexOf(cookie), pageHash: hexOf(pageValue) },
    userAgent: browser.userAgent?.slice(0, LONGEST_USER_AGENT) || null,
    replaces: forgotten.find((one) => one.keyId === keyId)?.sessionId ?? null,
  }
  const command =
    typeof by === 'string' ? { kind: 'useLink', hash: hexOf(by), session } : { kind: 'signIn', session }
  const { ended, record } = await commandSignIns(
    kernel,
    callerWith(workspaceId, keyId),
    keyId,
    command as SignInCommand,
  )
  for (const one of forgotten.filter((other) => other.keyId !== keyId))
    await commandSignIns(kernel, callerWith(workspaceId, one.keyId), one.keyId, { kind: 'end', ...one })
  const key = (await listKeys(readers, workspaceId)).find(
    (one) => one.keyId === keyId && one.revokedAt === null,
  )
  // Revoked in this very moment.
  if (!key) throw Refused.because(refuseLink('keyEnded'))
  // From the reply: where many begin at once, this one may have ended already to make room for the others.
  const begun = record.sessions.find((one) => one.sessionId === sessionId)!
  const expiresAt = Math.min(begun.expiresAt, key.expiresAt ?? Number.POSITIVE_INFINITY)
  const shown = await showSession(kernel, key, { id: sessionId, expiresAt }, server)
  const answer = { ...shown, id: sessionId, pageValue, expiresAt: instant(expiresAt) }
  return { answer, cookie, ended: [...new Set([...ended, ...forgotten.map((one) => one.sessionId)])] }
}

/** The sessions that the browser is about to forget. A cookie alone is not enough: other programs on its host are sent it, too. */
async function sessionsOf(kernel: ServerKernel, workspaceId: number, { cookies, pageValues }: Browser) {
  const cookie = cookies.get(workspaceId)
  if (cookie === undefined || pageValues.length === 0) return []
  return rows.sessionsWith(kernel.store.readers, workspaceId, cookie, pageValues)
}

/** Who makes this request, and where the workspace is. */
export async function showSession(
  kernel: ServerKernel,
  key: ApiKey,
  session: { id: string; expiresAt: number } | null,
  server: ShownServer,
): Promise<AnswerOf<typeof SessionAnswer>> {
  const { store } = kernel
  const { uuid, name } = await store.workspaces.read(key.workspaceId)
  const all = { kinds: ASKING_KINDS, missionId: null, sort: 'oldest', after: null } as const
  const { counts, seq } = await readInbox(store.readers, key.workspaceId, all, 1)
  return {
    id: session?.id ?? null,
    workspace: { id: uuid, name },
    key: { id: key.keyId, name: key.name },
    role: key.role,
    rights: [...allRightsOf(key)],
    head: seq,
    inboxCount: ASKING_KINDS.reduce((sum, kind) => sum + counts[kind], 0),
    ...server,
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
  const sessions = await rows.listSessions(kernel.store.readers, caller.workspaceId, within(caller))
  return { items: sessions.map((session) => sessionView(session, current)), nextCursor: null }
}

const sessionView = (
  session: rows.BrowserSession,
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
  const own = within(caller)
  const keyId = isUuid(id) ? await rows.keyOfSession(kernel.store.readers, caller.workspaceId, id) : null
  const mayEnd = keyId !== null && (own === null || own === keyId)
  const ended = mayEnd
    ? (await commandSignIns(kernel, caller, keyId, { kind: 'end', sessionId: id })).ended
    : []
  if (ended.length === 0)
    throw new Refused('NOT_FOUND', `There is no browser session ${id} that this key may end.`)
}

/** Ends all sessions of a key, by default of the caller's own. Returns their ids. */
export async function endAllSessions(
  kernel: ServerKernel,
  caller: Caller,
  own: string,
  keyId: string = own,
): Promise<readonly string[]> {
  if (keyId !== own && !caller.rights.has('admin'))
    throw new Refused('FORBIDDEN', 'Ending the sessions of another key needs the right "admin".')
  const { answer } = await outcomeOf(() => commandSignIns(kernel, caller, keyId, { kind: 'endAll' }))
  // A key that is not there has no sessions.
  return answer?.ended ?? []
}

/** A link to this address that signs in with a key, once. The token is in the fragment, which browsers send to no server. */
export async function makeLink(
  kernel: ServerKernel,
  caller: Caller,
  keyId: string,
  baseUrl: string,
): Promise<AnswerOf<typeof LinkAnswer>> {
  const token = newToken()
  const { record } = await commandSignIns(kernel, caller, keyId, { kind: 'makeLink', hash: hexOf(token) })
  return { url: `${baseUrl}/sign-in#${token}`, expiresAt: instant(record.links.at(-1)!.expiresAt) }
}

/** A ticket that opens one socket of the caller's session. */
export async function makeTicket(
  kernel: ServerKernel,
  caller: Caller,
  sessionId: string,
): Promise<AnswerOf<typeof TicketAnswer>> {
  const ticket = newToken()
  const command = { kind: 'makeTicket', hash: hexOf(ticket), sessionId } as const
  const { record } = await commandSignIns(kernel, caller, caller.keyId!, command)
  return { ticket, expiresAt: instant(record.tickets.at(-1)!.expiresAt) }
}

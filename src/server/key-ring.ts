import { hash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyRequest } from 'fastify'
import type { ServerStore } from '../door/server-store.ts'
import type { Caller } from '../kernel/kernel.ts'
import { TtlCache } from '../kernel/ttl-cache.ts'
import { allRightsOf } from '../kinds/key/granting.ts'
import { type ApiKey, findKeyInUse } from '../kinds/key/postgres.ts'
import { findByCookie, findById, type SessionKey, takeTicket } from '../kinds/sign-in/postgres.ts'
import type { Outside } from '../kinds/task/rules/acting.ts'
import { Refused } from '../pure/errors.ts'
import type { Right } from '../pure/rights.ts'
import type { Presented } from './browser-sessions.ts'
import { Opening } from './live/opening.ts'
import { callerOfRun, isRunToken } from './run-tokens.ts'

/** Revocations arrive as notifications. If one is lost, a key stays cached for no longer than this. */
const KNOWN_FOR_MS = 1_000
const MOST_KNOWN = 10_000
/** Without a notification, the keys of all open requests are checked this often. */
export const CHECK_AGAIN_MS = 15_000
/** Requests open under a revoked key have this long to end; then the revocation is answered anyway. */
const ENDS_WITHIN_MS = 2_000
const MOST_REVOKED = 100_000

export type KnownKey = ApiKey & {
  rights: ReadonlySet<Right>
  outside: Outside
  /** When it expires, by the monotonic clock of this process. */
  endsAt: number
  /** The browser session that it is used in; it ends no later than the key. */
  session: { id: string; expiresAt: number } | null
}

export const keyEnded = () => new Refused('UNAUTHENTICATED', 'This key has been revoked or has expired.')

const BEARER = /^Bearer +([A-Za-z0-9_-]{20,200})$/i
export const keyIn = (request: FastifyRequest) => BEARER.exec(request.headers.authorization ?? '')?.[1]

/** Caches keys, and tracks the streams and waiting requests that are open under each. */
export class KeyRing {
  readonly #store: ServerStore
  readonly #streamsPerKey: number
  readonly #known = new TtlCache<KnownKey | null>(KNOWN_FOR_MS, MOST_KNOWN)
  /** A separate cache: a flood of wrong keys must not evict the valid ones. */
  readonly #wrong = new TtlCache<true>(KNOWN_FOR_MS, MOST_KNOWN)
  /** Ids of revoked keys and of ended sessions. They never become valid again, so this overrides everything cached. */
  readonly #revoked = new Set<string>()
  readonly #openings = new Map<string, Set<Opening>>()
  readonly #stopListening: () => void
  readonly #timer: NodeJS.Timeout
  #checking: Promise<void> | null = null

  constructor(store: ServerStore, streamsPerKey: number, checkAgainMs = CHECK_AGAIN_MS) {
    this.#store = store
    this.#streamsPerKey = streamsPerKey
    this.#stopListening = store.onRevoked((keyIds) => {
      if (keyIds) return void this.revoked(keyIds)
      this.#known.clear()
      // After a check that may be in progress: it may have read too early.
      void Promise.resolve(this.#checking).then(() => this.#checkAgain())
    })
    this.#timer = setInterval(() => void this.#checkAgain(), checkAgainMs).unref()
  }

  /** Synchronous when cached; null when the key is not valid. */
  find(key: string): KnownKey | null | Promise<KnownKey | null> {
    return this.#cached(key, () => this.#lookUp(() => findKeyInUse(this.#store, key)))
  }

  /** The key of a browser session. A ticket is used up by that; a session is cached like a key. */
  ofSession(presented: Presented): KnownKey | null | Promise<KnownKey | null> {
    if ('lacks' in presented) return null
    if ('ticket' in presented) return this.#takeTicket(presented.ticket)
    const { workspaceId, cookie, pageValue } = presented
    return this.#cached(`${workspaceId} ${cookie} ${pageValue}`, () =>
      this.#lookUp(() => findByCookie(this.#store, workspaceId, cookie, pageValue)),
    )
  }

  async #takeTicket(ticket: string): Promise<KnownKey | null> {
    const taken = await takeTicket(this.#store.writers, ticket)
    const found = taken && (await this.#sessionById(taken.workspaceId, taken.sessionId))
    return found && !this.hasEnded(found) ? found : null
  }

  #sessionById(workspaceId: number, sessionId: string): Promise<KnownKey | null> {
    return this.#lookUp(() => findById(this.#store.readers, workspaceId, sessionId))
  }

  #cached(
    secret: string,
    lookUp: () => Promise<KnownKey | null>,
  ): KnownKey | null | Promise<KnownKey | null> {
    // By hash: a memory dump should not be a list of keys.
    const name = hash('sha256', secret)
    if (this.#wrong.peek(name)) return null
    const found = this.#known.get(name, lookUp)
    return found instanceof Promise ? found.then((one) => this.#judged(name, one)) : this.#judged(name, found)
  }

  async #lookUp(
    read: () => Promise<(ApiKey & { leftMs: number | null }) | SessionKey | null>,
  ): Promise<KnownKey | null> {
    // The database's clock decides when a key expires; the time left counts from before the query.
    const asked = performance.now()
    const found = await read()
    if (!found) return null
    const rights = allRightsOf(found)
    return {
      ...found,
      rights,
      outside: { agent: found.agent, rights },
      endsAt: found.leftMs === null ? Number.POSITIVE_INFINITY : asked + found.leftMs,
      session: 'sessionId' in found ? { id: found.sessionId, expiresAt: found.sessionEndsAt } : null,
    }
  }

  #judged(name: string, found: KnownKey | null): KnownKey | null {
    if (found && !this.hasEnded(found)) return found
    this.#known.forget(name)
    this.#wrong.set(name, true)
    return null
  }

  hasEnded({ keyId, session, endsAt }: KnownKey): boolean {
    const isRevoked = this.#revoked.has(keyId) || (session !== null && this.#revoked.has(session.id))
    return isRevoked || endsAt <= performance.now()
  }

  /** The caller behind a run token. */
  run(token: string): Promise<Caller | null> {
    return callerOfRun(this.#store, token)
  }

  /** Ends everything opened with these revoked keys or ended sessions. Resolves when it has ended, or after a timeout. */
  async revoked(ids: readonly string[]): Promise<void> {
    for (const id of ids) {
      this.#revoked.add(id)
      if (this.#revoked.size > MOST_REVOKED) this.#revoked.delete(this.#revoked.keys().next().value!)
    }
    const over = new Set(ids)
    const ending = [...this.#openings].flatMap(([holder, openings]) =>
      over.has(holder) ? [...openings] : [...openings].filter(({ sessionId }) => over.has(sessionId ?? '')),
    )
    for (const opening of ending) opening.end(keyEnded())
    if (ending.length === 0) return
    const closed = Promise.all(ending.map((one) => new Promise<void>((resolve) => one.onClosed(resolve))))
    await Promise.race([closed, sleep(ENDS_WITHIN_MS, undefined, { ref: false })])
  }

  /** Refuses a stream when its key has reached the limit. */
  refuseIfFull(request: FastifyRequest): void {
    const open = [...(this.#openings.get(holderOf(request)) ?? [])].filter(({ isStream }) => isStream)
    if (open.length >= this.#streamsPerKey)
      throw new Refused(
        'TOO_MANY_STREAMS',
        `At most ${this.#streamsPerKey} streams may be open under one key; close some.`,
      )
  }

  /** Tracks an admitted, long-lived request. The caller must close it. */
  open(request: FastifyRequest, isStream = false): Opening {
    if (isStream) this.refuseIfFull(request)
    const holder = holderOf(request)
    const { key } = request
    const leftMs = key ? key.endsAt - performance.now() : Number.POSITIVE_INFINITY
    const opening = new Opening(() => this.#confirm(request), isStream, leftMs, keyEnded)
    opening.sessionId = key?.session?.id ?? null
    const openings = this.#openings.get(holder) ?? new Set()
    this.#openings.set(holder, openings.add(opening))
    opening.onClosed(() => {
      openings.delete(opening)
      if (openings.size === 0 && this.#openings.get(holder) === openings) this.#openings.delete(holder)
    })
    // The key may have been revoked since the request was admitted.
    if (key && this.hasEnded(key)) opening.end(keyEnded())
    return opening
  }

  async #confirm(request: FastifyRequest): Promise<void> {
    if (!(await this.#stillHolds(request))) throw keyEnded()
  }

  #stillHolds(request: FastifyRequest): Promise<unknown> | unknown {
    const { session, workspaceId } = request.key ?? {}
    // A ticket is used up: the session that it stood for is looked for.
    if (session) return this.#sessionById(workspaceId!, session.id)
    const presented = keyIn(request)!
    return isRunToken(presented) ? this.run(presented) : this.find(presented)
  }

  /** One check at a time, key after key, for revocations whose notification was lost. */
  #checkAgain(): Promise<void> {
    this.#checking ??= this.#checkAll().finally(() => {
      this.#checking = null
    })
    return this.#checking
  }

  async #checkAll(): Promise<void> {
    // A session may be over while its key is valid.
    for (const [holder, openings] of [...this.#openings])
      for (const sessionId of new Set([...openings].map((opening) => opening.sessionId)))
        await this.#check(
          holder,
          [...openings].filter((opening) => opening.sessionId === sessionId),
        )
  }

  async #check(holder: string, openings: readonly Opening[]): Promise<void> {
    const refusal = await openings[0]?.confirm().catch((error) => error)
    // While the store is unreachable the key cannot be checked.
    if (!(refusal instanceof Refused)) return
    // Readers see the end of their run in the event log. Only those still open at the next check have missed it.
    const mayBeLate = isOfRun(holder)
    for (const opening of openings)
      if (!mayBeLate || opening.isOverdue) opening.end(refusal)
      else opening.isOverdue = true
  }

  close(): void {
    this.#stopListening()
    clearInterval(this.#timer)
  }
}

/** The key or run whose requests are counted and ended together. */
const holderOf = ({ key, caller }: FastifyRequest) => key?.keyId ?? `run:${caller.run!.runId}`
const isOfRun = (holder: string) => holder.startsWith('run:')

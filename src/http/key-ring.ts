import { hash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyRequest } from 'fastify'
import { Refused } from '../core/errors.ts'
import { allRightsOf } from '../core/rules/api-key.ts'
import type { Right } from '../core/shapes/administration.ts'
import type { Caller } from '../kernel/kernel.ts'
import { TtlCache } from '../kernel/ttl-cache.ts'
import type { ApiKey, ServerStore } from '../store/server-store.ts'
import { Opening } from './live/opening.ts'
import { callerOfRun, isRunToken } from './run-tokens.ts'

/** Revocations come by notice; should one be lost, a key is known for no longer than this. */
const KNOWN_FOR_MS = 1_000
const MOST_KNOWN = 10_000
/** Without a notice, the keys of all that is open are looked at this often. */
export const LOOK_AGAIN_MS = 15_000
/** What is open under a revoked key has this long to end before the revocation is answered all the same. */
const ENDS_WITHIN_MS = 2_000
const MOST_REVOKED = 100_000

export type KnownKey = ApiKey & {
  rights: ReadonlySet<Right>
  /** When it expires, by this process's own monotonic clock. */
  endsAt: number
}

export const keyEnded = () => new Refused('UNAUTHENTICATED', 'This key has been revoked or has expired.')

const BEARER = /^Bearer +([A-Za-z0-9_-]{20,200})$/i
export const keyIn = (request: FastifyRequest) => BEARER.exec(request.headers.authorization ?? '')?.[1]

/** The keys that are known here, and what was opened with them and is still open. */
export class KeyRing {
  readonly #store: ServerStore
  readonly #streamsPerKey: number
  readonly #known = new TtlCache<KnownKey | null>(KNOWN_FOR_MS, MOST_KNOWN)
  /** Apart from the others: a flood of wrong keys must not make us forget the right ones. */
  readonly #wrong = new TtlCache<true>(KNOWN_FOR_MS, MOST_KNOWN)
  /** Ids of revoked keys. None ever comes back, so this is never wrong, whatever else is remembered. */
  readonly #revoked = new Set<string>()
  readonly #openings = new Map<string, Set<Opening>>()
  readonly #stopListening: () => void
  readonly #timer: NodeJS.Timeout
  #looking: Promise<void> | null = null

  constructor(store: ServerStore, streamsPerKey: number, lookAgainMs = LOOK_AGAIN_MS) {
    this.#store = store
    this.#streamsPerKey = streamsPerKey
    this.#stopListening = store.onRevoked((keyIds) => {
      if (keyIds) return void this.revoked(keyIds)
      this.#known.clear()
      // After the look that may be under way: it may have been too early.
      void Promise.resolve(this.#looking).then(() => this.#lookAgain())
    })
    this.#timer = setInterval(() => void this.#lookAgain(), lookAgainMs).unref()
  }

  /** At once when it is known; null when it opens nothing. */
  find(key: string): KnownKey | null | Promise<KnownKey | null> {
    // By hash: a memory dump should not be a list of keys.
    const name = hash('sha256', key)
    if (this.#wrong.has(name)) return null
    const found = this.#known.get(name, () => this.#lookUp(key))
    return found instanceof Promise ? found.then((one) => this.#judged(name, one)) : this.#judged(name, found)
  }

  async #lookUp(key: string): Promise<KnownKey | null> {
    // The database's clock decides when a key expires; its answer counts from before it was asked.
    const asked = performance.now()
    const found = await this.#store.keys.find(key)
    return (
      found && {
        ...found,
        rights: allRightsOf(found),
        endsAt: found.leftMs === null ? Number.POSITIVE_INFINITY : asked + found.leftMs,
      }
    )
  }

  #judged(name: string, found: KnownKey | null): KnownKey | null {
    if (found && !this.hasEnded(found)) return found
    this.#known.forget(name)
    this.#wrong.set(name, true)
    return null
  }

  hasEnded({ keyId, endsAt }: KnownKey): boolean {
    return this.#revoked.has(keyId) || endsAt <= performance.now()
  }

  /** Who comes with the token of a run. */
  run(token: string): Promise<Caller | null> {
    return callerOfRun(this.#store, token)
  }

  /** These keys were revoked: what was opened with them ends. Resolves when it has, or did not in time. */
  async revoked(keyIds: readonly string[]): Promise<void> {
    for (const keyId of keyIds) {
      this.#revoked.add(keyId)
      if (this.#revoked.size > MOST_REVOKED) this.#revoked.delete(this.#revoked.keys().next().value!)
    }
    const ending = keyIds.flatMap((keyId) => [...(this.#openings.get(keyId) ?? [])])
    for (const opening of ending) opening.end(keyEnded())
    if (ending.length === 0) return
    const closed = Promise.all(ending.map((one) => new Promise<void>((resolve) => one.onClosed(resolve))))
    await Promise.race([closed, sleep(ENDS_WITHIN_MS, undefined, { ref: false })])
  }

  /** Refuses a stream when its key has as many open as it may. */
  refuseIfFull(request: FastifyRequest): void {
    const open = [...(this.#openings.get(holderOf(request)) ?? [])].filter(({ isStream }) => isStream)
    if (open.length >= this.#streamsPerKey)
      throw new Refused('TOO_MANY_STREAMS', `At most ${this.#streamsPerKey} may be open at once; close some.`)
  }

  /** A request that was let in and lasts. Whoever opens it closes it. */
  open(request: FastifyRequest, isStream = false): Opening {
    if (isStream) this.refuseIfFull(request)
    const holder = holderOf(request)
    const { key } = request
    const leftMs = key ? key.endsAt - performance.now() : Number.POSITIVE_INFINITY
    const opening = new Opening(() => this.#confirm(request), isStream, leftMs, keyEnded)
    const openings = this.#openings.get(holder) ?? new Set()
    this.#openings.set(holder, openings.add(opening))
    opening.onClosed(() => {
      openings.delete(opening)
      if (openings.size === 0 && this.#openings.get(holder) === openings) this.#openings.delete(holder)
    })
    // It may have been revoked since the request was let in.
    if (key && this.hasEnded(key)) opening.end(keyEnded())
    return opening
  }

  async #confirm(request: FastifyRequest): Promise<void> {
    const presented = keyIn(request)!
    const holds = isRunToken(presented) ? await this.run(presented) : await this.find(presented)
    if (!holds) throw keyEnded()
  }

  /** One look at a time, key after key: this is for what no notice told. */
  #lookAgain(): Promise<void> {
    this.#looking ??= this.#lookAtAll().finally(() => {
      this.#looking = null
    })
    return this.#looking
  }

  async #lookAtAll(): Promise<void> {
    for (const [holder, openings] of [...this.#openings]) {
      const [first] = openings
      const refusal = await first?.confirm().catch((error) => error)
      // While the store is away nobody knows better.
      if (!(refusal instanceof Refused)) continue
      // The end of a run is in the log, where its readers find it; only what is still there at the next look has missed it.
      const isPatient = isOfRun(holder)
      for (const opening of openings)
        if (!isPatient || opening.isOverdue) opening.end(refusal)
        else opening.isOverdue = true
    }
  }

  close(): void {
    this.#stopListening()
    clearInterval(this.#timer)
  }
}

/** Whose openings are counted and ended together. */
const holderOf = ({ key, caller }: FastifyRequest) => key?.keyId ?? `run:${caller.run!.runId}`
const isOfRun = (holder: string) => holder.startsWith('run:')

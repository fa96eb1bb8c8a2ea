import { hash } from 'node:crypto'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type pg from 'pg'
import { Refused } from '../core/errors.ts'
import { idCarriedBy } from '../core/ids.ts'
import { type Right, rightsOf } from '../core/shapes/administration.ts'
import type { Caller } from '../flow/kernel.ts'
import { Remembering } from '../flow/remembering.ts'
import { type ApiKey, findKey } from '../store/postgres/keys.ts'
import { callerOfRun, isRunToken, mustBeOfItsRun } from './run-tokens.ts'

/** Who may come in: known hosts and origins, then known keys with the right the route needs. */

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller
  }
  interface FastifyContextConfig {
    /** What a key must be allowed to do here; 'nothing' is open to all. */
    needs?: Right | 'nothing'
  }
}

export interface Doors {
  /** Host names, without port, under which Baton may be addressed. */
  hosts: readonly string[]
  /** Web origins whose pages may talk to Baton, beside its own. */
  origins: readonly string[]
}

const nameOf = (host: string) => host.replace(/:\d+$/, '').toLowerCase()

/**
 * Any web page can reach 127.0.0.1. The Host must be one of ours (a rebound name is not), and an Origin, if there is
 * one, must be ours too. Compared with a list, not with each other: rebinding makes them equal.
 */
function checkDoors(request: FastifyRequest, doors: Doors): void {
  const host = request.headers.host ?? ''
  if (!doors.hosts.includes(nameOf(host)))
    throw new Refused('HOST_NOT_ALLOWED', `Baton does not answer to the host "${host}".`)
  const { origin } = request.headers
  if (origin === undefined || doors.origins.includes(origin)) return
  let parsed: URL | null = null
  try {
    parsed = new URL(origin)
  } catch {
    // "null" and nonsense are no origins of ours.
  }
  // Its own pages: a known host under the very port that was asked.
  const isOwn =
    parsed !== null &&
    parsed.host.toLowerCase() === host.toLowerCase() &&
    doors.hosts.includes(parsed.hostname)
  if (!isOwn) throw new Refused('ORIGIN_NOT_ALLOWED', `Pages from ${origin} may not talk to Baton.`)
}

const KEY_KNOWN_FOR_MS = 5_000

export class KeyRing {
  readonly #pool: pg.Pool
  readonly #known = new Remembering<Known | null>(KEY_KNOWN_FOR_MS, 10_000)
  readonly #listeners = new Set<() => void>()

  constructor(pool: pg.Pool) {
    this.#pool = pool
  }

  get(key: string): Known | null | Promise<Known | null> {
    // By hash: a memory dump should not be a list of keys.
    return this.#known.get(hash('sha256', key), async () => {
      const found = await findKey(this.#pool, key)
      return found && { ...found, rights: allRightsOf(found) }
    })
  }

  /** A key was revoked here: no more grace on this node, and those who hold streams open look again. */
  forgetAll(): void {
    this.#known.clear()
    for (const listener of this.#listeners) listener()
  }

  onRevoked(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Whether the key that opened this request still would. */
  async stillAdmits(request: FastifyRequest): Promise<boolean> {
    const presented = keyIn(request)
    if (presented === undefined) return false
    return (isRunToken(presented) ? await this.run(presented) : await this.get(presented)) !== null
  }

  /** Who comes with the token of a run. */
  run(token: string): Promise<Caller | null> {
    return callerOfRun(this.#pool, token)
  }
}

type Known = ApiKey & { rights: ReadonlySet<Right> }

function allRightsOf({ role, scopes, instanceAdmin }: ApiKey): ReadonlySet<Right> {
  const rights = rightsOf(role, scopes)
  return new Set(instanceAdmin ? [...rights, 'instance'] : rights)
}

const BEARER = /^Bearer +([A-Za-z0-9_-]{20,200})$/i
const keyIn = (request: FastifyRequest) => BEARER.exec(request.headers.authorization ?? '')?.[1]
const IDEMPOTENCY_KEY = /^[\x21-\x7e]{1,200}$/

async function admit(request: FastifyRequest, keys: KeyRing): Promise<void> {
  const { needs } = request.routeOptions.config
  if (request.is404 || needs === 'nothing') return
  // Closed unless it says otherwise: a route that forgets to say what it needs must not be open to all.
  if (needs === undefined) throw new Error(`${request.url} does not say what it needs`)
  const presented = keyIn(request)
  if (presented !== undefined && isRunToken(presented))
    return admitRun(request, needs, await keys.run(presented))
  const found = presented === undefined ? null : keys.get(presented)
  const key = found instanceof Promise ? await found : found
  if (key === null) throw new Refused('UNAUTHENTICATED', 'Send a valid key as "Authorization: Bearer <key>".')
  if (key.expiresAt !== null && key.expiresAt <= Date.now())
    throw new Refused('UNAUTHENTICATED', 'This key has expired.')
  if (!key.rights.has(needs))
    throw new Refused('FORBIDDEN', `This needs the right "${needs}", which the key "${key.name}" lacks.`)
  // Keys are bound to one workspace; naming another must not quietly work on this one.
  const named = request.headers['x-workspace-id']
  if (named !== undefined && (typeof named !== 'string' || idCarriedBy(named) !== key.workspaceId))
    throw new Refused('NOT_FOUND', 'This key opens no such workspace.')
  request.caller = { workspaceId: key.workspaceId, actor: `key:${key.name}`, rights: key.rights }
}

function admitRun(request: FastifyRequest, needs: Right, caller: Caller | null): void {
  if (!caller) throw new Refused('UNAUTHENTICATED', 'This token is of no run that is going on.')
  if (!caller.rights.has(needs))
    throw new Refused('FORBIDDEN', `This needs the right "${needs}", which agents do not have.`)
  const named = request.headers['x-workspace-id']
  if (named !== undefined && (typeof named !== 'string' || idCarriedBy(named) !== caller.workspaceId))
    throw new Refused('NOT_FOUND', 'This token opens no such workspace.')
  request.caller = caller
}

/** After the body is there: the key under which this very request may be repeated. */
function readIdempotencyKey(request: FastifyRequest): void {
  const key = request.headers['idempotency-key']
  if (key === undefined || request.method !== 'POST' || !request.caller) return
  if (typeof key !== 'string' || !IDEMPOTENCY_KEY.test(key)) {
    throw Refused.field('VALIDATION_FAILED', 'Idempotency-Key', 'must be 1 to 200 visible ASCII characters')
  }
  const bodyHash = hash('sha256', `${request.url}\n${JSON.stringify(request.body ?? null)}`)
  request.caller = { ...request.caller, idempotency: { key, bodyHash } }
}

export function installGate(app: FastifyInstance, doors: Doors, keys: KeyRing): void {
  app.decorateRequest('caller', null as unknown as Caller)
  app.addHook('onRequest', async (request) => {
    checkDoors(request, doors)
    await admit(request, keys)
  })
  app.addHook('preHandler', async (request) => {
    mustBeOfItsRun(request)
    readIdempotencyKey(request)
  })
}

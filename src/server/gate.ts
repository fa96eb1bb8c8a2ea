import { hash } from 'node:crypto'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type Caller, principalOf } from '../kernel/kernel.ts'
import { Refused } from '../pure/errors.ts'
import { idCarriedBy } from '../pure/ids.ts'
import type { Right } from '../pure/rights.ts'
import { isSocket, type Presented, presentedBy } from './browser-sessions.ts'
import { type KeyRing, type KnownKey, keyEnded, keyIn } from './key-ring.ts'
import { nameOf, refuseSessionAtLocalhost } from './page-host.ts'
import { isRunToken, mustBeOfItsRun } from './run-tokens.ts'
import type { WrongKeys } from './wrong-keys.ts'

/** Admits requests: allowed hosts and origins first, then valid keys or browser sessions with the right that the route needs. */

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller
    /** The key of the request, or of its browser session; null when it carries a run token. */
    key: KnownKey | null
  }
  interface FastifyContextConfig {
    /** The right that a key needs here; 'nothing': no key needed. */
    needs?: Right | 'nothing'
  }
}

export interface AllowedSources {
  /** Allowed Host headers, without the port. */
  hosts: readonly string[]
  /** Allowed web origins, beside Baton's own. */
  origins: readonly string[]
  /** Where pages of "localhost" are sent, and sessions are instead; null: it is like every other host. */
  insteadOfLocalhost: string | null
}

/**
 * Any web page can reach 127.0.0.1. The Host must be in our list (a DNS-rebound name is not), and so must the Origin, if
 * there is one. Both are compared with the list, not with each other: rebinding makes them equal.
 */
function checkHostAndOrigin(request: FastifyRequest, allowed: AllowedSources): void {
  const host = request.headers.host ?? ''
  if (!allowed.hosts.includes(nameOf(host)))
    throw new Refused('HOST_NOT_ALLOWED', `The host "${host}" is not allowed; add it to BATON_ALLOWED_HOSTS.`)
  const { origin } = request.headers
  if (origin === undefined || allowed.origins.includes(origin)) return
  let parsed: URL | null = null
  try {
    parsed = new URL(origin)
  } catch {
    // "null" and invalid origins are not ours.
  }
  // Baton's own pages: an allowed host, on the port of this request.
  const isOwn =
    parsed !== null &&
    parsed.host.toLowerCase() === host.toLowerCase() &&
    allowed.hosts.includes(parsed.hostname)
  if (!isOwn)
    throw new Refused(
      'ORIGIN_NOT_ALLOWED',
      `The origin ${origin} is not allowed; add it to BATON_ALLOWED_ORIGINS.`,
    )
}

const IDEMPOTENCY_KEY = /^[\x21-\x7e]{1,200}$/

interface Admission {
  keys: KeyRing
  wrongKeys: WrongKeys
  allowed: AllowedSources
}

/** A promise only when the database must be asked: one that is resolved would still delay every request. */
function admit(request: FastifyRequest, { keys, wrongKeys, allowed }: Admission): Promise<void> | null {
  const { needs } = request.routeOptions.config
  if (request.is404 || needs === 'nothing') return null
  // Closed by default: a route that forgets to declare its right must not be public.
  if (needs === undefined) throw new Error(`${request.url} does not declare the right it needs`)
  const presented = keyIn(request)
  if (presented !== undefined && isRunToken(presented))
    return keys.run(presented).then((caller) => {
      if (!caller) throw unknown(request, wrongKeys, 'This token belongs to no active run.')
      admitRun(request, needs, caller)
    })
  // With an Authorization header, cookies count for nothing.
  const session = request.headers.authorization === undefined ? presentedBy(request) : null
  if (session) refuseSessionAtLocalhost(request, allowed.insteadOfLocalhost)
  const found = session ? keys.ofSession(session) : presented === undefined ? null : keys.find(presented)
  const judge = (key: KnownKey | null) => {
    if (key === null && session) throw noSession(request, wrongKeys, session)
    admitKey(request, needs, key, wrongKeys)
  }
  if (found instanceof Promise) return found.then(judge)
  judge(found)
  return null
}

/** What lacks a part was looked for nowhere, and counts as no attempt to guess one. */
function noSession({ ip }: FastifyRequest, wrongKeys: WrongKeys, presented: Presented): Refused {
  if ('lacks' in presented) return new Refused('UNAUTHENTICATED', presented.lacks)
  wrongKeys.count(ip)
  return new Refused('UNAUTHENTICATED', 'This session is over; sign in again.')
}

function admitKey(request: FastifyRequest, needs: Right, key: KnownKey | null, wrongKeys: WrongKeys): void {
  if (key === null) throw unknown(request, wrongKeys, 'Send a valid key as "Authorization: Bearer <key>".')
  if (!key.rights.has(needs))
    throw new Refused('FORBIDDEN', `This needs the right "${needs}", which the key "${key.name}" lacks.`)
  // A key belongs to one workspace; a request that names another must not silently use this one.
  const named = request.headers['x-workspace-id'] ?? workspaceOfSocket(request)
  if (named !== undefined && (typeof named !== 'string' || idCarriedBy(named) !== key.workspaceId))
    throw new Refused('NOT_FOUND', 'This key has no access to that workspace.')
  request.key = key
  const { workspaceId, keyId, rights, outside } = key
  request.caller = { workspaceId, actor: `key:${keyId}`, keyId, address: request.ip, rights, outside }
}

/** What has not the form of an id is refused as such, with the rest of the query. */
function workspaceOfSocket(request: FastifyRequest): string | undefined {
  const { workspace } = (isSocket(request) ? request.query : {}) as { workspace?: unknown }
  return typeof workspace === 'string' && /^[0-9a-f-]{36}$/.test(workspace) ? workspace : undefined
}

/** A request without a key is not counted as an attempt to guess one. */
function unknown({ headers, ip }: FastifyRequest, wrongKeys: WrongKeys, detail: string): Refused {
  if (headers.authorization !== undefined) wrongKeys.count(ip)
  return new Refused('UNAUTHENTICATED', detail)
}

function admitRun(request: FastifyRequest, needs: Right, caller: Caller): void {
  if (!caller.rights.has(needs))
    throw new Refused('FORBIDDEN', `This needs the right "${needs}", which run tokens do not have.`)
  const named = request.headers['x-workspace-id']
  if (named !== undefined && (typeof named !== 'string' || idCarriedBy(named) !== caller.workspaceId))
    throw new Refused('NOT_FOUND', 'This token has no access to that workspace.')
  request.caller = { ...caller, address: request.ip }
}

/** After the body is parsed, since the body is part of what the idempotency key protects. */
function readIdempotencyKey(request: FastifyRequest): void {
  const key = request.headers['idempotency-key']
  if (key === undefined || request.method !== 'POST' || !request.caller) return
  if (typeof key !== 'string' || !IDEMPOTENCY_KEY.test(key)) {
    throw Refused.field('VALIDATION_FAILED', 'Idempotency-Key', 'must be 1 to 200 visible ASCII characters')
  }
  const bodyHash = hash('sha256', `${request.url}\n${JSON.stringify(request.body ?? null)}`)
  request.caller = {
    ...request.caller,
    idempotency: { key: `${principalOf(request.caller)} ${key}`, bodyHash },
  }
}

export function installGate(
  app: FastifyInstance,
  allowed: AllowedSources,
  keys: KeyRing,
  wrongKeys: WrongKeys,
): void {
  app.decorateRequest('caller', null as unknown as Caller)
  app.decorateRequest('key', null)
  app.addHook('onRequest', (request, _reply, done) => {
    checkHostAndOrigin(request, allowed)
    const admitted = admit(request, { keys, wrongKeys, allowed })
    if (admitted) admitted.then(() => done(), done)
    else done()
  })
  app.addHook('preHandler', (request, _reply, done) => {
    // The key may have ended while the body was received.
    if (request.key && keys.hasEnded(request.key)) throw keyEnded()
    mustBeOfItsRun(request)
    readIdempotencyKey(request)
    done()
  })
}

import { hash } from 'node:crypto'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Refused } from '../core/errors.ts'
import { idCarriedBy } from '../core/ids.ts'
import type { Right } from '../core/shapes/administration.ts'
import { type Caller, principalOf } from '../kernel/kernel.ts'
import { type KeyRing, type KnownKey, keyEnded, keyIn } from './key-ring.ts'
import { isRunToken, mustBeOfItsRun } from './run-tokens.ts'
import type { WrongKeys } from './wrong-keys.ts'

/** Who may come in: known hosts and origins, then known keys with the right the route needs. */

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller
    /** The key it came with; null when it came with the token of a run. */
    key: KnownKey | null
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

const IDEMPOTENCY_KEY = /^[\x21-\x7e]{1,200}$/

async function admit(request: FastifyRequest, keys: KeyRing, wrongKeys: WrongKeys): Promise<void> {
  const { needs } = request.routeOptions.config
  if (request.is404 || needs === 'nothing') return
  // Closed unless it says otherwise: a route that forgets to say what it needs must not be open to all.
  if (needs === undefined) throw new Error(`${request.url} does not say what it needs`)
  const presented = keyIn(request)
  if (presented !== undefined && isRunToken(presented)) {
    const caller = await keys.run(presented)
    if (!caller) throw unknown(request, wrongKeys, 'This token is of no run that is going on.')
    return admitRun(request, needs, caller)
  }
  const found = presented === undefined ? null : keys.find(presented)
  const key = found instanceof Promise ? await found : found
  if (key === null) throw unknown(request, wrongKeys, 'Send a valid key as "Authorization: Bearer <key>".')
  if (!key.rights.has(needs))
    throw new Refused('FORBIDDEN', `This needs the right "${needs}", which the key "${key.name}" lacks.`)
  // Keys are bound to one workspace; naming another must not quietly work on this one.
  const named = request.headers['x-workspace-id']
  if (named !== undefined && (typeof named !== 'string' || idCarriedBy(named) !== key.workspaceId))
    throw new Refused('NOT_FOUND', 'This key opens no such workspace.')
  request.key = key
  request.caller = { workspaceId: key.workspaceId, actor: `key:${key.keyId}`, rights: key.rights }
}

/** A request without a key is no attempt to guess one. */
function unknown({ headers, ip }: FastifyRequest, wrongKeys: WrongKeys, detail: string): Refused {
  if (headers.authorization !== undefined) wrongKeys.count(ip)
  return new Refused('UNAUTHENTICATED', detail)
}

function admitRun(request: FastifyRequest, needs: Right, caller: Caller): void {
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
  request.caller = {
    ...request.caller,
    idempotency: { key: `${principalOf(request.caller)} ${key}`, bodyHash },
  }
}

export function installGate(app: FastifyInstance, doors: Doors, keys: KeyRing, wrongKeys: WrongKeys): void {
  app.decorateRequest('caller', null as unknown as Caller)
  app.decorateRequest('key', null)
  app.addHook('onRequest', async (request) => {
    checkDoors(request, doors)
    await admit(request, keys, wrongKeys)
  })
  app.addHook('preHandler', async (request) => {
    // A body may take its time, and the key may end meanwhile.
    if (request.key && keys.hasEnded(request.key)) throw keyEnded()
    mustBeOfItsRun(request)
    readIdempotencyKey(request)
  })
}

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Call, Door } from '../door/door.ts'
import { Page } from '../door/paging.ts'
import type { Waiter } from '../kernel/commit-waiters.ts'
import type { Endpoint, RouteOf } from '../pure/endpoint.ts'
import { Refused } from '../pure/errors.ts'
import type { KeyRing } from './key-ring.ts'
import { whileAdmitted } from './live/waiting.ts'
import { sendHead } from './log-head.ts'

type Request = FastifyRequest<RouteOf<Endpoint>>

/** A request as handlers see it. What most of them do not ask for is read when it is asked for. */
export class HttpCall implements Call<Endpoint> {
  readonly reply: FastifyReply
  readonly #endpoint: Endpoint
  readonly #request: Request
  readonly #door: Door
  readonly #keys: KeyRing

  constructor(endpoint: Endpoint, request: Request, reply: FastifyReply, door: Door, keys: KeyRing) {
    this.#endpoint = endpoint
    this.#request = request
    this.reply = reply
    this.#door = door
    this.#keys = keys
  }

  get params() {
    return this.#request.params
  }

  get query() {
    return this.#request.query
  }

  get body() {
    return this.#request.body
  }

  get caller() {
    return this.#request.caller
  }

  get address() {
    return this.#request.ip
  }

  get headers() {
    return this.#request.headers
  }

  get ifVersion() {
    return versionIn(this.#request.headers['if-match'])
  }

  get page() {
    return new Page<never>(this.#endpoint.paging ?? {}, this.#request.query as Record<string, unknown>)
  }

  waiting<T>(waitMs: number, act: (waiter: Waiter) => Promise<T>): Promise<T> {
    return whileAdmitted(this.#keys, this.#request, this.reply, waitMs, act)
  }

  async readFromNow(): Promise<void> {
    await sendHead(this.#door.kernel, this.#request, this.reply)
  }
}

function versionIn(ifMatch: string | undefined): number | null {
  if (ifMatch === undefined || ifMatch === '*') return null
  const [, version] = /^(?:W\/)?"(\d{1,10})"$/.exec(ifMatch) ?? []
  if (version === undefined)
    throw new Refused('VERSION_MISMATCH', 'If-Match does not name a version of this task.')
  return Number(version)
}

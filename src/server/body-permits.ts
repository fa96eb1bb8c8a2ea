import type { FastifyInstance, FastifyRequest } from 'fastify'
import { tooBusy } from '../pure/errors.ts'

/**
 * How much memory bodies may take at the same time, from when they are parsed until their requests are answered. What does not fit
 * waits for its turn, and is refused when that takes too long: without this, eight large results at once end the server.
 */

/** Shorter ones are as many as there are connections, at most. */
const SMALL_BYTES = 2 * 1024
/** Up to this length the values of a body are not counted, and it counts as the worst that can be in it. */
const UNCOUNTED_BYTES = 64 * 1024
const WORST_PER_BYTE = 32
/** A body is there as bytes, as text, as values, as what is stored of them, as statements. */
const COPIES = 8
const BYTES_PER_VALUE = 100

export const PERMIT_LIMITS = {
  /** A quarter of the memory that `npm start` gives the server. */
  mostBytes: 512 * 1024 * 1024,
  longestWaitMs: 60_000,
}

interface Waiting {
  cost: number
  begin(): void
}

export class BodyPermits {
  readonly #mostBytes: number
  readonly #longestWaitMs: number
  readonly #waiting = new Set<Waiting>()
  readonly #held = new WeakMap<FastifyRequest, number>()
  #usedBytes = 0
  #waitingBytes = 0

  constructor({ mostBytes, longestWaitMs }: typeof PERMIT_LIMITS = PERMIT_LIMITS) {
    this.#mostBytes = mostBytes
    this.#longestWaitMs = longestWaitMs
  }

  /** As soon as there is an answer: sending it may take as long as its reader likes. */
  install(app: FastifyInstance): void {
    app.addHook('onSend', (request, _reply, payload, done) => {
      this.release(request)
      done(null, payload)
    })
  }

  /** A promise if the request has to wait: for its values to be counted, or for its turn. */
  admit(
    request: FastifyRequest,
    bytes: Buffer,
    count: (bytes: Buffer) => Promise<number>,
  ): Promise<void> | null {
    if (bytes.length <= SMALL_BYTES) return null
    if (bytes.length > UNCOUNTED_BYTES)
      return count(bytes).then((values) =>
        this.#turn(request, bytes.length, COPIES * bytes.length + BYTES_PER_VALUE * values),
      )
    const cost = WORST_PER_BYTE * bytes.length
    return this.#turn(request, bytes.length, cost) ?? null
  }

  release(request: FastifyRequest): void {
    this.#usedBytes -= this.#held.get(request) ?? 0
    this.#held.delete(request)
    for (const next of this.#waiting) {
      if (!this.#fits(next.cost)) return
      this.#waiting.delete(next)
      next.begin()
    }
  }

  /** In order of arrival: a large body is not overtaken for ever by small ones. One alone may be larger than the limit. */
  #turn(request: FastifyRequest, bytes: number, cost: number): Promise<void> | undefined {
    if (this.#waiting.size === 0 && this.#fits(cost)) {
      this.#take(request, cost)
      return
    }
    if (this.#waitingBytes + bytes > this.#mostBytes) return Promise.reject(tooBusy())
    return new Promise((begin, refuse) => {
      const waiting = {
        cost,
        begin: () => {
          clearTimeout(timer)
          this.#waitingBytes -= bytes
          this.#take(request, cost)
          begin()
        },
      }
      const timer = setTimeout(() => {
        this.#waiting.delete(waiting)
        this.#waitingBytes -= bytes
        refuse(tooBusy())
      }, this.#longestWaitMs)
      this.#waiting.add(waiting)
      this.#waitingBytes += bytes
    })
  }

  #fits(cost: number): boolean {
    return this.#usedBytes === 0 || this.#usedBytes + cost <= this.#mostBytes
  }

  #take(request: FastifyRequest, cost: number): void {
    this.#held.set(request, cost)
    this.#usedBytes += cost
  }
}

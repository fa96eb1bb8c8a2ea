import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { errorCodes, type FastifyRequest } from 'fastify'
import { tooBusy } from '../pure/errors.ts'

/**
 * Receives bodies, and limits how many bytes of unfinished ones are in memory. When there are too many, the slowest sender is
 * refused: whoever sends a byte a second cannot keep others from sending.
 */

/** Shorter ones are as many as there are connections, at most. */
const SMALL_BYTES = 16 * 1024
const MOST_RECEIVED_BYTES = 512 * 1024 * 1024

type Received = (error: Error | null, bytes?: Buffer) => void

interface Receiving {
  bytes: number
  sinceMs: number
  refuse(error: Error): void
}

export class ReceivedBodies {
  readonly #mostBytes: number
  readonly #receiving = new Set<Receiving>()
  #bytes = 0

  constructor(mostBytes = MOST_RECEIVED_BYTES) {
    this.#mostBytes = mostBytes
  }

  receive(request: FastifyRequest, payload: IncomingMessage | Readable, received: Received): void {
    const limit = request.routeOptions.bodyLimit
    const announced = Number(request.headers['content-length'])
    if (announced > limit) {
      received(tooLarge())
      return
    }
    const chunks: Buffer[] = []
    const body: Receiving = { bytes: 0, sinceMs: performance.now(), refuse: (error) => end(error) }
    const isCounted = !(announced <= SMALL_BYTES)

    const end = (error: Error | null) => {
      payload.off('data', take).off('end', whole).off('error', broken)
      if (isCounted) this.#forget(body)
      if (error) received(error)
      // Copied: a chunk may be a part of the connection's own buffer.
      else received(null, Buffer.concat(chunks, body.bytes))
    }
    const take = (chunk: Buffer) => {
      if (body.bytes + chunk.length > limit) return end(tooLarge())
      body.bytes += chunk.length
      chunks.push(chunk)
      if (isCounted) this.#count(body, chunk.length)
    }
    const whole = () => end(null)
    const broken = (error: Error) => end(Object.assign(error, { statusCode: 400 }))
    if (isCounted) this.#receiving.add(body)
    payload.on('data', take).on('end', whole).on('error', broken).resume()
  }

  #count(body: Receiving, bytes: number): void {
    this.#bytes += bytes
    while (this.#bytes > this.#mostBytes && this.#receiving.size > 0) {
      const slowest = this.#slowest()
      slowest.refuse(tooBusy())
      if (slowest === body) return
    }
  }

  #slowest(): Receiving {
    const now = performance.now()
    const rate = ({ bytes, sinceMs }: Receiving) => bytes / (now - sinceMs + 1)
    return [...this.#receiving].reduce((slowest, one) => (rate(one) < rate(slowest) ? one : slowest))
  }

  #forget(body: Receiving): void {
    if (this.#receiving.delete(body)) this.#bytes -= body.bytes
  }
}

const tooLarge = () => new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE()

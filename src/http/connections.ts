import { STATUS_CODES } from 'node:http'
import type { Server, Socket } from 'node:net'
import type { Logger } from 'pino'
import { ERRORS, type ErrorCode } from '../core/errors.ts'
import { problem } from './problems.ts'
import { SAFE_HEADERS } from './safe-headers.ts'

/** How long and how many: each connection holds a file handle, whether or not anything comes over it. */
export interface ConnectionLimits {
  most: number
  /** Time to send the head of a request, from the connection on. */
  headersMs: number
  /** Time to send a whole request, large results included. */
  requestMs: number
  /** A connection without a request. Longer than the minute of common proxies: else they reuse what is just being closed. */
  keepAliveMs: number
  /** How often connections are looked at for those whose time is up. */
  checkEveryMs: number
  /** How long the sender of a refused request has to read why. */
  lingerMs: number
}

export const CONNECTION_LIMITS: ConnectionLimits = {
  most: 10_000,
  headersMs: 20_000,
  requestMs: 120_000,
  keepAliveMs: 72_000,
  checkEveryMs: 5_000,
  lingerMs: 1_000,
}

/** As Fastify takes them. */
export const serverTimes = (limits: ConnectionLimits) => ({
  requestTimeout: limits.requestMs,
  keepAliveTimeout: limits.keepAliveMs,
  http: { headersTimeout: limits.headersMs, connectionsCheckingInterval: limits.checkEveryMs },
})

const TELL_AGAIN_MS = 60_000

/** Connections beyond the limit are closed as they come. */
export function limitConnections(server: Server, most: number, log: Logger): void {
  server.maxConnections = most
  let toldAt = Number.NEGATIVE_INFINITY
  server.on('drop', () => {
    if (performance.now() - toldAt < TELL_AGAIN_MS) return
    toldAt = performance.now()
    log.warn({ most }, 'connections are refused: as many are open as there may be (BATON_MAX_CONNECTIONS)')
  })
}

interface ClientError extends Error {
  code?: string
}

const WHY: Record<string, [ErrorCode, string]> = {
  HPE_HEADER_OVERFLOW: ['HEADERS_TOO_LARGE', 'The path or a header is too long.'],
  ERR_HTTP_REQUEST_TIMEOUT: ['REQUEST_TIMEOUT', 'The request did not arrive in time.'],
}

/**
 * What is no HTTP, or does not come to its end, never becomes a request. It is answered all the same, by hand, and then the
 * connection is closed whatever its other end does.
 */
export const answerNonsense =
  ({ lingerMs }: Pick<ConnectionLimits, 'lingerMs'>) =>
  (error: ClientError, socket: Socket): void => {
    // Told already, and still sending.
    if (socket.writableEnded && !socket.destroyed) return
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy()
      return
    }
    const [code, detail] = WHY[error.code ?? ''] ?? ['MALFORMED_REQUEST', 'This is not HTTP.']
    socket.end(answer(code, detail))
    // Not destroyed at once: what the client still sends would reset the connection, and the answer be lost with it.
    const cut = setTimeout(() => socket.destroy(), lingerMs)
    socket.once('close', () => clearTimeout(cut))
  }

function answer(code: ErrorCode, detail: string): string {
  const body = JSON.stringify(problem(code, detail))
  const { status } = ERRORS[code]
  const headers = {
    'content-type': 'application/problem+json',
    'content-length': Buffer.byteLength(body),
    connection: 'close',
    ...SAFE_HEADERS,
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  return [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines, '', body].join('\r\n')
}

import { STATUS_CODES } from 'node:http'
import type { Server, Socket } from 'node:net'
import type { Logger } from 'pino'
import { ERRORS, type ErrorCode } from '../pure/errors.ts'
import { problem } from './problems.ts'
import { SAFE_HEADERS } from './safe-headers.ts'

/** Limits on connections: each one holds a file descriptor, whether or not it is used. */
export interface ConnectionLimits {
  most: number
  /** Time to send the headers of a request, from the start of the connection. */
  headersMs: number
  /** Time to send a whole request, large results included. */
  requestMs: number
  /** An idle connection. Longer than the minute of common proxies, which would reuse a connection that is closing. */
  keepAliveMs: number
  /** How often connections are checked for timeouts. */
  checkEveryMs: number
  /** How long the sender of a refused request has to read the answer. */
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

/** The limits as Fastify options. */
export const serverTimes = (limits: ConnectionLimits) => ({
  requestTimeout: limits.requestMs,
  keepAliveTimeout: limits.keepAliveMs,
  http: { headersTimeout: limits.headersMs, connectionsCheckingInterval: limits.checkEveryMs },
})

const WARN_EVERY_MS = 60_000

/** Closes new connections beyond the limit. */
export function limitConnections(server: Server, most: number, log: Logger): void {
  server.maxConnections = most
  let warnedAt = Number.NEGATIVE_INFINITY
  server.on('drop', () => {
    if (performance.now() - warnedAt < WARN_EVERY_MS) return
    warnedAt = performance.now()
    log.warn({ most }, 'refusing connections: the limit is reached (BATON_MAX_CONNECTIONS)')
  })
}

/** The other listener hands its connections to the server: all of them together stay within the limit of the server. */
export function shareConnectionLimit(server: Server, other: Server): void {
  const most = server.maxConnections
  const open = { all: 0, ofOther: 0 }
  const adjust = () => {
    // Not below 1, since 0 means unlimited to Node.
    server.maxConnections = Math.max(1, most - open.ofOther)
    other.maxConnections = Math.max(1, most - (open.all - open.ofOther))
  }
  const count = (listener: Server, which: keyof typeof open) =>
    listener.on('connection', (socket: Socket) => {
      open[which]++
      adjust()
      socket.once('close', () => {
        open[which]--
        adjust()
      })
    })
  count(server, 'all')
  count(other, 'ofOther')
  other.on('drop', (data) => server.emit('drop', data))
}

interface ClientError extends Error {
  code?: string
}

const WHY: Record<string, [ErrorCode, string]> = {
  HPE_HEADER_OVERFLOW: ['HEADERS_TOO_LARGE', 'The path or a header is too long.'],
  ERR_HTTP_REQUEST_TIMEOUT: ['REQUEST_TIMEOUT', 'The request did not arrive in time.'],
}

/**
 * Invalid HTTP and incomplete requests never reach a handler. They are answered on the raw socket, and then the connection
 * is closed whatever the client does.
 */
export const answerMalformed =
  ({ lingerMs }: Pick<ConnectionLimits, 'lingerMs'>) =>
  (error: ClientError, socket: Socket): void => {
    // Already answered; the client is still sending.
    if (socket.writableEnded && !socket.destroyed) return
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy()
      return
    }
    const [code, detail] = WHY[error.code ?? ''] ?? ['MALFORMED_REQUEST', 'The request is not valid HTTP.']
    socket.end(answer(code, detail))
    // Not destroyed at once: data the client still sends would reset the connection and lose the answer.
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

import { type Agent, type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import type { LookupFunction } from 'node:net'
import {
  AddressForbidden,
  type AddressRule,
  allowedOnly,
  namesForbiddenAddress,
  refusalOf,
} from './addresses.ts'

/**
 * One request and its answer, without redirects or retries and with a size limit. No proxy is used, whatever the environment
 * says: behind a proxy the address of the server could not be checked.
 */

const LARGEST_BODY_BYTES = 10 * 1024 * 1024
const KEEP_ALIVE_MS = 30_000

export interface ExchangeRequest {
  url: URL
  method: string
  headers: Record<string, string>
  body?: string
  signal: AbortSignal
  rule: AddressRule
  /** Resolves names instead of the system. */
  lookup?: LookupFunction | undefined
  /** Connections that are used again. Each was checked when it was made. By default each request has its own. */
  agent?: Agent | undefined
  /** Of the answer's body no more than this is read; the rest is not an error then. */
  cutAtBytes?: number | undefined
}

export type Exchange =
  | { kind: 'answer'; status: number; headers: IncomingMessage['headers']; body: string }
  /** The body exceeds the limit. */
  | { kind: 'too_large'; status: number }
  /**
   * The server could not be reached (`hasConnected` is false), or the connection broke; `wasReused`: one that it had closed in the very
   * moment in which it was used again.
   */
  | { kind: 'broken'; hasConnected: boolean; wasReused: boolean; message: string }
  /** Not sent: the address is not allowed. */
  | { kind: 'forbidden'; message: string }

/** Never rejects. */
export function exchange(asked: ExchangeRequest): Promise<Exchange> {
  const { url, method, headers, body, signal, rule, lookup, agent, cutAtBytes } = asked
  return new Promise((resolve) => {
    let hasConnected = false
    let wasReused = false
    const broken = (error: Error & { code?: string }) =>
      resolve(
        error instanceof AddressForbidden
          ? { kind: 'forbidden', message: error.message }
          : { kind: 'broken', hasConnected, wasReused, message: error.message || (error.code ?? error.name) },
      )
    // The lookup function is not called for plain addresses.
    if (namesForbiddenAddress(url, rule)) return broken(refusalOf(url.hostname, rule))
    const send = url.protocol === 'https:' ? requestHttps : requestHttp
    try {
      // By default a new connection: the other side may close a kept one in the very moment it is used.
      const pinned = allowedOnly(rule, lookup)
      const request = send(url, { method, headers, signal, agent: agent ?? false, lookup: pinned })
      request.on('error', (error: Error & { code?: string }) => {
        wasReused = request.reusedSocket && (error.code === 'ECONNRESET' || error.code === 'EPIPE')
        broken(error)
      })
      request.on('socket', (socket) => {
        // One that was used before is connected already, and would keep what is added to it.
        hasConnected = request.reusedSocket
        if (hasConnected) return
        // An agent may think for half an hour: network devices must not take the silence for a lost connection.
        socket.setKeepAlive(true, KEEP_ALIVE_MS)
        socket.once(url.protocol === 'https:' ? 'secureConnect' : 'connect', () => {
          hasConnected = true
        })
      })
      request.on('response', (response) => readAnswer(response, cutAtBytes).then(resolve, broken))
      request.end(body)
    } catch (error) {
      broken(error as Error)
    }
  })
}

async function readAnswer(response: IncomingMessage, cutAtBytes: number | undefined): Promise<Exchange> {
  const { statusCode: status = 0, headers } = response
  const chunks: Buffer[] = []
  let bytes = 0
  const read = () => Buffer.concat(chunks).subarray(0, cutAtBytes).toString('utf8')
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      bytes += chunk.length
      chunks.push(chunk)
      if (bytes > (cutAtBytes ?? LARGEST_BODY_BYTES)) {
        response.destroy()
        if (cutAtBytes !== undefined) break
        return { kind: 'too_large', status }
      }
    }
  } catch (error) {
    // What was read is enough, and the status is known.
    if (cutAtBytes === undefined) throw error
  }
  return { kind: 'answer', status, headers, body: read() }
}

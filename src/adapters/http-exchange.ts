import { type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import type { LookupFunction } from 'node:net'
import { AddressForbidden, allowedOnly, namesForbiddenAddress, refusalOf } from './http-addresses.ts'

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
  /** Resolves names instead of the system. */
  lookup?: LookupFunction | undefined
}

export type Exchange =
  | { kind: 'answer'; status: number; headers: IncomingMessage['headers']; body: string }
  /** The body exceeds the limit. */
  | { kind: 'too_large'; status: number }
  /** The server could not be reached (`hasConnected` is false), or the connection broke. */
  | { kind: 'broken'; hasConnected: boolean; message: string }
  /** Not sent: the address is not allowed. */
  | { kind: 'forbidden'; message: string }

/** Never rejects. */
export function exchange({ url, method, headers, body, signal, lookup }: ExchangeRequest): Promise<Exchange> {
  return new Promise((resolve) => {
    let hasConnected = false
    const broken = (error: Error & { code?: string }) =>
      resolve(
        error instanceof AddressForbidden
          ? { kind: 'forbidden', message: error.message }
          : { kind: 'broken', hasConnected, message: error.message || (error.code ?? error.name) },
      )
    // The lookup function is not called for plain addresses.
    if (namesForbiddenAddress(url)) return broken(refusalOf(url.hostname))
    const send = url.protocol === 'https:' ? requestHttps : requestHttp
    try {
      // A new connection: the other side may close a kept one in the very moment it is used.
      const request = send(url, { method, headers, signal, agent: false, lookup: allowedOnly(lookup) })
      request.on('error', broken)
      request.on('socket', (socket) => {
        // An agent may think for half an hour: network devices must not take the silence for a lost connection.
        socket.setKeepAlive(true, KEEP_ALIVE_MS)
        socket.once(url.protocol === 'https:' ? 'secureConnect' : 'connect', () => {
          hasConnected = true
        })
      })
      request.on('response', (response) => readAnswer(response).then(resolve, broken))
      request.end(body)
    } catch (error) {
      broken(error as Error)
    }
  })
}

async function readAnswer(response: IncomingMessage): Promise<Exchange> {
  const { statusCode: status = 0, headers } = response
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > LARGEST_BODY_BYTES) {
      response.destroy()
      return { kind: 'too_large', status }
    }
    chunks.push(chunk)
  }
  return { kind: 'answer', status, headers, body: Buffer.concat(chunks).toString('utf8') }
}

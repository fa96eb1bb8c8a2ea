import { type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import type { LookupFunction } from 'node:net'
import { AddressForbidden, allowedOnly, namesForbiddenAddress, refusalOf } from './http-addresses.ts'

/**
 * One request and its answer. Nothing is followed, nothing is tried again, and an answer has a largest size. No proxy is used,
 * whatever the environment says: behind one, nobody here would know which address is asked.
 */

const LARGEST_BODY_BYTES = 10 * 1024 * 1024
const KEEP_ALIVE_MS = 30_000

export interface ExchangeRequest {
  url: URL
  method: string
  headers: Record<string, string>
  body?: string
  signal: AbortSignal
  /** How names become addresses, if not as the system does it. */
  lookup?: LookupFunction | undefined
}

export type Exchange =
  | { kind: 'answer'; status: number; headers: IncomingMessage['headers']; body: string }
  /** Too large to be read. */
  | { kind: 'too_large'; status: number }
  /** Nobody was there (`hasConnected` is false), or the connection broke. */
  | { kind: 'broken'; hasConnected: boolean; message: string }
  /** Nobody was asked: the address is none that an agent may have. */
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
    // Nothing is looked up for an address.
    if (namesForbiddenAddress(url)) return broken(refusalOf(url.hostname))
    const send = url.protocol === 'https:' ? requestHttps : requestHttp
    try {
      // A connection of its own: one that was kept may be closed by the other side in the very moment it is used.
      const request = send(url, { method, headers, signal, agent: false, lookup: allowedOnly(lookup) })
      request.on('error', broken)
      request.on('socket', (socket) => {
        // An agent may think for half an hour: the silence must not look like a lost connection to those in between.
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

import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach } from 'vitest'
import { until } from './nodes.ts'

/** Programs that take webhooks. */

export interface Received {
  id: string
  headers: IncomingMessage['headers']
  path: string
  /** As it arrived. */
  text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into messages as a receiver would
  body: any
  /** When, by the clock of the test. */
  at: number
}

type Answering = (received: Received, response: ServerResponse) => unknown

export interface Receiver {
  url: string
  port: number
  /** All that have arrived, in their order, whatever the answer was. */
  received: Received[]
  /** Answers from now on in this way. */
  answers(answering: Answering): void
  /** Waits for so many messages that fit, and returns them. */
  gets(times: number, fits?: (received: Received) => boolean): Promise<Received[]>
  close(): Promise<void>
}

export const ok: Answering = (_received, response) => response.end('ok')
export const status =
  (code: number, headers: Record<string, string> = {}): Answering =>
  (_received, response) =>
    response.writeHead(code, headers).end(`answer ${code}`)

export async function startReceiver(answering: Answering = ok, port = 0): Promise<Receiver> {
  let answer = answering
  const received: Received[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const text = Buffer.concat(chunks).toString()
    const isJson = request.headers['content-type'] === 'application/json'
    const one: Received = {
      id: String(request.headers['webhook-id']),
      ...{ headers: request.headers, path: request.url!, text, body: isJson ? JSON.parse(text) : text },
      at: Date.now(),
    }
    received.push(one)
    await answer(one, response)
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const own = (server.address() as AddressInfo).port
  return {
    ...{ url: `http://127.0.0.1:${own}/hook`, port: own, received },
    answers: (next) => {
      answer = next
    },
    gets: (times, fits = () => true) =>
      until(async () => {
        const found = received.filter(fits)
        return found.length >= times && found
      }),
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Receivers that end with each test. */
export function useReceivers() {
  const open: Receiver[] = []
  afterEach(async () => {
    for (const one of open.splice(0)) await one.close()
  })
  return async (answering?: Answering) => {
    const receiver = await startReceiver(answering)
    open.push(receiver)
    return receiver
  }
}

import { request } from 'node:http'
import { expect } from 'vitest'
import { WebSocket } from 'ws'
import type { ServerUnderTest } from './server.ts'

/** A browser that is signed in: what it keeps, and what it sends. */

export interface BrowserAnswer {
  status: number
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers as a client would
  body: any
  headers: Record<string, string | string[] | undefined>
}

/** A request with exactly these headers, which `fetch` does not allow. */
export function sendAs(
  { url }: Pick<ServerUnderTest, 'url'>,
  method: string,
  path: string,
  headers: Record<string, string> = {},
  body?: unknown,
): Promise<BrowserAnswer> {
  return new Promise((resolve, reject) => {
    const text = body === undefined ? undefined : JSON.stringify(body)
    const type: Record<string, string> = text === undefined ? {} : { 'content-type': 'application/json' }
    const sent = request(new URL(path, url), { method, headers: { ...type, ...headers } }, (response) => {
      let all = ''
      response.setEncoding('utf8').on('data', (chunk) => (all += chunk))
      response.on('end', () => {
        const isJson = (response.headers['content-type'] ?? '').includes('json')
        resolve({
          status: response.statusCode!,
          headers: response.headers,
          body: isJson ? JSON.parse(all) : all,
        })
      })
    })
    sent.on('error', reject).end(text)
  })
}

export interface Browser {
  /** What POST /session answered. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers as a client would
  session: any
  cookie: string
  pageValue: string
  /** What a page of ours sends with each request. */
  headers: Record<string, string>
  call(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
    on?: ServerUnderTest,
  ): Promise<BrowserAnswer>
  /** Opens the socket with a ticket. */
  socket(query?: string, on?: ServerUnderTest): Promise<WebSocket>
}

/** The part of Set-Cookie that a browser sends back. */
export const cookieIn = ({ headers }: BrowserAnswer) => String(headers['set-cookie']).split(';')[0]!

export async function signedIn(
  server: ServerUnderTest,
  by: { key: string } | { token: string },
): Promise<Browser> {
  const answer = await sendAs(server, 'POST', '/api/v1/session', { origin: server.url }, by)
  expect(answer.status, JSON.stringify(answer.body)).toBe(201)
  const cookie = cookieIn(answer)
  const { pageValue } = answer.body
  const headers = { cookie, 'baton-session': pageValue, 'sec-fetch-site': 'same-origin' }
  const call: Browser['call'] = (method, path, body, more = {}, on = server) =>
    sendAs(on, method, `/api/v1${path}`, { ...headers, ...more }, body)
  return {
    session: answer.body,
    cookie,
    pageValue,
    headers,
    call,
    async socket(query = '', on = server) {
      const { body } = await call('POST', '/session/ticket')
      return socketAt(on, `?ticket=${body.ticket}${query}`)
    },
  }
}

export const socketAt = (
  { api, url }: ServerUnderTest,
  query: string,
  headers: Record<string, string> = {},
  origin = url,
) => new WebSocket(`${api.replace('http', 'ws')}/events/ws${query}`, { origin, headers })

/** The status with which a socket is refused, or 'opened'. */
export async function refusalOf(socket: WebSocket): Promise<number | 'opened'> {
  const outcome = await new Promise<number | 'opened'>((resolve) => {
    socket.once('open', () => resolve('opened'))
    socket.once('unexpected-response', (_request, response) => resolve(response.statusCode!))
  })
  socket.on('error', () => undefined).terminate()
  return outcome
}

/** The token of a new one-time link. */
export async function newLinkToken(server: ServerUnderTest, key = server.ownerKey): Promise<string> {
  const made = await server.call('POST', '/session/link', {}, { key })
  expect(made.status, JSON.stringify(made.body)).toBe(201)
  return new URL(made.body.url).hash.slice(1)
}

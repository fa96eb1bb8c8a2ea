import { backoffMs, wait } from './backoff.ts'
import type { Method } from './calls.ts'
import { isPassing, NoAnswer, Problem } from './problems.ts'

/** Sends one request and reads its answer. */

export interface Server {
  /** Where the server is, without `/api/v1`; '' in a page that it serves. */
  baseUrl: string
  key?: string | undefined
  workspace?: string | undefined
  headers?: Readonly<Record<string, string>> | undefined
  fetch?: typeof fetch | undefined
}

export interface Request {
  method: Method
  path: string
  params?: Readonly<Record<string, string>> | undefined
  query?: Readonly<Record<string, string | number | undefined>> | undefined
  body?: unknown
  headers?: Readonly<Record<string, string>> | undefined
  signal?: AbortSignal | undefined
}

export interface Answer {
  body: unknown
  headers: Headers
}

/** Throws `Problem` or `NoAnswer`, or the reason of the signal. */
export async function ask(server: Server, request: Request): Promise<Answer> {
  const response = await open(server, request, 'application/json')
  const text = await textOf(response, request.signal)
  return { body: bodyOf(response, text), headers: response.headers }
}

/** Logs, reports and plans may be text. A page in HTML is of something in between. */
function bodyOf({ headers, status }: Response, text: string): unknown {
  if (status === 204) return undefined
  const isText = /^(text\/(?!html)|application\/yaml)/.test(headers.get('content-type') ?? '')
  return isText ? text : parsed(text)
}

const MOST_TRIES = 4

/** The same request again while the failure is one that passes. Only for requests that may arrive twice. */
export async function askUntilAnswered(server: Server, request: Request): Promise<Answer> {
  for (let failures = 1; ; failures++) {
    try {
      return await ask(server, request)
    } catch (error) {
      if (failures === MOST_TRIES || !isPassing(error)) throw error
      await wait(backoffMs(failures, error), request.signal)
    }
  }
}

/** The response to a request, once its head is there. */
export async function open(
  { baseUrl, key, workspace, headers, fetch = globalThis.fetch }: Server,
  request: Request,
  accept: string,
): Promise<Response> {
  const { method, body, signal } = request
  const response = await fetch(baseUrl.replace(/\/$/, '') + pathOf(request), {
    method,
    credentials: 'same-origin',
    headers: {
      ...headers,
      accept,
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      ...(workspace === undefined ? {} : { 'x-workspace-id': workspace }),
      // A plan is text; its problems are reported by line.
      ...(body === undefined
        ? {}
        : { 'content-type': typeof body === 'string' ? 'application/yaml' : 'application/json' }),
      ...request.headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    ...(signal ? { signal } : {}),
  }).catch(whyNot(signal))
  if (!response.ok) throw await problemIn(response, signal)
  return response
}

function pathOf({ path, params = {}, query = {} }: Request): string {
  const filled = path.replace(/:(\w+)/g, (_, name: string) => segment(name, params[name]))
  const given = Object.entries(query).filter(([, value]) => value !== undefined)
  const search = new URLSearchParams(
    given.map(([name, value]): [string, string] => [name, String(value)]),
  ).toString()
  return `/api/v1${filled}${search === '' ? '' : `?${search}`}`
}

/** In a path, nothing and dots are not names: the request would go to another address. */
function segment(name: string, value: string | undefined): string {
  if (value === undefined || /^\.{0,2}$/.test(value))
    throw new TypeError(`"${name}" cannot be "${value ?? ''}" in a path.`)
  return encodeURIComponent(value)
}

/** What a failed fetch means. */
const whyNot =
  (signal: AbortSignal | undefined) =>
  (error: unknown): never => {
    if (signal?.aborted) throw signal.reason
    throw new NoAnswer('Baton does not answer.', { cause: error })
  }

const textOf = (response: Response, signal: AbortSignal | undefined) => response.text().catch(whyNot(signal))

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new NoAnswer('The answer is not JSON: it is not of Baton, or it was cut off.', { cause: error })
  }
}

async function problemIn(response: Response, signal: AbortSignal | undefined): Promise<Problem> {
  const text = await textOf(response, signal)
  const { headers, status } = response
  const isJson = /\bjson\b/.test(headers.get('content-type') ?? '')
  const body = isJson ? parsed(text) : null
  const seconds = Number(headers.get('retry-after') ?? Number.NaN)
  return new Problem(
    status,
    typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {},
    Number.isFinite(seconds) ? seconds * 1000 : null,
  )
}

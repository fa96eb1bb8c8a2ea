import type { AnswerTo, CallOptions, Method, PathOf, PathOfReadPost, Read } from './calls.ts'
import { type BatonEvent, type EventOptions, followEvents } from './events.ts'
import { type Answer, ask, askUntilAnswered, type Request, type Server } from './request.ts'

/** The client of the API, for browsers and Node: every call is typed by its method and path. */

export type { AnswerTo, PathOf, Read } from './calls.ts'
export type { BatonEvent, EventOptions, SocketFrame, SocketMessage, SocketQuery } from './events.ts'
export { NoAnswer, Problem } from './problems.ts'

type Call<M extends Method> = <P extends PathOf<M>>(
  path: P,
  ...options: CallOptions<M, P>
) => Promise<AnswerTo<M, P>>

export interface Client {
  readonly get: Call<'GET'>
  readonly post: Call<'POST'>
  readonly put: Call<'PUT'>
  readonly patch: Call<'PATCH'>
  readonly delete: Call<'DELETE'>
  /** A GET with the place in the log that its answer shows. */
  read<P extends PathOf<'GET'>>(path: P, ...options: CallOptions<'GET', P>): Promise<Read<AnswerTo<'GET', P>>>
  /** The same for requests that read with a body. */
  readPost<P extends PathOfReadPost>(
    path: P,
    ...options: CallOptions<'POST', P>
  ): Promise<Read<AnswerTo<'POST', P>>>
  /** The events after `after`, as they are written. Resumes automatically, and ends with its signal. */
  events(options: EventOptions): AsyncGenerator<BatonEvent, void, void>
}

/** The next one makes up for one that is lost, and there are many: their answers are stored only when a key asks for it. */
const MAKES_UP = /\/(heartbeat|renew)$/

/** The options of all calls. The types of a call say which of them it takes. */
interface Given extends Pick<Request, 'params' | 'query' | 'body' | 'signal'> {
  ifMatch?: string | undefined
  idempotencyKey?: string | undefined
  retry?: boolean | undefined
}

export function createClient(server: Server): Client {
  const reading = (method: Method, path: string, given: Given = {}) =>
    askUntilAnswered(server, requestOf(method, path, given))
  const writing =
    (method: Method) =>
    async (path: string, given: Given = {}) => {
      const getsKey = method === 'POST' && (given.retry || !MAKES_UP.test(path))
      const { idempotencyKey = getsKey ? newKey() : undefined } = given
      const request = requestOf(method, path, { ...given, idempotencyKey })
      // What may have arrived is repeated only when asked for: under its key it counts once.
      return (await (given.retry ? askUntilAnswered : ask)(server, request)).body
    }
  return {
    get: async (path: string, given?: Given) => (await reading('GET', path, given)).body,
    post: writing('POST'),
    put: writing('PUT'),
    patch: writing('PATCH'),
    delete: writing('DELETE'),
    read: async (path: string, given?: Given) => readIn(await reading('GET', path, given)),
    readPost: async (path: string, given?: Given) => readIn(await reading('POST', path, given)),
    events: (options: EventOptions) => followEvents(server, options),
    // Here all calls are alike. By way of unknown: to compare the types of all endpoints takes the compiler a minute.
  } as unknown as Client
}

function requestOf(method: Method, path: string, { ifMatch, idempotencyKey, ...given }: Given): Request {
  return {
    method,
    path,
    params: given.params,
    query: given.query,
    body: given.body,
    signal: given.signal,
    headers: {
      ...(ifMatch === undefined ? {} : { 'if-match': ifMatch }),
      ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
    },
  }
}

/** Not randomUUID(): browsers have it on pages over https only. */
function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

function readIn({ body, headers }: Answer): Read<unknown> {
  const seq = headers.get('baton-seq')
  if (seq === null) throw new Error('The answer does not say which events it shows (Baton-Seq).')
  return { body, seq: Number(seq), etag: headers.get('etag') }
}

import type { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { constants, gzip } from 'node:zlib'
import type {
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  RouteHandlerMethod,
  RouteShorthandOptions,
} from 'fastify'
import type { Act, Door } from '../door/door.ts'
import type { AnswerOfEndpoint, Endpoint, RouteOf } from '../pure/endpoint.ts'
import { HttpCall } from './call.ts'
import type { KeyRing } from './key-ring.ts'
import { setExactSeq } from './log-head.ts'
import { route } from './schema.ts'

const compress = promisify(gzip)
const SMALLEST_BYTES = 10_000

/** Sends an answer that may be large: compressed, if the client takes it so. */
async function sendCompressed(
  request: FastifyRequest,
  reply: FastifyReply,
  answer: object,
): Promise<FastifyReply> {
  const text = JSON.stringify(answer)
  setExactSeq(reply, answer)
  reply.header('vary', 'accept-encoding').type('application/json; charset=utf-8')
  if (text.length < SMALLEST_BYTES || !takesGzip(request)) return reply.send(text)
  const packed = await compress(text, { level: constants.Z_BEST_SPEED })
  return reply.header('content-encoding', 'gzip').send(packed)
}

const takesGzip = ({ headers }: FastifyRequest) =>
  /(^|,)\s*(gzip|\*)\s*(;\s*q=(1|0?\.\d*[1-9]\d*)[0.]*)?\s*(,|$)/.test(
    String(headers['accept-encoding'] ?? ''),
  )

type Handler<E extends Endpoint> = (
  request: FastifyRequest<RouteOf<E>>,
  reply: FastifyReply,
) => Promise<AnswerOfEndpoint<E> | FastifyReply> | AnswerOfEndpoint<E> | FastifyReply

/** Serves an endpoint with a handler that works with HTTP itself. Most have a handler that does not: `serveAct`. */
export const serve = <E extends Endpoint>(app: FastifyInstance, endpoint: E, handler: Handler<E>): void =>
  // Fastify cannot infer the types of a request from the shapes of a value.
  register(app, endpoint, handler as unknown as RouteHandlerMethod)

/** Serves an endpoint: its handler answers with a value, and this does what the endpoint states. */
export function serveAct(
  app: FastifyInstance,
  { endpoint, complete, handle }: Act,
  door: Door,
  keys: KeyRing,
): void {
  const send = senderOf(endpoint)
  const handler = (request: FastifyRequest, reply: FastifyReply) => {
    const answered = handle(door, new HttpCall(endpoint, request, reply, door, keys))
    return send ? Promise.resolve(answered).then((answer) => send(answer, request, reply)) : answered
  }
  const preValidation = (request: FastifyRequest) => complete?.(door, request)
  register(app, endpoint, handler, complete ? { preValidation } : {})
}

function register(
  app: FastifyInstance,
  endpoint: Endpoint,
  handler: RouteHandlerMethod,
  more: RouteShorthandOptions = {},
): void {
  const { status = 200 } = endpoint
  app.route({
    method: endpoint.method,
    url: endpoint.path,
    ...route(endpoint),
    ...more,
    handler:
      status === 200 || typeof status !== 'number'
        ? handler
        : function (request, reply) {
            // A refusal sets its own.
            reply.code(status)
            return handler.call(this, request, reply)
          },
  })
}

type Send = (answer: unknown, request: FastifyRequest, reply: FastifyReply) => unknown

/** Null: the answer is sent as it is, without a delay. */
function senderOf({ status, answer, etag, isLarge, isSecret, mediaTypes }: Endpoint): Send | null {
  if (typeof status !== 'object' && answer && !etag && !isLarge && !isSecret && !mediaTypes) return null
  return (answered, request, reply) => {
    let body = answered
    if (typeof status === 'object') {
      const chosen = answered as { status: number; answer: unknown }
      reply.code(chosen.status)
      body = chosen.answer
    }
    if (etag) reply.header('etag', `"${versionOf(body, etag)}"`)
    if (isSecret) reply.header('cache-control', 'no-store')
    if (isLarge) return sendCompressed(request, reply, body as object)
    // Text of another media type would be serialized as JSON.
    if (typeof body === 'string') reply.serializer((text: unknown) => text as string)
    return reply.send(answer === null ? undefined : (body as string | Readable | object))
  }
}

function versionOf(answer: unknown, etag: 'version' | 'task.version'): number {
  const { version, task } = answer as { version: number; task?: { version: number } }
  return etag === 'version' ? version : task!.version
}

import type {
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  RouteHandlerMethod,
  RouteShorthandOptions,
} from 'fastify'
import type { AnswerOfEndpoint, Endpoint, RouteOf } from '../core/api/endpoint.ts'
import { route } from './schema.ts'

type Handler<E extends Endpoint> = (
  request: FastifyRequest<RouteOf<E>>,
  reply: FastifyReply,
) => Promise<AnswerOfEndpoint<E> | FastifyReply> | AnswerOfEndpoint<E> | FastifyReply

/** Registers the handler of an endpoint, typed and validated by its shapes. */
export function serve<E extends Endpoint>(
  app: FastifyInstance,
  endpoint: E,
  handler: Handler<E>,
  more: RouteShorthandOptions = {},
): void {
  app.route({
    method: endpoint.method,
    url: endpoint.path,
    ...route(endpoint),
    ...more,
    // Fastify cannot infer the types of a request from the shapes of a value.
    handler: handler as unknown as RouteHandlerMethod,
  })
}

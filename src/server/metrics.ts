import { createServer, type Server } from 'node:http'
import type { FastifyInstance } from 'fastify'
import type { Metrics } from '../metrics/metrics.ts'
import * as api from '../views/health/api.ts'
import { serve } from './endpoint.ts'
import { nameOf } from './page-host.ts'

/** Metrics over HTTP: on the port of the API for keys with the right "metrics", and on a port of their own for this machine. */

export function metricsRoute(app: FastifyInstance, metrics: Metrics): void {
  serve(app, api.readMetrics, async (_request, reply) => {
    const text = await metrics.text()
    return reply
      .type(metrics.contentType)
      .serializer((body: unknown) => body as string)
      .send(text)
  })
}

/** Counts requests by the pattern of their route: paths have ids in them. */
export function measureRequests(app: FastifyInstance, metrics: Metrics): void {
  app.addHook('onResponse', (request, reply, done) => {
    const route = request.is404 ? 'unknown' : (request.routeOptions.url ?? 'unknown')
    metrics.answered(request.method, route, reply.statusCode, reply.elapsedTime)
    done()
  })
}

const LOOPBACK = '127.0.0.1'
const LOOPBACK_NAMES: readonly string[] = ['localhost', LOOPBACK]

/** On the loopback interface only. A web page that was rebound to it asks under another host. */
export async function serveMetricsHere(metrics: Metrics, port: number): Promise<() => Promise<void>> {
  const server = createServer((request, response) => {
    const refuse = (status: number, sentence: string) =>
      response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(`${sentence}\n`)
    if (!LOOPBACK_NAMES.includes(nameOf(request.headers.host ?? '')))
      return refuse(403, 'Metrics are served here under the name 127.0.0.1 only.')
    if (request.method !== 'GET' || request.url?.split('?')[0] !== '/metrics')
      return refuse(404, 'Metrics are at /metrics.')
    metrics.text().then(
      (text) => response.writeHead(200, { 'content-type': metrics.contentType }).end(text),
      () => refuse(500, 'The metrics could not be read.'),
    )
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, LOOPBACK, resolve)
  })
  return () => closed(server)
}

const closed = (server: Server) =>
  new Promise<void>((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })

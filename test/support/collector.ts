import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gunzipSync } from 'node:zlib'
import { z } from 'zod'

/** A collector of OpenTelemetry on this machine: what it was sent, as OTLP over HTTP in JSON. */

const Attribute = z.object({
  key: z.string(),
  value: z.object({
    stringValue: z.string().optional(),
    intValue: z.coerce.number().optional(),
    doubleValue: z.number().optional(),
  }),
})
const Sent = z.object({
  resourceSpans: z.array(
    z.object({
      resource: z.object({ attributes: z.array(Attribute) }),
      scopeSpans: z.array(
        z.object({
          spans: z.array(
            z.object({
              ...{ traceId: z.string(), spanId: z.string(), parentSpanId: z.string().optional() },
              ...{
                name: z.string(),
                startTimeUnixNano: z.coerce.number(),
                endTimeUnixNano: z.coerce.number(),
              },
              attributes: z.array(Attribute),
              status: z.object({ code: z.number().optional(), message: z.string().optional() }),
            }),
          ),
        }),
      ),
    }),
  ),
})

const named = (attributes: readonly z.infer<typeof Attribute>[]) =>
  Object.fromEntries(
    attributes.map(({ key, value }) => [key, value.stringValue ?? value.intValue ?? value.doubleValue]),
  )

type SentSpan = z.infer<typeof Sent>['resourceSpans'][number]['scopeSpans'][number]['spans'][number]

export interface CollectedSpan extends Omit<SentSpan, 'attributes'> {
  node: unknown
  attributes: Record<string, unknown>
}

export interface Collector {
  url: string
  spans: CollectedSpan[]
  requests: number
  close(): Promise<void>
}

/** `answers: false`: it takes requests and never answers. */
export async function startCollector({ answers = true } = {}): Promise<Collector> {
  const collector: Collector = { url: '', spans: [], requests: 0, close: async () => undefined }
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      collector.requests += 1
      if (!answers) return
      const body = Buffer.concat(chunks)
      const text = request.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body
      if (request.url === '/v1/traces') collector.spans.push(...spansIn(String(text)))
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  collector.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  collector.close = () =>
    new Promise((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  return collector
}

const spansIn = (text: string): CollectedSpan[] =>
  Sent.parse(JSON.parse(text)).resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) =>
      spans.map((span) => ({
        ...span,
        node: named(resource.attributes)['service.instance.id'],
        attributes: named(span.attributes),
      })),
    ),
  )

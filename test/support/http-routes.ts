import { Agent, request } from 'node:http'
import { inAnHour } from './http-workspace.ts'
import type { ServerUnderTest } from './server.ts'

/** The routes of a server as its own OpenAPI document tells them, with a well-formed body for each. */

export interface Schema {
  type?: string
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  anyOf?: Schema[]
  enum?: unknown[]
  const?: unknown
  pattern?: string
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  minItems?: number
  maxItems?: number
}

export interface Route {
  method: string
  /** Below /api/v1, with `{id}` for ids. */
  path: string
  tag: string
  query: string[]
  body: Schema | null
  isOpen: boolean
}

type Document = {
  paths: Record<
    string,
    Record<
      string,
      {
        tags: string[]
        security?: unknown[]
        parameters?: { name: string; in: string }[]
        requestBody?: { content: { 'application/json': { schema: Schema } } }
      }
    >
  >
}

const PREFIX = '/api/v1'

export async function routesOf(server: ServerUnderTest): Promise<Route[]> {
  const { paths } = (await (await fetch(`${server.url}/openapi.json`)).json()) as Document
  return Object.entries(paths)
    .filter(([path]) => path.startsWith(PREFIX))
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({
        method: method.toUpperCase(),
        path: path.slice(PREFIX.length),
        tag: operation.tags[0]!,
        query: (operation.parameters ?? []).filter((p) => p.in === 'query').map(({ name }) => name),
        body: operation.requestBody?.content['application/json'].schema ?? null,
        isOpen: operation.security?.length === 0,
      })),
    )
}

/** What requests may refer to: a task held by alpha in session s-alpha, the session itself and a key. */
export interface Things {
  task: string
  session: string
  key: string
}

/** The path with an id of the kind it wants. A new kind of id must be added here before its routes are tested. */
export function pathTo(route: Pick<Route, 'path'>, things: Things): string {
  if (!route.path.includes('{')) return route.path
  const [, kind] = /^\/(tasks|sessions|keys)\/\{id\}/.exec(route.path) ?? []
  if (!kind)
    throw new Error(`${route.path}: which id should stand here? Say so in test/support/http-routes.ts.`)
  return route.path.replace('{id}', things[kind.slice(0, -1) as keyof Things])
}

/** A body with every field the schema knows, all of them right. */
export function sampleOf(schema: Schema, things: Things, name = ''): unknown {
  if (schema.anyOf) return sampleOf(schema.anyOf.find(({ type }) => type !== 'null')!, things, name)
  if (/^(taskIds?|dependsOn)$/.test(name) && schema.type === 'string') return things.task
  if (name in KNOWN && schema.type !== 'array') return KNOWN[name]
  if (schema.const !== undefined) return schema.const
  if (schema.enum) return schema.enum[0]
  switch (schema.type) {
    case 'object':
      return Object.fromEntries(
        Object.entries(schema.properties ?? {}).map(([field, inner]) => [
          field,
          sampleOf(inner, things, field),
        ]),
      )
    case 'array':
      return [sampleOf(schema.items!, things, name)]
    case 'integer':
    case 'number':
      return schema.minimum ?? 1
    case 'boolean':
      return true
    case 'string':
      return 'sample'
    default:
      return { free: ['json', 1, null] }
  }
}

const KNOWN: Record<string, unknown> = {
  session: 's-alpha',
  agent: 'alpha',
  generation: 1,
  leaseSeconds: 60,
  key: 'A-001-sample',
  runAt: inAnHour(),
  retryAt: inAnHour(),
  expiresAt: inAnHour(),
}

export interface Reply {
  status: number
  type: string
  text: string
}

const agent = new Agent({ keepAlive: true, maxSockets: 16 })

/** A request as it is: any method, any header, any bytes. */
export function send(
  server: ServerUnderTest,
  method: string,
  path: string,
  {
    body,
    headers = {},
    key = server.ownerKey,
  }: { body?: string | Buffer; headers?: Record<string, string>; key?: string } = {},
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(server.url)
    const all = {
      authorization: `Bearer ${key}`,
      ...(body === undefined
        ? {}
        : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
      ...headers,
    }
    const given = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ''))
    const sent = request(
      { hostname, port, method, path: `${PREFIX}${path}`, headers: given, agent },
      (response) => {
        let text = ''
        response.setEncoding('utf8')
        response.on('data', (chunk) => (text += chunk))
        response.on('end', () =>
          resolve({ status: response.statusCode!, type: response.headers['content-type'] ?? '', text }),
        )
        response.on('error', reject)
      },
    )
    // A server may answer before it has read a body it does not want; then the answer is what counts.
    sent.on('error', reject)
    sent.end(body)
  })
}

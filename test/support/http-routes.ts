import { Agent, request } from 'node:http'
import { inOneHour } from './http-workspace.ts'
import type { ServerUnderTest } from './server.ts'

/** The routes of a server according to its own OpenAPI document, with a well-formed body for each. */

export interface Schema {
  type?: string
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  anyOf?: Schema[]
  oneOf?: Schema[]
  enum?: unknown[]
  const?: unknown
  pattern?: string
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  minItems?: number
  maxItems?: number
  additionalProperties?: unknown
}

export interface Route {
  method: string
  /** Below /api/v1, with `{id}` and the like as placeholders. */
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

/** What requests may refer to, all of one workspace. */
export interface Things {
  /** Held by alpha in session s-alpha, at generation 2. */
  task: string
  /** The task's rejected result of generation 1. */
  ref: string
  /** A task in the queue. */
  waiting: string
  session: string
  worker: string
  /** Registered, and paused. */
  agent: string
  workspace: string
  key: string
  project: string
  track: string
  /** One that is over. */
  run: string
  /** Its plan waits for approval. */
  mission: string
  /** A report on that mission. */
  report: string
  /** That plan in the inbox. */
  item: string
  /** One that tasks may join, in the project. */
  runningMission: string
  routine: string
  hook: string
  browserSession: string
  /** Whose price the workspace has set; no list has it. */
  model: string
  /** Of an agent that does nothing. */
  budget: string
  /** Of another one. */
  otherBudget: string
  /** Of the node: the same for all workspaces. */
  adapter: string
  /** One that is open. */
  alert: string
  /** The cause of that, with a threshold that the workspace has set; the causes are the same for all workspaces. */
  threshold: string
  /** What else is named by an id, by the path of its list. */
  [list: `/${string}`]: string
}

/** What each placeholder stands for, by the path up to it. Another one is the id of what a POST on the path before it makes. */
const STANDS_FOR: Record<string, keyof Things> = {
  '/tasks/{id}': 'task',
  '/tasks/{id}/results/{ref}': 'ref',
  '/sessions/{id}': 'session',
  '/workers/{id}': 'worker',
  '/agents/{id}': 'agent',
  '/runs/{id}': 'run',
  '/keys/{id}': 'key',
  '/projects/{slug}': 'project',
  '/projects/{slug}/tracks/{track}': 'track',
  '/missions/{id}': 'mission',
  '/inbox/{id}': 'item',
  '/reports/{id}': 'report',
  '/routines/{id}': 'routine',
  '/hooks/{id}': 'hook',
  '/session/all/{id}': 'browserSession',
  '/adapters/{type}': 'adapter',
  '/workspaces/{id}': 'workspace',
  '/prices/{model}': 'model',
  '/model-tiers/{type}': 'adapter',
  '/budgets/{id}': 'budget',
  '/alerts/{id}': 'alert',
  '/thresholds/{cause}': 'threshold',
}

/** The things a path names, in order. */
export const namedIn = ({ path }: Pick<Route, 'path'>): (keyof Things)[] =>
  [...path.matchAll(/\{\w+\}/g)].map(
    ({ 0: placeholder, index }) =>
      STANDS_FOR[path.slice(0, index + placeholder.length)] ?? (path.slice(0, index - 1) as `/${string}`),
  )

export function pathTo(route: Pick<Route, 'path'>, things: Things): string {
  const named = namedIn(route)
  return route.path.replace(/\{\w+\}/g, () => things[named.shift()!]!)
}

/** The same id for everything. */
export const allOf = (id: string): Things => new Proxy({} as Things, { get: () => id })

/** A plan is text that the API document has no schema for: the one body that is not generated. */
export const takesPlan = ({ method, path }: Pick<Route, 'method' | 'path'>) =>
  PLAN_ROUTES.includes(`${method} ${path}`)
export const PLAN_ROUTES = ['PUT /projects/{slug}/plan', 'POST /plans/check', 'PUT /missions/{id}/plan']
const MISSION_PLAN = { tasks: [{ tempId: 'sample' }] }
const samplePlan = ({ path }: Pick<Route, 'path'>, { project }: Things) =>
  JSON.stringify(
    path.startsWith('/missions') ? MISSION_PLAN : { project, tracks: { A: [{ id: 'A-001-sample' }] } },
  )

/** A delivery has no key and proves itself: a hook notes it when it cannot. Its tests are those of hooks. */
export const takesSigned = ({ method, path }: Pick<Route, 'method' | 'path'>) =>
  method === 'POST' && path === '/hooks/{id}'

/** The body of a valid request, as JSON; undefined where there is none. */
export function bodyFor(route: Route, things: Things): string | undefined {
  if (takesPlan(route)) return samplePlan(route, things)
  if (!route.body) return undefined
  // No task depends on itself; and the other one is held, so that it cannot get dependencies.
  const named = route.path.startsWith('/tasks/{id}') ? { ...things, task: things.waiting } : things
  const sample = sampleOf(route.body, named) as Record<string, unknown>
  if (route.method === 'PATCH')
    for (const name of ['dependsOn', 'removeDependsOn', 'taskType']) delete sample[name]
  // Of another act than the sample's.
  if (route.path === '/tasks/act') delete sample.fields
  return JSON.stringify(sample)
}

/** A body with every field of the schema, all of them valid. */
export function sampleOf(schema: Schema, things: Things, name = ''): unknown {
  if (schema.anyOf) return sampleOf(schema.anyOf.find(({ type }) => type !== 'null')!, things, name)
  if (schema.oneOf) return sampleOf(schema.oneOf[0]!, things, name)
  if (schema.type === 'string' && name in NAMING) return things[NAMING[name]!]
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
      // Of a JSON Schema: it would name what is not there.
      return name === 'required' ? [] : [sampleOf(schema.items!, things, name)]
    case 'integer':
    case 'number':
      return schema.minimum ?? 1
    case 'boolean':
      return true
    case 'string':
      return isDollars(schema) ? '1.00' : 'sample'
    default:
      return { free: ['json', 1, null] }
  }
}

const isDollars = ({ pattern }: Schema) =>
  pattern !== undefined && new RegExp(pattern).test('1.00') && !new RegExp(pattern).test('sample')

/** Fields that name things. */
const NAMING: Record<string, keyof Things> = {
  taskId: 'task',
  taskIds: 'task',
  ids: 'task',
  id: 'task',
  dependsOn: 'task',
  removeDependsOn: 'task',
  parentId: 'waiting',
  currentTaskId: 'task',
  workspaceId: 'workspace',
  project: 'project',
  tracks: 'track',
  mission: 'runningMission',
  after: 'runningMission',
  routine: 'routine',
  to: 'otherBudget',
  from: 'otherBudget',
}

const DAY_SECONDS = 86_400
const KNOWN: Record<string, unknown> = {
  // A comment of the same thread: there is none.
  replyTo: undefined,
  // One that is registered.
  reportAgent: undefined,
  // Goes with other fields than the sample's.
  instanceAdmin: false,
  session: 's-alpha',
  agent: 'alpha',
  generation: 2,
  leaseSeconds: 3_600,
  key: 'A-001-sample',
  // The minimum would be so small that the limits of the workspace, or time, would refuse it.
  minLeaseSeconds: 30,
  maxLeaseSeconds: 3_600,
  maxGenerationsPerTask: 100,
  maxConcurrentClaims: 100,
  maxActiveSessions: 50,
  heartbeatSeconds: DAY_SECONDS,
  ttlSeconds: DAY_SECONDS,
  heartbeatIntervalSeconds: 1,
  staleThresholdSeconds: DAY_SECONDS,
  adapterType: 'external',
  silentMs: 60_000,
  sentAt: '2026-01-01T00:00:00Z',
  runAt: inOneHour(),
  retryAt: inOneHour(),
  estimatedCompletionAt: inOneHour(),
  expiresAt: inOneHour(),
  startAt: inOneHour(),
  plan: MISSION_PLAN,
  cron: '0 2 * * *',
  timeZone: 'Europe/Berlin',
  // Nothing answers there, and such an event does not happen.
  ...{ url: 'http://127.0.0.1:9/hook', events: 'routine_failed' },
  secret: `whsec_${Buffer.alloc(32, 1).toString('base64')}`,
  // One that there is; without it, all of them.
  delivery: undefined,
  // Nobody works on it.
  toHolder: false,
  // Instead of a plan.
  fromMission: undefined,
  // The first scope is the workspace, which has no id.
  scopeId: undefined,
  maxUsd: '5.00',
  approveBelowUsd: '1.00',
  // A JSON pointer.
  at: '/sample',
  // Old names of maxUsd and maxTokens.
  ...{ limitUsd: undefined, limitTokens: undefined },
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
    // A server may answer before it has read a body it refuses; then the answer is what counts.
    sent.on('error', reject)
    sent.end(body)
  })
}

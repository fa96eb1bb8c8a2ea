import type { Schema } from './http-routes.ts'
import type { ServerUnderTest } from './server.ts'

/** Answers compared with what /openapi.json declares for their routes: no field missing, none that is not declared. */

interface Declared {
  /** Such as `GET /api/v1/tasks/{id}`. */
  name: string
  method: string
  path: RegExp
  placeholders: number
  answers: Record<string, { content?: Record<string, { schema: Schema }>; headers?: Record<string, unknown> }>
}

interface Seen {
  status: number
  /** Its content-type header. */
  type: string | null
  /** All of them, where they are compared, too. */
  headers?: Headers
  body: unknown
}

/** A server whose answers are compared as they come. */
export async function watchAnswers(server: ServerUnderTest) {
  const declared = await declaredBy(server)
  const visited = new Set<string>()
  const faults = new Set<string>()

  /** `path` is that of the address, from its first slash. */
  function see(method: string, path: string, { status, type, headers, body }: Seen): void {
    if (status >= 400) return
    const [address] = path.split('?')
    const route = declared.find((one) => one.method === method && one.path.test(address!))
    if (!route) return void faults.add(`${method} ${address} is not declared`)
    visited.add(route.name)
    const answer = route.answers[status]
    const where = `${route.name} ${status}`
    if (!answer) return void faults.add(`${where} is not declared`)
    for (const name of Object.keys(answer.headers ?? {}))
      if (headers?.has(name) === false) faults.add(`${where} lacks the header ${name}`)
    if (!answer.content) {
      if (body !== null) faults.add(`${where} has a body, and declares none`)
      return
    }
    const schema = answer.content[type?.split(';')[0] ?? 'application/json']?.schema
    if (!schema) faults.add(`${where} does not declare ${type}`)
    else for (const fault of faultsIn(body, schema, 'body')) faults.add(`${where}: ${fault}`)
  }

  return {
    ...server,
    faults: () => [...faults],
    see,
    unvisited: () => declared.map(({ name }) => name).filter((name) => !visited.has(name)),
    call: (async (method, path, body, options) => {
      const answer = await server.call(method, path, body, options)
      see(method, `/api/v1${path}`, { ...answer, type: answer.headers.get('content-type') })
      return answer
    }) satisfies ServerUnderTest['call'],
  }
}

async function declaredBy(server: ServerUnderTest): Promise<Declared[]> {
  const { paths } = (await (await fetch(`${server.url}/openapi.json`)).json()) as {
    paths: Record<string, Record<string, { responses: Declared['answers'] }>>
  }
  const declared = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { responses }]) => ({
      name: `${method.toUpperCase()} ${path}`,
      method: method.toUpperCase(),
      path: new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`),
      placeholders: path.split('{').length,
      answers: responses,
    })),
  )
  // `/tasks/batch` before `/tasks/{id}`.
  return declared.sort((one, other) => one.placeholders - other.placeholders)
}

const kindOf = (value: unknown) =>
  value === null
    ? 'null'
    : Array.isArray(value)
      ? 'array'
      : Number.isInteger(value)
        ? 'integer'
        : typeof value

/** Objects whose schema names fields have those and no others, unless it says `additionalProperties`. */
export function* faultsIn(value: unknown, schema: Schema, path: string): Generator<string> {
  const forms = schema.anyOf ?? schema.oneOf
  if (forms) {
    const tries = forms.map((one) => [...faultsIn(value, one, path)])
    if (tries.every(({ length }) => length > 0))
      yield `${path} fits none of: ${tries.map(firstOf).join(' | ')}`
    return
  }
  const kind = kindOf(value)
  const types = [schema.type ?? []].flat()
  if (types.length > 0 && !types.some((type) => type === kind || (type === 'number' && kind === 'integer')))
    return yield `${path} is ${kind}, not ${types.join(' or ')}`
  if (schema.enum && !schema.enum.includes(value)) yield `${path} is ${value}, not one of ${schema.enum}`
  if (schema.pattern !== undefined && typeof value === 'string' && !new RegExp(schema.pattern).test(value))
    yield `${path} is "${value}", not like ${schema.pattern}`
  if (schema.items && Array.isArray(value))
    for (const [i, item] of value.entries()) yield* faultsIn(item, schema.items, `${path}[${i}]`)
  if (kind === 'object' && types.length > 0)
    yield* faultsInFields(value as Record<string, unknown>, schema, path)
}

const firstOf = ([first]: string[]) => first

function* faultsInFields(
  value: Record<string, unknown>,
  { properties = {}, required = [], additionalProperties = false }: Schema,
  path: string,
): Generator<string> {
  for (const name of required) if (!Object.hasOwn(value, name)) yield `${path}.${name} is missing`
  for (const [name, field] of Object.entries(value)) {
    const below = `${path}.${name}`
    const schema = Object.hasOwn(properties, name) ? properties[name] : additionalProperties
    if (schema === false) yield `${below} is not declared`
    else if (schema !== true) yield* faultsIn(field, schema as Schema, below)
  }
}

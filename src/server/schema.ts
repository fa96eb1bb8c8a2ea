import type { RouteShorthandOptions } from 'fastify'
import { z } from 'zod'
import type { Endpoint, Shape, SignedBody } from '../pure/endpoint.ts'
import { isRead } from './log-head.ts'

/**
 * What a part of a request must be: a zod shape, as JSON Schema when a request or the API document first needs it. To convert those
 * of all routes takes a tenth of a start. Fastify leaves objects with a prototype of their own as they are.
 */
export class RequestSchema {
  static readonly #made = new WeakMap<Shape, RequestSchema>()
  readonly #shape: Shape
  #json: Record<string, unknown> | undefined

  private constructor(shape: Shape) {
    this.#shape = shape
  }

  /** The same for the same shape: routes and servers of one process that share it convert and compile it once. */
  static of(shape: Shape): RequestSchema {
    const made = RequestSchema.#made.get(shape) ?? new RequestSchema(shape)
    RequestSchema.#made.set(shape, made)
    return made
  }

  json(): Record<string, unknown> {
    this.#json ??= jsonSchema(this.#shape, 'input')
    return this.#json
  }

  /** For the API document. */
  documented(): Record<string, unknown> {
    return jsonSchema(this.#shape, 'input', true)
  }
}

/** zod shapes as JSON Schema: Fastify validates requests with them, and OpenAPI shows them. */
function jsonSchema(shape: Shape, io: 'input' | 'output', isDocument = false): Record<string, unknown> {
  const { $schema: _draft, ...schema } = z.toJSONSchema(shape as z.ZodType, {
    target: 'draft-7',
    io,
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      describeVariants(zodSchema._zod.def, jsonSchema)
      describeLimit(jsonSchema, isDocument)
      describeOldNames(jsonSchema, io, isDocument)
      if (io === 'output') allowNewFields(zodSchema._zod.def, jsonSchema)
    },
  })
  return schema
}

/** Answers may gain fields: a client must not refuse an answer because of a field it does not know. */
function allowNewFields(def: object, schema: Record<string, unknown>): void {
  const isStrict = 'catchall' in def && def.catchall !== undefined
  if (!isStrict && schema.additionalProperties === false) delete schema.additionalProperties
}

/** Errors in a discriminated union are reported for the variant that the body names, not for the first in the list. */
function describeVariants(def: object, schema: Record<string, unknown>): void {
  if (!('discriminator' in def)) return
  schema.type = 'object'
  schema.discriminator = { propertyName: def.discriminator }
}

/** Query values are strings, in which JSON Schema knows no numbers: `Page` checks the bound, and the API document shows it. */
function describeLimit(schema: Record<string, unknown>, isDocument: boolean): void {
  if (isDocument && schema.most !== undefined) schema.maximum = schema.most
  delete schema.most
}

interface WithOldNames {
  oldNames?: Record<string, string>
  properties: Record<string, object>
}

/** Requests may have fields under old names: the validator (validators.ts) gives them their new ones. Answers never have them. */
function describeOldNames(
  schema: Record<string, unknown>,
  io: 'input' | 'output',
  isDocument: boolean,
): void {
  const { oldNames = {}, properties } = schema as Record<string, unknown> & WithOldNames
  if (isDocument || io === 'output') delete schema.oldNames
  if (io === 'output') return
  for (const [old, field] of Object.entries(oldNames))
    properties[old] = { ...properties[field], description: `Old name of ${field}`, deprecated: true }
}

const Problem = {
  type: 'object',
  properties: {
    type: { type: 'string' },
    title: { type: 'string' },
    status: { type: 'integer' },
    code: { type: 'string' },
    detail: { type: 'string' },
    errors: {
      type: 'array',
      items: { type: 'object', properties: { field: { type: 'string' }, message: { type: 'string' } } },
    },
  },
}

type AnswerShape = Pick<Endpoint, 'status' | 'answer' | 'mediaTypes'>

/** The answers of a route, by status. The schemas are documentation: answers are not validated at run time. */
function answersOf(
  { status = 200, answer, mediaTypes }: AnswerShape,
  headers: object,
): Record<string, unknown> {
  // Unions of objects do not say that they are objects.
  const schema = answer ? { type: 'object', ...jsonSchema(answer, 'output') } : { type: 'null' }
  const body = mediaTypes
    ? { content: Object.fromEntries(mediaTypes.map((type) => [type, { schema }])) }
    : schema
  return {
    ...Object.fromEntries(
      [status].flat().map((one) => [one, { description: 'Success', ...headers, ...body }]),
    ),
    '4xx': { description: 'Refused', content: { 'application/problem+json': { schema: Problem } } },
  }
}

/** Writes requests and answers into the API document, when somebody asks for it: at every start that would take long. */
export function documented<S>({ schema, url, route }: Documented<S>): { schema: S; url: string } {
  const { answers, needs } = route.config ?? {}
  if (!answers) return { schema, url }
  const headers = isRead(String(route.method), needs) ? { headers: SEQ_OF_ANSWER } : {}
  const request = Object.entries(schema as object).map(([part, of]) => [
    part,
    of instanceof RequestSchema ? of.documented() : of,
  ])
  return { schema: { ...Object.fromEntries(request), response: answersOf(answers, headers) }, url }
}

interface Documented<S> {
  schema: S
  url: string
  route: { method: string | string[]; config?: { answers?: AnswerShape; needs?: string } }
}

const SEQ_OF_ANSWER = {
  'Baton-Seq': {
    type: 'integer',
    description: 'All events up to this number are in the answer; continue with those after it',
  },
}

const UNSENT: SignedBody = { bytes: Buffer.alloc(0), read: async () => undefined }
const NO_QUERY = z.strictObject({})

export function route(shape: Omit<Endpoint, 'method' | 'path'>): RouteShorthandOptions {
  return {
    config: {
      needs: shape.needs,
      answers: shape,
      ...(shape.bodyIsOptional ? { emptyBody: () => ({}) } : {}),
      ...(shape.takesPlan ? { emptyBody: () => ({ text: '' }) } : {}),
      ...(shape.takesSigned ? { emptyBody: () => UNSENT } : {}),
    },
    ...(shape.bodyLimit ? { bodyLimit: shape.bodyLimit } : {}),
    schema: {
      summary: shape.summary,
      ...(shape.description ? { description: shape.description } : {}),
      tags: [shape.tag],
      ...(shape.needs === 'nothing' ? { security: [] } : {}),
      ...(shape.params ? { params: RequestSchema.of(shape.params) } : {}),
      querystring: RequestSchema.of(shape.query ?? NO_QUERY),
      ...(shape.body ? { body: RequestSchema.of(shape.body) } : {}),
    } as RouteShorthandOptions['schema'] & object,
  }
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What a request without a body has. */
    emptyBody?: () => object
    /** For the API document. */
    answers?: AnswerShape
  }
}

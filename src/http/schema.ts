import type { RouteShorthandOptions } from 'fastify'
import { z } from 'zod'
import { Refused } from '../core/errors.ts'
import type { Right } from '../core/shapes/administration.ts'
import { Name } from '../core/shapes/common.ts'

/** zod shapes as JSON Schema: Fastify's own compiler checks requests with them, and OpenAPI shows them. */
function jsonSchema(shape: z.ZodType): Record<string, unknown> {
  const { $schema: _draft, ...schema } = z.toJSONSchema(shape, {
    target: 'draft-7',
    io: 'input',
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => tellKindsApart(zodSchema._zod.def, jsonSchema),
  })
  return schema
}

/** Of several forms, the one that the body names is meant: what is wrong is said of that one, not of the first in the list. */
function tellKindsApart(def: object, schema: Record<string, unknown>): void {
  if (!('discriminator' in def)) return
  schema.type = 'object'
  schema.discriminator = { propertyName: def.discriminator }
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

interface RouteShape {
  summary: string
  description?: string
  tag: string
  needs: Right | 'nothing'
  params?: z.ZodType
  query?: z.ZodType
  body?: z.ZodType
  /** The body may be left out altogether. */
  bodyIsOptional?: boolean
  status?: number
  answer?: z.ZodType
  bodyLimit?: number
}

/** Everything a route declares, in one place. */
export function route(shape: RouteShape): RouteShorthandOptions {
  const answer = shape.answer ? jsonSchema(shape.answer) : { type: 'object', additionalProperties: true }
  return {
    config: { needs: shape.needs, ...(shape.bodyIsOptional ? { bodyIsOptional: true } : {}) },
    ...(shape.bodyLimit ? { bodyLimit: shape.bodyLimit } : {}),
    schema: {
      summary: shape.summary,
      ...(shape.description ? { description: shape.description } : {}),
      tags: [shape.tag],
      ...(shape.needs === 'nothing' ? { security: [] } : {}),
      ...(shape.params ? { params: jsonSchema(shape.params) } : {}),
      querystring: jsonSchema(shape.query ?? z.strictObject({})),
      ...(shape.body ? { body: jsonSchema(shape.body) } : {}),
      response: {
        [shape.status ?? 200]: { description: 'Done', ...answer },
        '4xx': { description: 'Refused', content: { 'application/problem+json': { schema: Problem } } },
      },
    } as RouteShorthandOptions['schema'] & object,
  }
}

declare module 'fastify' {
  interface FastifyContextConfig {
    bodyIsOptional?: boolean
  }
}

export const IdParams = z.object({ id: Name })

/** Query values are text; these read them as numbers. */
export const Digits = z.string().regex(/^\d{1,15}$/)
export const numberOr = (text: string | undefined, otherwise: number) =>
  text === undefined ? otherwise : Number(text)

/** `?include=`: what lists leave out because it may be large. */
export const include = (...names: string[]) =>
  z
    .string()
    .min(1)
    .max(200)
    .optional()
    .describe(`What the list leaves out otherwise: ${names.join(', ')}; several with commas between them`)

/** What of these is asked for. */
export function included<N extends string>(text: string | undefined, ...names: N[]): ReadonlySet<N> {
  const asked = text?.split(',') ?? []
  const unknown = asked.find((name) => !(names as string[]).includes(name))
  if (unknown !== undefined)
    throw Refused.field(
      'VALIDATION_FAILED',
      'include',
      `names nothing that this list can include: "${unknown}" (${names.join(', ')})`,
    )
  return new Set(asked as N[])
}

export const Page = { cursor: Name.optional(), limit: Digits.optional() }
export const LARGEST_PAGE = 200
export const pageSize = (limit: string | undefined) =>
  Math.min(Math.max(numberOr(limit, 50), 1), LARGEST_PAGE)

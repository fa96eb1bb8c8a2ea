import type { z } from 'zod'
import type { Right } from '../shapes/administration.ts'
import type { AnswerOf } from '../shapes/common.ts'

/**
 * One endpoint of the API as a value: the server registers its handler with it (src/http/endpoint.ts), /openapi.json shows it, and the
 * client derives its types from it. Clients import only the types, so no zod reaches a browser.
 */
export interface Endpoint {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Below /api/v1, with `:name` for parameters. */
  readonly path: `/${string}`
  readonly summary: string
  readonly description?: string
  readonly tag: string
  /** The right that a caller needs; 'nothing': no key needed. */
  readonly needs: Right | 'nothing'
  readonly params?: z.ZodType
  readonly query?: z.ZodType
  readonly body?: z.ZodType
  /** The request may have no body. */
  readonly bodyIsOptional?: boolean
  /** The body is a plan, as YAML or JSON. It has no shape: its route reads the text, to report problems by line. */
  readonly takesPlan?: true
  readonly bodyLimit?: number
  /** The status of a successful answer (200), or each of them. */
  readonly status?: number | readonly number[]
  /** The body of a successful answer; null: no body. */
  readonly answer: z.ZodType | null
  /** Its media types; default: JSON. */
  readonly mediaTypes?: readonly string[]
}

export const endpoint = <const E extends Endpoint>(one: E): E => one

/** What the handler of an endpoint gets, after validation. */
export interface RouteOf<E extends Endpoint> {
  Params: E['params'] extends z.ZodType ? z.output<E['params']> : unknown
  Querystring: E['query'] extends z.ZodType ? z.output<E['query']> : unknown
  Body: E['body'] extends z.ZodType
    ? z.output<E['body']>
    : E extends { takesPlan: true }
      ? { text: string } | undefined
      : unknown
}

/** What it answers. */
export type AnswerOfEndpoint<E extends Endpoint> = E['answer'] extends z.ZodType
  ? AnswerOf<E['answer']>
  : undefined

import type { Right } from '../rights.ts'
import type { ReadonlyLists } from '../shapes/common.ts'

/**
 * A zod shape, by its own marks for what it is given and what it lets through: to compare every shape with the whole of `z.ZodType` takes
 * the compiler ten times as long.
 */
export interface Shape {
  readonly _zod: { readonly input: unknown; readonly output: unknown }
}

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
  readonly params?: Shape
  readonly query?: Shape
  readonly body?: Shape
  /** The request may have no body. */
  readonly bodyIsOptional?: boolean
  /** The body is a plan, as YAML or JSON. It has no shape: its route reads the text, to report problems by line. */
  readonly takesPlan?: true
  readonly bodyLimit?: number
  /** The status of a successful answer (200), or each of them. */
  readonly status?: number | readonly number[]
  /** The body of a successful answer; null: no body. */
  readonly answer: Shape | null
  /** Its media types; default: JSON. */
  readonly mediaTypes?: readonly string[]
}

export const endpoint = <const E extends Endpoint>(one: E): E => one

type OutputOf<S> = S extends { _zod: { output: infer Output } } ? Output : unknown
export type InputOf<S> = S extends { _zod: { input: infer Input } } ? Input : unknown

/** What the handler of an endpoint gets, after validation. */
export interface RouteOf<E> {
  Params: E extends { params: infer S } ? OutputOf<S> : unknown
  Querystring: E extends { query: infer S } ? OutputOf<S> : unknown
  Body: E extends { body: infer S }
    ? OutputOf<S>
    : E extends { takesPlan: true }
      ? { text: string } | undefined
      : unknown
}

/** What it answers. */
export type AnswerOfEndpoint<E> = E extends { answer: infer S }
  ? S extends null
    ? undefined
    : ReadonlyLists<OutputOf<S>>
  : never

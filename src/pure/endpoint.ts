import type { Cursor, Paging } from './paging.ts'
import type { Right } from './rights.ts'
import type { ReadonlyLists } from './shapes.ts'

/**
 * A zod shape, by its own marks for what it is given and what it lets through: to compare every shape with the whole of `z.ZodType` takes
 * the compiler ten times as long.
 */
export interface Shape {
  readonly _zod: { readonly input: unknown; readonly output: unknown }
}

/**
 * One endpoint of the API as a value: the server serves its handler (src/door/door.ts), /openapi.json shows it, and the
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
  /** The request may have no body: it is {} then. */
  readonly bodyIsOptional?: boolean
  /** The body is a plan, as YAML or JSON. It has no shape: its route reads the text, to report problems by line. */
  readonly takesPlan?: true
  /** The body is signed as it was sent: its handler gets the bytes, and reads them when it knows who sent them. */
  readonly takesSigned?: true
  readonly bodyLimit?: number
  /** The status of a successful answer (200), or each of them: then its handler chooses. */
  readonly status?: number | readonly number[]
  /** The version that the answer shows is its ETag: its own, or that of its task. */
  readonly etag?: 'version' | 'task.version'
  /** The answer is a page of a list. */
  readonly paging?: Paging
  /** The answer may be large: it is compressed for clients that take it so. */
  readonly isLarge?: true
  /** The answer shows a secret: no cache may store it. */
  readonly isSecret?: true
  /** The body of a successful answer; null: no body. */
  readonly answer: Shape | null
  /** Its media types; default: JSON. */
  readonly mediaTypes?: readonly string[]
}

export const endpoint = <const E extends Endpoint>(one: E): E => one

/** A body as it was sent. */
export interface SignedBody {
  readonly bytes: Buffer
  /** Its JSON, refused like that of every other body. */
  read(): Promise<unknown>
}

type OutputOf<S> = S extends { _zod: { output: infer Output } } ? Output : unknown
export type InputOf<S> = S extends { _zod: { input: infer Input } } ? Input : unknown

/** What the handler of an endpoint gets, after validation. */
export interface RouteOf<E> {
  Params: E extends { params: infer S } ? OutputOf<S> : unknown
  Querystring: E extends { query: infer S } ? OutputOf<S> : unknown
  Body: E extends { body: infer S }
    ? OutputOf<S>
    : E extends { takesPlan: true }
      ? { text: string }
      : E extends { takesSigned: true }
        ? SignedBody
        : unknown
}

/** What it answers. */
export type AnswerOfEndpoint<E> = E extends { answer: infer S }
  ? S extends null
    ? undefined
    : ReadonlyLists<OutputOf<S>>
  : never

/** Where the pages of its list end. */
export type PlaceOf<E> = E extends { paging: { cursor: Cursor<infer Place> } } ? Place : never

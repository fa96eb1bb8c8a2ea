import type { Api } from '../kinds/all.ts'
import type { AnswerOfEndpoint, Endpoint, InputOf } from '../pure/endpoint.ts'
import type { ReadonlyLists } from '../pure/shapes.ts'

/** The types of calls, by method and path. */

export type Method = Endpoint['method']

/** These do not answer and end; `events()` follows them. */
type Streams = '/events/stream' | '/events/ws'

export type PathOf<M extends Method> = Exclude<keyof Api[M], Streams> & string

/** Paths of requests that read with a body. */
export type PathOfReadPost = {
  [P in PathOf<'POST'>]: Api['POST'][P]['needs'] extends 'read' ? P : never
}[PathOf<'POST'>]

type At<M extends Method, Path extends string> = Path extends keyof Api[M] ? Api[M][Path] : never

type ParamNames<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | ParamNames<`/${Rest}`>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never

type ParamsPart<Path extends string> = [ParamNames<Path>] extends [never]
  ? { params?: undefined }
  : { params: Readonly<Record<ParamNames<Path>, string>> }

/** Query values are text; where any text is allowed, numbers are written as text. */
type Writable<Query> = {
  readonly [Name in keyof Query]: string extends Query[Name] ? Query[Name] | number : Query[Name]
}

type QueryPart<E> = E extends { query: infer Q } ? { query?: Writable<InputOf<Q>> } : { query?: undefined }

type BodyPart<E> = E extends { takesPlan: true }
  ? { body: string }
  : E extends { body: infer B }
    ? E extends { bodyIsOptional: true }
      ? { body?: ReadonlyLists<InputOf<B>> }
      : { body: ReadonlyLists<InputOf<B>> }
    : { body?: undefined }

interface Common {
  signal?: AbortSignal | undefined
}
interface ForWrites extends Common {
  /** The ETag of what was read: the change is refused when it is another one by now. */
  ifMatch?: string | undefined
}
interface ForPosts extends ForWrites {
  /** Each POST but heartbeats and renewals has a key of its own; requests under one key are carried out once. */
  idempotencyKey?: string | undefined
  /** Try again, under the same key, while there is no answer. */
  retry?: boolean | undefined
}
type CommonPart<M extends Method> = M extends 'GET' ? Common : M extends 'POST' ? ForPosts : ForWrites

type OptionsOf<M extends Method, Path extends string> = ParamsPart<Path> &
  QueryPart<At<M, Path>> &
  BodyPart<At<M, Path>> &
  CommonPart<M>

/** The last argument of a call, which may be left out when nothing in it is needed. */
export type CallOptions<M extends Method, Path extends string> =
  Partial<OptionsOf<M, Path>> extends OptionsOf<M, Path>
    ? [options?: OptionsOf<M, Path>]
    : [options: OptionsOf<M, Path>]

export type AnswerTo<M extends Method, Path extends string> = AnswerOfEndpoint<At<M, Path>>

/** An answer together with how far the log was: events after `seq` may change it. */
export interface Read<Body> {
  body: Body
  seq: number
  etag: string | null
}

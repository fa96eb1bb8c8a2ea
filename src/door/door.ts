import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import type { Waiter } from '../kernel/commit-waiters.ts'
import type { Caller } from '../kernel/kernel.ts'
import type { Outgoing } from '../outgoing/outgoing.ts'
import type { AnswerOfEndpoint, Endpoint, PlaceOf, RouteOf } from '../pure/endpoint.ts'
import type { Coordination } from './coordination.ts'
import type { Execution } from './execution.ts'
import type { Page } from './paging.ts'
import type { ServerKernel } from './server-kernel.ts'

/** Endpoints with their handlers. What HTTP needs (status, ETag, paging, defaults) is stated by the endpoint, and done by the server. */

/** What handlers work with. */
export interface Door {
  readonly kernel: ServerKernel
  readonly execution: Execution
  readonly coordinator: Coordination
  readonly started: NodeStart
  /** How this node reaches programs outside. */
  readonly outgoing: Outgoing
  /** Ends all that is open under these revoked keys or ended sessions. */
  revoked(ids: readonly string[]): Promise<void>
  /** The one object of a class that all requests share. */
  shared<T>(made: new (kernel: ServerKernel) => T): T
}

/** How this node was started. */
export interface NodeStart {
  isEmbedded: boolean
  /** Null: it is still starting. */
  startMs(): number | null
  /** An absolute path. */
  dataFolder: string
}

/** A request of an endpoint, after validation. */
export type Call<E> = CallWith<
  RouteOf<E>['Params'],
  RouteOf<E>['Querystring'],
  RouteOf<E>['Body'],
  PlaceOf<E>
>

interface CallWith<Params, Query, Body, Place> {
  readonly params: Params
  readonly query: Query
  readonly body: Body
  readonly caller: Caller
  /** Where the request comes from. */
  readonly address: string
  /** The version that If-Match names; null: any. */
  readonly ifVersion: number | null
  readonly page: Page<Place>
  readonly headers: IncomingHttpHeaders
  /** Runs what may wait: aborted when the client disconnects, refused when its key ends in the meantime. */
  waiting<T>(waitMs: number, act: (waiter: Waiter) => Promise<T>): Promise<T>
  /** Says in the answer how far the log is now. What is read after a wait is newer than the request. */
  readFromNow(): Promise<void>
  /** For headers that only this answer has. */
  readonly reply: ReplyHeaders
}

interface ReplyHeaders {
  header(name: string, value: string | number): unknown
  removeHeader(name: string): unknown
}

/** Endpoints with other media types than JSON may answer with text or a stream. */
type BodyOf<E> = E extends { answer: null }
  ? unknown
  : E extends { mediaTypes: readonly string[] }
    ? AnswerOfEndpoint<E> | string | Readable
    : AnswerOfEndpoint<E>

/** Where the endpoint has several statuses, the handler chooses. */
type Answered<E> = E extends { status: readonly (infer Status)[] }
  ? { status: Status; answer: BodyOf<E> }
  : BodyOf<E>

type Handle<E> = (door: Door, call: Call<E>) => Answered<E> | Promise<Answered<E>>

/** `complete` adds to the body before it is validated. */
type Handler<E> = Handle<E> | { complete: Complete; handle: Handle<E> }
type Complete = (door: Door, call: { caller: Caller; body: unknown }) => Promise<void>

/** To ask of each export whether it is an `Endpoint` would compare all shapes. */
interface LikeEndpoint {
  method: string
  path: string
}
type NamesIn<Api> = { [Name in keyof Api]: Api[Name] extends LikeEndpoint ? Name : never }[keyof Api]

export interface Act {
  readonly endpoint: Endpoint
  readonly complete: Complete | null
  readonly handle: (door: Door, call: Call<Endpoint>) => unknown
}

/** The endpoints of a file, each with its handler. In two calls: the compiler knows the endpoints when it reads the handlers. */
export const actsOf =
  <Api extends object>(api: Api) =>
  (handlers: { readonly [Name in NamesIn<Api>]: Handler<Api[Name]> }): readonly Act[] =>
    Object.entries<Handler<never>>(handlers).map(([name, handler]) => ({
      endpoint: api[name as keyof Api] as Endpoint,
      complete: 'complete' in handler ? handler.complete : null,
      handle: ('handle' in handler ? handler.handle : handler) as Act['handle'],
    }))

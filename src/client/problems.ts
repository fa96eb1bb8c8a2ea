import type { ErrorCode } from '../pure/errors.ts'

/** How a request can fail: it is refused, or there is no answer. */

interface FieldProblem {
  readonly field: string
  readonly message: string
}

/** An answer that refuses the request, or says that the server failed (RFC 9457). */
export class Problem extends Error {
  override readonly name = 'Problem'
  readonly status: number
  /** 'UNKNOWN': the answer is not of Baton, but of something in between. */
  readonly code: ErrorCode | 'UNKNOWN'
  readonly title: string
  readonly detail: string
  readonly errors: readonly FieldProblem[]
  /** The whole answer: some refusals say more. */
  readonly body: Readonly<Record<string, unknown>>
  /** When to try again, if the answer says it. */
  readonly retryAfterMs: number | null

  constructor(status: number, body: Record<string, unknown>, retryAfterMs: number | null) {
    const title = typeof body.title === 'string' ? body.title : `HTTP status ${status}`
    const detail = typeof body.detail === 'string' ? body.detail : title
    super(detail)
    this.status = status
    this.code = typeof body.code === 'string' ? (body.code as ErrorCode) : 'UNKNOWN'
    this.title = title
    this.detail = detail
    this.errors = Array.isArray(body.errors) ? body.errors : []
    this.body = body
    this.retryAfterMs = retryAfterMs
  }
}

/** Nothing answered, or what answered was cut off. Whether the request was carried out is not known. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer'
}

/** Failures that pass: a server that restarts, a proxy without one, a network that was cut. */
export const isPassing = (error: unknown): error is Problem | NoAnswer =>
  error instanceof NoAnswer || (error instanceof Problem && (error.status === 502 || error.status === 503))

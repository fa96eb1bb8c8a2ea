/** Every refusal Baton can answer with: its HTTP status and its title. docs/errors.md is made from this table. */
export const ERRORS = {
  VALIDATION_FAILED: { status: 400, title: 'The request is not well formed' },
  MALFORMED_REQUEST: { status: 400, title: 'The request is not HTTP as it should be' },
  PLAN_INVALID: { status: 400, title: 'The plan has problems' },
  MALFORMED_JSON: { status: 400, title: 'The body is not valid JSON' },
  LEASE_OUT_OF_RANGE: { status: 400, title: 'The lease is outside the limits of this workspace' },
  UNAUTHENTICATED: { status: 401, title: 'A valid API key is needed' },
  FORBIDDEN: { status: 403, title: 'This key may not do that' },
  NOT_ALLOWED_HERE: { status: 403, title: 'The operator of this node does not allow that' },
  HOST_NOT_ALLOWED: { status: 403, title: 'Baton is not served under this host name' },
  ORIGIN_NOT_ALLOWED: { status: 403, title: 'This web origin may not talk to Baton' },
  NOT_FOUND: { status: 404, title: 'There is no such thing here' },
  REQUEST_TIMEOUT: { status: 408, title: 'The request did not arrive in time' },
  DENIED_ACTIVE_CLAIM: { status: 409, title: 'Another holder has this task' },
  DENIED_COMPLETED: { status: 409, title: 'The task is already completed' },
  NOT_READY: { status: 409, title: 'The task cannot be claimed now' },
  WRONG_AGENT: { status: 409, title: 'The task is reserved for another agent' },
  MISSING_CAPABILITY: { status: 409, title: 'The agent lacks a capability the task needs' },
  TRACK_FULL: { status: 409, title: 'The track has all the agents it may have' },
  NO_CAPACITY: { status: 409, title: 'The worker or agent holds all it can' },
  WORKER_DRAINING: { status: 409, title: 'The worker takes no new work' },
  WORKER_GONE: { status: 409, title: 'The worker is not registered any more' },
  AGENT_PAUSED: { status: 409, title: 'The agent is paused' },
  AGENT_TERMINATED: { status: 409, title: 'The agent is terminated' },
  OUT_OF_ORDER: { status: 409, title: 'A newer message has been heard already' },
  NOT_LEADER: { status: 409, title: 'Another node coordinates now' },
  DEPENDENCY_CYCLE: { status: 409, title: 'The tasks would wait for each other in a circle' },
  LIMIT_REACHED: { status: 409, title: 'A limit of this workspace is reached' },
  GENERATION_MISMATCH: { status: 409, title: 'The claim is of another generation' },
  SESSION_MISMATCH: { status: 409, title: 'Another session holds this claim' },
  NO_CLAIM: { status: 409, title: 'No active claim stands behind this write' },
  ALREADY_EXPIRED: { status: 409, title: 'The lease had already expired' },
  STALE_GENERATION: { status: 409, title: 'A newer claim was granted since' },
  FUTURE_GENERATION: { status: 409, title: 'No such generation was ever granted' },
  TASK_ALREADY_COMPLETED: { status: 409, title: 'The task has its result already' },
  CONTINUATION_LIMIT: { status: 409, title: 'The task has used up its continuations' },
  WRONG_STATE: { status: 409, title: 'The task is not in a state that allows this' },
  RUN_NOT_HERE: { status: 409, title: 'The run waits for no answer here' },
  TOO_MANY_MESSAGES: { status: 429, title: 'More is said than can be read' },
  TOO_MANY_WRONG_KEYS: { status: 429, title: 'Too many wrong keys came from this address' },
  TOO_MANY_STREAMS: { status: 429, title: 'The key has as many streams open as it may have' },
  LIMIT_BELOW_USE: { status: 409, title: 'More than the new limit is in use' },
  PLAN_CONFLICT: { status: 409, title: 'The plan contradicts what is there already' },
  ALREADY_EXISTS: { status: 409, title: 'Something with this name exists already' },
  VERSION_MISMATCH: { status: 412, title: 'The thing was changed since it was read' },
  BODY_TOO_LARGE: { status: 413, title: 'The body is larger than allowed' },
  RESULT_TOO_LARGE: { status: 413, title: 'The result is larger than this workspace allows' },
  UPGRADE_REQUIRED: { status: 426, title: 'This path is for WebSockets' },
  HEADERS_TOO_LARGE: { status: 431, title: 'The path or the headers are too long' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, title: 'The body must be application/json' },
  IDEMPOTENCY_KEY_REUSED: { status: 422, title: 'This idempotency key was used for another request' },
  INTERNAL: { status: 500, title: 'Something went wrong inside Baton' },
  UNAVAILABLE: { status: 503, title: 'The database cannot be reached right now' },
} as const satisfies Record<string, { status: number; title: string }>

export type ErrorCode = keyof typeof ERRORS

/** A refusal as a value: rules return it, the HTTP layer words it as problem+json. */
export interface Refusal {
  readonly ok: false
  readonly code: ErrorCode
  readonly detail: string
  readonly [extra: string]: unknown
}

export const refuse = (code: ErrorCode, detail: string, extra?: Record<string, unknown>): Refusal => ({
  ...extra,
  ok: false,
  code,
  detail,
})

/** A refusal because of one field, which it names. */
export const refuseField = (code: ErrorCode, field: string, message: string): Refusal =>
  refuse(code, `${field} ${message}.`, { errors: [{ field, message }] })

/** A refusal on its way up through code that cannot go on, such as a request handler. */
export class Refused extends Error {
  override name = 'Refused'
  readonly refusal: Refusal

  get code(): ErrorCode {
    return this.refusal.code
  }

  constructor(code: ErrorCode, detail: string, extra?: Record<string, unknown>) {
    super(detail)
    this.refusal = refuse(code, detail, extra)
  }

  /** Because of one field, which it names. */
  static field(code: ErrorCode, field: string, message: string): Refused {
    return Refused.because(refuseField(code, field, message))
  }

  static because({ ok: _ok, code, detail, ...extra }: Refusal): Refused {
    return new Refused(code, detail, extra)
  }
}

/** Every refusal of the API: its HTTP status and its title. docs/errors.md is generated from this table. */
export const ERRORS = {
  VALIDATION_FAILED: { status: 400, title: 'The request is not valid' },
  MALFORMED_REQUEST: { status: 400, title: 'The request is not valid HTTP' },
  DELIVERY_FAILED: { status: 422, title: 'The delivery cannot do what the hook does' },
  PLAN_INVALID: { status: 422, title: 'The plan has problems' },
  MALFORMED_JSON: { status: 400, title: 'The body is not valid JSON' },
  LEASE_OUT_OF_RANGE: { status: 400, title: 'The lease is outside the limits of this workspace' },
  UNAUTHENTICATED: { status: 401, title: 'A valid API key is required' },
  FORBIDDEN: { status: 403, title: 'This key may not do that' },
  AGENT_RESERVED: { status: 403, title: 'The agent is Baton’s own' },
  BOUND_TO_ANOTHER_AGENT: { status: 403, title: 'The key is bound to another agent' },
  NOT_ALLOWED_HERE: { status: 403, title: 'The operator of this node does not allow that' },
  HOST_NOT_ALLOWED: { status: 403, title: 'Baton is not served under this host name' },
  ORIGIN_NOT_ALLOWED: { status: 403, title: 'Requests from this web origin are not allowed' },
  HTTPS_REQUIRED: { status: 403, title: 'Signing in needs https at this host' },
  NOT_FOUND: { status: 404, title: 'Not found' },
  LOG_UNAVAILABLE: { status: 404, title: 'The log of the run cannot be read' },
  REQUEST_TIMEOUT: { status: 408, title: 'The request did not arrive in time' },
  DENIED_ACTIVE_CLAIM: { status: 409, title: 'Another holder has this task' },
  DENIED_COMPLETED: { status: 409, title: 'The task is already completed' },
  NOT_READY: { status: 409, title: 'The task cannot be claimed now' },
  WRONG_AGENT: { status: 409, title: 'The task is reserved for another agent' },
  MISSING_CAPABILITY: { status: 409, title: 'The agent lacks a capability the task needs' },
  MISSION_CLOSED: { status: 409, title: 'The mission does not hand out this task now' },
  MISSION_FULL: { status: 409, title: 'The mission has as many tasks under way as it may have' },
  CHANGED_SINCE: { status: 409, title: 'It has changed since it was seen' },
  BUDGET_STOPPED: { status: 409, title: 'A budget does not allow it' },
  BUDGET_RESERVED: { status: 409, title: 'Others have reserved what is left of a budget' },
  TRACK_FULL: { status: 409, title: 'The track has reached its agent limit' },
  NO_CAPACITY: { status: 409, title: 'The worker or agent is at capacity' },
  WORKER_DRAINING: { status: 409, title: 'The worker is draining and takes no new work' },
  WORKER_GONE: { status: 409, title: 'The worker is no longer registered' },
  AGENT_PAUSED: { status: 409, title: 'The agent is paused' },
  AGENT_TERMINATED: { status: 409, title: 'The agent is terminated' },
  OUT_OF_ORDER: { status: 409, title: 'A newer message was already received' },
  NOT_LEADER: { status: 409, title: 'Another node is the leader now' },
  DEPENDENCY_CYCLE: { status: 409, title: 'The dependencies would form a cycle' },
  LIMIT_REACHED: { status: 409, title: 'A limit of this workspace is reached' },
  GENERATION_MISMATCH: { status: 409, title: 'The claim belongs to another generation' },
  SESSION_MISMATCH: { status: 409, title: 'Another session holds this claim' },
  NO_CLAIM: { status: 409, title: 'No active claim for this write' },
  ALREADY_EXPIRED: { status: 409, title: 'The lease had already expired' },
  STALE_GENERATION: { status: 409, title: 'A newer claim has been granted since' },
  FUTURE_GENERATION: { status: 409, title: 'This generation has not been granted yet' },
  TASK_ALREADY_COMPLETED: { status: 409, title: 'The task already has a result' },
  CONTINUATION_LIMIT: { status: 409, title: 'The task has used up its continuations' },
  WRONG_STATE: { status: 409, title: 'The current state does not allow this' },
  RUN_NOT_HERE: { status: 409, title: 'The run is not waiting for a callback' },
  WORK_INCOMPLETE: { status: 409, title: 'The work is incomplete' },
  WORK_NOT_SAVED: { status: 409, title: 'The work could not be saved' },
  WORK_KEPT: { status: 409, title: 'No other branch has this accepted work' },
  CHANGES_UNAVAILABLE: { status: 409, title: 'The changes of the run cannot be read here' },
  TOO_MANY_MESSAGES: { status: 429, title: 'Too many messages' },
  TOO_MANY_DELIVERIES: { status: 429, title: 'The hook has reached its limit of deliveries' },
  TOO_MANY_WRONG_KEYS: { status: 429, title: 'Too many requests with wrong keys from this address' },
  TOO_MANY_STREAMS: { status: 429, title: 'The key has reached its limit of open streams' },
  LIMIT_BELOW_USE: { status: 409, title: 'Current usage exceeds the new limit' },
  PLAN_CONFLICT: { status: 409, title: 'The plan conflicts with existing tasks' },
  ALREADY_EXISTS: { status: 409, title: 'This name already exists' },
  VERSION_MISMATCH: { status: 412, title: 'The resource was changed since it was read' },
  BODY_TOO_LARGE: { status: 413, title: 'The body is larger than allowed' },
  RESULT_TOO_LARGE: { status: 413, title: 'The result is larger than this workspace allows' },
  RANGE_NOT_SATISFIABLE: { status: 416, title: 'The log has no such bytes' },
  UPGRADE_REQUIRED: { status: 426, title: 'This path is for WebSockets' },
  HEADERS_TOO_LARGE: { status: 431, title: 'The path or the headers are too long' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, title: 'The body must be application/json' },
  IDEMPOTENCY_KEY_REUSED: { status: 422, title: 'This idempotency key was used for another request' },
  STORED_BY_ANOTHER_VERSION: { status: 500, title: 'Another version of Baton stored this' },
  INTERNAL: { status: 500, title: 'Internal error' },
  TOO_BUSY: { status: 503, title: 'The server is too busy for this request' },
  UNAVAILABLE: { status: 503, title: 'The database is unavailable' },
} as const satisfies Record<string, { status: number; title: string }>

export type ErrorCode = keyof typeof ERRORS

/** A refusal as a value: rules return it, the HTTP layer sends it as problem+json. */
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

export const notLeader = (term: number) => refuse('NOT_LEADER', `Term ${term} of the coordinator is over.`)

/** A refusal that names the field that caused it. */
export const refuseField = (code: ErrorCode, field: string, message: string): Refusal =>
  refuse(code, `${field} ${message}.`, { errors: [{ field, message }] })

/** A refusal as an exception, for code that cannot continue, such as a request handler. */
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

  static field(code: ErrorCode, field: string, message: string): Refused {
    return Refused.because(refuseField(code, field, message))
  }

  static because({ ok: _ok, code, detail, ...extra }: Refusal): Refused {
    return new Refused(code, detail, extra)
  }
}

export const tooBusy = () =>
  new Refused('TOO_BUSY', 'Too many large requests are under way. Try again in a moment.', {
    retryAfterSeconds: 2,
  })

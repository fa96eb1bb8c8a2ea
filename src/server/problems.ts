import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { StoreUnavailable } from '../kernel/store/store.ts'
import { nearBudgetField } from '../pure/budget.ts'
import { ERRORS, type ErrorCode, Refused } from '../pure/errors.ts'
import { SAFE_HEADERS } from './safe-headers.ts'

/** Errors as RFC 9457 problem+json. */

export function sendProblem(
  reply: FastifyReply,
  code: ErrorCode,
  detail: string,
  extra: Record<string, unknown> = {},
) {
  if (code === 'UNAVAILABLE') reply.header('retry-after', '1')
  if (extra.retryAfterSeconds !== undefined) reply.header('retry-after', String(extra.retryAfterSeconds))
  // The HTTP server no longer manages the socket of a refused upgrade, so it must be closed here.
  const { socket, headers } = reply.request.raw
  if (headers.upgrade !== undefined) reply.raw.once('finish', () => socket.destroySoon())
  if (code === 'UNAUTHENTICATED') reply.header('www-authenticate', 'Bearer')
  return (
    reply
      .code(ERRORS[code].status)
      // Set again: a request refused for its path alone has passed no hook.
      .headers(SAFE_HEADERS)
      .type('application/problem+json')
      .send(problem(code, detail, extra))
  )
}

export function problem(code: ErrorCode, detail: string, extra: Record<string, unknown> = {}) {
  const { status, title } = ERRORS[code]
  return { ...extra, type: `urn:baton:error:${code}`, title, status, code, detail }
}

export const DISK_IS_FULL =
  'The disk of the database is full: make room there. Nothing is lost, and repeated requests are safe.'

export function onError(error: FastifyError | Error, request: FastifyRequest, reply: FastifyReply) {
  if (error instanceof Refused) {
    const { code, detail, ok: _ok, ...extra } = error.refusal
    return sendProblem(reply, code, detail, extra)
  }
  if (error instanceof StoreUnavailable) {
    request.log.warn({ err: error }, 'the store is unavailable')
    if (error.isDiskFull) return sendProblem(reply, 'UNAVAILABLE', DISK_IS_FULL, { because: 'disk_full' })
    return sendProblem(
      reply,
      'UNAVAILABLE',
      'Try again in a moment; nothing is lost, and repeated requests are safe.',
    )
  }
  if ('validation' in error && error.validation) return sendInvalid(reply, error)
  return sendParserProblem(error, request, reply)
}

interface Invalid {
  instancePath: string
  keyword: string
  params: Record<string, unknown>
  message?: string
}

/** The first error, with the name of its field. */
function sendInvalid(reply: FastifyReply, error: FastifyError) {
  const [first] = error.validation as unknown as Invalid[]
  const field = fieldOf(first!, error.validationContext)
  const message = messageOf(first!, field)
  return sendProblem(reply, 'VALIDATION_FAILED', `${field} ${message}.`, { errors: [{ field, message }] })
}

function fieldOf({ instancePath, keyword, params }: Invalid, where: string | undefined): string {
  const path = instancePath
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
  if (keyword === 'additionalProperties') path.push(String(params.additionalProperty))
  if (keyword === 'oldNames') path.push(String(params.field))
  if (keyword === 'required') path.push(String(params.missingProperty))
  if (keyword === 'discriminator') path.push(String(params.tag))
  const name = path
    .map((part, i) => (/^\d+$/.test(part) ? `[${part}]` : i === 0 ? part : `.${part}`))
    .join('')
  return name === '' ? (where ?? 'body') : name
}

function messageOf({ keyword, params, message }: Invalid, field: string): string {
  switch (keyword) {
    case 'additionalProperties': {
      const near = nearBudgetField(String(params.additionalProperty), /(^|\.)budget\.[^.]*$/.test(field))
      return `is not a field of this request${near === null ? '' : `; use ${near}`}`
    }
    case 'required':
      return 'is missing'
    case 'enum':
      return `must be one of ${(params.allowedValues as unknown[]).join(', ')}`
    case 'discriminator':
      return 'must be one of the known values'
    case 'pattern':
      return 'does not have the right format'
    default:
      return message ?? 'is not valid'
  }
}

/** Errors that Fastify raises before a handler runs. */
const FASTIFY_CODES: Record<string, ErrorCode> = {
  FST_ERR_BAD_URL: 'MALFORMED_REQUEST',
  FST_ERR_MAX_PARAM_LENGTH: 'NOT_FOUND',
  FST_ERR_CTP_BODY_TOO_LARGE: 'BODY_TOO_LARGE',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'UNSUPPORTED_MEDIA_TYPE',
  FST_ERR_CTP_EMPTY_JSON_BODY: 'MALFORMED_JSON',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'MALFORMED_JSON',
  FST_ERR_CTP_INVALID_JSON_BODY: 'MALFORMED_JSON',
}

function sendParserProblem(error: FastifyError | Error, request: FastifyRequest, reply: FastifyReply) {
  const { code = '', statusCode = 500 } = error as FastifyError
  const known = FASTIFY_CODES[code]
  if (known) return sendProblem(reply, known, `${error.message.replace(/\.$/, '')}.`)
  if (statusCode >= 400 && statusCode < 500)
    return sendProblem(reply, 'VALIDATION_FAILED', `${error.message.replace(/\.$/, '')}.`)
  request.log.error({ err: error }, 'a request failed')
  return sendProblem(reply, 'INTERNAL', 'The error is in the server log; nothing was written in part.')
}

import { ERRORS } from '../../src/pure/errors.ts'
import { code, madeFrom, page, table } from './markdown.ts'

const SOURCE = 'src/pure/errors.ts'

/** Advice for clients, by status. A status without advice fails the generator. */
const ADVICE: Record<number, string> = {
  400: 'Change the request: the same request will be refused again. `errors` names the field.',
  401: 'Send a valid key as `Authorization: Bearer <key>`.',
  403: 'Use another key, host or origin. Retrying does not help.',
  404: 'Check the id and the path. Resources of other workspaces are not found either.',
  405: 'Use another method. Retrying does not help.',
  408: 'Send the complete request again, without pauses: nothing was carried out.',
  409: 'The request is valid, but conflicts with the current state. Read the resource again and decide again. A holder that gets a mismatch of generation or session, or has no claim, has lost the task and should stop working on it.',
  412: 'Read the resource again, and repeat the change on the current version.',
  413: 'Send a smaller body.',
  415: 'Send JSON, with `Content-Type: application/json`.',
  416: 'Ask for bytes below the size of the log, which `Content-Range` has.',
  422: 'Correct the plan: `problems` names every place. Or choose a new `Idempotency-Key`.',
  426: 'Open the path as a WebSocket.',
  429: 'Send fewer requests or messages, open fewer streams, or wait.',
  431: 'Send fewer or shorter header fields.',
  500: 'This is a bug in Baton. Nothing is partially written; the server log has the details.',
  503: 'Retry after the seconds in `Retry-After`. It is unknown whether the request was carried out: with the same `Idempotency-Key` it is carried out once.',
}

function adviceOn(status: number): string {
  const advice = ADVICE[status]
  if (!advice) throw new Error(`scripts/docs/errors.ts has no advice for status ${status}.`)
  return advice
}

export function errorsPage(): string {
  const codes = Object.entries(ERRORS)
  const statuses = [...new Set(codes.map(([, { status }]) => status))].sort((a, b) => a - b)
  return page(
    madeFrom(SOURCE),
    '# Errors',
    `Every refusal is a JSON body of the type \`application/problem+json\` (RFC 9457) with these fields: \`type\` (\`urn:baton:error:\` and the code), \`title\`, \`status\`, \`code\` and \`detail\`, a sentence about this request. Some have more, such as \`errors\` (a list of \`field\` and \`message\`) or \`currentGeneration\`. In the answers to batches, the code of an item is its \`reason\`. Programs should use the code: titles and details are for people and may change. The table is [${SOURCE}](../${SOURCE}).`,
    '## Codes',
    table(
      ['code', 'status', 'title'],
      codes.map(([name, { status, title }]) => [code(name), String(status), title]),
    ),
    '## What to do',
    table(
      ['status', 'what a client should do', 'codes'],
      statuses.map((status) => [
        String(status),
        adviceOn(status),
        codes
          .filter(([, error]) => error.status === status)
          .map(([name]) => code(name))
          .join(' '),
      ]),
    ),
  )
}

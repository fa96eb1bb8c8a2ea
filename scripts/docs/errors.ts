import { ERRORS } from '../../src/core/errors.ts'
import { code, madeFrom, page, table } from './markdown.ts'

const SOURCE = 'src/core/errors.ts'

/** What to do is a matter of the status. A status without a sentence stops the page from being made. */
const ADVICE: Record<number, string> = {
  400: 'Change the request: as it is, it will be refused again. `errors` names the field.',
  401: 'Send a valid key as `Authorization: Bearer <key>`.',
  403: 'Use another key, host or origin. Asking again does not help.',
  404: 'Look whether the id and the path are right. Things of other workspaces are not found either.',
  405: 'Use another method. Asking again does not help.',
  408: 'Send the request again, whole and without pauses: none of it was carried out.',
  409: 'The request is well formed, but the state of the thing says no. Read it again and decide anew. A holder that is told of another generation or session, or of no claim, has lost the task and should stop working on it.',
  412: 'Read the thing again, and repeat the change on what is there now.',
  413: 'Send less.',
  415: 'Send JSON, with `Content-Type: application/json`.',
  422: 'Choose a new `Idempotency-Key`.',
  426: 'Open the path as a WebSocket.',
  429: 'Say less, or wait a moment between two messages.',
  431: 'Send fewer or shorter header fields.',
  500: 'This is a fault in Baton. Nothing is half done; the server log says more.',
  503: 'Ask again after the seconds in `Retry-After`. It is unknown whether the request was carried out: under the same `Idempotency-Key` it is carried out once.',
}

function adviceOn(status: number): string {
  const advice = ADVICE[status]
  if (!advice) throw new Error(`Say in scripts/docs/errors.ts what a client should do about ${status}.`)
  return advice
}

export function errorsPage(): string {
  const codes = Object.entries(ERRORS)
  const statuses = [...new Set(codes.map(([, { status }]) => status))].sort((a, b) => a - b)
  return page(
    madeFrom(SOURCE),
    '# Errors',
    `Every refusal is a JSON body of the type \`application/problem+json\` (RFC 9457) with these fields: \`type\` (\`urn:baton:error:\` and the code), \`title\`, \`status\`, \`code\` and \`detail\`, a sentence about this very request. Some have more, such as \`errors\` (a list of \`field\` and \`message\`) or \`currentGeneration\`. In the answers to batches, the code of an item is its \`reason\`. Programs should look at the code: titles and details are for people. The table is [${SOURCE}](../${SOURCE}).`,
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

import { failed } from './config.ts'
import type { Exchange } from './http-exchange.ts'
import type { AdapterInvokeResult, TokenUsage } from './protocol.ts'
import { dollarsIn, objectIn, sessionIn, textIn, usageIn } from './reported.ts'

/** What answers mean for a run. Pure. */

const LONGEST_QUOTE = 500

/** What an agent says that it made, at once or later. */
export interface Made {
  result?: unknown
  summary: string | null
  usage: TokenUsage | null
  wantsMore: boolean
  sessionId: string | null
  costUsd: string | null
}

/** Of the body of an answer; null when it is no JSON object. */
export function madeIn(body: string): Made | null {
  const said = objectIn(body)
  if (!said) return null
  return {
    summary: textIn(said.summary) ?? null,
    usage: usageIn(said.usage),
    wantsMore: said.continue === true,
    sessionId: sessionIn(said.sessionId),
    costUsd: dollarsIn(said.costUsd),
    ...('result' in said && { result: said.result }),
  }
}

/** How a run ends whose agent did not take it; null when it did. `now` is in milliseconds. */
export function failureIn(answer: Exchange, now: number): AdapterInvokeResult | null {
  if (answer.kind === 'forbidden') return failed('invalid_configuration', answer.message)
  if (answer.kind === 'broken') {
    const code = answer.hasConnected ? 'api_error' : 'spawn_failed'
    const what = answer.hasConnected ? 'broke the connection' : 'cannot be reached'
    return failed(code, `The agent ${what}: ${answer.message}`)
  }
  const { status } = answer
  if (answer.kind === 'too_large')
    return failed('output_parse_error', `The agent answered ${status} with more than 10 MB.`)
  if (status >= 200 && status < 300) return null
  const quote = answer.body.trim().slice(0, LONGEST_QUOTE).toWellFormed()
  const said = `The agent answered ${status}${quote === '' ? '.' : `: ${quote}`}`
  if (status === 401 || status === 403) return failed('not_logged_in', said)
  if (status === 429)
    return { ...failed('rate_limited', said), retryAt: retryAtIn(answer.headers['retry-after'], now) }
  if (status >= 500) return failed('api_error', said)
  if (status >= 300 && status < 400)
    return failed(
      'nonzero_exit',
      `${said} It leads elsewhere, and that is not followed: set the address itself.`,
    )
  return failed('nonzero_exit', said)
}

/** Seconds, or a date. */
function retryAtIn(header: string | undefined, now: number): string | null {
  if (header === undefined) return null
  const ms = /^\d{1,9}$/.test(header.trim()) ? now + Number(header) * 1_000 : Date.parse(header)
  return Number.isNaN(ms) ? null : new Date(ms).toISOString()
}

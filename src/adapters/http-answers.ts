import { agentStateIn } from '../kinds/run/rules/agent-state.ts'
import type { Exchange } from '../outgoing/exchange.ts'
import { objectIn } from '../transcript/json.ts'
import { failed } from './config.ts'
import type { AdapterInvokeResult, TokenUsage } from './protocol.ts'
import { dollarsIn, sessionIn, textIn, usageIn } from './reported.ts'

/** What HTTP answers mean for a run. Pure. */

const LONGEST_QUOTE = 500

/** What an agent returns, at once or by a callback. */
export interface AgentAnswer {
  result?: unknown
  summary: string | null
  usage: TokenUsage | null
  wantsMore: boolean
  sessionId: string | null
  costUsd: string | null
  /** What the agent keeps for its next run; null: nothing new. */
  agentState: Record<string, unknown> | null
  /** It sent a state that is no object, or too large. */
  isStateRefused: boolean
}

/** From the body of an answer; null when it is not a JSON object. */
export function answerIn(body: string): AgentAnswer | null {
  const reported = objectIn(body)
  if (!reported) return null
  const agentState = agentStateIn(reported.state)
  return {
    summary: textIn(reported.summary) ?? null,
    usage: usageIn(reported.usage),
    wantsMore: reported.continue === true,
    sessionId: sessionIn(reported.sessionId),
    costUsd: dollarsIn(reported.costUsd),
    agentState,
    isStateRefused: agentState === null && reported.state != null,
    ...('result' in reported && { result: reported.result }),
  }
}

/** The failed result of a run whose agent did not accept it; null when it did. `now` is in milliseconds. */
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
  const message = `The agent answered ${status}${quote === '' ? '.' : `: ${quote}`}`
  if (status < 500 && objectIn(answer.body)?.code === 'invalid_task')
    return failed('invalid_task', textIn(objectIn(answer.body)?.message) ?? message)
  if (status === 401 || status === 403) return failed('not_logged_in', message)
  if (status === 429)
    return { ...failed('rate_limited', message), retryAt: retryAtIn(answer.headers['retry-after'], now) }
  if (status >= 500) return failed('api_error', message)
  if (status >= 300 && status < 400)
    return failed('nonzero_exit', `${message} Redirects are not followed: set the final address.`)
  return failed('nonzero_exit', message)
}

/** The header has seconds or a date. */
function retryAtIn(header: string | undefined, now: number): string | null {
  if (header === undefined) return null
  const ms = /^\d{1,9}$/.test(header.trim()) ? now + Number(header) * 1_000 : Date.parse(header)
  return Number.isNaN(ms) ? null : new Date(ms).toISOString()
}

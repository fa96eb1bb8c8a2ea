import {
  count,
  dollarText,
  type Exit,
  endedWith,
  type Facts,
  failureOfStatus,
  type Happening,
  NONE_USED,
  type OutputReader,
  picoDollars,
  plus,
  record,
  sessionIdIn,
  signatureOf,
  type Tokens,
  text,
  timeOf,
  type Verdict,
} from '../cli-lines.ts'
import type { RunErrorCode } from '../protocol.ts'
import { type Json, objectIn } from '../reported.ts'

/** Reads what `opencode run --format json` prints. */

interface ModelStep {
  tokens: Tokens
  cost: bigint | null
}

interface Failure {
  code: RunErrorCode
  message: string
  retryAt: string | null
}

export class OpencodeReader implements OutputReader {
  /** By the id of their part: told twice, a step counts once. */
  readonly #steps = new Map<string, ModelStep>()
  #usage = NONE_USED
  #hasBegun = false
  #isOver = false
  #sessionId: string | null = null
  #text: string | null = null
  #lastReason: string | null = null
  #failure: Failure | null = null

  take(line: string): Happening[] {
    const event = objectIn(line)
    if (text(event?.type) === null) return []
    this.#hasBegun = true
    const happenings = this.#inSession(sessionIdIn(event?.sessionID))
    const part = record(event?.part)
    switch (event?.type) {
      case 'text':
        this.#text = text(part.text)
        return [...happenings, { kind: 'activity' }]
      case 'tool_use':
        return [...happenings, ...used(part)]
      case 'step_finish':
        return [...happenings, ...this.#finished(part)]
      case 'error':
        this.#failure = failureIn(record(event.error), event.timestamp)
        return [...happenings, ...limitIn(this.#failure)]
      default:
        return happenings
    }
  }

  #inSession(sessionId: string | null): Happening[] {
    if (sessionId === null || sessionId === this.#sessionId) return []
    this.#sessionId = sessionId
    return [{ kind: 'session', sessionId }]
  }

  #finished(part: Json): Happening[] {
    const key = text(part.id) ?? `step ${this.#steps.size}`
    const before = this.#steps.get(key)?.tokens ?? NONE_USED
    const tokens = tokensIn(record(part.tokens))
    this.#steps.set(key, { tokens, cost: picoDollars(part.cost) })
    this.#usage = plus(plus(this.#usage, before, -1), tokens)
    this.#lastReason = text(part.reason)
    // It went on after what it complained of.
    this.#failure = null
    return [{ kind: 'usage', usage: this.#usage }]
  }

  facts(): Facts {
    const steps = [...this.#steps.values()]
    const isPaid = steps.length > 0 && steps.every(({ cost }) => cost !== null)
    const usage = steps.length > 0 ? this.#usage : null
    return {
      usage,
      // No event tells that a run is over, only its exit: a step it was in the middle of is not in the sum.
      usageBasis: usage && (this.#isOver ? 'reported' : 'partial'),
      costUsd: isPaid ? dollarText(steps.reduce((sum, { cost }) => sum + cost!, 0n)) : null,
      sessionId: this.#sessionId,
      model: null,
      runtimeStatePatch: this.#sessionId ? { sessionId: this.#sessionId } : {},
      rawResult: this.#failure && { error: this.#failure.message },
    }
  }

  end(exit: Exit): Verdict {
    this.#isOver = exit.code === 0
    if (this.#failure) return { kind: 'failed', ...this.#failure }
    const message = endedWith(exit)
    // Some versions say nothing at all of a session they do not know, and end with code 0.
    if (!this.#hasBegun && exit.code !== null && exit.code < 128) return { kind: 'unknown_session', message }
    if (exit.code !== 0) return { kind: 'failed', code: 'nonzero_exit', message }
    if (this.#lastReason === 'content-filter')
      return { kind: 'failed', code: 'refused', message: 'The model will not do it.' }
    if (this.#steps.size === 0)
      return { kind: 'failed', code: 'output_parse_error', message: 'It ended without finishing a step.' }
    return { kind: 'done', text: this.#text }
  }
}

function used(part: Json): Happening[] {
  const tool = text(part.tool) ?? 'tool'
  const state = record(part.state)
  return [
    { kind: 'call', signature: signatureOf(tool, state.input), isError: state.status === 'error' },
    { kind: 'activity' },
    { kind: 'status', message: `uses ${tool}`, color: 'blue' },
  ]
}

function failureIn(error: Json, timestamp: unknown): Failure {
  const data = record(error.data)
  const name = text(error.name) ?? 'an error'
  const message = text(data.message) ?? name
  const status = count(data.statusCode)
  if (name === 'ProviderAuthError') return { code: 'not_logged_in', message, retryAt: null }
  if (name === 'MessageAbortedError') return { code: 'cancelled', message, retryAt: null }
  const code = status > 0 ? failureOfStatus(status) : 'api_error'
  return { code, message, retryAt: code === 'rate_limited' ? retryIn(data, timestamp) : null }
}

/** The API says how many seconds to wait from when the event came. */
function retryIn(data: Json, timestamp: unknown): string | null {
  const seconds = Number(text(record(data.responseHeaders)['retry-after']) ?? Number.NaN)
  if (!(seconds >= 0) || typeof timestamp !== 'number') return null
  return timeOf(timestamp + seconds * 1_000)
}

const limitIn = ({ code, retryAt }: Failure): Happening[] =>
  code === 'rate_limited' ? [{ kind: 'rate_limit', until: retryAt }] : []

/** What was written to the cache was sent uncached; what was thought is paid for as output. */
function tokensIn(tokens: Json): Tokens {
  const cache = record(tokens.cache)
  return {
    inputTokens: count(tokens.input) + count(cache.write),
    outputTokens: count(tokens.output) + count(tokens.reasoning),
    cachedInputTokens: count(cache.read),
  }
}

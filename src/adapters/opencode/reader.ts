import { count, type Json, objectIn, record, text, timeOf } from '../../transcript/json.ts'
import { opencodeUsage, type Tokens } from '../../transcript/usage.ts'
import { AnswersUsed } from '../answers-used.ts'
import {
  dollarText,
  type Exit,
  endedWith,
  type Facts,
  failureOfStatus,
  NONE_USED,
  type OutputReader,
  picoDollars,
  type ReaderEvent,
  sameTokens,
  sessionIdIn,
  signatureOf,
  type Used,
  type Verdict,
} from '../cli-lines.ts'
import type { RunErrorCode } from '../protocol.ts'

/** Parses the output of `opencode run --format json`. */

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
  /** By the id of their part: a step that is reported twice counts once. */
  readonly #steps = new Map<string, ModelStep>()
  readonly #used = new AnswersUsed()
  /** That of the agent's settings: the output names none. */
  readonly #model: string | null
  #hasBegun = false
  #isOver = false
  #sessionId: string | null = null
  #text: string | null = null
  #lastReason: string | null = null
  #failure: Failure | null = null

  constructor(model: string | null = null) {
    this.#model = model
  }

  take(line: string): ReaderEvent[] {
    const event = objectIn(line)
    if (text(event?.type) === null) return []
    this.#hasBegun = true
    const events = this.#setSession(sessionIdIn(event?.sessionID))
    const part = record(event?.part)
    switch (event?.type) {
      case 'text':
        this.#text = text(part.text)
        return [...events, { kind: 'activity' }]
      case 'tool_use':
        return [...events, ...used(part)]
      case 'step_finish':
        return [...events, ...this.#finished(part)]
      case 'error':
        this.#failure = failureIn(record(event.error), event.timestamp)
        return [...events, ...limitIn(this.#failure)]
      default:
        return events
    }
  }

  #setSession(sessionId: string | null): ReaderEvent[] {
    if (sessionId === null || sessionId === this.#sessionId) return []
    this.#sessionId = sessionId
    return [{ kind: 'session', sessionId }]
  }

  #finished(part: Json): ReaderEvent[] {
    const key = text(part.id) ?? `step ${this.#steps.size}`
    const tokens = opencodeUsage(record(part.tokens))
    this.#steps.set(key, { tokens, cost: picoDollars(part.cost) })
    this.#used.set(key, { model: this.#model, tokens })
    this.#lastReason = text(part.reason)
    // It continued after the error.
    this.#failure = null
    const usage = this.#usage()
    return usage ? [{ kind: 'usage', usage }] : []
  }

  /** With the cost of its only model, where that is known. */
  #usage(): Used | null {
    const usage = this.#used.usage()
    const costUsd = this.#cost()
    if (costUsd === null || usage?.models?.length !== 1) return usage
    return { ...usage, models: [{ ...usage.models[0]!, costUsd }] }
  }

  #cost(): string | null {
    const steps = [...this.#steps.values()]
    if (steps.length === 0 || !steps.every(isPriced)) return null
    return dollarText(steps.reduce((sum, { cost }) => sum + cost!, 0n))
  }

  facts(): Facts {
    const usage = this.#usage()
    return {
      usage,
      // No event marks the end of a run, only its exit: an unfinished step is not in the sum.
      usageBasis: usage && (this.#isOver ? 'reported' : 'partial'),
      costUsd: this.#cost(),
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
    // Some versions print nothing about an unknown session and exit with code 0.
    if (!this.#hasBegun && exit.code !== null && exit.code < 128) return { kind: 'unknown_session', message }
    if (exit.code !== 0) return { kind: 'failed', code: 'nonzero_exit', message }
    if (this.#lastReason === 'content-filter')
      return { kind: 'failed', code: 'refused', message: 'The model refused the task.' }
    if (this.#steps.size === 0)
      return {
        kind: 'failed',
        code: 'output_parse_error',
        message: 'The program ended without finishing a step.',
      }
    return { kind: 'done', text: this.#text }
  }
}

/** It reports 0 for a model that it has no price for. */
const isPriced = ({ cost, tokens }: ModelStep) =>
  cost !== null && (cost > 0n || sameTokens(tokens, NONE_USED))

function used(part: Json): ReaderEvent[] {
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

/** The header has the seconds to wait, counted from the event. */
function retryIn(data: Json, timestamp: unknown): string | null {
  const seconds = Number(text(record(data.responseHeaders)['retry-after']) ?? Number.NaN)
  if (!(seconds >= 0) || typeof timestamp !== 'number') return null
  return timeOf(timestamp + seconds * 1_000)
}

const limitIn = ({ code, retryAt }: Failure): ReaderEvent[] =>
  code === 'rate_limited' ? [{ kind: 'rate_limit', until: retryAt }] : []

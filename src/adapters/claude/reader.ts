import { count, type Json, list, objectIn, record, text, timeOf } from '../../transcript/json.ts'
import { claudeUsage, type Tokens } from '../../transcript/usage.ts'
import {
  type Exit,
  endedWith,
  exitedWithError,
  type Facts,
  failureOfStatus,
  NONE_USED,
  OpenCalls,
  type OutputReader,
  plus,
  type ReaderEvent,
  sameTokens,
  sessionIdIn,
  signatureOf,
  type Verdict,
} from '../cli-lines.ts'
import type { RunErrorCode } from '../protocol.ts'
import { type Counted, costOf, countedBy, countedIn } from './cost.ts'

/** Parses the output of `claude --print --output-format stream-json --verbose`. */

/** The program's own names for errors of its API. */
const FAILURES: Record<string, RunErrorCode> = {
  authentication_failed: 'not_logged_in',
  billing_error: 'budget_blocked',
  rate_limit: 'rate_limited',
}

export class ClaudeReader implements OutputReader {
  readonly #before: Counted | null
  readonly #calls = new OpenCalls()
  /** A message comes in several lines with growing figures: the last one counts. */
  readonly #messages = new Map<string, Tokens>()
  #sumOfMessages = NONE_USED
  #results: Json[] = []
  #hasBegun = false
  #sessionId: string | null = null
  #version: string | null = null
  #model: string | null = null
  #apiError: string | null = null
  #limitedUntil: string | null = null

  constructor(runtimeState: Json) {
    this.#before = countedIn(runtimeState.counted)
  }

  take(line: string): ReaderEvent[] {
    const event = objectIn(line)
    switch (event?.type) {
      case 'system':
        return event.subtype === 'init' ? this.#begin(event) : []
      case 'assistant':
        return this.#message(event)
      case 'user':
        return list(record(event.message).content).flatMap((block) => this.#toolResult(record(block)))
      case 'rate_limit_event':
        return this.#limited(record(event.rate_limit_info))
      case 'result':
        return this.#ended(event)
      default:
        return []
    }
  }

  #begin(event: Json): ReaderEvent[] {
    const sessionId = sessionIdIn(event.session_id)
    // A second start after the first did not find its session: discard the results of the first.
    if (this.#results.some((result) => result.session_id !== event.session_id)) this.#results = []
    this.#hasBegun = true
    this.#version = text(event.claude_code_version)
    this.#model = text(event.model) ?? this.#model
    return this.#setSession(sessionId)
  }

  #setSession(sessionId: string | null): ReaderEvent[] {
    if (sessionId === null || sessionId === this.#sessionId) return []
    this.#sessionId = sessionId
    return [{ kind: 'session', sessionId }]
  }

  #message(event: Json): ReaderEvent[] {
    this.#hasBegun = true
    const message = record(event.message)
    this.#apiError = text(event.error)
    if (this.#apiError !== null || event.is_api_error_message === true) return []
    const events: ReaderEvent[] = [{ kind: 'activity' }, ...this.#used(message)]
    for (const block of list(message.content).map(record)) {
      if (block.type !== 'tool_use') continue
      const tool = text(block.name) ?? 'tool'
      this.#calls.begun(text(block.id), signatureOf(tool, block.input))
      events.push({ kind: 'status', message: `uses ${tool}`, color: 'blue' })
    }
    return events
  }

  #used({ id, usage }: Json): ReaderEvent[] {
    const key = text(id)
    if (key === null) return []
    const [before, now] = [this.#messages.get(key) ?? NONE_USED, claudeUsage(record(usage))]
    this.#messages.set(key, now)
    if (sameTokens(before, now)) return []
    this.#sumOfMessages = plus(plus(this.#sumOfMessages, before, -1), now)
    return [{ kind: 'usage', usage: this.#sumOfMessages }]
  }

  #toolResult(block: Json): ReaderEvent[] {
    if (block.type !== 'tool_result') return []
    return this.#calls.ended(text(block.tool_use_id), block.is_error === true)
  }

  #limited(info: Json): ReaderEvent[] {
    const isBeyondPlan = info.isUsingOverage === true
    if ((isBeyondPlan ? info.overageStatus : info.status) !== 'rejected') return []
    const until = timeOf((isBeyondPlan ? info.overageResetsAt : null) ?? info.resetsAt)
    this.#limitedUntil = until
    return [
      { kind: 'rate_limit', until },
      { kind: 'status', message: `rate limited until ${until ?? 'the limit resets'}`, color: 'yellow' },
    ]
  }

  #ended(event: Json): ReaderEvent[] {
    this.#results.push(event)
    if (this.#isUnknownSession()) return []
    const denied = list(event.permission_denials).length
    const usage = this.#reportedUsage()
    const events = this.#setSession(sessionIdIn(event.session_id))
    if (usage) events.push({ kind: 'usage', usage })
    if (denied > 0)
      events.push({
        kind: 'status',
        message: `${denied} tool call${denied > 1 ? 's' : ''} denied`,
        color: 'yellow',
      })
    return events
  }

  /** The first output when the session to resume does not exist. */
  #isUnknownSession(): boolean {
    const result = this.#results.at(-1)
    return !this.#hasBegun && result?.subtype === 'error_during_execution' && count(result.num_turns) === 0
  }

  facts(): Facts {
    const result = this.#isUnknownSession() ? undefined : this.#results.at(-1)
    const reported = result && this.#reportedUsage()
    const partial = this.#messages.size > 0 ? this.#sumOfMessages : null
    const usage = reported ?? partial
    const counted = result && this.#sessionId ? countedBy(result, this.#sessionId) : null
    const cost = counted && costOf(counted, this.#before, record(result?.usage), this.#version)
    const { result: _, structured_output: __, ...raw } = result ?? {}
    return {
      usage,
      usageBasis: usage && (reported ? 'reported' : 'partial'),
      costUsd: cost?.costUsd ?? null,
      sessionId: this.#sessionId,
      model: this.#model ?? Object.keys(record(result?.modelUsage))[0] ?? null,
      runtimeStatePatch: this.#sessionId
        ? { sessionId: this.#sessionId, ...(counted && { counted: { ...counted } }) }
        : {},
      rawResult: result ? raw : null,
    }
  }

  /** The usage of this run. Null when the program lost count: it reports none, but its messages have some. */
  #reportedUsage(): Tokens | null {
    const each = this.#results.map((result) => claudeUsage(record(result.usage)))
    const sum = each.reduce((all, one) => plus(all, one), NONE_USED)
    // A process may report several results, separate or cumulative. The total of all models is at least that of the run.
    const usage = each.length > 1 && !isWithin(sum, this.#results.at(-1)!) ? each.at(-1)! : sum
    return sameTokens(usage, NONE_USED) && this.#messages.size > 0 ? null : usage
  }

  end(exit: Exit): Verdict {
    const result = this.#results.at(-1)
    if (!result) return this.#endWithoutResult(exit)
    const why = list(result.errors).find((error) => typeof error === 'string')
    const message = text(why) ?? text(result.result) ?? endedWith(exit)
    if (this.#isUnknownSession()) return { kind: 'unknown_session', message }
    if (result.subtype === 'error_max_turns') return { kind: 'done', text: null, wantsMore: true }
    if (result.subtype === 'error_max_budget_usd') return { kind: 'failed', code: 'budget_blocked', message }
    if (result.stop_reason === 'refusal') return { kind: 'failed', code: 'refused', message }
    const status = count(result.api_error_status)
    if (status > 0 || result.terminal_reason === 'api_error') return this.#apiFailure(status, message)
    if (result.is_error !== false) return { kind: 'failed', code: 'nonzero_exit', message }
    const structured = result.structured_output ?? undefined
    return { kind: 'done', text: text(result.result), ...(structured !== undefined && { structured }) }
  }

  #apiFailure(status: number, message: string): Verdict {
    const code = status > 0 ? failureOfStatus(status) : (FAILURES[this.#apiError ?? ''] ?? 'api_error')
    const retryAt = code === 'rate_limited' ? this.#limitedUntil : null
    return { kind: 'failed', code, message, retryAt }
  }

  #endWithoutResult(exit: Exit): Verdict {
    const message = endedWith(exit)
    // It exits with code 0 when interrupted: without a result nothing shows that it is done.
    if (exit.code === 0)
      return { kind: 'failed', code: 'output_parse_error', message: 'The program ended without a result.' }
    if (!this.#hasBegun && exitedWithError(exit)) return { kind: 'unknown_session', message }
    if (this.#limitedUntil !== null)
      return { kind: 'failed', code: 'rate_limited', message, retryAt: this.#limitedUntil }
    return { kind: 'failed', code: 'nonzero_exit', message }
  }
}

function isWithin(usage: Tokens, result: Json): boolean {
  const all = Object.values(record(result.modelUsage)).map(record)
  const used = (figure: string) => all.reduce((sum, model) => sum + count(model[figure]), 0)
  return (
    usage.inputTokens <= used('inputTokens') + used('cacheCreationInputTokens') &&
    usage.outputTokens <= used('outputTokens')
  )
}

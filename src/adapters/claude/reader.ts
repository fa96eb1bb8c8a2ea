import { count, isObject, type Json, list, objectIn, record, text, timeOf } from '../../transcript/json.ts'
import {
  type Exit,
  endedWith,
  exitedWithError,
  type Facts,
  type FileReader,
  failureOfStatus,
  minus,
  NONE_USED,
  OpenCalls,
  plus,
  type ReaderEvent,
  sessionIdIn,
  signatureOf,
  type Traces,
  type Used,
  type Verdict,
} from '../cli-lines.ts'
import type { RunErrorCode } from '../protocol.ts'
import { type Counted, costStateIn, countedBy, countedIn, keptOf, type Told, toldBy } from './cost.ts'
import { type Message, MessagesUsed } from './messages.ts'

/** Parses the output of `claude --print --output-format stream-json --verbose`, with or without partial messages. */

/** The program's own names for errors of its API. */
const FAILURES: Record<string, RunErrorCode> = {
  authentication_failed: 'not_logged_in',
  billing_error: 'budget_blocked',
  rate_limit: 'rate_limited',
}

/** It stands where an answer of a model would. */
const NO_MODEL = '<synthetic>'
const MAIN = 'main'
const MOST_AGENTS = 90
const AGENT_ID = /^[A-Za-z0-9_-]{1,100}$/

/** Pieces of messages. There are many of them, and the message follows. */
export const isPiece = (line: string): boolean =>
  line.includes('"stream_event"') && objectIn(line)?.type === 'stream_event'

export class ClaudeReader implements FileReader {
  readonly #before: Counted | null
  /** The counters that its session file had before the run. */
  #costState: Counted | null = null
  readonly #calls = new OpenCalls()
  readonly #messages = new MessagesUsed()
  readonly #agents = new Set<string>()
  #isStreamed = false
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
      case 'stream_event':
        return this.#piece(event, record(event.event))
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
    const shown = messageIn(message)
    if (shown) this.#messages.shown(this.#speakerOf(event), shown)
    const events: ReaderEvent[] = [{ kind: 'activity' }, ...this.#used()]
    for (const block of list(message.content).map(record)) {
      if (block.type !== 'tool_use') continue
      const tool = text(block.name) ?? 'tool'
      this.#calls.begun(text(block.id), signatureOf(tool, block.input))
      events.push({ kind: 'status', message: `uses ${tool}`, color: 'blue' })
    }
    return events
  }

  #piece(line: Json, event: Json): ReaderEvent[] {
    this.#hasBegun = true
    this.#isStreamed = true
    const speaker = this.#speakerOf(line)
    if (event.type === 'message_start') {
      const message = messageIn(record(event.message))
      if (message) this.#messages.began(speaker, message)
    }
    if (event.type !== 'message_delta') return []
    this.#messages.completed(speaker, text(line.api_message_id), record(event.usage))
    return this.#used()
  }

  #speakerOf({ agent_id: agent, parent_tool_use_id: call }: Json): string {
    const id = text(agent)
    if (id !== null && AGENT_ID.test(id) && this.#agents.size < MOST_AGENTS) this.#agents.add(id)
    return id ?? text(call) ?? MAIN
  }

  #used(): ReaderEvent[] {
    const usage = this.usage()
    return usage ? [{ kind: 'usage', usage }] : []
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
    this.#messages.summedUp()
    const denied = list(event.permission_denials).length
    const events = [...this.#setSession(sessionIdIn(event.session_id)), ...this.#used()]
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

  traces(): Traces {
    // Its stream tells what the file would.
    return { sessionId: this.#sessionId, agents: [...this.#agents], isToldElsewhere: this.#isStreamed }
  }

  before(line: string): void {
    if (!line.includes('"cost-state"')) return
    const counted = costStateIn(objectIn(line) ?? {})
    if (counted) this.#costState = counted
  }

  written(line: string): void {
    if (!line.includes('"assistant"')) return
    const event = objectIn(line)
    const message = event?.type === 'assistant' ? messageIn(record(event.message)) : null
    if (message) this.#messages.written(message)
  }

  /** Only what its output has shown counts, so that of earlier runs does not. */
  left(line: string): void {
    this.written(line)
  }

  /** What the results tell, and what has come after the last one. */
  usage(): Used | null {
    const told = this.#told()
    if (!told) return this.#messages.usage()
    const recent = this.#messages.recentUsage()
    if (!recent) return told.usage
    const models = told.usage.models && recent.models && [...told.usage.models, ...recent.models]
    return { ...plus(told.usage, recent), ...(models && { models }) }
  }

  #told(): Told | null {
    if (this.#results.length === 0 || this.#isUnknownSession()) return null
    const [all, recent] = [this.#messages.usage(), this.#messages.recentUsage()]
    const counted = all && minus(all, recent ?? NONE_USED)
    const ofSession = this.#before?.sessionId === this.#sessionId ? this.#before : null
    const before = [this.#costState, ofSession].filter((one) => one !== null)
    return toldBy(this.#results, { counted, before, version: this.#version })
  }

  facts(): Facts {
    const result = this.#isUnknownSession() ? undefined : this.#results.at(-1)
    const told = this.#told()
    const isAll = told !== null && this.#messages.recentUsage() === null
    const usage = this.usage()
    const counted = result && this.#sessionId ? countedBy(result, this.#sessionId) : null
    const { result: _, structured_output: __, ...raw } = result ?? {}
    return {
      usage,
      usageBasis: usage && (isAll ? (told.isDelta ? 'delta' : 'reported') : 'partial'),
      costUsd: isAll ? told.costUsd : null,
      sessionId: this.#sessionId,
      model: this.#model ?? Object.keys(record(result?.modelUsage))[0] ?? null,
      runtimeStatePatch: this.#sessionId
        ? { sessionId: this.#sessionId, ...(counted?.costUsd && { counted: keptOf(counted) }) }
        : {},
      rawResult: result ? raw : null,
    }
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

/** Null: no model gave it, or it tells nothing. */
function messageIn({ id, model, usage }: Json): Message | null {
  const [name, key] = [text(model), text(id)]
  if (key === null || name === NO_MODEL || !isObject(usage)) return null
  return { id: key, model: name, usage }
}

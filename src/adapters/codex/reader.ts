import { count, type Json, objectIn, record, text } from '../../transcript/json.ts'
import { type Tokens, written } from '../../transcript/usage.ts'
import {
  type Exit,
  endedWith,
  exitedWithError,
  type Facts,
  failureOfStatus,
  type OutputReader,
  type ReaderEvent,
  sessionIdIn,
  signatureOf,
  type Verdict,
} from '../cli-lines.ts'
import type { RunErrorCode } from '../protocol.ts'

/** Parses the output of `codex exec --json`. */

/** Counters of codex over a whole thread. Its input includes what was read from the cache and what was written to it. */
interface Counted {
  sessionId: string
  input: number
  cached: number
  written: number
  output: number
}

function countedIn(state: unknown): Counted | null {
  const { sessionId, input, cached, written, output } = record(state)
  if (typeof sessionId !== 'string') return null
  const [sent, read] = [count(input), count(cached)]
  return { sessionId, input: sent, cached: read, written: count(written), output: count(output) }
}

/** Its errors are sentences. A status number in one of these two forms is the only structure they have. */
const STATUS = /^(?:unexpected status|exceeded retry limit, last status:) (\d{3})\b/

/** Its messages without a number when the API answers 500 or 503, or the connection breaks: whole sentences or prefixes. */
const API_IS_DOWN = new RegExp(
  [
    "We['\u2019]re currently experiencing high demand, which may cause temporary errors\\.$",
    'Selected model is at capacity\\. Please try a different model\\.$',
    'stream disconnected before completion: ',
    'Error while reading the server response: ',
    'Connection failed: ',
  ]
    .map((sentence) => `^${sentence}`)
    .join('|'),
)

/** Signatures of finished items that did something: equal items have equal signatures. */
const CALLS: Record<string, (item: Json) => string> = {
  command_execution: ({ command }) => signatureOf('command', command),
  mcp_tool_call: ({ server, tool, arguments: input }) => signatureOf(`${server}.${tool}`, input),
  file_change: ({ changes }) => signatureOf('file_change', changes),
  web_search: ({ query }) => signatureOf('web_search', query),
}

export class CodexReader implements OutputReader {
  readonly #before: Counted | null
  #hasBegun = false
  #sessionId: string | null = null
  #counted: Counted | null = null
  #isCompleted = false
  #failure: string | null = null
  #text: string | null = null

  constructor(runtimeState: Json) {
    this.#before = countedIn(runtimeState.counted)
  }

  take(line: string): ReaderEvent[] {
    const event = objectIn(line)
    if (text(event?.type) === null) return []
    this.#hasBegun = true
    switch (event?.type) {
      case 'thread.started':
        return this.#begin(sessionIdIn(event.thread_id))
      case 'turn.started':
        this.#isCompleted = false
        return []
      case 'item.started':
        return this.#started(record(event.item))
      case 'item.completed':
        return this.#finished(record(event.item))
      case 'turn.completed':
        return this.#completed(record(event.usage))
      case 'turn.failed':
        this.#failure = text(record(event.error).message) ?? 'The turn failed.'
        return []
      default:
        // A top-level error may be temporary: codex reconnects automatically, and reports `turn.failed` when it gives up.
        return []
    }
  }

  #begin(sessionId: string | null): ReaderEvent[] {
    if (sessionId === null || sessionId === this.#sessionId) return []
    this.#sessionId = sessionId
    return [{ kind: 'session', sessionId }]
  }

  #started({ type }: Json): ReaderEvent[] {
    if (typeof type !== 'string' || !(type in CALLS)) return []
    return [{ kind: 'status', message: `uses ${type.replaceAll('_', ' ')}`, color: 'blue' }]
  }

  #finished(item: Json): ReaderEvent[] {
    const type = text(item.type) ?? ''
    if (type === 'error') {
      const message = text(item.message) ?? 'unspecified warning'
      return [{ kind: 'status', message: message.slice(0, 200), color: 'yellow' }]
    }
    if (type === 'agent_message') this.#text = text(item.text)
    const activity: ReaderEvent = { kind: 'activity' }
    if (!Object.hasOwn(CALLS, type)) return [activity]
    const isError =
      item.status === 'failed' ||
      item.status === 'declined' ||
      (item.exit_code ?? 0) !== 0 ||
      item.error != null
    return [{ kind: 'call', signature: CALLS[type]!(item), isError }, activity]
  }

  #completed(usage: Json): ReaderEvent[] {
    this.#isCompleted = true
    this.#failure = null
    this.#counted = {
      sessionId: this.#sessionId ?? '',
      input: count(usage.input_tokens),
      cached: count(usage.cached_input_tokens),
      written: count(usage.cache_write_input_tokens),
      output: count(usage.output_tokens),
    }
    return [{ kind: 'usage', usage: usageSince(this.#counted, this.#baseline(this.#counted)) }]
  }

  facts(): Facts {
    const before = this.#counted && this.#baseline(this.#counted)
    return {
      usage: this.#counted && usageSince(this.#counted, before),
      usageBasis: this.#counted && (before ? 'delta' : 'reported'),
      costUsd: null,
      sessionId: this.#sessionId,
      model: null,
      runtimeStatePatch: this.#sessionId
        ? { sessionId: this.#sessionId, ...(this.#counted && { counted: { ...this.#counted } }) }
        : {},
      rawResult: this.#failure === null ? null : { error: this.#failure },
    }
  }

  /** The counters before this run, if this is the same thread: counters never fall, so a lower one was reset. */
  #baseline(now: Counted): Counted | null {
    const before = this.#before
    if (!before || before.sessionId !== now.sessionId) return null
    return now.input >= before.input && now.output >= before.output && now.cached >= before.cached
      ? before
      : null
  }

  end(exit: Exit): Verdict {
    if (this.#failure !== null) {
      return { kind: 'failed', code: codeOf(this.#failure), message: this.#failure }
    }
    const message = endedWith(exit)
    if (!this.#hasBegun && exitedWithError(exit)) return { kind: 'unknown_session', message }
    if (exit.code !== 0) return { kind: 'failed', code: 'nonzero_exit', message }
    if (!this.#isCompleted)
      return {
        kind: 'failed',
        code: 'output_parse_error',
        message: 'The program ended without completing its turn.',
      }
    return { kind: 'done', text: this.#text }
  }
}

function codeOf(failure: string): RunErrorCode {
  const status = STATUS.exec(failure)?.[1]
  if (status !== undefined) return failureOfStatus(Number(status))
  return API_IS_DOWN.test(failure) ? 'api_error' : 'nonzero_exit'
}

/** What was written to the cache was sent uncached, as for claude. It is part of the input, so it is not added to it. */
function usageSince(now: Counted, before: Counted | null): Tokens {
  const cached = now.cached - (before?.cached ?? 0)
  const cacheWrite = now.written - (before?.written ?? 0)
  const input = now.input - (before?.input ?? 0)
  return {
    inputTokens: Math.max(0, cacheWrite, input - cached),
    outputTokens: now.output - (before?.output ?? 0),
    cachedInputTokens: cached,
    ...written(cacheWrite),
  }
}

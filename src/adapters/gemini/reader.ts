import { type Json, objectIn, record, text } from '../../transcript/json.ts'
import { geminiUsage } from '../../transcript/usage.ts'
import { usageOf } from '../answers-used.ts'
import {
  type Exit,
  endedWith,
  type Facts,
  type FileReader,
  failureOfStatus,
  OpenCalls,
  type ReaderEvent,
  sessionIdIn,
  signatureOf,
  type Traces,
  type Used,
  type Verdict,
} from '../cli-lines.ts'
import { Chat } from './chat.ts'

/** Parses the output of `gemini --output-format stream-json`, which tells what was used at the end, and its chat file. */

const EXIT = { notLoggedIn: 41, badInput: 42, turnLimit: 53, cancelled: 130 } as const
/** When its API refuses, it exits with the status of the API, of which the system keeps the low byte. */
const STATUS_OF_EXIT = new Map([401, 403, 429, 500, 502, 503, 504].map((status) => [status & 0xff, status]))
const LONGEST_TEXT = 1_000_000

export class GeminiReader implements FileReader {
  readonly #chat = new Chat()
  readonly #calls = new OpenCalls()
  #sessionId: string | null = null
  /** By the clock that its chat file has, too. */
  #begunAt: string | null = null
  #model: string | null = null
  #text = ''
  #isSpeaking = false
  #result: Json | null = null

  traces(): Traces {
    return { sessionId: this.#sessionId, agents: [] }
  }

  before(line: string): void {
    this.#chat.before(line)
  }

  written(line: string): void {
    this.#chat.written(line)
  }

  left(line: string): void {
    if (this.#begunAt !== null) this.#chat.left(line, this.#begunAt)
  }

  take(line: string): ReaderEvent[] {
    const event = objectIn(line)
    switch (event?.type) {
      case 'init':
        return this.#begin(event)
      case 'message':
        return event.role === 'assistant' ? this.#message(text(event.content) ?? '') : []
      case 'tool_use':
        return this.#uses(event)
      case 'tool_result':
        return this.#calls.ended(text(event.tool_id), event.status === 'error')
      case 'error':
        return [
          {
            kind: 'status',
            message: (text(event.message) ?? 'unspecified warning').slice(0, 200),
            color: 'yellow',
          },
        ]
      case 'result':
        return this.#ended(event)
      default:
        return []
    }
  }

  #begin(event: Json): ReaderEvent[] {
    this.#result = null
    this.#begunAt = text(event.timestamp)
    this.#model = text(event.model)
    const sessionId = sessionIdIn(event.session_id)
    if (sessionId === null || sessionId === this.#sessionId) return []
    this.#sessionId = sessionId
    return [{ kind: 'session', sessionId }]
  }

  /** A message comes in pieces; only its beginning counts as activity. */
  #message(piece: string): ReaderEvent[] {
    const isNew = !this.#isSpeaking
    this.#isSpeaking = true
    this.#text = ((isNew ? '' : this.#text) + piece).slice(0, LONGEST_TEXT)
    return isNew ? [{ kind: 'activity' }] : []
  }

  #uses(event: Json): ReaderEvent[] {
    this.#isSpeaking = false
    const tool = text(event.tool_name) ?? 'tool'
    this.#calls.begun(text(event.tool_id), signatureOf(tool, event.parameters))
    return [{ kind: 'activity' }, { kind: 'status', message: `uses ${tool}`, color: 'blue' }]
  }

  #ended(event: Json): ReaderEvent[] {
    this.#result = event
    const usage = this.#told()
    return usage ? [{ kind: 'usage', usage }] : []
  }

  usage(): Used | null {
    const [told, answers] = [this.#told(), this.#chat.usage()]
    if (!told || !answers) return told ?? answers
    // Answer by answer it is known which requests were long.
    return isSame(told, answers) ? answers : told
  }

  /** What it says at its end that its process has used. */
  #told(): Used | null {
    const stats = record(this.#result?.stats)
    const all = geminiUsage(stats)
    if (!all) return null
    const models = Object.entries(record(stats.models)).flatMap(([model, used]) => {
      const tokens = geminiUsage(record(used))
      return tokens ? [{ model, all: tokens }] : []
    })
    const byModel = usageOf(models)
    return models.length > 0 && isSame(byModel, all) ? byModel : usageOf([{ model: this.#model, all }])
  }

  facts(): Facts {
    const usage = this.usage()
    return {
      usage,
      usageBasis: usage && (this.#told() ? 'reported' : 'partial'),
      costUsd: null,
      sessionId: this.#sessionId,
      model: this.#model ?? Object.keys(record(record(this.#result?.stats).models))[0] ?? null,
      runtimeStatePatch: this.#sessionId ? { sessionId: this.#sessionId } : {},
      rawResult: this.#result,
    }
  }

  end(exit: Exit): Verdict {
    const message = text(record(this.#result?.error).message) ?? endedWith(exit)
    switch (exit.code) {
      case EXIT.notLoggedIn:
        return { kind: 'failed', code: 'not_logged_in', message }
      case EXIT.badInput:
        return this.#sessionId === null
          ? { kind: 'unknown_session', message }
          : { kind: 'failed', code: 'nonzero_exit', message }
      case EXIT.turnLimit:
        return { kind: 'done', text: text(this.#text), wantsMore: true }
      case EXIT.cancelled:
        return { kind: 'failed', code: 'cancelled', message }
    }
    if (exit.code !== 0) {
      const status = STATUS_OF_EXIT.get(exit.code ?? -1)
      return { kind: 'failed', code: status ? failureOfStatus(status) : 'nonzero_exit', message }
    }
    // It exits with code 0 also when it is stopped.
    if (!this.#result)
      return { kind: 'failed', code: 'output_parse_error', message: 'The program ended without a result.' }
    if (this.#result.status !== 'success') return { kind: 'failed', code: 'api_error', message }
    return { kind: 'done', text: text(this.#text) }
  }
}

const isSame = (a: Used, b: Used) =>
  a.inputTokens === b.inputTokens &&
  a.cachedInputTokens === b.cachedInputTokens &&
  a.outputTokens === b.outputTokens

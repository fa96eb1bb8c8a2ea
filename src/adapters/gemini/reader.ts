import { costOfUsage } from '../../kinds/run/prices/cost.ts'
import { addDollars } from '../../kinds/run/rules/dollars.ts'
import { type Json, objectIn, record, text } from '../../transcript/json.ts'
import { geminiUsage } from '../../transcript/usage.ts'
import {
  type Exit,
  endedWith,
  type Facts,
  failureOfStatus,
  OpenCalls,
  type OutputReader,
  type ReaderEvent,
  sessionIdIn,
  signatureOf,
  type Verdict,
} from '../cli-lines.ts'

/** Parses the output of `gemini --output-format stream-json`. */

const EXIT = { notLoggedIn: 41, badInput: 42, turnLimit: 53, cancelled: 130 } as const
/** When its API refuses, it exits with the status of the API, of which the system keeps the low byte. */
const STATUS_OF_EXIT = new Map([401, 403, 429, 500, 502, 503, 504].map((status) => [status & 0xff, status]))
const LONGEST_TEXT = 1_000_000

export class GeminiReader implements OutputReader {
  readonly #calls = new OpenCalls()
  #sessionId: string | null = null
  #model: string | null = null
  #text = ''
  #isSpeaking = false
  #result: Json | null = null

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
    const usage = geminiUsage(record(event.stats))
    return usage ? [{ kind: 'usage', usage }] : []
  }

  facts(): Facts {
    const stats = record(this.#result?.stats)
    const usage = geminiUsage(stats)
    const models = Object.keys(record(stats.models))
    return {
      usage,
      usageBasis: usage && 'reported',
      costUsd: costOfModels(record(stats.models)),
      sessionId: this.#sessionId,
      model: this.#model ?? models[0] ?? null,
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

/** A run that used several models is priced by each of them; the price of one follows from its usage, like any other. */
function costOfModels(models: Json): string | null {
  const used = Object.entries(models).map(([model, stats]) => [model, geminiUsage(record(stats))] as const)
  if (used.length < 2) return null
  return used.reduce<string | null>((sum, [model, usage]) => {
    const cost = usage && costOfUsage(model, usage)
    return sum === null || cost === null ? null : addDollars(sum, cost)
  }, '0')
}

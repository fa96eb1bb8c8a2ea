import { type Json, objectIn, record, text } from '../../transcript/json.ts'
import { codexUsage } from '../../transcript/usage.ts'
import { usageOf } from '../answers-used.ts'
import {
  type Exit,
  endedWith,
  exitedWithError,
  type Facts,
  type FileReader,
  failureOfStatus,
  isAtLeast,
  OpenCalls,
  type ReaderEvent,
  sessionIdIn,
  signatureOf,
  type Traces,
  type Used,
  type Verdict,
} from '../cli-lines.ts'
import type { RunErrorCode } from '../protocol.ts'
import { type Counters, countedSince, countersIn, hasGoneOn, keptCounters, ZERO } from './counters.ts'
import { Rollout } from './rollout.ts'

/** Parses the output of `codex exec --json`, which tells what the thread has used when its turn is done, and its rollout file. */

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

export class CodexReader implements FileReader {
  readonly #kept: ReturnType<typeof keptCounters>
  readonly #rollout: Rollout
  #hasBegun = false
  #sessionId: string | null = null
  /** Of the thread, as it says at the end. */
  #said: Counters | null = null
  readonly #calls = new OpenCalls()
  #isCompleted = false
  #failure: string | null = null
  #text: string | null = null

  constructor(runtimeState: Json, model: string | null = null) {
    this.#kept = keptCounters(runtimeState.counted)
    this.#rollout = new Rollout(model)
  }

  traces(): Traces {
    return { sessionId: this.#sessionId, agents: [] }
  }

  before(line: string): void {
    this.#rollout.before(line)
  }

  written(line: string): void {
    this.#rollout.written(line, this.#sessionId)
  }

  left(line: string): void {
    this.#rollout.left(line, this.#sessionId, this.#keptOfThread())
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

  #started({ type, id }: Json): ReaderEvent[] {
    if (typeof type !== 'string' || !(type in CALLS)) return []
    this.#calls.begun(text(id), type)
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
    // It says only at the end what exactly it did.
    const [begun] = this.#calls.ended(text(item.id), isError)
    return [{ kind: 'call', ...begun, signature: CALLS[type]!(item), isError }, activity]
  }

  #completed(usage: Json): ReaderEvent[] {
    this.#isCompleted = true
    this.#failure = null
    this.#said = countersIn(usage)
    return [{ kind: 'usage', usage: this.#used().usage! }]
  }

  usage(): Used | null {
    return this.#used().usage
  }

  facts(): Facts {
    const { usage, isDelta } = this.#used()
    const thread = this.#said ?? this.#rollout.thread
    const counted = thread && { counted: { sessionId: this.#sessionId, ...thread } }
    return {
      usage,
      usageBasis: usage && (this.#said ? (isDelta ? 'delta' : 'reported') : 'partial'),
      costUsd: null,
      sessionId: this.#sessionId,
      model: this.#rollout.model,
      runtimeStatePatch: this.#sessionId ? { sessionId: this.#sessionId, ...counted } : {},
      rawResult: this.#failure === null ? null : { error: this.#failure },
    }
  }

  /** The counters of the thread after the run before this one. */
  #keptOfThread(): Counters | null {
    return this.#kept?.sessionId === this.#sessionId ? this.#kept : null
  }

  /** The answers in its file, if they are what it says at the end: the thread's counters now, less those before the run. */
  #used(): { usage: Used | null; isDelta: boolean } {
    const [said, answers] = [this.#said, this.#rollout.usage()]
    if (!said) return { usage: answers, isDelta: false }
    const kept = this.#keptOfThread()
    const known = [...this.#rollout.bases, ...(kept ? [kept] : [])].filter((base) => hasGoneOn(said, base))
    const bases = known.length > 0 ? known : [ZERO]
    const by = bases.map((base) => ({ base, tokens: codexUsage(countedSince(said, base)) }))
    const same = answers && by.find(({ tokens }) => isAtLeast(tokens, answers) && isAtLeast(answers, tokens))
    const { base, tokens } = same || by[0]!
    const usage = same ? answers : usageOf([{ model: this.#rollout.model, all: tokens }])
    return { usage, isDelta: !isZero(base) }
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

const isZero = ({ input, output }: Counters) => input + output === 0

import { type Json, objectIn, record, text } from '../../transcript/json.ts'
import { codexUsage } from '../../transcript/usage.ts'
import { AnswersUsed } from '../answers-used.ts'
import type { Used } from '../cli-lines.ts'
import { type Counters, countedSince, countersIn, hasGoneOn } from './counters.ts'

/**
 * What the rollout file of a thread tells. Each answer is recorded when it is complete, with what it used, what the turn has used and
 * what the thread has used; older versions count only over the thread, when the tools of the answer are done.
 */

const MARKS = ['"token_usage_record"', '"token_count"', '"turn_context"']
const MOST_OLD = 100_000
/** The entry of all that is counted by thread. */
const THREAD = 'thread'

export class Rollout {
  readonly #answers = new AnswersUsed()
  readonly #old = new Set<string>()
  /** The model of the agent's settings: it is what the program was started with. */
  readonly #given: string | null
  #model: string | null = null
  #before: Counters | null = null
  #origin: Counters | null = null
  #thread: Counters | null = null
  #hasRecords = false

  constructor(model: string | null) {
    this.#given = model
  }

  get model(): string | null {
    return this.#given ?? this.#model
  }

  /** Of the thread, after the last answer. */
  get thread(): Counters | null {
    return this.#thread ?? this.#before
  }

  /** The counters with which the run may have begun, the likeliest first: a fork begins with those of its parent. */
  get bases(): readonly Counters[] {
    return [this.#before, this.#origin].filter((one) => one !== null)
  }

  usage(): Used | null {
    return this.#answers.usage()
  }

  before(line: string): void {
    const { type, payload } = lineIn(line)
    if (type === 'token_usage_record') {
      const id = answerOf(payload)
      if (id !== null && this.#old.size < MOST_OLD) this.#old.add(id)
      this.#before = countersIn(record(payload.thread_token_usage))
    }
    const total = type === 'event_msg' ? totalIn(payload) : null
    if (total) this.#before = total
  }

  written(line: string, sessionId: string | null): void {
    const { type, payload } = lineIn(line)
    if (type === 'turn_context') this.#model = text(payload.model) ?? this.#model
    if (type === 'token_usage_record') this.#record(payload, sessionId)
    if (type === 'event_msg' && !this.#hasRecords) this.#count(payload)
  }

  /** Of a run before this one is what the thread had counted by then. */
  left(line: string, sessionId: string | null, kept: Counters | null): void {
    const { type, payload } = lineIn(line)
    const thread =
      type === 'token_usage_record' ? countersIn(record(payload.thread_token_usage)) : totalIn(payload)
    if (kept && thread && hasGoneOn(kept, thread)) this.before(line)
    else this.written(line, sessionId)
  }

  #record(payload: Json, sessionId: string | null): void {
    const id = answerOf(payload)
    if (id === null || this.#old.has(id) || this.#answers.get(id)) return
    if (sessionId !== null && payload.thread_id !== undefined && payload.thread_id !== sessionId) return
    const isFirst = !this.#hasRecords
    this.#hasRecords = true
    // A total that came before may be that of an answer before the run.
    this.#answers.remove(THREAD)
    this.#answers.set(id, { model: this.model, tokens: codexUsage(record(payload.usage)) })
    this.#thread = countersIn(record(payload.thread_token_usage))
    const turn = countersIn(record(payload.turn_token_usage))
    if (isFirst && hasGoneOn(this.#thread, turn)) this.#origin = countersIn(countedSince(this.#thread, turn))
  }

  #count(payload: Json): void {
    const total = totalIn(payload)
    if (!total) return
    const last = countersIn(record(record(payload.info).last_token_usage))
    if (!this.#origin && hasGoneOn(total, last)) this.#origin = countersIn(countedSince(total, last))
    const base = this.#before ?? this.#origin
    if (!base || !hasGoneOn(total, base)) return
    this.#thread = total
    this.#answers.set(THREAD, { model: this.model, tokens: codexUsage(countedSince(total, base)) })
  }
}

function lineIn(line: string): { type: unknown; payload: Json } {
  const event = MARKS.some((mark) => line.includes(mark)) ? objectIn(line) : null
  return { type: event?.type, payload: record(event?.payload) }
}

const answerOf = ({ response_id: id }: Json) => text(id)

/** `info` may be missing. */
function totalIn({ type, info }: Json): Counters | null {
  const total = record(info).total_token_usage
  return type === 'token_count' && total !== undefined ? countersIn(record(total)) : null
}

import type { Tokens } from '../kinds/run/shapes/tokens.ts'
import type { Step, TranscriptState } from '../kinds/run/shapes/transcript.ts'
import { cut, type Fact, LONGEST_TEXT, titleOf } from './facts.ts'

/** Where in the log a line is. */
export interface Place {
  offset: number
  bytes: number
  stream: Step['stream']
  at: string | null
}

/** A program that never reports results must not fill the memory. */
const MOST_OPEN = 200

/** Gives steps their numbers, and joins what belongs together: calls and their results, and text that comes in pieces. */
export class Steps {
  n: number
  last: Step | null
  isPiece: boolean
  #open: Step[]

  constructor({ n, last, isPiece, open }: Pick<TranscriptState, 'n' | 'last' | 'isPiece' | 'open'>) {
    this.n = n
    this.last = last
    this.isPiece = isPiece
    this.#open = [...open]
  }

  get open(): Step[] {
    return [...this.#open]
  }

  /** The step that this fact makes, or changes; null: neither. */
  take(fact: Fact, place: Place): Step | null {
    if (fact.kind === 'usage') return this.#used(fact)
    const call = fact.callId == null ? undefined : this.#open.find(({ callId }) => callId === fact.callId)
    if (call && fact.isOpen !== true) return this.#joined(call, fact, place)
    if (fact.isPiece && this.#continues(fact, place)) return this.#longer(this.last!, fact, place)
    return this.#added(fact.kind, fact, place)
  }

  #added(kind: Step['kind'], fact: Fact, place: Place): Step {
    this.n++
    const hasOutput = fact.output != null
    const step: Step = {
      n: this.n,
      at: fact.at ?? place.at,
      kind,
      title: fact.title ?? titleOf(fact.text ?? ''),
      tool: fact.tool ?? null,
      isError: fact.isError ?? false,
      isOpen: fact.isOpen === true && fact.callId != null,
      durationMs: fact.durationMs ?? null,
      tokens: isUsed(fact) ? plus(null, fact) : null,
      costUsd: fact.costUsd ?? null,
      stream: place.stream,
      offset: place.offset,
      bytes: place.bytes,
      text: cut(fact.text ?? ''),
      output: hasOutput ? cut(fact.output!) : null,
      outputOffset: hasOutput ? place.offset : null,
      outputBytes: hasOutput ? place.bytes : null,
      callId: fact.callId ?? null,
    }
    this.last = step
    this.isPiece = fact.isPiece ?? false
    if (step.isOpen) this.#open = [...this.#open, step].slice(-MOST_OPEN)
    return step
  }

  #joined(call: Step, fact: Fact, { offset, bytes, at }: Place): Step {
    const end = fact.at ?? at
    const took = call.at === null || end === null ? Number.NaN : Date.parse(end) - Date.parse(call.at)
    this.#open = this.#open.filter((step) => step !== call)
    return this.#changed({
      ...call,
      isOpen: false,
      isError: fact.isError ?? false,
      durationMs: fact.durationMs ?? (took >= 0 ? took : null),
      output: cut(fact.output ?? ''),
      outputOffset: offset,
      outputBytes: bytes,
    })
  }

  /** An indented line belongs to the error above it: a stack trace is one step. */
  #continues({ kind, isError = false, text = '' }: Fact, { stream }: Place): boolean {
    const { last } = this
    if (!this.isPiece || last?.kind !== kind || last.stream !== stream) return false
    return last.isError === isError || (kind === 'log' && last.isError && /^\s/.test(text ?? ''))
  }

  /** What is said stays one step; of other output, a step has as much as fits. */
  #longer(last: Step, fact: Fact, place: Place): Step {
    const isSpeech = fact.kind === 'said'
    const text = `${last.text}${isSpeech ? '' : '\n'}${fact.text ?? ''}`
    if (text.length > LONGEST_TEXT && !isSpeech) return this.#added(last.kind, fact, place)
    const bytes = place.offset + place.bytes - last.offset
    return this.#changed({ ...last, bytes, title: last.title || titleOf(text), text: cut(text) })
  }

  /** Adds the usage to the previous step. */
  #used(fact: Fact): Step | null {
    const { last } = this
    if (!last) return null
    return this.#changed({
      ...last,
      tokens: plus(last.tokens, fact),
      costUsd: last.costUsd ?? fact.costUsd ?? null,
    })
  }

  #changed(step: Step): Step {
    if (this.last?.n === step.n) this.last = step
    this.#open = this.#open.map((open) => (open.n === step.n ? step : open))
    return step
  }
}

const isUsed = ({ inputTokens, cachedInputTokens, outputTokens }: Fact) =>
  (inputTokens ?? cachedInputTokens ?? outputTokens) !== undefined

const plus = (before: Tokens | null, fact: Fact): Tokens => ({
  input: (before?.input ?? 0) + (fact.inputTokens ?? 0),
  cachedInput: sum(before?.cachedInput, fact.cachedInputTokens),
  cacheWrite: sum(before?.cacheWrite, fact.cacheWriteInputTokens),
  output: (before?.output ?? 0) + (fact.outputTokens ?? 0),
})

/** Null: neither is known. */
const sum = (before: number | null | undefined, more: number | undefined) =>
  before == null && more === undefined ? null : (before ?? 0) + (more ?? 0)

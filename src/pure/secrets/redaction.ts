import { Automaton, wholly } from './automaton.ts'
import { canBeHidden } from './forms.ts'

/**
 * Blacks out secrets. Every occurrence of a secret or one of its forms is found, even when they overlap, and the text they
 * cover together is replaced once: of two secrets that share characters, nothing is left of either.
 * The search is Aho–Corasick: each character is read once, however many secrets there are.
 */

export const REDACTED = '[redacted]'

export type Secrets = readonly string[] | KnownSecrets

/** Secrets, prepared for the search. Worth keeping when there is much to search. */
export class KnownSecrets {
  readonly registered: readonly string[]
  readonly automaton: Automaton

  constructor(secrets: readonly string[], automaton: Automaton = wholly(Automaton.building(secrets))) {
    this.registered = [...new Set(secrets)].filter(canBeHidden)
    this.automaton = automaton
  }

  /** The same in slices of about a millisecond, even for long secrets. */
  static *preparing(secrets: readonly string[]): Generator<void, KnownSecrets> {
    return new KnownSecrets(secrets, yield* Automaton.building(secrets))
  }

  get isEmpty(): boolean {
    return this.registered.length === 0
  }
}

const known = (secrets: Secrets) => (secrets instanceof KnownSecrets ? secrets : new KnownSecrets(secrets))

/**
 * Redacts text that arrives in chunks. What might be the beginning of a secret is buffered until it is known not to be one,
 * so that no secret slips through at the border of two chunks.
 */
export class Redactor {
  #secrets: KnownSecrets
  #state = 0
  /** Buffered text. */
  #held = ''
  /** Ranges of the buffered text to black out: disjoint, in order. */
  #spots: { from: number; to: number }[] = []
  /** How much of the text, from the start of the buffer, is covered by the last replacement. */
  #covered = 0

  constructor(secrets: Secrets) {
    this.#secrets = known(secrets)
  }

  /** The secrets that are searched for: without those that are too short. */
  registered(): readonly string[] {
    return this.#secrets.registered
  }

  /**
   * Searches for these from here on, which include those before. What is buffered is searched again: a new secret may begin
   * there.
   */
  learn(secrets: KnownSecrets): void {
    if (secrets === this.#secrets) return
    this.#secrets = secrets
    const held = this.#held
    this.#state = 0
    this.#held = ''
    this.#spots = []
    if (held !== '') this.#scan(held)
  }

  take(chunk: string): string {
    if (this.#secrets.isEmpty) return chunk
    this.#scan(chunk)
    return this.#letOut(this.#held.length - this.#secrets.automaton.depth[this.#state]!)
  }

  /** The input ends: returns the buffered text. */
  end(): string {
    this.#state = 0
    return this.#letOut(this.#held.length)
  }

  #scan(chunk: string): void {
    const { automaton } = this.#secrets
    const { fromStart, longest } = automaton
    let state = this.#state
    const start = this.#held.length
    for (let i = 0; i < chunk.length; i++) {
      const character = chunk.charCodeAt(i)
      state = state === 0 ? fromStart[character]! : automaton.step(state, character)
      const length = longest[state]!
      if (length !== 0) this.#blackOut(start + i + 1 - length, start + i + 1)
    }
    this.#state = state
    this.#held += chunk
  }

  #blackOut(from: number, to: number): void {
    if (from < this.#covered) {
      this.#covered = Math.max(this.#covered, to)
      this.#spots = []
      return
    }
    let first = from
    for (let last = this.#spots.at(-1); last && last.to > from; last = this.#spots.at(-1)) {
      first = Math.min(first, last.from)
      this.#spots.pop()
    }
    this.#spots.push({ from: first, to })
  }

  /** Everything before `end`. Later matches begin there or after it. */
  #letOut(end: number): string {
    let out = ''
    let done = 0
    for (const { from, to } of this.#spots) {
      if (from >= end) break
      out += this.#held.slice(this.#covered, from) + REDACTED
      this.#covered = to
      done++
    }
    out += this.#held.slice(this.#covered, end)
    this.#held = this.#held.slice(end)
    this.#spots = this.#spots.slice(done).map(({ from, to }) => ({ from: from - end, to: to - end }))
    this.#covered = Math.max(0, this.#covered - end)
    return out
  }
}

export function redactText(text: string, secrets: Secrets): string {
  const redactor = new Redactor(secrets)
  return redactor.take(text) + redactor.end()
}

/** A JSON value with its texts and field names redacted. Not recursive: values may be nested very deep. */
export function redactDeep<T>(value: T, secrets: Secrets): T {
  const prepared = known(secrets)
  if (prepared.isEmpty) return value
  const root: { value?: unknown } = {}
  const waiting: [from: object, to: object][] = [[{ value }, root]]
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const [from, to] = next
    for (const [key, inner] of Object.entries(from)) {
      let copy = typeof inner === 'string' ? redactText(inner, prepared) : inner
      if (typeof inner === 'object' && inner !== null) {
        copy = Array.isArray(inner) ? [] : {}
        waiting.push([inner, copy])
      }
      // Defined, not assigned: a field named __proto__ is a field like any other.
      const name = Array.isArray(from) ? key : unusedIn(to, redactText(key, prepared))
      Object.defineProperty(to, name, { value: copy, enumerable: true, writable: true, configurable: true })
    }
  }
  return root.value as T
}

/** Two field names that were secrets stay two fields. */
function unusedIn(fields: object, name: string): string {
  let unused = name
  for (let i = 2; Object.hasOwn(fields, unused); i++) unused = `${name} ${i}`
  return unused
}

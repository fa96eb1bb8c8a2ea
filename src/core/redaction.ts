import { Automaton, wholly } from './secret-automaton.ts'
import { canBeHidden } from './secret-forms.ts'

/**
 * Blacks out secrets. Every place where a secret or one of its forms stands is found, however they overlap, and what they
 * cover together is replaced once: so of two secrets that share characters nothing of either is left.
 * The search is Aho and Corasick's: one look at each character, however many secrets there are and whatever they look like.
 */

const REDACTED = '[redacted]'

export type Secrets = readonly string[] | KnownSecrets

/** Secrets, prepared to be looked for. Worth keeping where there is much to look through. */
export class KnownSecrets {
  readonly registered: readonly string[]
  readonly automaton: Automaton

  constructor(secrets: readonly string[], automaton: Automaton = wholly(Automaton.building(secrets))) {
    this.registered = [...new Set(secrets)].filter(canBeHidden)
    this.automaton = automaton
  }

  /** The same in slices of about a millisecond, however long the secrets are. */
  static *preparing(secrets: readonly string[]): Generator<void, KnownSecrets> {
    return new KnownSecrets(secrets, yield* Automaton.building(secrets))
  }

  get isEmpty(): boolean {
    return this.registered.length === 0
  }
}

const known = (secrets: Secrets) => (secrets instanceof KnownSecrets ? secrets : new KnownSecrets(secrets))

/**
 * Text that comes in pieces. What might be the beginning of a secret is held back until it is known not to be one, so
 * that a secret does not slip through where one piece ends and the next begins.
 */
export class Redactor {
  readonly #secrets: KnownSecrets
  #state = 0
  /** Text that is not let out yet. */
  #held = ''
  /** Places in the held text that will be blacked out: apart from each other, in order. */
  #spots: { from: number; to: number }[] = []
  /** So much of the text, counted from where the held text begins, is covered by what was blacked out last. */
  #covered = 0

  constructor(secrets: Secrets) {
    this.#secrets = known(secrets)
  }

  /** The secrets that are looked for: those that are too short are not among them. */
  registered(): readonly string[] {
    return this.#secrets.registered
  }

  take(chunk: string): string {
    if (this.#secrets.isEmpty) return chunk
    this.#look(chunk)
    return this.#letOut(this.#held.length - this.#secrets.automaton.depth[this.#state]!)
  }

  /** No more comes: what was held back. */
  end(): string {
    this.#state = 0
    return this.#letOut(this.#held.length)
  }

  #look(chunk: string): void {
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
      this.#covered = to
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

  /** Everything before `end`. What is still to be found begins there or later. */
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

/** A JSON value with its texts and the names of its fields redacted. Not by recursion: values may be nested very deep. */
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

/** Two names that were secrets are still two fields. */
function unusedIn(fields: object, name: string): string {
  let unused = name
  for (let i = 2; Object.hasOwn(fields, unused); i++) unused = `${name} ${i}`
  return unused
}

import { canBeHidden, formsIn } from './forms.ts'

/**
 * The Aho–Corasick automaton over all forms of the secrets. Building it is linear in their length, and done in slices: a
 * caller with other work to do takes the next slice later.
 */

/** The number of characters in a slice: about a millisecond. */
const SLICE = 16_384

export class Automaton {
  /** The state each character leads to from the start. */
  readonly fromStart: Int32Array
  /** For each state: how many characters of a secret were matched, and the length of the longest secret that ends in it. */
  readonly depth: Int32Array
  readonly longest: Int32Array
  /** For each state: the state of the longest suffix that is also a prefix of a secret. */
  readonly #fallback: Int32Array
  /**
   * States are numbered along the forms, so nearly every edge leads to the next number. For each state: the character that
   * leads into it, and whether it comes from the previous state. Branching edges are stored apart; at most one per form.
   */
  readonly #character: Uint16Array
  readonly #isNext: Uint8Array
  readonly #branches = new Map<number, number>()
  readonly #branchesOff: Uint8Array

  private constructor(forms: number, characters: number) {
    this.fromStart = new Int32Array(forms === 0 ? 0 : 0x10000)
    this.depth = new Int32Array(characters + 1)
    this.longest = new Int32Array(characters + 1)
    this.#fallback = new Int32Array(characters + 1)
    this.#character = new Uint16Array(characters + 1)
    // One more: the last state checks whether there is a next one.
    this.#isNext = new Uint8Array(characters + 2)
    this.#branchesOff = new Uint8Array(characters + 1)
  }

  static *building(secrets: readonly string[]): Generator<void, Automaton> {
    const forms = new Set<string>()
    let characters = 0
    let sinceYield = 0
    for (const secret of secrets.filter(canBeHidden))
      for (const form of formsIn(secret)) {
        if (!forms.has(form)) characters += form.length
        forms.add(form)
        sinceYield += form.length
        if (sinceYield < SLICE) continue
        sinceYield = 0
        yield
      }
    const automaton = new Automaton(forms.size, characters)
    const segments = yield* automaton.#addAll(forms)
    yield* automaton.#fallBack(segments)
    return automaton
  }

  /** The state that `character` leads to from `state`. */
  step(state: number, character: number): number {
    for (let at = state; at !== 0; at = this.#fallback[at]!) {
      const next = this.#edge(at, character)
      if (next !== 0) return next
    }
    return this.fromStart[character]!
  }

  #edge(state: number, character: number): number {
    const next = state + 1
    if (this.#isNext[next] === 1 && this.#character[next] === character) return next
    if (this.#branchesOff[state] === 0) return 0
    return this.#branches.get(state * 0x10000 + character) ?? 0
  }

  *#addAll(forms: Iterable<string>): Generator<void, Segment[]> {
    const segments: Segment[] = []
    let states = 1
    let sinceYield = 0
    for (const form of forms) {
      const segment = this.#add(form, states)
      if (segment) {
        states += form.length - segment.depth
        segments.push(segment)
      }
      sinceYield += form.length
      if (sinceYield >= SLICE) {
        sinceYield = 0
        yield
      }
    }
    return segments.sort((a, b) => a.depth - b.depth)
  }

  /** Null: it is a prefix of another form and has no state of its own. */
  #add(form: string, firstNew: number): Segment | null {
    let state = 0
    let at = 0
    for (; at < form.length; at++) {
      const character = form.charCodeAt(at)
      const next = state === 0 ? this.fromStart[character]! : this.#edge(state, character)
      if (next === 0) break
      state = next
    }
    if (at === form.length) {
      this.longest[state] = form.length
      return null
    }
    const segment = { first: firstNew, parent: state, depth: at, end: form.length }
    this.#connect(state, form.charCodeAt(at), firstNew)
    for (let next = firstNew; at < form.length; at++, next++) {
      this.#character[next] = form.charCodeAt(at)
      if (next > firstNew) this.#isNext[next] = 1
      this.depth[next] = at + 1
    }
    this.longest[firstNew + form.length - segment.depth - 1] = form.length
    return segment
  }

  #connect(state: number, character: number, next: number): void {
    if (state === 0) this.fromStart[character] = next
    else if (next === state + 1) this.#isNext[next] = 1
    else {
      this.#branchesOff[state] = 1
      this.#branches.set(state * 0x10000 + character, next)
    }
  }

  /** Breadth first: a state's fallback is always shallower, and computed before it. */
  *#fallBack(segments: readonly Segment[]): Generator<void, void> {
    const active: Segment[] = []
    let waiting = 0
    let sinceYield = 0
    for (let depth = 0; active.length > 0 || waiting < segments.length; depth++) {
      while (waiting < segments.length && segments[waiting]!.depth === depth)
        active.push(segments[waiting++]!)
      for (let i = active.length - 1; i >= 0; i--) {
        const segment = active[i]!
        const state = segment.first + depth - segment.depth
        const from = depth === segment.depth ? segment.parent : state - 1
        const fallback = depth === 0 ? 0 : this.step(this.#fallback[from]!, this.#character[state]!)
        this.#fallback[state] = fallback
        if (this.longest[state] === 0) this.longest[state] = this.longest[fallback]!
        if (depth + 1 < segment.end) continue
        active[i] = active.at(-1)!
        active.pop()
      }
      sinceYield += active.length
      if (sinceYield >= SLICE) {
        sinceYield = 0
        yield
      }
    }
  }
}

/** The states of one form alone: from `first` on, one for each character from `depth` to `end`. */
interface Segment {
  first: number
  parent: number
  depth: number
  end: number
}

/** All slices at once. */
export function wholly<T>(slices: Generator<void, T>): T {
  for (;;) {
    const { done, value } = slices.next()
    if (done) return value
  }
}

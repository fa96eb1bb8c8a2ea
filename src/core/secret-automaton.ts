import { canBeHidden, formsIn } from './secret-forms.ts'

/**
 * The automaton of Aho and Corasick over all forms of some secrets. Building it is linear in their length, and done in
 * slices: whoever has other work to do takes the next one later.
 */

/** So many characters are a slice: about a millisecond. */
const SLICE = 16_384

export class Automaton {
  /** Where a character leads from the start. */
  readonly fromStart: Int32Array
  /** Of each state: how many characters of a secret it has seen, and how long the longest secret is that ends in it. */
  readonly depth: Int32Array
  readonly longest: Int32Array
  /** Of each state: the state of the longest ending that is the beginning of a secret too. */
  readonly #fallback: Int32Array
  /**
   * States are numbered along the forms, so nearly every edge leads to the next number. Of each state: which character leads
   * into it, and whether it comes from the state before. Edges that branch off are kept apart; there is at most one a form.
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
    // One more: the last state looks whether there is a next.
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

  /** Where `character` leads from `state`. */
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

  /** Null: it is the beginning of another, and has no state of its own. */
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

  /** From the shallow to the deep: what a state falls back to is always shallower, and done before it. */
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

/** The states that a form has for itself: from `first` on, one for each character from `depth` to `end`. */
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

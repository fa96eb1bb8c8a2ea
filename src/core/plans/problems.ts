/** A reason why a text is not a valid plan. */
export interface PlanProblem {
  /** From 1. */
  line: number
  /** Such as `tracks.B[2].depends_on[0]`; empty for a problem of the whole text. */
  path: string
  message: string
}

const LONGEST_LIST = 1000
const LONGEST_PATH = 200

/** All problems of a text, in the order of its lines. */
export class Problems {
  #found: PlanProblem[] = []
  #dropped = 0

  get any(): boolean {
    return this.#found.length > 0
  }

  /** About the text as a whole. */
  say(line: number, message: string): void {
    this.#add({ line, path: '', message })
  }

  /** About a value: the message continues its path. */
  report(line: number, path: string, message: string): void {
    if (path === '') this.say(line, `the plan ${message}`)
    else this.#add({ line, path: short(path, LONGEST_PATH), message })
  }

  #add(problem: PlanProblem): void {
    this.#found.push(problem)
    // Otherwise a text full of problems would fill the memory.
    if (this.#found.length > 20 * LONGEST_LIST) this.#keepFirst()
  }

  /** The first thousand, and one more that states how many are left out. */
  inOrder(): PlanProblem[] {
    this.#keepFirst()
    const last = this.#found.at(-1)
    if (!last || this.#dropped === 0) return this.#found
    const more = `${this.#dropped} more ${this.#dropped === 1 ? 'problem is' : 'problems are'} not listed`
    return [...this.#found, { line: last.line, path: '', message: more }]
  }

  #keepFirst(): void {
    this.#found.sort((one, other) => one.line - other.line)
    this.#dropped += Math.max(0, this.#found.length - LONGEST_LIST)
    this.#found.length = Math.min(this.#found.length, LONGEST_LIST)
  }
}

/** The path to something inside; the path of the whole is empty. */
export const below = (path: string, step: string | number) =>
  typeof step === 'number' ? `${path}[${step}]` : path === '' ? step : `${path}.${step}`

/** Shortens quoted input for a message. */
export const short = (text: string, longest = 100) =>
  text.length > longest ? `${text.slice(0, longest)}…` : text

export const quote = (text: string) => JSON.stringify(short(text))

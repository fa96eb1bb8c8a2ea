import type { Position } from './lines.ts'
import { type Path, pathText, pointerText } from './path.ts'

/** A reason why something is not a valid plan. */
export interface PlanProblem {
  /** From 1; 0 when the plan is no text. */
  line: number
  column: number
  /** Such as `tracks.B[2].depends_on[0]`; empty for a problem of the whole plan. */
  path: string
  /** The same as a JSON pointer. */
  at: string
  message: string
}

const LONGEST_LIST = 1000

/** All problems of a plan, in the order of their places. */
export class Problems {
  #found: PlanProblem[] = []
  #dropped = 0

  get any(): boolean {
    return this.#found.length > 0
  }

  /** About the plan as a whole. */
  say(at: Position, message: string): void {
    this.#add({ line: at.line, column: at.column, path: '', at: '', message })
  }

  /** About a value: the message continues its path. */
  report(at: Position, path: Path | null, message: string): void {
    if (path === null) this.say(at, `the plan ${message}`)
    else
      this.#add({
        line: at.line,
        column: at.column,
        path: pathText(path),
        at: pointerText(path),
        message,
      })
  }

  #add(problem: PlanProblem): void {
    this.#found.push(problem)
    // Otherwise a plan full of problems would fill the memory.
    if (this.#found.length > 20 * LONGEST_LIST) this.#keepFirst()
  }

  /** The first thousand, and one more that states how many are left out. */
  inOrder(): PlanProblem[] {
    this.#keepFirst()
    const last = this.#found.at(-1)
    const listed =
      !last || this.#dropped === 0
        ? this.#found
        : [...this.#found, { ...last, path: '', at: '', message: notListed(this.#dropped) }]
    // Without a text, the column was only the order.
    return listed.map((problem) => (problem.line === 0 ? { ...problem, column: 0 } : problem))
  }

  #keepFirst(): void {
    this.#found.sort((one, other) => one.line - other.line || one.column - other.column)
    this.#dropped += Math.max(0, this.#found.length - LONGEST_LIST)
    this.#found.length = Math.min(this.#found.length, LONGEST_LIST)
  }
}

const notListed = (count: number) => `${count} more ${count === 1 ? 'problem is' : 'problems are'} not listed`

/** Where another value is, in a message. */
export const whereIs = (at: Position, path: Path): string =>
  at.line === 0 ? `at ${pointerText(path)}` : `on line ${at.line}`

/** Shortens quoted input for a message. */
export const short = (text: string, longest = 100) =>
  text.length > longest ? `${text.slice(0, longest)}…` : text

export const quote = (text: string) => JSON.stringify(short(text))

/** Whether these are the problems of a refused plan (refusal.ts). */
export const isProblemList = (value: unknown): value is readonly Pick<PlanProblem, 'at' | 'message'>[] =>
  Array.isArray(value) &&
  value.every((one) => typeof one?.at === 'string' && typeof one?.message === 'string')

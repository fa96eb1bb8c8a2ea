import type { Position, PositionAt } from './lines.ts'
import {
  DEEPEST_PLAN,
  type Entry,
  isStorable,
  type Located,
  Locator,
  TOO_DEEP,
  UNSTORABLE,
} from './located.ts'
import { below, type Path } from './path.ts'
import type { Problems } from './problems.ts'

/**
 * The values of a JSON text with their positions; null when it is nested too deep. JSON.parse must have accepted the text:
 * nothing is checked again here. The YAML library reads JSON too, but takes five times as long.
 */
export function locateJson(text: string, positionAt: PositionAt, problems: Problems): Located | null {
  const scanner = new JsonScanner(text, positionAt, problems)
  const root = scanner.root()
  return scanner.isTooDeep ? null : root
}

const SPACE = /[ \t\r\n]*/y
const WORD = /[^,\]} \t\r\n]+/y

class JsonScanner {
  /** From then on nothing more is read. */
  isTooDeep = false
  #offset = 0
  readonly #text: string
  readonly #positionAt: PositionAt
  readonly #problems: Problems
  readonly #locator: Locator

  constructor(text: string, positionAt: PositionAt, problems: Problems) {
    this.#text = text
    this.#positionAt = positionAt
    this.#problems = problems
    this.#locator = new Locator(problems)
  }

  root(): Located {
    this.#skip(SPACE)
    return this.#value(null, 0)
  }

  /** Problems of a scalar are reported where its name is, if it has one. */
  #value(path: Path | null, depth: number, nameAt?: Position): Located {
    const own = this.#positionAt(this.#offset)
    const at = nameAt ?? own
    const first = this.#text[this.#offset]
    if (first === '"') return this.#locator.scalar(this.#string(), at, path)
    if (first !== '{' && first !== '[') return this.#locator.scalar(this.#word(), at, path)
    if (depth === DEEPEST_PLAN && !this.isTooDeep) {
      this.isTooDeep = true
      this.#problems.say(own, `the plan ${TOO_DEEP} (line ${own.line}, column ${own.column})`)
    }
    if (this.isTooDeep) return { kind: 'refused', at, sound: false }
    return first === '[' ? this.#list(own, path, depth) : this.#map(own, path, depth)
  }

  #list(at: Position, path: Path | null, depth: number): Located {
    const items: Located[] = []
    this.#inside(']', () => items.push(this.#value(below(path, items.length), depth + 1)))
    return this.#locator.list(items, at)
  }

  #map(at: Position, path: Path | null, depth: number): Located {
    const entries: Entry[] = []
    this.#inside('}', () => {
      const nameAt = this.#positionAt(this.#offset)
      const key = this.#string()
      this.#skip(SPACE)
      this.#offset += 1
      this.#skip(SPACE)
      const value = this.#value(below(path, key), depth + 1, nameAt)
      if (isStorable(key)) entries.push(this.#locator.entry(key, nameAt, value, path))
      else this.#problems.report(nameAt, path, `has a field whose name ${UNSTORABLE}`)
    })
    return this.#locator.map(entries, at, path)
  }

  /** Reads what is between two brackets, one item after the other. */
  #inside(end: string, item: () => void): void {
    this.#offset += 1
    this.#skip(SPACE)
    while (this.#text[this.#offset] !== end && !this.isTooDeep) {
      item()
      this.#skip(SPACE)
      if (this.#text[this.#offset] === ',') this.#offset += 1
      this.#skip(SPACE)
    }
    this.#offset += 1
  }

  #string(): string {
    const from = this.#offset
    let end = from
    do end = this.#text.indexOf('"', end + 1)
    while (isEscaped(this.#text, end))
    this.#offset = end + 1
    const written = this.#text.slice(from + 1, end)
    return written.includes('\\') ? JSON.parse(this.#text.slice(from, end + 1)) : written
  }

  /** A number, true, false or null. */
  #word(): number | boolean | null {
    const from = this.#offset
    this.#skip(WORD)
    return JSON.parse(this.#text.slice(from, this.#offset))
  }

  #skip(pattern: RegExp): void {
    pattern.lastIndex = this.#offset
    pattern.test(this.#text)
    this.#offset = pattern.lastIndex
  }
}

/** After an odd number of backslashes. */
function isEscaped(text: string, quote: number): boolean {
  let before = quote - 1
  while (text[before] === '\\') before -= 1
  return (quote - before) % 2 === 0
}

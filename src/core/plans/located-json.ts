import type { PositionAt } from './lines.ts'
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

const SPACE = /[ \t\r\n]*/y
const WORD = /[^,\]} \t\r\n]+/y

/**
 * The values of a JSON text with their positions; null when it is nested too deep. JSON.parse must have accepted the text:
 * nothing is checked again here. The YAML library reads JSON too, at a tenth of the speed.
 */
export function locateJson(text: string, positionAt: PositionAt, problems: Problems): Located | null {
  const locator = new Locator(problems)
  let offset = 0
  let isTooDeep = false

  const skip = (pattern: RegExp) => {
    pattern.lastIndex = offset
    pattern.test(text)
    offset = pattern.lastIndex
  }

  function value(path: Path | null, depth: number, named?: { at: ReturnType<PositionAt> }): Located {
    const own = positionAt(offset)
    const at = named?.at ?? own
    const first = text[offset]
    if (first === '"') return locator.scalar(string(), at, path)
    if (first !== '{' && first !== '[') {
      const from = offset
      skip(WORD)
      return locator.scalar(JSON.parse(text.slice(from, offset)), at, path)
    }
    if (depth === DEEPEST_PLAN && !isTooDeep) {
      isTooDeep = true
      problems.say(own, `the plan ${TOO_DEEP} (line ${own.line}, column ${own.column})`)
    }
    if (isTooDeep) return { kind: 'refused', at, sound: false }
    if (first === '[') {
      const items: Located[] = []
      inside(']', () => items.push(value(below(path, items.length), depth + 1)))
      return locator.list(items, own)
    }
    const entries: Entry[] = []
    inside('}', () => {
      const entry = field(path, depth)
      if (entry) entries.push(entry)
    })
    return locator.map(entries, own, path)
  }

  /** Reads what is between two brackets, one item after the other. */
  function inside(end: string, item: () => void): void {
    offset += 1
    skip(SPACE)
    while (text[offset] !== end && !isTooDeep) {
      item()
      skip(SPACE)
      if (text[offset] === ',') offset += 1
      skip(SPACE)
    }
    offset += 1
  }

  function field(path: Path | null, depth: number): Entry | null {
    const at = positionAt(offset)
    const key = string()
    skip(SPACE)
    offset += 1
    skip(SPACE)
    const found = value(below(path, key), depth + 1, { at })
    if (isStorable(key)) return locator.entry(key, at, found, path)
    problems.report(at, path, `has a field whose name ${UNSTORABLE}`)
    return null
  }

  function string(): string {
    const from = offset
    let end = from
    do end = text.indexOf('"', end + 1)
    while (isEscaped(text, end))
    offset = end + 1
    const written = text.slice(from + 1, end)
    return written.includes('\\') ? (JSON.parse(text.slice(from, offset)) as string) : written
  }

  skip(SPACE)
  const root = value(null, 0)
  return isTooDeep ? null : root
}

/** After an odd number of backslashes. */
function isEscaped(text: string, quote: number): boolean {
  let before = quote - 1
  while (text[before] === '\\') before -= 1
  return (quote - before) % 2 === 0
}

import type { Position } from './lines.ts'
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

/** More than any plan needs; more would block all other requests. */
const MOST_VALUES = 1_000_000

/** The values of a plan that is already parsed. They have no lines; their numbers keep problems in order. */
export function locateValue(root: unknown, problems: Problems): Located | null {
  const locator = new Locator(problems)
  let count = 0

  function value(found: unknown, path: Path | null, depth: number): Located {
    const at: Position = { line: 0, column: ++count }
    if (
      found === null ||
      typeof found === 'boolean' ||
      typeof found === 'number' ||
      typeof found === 'string'
    )
      return locator.scalar(found, at, path)
    if (!isPlain(found)) return locator.refuse(at, path, 'is not a JSON value')
    if (depth === DEEPEST_PLAN) return locator.refuse(at, path, TOO_DEEP)
    if (count > MOST_VALUES) return { kind: 'refused', at, sound: false }
    if (Array.isArray(found))
      return locator.list(
        found.map((item, i) => value(item, below(path, i), depth + 1)),
        at,
      )
    const entries: Entry[] = []
    for (const [key, content] of Object.entries(found)) {
      if (content === undefined) continue
      const entry = field(key, content, path, depth)
      if (entry) entries.push(entry)
    }
    return locator.map(entries, at, path)
  }

  function field(key: string, content: unknown, path: Path | null, depth: number): Entry | null {
    const at: Position = { line: 0, column: ++count }
    const located = value(content, below(path, key), depth + 1)
    if (isStorable(key)) return locator.entry(key, at, located, path)
    problems.report(at, path, `has a field whose name ${UNSTORABLE}`)
    return null
  }

  const located = value(root, null, 0)
  if (count <= MOST_VALUES) return located
  problems.say({ line: 0, column: 0 }, 'the plan has too many values')
  return null
}

function isPlain(found: unknown): found is Record<string, unknown> | unknown[] {
  if (typeof found !== 'object' || found === null) return false
  if (Array.isArray(found)) return true
  const prototype = Object.getPrototypeOf(found)
  return prototype === Object.prototype || prototype === null
}

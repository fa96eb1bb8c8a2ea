import type { Position } from './lines.ts'
import { below, type Path } from './path.ts'
import { type Problems, whereIs } from './problems.ts'

/** A value of a plan, with its position. Not `sound` when it, or an item of it, was already refused. */
export type Located =
  | { kind: 'map'; at: Position; sound: true; entries: Entry[] }
  | { kind: 'list'; at: Position; sound: boolean; items: Located[] }
  | { kind: 'scalar'; at: Position; sound: true; value: string | number | boolean | null }
  | { kind: 'refused'; at: Position; sound: false }

export interface Entry {
  key: string
  /** Of the name: problems of the value are reported there. */
  at: Position
  value: Located
}

/**
 * How deep a plan may be nested at all. An input of 200 levels is a few levels down; somewhat deeper plans are read so
 * that all problems can be reported.
 */
export const DEEPEST_PLAN = 256
export const TOO_DEEP = 'is nested deeper than 200 levels'

/** Makes the values of a plan, whatever it is read from, and reports what no plan may have. */
export class Locator {
  readonly #problems: Problems

  constructor(problems: Problems) {
    this.#problems = problems
  }

  refuse(at: Position, path: Path | null, why: string): Located {
    this.#problems.report(at, path, why)
    return { kind: 'refused', at, sound: false }
  }

  scalar(value: string | number | boolean | null, at: Position, path: Path | null): Located {
    if (typeof value === 'string' && !isStorable(value)) return this.refuse(at, path, UNSTORABLE)
    if (typeof value !== 'number') return { kind: 'scalar', at, sound: true, value }
    if (!Number.isFinite(value)) return this.refuse(at, path, 'is not a number that can be stored')
    // JSON does not distinguish -0 from 0.
    return { kind: 'scalar', at, sound: true, value: value === 0 ? 0 : value }
  }

  list(items: Located[], at: Position): Located {
    return { kind: 'list', at, sound: items.every((item) => item.sound), items }
  }

  entry(key: string, at: Position, value: Located, path: Path | null): Entry {
    if (key === '__proto__' || (key === 'constructor' && hasPrototype(value)))
      return { key, at, value: this.refuse(at, below(path, key), 'is not a valid field name') }
    return { key, at, value }
  }

  map(entries: Entry[], at: Position, path: Path | null): Located {
    const first = new Map<string, Entry>()
    for (const entry of entries) {
      const earlier = first.get(entry.key)
      const inside = below(path, entry.key)
      if (earlier)
        this.#problems.report(entry.at, inside, `is given twice, first ${whereIs(earlier.at, inside)}`)
      else first.set(entry.key, entry)
    }
    return { kind: 'map', at, sound: true, entries }
  }
}

export const UNSTORABLE = 'contains a NUL or half a surrogate pair, which cannot be stored'
export const isStorable = (text: string) => text.isWellFormed() && !text.includes('\u0000')

const hasPrototype = (node: Located) =>
  node.kind === 'map' && node.entries.some((entry) => entry.key === 'prototype')

/** As JSON.parse would return it. */
export function plainValue(node: Located): unknown {
  if (node.kind === 'list') return node.items.map(plainValue)
  if (node.kind === 'map')
    return Object.fromEntries(node.entries.map((entry) => [entry.key, plainValue(entry.value)]))
  return node.kind === 'scalar' ? node.value : undefined
}

/** The first list or mapping that is nested deeper than this, or null. */
export function deeperThan(levels: number, node: Located): Located | null {
  if (node.kind !== 'list' && node.kind !== 'map') return null
  if (levels === 0) return node
  const inside = node.kind === 'list' ? node.items : node.entries.map((entry) => entry.value)
  for (const one of inside) {
    const found = deeperThan(levels - 1, one)
    if (found) return found
  }
  return null
}

import { isAlias, isMap, isScalar, isSeq, type ParsedNode, type Scalar, type YAMLMap } from 'yaml'
import type { PositionAt } from './lines.ts'
import { below, type Problems, short } from './problems.ts'

/** A value of the text, with its line. Not `sound` when it, or an item of it, was already refused. */
export type Located =
  | { kind: 'map'; line: number; sound: true; entries: Entry[] }
  | { kind: 'list'; line: number; sound: boolean; items: Located[] }
  | { kind: 'scalar'; line: number; sound: true; value: string | number | boolean | null }
  | { kind: 'refused'; line: number; sound: false }

export interface Entry {
  key: string
  line: number
  value: Located
}

/** Reports YAML features that plans must not use: anchors, aliases, tags, merge keys, duplicates, invalid text. */
export function locate(root: ParsedNode | null, at: PositionAt, problems: Problems): Located {
  const lineOf = (node: ParsedNode) => at(node.range[0]).line
  const refuse = (line: number, path: string, why: string): Located => {
    problems.report(line, path, why)
    return { kind: 'refused', line, sound: false }
  }

  /** `line` is that of the field's name: problems of a value are reported there. */
  function value(node: ParsedNode, path: string, line = lineOf(node)): Located {
    if (isAlias(node)) return refuse(line, path, `is an alias (*${short(node.source)}): ${WRITE_IT_OUT}`)
    for (const unfit of unfitProperties(node)) problems.report(line, path, unfit)
    if (isMap(node)) return map(node, path)
    if (isSeq(node)) {
      const items = node.items.map((item, i) => value(item as ParsedNode, below(path, i)))
      return { kind: 'list', line: lineOf(node), sound: items.every((item) => item.sound), items }
    }
    if (node.tag !== undefined) return { kind: 'refused', line, sound: false }
    return scalar(node, line, path)
  }

  function scalar(node: Scalar, line: number, path: string): Located {
    const found = node.value
    if (typeof found === 'string' && !isStorable(found)) return refuse(line, path, UNSTORABLE)
    if (typeof found === 'number') {
      if (!Number.isFinite(found)) return refuse(line, path, 'is not a number that can be stored')
      // JSON does not distinguish -0 from 0.
      return { kind: 'scalar', line, sound: true, value: found === 0 ? 0 : found }
    }
    return { kind: 'scalar', line, sound: true, value: found as string | boolean | null }
  }

  function map(node: YAMLMap.Parsed, path: string): Located {
    const firstLines = new Map<string, number>()
    const entries: Entry[] = []
    for (const pair of node.items) {
      const entry = entryOf(pair.key, pair.value as ParsedNode | null, path)
      if (!entry) continue
      const firstLine = firstLines.get(entry.key)
      if (firstLine === undefined) firstLines.set(entry.key, entry.line)
      else refuse(entry.line, below(path, entry.key), `is given twice, first on line ${firstLine}`)
      entries.push(entry)
    }
    return { kind: 'map', line: lineOf(node), sound: true, entries }
  }

  function entryOf(name: ParsedNode, content: ParsedNode | null, path: string): Entry | null {
    const line = lineOf(name)
    const whyNot = unfitName(name)
    if (whyNot !== null) problems.report(line, path, whyNot)
    if (!isScalar(name) || whyNot !== null) return null
    const key = String(name.value)
    const inside = below(path, key)
    const located: Located = content
      ? value(content, inside, line)
      : { kind: 'scalar', line, sound: true, value: null }
    if (key === '__proto__' || (key === 'constructor' && hasPrototype(located)))
      return { key, line, value: refuse(line, inside, 'is not a valid field name') }
    return { key, line, value: located }
  }

  return root ? value(root, '') : { kind: 'scalar', line: 1, sound: true, value: null }
}

const WRITE_IT_OUT = 'write every value in full'

function* unfitProperties(node: { anchor?: string; tag?: string | undefined }): Generator<string> {
  if (node.anchor !== undefined) yield `has an anchor (&${short(node.anchor)}): ${WRITE_IT_OUT}`
  if (node.tag !== undefined)
    yield `has a tag (${short(node.tag.replace('tag:yaml.org,2002:', '!!'))}), which plans do not support; put text in quotes`
}

function unfitName(name: ParsedNode): string | null {
  if (isAlias(name)) return `has an alias (*${short(name.source)}) as the name of a field: ${WRITE_IT_OUT}`
  if (!isScalar(name)) return 'has a field whose name is not text'
  const [unfit] = unfitProperties(name)
  if (unfit !== undefined) return `has a field whose name ${unfit}`
  const key = String(name.value)
  if (key === '<<' && name.type === 'PLAIN') return `has a merge key (<<): ${WRITE_IT_OUT}`
  return isStorable(key) ? null : `has a field whose name ${UNSTORABLE}`
}

const UNSTORABLE = 'contains a NUL or half a surrogate pair, which cannot be stored'
const isStorable = (text: string) => text.isWellFormed() && !text.includes('\u0000')

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

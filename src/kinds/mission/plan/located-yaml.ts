import { isAlias, isMap, isScalar, isSeq, type ParsedNode, type YAMLMap } from 'yaml'
import type { Position, PositionAt } from './lines.ts'
import { type Entry, isStorable, type Located, Locator, UNSTORABLE } from './located.ts'
import { below, type Path } from './path.ts'
import { type Problems, short } from './problems.ts'

/** Reports YAML features that plans must not use: anchors, aliases, tags, merge keys. */
export function locateYaml(root: ParsedNode | null, positionAt: PositionAt, problems: Problems): Located {
  const locator = new Locator(problems)
  const positionOf = (node: ParsedNode) => positionAt(node.range[0])

  /** `at` is that of the field's name: problems of a value are reported there. */
  function value(node: ParsedNode, path: Path | null, at: Position = positionOf(node)): Located {
    if (isAlias(node))
      return locator.refuse(at, path, `is an alias (*${short(node.source)}): ${WRITE_IT_OUT}`)
    for (const unfit of unfitProperties(node)) problems.report(at, path, unfit)
    if (isMap(node)) return map(node, path)
    if (isSeq(node)) {
      const items = node.items.map((item, i) => value(item as ParsedNode, below(path, i)))
      return locator.list(items, positionOf(node))
    }
    if (node.tag !== undefined) return { kind: 'refused', at, sound: false }
    return locator.scalar(node.value as string | number | boolean | null, at, path)
  }

  function map(node: YAMLMap.Parsed, path: Path | null): Located {
    const entries = node.items
      .map((pair) => entryOf(pair.key, pair.value as ParsedNode | null, path))
      .filter((entry) => entry !== null)
    return locator.map(entries, positionOf(node), path)
  }

  function entryOf(name: ParsedNode, content: ParsedNode | null, path: Path | null): Entry | null {
    const at = positionOf(name)
    const whyNot = unfitName(name)
    if (whyNot !== null) problems.report(at, path, whyNot)
    if (!isScalar(name) || whyNot !== null) return null
    const key = String(name.value)
    const located: Located = content
      ? value(content, below(path, key), at)
      : { kind: 'scalar', at, sound: true, value: null }
    return locator.entry(key, at, located, path)
  }

  return root ? value(root, null) : { kind: 'scalar', at: { line: 1, column: 1 }, sound: true, value: null }
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

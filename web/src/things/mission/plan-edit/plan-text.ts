import { type Document, isMap, isScalar, isSeq, type Node, type Pair, parseDocument } from 'yaml'
import { type Located, plainValue } from '../../../../../src/kinds/mission/plan/located.ts'
import { Problems } from '../../../../../src/kinds/mission/plan/problems.ts'
import { readSyntax } from '../../../../../src/kinds/mission/plan/syntax.ts'
import { whyNoPlan } from './plan-changes.ts'
import { fieldNamed, idOf, isRecord, type Json } from './plan-value.ts'

/** A plan as text: read as the server reads it, and written so that what people wrote stays, with its comments. Pure. */

/** Where a text cannot be read. */
export interface Fault {
  readonly line: number
  readonly words: string
}

const EMPTY: Json = { tasks: [] }

export function readText(text: string): { plan: Json } | { fault: Fault } {
  if (text.trim() === '') return { plan: EMPTY }
  const problems = new Problems()
  const root = readSyntax(text, problems)
  const [first] = problems.inOrder()
  if (first) return { fault: { line: first.line, words: sentence(first.path, first.message) } }
  const value = root && plainValue(root)
  const why = whyNoPlan(value)
  if (why)
    return { fault: { line: (why.task !== null && lineOfTask(text, why.task)) || 1, words: why.words } }
  return { plan: value as Json }
}

/** The line is said beside it. */
function sentence(path: string, message: string): string {
  const words = `${path === '' ? '' : `${path} `}${message}`.replace(/ \(line \d+, column \d+\)$/, '')
  return words.replace(/^YAML syntax error: /, '').replace(/\.?$/, '.')
}

/** The lines on which tasks begin, in the order of the plan. */
export function taskLines(text: string): number[] {
  const root = readSyntax(text, new Problems())
  const tasks = root?.kind === 'map' && root.entries.find(({ key }) => key === 'tasks')?.value
  return tasks && tasks.kind === 'list' ? tasks.items.map(({ at }: Located) => at.line) : []
}

const lineOfTask = (text: string, place: number): number | null => taskLines(text)[place] ?? null

const WRITTEN = { lineWidth: 0 } as const

export const writeText = (plan: Json): string => textOf(createdIn(plan))

const textOf = (document: Document) => document.toString(WRITTEN)

function createdIn(plan: Json): Document {
  const document = parseDocument('{}') as unknown as Document
  document.contents = noded(document, plan) as never
  return document
}

const isJson = (text: string) => /^\s*[{[]/.test(text)

/** The text that says this plan now: what did not change keeps its words, its order and its comments. */
export function rewritten(text: string, plan: Json): string {
  if (isJson(text)) return `${JSON.stringify(plan, null, 2)}\n`
  if (text.trim() === '') return writeText(plan)
  const document = last?.text === text ? last.document : (parseDocument(text) as unknown as Document)
  if (document.errors.length > 0 || !isMap(document.contents)) return writeText(plan)
  document.contents = merged(document, document.contents, plan) as never
  last = { text: textOf(document), document }
  return last.text
}

/** The text that was written last, with its document: reading it again would take most of the time of a long plan. */
let last: { text: string; document: Document } | null = null

type Written = Node | null | undefined

function merged(document: Document, node: Written, value: unknown): Node {
  if (isMap(node) && isRecord(value)) {
    const pairs = node.items as Pair<Node, Written>[]
    const keyOf = ({ key }: Pair<Node, Written>) => (isScalar(key) ? String(key.value) : '')
    const known = new Map(pairs.map((pair) => [keyOf(pair), pair]))
    const keys = Object.keys(value)
    for (const [place, key] of keys.entries()) {
      const pair = known.get(key)
      if (pair) pair.value = merged(document, pair.value, value[key])
      else {
        const made = document.createPair(key, noded(document, value[key])) as Pair<Node, Written>
        const next = keys.slice(place + 1).find((later) => known.has(later))
        pairs.splice(next === undefined ? pairs.length : pairs.indexOf(known.get(next)!), 0, made)
      }
    }
    node.items = pairs.filter((pair) => Object.hasOwn(value, keyOf(pair))) as typeof node.items
    return node
  }
  if (isSeq(node) && Array.isArray(value)) {
    node.items = mergedItems(document, node.items as Written[], value)
    if (node.items.some((item) => !isScalar(item))) node.flow = false
    return node
  }
  if (isScalar(node) && !isRecord(value) && !Array.isArray(value)) {
    if (node.value === value) return node
    const made = noded(document, value)
    // Its comment is about the field, not about what it was.
    if (node.comment) made.comment = node.comment
    return made
  }
  return noded(document, value)
}

/** Tasks are the same by their ids, all else by its place. */
function mergedItems(document: Document, items: readonly Written[], value: readonly unknown[]): Node[] {
  const ids = items.map(idWritten)
  const places = new Map(ids.map((id, place) => [id, place]))
  const wanted = new Set(value.map((one) => (isRecord(one) ? idOf(one) : '')))
  const taken = new Set<number>()
  return value.map((one, at) => {
    const id = isRecord(one) ? idOf(one) : ''
    const isKnown = id !== '' && places.has(id)
    // A task that got another id is the one in its place, unless that one is elsewhere now.
    const isOther = !isKnown && id !== '' && ids[at] !== '' && wanted.has(ids[at]!)
    const place = isKnown ? places.get(id)! : at
    if (isOther || taken.has(place) || place >= items.length) return noded(document, one)
    taken.add(place)
    return merged(document, items[place], one)
  })
}

function idWritten(node: Written): string {
  if (!isMap(node)) return ''
  const pair = (node.items as Pair<Node, Written>[]).find(
    ({ key }) => isScalar(key) && fieldNamed(String(key.value)) === 'tempId',
  )
  return isScalar(pair?.value) ? String(pair.value.value).trim() : ''
}

const MOST_IN_LINE = 3
const isShort = (node: unknown) => isScalar(node) && !String(node.value).includes('\n')

/** Short lists and mappings stay on one line, but tasks do not. */
function noded(document: Document, value: unknown): Node {
  const node = document.createNode(value, { aliasDuplicateObjects: false }) as Node
  return inOneLine(node)
}

function inOneLine(node: Node): Node {
  if (isSeq(node)) {
    node.flow = node.items.every((item) => isScalar(item))
    for (const item of node.items) inOneLine(item as Node)
  }
  if (isMap(node)) {
    for (const { value } of node.items) if (value) inOneLine(value as Node)
    node.flow =
      idWritten(node) === '' &&
      node.items.length <= MOST_IN_LINE &&
      node.items.every(({ value }) => isShort(value))
  }
  return node
}

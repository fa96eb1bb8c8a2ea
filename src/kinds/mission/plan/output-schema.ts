import type { Located } from './located.ts'
import { below, type Path } from './path.ts'
import { type Problems, quote } from './problems.ts'
import { describe } from './wording.ts'

type Report = (node: Located, path: Path, message: string) => void
type Check = (node: Located, path: Path, report: Report) => void

/** A mapping is not yet a JSON Schema: the keywords it knows must have values they can have. Others are left alone. */
export function checkOutputSchema(node: Located, path: Path, problems: Problems): void {
  const report: Report = ({ at }, where, message) => problems.report(at, where, message)
  schema(node, path, report)
}

const schema: Check = (node, path, report) => {
  if (node.kind === 'scalar' && typeof node.value === 'boolean') return
  if (node.kind !== 'map') return report(node, path, `must be a JSON Schema, not ${describe(node)}`)
  for (const { key, value } of node.entries) {
    const check = Object.hasOwn(KEYWORDS, key) ? KEYWORDS[key] : undefined
    check?.(value, below(path, key), report)
  }
}

const listOf =
  (item: Check, least: number): Check =>
  (node, path, report) => {
    if (node.kind !== 'list') return report(node, path, `must be a list, not ${describe(node)}`)
    if (node.items.length < least) report(node, path, 'must not be empty')
    for (const [i, one] of node.items.entries()) item(one, below(path, i), report)
  }

const schemas = listOf(schema, 1)

const schemasByName: Check = (node, path, report) => {
  if (node.kind !== 'map') return report(node, path, `must be a mapping of schemas, not ${describe(node)}`)
  for (const { key, value } of node.entries) schema(value, below(path, key), report)
}

const textIn = (node: Located): string | null =>
  node.kind === 'scalar' && typeof node.value === 'string' ? node.value : null

const text: Check = (node, path, report) => {
  if (textIn(node) === null) report(node, path, `must be text, not ${describe(node)}`)
}

const TYPES = ['array', 'boolean', 'integer', 'null', 'number', 'object', 'string']
const typeName: Check = (node, path, report) => {
  const name = textIn(node)
  if (name === null || !TYPES.includes(name))
    report(node, path, `must be ${TYPES.join(' or ')}, not ${describe(node)}`)
}

const number: Check = (node, path, report) => {
  if (node.kind !== 'scalar' || typeof node.value !== 'number')
    report(node, path, `must be a number, not ${describe(node)}`)
}

const count: Check = (node, path, report) => {
  const isCount = node.kind === 'scalar' && Number.isInteger(node.value) && Number(node.value) >= 0
  if (!isCount) report(node, path, `must be a whole number from 0, not ${describe(node)}`)
}

const LONGEST_PATTERN = 1000
const pattern: Check = (node, path, report) => {
  const found = textIn(node)
  if (found === null) return text(node, path, report)
  if (found.length > LONGEST_PATTERN)
    return report(node, path, `must not be longer than ${LONGEST_PATTERN} characters`)
  if (!compiles(found)) report(node, path, `is ${quote(found)}, which is not a regular expression`)
}

function compiles(expression: string): boolean {
  try {
    new RegExp(expression, 'u')
    return true
  } catch {
    return false
  }
}

const reference: Check = (node, path, report) => {
  const found = textIn(node)
  if (found === null) return text(node, path, report)
  if (!found.startsWith('#'))
    report(node, path, `is ${quote(found)}; only references within the schema (#/…) are followed`)
}

const KEYWORDS: Record<string, Check> = {
  type: (node, path, report) =>
    node.kind === 'list' ? listOf(typeName, 1)(node, path, report) : typeName(node, path, report),
  properties: schemasByName,
  patternProperties: schemasByName,
  $defs: schemasByName,
  definitions: schemasByName,
  items: (node, path, report) => (node.kind === 'list' ? schemas : schema)(node, path, report),
  prefixItems: schemas,
  allOf: schemas,
  anyOf: schemas,
  oneOf: schemas,
  additionalProperties: schema,
  additionalItems: schema,
  propertyNames: schema,
  contains: schema,
  not: schema,
  if: schema,
  // biome-ignore lint/suspicious/noThenProperty: it is a keyword of JSON Schema
  then: schema,
  else: schema,
  required: listOf(text, 0),
  enum: listOf(() => {}, 1),
  minimum: number,
  maximum: number,
  exclusiveMinimum: number,
  exclusiveMaximum: number,
  multipleOf: number,
  minLength: count,
  maxLength: count,
  minItems: count,
  maxItems: count,
  minProperties: count,
  maxProperties: count,
  pattern,
  $ref: reference,
}

import { z } from 'zod'
import { nearBudgetField, OLD_NAMES } from '../../../pure/budget.ts'
import type { Position } from './lines.ts'
import { deeperThan, type Entry, type Located, plainValue, TOO_DEEP } from './located.ts'
import { below, type Path } from './path.ts'
import { type Problems, whereIs } from './problems.ts'
import { describe, wordIssue } from './wording.ts'

/** Fields are read in both spellings, `dependsOn` and `depends_on`, and under their other names. */

const camelCase = (name: string) => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
const snakeCase = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** Names that mean the same as a field. */
const OTHER_NAMES: Record<string, readonly string[]> = {
  id: ['tempId'],
  tempId: ['id'],
  type: ['taskType'],
  taskType: ['type'],
  capabilities: ['requiredCapabilities'],
  ...Object.fromEntries(Object.entries(OLD_NAMES).map(([old, field]) => [field, [old]])),
}

type Names = ReadonlyMap<string, string>
const known = new WeakMap<object, Names>()

/** Each name that a field may be given under, with the name it has in the shapes. */
function namesIn(shapes: object): Names {
  let names = known.get(shapes)
  if (!names) {
    const spelled = Object.keys(shapes).flatMap((field) =>
      [field, ...(OTHER_NAMES[field] ?? [])].flatMap((name): [string, string][] => [
        [name, field],
        [camelCase(name), field],
        [snakeCase(name), field],
      ]),
    )
    names = new Map(spelled)
    known.set(shapes, names)
  }
  return names
}

/** Counted from the value of a field; deeper, and Postgres or the engine's own JSON writer may run out of stack. */
const DEEPEST_FIELD = 200

/** Read separately. */
export const STRUCTURE = z.unknown()

export type Shapes = Record<string, z.ZodType>

export interface Fields<S extends Shapes> {
  /** For a field that is missing or wrong, its default. */
  values: { [K in keyof S]: z.output<S[K]> }
  /** Under the names of the shapes, whatever the plan calls them. */
  entries: ReadonlyMap<string, Entry>
  /** Where a field is, under the name that the plan gives it. */
  pathTo: (name: keyof S & string) => Path
}

/** The fields of a mapping. An empty one counts as missing. */
export function readFields<S extends Shapes>(
  node: Located & { kind: 'map' },
  shapes: S,
  what: string,
  path: Path | null,
  problems: Problems,
): Fields<S> {
  const entries = entriesOf(node, shapes, what, path, problems)
  const pathTo = (name: string) => below(path, entries.get(name)?.key ?? name)
  const values: Record<string, unknown> = {}
  for (const name of Object.keys(shapes)) {
    const shape = shapes[name]!
    if (shape === STRUCTURE) continue
    const entry = entries.get(name)
    if (entry && !isEmpty(entry.value)) values[name] = readField(name, entry, shape, pathTo(name), problems)
    else {
      const byDefault = defaultOf(shape)
      if (byDefault === MISSING) problems.report(entry?.at ?? node.at, pathTo(name), 'is missing')
      else values[name] = byDefault
    }
  }
  return { values: values as Fields<S>['values'], entries, pathTo }
}

function entriesOf(
  node: Located & { kind: 'map' },
  shapes: Shapes,
  what: string,
  path: Path | null,
  problems: Problems,
): Map<string, Entry> {
  const names = namesIn(shapes)
  const entries = new Map<string, Entry>()
  for (const entry of node.entries) {
    const name = names.get(entry.key)
    const inside = below(path, entry.key)
    if (name === undefined) {
      const near = nearBudgetField(entry.key, what === 'budget')
      const message = `is not a field of ${what}, which may have ${Object.keys(shapes).join(', ')}${near ? `; use ${near}` : ''}`
      problems.report(entry.at, inside, message)
      continue
    }
    const first = entries.get(name)
    // The same name twice was reported when the plan was parsed.
    if (first && first.key !== entry.key) {
      const where = whereIs(first.at, below(path, first.key))
      problems.report(entry.at, inside, `is the same field as ${first.key} ${where}; give it once`)
    }
    entries.set(name, entry)
  }
  return entries
}

const MISSING = Symbol('missing')
const defaults = new WeakMap<z.ZodType, unknown>()

/** Parsing `undefined` for each missing field of ten thousand tasks would take most of the time. */
function defaultOf(shape: z.ZodType): unknown {
  if (!defaults.has(shape)) {
    const parsed = shape.safeParse(undefined)
    defaults.set(shape, parsed.success ? parsed.data : MISSING)
  }
  const byDefault = defaults.get(shape)
  return Array.isArray(byDefault) ? [...byDefault] : byDefault
}

export const isEmpty = (node: Located) => node.kind === 'scalar' && node.value === null

function readField(name: string, entry: Entry, shape: z.ZodType, path: Path, problems: Problems): unknown {
  const instead = () => {
    const byDefault = defaultOf(shape)
    return byDefault === MISSING ? undefined : byDefault
  }
  if (!entry.value.sound) return instead()
  const group = groupIn(shape)
  if (group) return readGroup(name, entry, group, path, problems) ?? instead()
  const tooDeep = deeperThan(DEEPEST_FIELD, entry.value)
  if (tooDeep) {
    problems.report(tooDeep.at, path, TOO_DEEP)
    return instead()
  }
  const parsed = shape.safeParse(plainValue(entry.value))
  if (parsed.success) return parsed.data
  reportIssues(parsed.error.issues, entry, path, problems)
  return instead()
}

/** A field that is itself a mapping of fields: its names too are read in both spellings. */
function groupIn(shape: z.ZodType): Shapes | null {
  const inner = shape instanceof z.ZodOptional ? shape.unwrap() : shape
  return inner instanceof z.ZodObject ? (inner.shape as Shapes) : null
}

function readGroup(name: string, entry: Entry, shapes: Shapes, path: Path, problems: Problems) {
  const map = asMap(entry.value, 'a mapping', entry.at, path, problems)
  if (!map) return undefined
  const { values } = readFields(map, shapes, name, path, problems)
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))
}

function reportIssues(
  issues: readonly z.core.$ZodIssue[],
  entry: Entry,
  path: Path,
  problems: Problems,
): void {
  const reported = new Set<string>()
  for (const issue of issues) {
    const steps = issue.path as (string | number)[]
    // One reason per value is enough: an empty text also fails its pattern.
    const place = JSON.stringify(steps)
    if (reported.has(place)) continue
    reported.add(place)
    const found = steps.reduce<Located | undefined>(stepInto, entry.value)
    const at = steps.length > 0 && found ? found.at : entry.at
    const inside = steps.reduce<Path>(below, path)
    problems.report(at, inside, wordIssue(issue, found && describe(found)))
  }
}

const stepInto = (node: Located | undefined, step: string | number): Located | undefined =>
  node?.kind === 'list' ? node.items[step as number] : undefined

/** Reports a value of the wrong kind and returns null; a value that was already refused is not reported again. */
export function asMap(node: Located, what: string, at: Position, path: Path | null, problems: Problems) {
  if (node.kind === 'map') return node
  if (node.kind !== 'refused') problems.report(at, path, `must be ${what}, not ${describe(node)}`)
  return null
}

export function asList(node: Located, what: string, at: Position, path: Path, problems: Problems): Located[] {
  if (node.kind === 'list') return node.items
  if (node.kind !== 'refused' && !isEmpty(node))
    problems.report(at, path, `must be ${what}, not ${describe(node)}`)
  return []
}

import { z } from 'zod'
import { Name, Slug } from '../shapes/common.ts'
import { TaskCreate } from '../shapes/tasks.ts'
import { deeperThan, type Entry, type Located, plainValue } from './located.ts'
import { LARGEST_PLAN_TASKS, MERGES } from './plan.ts'
import { below, type Problems } from './problems.ts'
import { describe, wordIssue } from './wording.ts'

/** As many as TaskCreate allows. */
const LARGEST_DEPENDENCIES = 10_000
/** Counted from the value of `input`; deeper, and Postgres or the engine's own JSON writer may run out of stack. */
const DEEPEST_INPUT = 200

const { title, description, taskType, priority, tags, triggerRule, requiredCapabilities } = TaskCreate.shape

/** Read separately. */
const STRUCTURE = z.unknown()

/** The fields of a plan, under the names of Coditect 3.7. Values follow the rules of new tasks. */
export const PLAN_FIELDS = { project: Slug, name: Name.optional(), tracks: STRUCTURE }

export const TRACK_FIELDS = {
  agents: z.int().min(1).max(LARGEST_PLAN_TASKS).optional(),
  sequential: z.boolean().default(false),
  tasks: STRUCTURE,
}

export const SUBTASK_FIELDS = {
  id: z.string().optional(),
  title: title.optional(),
  description,
  type: taskType,
  priority,
  depends_on: z.array(z.string()).max(LARGEST_DEPENDENCIES).default([]),
  trigger_rule: triggerRule,
  tags,
  capabilities: requiredCapabilities,
  agent: TaskCreate.shape.agent,
  max_retries: TaskCreate.shape.maxRetries,
  max_continuations: TaskCreate.shape.maxContinuations,
  input: z.unknown(),
}

export const TASK_FIELDS = {
  ...SUBTASK_FIELDS,
  id: z.string(),
  merge: z.enum(MERGES).optional(),
  subtasks: STRUCTURE,
}

type Shapes = Record<string, z.ZodType>
interface Fields<S extends Shapes> {
  /** For a field that is missing or wrong, its default. */
  values: { [K in keyof S]: z.output<S[K]> }
  entries: ReadonlyMap<string, Entry>
}

/** The fields of a mapping. An empty one counts as missing. */
export function readFields<S extends Shapes>(
  node: Located & { kind: 'map' },
  shapes: S,
  what: string,
  path: string,
  problems: Problems,
): Fields<S> {
  const entries = new Map<string, Entry>()
  for (const entry of node.entries) {
    if (!Object.hasOwn(shapes, entry.key)) {
      const known = Object.keys(shapes).join(', ')
      problems.report(
        entry.line,
        below(path, entry.key),
        `is not a field of ${what}, which may have ${known}`,
      )
    } else entries.set(entry.key, entry)
  }
  const values: Record<string, unknown> = {}
  for (const [name, shape] of Object.entries(shapes)) {
    if (shape === STRUCTURE) continue
    const entry = entries.get(name)
    const inside = below(path, name)
    if (entry && !isEmpty(entry.value)) values[name] = readField(entry, shape, inside, problems)
    else {
      const byDefault = shape.safeParse(undefined)
      if (!byDefault.success) problems.report(entry?.line ?? node.line, inside, 'is missing')
      values[name] = byDefault.data
    }
  }
  return { values: values as Fields<S>['values'], entries }
}

export const isEmpty = (node: Located) => node.kind === 'scalar' && node.value === null

function readField(entry: Entry, shape: z.ZodType, path: string, problems: Problems): unknown {
  const byDefault = () => shape.safeParse(undefined).data
  if (!entry.value.sound) return byDefault()
  const tooDeep = deeperThan(DEEPEST_INPUT, entry.value)
  if (tooDeep) {
    problems.report(tooDeep.line, path, `is nested deeper than ${DEEPEST_INPUT} levels`)
    return byDefault()
  }
  const parsed = shape.safeParse(plainValue(entry.value))
  if (parsed.success) return parsed.data
  const reported = new Set<string>()
  for (const issue of parsed.error.issues) {
    const steps = issue.path as (string | number)[]
    const inside = steps.reduce<string>(below, path)
    // One reason per value is enough: an empty text also fails its pattern.
    if (reported.has(inside)) continue
    reported.add(inside)
    const found = steps.reduce<Located | undefined>(stepInto, entry.value)
    const line = steps.length > 0 && found ? found.line : entry.line
    problems.report(line, inside, wordIssue(issue, found && describe(found)))
  }
  return byDefault()
}

const stepInto = (node: Located | undefined, step: string | number): Located | undefined =>
  node?.kind === 'list' ? node.items[step as number] : undefined

/** Reports a value of the wrong kind and returns null; a value that was already refused is not reported again. */
export function asMap(node: Located, what: string, line: number, path: string, problems: Problems) {
  if (node.kind === 'map') return node
  if (node.kind !== 'refused') problems.report(line, path, `must be ${what}, not ${describe(node)}`)
  return null
}

export function asList(
  node: Located,
  what: string,
  line: number,
  path: string,
  problems: Problems,
): Located[] {
  if (node.kind === 'list') return node.items
  if (node.kind !== 'refused' && !isEmpty(node))
    problems.report(line, path, `must be ${what}, not ${describe(node)}`)
  return []
}

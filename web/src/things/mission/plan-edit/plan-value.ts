/** A plan as its writer spells it: fields are read under all names that the server knows, and keep theirs. Pure. */

export type Json = Readonly<Record<string, unknown>>

export interface Edge {
  readonly on: string
  readonly kind: 'data' | 'order'
}

const OTHER_NAMES: Readonly<Record<string, readonly string[]>> = {
  tempId: ['id'],
  taskType: ['type'],
  capabilities: ['requiredCapabilities'],
  maxUsd: ['limitUsd'],
  maxTokens: ['limitTokens'],
}

const snakeCase = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
const spellings = new Map<string, readonly string[]>()

function namesOf(field: string): readonly string[] {
  let names = spellings.get(field)
  if (!names) {
    names = [field, ...(OTHER_NAMES[field] ?? [])].flatMap((name) => [name, snakeCase(name)])
    spellings.set(field, names)
  }
  return names
}

const FIELDS = ['tempId', 'taskType', 'capabilities', 'maxUsd', 'maxTokens']

/** The name that we have for a field, whatever the plan calls it. */
export function fieldNamed(name: string): string {
  const known = FIELDS.find((field) => namesOf(field).includes(name))
  return known ?? name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

export const isRecord = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Under its usual name where the plan does not have it yet. */
const keyIn = (of: Json, field: string) => namesOf(field).find((name) => Object.hasOwn(of, name)) ?? field

export const valueIn = (of: Json, field: string): unknown => of[keyIn(of, field)]

/** What may be typed: a number stays one, and everything else is no text. */
export function textIn(of: Json, field: string): string {
  const value = valueIn(of, field)
  return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : ''
}

export const recordIn = (of: Json, field: string): Json => {
  const value = valueIn(of, field)
  return isRecord(value) ? value : {}
}

export const listIn = (of: Json, field: string): string[] => {
  const value = valueIn(of, field)
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []
}

const isEmpty = (value: unknown) =>
  value === undefined ||
  value === '' ||
  (Array.isArray(value) && value.length === 0) ||
  (isRecord(value) && Object.keys(value).length === 0)

/** In its place, under its name. A field that became empty is left out. */
export function withValue(of: Json, field: string, value: unknown): Json {
  const key = keyIn(of, field)
  if (isEmpty(value)) {
    const { [key]: _before, ...rest } = of
    return rest
  }
  return { ...of, [key]: value }
}

const PLAN_ORDER = ['title', 'project', 'strategy', 'tasks']

/** A field of the plan itself: above its tasks, which are many. */
export function withPlanValue(plan: Json, field: string, value: unknown): Json {
  const after = withValue(plan, field, value)
  const key = keyIn(after, field)
  if (Object.hasOwn(plan, key) || !Object.hasOwn(after, key)) return after
  const later = PLAN_ORDER.slice(PLAN_ORDER.indexOf(field) + 1)
  const others = Object.entries(plan)
  const place = others.findIndex(([name]) => later.includes(name))
  return Object.fromEntries(others.toSpliced(place === -1 ? others.length : place, 0, [key, after[key]]))
}

/** Inside a field that is a mapping, such as the budget. */
export const withinValue = (of: Json, group: string, field: string, value: unknown): Json =>
  withValue(of, group, withValue(recordIn(of, group), field, value))

/** A whole or decimal number is one in the plan, too; anything else stays text, which the server refuses in words. */
export const numberFrom = (text: string): number | string =>
  /^\d{1,15}(\.\d{1,9})?$/.test(text.trim()) ? Number(text.trim()) : text.trim()

/** JSON is what it says; what cannot be read as JSON stays text. */
export function jsonFrom(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** A value as it may be edited: text as it is, all else as JSON. */
export const jsonText = (value: unknown): string =>
  value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value, null, 2)

export const tasksIn = (plan: Json): readonly Json[] => {
  const tasks = valueIn(plan, 'tasks')
  return Array.isArray(tasks) ? tasks : []
}

export const idOf = (task: Json) => textIn(task, 'tempId').trim()

const firstLine = (text: string) => text.split('\n', 1)[0]!.trim()

/** What people call it. */
export const nameOf = (task: Json) =>
  textIn(task, 'title') || firstLine(textIn(task, 'description')) || idOf(task)

export function edgesOf(task: Json): Edge[] {
  const value = valueIn(task, 'dependsOn')
  if (!Array.isArray(value)) return []
  return value.flatMap((edge): Edge[] => {
    if (typeof edge === 'string') return [{ on: edge, kind: 'data' }]
    if (!isRecord(edge) || typeof edge.on !== 'string') return []
    return [{ on: edge.on, kind: edge.kind === 'order' ? 'order' : 'data' }]
  })
}

/** One that hands on its result is the id alone. */
export const withEdges = (task: Json, edges: readonly Edge[]): Json =>
  withValue(
    task,
    'dependsOn',
    edges.map(({ on, kind }) => (kind === 'data' ? on : { on, kind })),
  )

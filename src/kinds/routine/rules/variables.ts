import { z } from 'zod'
import { Name, Text } from '../../../pure/shapes.ts'
import type { MissionPlan, MissionTask } from '../../mission/plan/mission-plan.ts'

/** The variables of a routine: what they may be, and how they enter its plan. */

const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/
const MOST_VARIABLES = 100

const described = { title: Name.optional(), description: Text.optional() }
const length = z.int().min(0).max(100_000).optional()
const TextVariable = z.strictObject({
  type: z.literal('string'),
  ...described,
  default: Text.optional(),
  enum: z.array(Text).min(1).max(1000).optional(),
  minLength: length,
  maxLength: length,
})
const number = z.number()
const NumberVariable = z.strictObject({
  type: z.enum(['number', 'integer']),
  ...described,
  default: number.optional(),
  enum: z.array(number).min(1).max(1000).optional(),
  minimum: number.optional(),
  maximum: number.optional(),
})
const BooleanVariable = z.strictObject({
  type: z.literal('boolean'),
  ...described,
  default: z.boolean().optional(),
})

/** A part of JSON Schema: an object of texts, numbers and booleans. Other keywords are refused, not ignored. */
export const VariablesSchema = z.strictObject({
  type: z.literal('object').default('object'),
  properties: z
    .record(
      z.string().regex(VARIABLE),
      z.discriminatedUnion('type', [TextVariable, NumberVariable, BooleanVariable]),
    )
    .refine((properties) => Object.keys(properties).length <= MOST_VARIABLES, {
      message: `has more than ${MOST_VARIABLES} variables`,
    })
    .default({}),
  required: z
    .array(z.string().max(64))
    .max(MOST_VARIABLES)
    .default([])
    .describe('Variables without a default are required in any case'),
  additionalProperties: z.literal(false).default(false),
})
export type VariablesSchema = z.output<typeof VariablesSchema>
type Variable = VariablesSchema['properties'][string]

export type VariableValue = string | number | boolean
export const VariableValues = z.record(z.string().max(64), z.union([Text, z.number(), z.boolean()]))
export type VariableValues = Readonly<Record<string, VariableValue>>

export interface VariableProblem {
  /** The variable, or the field of the schema. */
  at: string
  message: string
}

const has = (object: object, name: string) => Object.hasOwn(object, name)

/** What is wrong with a schema beside its shape. */
export function schemaProblems({ properties, required }: VariablesSchema): VariableProblem[] {
  const unknown = required
    .filter((name) => !has(properties, name))
    .map((name) => ({ at: 'required', message: `names "${name}", which is not among its properties` }))
  const defaults = Object.entries(properties).flatMap(([name, variable]) => {
    const why = variable.default === undefined ? null : whyNot(variable, variable.default)
    return why === null ? [] : { at: `properties.${name}.default`, message: why }
  })
  return [...unknown, ...defaults]
}

/** All variables with their values, or every problem with those that were given. */
export function valuesOf(
  { properties, required }: VariablesSchema,
  given: VariableValues,
): { values: VariableValues } | { problems: VariableProblem[] } {
  const problems: VariableProblem[] = Object.keys(given)
    .filter((name) => !has(properties, name))
    .map((at) => ({ at, message: 'is no variable of this routine' }))
  const values: Record<string, VariableValue> = {}
  for (const [name, variable] of Object.entries(properties)) {
    // A required variable has to be given, whatever its default; a schedule gives none.
    const value = has(given, name) ? given[name] : required.includes(name) ? undefined : variable.default
    if (value === undefined) {
      problems.push({ at: name, message: 'is missing' })
      continue
    }
    const why = whyNot(variable, value)
    if (why === null) values[name] = value
    else problems.push({ at: name, message: why })
  }
  return problems.length > 0 ? { problems } : { values }
}

const TYPES: Record<Variable['type'], (value: VariableValue) => boolean> = {
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  integer: (value) => Number.isInteger(value),
  boolean: (value) => typeof value === 'boolean',
}
const WORDS: Record<Variable['type'], string> = {
  ...{ string: 'text', number: 'a number', integer: 'a whole number', boolean: 'true or false' },
}

function whyNot(variable: Variable, value: VariableValue): string | null {
  if (!TYPES[variable.type](value)) return `must be ${WORDS[variable.type]}`
  if ('enum' in variable && variable.enum && !(variable.enum as VariableValue[]).includes(value))
    return 'is none of the values of its enum'
  if (variable.type === 'string') {
    const { length: size } = value as string
    if (size < (variable.minLength ?? 0)) return `must have at least ${variable.minLength} characters`
    if (size > (variable.maxLength ?? size)) return `must have at most ${variable.maxLength} characters`
  } else if (variable.type !== 'boolean') {
    const amount = value as number
    if (amount < (variable.minimum ?? amount)) return `must be at least ${variable.minimum}`
    if (amount > (variable.maximum ?? amount)) return `must be at most ${variable.maximum}`
  }
  return null
}

const PLACEHOLDER = /\{\{\s*([A-Za-z_][A-Za-z0-9_]{0,63})\s*\}\}/g

type Replace = (text: string) => string

/** Once, in one pass: what a value contains is text, whatever it looks like. */
const filledIn =
  (values: VariableValues): Replace =>
  (text) =>
    text.replace(PLACEHOLDER, (whole, name) => (has(values, name) ? String(values[name]) : whole))

/** Titles are one line. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: keeping them out is the point
const inOneLine: Replace = (text) => text.replace(/[\u0000-\u001f\u007f]+/g, ' ')

/** The text fields of a routine and of its plan. Ids, names of agents, tags and commands are left as they are. */
export interface Templated {
  goal: string
  title: string
  description: string | null
  plan: MissionPlan
}

function replaceIn<T extends Templated>(templated: T, replace: Replace): T {
  const { goal, title, description, plan } = templated
  const maybe = <N extends string | null>(text: N) => (text === null ? text : (replace(text) as N))
  const heading = <N extends string | null>(text: N) =>
    text === null ? text : (inOneLine(replace(text)).trim() as N)
  const inTask = (task: MissionTask): MissionTask => ({
    ...task,
    title: heading(task.title),
    description: maybe(task.description),
    successCriteria: maybe(task.successCriteria),
    systemPrompt: maybe(task.systemPrompt),
    input: inValue(task.input, replace),
  })
  return {
    ...templated,
    goal: replace(goal),
    title: heading(title),
    description: maybe(description),
    plan: {
      ...plan,
      title: heading(plan.title),
      strategy: maybe(plan.strategy),
      tasks: plan.tasks.map(inTask),
    },
  }
}

/** Texts inside of any value. Names of fields stay. */
function inValue(value: unknown, replace: Replace): unknown {
  if (typeof value === 'string') return replace(value)
  if (Array.isArray(value)) return value.map((one) => inValue(one, replace))
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, inValue(one, replace)]))
}

/** With the values in the place of `{{their names}}`. */
export const withValues = <T extends Templated>(templated: T, values: VariableValues): T =>
  replaceIn(templated, filledIn(values))

/** How many characters all texts have with these values, without putting them in. */
export function lengthWith(templated: Templated, values: VariableValues): number {
  let length = 0
  replaceIn(templated, (text) => {
    length += text.length
    for (const [whole, name] of text.matchAll(PLACEHOLDER))
      if (has(values, name!)) length += String(values[name!]).length - whole.length
    return text
  })
  return length
}

/** Names in the text fields that are no variables: most likely misspelt. */
export function unknownNames(templated: Templated, { properties }: VariablesSchema): string[] {
  const unknown = new Set<string>()
  replaceIn(templated, (text) => {
    for (const [, name] of text.matchAll(PLACEHOLDER)) if (!has(properties, name!)) unknown.add(name!)
    return text
  })
  return [...unknown]
}

/** How commands get them: never as a part of their text, which a shell would read. */
export const environmentOf = (values: VariableValues): Record<string, string> =>
  Object.fromEntries(
    // A NUL ends a value for the system.
    Object.entries(values).map(([name, value]) => [`BATON_VAR_${name}`, String(value).replaceAll('\0', '')]),
  )

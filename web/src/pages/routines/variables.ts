import type { VariablesSchema as SavedSchema } from '../../../../src/kinds/routine/rules/variables.ts'
import {
  configOf,
  type FormValues,
  fieldsOf,
  type JsonSchema,
  type SchemaField,
} from '../../forms/schema-fields.ts'

/** The variables of a routine: asked for when it is run, and edited as rows. Pure. */

export type VariableType = 'string' | 'number' | 'integer' | 'boolean'
type Value = string | number | boolean
type SavedVariable = SavedSchema['properties'][string]

/** As the API has it; what a row does not show stays as it was. */
interface Variable {
  type: VariableType
  title?: string
  description?: string
  default?: Value
  enum?: readonly Value[]
  [other: string]: unknown
}

interface VariablesSchema {
  properties: Readonly<Record<string, Variable>>
  required: readonly string[]
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const TYPES: readonly unknown[] = ['string', 'number', 'integer', 'boolean'] satisfies VariableType[]
const isVariable = (value: unknown): value is Variable => isObject(value) && TYPES.includes(value.type)

/** The schema as the answer has it, which says only that it is JSON. */
function variablesIn(schema: unknown): VariablesSchema {
  const { properties, required } = isObject(schema) ? schema : {}
  const known = Object.entries(isObject(properties) ? properties : {}).filter(
    (one): one is [string, Variable] => isVariable(one[1]),
  )
  const names = Array.isArray(required) ? required.filter((name) => typeof name === 'string') : []
  return { properties: Object.fromEntries(known), required: names }
}

/** The form that asks for them: what has no default has to be given. */
export function askedFields(schema: unknown): SchemaField[] {
  const { properties, required } = variablesIn(schema)
  const isNeeded = (name: string) => required.includes(name) || properties[name]?.default === undefined
  const asked: JsonSchema = {
    properties,
    // A switch always has a value.
    required: Object.keys(properties).filter(
      (name) => isNeeded(name) && properties[name]?.type !== 'boolean',
    ),
  }
  return fieldsOf(asked)
}

export const labelsOf = (schema: unknown) =>
  Object.fromEntries(
    Object.entries(variablesIn(schema).properties).map(([name, { title }]) => [
      name,
      { label: title ?? name, isUsual: true },
    ]),
  )

/** The values to run with: those that were given, and each that has no default. */
export function givenValues(
  schema: unknown,
  values: FormValues,
): { given: Record<string, Value>; problems: Record<string, string> } {
  const { properties } = variablesIn(schema)
  const fields = askedFields(schema)
  const { config, problems } = configOf(fields, values)
  const given: Record<string, Value> = {}
  for (const { name } of fields) {
    const { type, default: usual, enum: choices } = properties[name]!
    const value = config[name]
    if (type === 'boolean') {
      const chosen = values[name] === true
      if (chosen !== usual) given[name] = chosen
    } else if (typeof value === 'number') given[name] = value
    else if (typeof value === 'string')
      // A choice is text in the form, whatever it is in the schema.
      given[name] = choices?.find((choice) => String(choice) === value) ?? value
  }
  return { given, problems }
}

/** A variable while it is edited. */
export interface VariableRow {
  name: string
  type: VariableType
  title: string
  description: string
  /** As text. '': none. */
  usual: string
  isRequired: boolean
  /** What the row does not show. */
  rest: Record<string, unknown>
}

export const NEW_VARIABLE: VariableRow = {
  ...{ name: '', type: 'string', title: '', description: '', usual: '', isRequired: false, rest: {} },
}

export function rowsOf(schema: unknown): VariableRow[] {
  const { properties, required } = variablesIn(schema)
  return Object.entries(properties).map(([name, variable]) => {
    const { type, title = '', description = '', default: usual, ...rest } = variable
    return {
      ...{ name, type, title, description, rest },
      usual: usual === undefined ? '' : String(usual),
      isRequired: required.includes(name),
    }
  })
}

const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/

/** What is wrong with the rows before they are sent, by row. The server says the rest. */
export function rowProblems(rows: readonly VariableRow[]): (string | null)[] {
  return rows.map(({ name, type, usual }, place) => {
    if (!VARIABLE.test(name)) return 'A name has letters, digits and _, and does not begin with a digit.'
    if (rows.findIndex((other) => other.name === name) < place) return `Another variable is called “${name}”.`
    if (usual === '' || type === 'string') return null
    if (type === 'boolean')
      return usual === 'true' || usual === 'false' ? null : 'Its default must be true or false.'
    const amount = Number(usual)
    if (!Number.isFinite(amount)) return 'Its default must be a number.'
    return type === 'integer' && !Number.isInteger(amount) ? 'Its default must be a whole number.' : null
  })
}

const isText = (value: unknown) => typeof value === 'string'
const isNumber = (value: unknown) => typeof value === 'number'

/** Limits belong to a type: they go with it when the type is changed. */
function limitsOf<Limit extends string, Choice extends Value>(
  rest: Readonly<Record<string, unknown>>,
  names: readonly Limit[],
  isChoice: (value: unknown) => boolean,
): { [name in Limit]?: number } & { enum?: Choice[] } {
  const limits = names.filter((name) => isNumber(rest[name])).map((name) => [name, rest[name]])
  const choices = Array.isArray(rest.enum) && rest.enum.every(isChoice) ? { enum: rest.enum } : {}
  return { ...Object.fromEntries(limits), ...choices }
}

function variableOf({ type, title, description, usual, rest }: VariableRow): SavedVariable {
  const described = {
    ...(title.trim() === '' ? {} : { title: title.trim() }),
    ...(description.trim() === '' ? {} : { description }),
  }
  const hasUsual = usual !== ''
  switch (type) {
    case 'string': {
      const limits = limitsOf<'minLength' | 'maxLength', string>(rest, ['minLength', 'maxLength'], isText)
      return { type, ...described, ...(hasUsual && { default: usual }), ...limits }
    }
    case 'boolean':
      return { type, ...described, ...(hasUsual && { default: usual === 'true' }) }
    default: {
      const limits = limitsOf<'minimum' | 'maximum', number>(rest, ['minimum', 'maximum'], isNumber)
      return { type, ...described, ...(hasUsual && { default: Number(usual) }), ...limits }
    }
  }
}

export const schemaOf = (rows: readonly VariableRow[]) => ({
  properties: Object.fromEntries(rows.map((row) => [row.name, variableOf(row)])),
  required: rows.filter(({ isRequired }) => isRequired).map(({ name }) => name),
})

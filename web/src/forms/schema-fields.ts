/** Fields of a form from a JSON Schema, and the conversion of values into the form and out of it. Pure. */

export type JsonSchema = Readonly<Record<string, unknown>>

export interface SchemaField {
  name: string
  kind: 'text' | 'number' | 'switch' | 'choice' | 'list' | 'map' | 'json'
  isRequired: boolean
  description: string | null
  choices: readonly string[]
  /** In words, for a field that is left empty. */
  defaultText: string | null
  defaultValue: unknown
  isWhole: boolean
}

interface MapRow {
  name: string
  value: string
}
export type FieldValue = string | boolean | MapRow[]
export type FormValues = Record<string, FieldValue>

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function kindOf(schema: JsonSchema): SchemaField['kind'] {
  const { type, items, properties, additionalProperties, anyOf } = schema
  if (Array.isArray(schema.enum)) return 'choice'
  if (type === 'string') return 'text'
  if (type === 'number' || type === 'integer') return 'number'
  if (type === 'boolean') return 'switch'
  if (type === 'array' && isObject(items) && items.type === 'string') return 'list'
  if (type === 'object' && !properties && isObject(additionalProperties)) return 'map'
  const isAmount = Array.isArray(anyOf) && anyOf.some((one) => isObject(one) && one.type === 'number')
  return isAmount ? 'number' : 'json'
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))

function defaultTextOf(value: unknown): string | null {
  const isNothing =
    value === undefined || (typeof value === 'object' && Object.keys(value ?? {}).length === 0)
  return isNothing ? null : textOf(value)
}

/** Required ones first, otherwise in the order of the schema. */
export function fieldsOf(schema: JsonSchema | undefined, except: readonly string[] = []): SchemaField[] {
  const properties = isObject(schema?.properties) ? schema.properties : {}
  const required = Array.isArray(schema?.required) ? schema.required : []
  const fields = Object.entries(properties)
    .filter(([name, one]) => isObject(one) && !except.includes(name))
    .map(([name, one]) => {
      const property = one as JsonSchema
      return {
        name,
        kind: kindOf(property),
        isRequired: required.includes(name),
        description: typeof property.description === 'string' ? property.description : null,
        choices: Array.isArray(property.enum) ? property.enum.map(String) : [],
        defaultText: defaultTextOf(property.default),
        defaultValue: property.default,
        isWhole: property.type === 'integer',
      }
    })
  return [...fields.filter(({ isRequired }) => isRequired), ...fields.filter((one) => !one.isRequired)]
}

function valueIn(field: SchemaField, stored: unknown): FieldValue {
  if (field.kind === 'switch') return (stored ?? field.defaultValue) === true
  if (field.kind === 'map')
    return Object.entries(isObject(stored) ? stored : {}).map(([name, value]) => ({
      name,
      value: textOf(value),
    }))
  if (stored === undefined || stored === null) return ''
  if (field.kind === 'list') return Array.isArray(stored) ? stored.map(textOf).join('\n') : ''
  return field.kind === 'json' ? JSON.stringify(stored, null, 2) : textOf(stored)
}

/** The form as it shows these settings. */
export const valuesOf = (fields: readonly SchemaField[], config: Record<string, unknown>): FormValues =>
  Object.fromEntries(fields.map((field) => [field.name, valueIn(field, config[field.name])]))

class Unreadable extends Error {}

/** Undefined: left empty, so that the default counts. */
function storedOf(field: SchemaField, value: FieldValue): unknown {
  if (typeof value === 'boolean') return value === (field.defaultValue ?? false) ? undefined : value
  if (Array.isArray(value)) {
    const rows = value.filter(({ name }) => name.trim() !== '')
    return rows.length === 0 ? undefined : Object.fromEntries(rows.map((row) => [row.name.trim(), row.value]))
  }
  if (value.trim() === '') return undefined
  if (field.kind === 'number') return numberIn(value, field.isWhole)
  if (field.kind === 'list')
    return value
      .split('\n')
      .map((line) => line.trim())
      .filter(Boolean)
  return field.kind === 'json' ? jsonIn(value) : value
}

function numberIn(text: string, isWhole: boolean): number {
  const number = Number(text)
  if (!Number.isFinite(number)) throw new Unreadable('Write a number.')
  if (isWhole && !Number.isInteger(number)) throw new Unreadable('Write a whole number.')
  return number
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Unreadable('This is not valid JSON.')
  }
}

/** The settings that the form shows, or what cannot be read, by field. The server says the rest. */
export function configOf(
  fields: readonly SchemaField[],
  values: FormValues,
): { config: Record<string, unknown>; problems: Record<string, string> } {
  const config: Record<string, unknown> = {}
  const problems: Record<string, string> = {}
  for (const field of fields) {
    try {
      const stored = storedOf(field, values[field.name] ?? '')
      if (stored !== undefined) config[field.name] = stored
      else if (field.isRequired) problems[field.name] = 'This is needed.'
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error
      problems[field.name] = error.message
    }
  }
  return { config, problems }
}

import type { Column } from './columns.ts'

/**
 * Many rows as parameters of one statement. A column with the same value in all rows is sent once; the others are sent as
 * arrays and unnested. Batches are alike (all claims of a batch go to the same state at the same time), so most columns are
 * of the first kind, which saves both sides the work of writing and parsing arrays.
 */
export interface Rows {
  /** Which columns are the same in all rows: a name for the statement's form. */
  form: string
  /** `unnest(…) with ordinality as u(…, ord)`: never empty, since the first column always differs. */
  from: string
  /** An expression for each column, by its name. */
  of: Record<string, string>
  values: unknown[]
}

const SQL_TYPES: Partial<Record<Column['type'], string>> = {
  instant: 'double precision',
  bytes: 'text',
  texts: 'text[]',
  ints: 'int[]',
}
const isList = (type: Column['type']) => type === 'texts' || type === 'ints'
const sqlType = (type: Column['type']) => SQL_TYPES[type] ?? type

/** JSON never contains this character unescaped, so JSON texts can be joined with it and need no quoting. */
const SEPARATOR = '\u001f'
const NULL_MARK = '\u001e'

/** `values` is one list per column, all of the same length; parameters are numbered from `firstParameter`. */
export function asRows(
  columns: readonly Column[],
  values: readonly (readonly unknown[])[],
  firstParameter: number,
): Rows {
  const unnested: string[] = []
  const names: string[] = []
  const of: Record<string, string> = {}
  const parameters: unknown[] = []
  let form = ''
  columns.forEach((column, i) => {
    const list = values[i]!
    const place = `$${firstParameter + parameters.length}`
    const isSame = i > 0 && allSame(list)
    form += isSame ? '1' : '0'
    if (isSame) {
      const value = list[0] ?? null
      const isInstant = column.type === 'instant'
      const expression = `${place}::${isInstant ? 'timestamptz' : sqlType(column.type)}`
      of[column.name] = column.type === 'bytes' ? `decode(${expression}, 'hex')` : expression
      // Read once, as a parameter; a conversion in SQL would be computed for each row.
      parameters.push(isInstant && value !== null ? new Date(value as number) : value)
    } else {
      unnested.push(asArray(column, place))
      names.push(column.name)
      of[column.name] = fromArray(column)
      parameters.push(column.type === 'json' ? joined(list) : arrayLiteral(list))
    }
  })
  const from = `unnest(${unnested.join(', ')}) with ordinality as u(${names.join(', ')}, ord)`
  return { form, from, of, values: parameters }
}

function allSame(list: readonly unknown[]): boolean {
  const first = list[0]
  for (let i = 1; i < list.length; i++) if (list[i] !== first) return false
  return true
}

function fromArray({ name, type }: Column): string {
  if (type === 'instant') return `to_timestamp(u.${name} / 1000)`
  if (type === 'bytes') return `decode(u.${name}, 'hex')`
  return isList(type) ? `u.${name}::${sqlType(type)}` : `u.${name}`
}

function asArray({ type }: Column, place: string): string {
  if (type === 'json') return `string_to_array(${place}, E'\\x1f', E'\\x1e')::json[]`
  // A nested array would have to be rectangular; lists are sent as texts.
  return `${place}::${isList(type) ? 'text' : sqlType(type)}[]`
}

const joined = (list: readonly unknown[]) => list.map((value) => value ?? NULL_MARK).join(SEPARATOR)

/** A Postgres array literal, built without the driver checking each value's type. */
export function arrayLiteral(values: readonly unknown[]): string {
  let text = '{'
  for (let i = 0; i < values.length; i++) {
    if (i > 0) text += ','
    const value = values[i]
    if (value === null || value === undefined) text += 'NULL'
    else if (typeof value === 'number' || typeof value === 'boolean') text += value
    else text += quoted(Array.isArray(value) ? arrayLiteral(value) : (value as string))
  }
  return `${text}}`
}

const quoted = (text: string) => `"${/["\\]/.test(text) ? text.replace(/["\\]/g, '\\$&') : text}"`

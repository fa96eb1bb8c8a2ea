/**
 * A piece of SQL. `sql` writes every value into it as a literal, so no text of anybody's can become a statement. Values
 * do not travel as parameters of prepared statements, because one packet here holds many statements with lists of any
 * length, and a prepared one would have to be prepared anew for each length.
 */
export class Sql {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

export function sql(parts: TemplateStringsArray, ...values: readonly unknown[]): Sql {
  let text = parts[0]!
  for (let i = 0; i < values.length; i++) text += written(values[i]) + parts[i + 1]!
  return new Sql(text)
}

/** Names of tables and columns, which are ours. */
export const names = (list: readonly string[]) => new Sql(list.join(', '))

function written(value: unknown): string {
  if (!Array.isArray(value)) return literal(value)
  // `in ()` is no SQL; nothing is in a list that holds nothing but null.
  return value.length === 0 ? 'null' : value.map(written).join(', ')
}

/** As a row of values: `(1, 'a', null)`. */
export function row(values: readonly unknown[]): Sql {
  let text = '('
  for (let i = 0; i < values.length; i++) text += (i > 0 ? ',' : '') + literal(values[i])
  return new Sql(`${text})`)
}

export function literal(value: unknown): string {
  if (typeof value === 'number') return number(value)
  if (typeof value === 'string') return quoted(value)
  if (value === null) return 'null'
  if (typeof value === 'boolean') return value ? '1' : '0'
  if (value instanceof Sql) return value.text
  if (Buffer.isBuffer(value)) return `x'${value.toString('hex')}'`
  // Undefined among them: as null it would quietly name no row.
  throw new TypeError(`${typeof value} cannot be written to the database`)
}

function number(value: number): string {
  if (!Number.isFinite(value)) throw new RangeError(`${value} is no number the database could keep`)
  return String(value)
}

/** Longer texts travel as base64: a fixed third more, where escaping could double them, and packets are limited. */
const LONG = 65_536

/**
 * A quote is doubled and a backslash too. That is right in the SQL mode that `connect.ts` pins, and could not let text
 * out of its quotes in any other.
 */
function quoted(text: string): string {
  if (text.length > LONG)
    return `convert(from_base64('${Buffer.from(text).toString('base64')}') using utf8mb4)`
  return `'${/['\\]/.test(text) ? text.replace(/['\\]/g, '$&$&') : text}'`
}

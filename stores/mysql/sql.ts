/**
 * A piece of SQL. `sql` writes every value as a literal, so user text cannot become a statement. Values are not sent as
 * parameters of prepared statements, because one packet holds many statements with lists of any length, and each length
 * would need a prepared statement of its own.
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

/** Names of tables and columns from our own code. */
export const names = (list: readonly string[]) => new Sql(list.join(', '))

function written(value: unknown): string {
  if (!Array.isArray(value)) return literal(value)
  // `in ()` is not valid SQL; `in (null)` matches nothing.
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
  // Also for undefined: as null it would silently match no row.
  throw new TypeError(`${typeof value} cannot be written to the database`)
}

function number(value: number): string {
  if (!Number.isFinite(value)) throw new RangeError(`${value} is not a number the database can store`)
  return String(value)
}

/** Longer texts are sent as base64: a third more, always, where escaping could double them, and packets are limited. */
const LONG = 65_536

/**
 * Quotes and backslashes are doubled. That is correct in the SQL mode that `connect.ts` sets, and could not let text out of
 * its quotes in any other.
 */
function quoted(text: string): string {
  if (text.length > LONG)
    return `convert(from_base64('${Buffer.from(text).toString('base64')}') using utf8mb4)`
  return `'${/['\\]/.test(text) ? text.replace(/['\\]/g, '$&$&') : text}'`
}

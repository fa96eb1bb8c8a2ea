import { columnName } from '../../kernel/store/record-fields.ts'
import type { Fields, FieldType, RecordOf } from '../../pure/fields.ts'
import { asRead, type Column, selectList } from './columns.ts'
import { type Bound, insertInto, type Statement, statement } from './statements.ts'

/** Rows of a table, made from the fields of its record `R`. Records that are written may have more, for derived columns. */
export interface PlainRows<R, Written = R> {
  readonly table: string
  /** The column that identifies a row, and its type. */
  readonly key: string
  readonly type: FieldType
  /** The select list that `read` expects, and how many columns that are. */
  select(alias: string): string
  readonly width: number
  read(row: readonly unknown[]): R
  /** A select list whose names are the fields, without some of them. */
  named(alias: string, without?: readonly (keyof R & string)[]): string
  insert(workspaceId: number, records: readonly Written[]): Bound
  /** Writes rows that may exist and are locked. */
  upsert(workspaceId: number, records: readonly Written[]): Bound
  /** Changes some fields of a row that exists and is locked. */
  update(workspaceId: number, key: string, changed: Partial<R>): Bound
}

interface Options<Written> {
  /** How many columns identify a row in its workspace; they come first. */
  keyWidth?: number
  /** Columns that are written and not read back, since they follow from the record or are large. */
  derived?: { readonly [column: string]: readonly [FieldType, (record: Written) => unknown] }
  /** Columns that an upsert leaves as they are. */
  kept?: readonly string[]
}

export function plainRows<F extends Fields, Written extends RecordOf<F> = RecordOf<F>>(
  table: string,
  fields: F,
  { keyWidth = 1, derived = {}, kept = [] }: Options<Written> = {},
): PlainRows<RecordOf<F>, Written> {
  const entries = Object.entries(fields).map(([field, { type, column, parse }]) => {
    return { field, type, name: column ?? columnName(field), parse }
  })
  const written: (Column & { of: (record: Written) => unknown })[] = [
    ...entries.map(({ field, type, name }) => ({
      name,
      type,
      of: (record: Written) => storedValue(record[field], type),
    })),
    ...Object.entries(derived).map(([name, [type, of]]) => ({ name, type, of })),
  ]
  const names = written.map(({ name }) => name)
  const valuesOf = (records: readonly Written[]) => written.map(({ of }) => records.map(of))
  const insert = insertInto(table, written)
  const upsert = insertInto(
    table,
    written,
    `on conflict (${['workspace_id', ...names.slice(0, keyWidth)].join(', ')}) do update set ${names
      .slice(keyWidth)
      .filter((name) => !kept.includes(name))
      .map((name) => `${name} = excluded.${name}`)
      .join(', ')}`,
    `change_${table}`,
  )
  /** One for each set of fields that are changed together; there are few. */
  const updates = new Map<string, Statement>()
  return {
    table,
    key: names[0]!,
    type: entries[0]!.type,
    select: (alias) => selectList(entries, alias),
    width: entries.length,
    read(row) {
      const record: Record<string, unknown> = {}
      for (let i = 0; i < entries.length; i++) {
        const { field, parse } = entries[i]!
        const value = row[i]
        record[field] = parse && value !== null ? parse(value) : value
      }
      return record as RecordOf<F>
    },
    named: (alias, without = []) =>
      entries
        .filter(({ field }) => !without.includes(field))
        .map((column) => `${asRead(column, alias)} as "${column.field}"`)
        .join(', '),
    insert: (workspaceId, records) => insert(workspaceId, valuesOf(records)),
    upsert: (workspaceId, records) => upsert(workspaceId, valuesOf(records)),
    update(workspaceId, key, changed) {
      const changing = entries.filter(({ field }) => field in changed)
      const form = changing.map(({ field }) => field).join(' ')
      let update = updates.get(form)
      if (!update) {
        const sets = changing.map(({ name, type }, i) => `${name} = ${parameter(type, i + 3)}`)
        update = statement(
          `update_${table}_${updates.size}`,
          `update ${table} set ${sets.join(', ')} where workspace_id = $1 and ${names[0]} = $2`,
        )
        updates.set(form, update)
      }
      const values = changing.map(({ field, type }) => storedValue(changed[field], type))
      return [update, [workspaceId, key, ...values]]
    },
  }
}

/** JSON as text; what is missing as null. */
const storedValue = (value: unknown, type: FieldType) =>
  type === 'json' && value != null ? JSON.stringify(value) : (value ?? null)

function parameter(type: FieldType, place: number) {
  if (type === 'instant') return `to_timestamp($${place}::float8 / 1000)`
  return type === 'bytes' ? `decode($${place}, 'hex')` : `$${place}`
}

import type { Field } from '../../pure/fields.ts'
import { type Column, selectList } from './columns.ts'
import { insertInto } from './statements.ts'

/** Rows of a table, made from the fields of its record. */
export interface PlainRows<R> {
  columns: readonly Column[]
  /** The select list that `read` expects. */
  select: (alias: string) => string
  /** How many columns that are. */
  width: number
  read: (row: readonly unknown[]) => R
  insert: (workspaceId: number, records: readonly R[]) => ReturnType<ReturnType<typeof insertInto>>
  /** Writes rows that may exist and are locked. */
  upsert: (workspaceId: number, records: readonly R[]) => ReturnType<ReturnType<typeof insertInto>>
}

/** `keyWidth`: how many columns identify a row in its workspace; they come first. */
export function plainRows<R extends object>(
  table: string,
  fields: readonly Field<R>[],
  keyWidth = 1,
): PlainRows<R> {
  const columns = fields.map(({ column, type }) => ({ name: column, type }))
  const names = columns.map(({ name }) => name)
  const valuesOf = (records: readonly R[]) =>
    fields.map(({ field, type }) => records.map((record) => storedValue(record[field], type)))
  const insert = insertInto(table, columns)
  const upsert = insertInto(
    table,
    columns,
    `on conflict (${['workspace_id', ...names.slice(0, keyWidth)].join(', ')}) do update set ${names
      .slice(keyWidth)
      .map((name) => `${name} = excluded.${name}`)
      .join(', ')}`,
    `change_${table}`,
  )
  return {
    columns,
    select: (alias) => selectList(columns, alias),
    width: columns.length,
    read: (row) => Object.fromEntries(fields.map(({ field }, i) => [field, row[i]])) as R,
    insert: (workspaceId, records) => insert(workspaceId, valuesOf(records)),
    upsert: (workspaceId, records) => upsert(workspaceId, valuesOf(records)),
  }
}

const storedValue = (value: unknown, type: Column['type']) =>
  type === 'json' && value !== null ? JSON.stringify(value) : value

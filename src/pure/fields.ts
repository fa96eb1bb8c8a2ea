/** What a column holds. Timestamps are milliseconds in records, JSON is any value, and bytes are hexadecimal digits. */
export type FieldType =
  | 'bigint'
  | 'int'
  | 'smallint'
  | 'text'
  | 'boolean'
  | 'instant'
  | 'texts'
  | 'ints'
  | 'uuid'
  | 'json'
  | 'bytes'
  | 'double precision'
  | 'numeric'

export interface Field<R> {
  readonly field: keyof R & string
  readonly type: FieldType
  readonly column: string
}

type Described = FieldType | readonly [type: FieldType, column: string]

/**
 * The fields of a record, said once: columns, row reader and writer are made from them. The first field identifies the record in its
 * workspace. A column is named only where it is not called like its field.
 */
export const fields = <R extends object>(described: { readonly [F in keyof R]-?: Described }): Field<R>[] =>
  (Object.entries(described) as [keyof R & string, Described][]).map(([field, one]) =>
    typeof one === 'string'
      ? { field, type: one, column: columnName(field) }
      : { field, type: one[0], column: one[1] },
  )

/** `leaseMs` → `lease_ms`. */
const columnName = (field: string) => field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

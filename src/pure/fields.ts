import { instant as asText } from './instant.ts'

/** What a column holds. Timestamps are milliseconds in records, JSON is any value, decimals are texts, and bytes hexadecimal digits. */
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

/** A field of a record: what a record holds in it, and what answers show of that. */
export interface Field<Held, Shown = Held> {
  readonly type: FieldType
  /** Its column, if that is not called like the field. */
  readonly column?: string | undefined
  /** Reads JSON as it was stored. */
  parse?(stored: unknown): Held
  show?(held: Held): Shown
}

/**
 * The fields of a record, said once: its type, its columns, their reader and writer, and what answers show are made from them. The
 * first field identifies the record in its workspace.
 */
export type Fields = Readonly<Record<string, Field<unknown>>>

export type RecordOf<F extends Fields> = {
  -readonly [Name in keyof F]: F[Name] extends Field<infer Held, unknown> ? Held : never
}

const fieldOf =
  <Any>(type: FieldType) =>
  <Held extends Any = Any>(column?: string): Field<Held> => ({ type, column })

export const bigint = fieldOf<number>('bigint')
export const int = fieldOf<number>('int')
export const smallint = fieldOf<number>('smallint')
export const double = fieldOf<number>('double precision')
export const decimal = fieldOf<string>('numeric')
export const boolean = fieldOf<boolean>('boolean')
export const text = fieldOf<string>('text')
export const uuid = fieldOf<string>('uuid')
export const bytes = fieldOf<string>('bytes')
export const texts = fieldOf<readonly string[]>('texts')
export const ints = fieldOf<readonly number[]>('ints')

/** Milliseconds. Answers show an ISO text. */
export const instant = (column?: string): Field<number, string> => ({ type: 'instant', column, show: asText })

/** Any JSON; with a schema, it is checked when it is read. */
export const json = <Held = unknown>(
  schema?: { parse(stored: unknown): Held },
  column?: string,
): Field<Held> => ({ type: 'json', column, ...(schema && { parse: (stored) => schema.parse(stored) }) })

export const orNull = <Held, Shown>(field: Field<Held, Shown>): Field<Held | null, Shown | null> => field

/** A record with no more than these fields. */
export const only = <F extends Fields>(fields: F, record: RecordOf<F>): RecordOf<F> =>
  Object.fromEntries(Object.keys(fields).map((field) => [field, record[field]])) as RecordOf<F>

/** Outside, the id of a record that has a number and a UUID is the UUID. */
type Outside<F extends Fields> = F extends { uuid: infer Id } ? Omit<F, 'id'> & { id: Id } : F

type Shown<F extends Fields, Shape> = {
  [Name in keyof Outside<F> & keyof Shape]: Outside<F>[Name] extends Field<unknown, infer As> ? As : never
}

/** What an answer of this shape shows of a record: the fields that it has under the same name. */
export function viewOf<F extends Fields, Shape extends object>(
  fields: F,
  { shape }: { readonly shape: Shape },
): (record: RecordOf<F>) => Shown<F, Shape> {
  const shown = Object.keys(shape).flatMap((name) => {
    const field = name === 'id' && 'uuid' in fields ? 'uuid' : name
    return field in fields ? [{ name, field, show: fields[field]!.show }] : []
  })
  return (record) => {
    const view: Record<string, unknown> = {}
    for (const { name, field, show } of shown) view[name] = show ? show(record[field]) : record[field]
    return view as Shown<F, Shape>
  }
}

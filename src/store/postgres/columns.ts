import type { TaskRecord } from '../../core/records.ts'

/** A column, and how its values travel: instants as milliseconds, JSON as text. */
export interface Column {
  name: string
  type: 'bigint' | 'int' | 'smallint' | 'text' | 'boolean' | 'instant' | 'texts' | 'uuid' | 'json'
}

/** A column that holds a field of a record. */
interface FieldColumn extends Column {
  field: keyof TaskRecord & string
  /** The field of many records. A function of its own for each field: one shared by all would be slow on every one. */
  of: (records: readonly TaskRecord[]) => unknown[]
}

const column = (field: keyof TaskRecord & string, type: Column['type']): FieldColumn => ({
  field,
  type,
  name: field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
  of: new Function('records', `return records.map((record) => record.${field})`) as FieldColumn['of'],
})

const IDENTITY = [column('id', 'bigint'), column('uuid', 'uuid'), column('key', 'text')]

/** What claims, renewals and results change. */
export const HOT = [
  column('state', 'text'),
  column('generation', 'int'),
  column('version', 'int'),
  column('attempt', 'int'),
  column('continuations', 'smallint'),
  column('rank', 'bigint'),
  column('dueAt', 'instant'),
  column('claimState', 'text'),
  column('session', 'text'),
  column('agent', 'text'),
  column('leaseMs', 'int'),
  column('leaseExpiresAt', 'instant'),
  column('resultHash', 'text'),
  column('updatedAt', 'instant'),
  column('startedAt', 'instant'),
  column('completedAt', 'instant'),
]

/** What only people and other tasks change. */
export const RARE = [
  column('pausedFrom', 'text'),
  column('priority', 'smallint'),
  column('epoch', 'int'),
  column('maxRetries', 'smallint'),
  column('blocked', 'boolean'),
  column('onlyAgent', 'text'),
  column('archivedAt', 'instant'),
]

const FIXED = [column('capabilities', 'texts'), column('review', 'text'), column('createdAt', 'instant')]

export const ALL = [...IDENTITY, ...HOT, ...RARE, ...FIXED]

/** The select list that `readRecord` understands. */
export const taskColumns = (alias: string) =>
  ALL.map(({ name, type }) => (type === 'instant' ? `ms(${alias}.${name})` : `${alias}.${name}`)).join(', ')

/** Rows arrive as arrays in the order of ALL. Written out once, for the same reason. */
export const readRecord = new Function(
  `class Row { constructor(row) { ${ALL.map(({ field }, i) => `this.${field} = row[${i}]`).join('; ')} } }
   return (row) => new Row(row)`,
)() as (row: unknown[]) => TaskRecord

export const changesRareColumns = (before: TaskRecord, after: TaskRecord) =>
  RARE.some(({ field }) => before[field] !== after[field])

/** The values of these columns, one list a column. */
export const fieldsOf = (columns: readonly FieldColumn[], records: readonly TaskRecord[]) =>
  columns.map((column) => column.of(records))

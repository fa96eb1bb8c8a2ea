import {
  columnName,
  type FieldType,
  SESSION_FIELDS,
  TASK_FIELDS,
  taskColumn,
} from '../../kernel/store/record-fields.ts'
import type { TaskAsStored } from '../../kernel/store/task-as-stored.ts'
import { GROUP_FIELDS, groupsOf, watchOf } from '../../kernel/store/watch-column.ts'
import type { SessionRecord, TaskRecord } from '../../kinds/task/record.ts'
import { DEFAULT_MAX_CONTINUATIONS } from '../../kinds/task/rules/retry.ts'
import type { FieldType as ColumnType } from '../../pure/fields.ts'
import { laneOf } from './lanes.ts'

/** A column, and how its values are sent: timestamps as milliseconds, JSON as text. */
export interface Column {
  name: string
  type: ColumnType
}

/**
 * A column, and how it reads its value from many records. One function per field: a shared one would be slow on every field.
 */
interface RecordColumn extends Column {
  of: (records: readonly TaskRecord[]) => unknown[]
}

/** A column that stores a field of a record, or its groups. */
interface FieldColumn extends RecordColumn {
  field: keyof TaskAsStored & string
}

const columnType = (type: FieldType): Column['type'] =>
  type === 'enum' ? 'text' : type === 'groups' ? 'json' : type

/** As text; null: the task has none. */
function watchText(record: TaskRecord): string | null {
  const watch = watchOf(record)
  return watch && JSON.stringify(watch)
}

function valueOfField(field: string, type: FieldType): string {
  if (type === 'groups') return 'watchText(record)'
  return type === 'json'
    ? `record.${field} === null ? null : JSON.stringify(record.${field})`
    : `record.${field}`
}

const column = (field: keyof TaskAsStored & string, fieldType: FieldType): FieldColumn => ({
  field,
  type: columnType(fieldType),
  name: taskColumn(field),
  of: new Function(
    'watchText',
    `return (records) => {
     const values = new Array(records.length)
     for (let i = 0; i < values.length; i++) {
       const record = records[i]
       values[i] = ${valueOfField(field, fieldType)}
     }
     return values }`,
  )(watchText) as FieldColumn['of'],
})

const columnsThat = (changes: (typeof TASK_FIELDS)[number]['changes']) =>
  TASK_FIELDS.filter((one) => one.changes === changes).map(({ field, type }) => column(field, type))

/** Changed by claims, renewals and results. */
export const HOT = columnsThat('often')
/** Changed only by people and other tasks. */
export const RARE = columnsThat('rarely')

/** Written with a new task and never read back: it only orders the queue. */
export const LANE = {
  name: 'lane',
  type: 'text',
  of: (records: readonly TaskRecord[]) => records.map(laneOf),
} as const

/** Written with a new claim and never read back: when upkeep checks its lease. A renewal leaves it as it is. */
export const CHECK_AT = {
  name: 'check_at',
  type: 'instant',
  of: (records: readonly TaskRecord[]) => records.map(({ leaseExpiresAt }) => leaseExpiresAt),
} as const

export const ALL = [...columnsThat('never'), ...HOT, ...RARE]

export const RECORD_WIDTH = ALL.length

/**
 * What most tasks have in these columns. It is read as null, which costs less than any value: the server need not write it
 * as text, nor the driver read it.
 */
const USUAL: {
  [F in keyof TaskAsStored]?: TaskAsStored[F] & (string | number | boolean | readonly string[])
} = {
  projectId: 0,
  trackQueue: '',
  priority: 5,
  epoch: 1,
  attempt: 0,
  maxRetries: 3,
  merge: 'none',
  continuations: 0,
  maxContinuations: DEFAULT_MAX_CONTINUATIONS,
  blocked: false,
  awaited: false,
  capabilities: Object.freeze<string[]>([]),
  verification: 'none',
  minLeaseMs: 0,
  purpose: 'work',
  optional: false,
}

const sqlLiteral = (value: unknown) =>
  Array.isArray(value) ? `'{}'` : typeof value === 'string' ? `'${value}'` : String(value)

/** A column as it is read: timestamps as milliseconds, decimals as texts. */
export function asRead({ name, type }: Column, alias: string): string {
  const value = `${alias}.${name}`
  if (type === 'instant') return `ms(${value})`
  if (type === 'numeric') return `trim_scale(${value})::text`
  return type === 'bytes' ? `encode(${value}, 'hex')` : value
}

const asReadUnlessUsual = (column: FieldColumn, alias: string) => {
  const usual = USUAL[column.field]
  const value = asRead(column, alias)
  return usual === undefined ? value : `nullif(${value}, ${sqlLiteral(usual)})`
}

/** Columns as they are read: timestamps as milliseconds. */
export const selectList = (columns: readonly Column[], alias: string) =>
  columns.map((column) => asRead(column, alias)).join(', ')

/** The select list that `readRecord` expects. */
export const taskColumns = (alias: string) => ALL.map((column) => asReadUnlessUsual(column, alias)).join(', ')

const assignment = ({ field }: FieldColumn, i: number) =>
  field === 'watch'
    ? `const groups = groupsOf(row[${i}]); ${GROUP_FIELDS.map((name) => `this.${name} = groups.${name}`).join('; ')}`
    : `this.${field} = row[${i}]${field in USUAL ? ` ?? usual.${field}` : ''}`

/** Rows arrive as arrays in the order of ALL. Generated once as code, for the same reason. */
export const readRecord = new Function(
  'usual',
  'groupsOf',
  `class Row { constructor(row) { ${ALL.map(assignment).join('; ')} } }
   return (row) => new Row(row)`,
)(USUAL, groupsOf) as (row: unknown[]) => TaskRecord

/** Generated like `of`, for the same reason: every change of a task is asked this. */
const changesAnyOf = (columns: readonly FieldColumn[]) =>
  new Function(
    'before',
    'after',
    `return ${columns
      .flatMap(({ field }): readonly string[] => (field === 'watch' ? GROUP_FIELDS : [field]))
      .map((field) => `before.${field} !== after.${field}`)
      .join(' || ')}`,
  ) as (before: TaskRecord, after: TaskRecord) => boolean

export const changesRareColumns = changesAnyOf(RARE)

const REPLANNED: readonly (keyof TaskAsStored)[] = ['capabilities', 'verification', 'optional']
/** Fixed when a task is created, unless a newer plan of its mission changes it. */
export const FIXED = columnsThat('never').filter(({ field }) => REPLANNED.includes(field))

export const changesFixedColumns = changesAnyOf(FIXED)

/** The values of these columns, one list per column. */
export const fieldsOf = (columns: readonly RecordColumn[], records: readonly TaskRecord[]) =>
  columns.map((column) => column.of(records))

/** Columns that are not called like their fields. */
const SESSION_NAMES: Partial<Record<keyof SessionRecord, string>> = {
  name: 'session',
  uuid: 'session_id',
  userId: 'user_ref',
}

/** The first two are the identity of a session. */
export const SESSION_COLUMNS: Column[] = SESSION_FIELDS.map(({ field, type }) => ({
  name: SESSION_NAMES[field] ?? columnName(field),
  type: columnType(type),
}))

export const sessionColumns = (alias: string) => selectList(SESSION_COLUMNS, alias)

export const readSession = (row: readonly unknown[]): SessionRecord =>
  Object.fromEntries(SESSION_FIELDS.map(({ field }, i) => [field, row[i]])) as unknown as SessionRecord

/** The values of a session's columns, one list per column. */
export const sessionValues = (sessions: readonly SessionRecord[]) =>
  SESSION_FIELDS.map(({ field }) => sessions.map((session) => session[field]))

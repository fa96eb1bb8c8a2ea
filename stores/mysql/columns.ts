import {
  columnName,
  type Field,
  type FieldType,
  SESSION_FIELDS,
  TASK_FIELDS,
} from '../../src/kernel/store/record-fields.ts'
import type { TaskAsStored } from '../../src/kernel/store/task-as-stored.ts'
import { GROUP_FIELDS, groupsOf, watchOf } from '../../src/kernel/store/watch-column.ts'
import type { SessionRecord, TaskRecord } from '../../src/kinds/task/record.ts'
import type { Row } from './connect.ts'
import { names } from './sql.ts'

/** Records as rows and back: the columns, the reader and the writer of each table are made from one list of fields. */

/** The driver returns bytes for VARBINARY columns. */
export const textOf = (value: unknown): string => (value as Buffer).toString()
export const textOrNull = (value: unknown): string | null =>
  value === null ? null : (value as Buffer).toString()
export const instantOrNull = (value: unknown): number | null => (value === 0 ? null : (value as number))

const NOTHING: readonly string[] = []
const listOf = (json: unknown): readonly string[] => (json === null ? NOTHING : JSON.parse(json as string))

/** How a value is stored: code that reads it from a cell, and code that writes it from a field. */
interface Codec {
  column?: string
  read: (cell: string) => string
  write: (value: string) => string
}

const asIs: Codec = { read: (cell) => cell, write: (value) => value }
/** In a column without nulls. */
const zeroForNull: Codec = { read: (cell) => `instantOrNull(${cell})`, write: (value) => `${value} ?? 0` }

const BY_TYPE: Record<FieldType, Codec> = {
  bigint: asIs,
  int: asIs,
  smallint: asIs,
  enum: asIs,
  uuid: asIs,
  instant: asIs,
  text: { read: (cell) => `textOrNull(${cell})`, write: (value) => value },
  boolean: { read: (cell) => `${cell} === 1`, write: (value) => value },
  texts: { read: (cell) => `listOf(${cell})`, write: (value) => `JSON.stringify(${value})` },
  json: {
    read: (cell) => `${cell} === null ? null : JSON.parse(${cell})`,
    write: (value) => `${value} === null ? null : JSON.stringify(${value})`,
  },
  groups: { read: (cell) => `groupsIn(${cell})`, write: () => 'watchText(record)' },
}

const groupsIn = (json: unknown) => groupsOf(json === null ? null : JSON.parse(json as string))

function watchText(record: TaskRecord): string | null {
  const watch = watchOf(record)
  return watch && JSON.stringify(watch)
}

interface Table<R> {
  columns: readonly string[]
  read: (row: Row) => R
  write: (record: R) => unknown[]
}

/**
 * Generated once as code: a loop over fields for every row would be slow. `readOnly` fields are read from the cells behind the
 * columns, and written elsewhere.
 */
function tableOf<R, T = R>(
  fields: readonly Field<T>[],
  special: Partial<Record<keyof T & string, Codec>>,
  readOnly: readonly (keyof T & string)[] = [],
): Table<R> {
  const stored = fields.filter(({ field }) => !readOnly.includes(field))
  const codecOf = ({ field, type }: Field<T>): Codec => special[field] ?? BY_TYPE[type]
  const all = [...stored, ...fields.filter(({ field }) => readOnly.includes(field))]
  const cells = all.map((one, i) => ({ one, value: codecOf(one).read(`row[${i}]`) }))
  const reads = cells.flatMap(({ one, value }) =>
    one.type === 'groups'
      ? GROUP_FIELDS.map((name) => `${name}: groups.${name}`)
      : [`${one.field}: ${value}`],
  )
  const groups = cells.find(({ one }) => one.type === 'groups')?.value ?? 'null'
  const writes = stored.map((one) => codecOf(one).write(`record.${one.field}`))
  const make = new Function(
    'textOrNull',
    'instantOrNull',
    'listOf',
    'groupsIn',
    'watchText',
    `return { read: (row) => { const groups = ${groups}; return { ${reads.join(', ')} } }, write: (record) => [${writes.join(', ')}] }`,
  )
  return {
    columns: stored.map((one) => codecOf(one).column ?? columnName(one.field)),
    ...make(textOrNull, instantOrNull, listOf, groupsIn, watchText),
  }
}

/** Who holds a task, and since when, is read from its newest claim. */
const OF_CLAIM = ['session', 'agent', 'acquiredAt'] as const

const TASKS = tableOf<TaskRecord, TaskAsStored>(
  TASK_FIELDS,
  {
    key: { ...BY_TYPE.text, column: 'task_key' },
    merge: { ...asIs, column: 'merge_as' },
    rank: { ...zeroForNull, column: 'queue_rank' },
    verification: { ...asIs, column: 'review' },
    // Null unless blocked: an index of the column holds blocked tasks only.
    blocked: { ...BY_TYPE.boolean, write: (value) => `${value} ? 1 : null` },
    capabilities: {
      ...BY_TYPE.texts,
      write: (value) => `${value}.length === 0 ? null : JSON.stringify(${value})`,
    },
    claimState: {
      read: (cell) => `${cell} === 'none' ? null : ${cell}`,
      write: (value) => `${value} ?? 'none'`,
    },
    leaseExpiresAt: zeroForNull,
    startedAt: zeroForNull,
    completedAt: zeroForNull,
    archivedAt: zeroForNull,
  },
  OF_CLAIM,
)

const SESSIONS = tableOf<SessionRecord>(SESSION_FIELDS, { endReason: asIs })

export const TASK_COLUMNS = TASKS.columns
/** Columns of `baton_tasks t` and, for the current or last holder, `baton_claims c`. */
export const SELECT_TASK = names([
  ...TASKS.columns.map((name) => `t.${name}`),
  ...OF_CLAIM.map((field) => `c.${columnName(field)}`),
])
export const RECORD_WIDTH = TASKS.columns.length + OF_CLAIM.length
/** The newest claim of a task, from which its session and agent are read. */
export const NEWEST_CLAIM = names([
  'left join baton_claims c on c.workspace_id = t.workspace_id and c.task_id = t.id and c.generation = t.generation',
])
export const readRecord = TASKS.read
export const rowOfRecord = TASKS.write

export const SESSION_COLUMNS = SESSIONS.columns
export const SELECT_SESSION = names(SESSIONS.columns.map((name) => `s.${name}`))
export const readSession = SESSIONS.read
export const rowOfSession = SESSIONS.write

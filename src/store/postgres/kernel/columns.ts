import type { SessionRecord, TaskRecord } from '../../../core/records.ts'

/** A column, and how its values are sent: timestamps as milliseconds, JSON as text. */
export interface Column {
  name: string
  type:
    | 'bigint'
    | 'int'
    | 'smallint'
    | 'text'
    | 'boolean'
    | 'instant'
    | 'texts'
    | 'uuid'
    | 'json'
    | 'double precision'
}

/**
 * A column, and how it reads its value from many records. One function per field: a shared one would be slow on every field.
 */
interface RecordColumn extends Column {
  of: (records: readonly TaskRecord[]) => unknown[]
}

/** A column that stores a field of a record. */
interface FieldColumn extends RecordColumn {
  field: keyof TaskRecord & string
}

const valueOfField = (field: string, type: Column['type']) =>
  type === 'json' ? `record.${field} === null ? null : JSON.stringify(record.${field})` : `record.${field}`

const column = (field: keyof TaskRecord & string, type: Column['type']): FieldColumn => ({
  field,
  type,
  name: field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
  of: new Function(
    'records',
    `return records.map((record) => ${valueOfField(field, type)})`,
  ) as FieldColumn['of'],
})

const IDENTITY = [
  column('id', 'bigint'),
  column('uuid', 'uuid'),
  column('key', 'text'),
  column('projectId', 'int'),
  column('trackQueue', 'text'),
  column('parentId', 'bigint'),
]

/** Changed by claims, renewals and results. */
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

/** Changed only by people and other tasks. */
export const RARE = [
  column('pausedFrom', 'text'),
  column('priority', 'smallint'),
  column('epoch', 'int'),
  column('maxRetries', 'smallint'),
  column('maxContinuations', 'smallint'),
  column('blocked', 'boolean'),
  column('onlyAgent', 'text'),
  column('archivedAt', 'instant'),
  column('merge', 'text'),
  column('minLeaseMs', 'int'),
  column('watch', 'json'),
]

const FIXED = [
  column('capabilities', 'texts'),
  column('review', 'text'),
  column('expiresAt', 'instant'),
  column('createdAt', 'instant'),
]

/** Tasks of one lane match the same queue queries. Most tasks are in the unnamed lane. */
const laneOf = ({ projectId, trackQueue, capabilities }: TaskRecord) =>
  projectId === 0 && trackQueue === '' && capabilities.length === 0
    ? ''
    : `${projectId}/${trackQueue}/${JSON.stringify(capabilities)}`

/** Written with a new task and never read back: it only orders the queue. */
export const LANE = {
  name: 'lane',
  type: 'text',
  of: (records: readonly TaskRecord[]) => records.map(laneOf),
} as const

export const ALL = [...IDENTITY, ...HOT, ...RARE, ...FIXED]

/** Columns as they are read: timestamps as milliseconds. */
export const selectList = (columns: readonly Column[], alias: string) =>
  columns
    .map(({ name, type }) => (type === 'instant' ? `ms(${alias}.${name})` : `${alias}.${name}`))
    .join(', ')

/** The select list that `readRecord` expects. */
export const taskColumns = (alias: string) => selectList(ALL, alias)

/** Rows arrive as arrays in the order of ALL. Generated once as code, for the same reason. */
export const readRecord = new Function(
  `class Row { constructor(row) { ${ALL.map(({ field }, i) => `this.${field} = row[${i}]`).join('; ')} } }
   return (row) => new Row(row)`,
)() as (row: unknown[]) => TaskRecord

export const changesRareColumns = (before: TaskRecord, after: TaskRecord) =>
  RARE.some(({ field }) => before[field] !== after[field])

/** The values of these columns, one list per column. */
export const fieldsOf = (columns: readonly RecordColumn[], records: readonly TaskRecord[]) =>
  columns.map((column) => column.of(records))

/** The columns of a session, each with its field; the first two are its identity. */
const SESSION_FIELDS = {
  session: ['name', 'text'],
  session_id: ['uuid', 'uuid'],
  agent: ['agent', 'text'],
  user_ref: ['userId', 'text'],
  project: ['project', 'text'],
  state: ['state', 'text'],
  declared: ['declared', 'boolean'],
  capacity: ['capacity', 'int'],
  capabilities: ['capabilities', 'texts'],
  silence_ms: ['silenceMs', 'bigint'],
  started_at: ['startedAt', 'instant'],
  last_seen_at: ['lastSeenAt', 'instant'],
  due_at: ['dueAt', 'instant'],
  ended_at: ['endedAt', 'instant'],
  end_reason: ['endReason', 'text'],
} as const satisfies Record<string, [keyof SessionRecord, Column['type']]>

const sessionFields = Object.entries(SESSION_FIELDS)
export const SESSION_COLUMNS: Column[] = sessionFields.map(([name, [, type]]) => ({ name, type }))

export const sessionColumns = (alias: string) => selectList(SESSION_COLUMNS, alias)

export const readSession = (row: readonly unknown[]): SessionRecord =>
  Object.fromEntries(sessionFields.map(([, [field]], i) => [field, row[i]])) as unknown as SessionRecord

/** The values of a session's columns, one list per column. */
export const sessionValues = (sessions: readonly SessionRecord[]) =>
  sessionFields.map(([, [field]]) => sessions.map((session) => session[field]))

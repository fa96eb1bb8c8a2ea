import type { SessionRecord } from '../../kinds/task/record.ts'
import type { TaskAsStored } from './task-as-stored.ts'

/** The fields of records, once. The codecs of all stores are made from these tables; the order is part of Valkey's stored format. */

/** What a field holds. `enum` is one of a few words of ours; `text` may hold anything; `groups` is what watch-column.ts makes one. */
export type FieldType =
  | 'bigint'
  | 'int'
  | 'smallint'
  | 'enum'
  | 'text'
  | 'boolean'
  | 'instant'
  | 'texts'
  | 'uuid'
  | 'json'
  | 'groups'

/** `often`: by claims, renewals and results; `rarely`: by people and other tasks. */
type Changes = 'never' | 'often' | 'rarely'

const TASK = {
  id: ['bigint', 'never'],
  uuid: ['uuid', 'never'],
  key: ['text', 'never'],
  projectId: ['int', 'never'],
  trackQueue: ['text', 'never'],
  parentId: ['bigint', 'never'],
  state: ['enum', 'often'],
  pausedFrom: ['enum', 'rarely'],
  priority: ['smallint', 'rarely'],
  generation: ['int', 'often'],
  epoch: ['int', 'rarely'],
  version: ['int', 'often'],
  attempt: ['int', 'often'],
  maxRetries: ['smallint', 'rarely'],
  merge: ['enum', 'rarely'],
  continuations: ['smallint', 'often'],
  maxContinuations: ['smallint', 'rarely'],
  rank: ['bigint', 'often'],
  dueAt: ['instant', 'often'],
  blocked: ['boolean', 'rarely'],
  awaited: ['boolean', 'rarely'],
  onlyAgent: ['text', 'rarely'],
  capabilities: ['texts', 'never'],
  expiresAt: ['instant', 'never'],
  verification: ['enum', 'never'],
  claimState: ['enum', 'often'],
  session: ['text', 'often'],
  agent: ['text', 'often'],
  acquiredAt: ['instant', 'often'],
  leaseMs: ['int', 'often'],
  minLeaseMs: ['int', 'rarely'],
  leaseExpiresAt: ['instant', 'often'],
  watch: ['groups', 'rarely'],
  resultHash: ['text', 'often'],
  createdAt: ['instant', 'never'],
  updatedAt: ['instant', 'often'],
  startedAt: ['instant', 'often'],
  completedAt: ['instant', 'often'],
  archivedAt: ['instant', 'rarely'],
  upstream: ['json', 'rarely'],
  missionId: ['bigint', 'never'],
  purpose: ['enum', 'never'],
  optional: ['boolean', 'never'],
  serves: ['json', 'never'],
} as const satisfies Record<keyof TaskAsStored, [FieldType, Changes]>

const SESSION = {
  name: 'text',
  uuid: 'uuid',
  agent: 'text',
  userId: 'text',
  project: 'text',
  state: 'enum',
  declared: 'boolean',
  capacity: 'int',
  capabilities: 'texts',
  silenceMs: 'bigint',
  startedAt: 'instant',
  lastSeenAt: 'instant',
  dueAt: 'instant',
  endedAt: 'instant',
  endReason: 'text',
} as const satisfies Record<keyof SessionRecord, FieldType>

export interface Field<T> {
  readonly field: keyof T & string
  readonly type: FieldType
}

export const TASK_FIELDS: readonly (Field<TaskAsStored> & { changes: Changes })[] = Object.entries(TASK).map(
  ([field, [type, changes]]) => ({ field: field as keyof TaskAsStored, type, changes }),
)

export const SESSION_FIELDS: readonly Field<SessionRecord>[] = Object.entries(SESSION).map(
  ([field, type]) => ({ field: field as keyof SessionRecord, type }),
)

/** Fields of tasks that are stored under an older name. */
const OLDER_NAMES: Readonly<Partial<Record<keyof TaskAsStored, string>>> = { verification: 'review' }

/** The column of a task's field. */
export const taskColumn = (field: keyof TaskAsStored & string): string =>
  OLDER_NAMES[field] ?? columnName(field)

/** `leaseMs` → `lease_ms`. */
export const columnName = (field: string) => field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

import type { SessionRecord, TaskRecord } from '../../core/records.ts'
import type { Row } from './connect.ts'
import { names } from './sql.ts'

/** Records as rows and back. The column lists and the functions beside them match by position. */

/** The driver returns bytes for VARBINARY columns. */
export const textOf = (value: unknown): string => (value as Buffer).toString()
export const textOrNull = (value: unknown): string | null =>
  value === null ? null : (value as Buffer).toString()
export const instantOrNull = (value: unknown): number | null => (value === 0 ? null : (value as number))

const NOTHING: readonly string[] = []
const listOf = (json: unknown): readonly string[] => (json === null ? NOTHING : JSON.parse(json as string))

const COLUMNS = [
  'id',
  'uuid',
  'task_key',
  'project_id',
  'track_queue',
  'parent_id',
  'state',
  'paused_from',
  'priority',
  'generation',
  'epoch',
  'version',
  'attempt',
  'max_retries',
  'merge_as',
  'continuations',
  'queue_rank',
  'due_at',
  'blocked',
  'only_agent',
  'capabilities',
  'expires_at',
  'review',
  'claim_state',
  'lease_ms',
  'min_lease_ms',
  'lease_expires_at',
  'result_hash',
  'created_at',
  'updated_at',
  'started_at',
  'completed_at',
  'archived_at',
  'watch',
  'max_continuations',
] as const

export const TASK_COLUMNS: readonly string[] = COLUMNS

/** Columns of `baton_tasks t` and, for the current or last holder, `baton_claims c`. */
export const SELECT_TASK = names([...COLUMNS.map((name) => `t.${name}`), 'c.session', 'c.agent'])
export const RECORD_WIDTH = COLUMNS.length + 2
/** The newest claim of a task, from which its session and agent are read. */
export const NEWEST_CLAIM = names([
  'left join baton_claims c on c.workspace_id = t.workspace_id and c.task_id = t.id and c.generation = t.generation',
])

export function readRecord(row: Row): TaskRecord {
  const state = row[6] as TaskRecord['state']
  const claimState = row[23] as string
  const trackQueue = row[4] as Buffer
  return {
    id: row[0] as number,
    uuid: row[1] as string,
    key: textOrNull(row[2]),
    projectId: row[3] as number,
    trackQueue: trackQueue.length === 0 ? '' : trackQueue.toString(),
    parentId: row[5] as number | null,
    state,
    pausedFrom: row[7] as TaskRecord['pausedFrom'],
    priority: row[8] as number,
    generation: row[9] as number,
    epoch: row[10] as number,
    version: row[11] as number,
    attempt: row[12] as number,
    maxRetries: row[13] as number,
    merge: row[14] as TaskRecord['merge'],
    continuations: row[15] as number,
    rank: state === 'queued' ? (row[16] as number) : null,
    dueAt: row[17] as number | null,
    blocked: row[18] === 1,
    onlyAgent: textOrNull(row[19]),
    capabilities: listOf(row[20]),
    expiresAt: row[21] as number | null,
    review: row[22] as TaskRecord['review'],
    claimState: claimState === 'none' ? null : (claimState as TaskRecord['claimState']),
    leaseMs: row[24] as number,
    minLeaseMs: row[25] as number,
    leaseExpiresAt: instantOrNull(row[26]),
    resultHash: textOrNull(row[27]),
    createdAt: row[28] as number,
    updatedAt: row[29] as number,
    startedAt: instantOrNull(row[30]),
    completedAt: instantOrNull(row[31]),
    archivedAt: instantOrNull(row[32]),
    watch: row[33] === null ? null : JSON.parse(row[33] as string),
    maxContinuations: row[34] as number,
    session: textOrNull(row[35]),
    agent: textOrNull(row[36]),
  }
}

export const rowOfRecord = (record: TaskRecord): unknown[] => [
  record.id,
  record.uuid,
  record.key,
  record.projectId,
  record.trackQueue,
  record.parentId,
  record.state,
  record.pausedFrom,
  record.priority,
  record.generation,
  record.epoch,
  record.version,
  record.attempt,
  record.maxRetries,
  record.merge,
  record.continuations,
  record.rank ?? 0,
  record.dueAt,
  record.blocked ? 1 : null,
  record.onlyAgent,
  record.capabilities.length === 0 ? null : JSON.stringify(record.capabilities),
  record.expiresAt,
  record.review,
  record.claimState ?? 'none',
  record.leaseMs,
  record.minLeaseMs,
  record.leaseExpiresAt ?? 0,
  record.resultHash,
  record.createdAt,
  record.updatedAt,
  record.startedAt ?? 0,
  record.completedAt ?? 0,
  record.archivedAt ?? 0,
  record.watch === null ? null : JSON.stringify(record.watch),
  record.maxContinuations,
]

export const SESSION_COLUMNS: readonly string[] = [
  'name',
  'uuid',
  'agent',
  'user_id',
  'project',
  'state',
  'declared',
  'capacity',
  'capabilities',
  'silence_ms',
  'started_at',
  'last_seen_at',
  'due_at',
  'ended_at',
  'end_reason',
]
export const SELECT_SESSION = names(SESSION_COLUMNS.map((name) => `s.${name}`))

export const readSession = (row: Row): SessionRecord => ({
  name: textOf(row[0]),
  uuid: row[1] as string,
  agent: textOrNull(row[2]),
  userId: textOrNull(row[3]),
  project: textOrNull(row[4]),
  state: row[5] as SessionRecord['state'],
  declared: row[6] === 1,
  capacity: row[7] as number | null,
  capabilities: listOf(row[8]),
  silenceMs: row[9] as number,
  startedAt: row[10] as number,
  lastSeenAt: row[11] as number,
  dueAt: row[12] as number | null,
  endedAt: row[13] as number | null,
  endReason: row[14] as string | null,
})

export const rowOfSession = (record: SessionRecord): unknown[] => [
  record.name,
  record.uuid,
  record.agent,
  record.userId,
  record.project,
  record.state,
  record.declared,
  record.capacity,
  JSON.stringify(record.capabilities),
  record.silenceMs,
  record.startedAt,
  record.lastSeenAt,
  record.dueAt,
  record.endedAt,
  record.endReason,
]

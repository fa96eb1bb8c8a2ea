import type { NewKey } from '../../core/batch/requests.ts'
import type { Limits } from '../../core/limits.ts'
import { CLOCK } from './clock.ts'
import { NEWEST_CLAIM, SELECT_SESSION, SELECT_TASK } from './columns.ts'
import { among, names, sql } from './sql.ts'

/** The statements that look before a decision. */

export const BEGIN = sql`start transaction`
export const ROLLBACK = sql`rollback`
export const COMMIT = sql`commit`

// The tasks a batch is about, locked in ascending order.
export const lockTasks = (workspaceId: number, ids: readonly number[]) =>
  sql`select ${SELECT_TASK} from baton_tasks t force index (primary) ${NEWEST_CLAIM}
       where t.workspace_id = ${workspaceId} and t.id in (${ids}) order by t.id for update`

// The first of a queue, locked; those that others are just taking are passed over. InnoDB locks every row it walks, so
// it must walk the queue in its own order and no further than the limit: hence the order of the join.
export const lockWaiting = (workspaceId: number, queueId: number, limit: number) =>
  sql`select ${SELECT_TASK} from baton_waiting w force index (primary)
        straight_join baton_tasks t force index (primary) on t.workspace_id = w.workspace_id and t.id = w.task_id
        ${NEWEST_CLAIM}
       where w.workspace_id = ${workspaceId} and w.queue_id = ${queueId}
       order by w.queue_rank, w.task_id limit ${limit} for update skip locked`

// Those of these sessions that are workers.
export const workersAmong = (workspaceId: number, sessions: readonly string[]) =>
  sql`select s.name from baton_sessions s force index (primary)
       where s.workspace_id = ${workspaceId} and s.name in (${sessions}) and s.capacity is not null`

// Sessions, locked in the order of their names.
export const lockSessions = (workspaceId: number, sessions: readonly string[]) =>
  sql`select ${SELECT_SESSION} from baton_sessions s force index (primary)
       where s.workspace_id = ${workspaceId} and s.name in (${sessions}) order by s.name for update`

// What these sessions hold.
export const heldBy = (workspaceId: number, sessions: readonly string[]) =>
  sql`select h.session, h.task_id from baton_held h force index (held_by_session)
       where h.workspace_id = ${workspaceId} and h.session in (${sessions}) order by h.task_id`

// What these sessions lost since they were last seen.
export const lostBy = (workspaceId: number, sessions: readonly string[]) =>
  sql`select l.session, t.uuid, l.generation, l.reason, l.ended_at
        from baton_sessions s force index (primary)
        straight_join baton_lost_claims l on l.workspace_id = s.workspace_id and l.session = s.name and l.ended_at > s.last_seen_at
        straight_join baton_tasks t on t.workspace_id = l.workspace_id and t.id = l.task_id
       where s.workspace_id = ${workspaceId} and s.name in (${sessions}) order by l.ended_at, l.task_id`

// The tracks that are limited, locked: two agents must not both be the last that fits in.
export const lockTracks = (workspaceId: number, tracks: readonly (readonly [number, string])[]) =>
  sql`select k.project_id, k.track, k.max_agents from baton_tracks k force index (primary)
       where k.workspace_id = ${workspaceId} and ${among(['k.project_id', 'k.track'], tracks)}
         and k.max_agents is not null order by k.project_id, k.track for update`

// Who holds how many tasks of these tracks.
export const holdersOfTracks = (workspaceId: number, tracks: readonly (readonly [number, string])[]) =>
  sql`select h.project_id, h.track, h.agent, count(*) from baton_track_holders h force index (primary)
       where h.workspace_id = ${workspaceId} and ${among(['h.project_id', 'h.track'], tracks)}
       group by h.project_id, h.track, h.agent`

// Who held these generations of these tasks.
export const holdersOf = (workspaceId: number, offered: readonly { taskId: number; generation: number }[]) =>
  sql`select c.task_id, c.generation, c.session from baton_claims c force index (primary)
       where c.workspace_id = ${workspaceId}
         and ${among(
           ['c.task_id', 'c.generation'],
           offered.map(({ taskId, generation }) => [taskId, generation]),
         )}`

/** Tasks by their keys. */
export const amongKeys = (keys: readonly NewKey[]) =>
  among(
    ['t.project_id', 't.task_key'],
    keys.map(({ projectId, key }) => [projectId, key]),
  )

// Those of these task keys that are given.
export const takenKeys = (workspaceId: number, keys: readonly NewKey[]) =>
  sql`select t.project_id, t.task_key from baton_tasks t force index (task_key)
       where t.workspace_id = ${workspaceId}
         and ${amongKeys(keys)}`

// First answers given under these keys.
export const rememberedReplies = (workspaceId: number, keys: readonly string[]) =>
  sql`select r.idempotency_key, r.body_hash, r.reply from baton_replies r force index (primary)
       where r.workspace_id = ${workspaceId} and r.idempotency_key in (${keys})`

export const LIMIT_COLUMNS = {
  minLeaseSeconds: 'min_lease_seconds',
  maxLeaseSeconds: 'max_lease_seconds',
  maxConcurrentClaims: 'max_concurrent_claims',
  maxGenerationsPerTask: 'max_generations_per_task',
  maxResultBytes: 'max_result_bytes',
  maxActiveSessions: 'max_active_sessions',
  claimHistoryRetentionDays: 'claim_history_retention_days',
  lateResults: 'late_results',
} as const satisfies Record<keyof Limits, string>

export const SELECT_LIMITS = names(Object.values(LIMIT_COLUMNS).map((name) => `w.${name}`))

// The clock, read by a statement of its own after the locks; and what holds at that moment.
export const circumstances = (workspaceId: number) =>
  sql`select ${CLOCK}, c.active_claims, c.active_sessions,
             exists (select 1 from baton_tracks k where k.workspace_id = ${workspaceId}), ${SELECT_LIMITS}
        from baton_workspaces w join baton_counters c on c.workspace_id = w.workspace_id
       where w.workspace_id = ${workspaceId}`

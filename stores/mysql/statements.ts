import type { NewKey, ReadSet } from '../../src/kernel/batch/requests.ts'
import type { Limits } from '../../src/kinds/workspace/limits.ts'
import { tableOf } from './bulk.ts'
import { CLOCK } from './clock.ts'
import { NEWEST_CLAIM, SELECT_SESSION, SELECT_TASK } from './columns.ts'
import { names, type Sql, sql } from './sql.ts'

export const BEGIN = sql`start transaction`
export const ROLLBACK = sql`rollback`
export const COMMIT = sql`commit`

export type TrackKey = readonly [projectId: number, track: string]

/**
 * The statements that lock and read before a decision. Lists are looked up one by one, by joining the list from the left.
 * With `in (…)` both servers may instead scan the workspace when they estimate it to be small, as they do for one that has
 * grown fast: slow for reads, and for locks, a lock on everything.
 */
export class LockStatements {
  readonly #isMariadb: boolean
  readonly #workspaceId: number

  constructor(isMariadb: boolean, workspaceId: number) {
    this.#isMariadb = isMariadb
    this.#workspaceId = workspaceId
  }

  #list = (labels: readonly string[], rows: readonly (readonly unknown[])[]): Sql =>
    sql`${tableOf(this.#isMariadb, labels, rows)} v`
  #names = (sessions: readonly string[]) =>
    this.#list(
      ['name'],
      sessions.map((name) => [name]),
    )

  // The tasks of a batch, locked in the given order.
  lockTasks = (ids: readonly number[]) =>
    sql`select ${SELECT_TASK} from ${this.#list(
      ['id'],
      ids.map((id) => [id]),
    )}
          straight_join baton_tasks t force index (primary) on t.workspace_id = ${this.#workspaceId} and t.id = v.id
          ${NEWEST_CLAIM} for update`

  // The first tasks of a queue, locked, skipping those that others are claiming. InnoDB locks every row it reads, so it must
  // read the queue in its own order and no further than the limit: hence the join order.
  lockWaiting = (queueId: number, limit: number) =>
    sql`select ${SELECT_TASK} from baton_waiting w force index (primary)
          straight_join baton_tasks t force index (primary) on t.workspace_id = w.workspace_id and t.id = w.task_id
          ${NEWEST_CLAIM}
         where w.workspace_id = ${this.#workspaceId} and w.queue_id = ${queueId}
         order by w.queue_rank, w.task_id limit ${limit} for update skip locked`

  // The first tasks of many queues, locked in the same way; returns ids only.
  lockWaitingOfMany = (queues: readonly (readonly [queueId: number, limit: number])[]) =>
    names([
      queues
        .map(
          ([queueId, limit]) =>
            sql`(select w.queue_id, t.id from baton_waiting w force index (primary)
            straight_join baton_tasks t force index (primary) on t.workspace_id = w.workspace_id and t.id = w.task_id
            where w.workspace_id = ${this.#workspaceId} and w.queue_id = ${queueId}
            order by w.queue_rank, w.task_id limit ${limit} for update skip locked)`.text,
        )
        .join(' union all '),
    ])

  // Those of these sessions that are workers.
  workersAmong = (sessions: readonly string[]) =>
    sql`select s.name from ${this.#names(sessions)} straight_join baton_sessions s force index (primary)
            on s.workspace_id = ${this.#workspaceId} and s.name = v.name and s.capacity is not null`

  // Sessions, locked in the given order.
  lockSessions = (sessions: readonly string[]) =>
    sql`select ${SELECT_SESSION} from ${this.#names(sessions)} straight_join baton_sessions s force index (primary)
            on s.workspace_id = ${this.#workspaceId} and s.name = v.name for update`

  // What these sessions hold.
  heldBy = (sessions: readonly string[]) =>
    sql`select h.session, h.task_id from ${this.#names(sessions)}
          straight_join baton_held h force index (held_by_session)
            on h.workspace_id = ${this.#workspaceId} and h.session = v.name order by h.task_id`

  // What these sessions lost since they were last seen.
  lostBy = (sessions: readonly string[]) =>
    sql`select l.session, t.uuid, l.generation, l.reason, l.ended_at from ${this.#names(sessions)}
          straight_join baton_sessions s force index (primary)
            on s.workspace_id = ${this.#workspaceId} and s.name = v.name
          straight_join baton_lost_claims l force index (primary)
            on l.workspace_id = s.workspace_id and l.session = s.name and l.ended_at > s.last_seen_at
          straight_join baton_tasks t force index (primary) on t.workspace_id = l.workspace_id and t.id = l.task_id
         order by l.ended_at, l.task_id`

  // Limited tracks, locked in the given order: two agents must not both take the last free place.
  lockTracks = (places: readonly TrackKey[]) =>
    sql`select k.project_id, k.track, k.max_agents from ${this.#list(['project_id', 'track'], places)}
          straight_join baton_tracks k force index (primary)
            on k.workspace_id = ${this.#workspaceId} and k.project_id = v.project_id and k.track = v.track
               and k.max_agents is not null for update`

  // How many tasks of these tracks each agent holds.
  holdersOfTracks = (places: readonly TrackKey[]) =>
    sql`select h.project_id, h.track, h.agent, count(*) from ${this.#list(['project_id', 'track'], places)}
          straight_join baton_track_holders h force index (primary)
            on h.workspace_id = ${this.#workspaceId} and h.project_id = v.project_id and h.track = v.track
         group by h.project_id, h.track, h.agent`

  // The holders of these generations of these tasks.
  holdersOf = (offered: readonly { taskId: number; generation: number }[]) =>
    sql`select c.task_id, c.generation, c.session, c.agent, c.acquired_at from ${this.#list(
      ['task_id', 'generation'],
      offered.map(({ taskId, generation }) => [taskId, generation]),
    )}
          straight_join baton_claims c force index (primary)
            on c.workspace_id = ${this.#workspaceId} and c.task_id = v.task_id and c.generation = v.generation`

  // Dependencies, read after the locks of their tasks.
  dependenciesOf = (dependencies: ReadSet['dependencies']) =>
    sql`select d.task_id, d.depends_on, d.trigger_rule, d.counted_version, d.outcome from ${this.#list(
      ['task_id', 'depends_on'],
      dependencies.map(({ taskId, dependsOn }) => [taskId, dependsOn]),
    )}
          straight_join baton_task_dependencies d force index (primary)
            on d.workspace_id = ${this.#workspaceId} and d.task_id = v.task_id and d.depends_on = v.depends_on`

  // Those of these task keys that are taken.
  takenKeys = (keys: readonly NewKey[]) => sql`select t.project_id, t.task_key from ${this.tasksByKey(keys)}`

  /** Tasks `t` by their keys. */
  tasksByKey = (keys: readonly NewKey[]) =>
    sql`${this.#list(
      ['project_id', 'task_key'],
      keys.map(({ projectId, key }) => [projectId, key]),
    )}
          straight_join baton_tasks t force index (task_key)
            on t.workspace_id = ${this.#workspaceId} and t.project_id = v.project_id and t.task_key = v.task_key`

  // Stored replies for these idempotency keys.
  storedReplies = (keys: readonly string[]) =>
    sql`select r.idempotency_key, r.body_hash, r.reply from ${this.#names(keys)}
          straight_join baton_replies r force index (primary)
            on r.workspace_id = ${this.#workspaceId} and r.idempotency_key = v.name`

  // The clock, read by a separate statement after the locks, and the counters and limits at that time.
  workspaceState = () =>
    sql`select ${CLOCK}, c.active_claims, c.active_sessions,
               exists (select 1 from baton_tracks k where k.workspace_id = ${this.#workspaceId}), ${SELECT_LIMITS}
          from baton_workspaces w join baton_counters c on c.workspace_id = w.workspace_id
         where w.workspace_id = ${this.#workspaceId}`
}

export const LIMIT_COLUMNS = {
  minLeaseSeconds: 'min_lease_seconds',
  maxLeaseSeconds: 'max_lease_seconds',
  maxConcurrentClaims: 'max_concurrent_claims',
  maxGenerationsPerTask: 'max_generations_per_task',
  maxResultBytes: 'max_result_bytes',
  maxActiveSessions: 'max_active_sessions',
  claimHistoryRetentionDays: 'claim_history_retention_days',
  lateResults: 'late_results',
  assignTimeoutSeconds: 'assign_timeout_seconds',
  stallTimeoutSeconds: 'stall_timeout_seconds',
  verifyTimeoutSeconds: 'verify_timeout_seconds',
  hangGraceSeconds: 'hang_grace_seconds',
  hangAbortSeconds: 'hang_abort_seconds',
  queueOrder: 'queue_order',
  branchRetentionDays: 'branch_retention_days',
  timeZone: 'time_zone',
} as const satisfies Record<keyof Limits, string>

export const SELECT_LIMITS = names(Object.values(LIMIT_COLUMNS).map((name) => `w.${name}`))

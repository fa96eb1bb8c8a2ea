import type pg from 'pg'
import type { TaskState } from '../../../core/states.ts'
import { outcomeOf } from '../../../core/upstream.ts'
import { DEPENDENTS } from '../../log-followers.ts'
import type { BlockedTask, MissedTasks } from '../../store.ts'
import { BY_KEYS, inside, scopedQueries } from '../kernel/scoped-query.ts'

/**
 * From ended tasks to the tasks that depend on them. What happened is read from the log, in order, from a cursor per
 * workspace; so this costs what happened since, and nothing for all that is waiting.
 */

/** Events read at a time: for all workspaces together, and the minimum for each workspace that is read. */
const EVENTS_AT_A_TIME = 20_000
const EVENTS_OF_ONE = 500
const WORKSPACES_AT_A_TIME = 100
/** The cursor is stored when it has moved this far: after a crash, at most this many events are read again. */
const WORTH_WRITING = 5_000

const ENDED = `('completed', 'failed', 'cancelled', 'skipped')`

// Each subquery is separate (offset 0) and uses one key: in a free join, a planner that expects few blocked tasks would read
// all of them.
const taskById = (workspace: string, id: string) =>
  `(select * from tasks k where k.workspace_id = ${workspace} and k.id = ${id} offset 0)`
const waitingFor = (workspace: string, id: string) =>
  `(select k.task_id, k.outcome from task_dependencies k where k.workspace_id = ${workspace} and k.depends_on = ${id} offset 0)`

const WAITS = `t.blocked and t.state in ('pending', 'paused')`
const IS_UNCOUNTED = `d.outcome is distinct from case when u.state in ${ENDED} then u.state end`
/** All parts are counted, and their results are to be merged. */
const IS_TO_BE_MERGED = `t.merge = 'object' and t.state = 'pending' and (t.upstream ->> 'waiting')::int = 0
  and (t.upstream ->> 'failed')::int = 0 and (t.upstream ->> 'other')::int = 0`

const BLOCKED_TASK = `t.workspace_id as "workspaceId", t.id as "taskId", t.uuid, t.version, t.merge, t.upstream`
/** An upstream task that was counted otherwise; nulls where only the task itself matters. */
const UPSTREAM_TASK = `u.id as "dependsOn", u.uuid as "upstreamUuid", u.version as "upstreamVersion", u.state as "upstreamState"`
const NO_UPSTREAM_TASK = 'null::bigint, null::uuid, null::int, null::text'

interface BlockedRow extends Omit<BlockedTask, 'edges'>, pg.QueryResultRow {
  dependsOn: number | null
  upstreamUuid: string
  upstreamVersion: number
  upstreamState: TaskState
}

/** One row for each upstream task. */
function tasksIn(rows: readonly BlockedRow[]): BlockedTask[] {
  const found = new Map<number, BlockedTask>()
  for (const row of rows) {
    const { dependsOn, upstreamUuid, upstreamVersion, upstreamState, ...own } = row
    const task: BlockedTask = found.get(own.taskId) ?? { ...own, edges: [] }
    found.set(own.taskId, task)
    if (dependsOn === null) continue
    const outcome = outcomeOf(upstreamState)
    task.edges.push({ dependsOn, uuid: upstreamUuid, version: upstreamVersion, outcome })
  }
  return [...found.values()]
}

/** Blocked tasks that depend on these, and have not counted how these stand. */
export async function downstreamOf(
  pool: pg.Pool,
  workspaceId: number,
  taskIds: readonly number[],
): Promise<BlockedTask[]> {
  const rows = await asUpkeep<BlockedRow>(
    pool,
    `select ${BLOCKED_TASK}, ${UPSTREAM_TASK} from unnest($2::bigint[]) as e(id)
       cross join lateral ${taskById('$1', 'e.id')} u
       cross join lateral ${waitingFor('$1', 'e.id')} d
       cross join lateral ${taskById('$1', 'd.task_id')} t
      where ${WAITS} and (t.upstream is null or ${IS_UNCOUNTED})`,
    [workspaceId, [...new Set(taskIds)]],
  )
  return tasksIn(rows)
}

// Workspaces whose log is longer than the cursor of this follower, and whether tasks are blocked there. Random ones: if the same ones
// always came first, they could starve the others. $1 workspaces whose cached cursor is ahead of the stored one, $2 the
// cached cursors, $3 limit, $4 the only workspace to read, or null.
const BEHIND = `
  select * from (
    select c.workspace_id as "workspaceId", c.last_seq as "lastSeq", f.seq as "writtenSeq",
           greatest(f.seq, coalesce(k.seq, 0)) as "followedSeq",
           exists (select from tasks t where t.workspace_id = c.workspace_id and t.blocked) as "isAnythingBlocked"
      from workspace_counters c join log_cursors f on f.workspace_id = c.workspace_id and f.follower = '${DEPENDENTS}'
      left join unnest($1::int[], $2::bigint[]) as k(workspace_id, seq) on k.workspace_id = c.workspace_id
     where c.last_seq > greatest(f.seq, coalesce(k.seq, 0))
       and ($4::int is null or c.workspace_id = $4)) w
   order by random() limit $3`

// In some ranges of the log: blocked tasks that have not counted upstream tasks which ended there or were opened again, and
// tasks that began to wait there and are not counted at all. Both kinds may also have parts to merge. $1 workspaces, $2 after
// which seq, $3 up to which seq, $4 limit per workspace.
export const MISSED_IN = `
  select x.* from unnest($1::int[], $2::bigint[], $3::bigint[]) as w(workspace_id, after, up_to) cross join lateral (
    select ${BLOCKED_TASK}, ${UPSTREAM_TASK} from (
        select distinct e.task_id from events e
         where e.workspace_id = w.workspace_id and e.seq > w.after and e.seq <= w.up_to
           and (e.to_state in ${ENDED} or (e.from_state in ${ENDED} and e.to_state is not null))) e
      cross join lateral ${taskById('w.workspace_id', 'e.task_id')} u
      cross join lateral ${waitingFor('w.workspace_id', 'e.task_id')} d
      cross join lateral ${taskById('w.workspace_id', 'd.task_id')} t
     where ${WAITS} and (t.upstream is null or ${IS_UNCOUNTED} or (${IS_TO_BE_MERGED}))
    union all
    select ${BLOCKED_TASK}, ${NO_UPSTREAM_TASK} from (
        select distinct e.task_id from events e
         where e.workspace_id = w.workspace_id and e.seq > w.after and e.seq <= w.up_to and e.to_state = 'pending') e
      cross join lateral ${taskById('w.workspace_id', 'e.task_id')} t
     where ${WAITS} and (t.upstream is null or (${IS_TO_BE_MERGED}))
    limit $4) x`

interface Behind {
  workspaceId: number
  lastSeq: number
  writtenSeq: number
  followedSeq: number
  isAnythingBlocked: boolean
}

/**
 * The follower that unblocks dependents, in all workspaces at once. Two nodes may do it at the same time, without harm, so it
 * takes no leases: the coordinator's term keeps it to one node. The cached cursors only save work: another process starts
 * from the stored ones.
 */
export class Following {
  readonly #readers: pg.Pool
  readonly #writers: pg.Pool
  readonly #cursors = new Map<number, number>()
  /** Those that are ahead of the stored ones. */
  readonly cursors: ReadonlyMap<number, number> = this.#cursors

  constructor(readers: pg.Pool, writers: pg.Pool) {
    this.#readers = readers
    this.#writers = writers
  }

  async missedTasks(limit: number, only?: number): Promise<MissedTasks> {
    const behind = await this.#behind(Math.min(WORKSPACES_AT_A_TIME, Math.ceil(limit / 10)), only)
    // Where nothing is blocked, no task can have been missed: a task that is blocked later sees what has ended by then.
    for (const one of behind) if (!one.isAnythingBlocked) await this.#move(one, one.lastSeq)
    const waiting = behind.filter(({ isAnythingBlocked }) => isAnythingBlocked)
    if (waiting.length === 0) return { tasks: [], followed: async () => undefined }
    const window = Math.max(EVENTS_OF_ONE, Math.floor(EVENTS_AT_A_TIME / waiting.length))
    const upTo = waiting.map(({ followedSeq, lastSeq }) => Math.min(lastSeq, followedSeq + window))
    const share = Math.ceil(limit / waiting.length)
    const found = await asUpkeep<BlockedRow>(this.#readers, MISSED_IN, [
      waiting.map(({ workspaceId }) => workspaceId),
      waiting.map(({ followedSeq }) => followedSeq),
      upTo,
      share + 1,
    ])
    const own = waiting.map(({ workspaceId }) => found.filter((task) => task.workspaceId === workspaceId))
    return {
      tasks: own.flatMap((rows) => tasksIn(rows.slice(0, share))),
      followed: async () => {
        // For a workspace with more than its share, the rest is found at the same position next time.
        for (const [i, one] of waiting.entries()) if (own[i]!.length <= share) await this.#move(one, upTo[i]!)
      },
    }
  }

  #behind(limit: number, only: number | undefined): Promise<Behind[]> {
    const cursors = [...this.#cursors]
    const known = [cursors.map(([workspaceId]) => workspaceId), cursors.map(([, seq]) => seq)]
    return asUpkeep<Behind & pg.QueryResultRow>(this.#readers, BEHIND, [...known, limit, only ?? null])
  }

  async #move({ workspaceId, writtenSeq }: Behind, seq: number): Promise<void> {
    this.#cursors.set(workspaceId, seq)
    if (seq - writtenSeq >= WORTH_WRITING) await this.#write(workspaceId, seq)
  }

  async #write(workspaceId: number, seq: number): Promise<void> {
    // Never back: another process may be further.
    const text = `update log_cursors set seq = greatest(seq, $2) where workspace_id = $1 and follower = '${DEPENDENTS}'`
    await inside(this.#writers, workspaceId, text, [seq])
    if (this.#cursors.get(workspaceId) === seq) this.#cursors.delete(workspaceId)
  }

  /** Stores all cursors: retention waits for what is stored. */
  async writeCursors(): Promise<void> {
    for (const [workspaceId, seq] of [...this.#cursors]) await this.#write(workspaceId, seq)
  }
}

async function asUpkeep<T extends pg.QueryResultRow>(
  pool: pg.Pool,
  text: string,
  values: unknown[],
): Promise<T[]> {
  const [, rows] = await scopedQueries<T>(pool, 'baton.scope', 'upkeep', [BY_KEYS, { text, values }])
  return rows!
}

import type pg from 'pg'
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
const ENDED_BADLY = `('failed', 'cancelled', 'skipped')`

// Each subquery is separate (offset 0) and uses one key: in a free join, a planner that expects few blocked tasks would read
// all of them.
const taskById = (workspace: string, id: string) =>
  `(select * from tasks k where k.workspace_id = ${workspace} and k.id = ${id} offset 0)`
const waitingFor = (workspace: string, id: string) =>
  `(select k.task_id from task_dependencies k where k.workspace_id = ${workspace} and k.depends_on = ${id} offset 0)`

/**
 * The dependencies of task `t`, as one row: the rule, the states, and whether they decide if it is unblocked or never will
 * be.
 */
const UPSTREAM = `(
  select min(s.rule) as rule, array_agg(s.state) as states,
         bool_and(s.state in ${ENDED})
           or coalesce(bool_or(case when t.merge <> 'none' or s.rule = 'all_success' then s.state in ${ENDED_BADLY}
                                    when s.rule = 'none_failed' then s.state = 'failed'
                                    else s.rule = 'always' end), false) as is_decided
    from (select d.trigger_rule as rule, (select u.state from tasks u where u.workspace_id = d.workspace_id and u.id = d.depends_on)
            from task_dependencies d where d.workspace_id = t.workspace_id and d.task_id = t.id offset 0) s)`

const BLOCKED_TASK = `t.workspace_id as "workspaceId", t.id as "taskId", t.uuid, t.version, t.merge,
  o.rule as "triggerRule", o.states as upstream`

/** Blocked tasks that depend on these, with the states of all their dependencies. */
export const downstreamOf = (pool: pg.Pool, workspaceId: number, taskIds: readonly number[]) =>
  asUpkeep<BlockedTask & pg.QueryResultRow>(
    pool,
    `select ${BLOCKED_TASK}
       from (select distinct w.task_id from unnest($2::bigint[]) as e(id) cross join lateral ${waitingFor('$1', 'e.id')} w) c
       cross join lateral ${taskById('$1', 'c.task_id')} t cross join lateral ${UPSTREAM} o
      where t.blocked`,
    [workspaceId, taskIds],
  )

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

// In some ranges of the log: blocked tasks whose outcome is decided, since their dependencies ended there, or they became
// blocked there. (New ones were checked at creation.) $1 workspaces, $2 after which seq, $3 up to which seq, $4 limit per
// workspace.
export const FORGOTTEN_IN = `
  select x.* from unnest($1::int[], $2::bigint[], $3::bigint[]) as w(workspace_id, after, up_to) cross join lateral (
    select ${BLOCKED_TASK} from (
      select d.task_id as id from events e cross join lateral ${waitingFor('w.workspace_id', 'e.task_id')} d
       where e.workspace_id = w.workspace_id and e.seq > w.after and e.seq <= w.up_to and e.to_state in ${ENDED}
      union
      select e.task_id from events e
       where e.workspace_id = w.workspace_id and e.seq > w.after and e.seq <= w.up_to and e.to_state = 'pending'
         and e.from_state is not null) c
    cross join lateral ${taskById('w.workspace_id', 'c.id')} t cross join lateral ${UPSTREAM} o
    where t.blocked and t.state = 'pending' and o.is_decided limit $4) x`

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
    const found = await asUpkeep<BlockedTask & pg.QueryResultRow>(this.#readers, FORGOTTEN_IN, [
      waiting.map(({ workspaceId }) => workspaceId),
      waiting.map(({ followedSeq }) => followedSeq),
      upTo,
      share + 1,
    ])
    const own = waiting.map(({ workspaceId }) => found.filter((task) => task.workspaceId === workspaceId))
    return {
      tasks: own.flatMap((tasks) => tasks.slice(0, share)),
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

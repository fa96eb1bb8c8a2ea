import type pg from 'pg'
import type { BlockedTask, Forgotten } from '../../store.ts'
import { BY_KEYS, scopedQueries, scopedQuery } from '../kernel/scoped-query.ts'

/**
 * From tasks that ended to the tasks that wait for them. What happened is read from the log, in its order, up to a cursor
 * that each workspace has; so this costs what happened since, and nothing for all that waits.
 */

/** So many events are followed at a time, all workspaces together, but of each that is looked at at least so many. */
const EVENTS_AT_A_TIME = 20_000
const EVENTS_OF_ONE = 500
const WORKSPACES_AT_A_TIME = 100
/** The cursor is written down when it has moved so far: after a crash, so much is followed once more. */
const WORTH_WRITING = 5_000

const ENDED = `('completed', 'failed', 'cancelled', 'skipped')`
const ENDED_BADLY = `('failed', 'cancelled', 'skipped')`

// Each subquery stands alone (offset 0) and goes by one key: joined freely, a plan that believes few tasks to be blocked
// would rather read all of those.
const taskById = (workspace: string, id: string) =>
  `(select * from tasks k where k.workspace_id = ${workspace} and k.id = ${id} offset 0)`
const waitingFor = (workspace: string, id: string) =>
  `(select k.task_id from task_dependencies k where k.workspace_id = ${workspace} and k.depends_on = ${id} offset 0)`

/** What task `t` waits for, as one row: the rule, the states, and whether that lets it go on or never will. */
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

/** Waiting tasks that depend on these ones, with the states of everything they wait for. */
export const downstreamOf = (pool: pg.Pool, workspaceId: number, taskIds: readonly number[]) =>
  asUpkeep<BlockedTask & pg.QueryResultRow>(
    pool,
    `select ${BLOCKED_TASK}
       from (select distinct w.task_id from unnest($2::bigint[]) as e(id) cross join lateral ${waitingFor('$1', 'e.id')} w) c
       cross join lateral ${taskById('$1', 'c.task_id')} t cross join lateral ${UPSTREAM} o
      where t.blocked`,
    [workspaceId, taskIds],
  )

// Workspaces whose log is longer than what was followed of it, and whether anything waits there. Any of them: were it always
// the same ones first, these could keep the others waiting. $1 workspaces whose cursor is known to be further than it is
// written, $2 how far, $3 how many, $4 the only workspace to look at, or null.
const BEHIND = `
  select * from (
    select c.workspace_id as "workspaceId", c.last_seq as "lastSeq", coalesce(f.followed_seq, 0) as "writtenSeq",
           greatest(coalesce(f.followed_seq, 0), coalesce(k.seq, 0)) as "followedSeq",
           exists (select from tasks t where t.workspace_id = c.workspace_id and t.blocked) as "isAnythingBlocked"
      from workspace_counters c left join follow_cursors f using (workspace_id)
      left join unnest($1::int[], $2::bigint[]) as k(workspace_id, seq) using (workspace_id)
     where c.last_seq > greatest(coalesce(f.followed_seq, 0), coalesce(k.seq, 0))
       and ($4::int is null or c.workspace_id = $4)) w
   order by random() limit $3`

// Of some stretches of the log: tasks that wait though it is decided what becomes of them, since what they wait for ended
// there, or they began to wait there. (New ones were judged as they were made.) $1 workspaces, $2 after which seq, $3 up to
// which, $4 most tasks of each.
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

/** Follows the logs of all workspaces. What it remembers saves work only: another process starts from what is written. */
export class Following {
  readonly #readers: pg.Pool
  readonly #writers: pg.Pool
  readonly #cursors = new Map<number, number>()

  constructor(readers: pg.Pool, writers: pg.Pool) {
    this.#readers = readers
    this.#writers = writers
  }

  async forgottenTasks(limit: number, only?: number): Promise<Forgotten> {
    const behind = await this.#behind(Math.min(WORKSPACES_AT_A_TIME, Math.ceil(limit / 10)), only)
    // Where nothing is blocked, nothing can have been forgotten: whatever is blocked later sees what has ended by then.
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
        // Of one that had more than its share, the rest is found at the same place the next time.
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
    if (seq - writtenSeq >= WORTH_WRITING) {
      await scopedQuery(this.#writers, 'baton.workspace_id', String(workspaceId), {
        // Never back: another process may be further.
        text: `insert into follow_cursors (workspace_id, followed_seq) values ($1, $2)
               on conflict (workspace_id) do update set followed_seq = greatest(follow_cursors.followed_seq, excluded.followed_seq)`,
        values: [workspaceId, seq],
      })
      this.#cursors.delete(workspaceId)
    } else this.#cursors.set(workspaceId, seq)
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

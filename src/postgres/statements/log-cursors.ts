import type pg from 'pg'
import {
  AT_A_TIME,
  cutRanges,
  type FollowedEvent,
  type LogFollowers,
  type LogRange,
  readNext,
  type WantedEvents,
} from '../../kernel/store/log-followers.ts'
import { FOLLOWERS } from '../../kinds/all.ts'
import { LAST_SEQ } from './log-head.ts'
import { BY_KEYS, inside, scopedQueries } from './scoped-query.ts'

/** Followers of the log, as rows of log_cursors. */

/** A cursor that nothing came of is written when it has moved this far: after a crash, at most so many events are read again. */
const WORTH_WRITING = 5_000

const IS_FREE = '(f.retry_at is null or f.retry_at <= (select clock_timestamp()))'
/** Cursors that this process has moved further than they are written. */
const CACHED = (workspaces: string, followers: string, seqs: string) =>
  `unnest(${workspaces}::int[], ${followers}::text[], ${seqs}::bigint[]) as k(workspace_id, follower, seq)
     on k.workspace_id = f.workspace_id and k.follower = f.follower`

// Workspaces with events that this follower has not handled. Random ones: if the same ones always came first, they could
// starve the others. $1 follower, $2 limit, $3 the only workspace to read, or null, $4 to $6 the cached cursors.
const behind = (has: string) => `
  select * from (
    select f.workspace_id as "workspaceId", f.follower, c.last_seq as "lastSeq", f.failures,
           greatest(f.seq, coalesce(k.seq, 0)) as "after", not ${has} as "isIdle"
      from workspace_counters c join log_cursors f on f.workspace_id = c.workspace_id and f.follower = $1
      left join ${CACHED('$4', '$5', '$6')}
     where c.last_seq > greatest(f.seq, coalesce(k.seq, 0)) and ${IS_FREE}
       and ($3::int is null or f.workspace_id = $3)) w
   order by random() limit $2`

const BEHIND = {
  blockedTasks: behind('exists (select from tasks t where t.workspace_id = c.workspace_id and t.blocked)'),
  missions: behind('exists (select from missions m where m.workspace_id = c.workspace_id)'),
  webhooks: behind('exists (select from webhooks h where h.workspace_id = c.workspace_id)'),
  /** A queue in a library has no keys. */
  keys: behind('exists (select from api_keys k where k.workspace_id = c.workspace_id)'),
  anything: behind('true'),
}

const NAMES = Object.keys(FOLLOWERS)
  .map((name) => `'${name}'`)
  .join(', ')

/** For `nextDue`: whether a log is longer than a cursor. The cached cursors are these parameters. */
export const isLogAhead = (...cached: [workspaces: string, followers: string, seqs: string]) =>
  `exists (select from workspace_counters c join log_cursors f on f.workspace_id = c.workspace_id
     left join ${CACHED(...cached)} where f.follower in (${NAMES}) and c.last_seq > greatest(f.seq, coalesce(k.seq, 0)) and ${IS_FREE})`

/** For `nextDue`. Those that are over are found by the cursors themselves. */
export const EARLIEST_FOLLOWER_RETRY = `select min(f.retry_at) from log_cursors f
   where f.follower in (${NAMES}) and f.retry_at > (select clock_timestamp())`

// The wanted events of some ranges. $1 workspaces, $2 after which seq, $3 up to which seq, $4 states that they lead to, $5 states
// that they leave, $6 only of missions, $7 types.
const READ = `
  select r.place, e.* from unnest($1::int[], $2::bigint[], $3::bigint[]) with ordinality as r(workspace_id, after, up_to, place)
   cross join lateral (
     select e.seq, e.type, e.task_id as "taskId", e.mission_id as "missionId", e.from_state as "from", e.to_state as "to",
            e.actor, ms(e.at) as at
       from events e where e.workspace_id = r.workspace_id and e.seq > r.after and e.seq <= r.up_to
        and (e.to_state = any($4) or (e.to_state is not null and e.from_state = any($5)) or e.type = any($7))
        and (not $6 or e.mission_id is not null) offset 0) e
   order by r.place, e.seq`

// The events in some ranges that are for a webhook of their workspace, whatever its state. $1 to $3 as before.
const READ_FOR_WEBHOOKS = `
  select r.place, e.* from unnest($1::int[], $2::bigint[], $3::bigint[]) with ordinality as r(workspace_id, after, up_to, place)
   cross join lateral (
     select array_agg(distinct replace(replace(p.pattern, '_', '\\_'), '*', '%')) as patterns
       from webhooks h cross join unnest(h.events) as p(pattern) where h.workspace_id = r.workspace_id) w
   cross join lateral (
     select e.seq, e.type, e.task_id as "taskId", e.mission_id as "missionId", e.from_state as "from", e.to_state as "to",
            e.actor, ms(e.at) as at
       from events e where e.workspace_id = r.workspace_id and e.seq > r.after and e.seq <= r.up_to
        and e.type like any(w.patterns) offset 0) e
   order by r.place, e.seq`

const UNFOLLOWED = `select w.workspace_id as "workspaceId", f.follower from workspaces w cross join unnest($1::text[]) as f(follower)
   where not exists (select from log_cursors k where k.workspace_id = w.workspace_id and k.follower = f.follower)`

/**
 * Since when a follower of the workspace has events to see; null: there are none. A minute before the first of them, as the
 * time of an event is read a little before its number is given.
 */
export const firstUnseenAt = (workspace: string) => `(
  select e.at - interval '1 minute' from events e where e.workspace_id = ${workspace} and e.seq = (
    select min(f.seq) + 1 from log_cursors f where f.workspace_id = ${workspace}))`

export class PostgresFollowers implements LogFollowers {
  readonly #readers: pg.Pool
  readonly #writers: pg.Pool
  /** Cursors that are ahead of what is written, by workspace and follower. They only save work. */
  readonly #cached = new Map<
    string,
    { workspaceId: number; follower: string; writtenSeq: number; seq: number }
  >()

  constructor(readers: pg.Pool, writers: pg.Pool) {
    this.#readers = readers
    this.#writers = writers
  }

  /** The cached cursors, as three parameters of a statement. */
  get cached(): [number[], string[], number[]] {
    const all = [...this.#cached.values()]
    return [
      all.map(({ workspaceId }) => workspaceId),
      all.map(({ follower }) => follower),
      all.map(({ seq }) => seq),
    ]
  }

  async follow(workspaceId: number, follower: string, from: 'beginning' | 'now'): Promise<void> {
    await inside(
      this.#writers,
      workspaceId,
      `insert into log_cursors (workspace_id, follower, seq)
       select $1, $2, case when $3 then 0 else ${LAST_SEQ} end on conflict do nothing`,
      [follower, from === 'beginning'],
    )
  }

  async unfollow(workspaceId: number, follower: string): Promise<void> {
    const text = 'delete from log_cursors where workspace_id = $1 and follower = $2'
    await inside(this.#writers, workspaceId, text, [follower])
    this.#cached.delete(`${workspaceId} ${follower}`)
  }

  unfollowed(): Promise<{ workspaceId: number; follower: string }[]> {
    return this.#everywhere('log_cursors_missing', UNFOLLOWED, [Object.keys(FOLLOWERS)])
  }

  async behind(follower: string, only?: number): Promise<LogRange[]> {
    const where = FOLLOWERS[follower]?.where ?? 'anything'
    const values = [follower, AT_A_TIME.workspaces, only ?? null, ...this.cached]
    return cutRanges(await this.#everywhere(`log_cursors_behind_${where}`, BEHIND[where], values))
  }

  async read(ranges: readonly LogRange[], wanted: WantedEvents): Promise<FollowedEvent[][]> {
    const of = [
      ranges.map(({ workspaceId }) => workspaceId),
      ranges.map(({ after }) => after),
      ranges.map(({ upTo }) => upTo),
    ]
    const states = [wanted.to, wanted.from ?? [], wanted.inMissions ?? false, wanted.types ?? []]
    const rows = await (wanted.forWebhooks
      ? this.#everywhere<FollowedEvent & { place: number }>(
          'log_cursors_read_for_webhooks',
          READ_FOR_WEBHOOKS,
          of,
        )
      : this.#everywhere<FollowedEvent & { place: number }>('log_cursors_read', READ, [...of, ...states]))
    const found: FollowedEvent[][] = ranges.map(() => [])
    for (const { place, ...event } of rows) found[place - 1]!.push(event)
    return found
  }

  next(follower: string, wanted: WantedEvents, options: Parameters<LogFollowers['next']>[2]) {
    return readNext(this, follower, wanted, options)
  }

  async advance(range: LogRange, seq: number, isWorthWriting: boolean): Promise<void> {
    const { workspaceId, follower, after, failures } = range
    const key = `${workspaceId} ${follower}`
    const { writtenSeq } = this.#cached.get(key) ?? { writtenSeq: after }
    // After a failure, its number of failures is written as well.
    if (isWorthWriting || failures > 0 || seq - writtenSeq >= WORTH_WRITING) await this.#write(range, seq)
    else this.#cached.set(key, { workspaceId, follower, writtenSeq, seq })
  }

  async postpone(range: LogRange, seq: number, retry: { waitMs: number; failures: number }): Promise<void> {
    await this.#write(range, seq, retry)
  }

  async followedByAll(workspaceId: number): Promise<number> {
    const text = `select coalesce((select min(f.seq) from log_cursors f where f.workspace_id = $1), ${LAST_SEQ}) as seq`
    return (await inside<{ seq: number }>(this.#readers, workspaceId, text))[0]!.seq
  }

  /** Writes all cached cursors: retention waits for what is written. */
  async writeCached(): Promise<void> {
    for (const cursor of [...this.#cached.values()]) await this.#write(cursor, cursor.seq)
  }

  async #write(
    { workspaceId, follower }: Pick<LogRange, 'workspaceId' | 'follower'>,
    seq: number,
    { waitMs = 0, failures = 0 }: { waitMs?: number; failures?: number } = {},
  ): Promise<void> {
    // Never back: another process may be further.
    await inside(
      this.#writers,
      workspaceId,
      `update log_cursors set seq = greatest(seq, $3), failures = $4,
          retry_at = case when $5 > 0 then clock_timestamp() + $5::float8 * interval '1 millisecond' end
        where workspace_id = $1 and follower = $2`,
      [follower, seq, failures, waitMs],
    )
    const key = `${workspaceId} ${follower}`
    if ((this.#cached.get(key)?.seq ?? 0) <= seq) this.#cached.delete(key)
  }

  async #everywhere<T extends pg.QueryResultRow>(
    name: string,
    text: string,
    values: unknown[],
  ): Promise<T[]> {
    const statement = { name, text, values }
    const [, rows] = await scopedQueries<T>(this.#readers, 'baton.scope', 'upkeep', [BY_KEYS, statement])
    return rows!
  }
}

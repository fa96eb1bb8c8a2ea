import { randomUUID } from 'node:crypto'
import type pg from 'pg'
import type { LogFollowers, LogRange, NextRanges } from '../../log-followers.ts'
import { LAST_SEQ } from '../kernel/log-head.ts'
import { inside, scopedQuery } from '../kernel/scoped-query.ts'

/** Followers of the log, as rows of log_cursors. */

// The clock is read after the row is locked: while one node waits for the lock, another may get the lease.
const IS_FREE = `(f.lease_until is null or f.lease_until <= clock_timestamp())
  and (f.retry_at is null or f.retry_at <= clock_timestamp())`
const END_OF_LEASE = (ms: string) => `clock_timestamp() + ${ms}::float8 * interval '1 millisecond'`

// Workspaces with events that this follower has not seen. Random ones: if the same ones always came first, they could starve
// the others. $1 follower, $2 limit, $3 the only workspace to read, or null.
const WITH_MORE = `select f.workspace_id as "workspaceId" from log_cursors f
    cross join lateral (select c.last_seq from workspace_counters c where c.workspace_id = f.workspace_id offset 0) c
   where f.follower = $1 and c.last_seq > f.seq and ${IS_FREE}
     and ($3::int is null or f.workspace_id = $3)
   order by random() limit $2`

// Takes the lease if nobody has it. $1 workspace, $2 follower, $3 the new holder, $4 how long in ms, $5 how many events.
const TAKE = `update log_cursors f set holder = $3, lease_until = ${END_OF_LEASE('$4')}, retry_at = null
   where f.workspace_id = $1 and f.follower = $2 and f.seq < ${LAST_SEQ} and ${IS_FREE}
  returning f.seq as "after", least(${LAST_SEQ}, f.seq + $5) as "upTo", f.failures`

// The cursor of a range, while its lease was not given to another. $1 workspace, $2 follower, $3 holder.
const HELD = 'f.workspace_id = $1 and f.follower = $2 and f.holder = $3'
const RENEW = `update log_cursors f set lease_until = ${END_OF_LEASE('$4')} where ${HELD} returning 1`
const ADVANCE = `update log_cursors f set seq = $4, holder = null, lease_until = null, failures = 0 where ${HELD} returning 1`
const POSTPONE = `update log_cursors f set holder = null, lease_until = null, failures = f.failures + 1,
    retry_at = ${END_OF_LEASE('$4')} where ${HELD} returning 1`

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

  constructor(readers: pg.Pool, writers: pg.Pool) {
    this.#readers = readers
    this.#writers = writers
  }

  async follow(workspaceId: number, follower: string, from: 'beginning' | 'now'): Promise<void> {
    await this.#write(
      `insert into log_cursors (workspace_id, follower, seq)
       select $1, $2, case when $3 then 0 else ${LAST_SEQ} end on conflict do nothing`,
      workspaceId,
      [follower, from === 'beginning'],
    )
  }

  async unfollow(workspaceId: number, follower: string): Promise<void> {
    const text = 'delete from log_cursors where workspace_id = $1 and follower = $2'
    await this.#write(text, workspaceId, [follower])
  }

  /** Read for all workspaces at once; each lease is a transaction of its own, in its workspace. */
  async next(follower: string, { workspaces, events, leaseMs, only }: NextRanges): Promise<LogRange[]> {
    const found = await scopedQuery<{ workspaceId: number }>(this.#readers, 'baton.scope', 'upkeep', {
      name: 'log_cursors_with_more',
      text: WITH_MORE,
      values: [follower, workspaces, only ?? null],
    })
    const taken = await Promise.all(
      found.map(async ({ workspaceId }): Promise<LogRange | null> => {
        const holder = randomUUID()
        const values = [follower, holder, leaseMs, events]
        const [range] = await this.#write<Pick<LogRange, 'after' | 'upTo' | 'failures'>>(
          TAKE,
          workspaceId,
          values,
        )
        return range ? { workspaceId, follower, holder, ...range } : null
      }),
    )
    return taken.filter((range) => range !== null)
  }

  renew(range: LogRange, leaseMs: number): Promise<boolean> {
    return this.#underLease(RENEW, range, leaseMs)
  }

  advance(range: LogRange): Promise<boolean> {
    return this.#underLease(ADVANCE, range, range.upTo)
  }

  async postpone(range: LogRange, waitMs: number): Promise<void> {
    await this.#underLease(POSTPONE, range, waitMs)
  }

  async followedByAll(workspaceId: number): Promise<number> {
    const text = `select coalesce((select min(f.seq) from log_cursors f where f.workspace_id = $1), ${LAST_SEQ}) as seq`
    return (await inside<{ seq: number }>(this.#readers, workspaceId, text))[0]!.seq
  }

  async #underLease(text: string, { workspaceId, follower, holder }: LogRange, value: number) {
    return (await this.#write(text, workspaceId, [follower, holder, value])).length > 0
  }

  #write<T extends pg.QueryResultRow>(text: string, workspaceId: number, values: unknown[]): Promise<T[]> {
    return inside<T>(this.#writers, workspaceId, text, values)
  }
}

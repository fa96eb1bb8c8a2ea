import type pg from 'pg'
import { StoreUnavailable } from '../../kernel/store/store.ts'
import {
  COORDINATOR,
  decideLeaderLease,
  LEADER_LEASE_MS,
  type LeaderLeaseCommand,
  type LeaderTerm,
} from '../../pure/leader-lease.ts'
import { connectionFrom } from '../connection/unavailable.ts'
import { scopedQuery } from '../statements/scoped-query.ts'
import { send } from '../statements/send.ts'
import type { Bound, Statement } from '../statements/statements.ts'
import * as sql from '../statements/statements.ts'

const TRIES = 5

/** Takes, renews or releases the leader lease of the coordinator. Returns the term that the node holds afterwards. */
export async function updateLeaderLease(
  pool: pg.Pool,
  command: LeaderLeaseCommand,
): Promise<LeaderTerm | null> {
  for (let tries = 1; ; tries++) {
    try {
      return await inClusterScope(pool, (client) => decideUnderLock(client, command))
    } catch (error) {
      if (!lostARace(error)) throw error
      if (tries === TRIES)
        throw new StoreUnavailable('Other nodes got there first on every attempt.', { cause: error })
    }
  }
}

/** The terms, newest first: who led, from when, until when, and why the term ended. */
export async function listLeaderTerms(pool: pg.Pool, limit: number): Promise<LeaderTerm[]> {
  const text = `select ${TERM_COLUMNS} from leader_leases where workspace_id = 0 and role = $1 order by term desc limit $2`
  const statement = { text, values: [COORDINATOR, limit], rowMode: 'array' as const }
  return (await scopedQuery<unknown[]>(pool, 'baton.scope', 'cluster', statement)).map(readTerm)
}

/**
 * A gap between two terms that is longer than a takeover needs: there may have been no leader. If this is too short, silent
 * agents get a little more time; if it is too long, live agents lose their work.
 */
const NO_LEADER_MS = 2 * LEADER_LEASE_MS

/** Since when there has always been a leader: before that, heartbeats may not have been received. */
export async function listeningSince(pool: pg.Pool): Promise<number> {
  const [row] = await scopedQuery<unknown[]>(pool, 'baton.scope', 'cluster', {
    text: `select ms(max(taken_at)) from (
        select taken_at, lag(renewed_at) over (order by term) as before from leader_leases where workspace_id = 0 and role = $1) t
      where before is null or taken_at > before + $2 * interval '1 millisecond'`,
    values: [COORDINATOR, NO_LEADER_MS],
    rowMode: 'array',
  })
  return row![0] as number
}

async function decideUnderLock(
  client: pg.PoolClient,
  command: LeaderLeaseCommand,
): Promise<LeaderTerm | null> {
  const begin: Bound[] = [[beginInCluster(command.leaseMs), []]]
  if (command.kind === 'take') {
    // Most unsuccessful attempts end here, without a lock that would disturb others.
    const { changed, taken } = await decideOn(client, [...begin, [newestTerm, [COORDINATOR]]], command)
    if (!changed && !taken) return end(client, [], null)
  }
  const { changed, taken, holds } =
    command.kind === 'take'
      ? await decideOn(client, [[lockForTakeover, [COORDINATOR]]], command)
      : await decideOn(client, [...begin, [lockForRenewal, [COORDINATOR]]], command)
  const writes: Bound[] = []
  if (changed) {
    const { term, renewedAt, expiresAt, endedAt, endReason } = changed
    writes.push([changeTerm, [COORDINATOR, term, renewedAt, expiresAt, endedAt, endReason]])
  }
  if (taken)
    writes.push([insertTerm, [COORDINATOR, taken.term, taken.nodeId, taken.takenAt, taken.expiresAt]])
  return end(client, writes, holds)
}

/** Decides on the newest term, read by the last of these statements, and on the clock, read after it. */
async function decideOn(client: pg.PoolClient, statements: readonly Bound[], command: LeaderLeaseCommand) {
  const [seen, clock] = (await send(client, [...statements, CLOCK])).slice(-2)
  const newest = seen!.rows[0] ? readTerm(seen!.rows[0]) : null
  return decideLeaderLease(newest, command, clock!.rows[0]![0] as number)
}

async function end<T>(client: pg.PoolClient, writes: readonly Bound[], answer: T): Promise<T> {
  await send(client, [...writes, [sql.commit, []]])
  return answer
}

const TERM_COLUMNS = 'term, node_id, ms(taken_at), ms(renewed_at), ms(expires_at), ms(ended_at), end_reason'

const readTerm = ([term, nodeId, takenAt, renewedAt, expiresAt, endedAt, endReason]: unknown[]) =>
  ({ term, nodeId, takenAt, renewedAt, expiresAt, endedAt, endReason }) as LeaderTerm

const statement = (name: string, text: string): Statement => ({ name, text })
const newest = `select ${TERM_COLUMNS} from leader_leases where workspace_id = 0 and role = $1 order by term desc limit 1`

// The newest term. $1 role.
const newestTerm = statement('newest_term', newest)

// The same, locked for a takeover: waits for all transactions that run under the term and have checked that it is current.
const lockForTakeover = statement('lock_for_takeover', `${newest} for update`)

// The same, locked to be renewed or ended: does not wait for transactions under the term, and does not block them.
const lockForRenewal = statement('lock_for_renewal', `${newest} for no key update`)

// A separate statement, after the lock: a wait for the lock must not make an expired term look current.
const CLOCK: Bound = [statement('clock', 'select ms(clock_timestamp())'), []]

// Updates no column of the key: that would need a lock that conflicts with transactions under the term.
// $1 role, $2 term, $3 renewed, $4 expires, $5 ended or null, $6 why or null.
const changeTerm = statement(
  'change_term',
  `update leader_leases set renewed_at = to_timestamp($3::double precision / 1000),
          expires_at = to_timestamp($4::double precision / 1000), ended_at = to_timestamp($5::double precision / 1000),
          end_reason = $6
    where workspace_id = 0 and role = $1 and term = $2`,
)

// If two nodes take the very first term, the second reads again. $1 role, $2 term, $3 node, $4 taken, $5 expires.
const insertTerm = statement(
  'insert_term',
  `insert into leader_leases (role, term, node_id, taken_at, renewed_at, expires_at)
   values ($1, $2, $3, to_timestamp($4::double precision / 1000), to_timestamp($4::double precision / 1000),
           to_timestamp($5::double precision / 1000))`,
)

// One message without a name, since it is sent twice a second. A node that stops in here must not block the others for
// longer than its lease.
function beginInCluster(leaseMs: number): Statement {
  const ms = Math.max(1, Math.round(leaseMs))
  const settings = `set local lock_timeout = ${ms}; set local idle_in_transaction_session_timeout = ${ms}`
  return statement('', `begin; set local baton.scope = 'cluster'; ${settings}`)
}

/** As long as a new connection may take: a dead connection is dropped, or no other would be tried. */
const ANSWER_WITHIN_MS = 5_000

async function inClusterScope<T>(pool: pg.Pool, act: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await connectionFrom(pool)
  // Ending the client would wait for answers that do not come, so the socket is destroyed.
  const timer = setTimeout(
    () => (client as unknown as pg.Client).connection.stream.destroy(),
    ANSWER_WITHIN_MS,
  )
  let broken = true
  try {
    const answer = await act(client)
    broken = false
    return answer
  } finally {
    clearTimeout(timer)
    // A connection with a transaction in an unknown state is not reused.
    client.release(broken)
  }
}

const FIRST_COME = new Set(['leader_leases_pkey', 'leader_leases_one_open'])

function lostARace(error: unknown): boolean {
  const { code, constraint } = error as { code?: string; constraint?: string }
  return code === '23505' && FIRST_COME.has(constraint ?? '')
}

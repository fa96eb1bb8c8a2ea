import type pg from 'pg'
import {
  type AskedWakeup,
  countsTowardsCap,
  decideWakeup,
  nextTimerAt,
  type TriggerDetail,
  type WakeupDecision,
  type WakeupSource,
  type WakeupState,
} from '../../../core/runs/wakeups.ts'
import type { Connections } from '../kernel/connections.ts'
import { scopedQuery } from '../kernel/scoped-query.ts'
import type { WorkspaceTransaction } from '../kernel/workspace-transaction.ts'
import { bytesOfJson, bytesOfText, fittingKeys, fittingPage, MORE, type PageOf } from '../reads/pages.ts'
import { inScope } from '../upkeep/due.ts'
import { agentsIn } from '../workspaces/agents.ts'

/** Wakeups of agents, queued and finished. */

export interface Wakeup {
  id: string
  agent: string
  source: WakeupSource
  triggerDetail: TriggerDetail | null
  reason: string | null
  payload: unknown
  status: WakeupState
  skipReason: string | null
  coalescedCount: number
  intoId: string | null
  requestedBy: string
  taskId: string | null
  generation: number | null
  depth: number
  runId: string | null
  requestedAt: number
  dueAt: number
  claimedAt: number | null
  finishedAt: number | null
  error: string | null
}

export const WAKEUP_COLUMNS = `w.wakeup_id as id, w.agent, w.source, w.trigger_detail as "triggerDetail", w.reason, w.payload, w.status,
  w.skip_reason as "skipReason", w.coalesced_count as "coalescedCount", w.into_id as "intoId", w.requested_by as "requestedBy",
  w.task_uuid as "taskId", w.generation, w.depth, w.run_id as "runId", ms(w.requested_at) as "requestedAt", ms(w.due_at) as "dueAt",
  ms(w.claimed_at) as "claimedAt", ms(w.finished_at) as "finishedAt", w.error`

/** Requests for one agent are ordered, since each of them first locks the agent's runtime state. */
export async function lockRuntime(
  tx: WorkspaceTransaction,
  workspaceId: number,
  slugs: readonly string[],
): Promise<Map<string, { lastStartedAt: number | null; parkedUntil: number | null }>> {
  // Transactions that change or remove agents lock them first, in this order; we must do the same, or a deadlock is
  // possible.
  const kept = tx.query(
    `select from agents where workspace_id = $1 and slug = any($2::text[]) order by slug collate "C" for key share`,
    [workspaceId, slugs],
  )
  const made = tx.query(
    `insert into agent_runtime_state (workspace_id, agent, adapter_type)
     select a.workspace_id, a.slug, a.adapter_type from agents a where a.workspace_id = $1 and a.slug = any($2::text[])
     order by a.slug collate "C" on conflict do nothing`,
    [workspaceId, slugs],
  )
  const locked = tx.query(
    `select agent, ms(last_started_at) as "lastStartedAt", ms(parked_until) as "parkedUntil" from agent_runtime_state
      where workspace_id = $1 and agent = any($2::text[]) order by agent collate "C" for no key update`,
    [workspaceId, slugs],
  )
  const [, , { rows }] = await Promise.all([kept, made, locked])
  return new Map(rows.map(({ agent, ...rest }) => [agent, rest]))
}

export async function clockOf(tx: WorkspaceTransaction): Promise<number> {
  return (await tx.query('select ms(clock_timestamp()) as now')).rows[0]!.now as number
}

export interface WakeupRequest {
  agent: string
  asked: AskedWakeup
}

/** Each request with its outcome; null for agents that do not exist. */
export function askForWakeups(
  store: Connections,
  workspaceId: number,
  asks: readonly WakeupRequest[],
): Promise<(Wakeup | null)[]> {
  const slugs = [...new Set(asks.map(({ agent }) => agent))].sort()
  return store.change(workspaceId, async (tx) => {
    // Sent together and run in order: the reads and the clock come after the lock.
    const [runtime, seen, agents, now] = await Promise.all([
      lockRuntime(tx, workspaceId, slugs),
      readContext(tx, workspaceId, slugs, asks),
      agentsIn(tx, workspaceId, slugs),
      clockOf(tx),
    ])
    const ids: (string | null)[] = []
    const writes: Promise<unknown>[] = []
    for (const { agent, asked } of asks) {
      const record = runtime.has(agent) ? agents.get(agent) : undefined
      const first = asked.idempotencyKey === null ? undefined : seen.firstOf(agent, asked.idempotencyKey)
      if (!record || first !== undefined) {
        ids.push(first ?? null)
        continue
      }
      const taskId = asked.task?.id ?? 0
      const decision = decideWakeup(asked, {
        now,
        agent: record,
        waiting: seen.waiting(agent, taskId),
        running: seen.running(agent, taskId),
        recently: seen.recently(agent, taskId),
        ...runtime.get(agent)!,
      })
      writes.push(...write(tx, workspaceId, agent, asked, decision, now))
      seen.note(agent, taskId, asked, decision)
      ids.push(asked.id)
    }
    const [wakeups] = await Promise.all([found(tx, workspaceId, ids), ...writes])
    return wakeups
  })
}

/** What is queued, running and recently requested; updated while several requests are decided. */
async function readContext(
  tx: WorkspaceTransaction,
  workspaceId: number,
  slugs: readonly string[],
  asks: readonly WakeupRequest[],
) {
  const keys = asks.map(({ asked }) => asked.idempotencyKey).filter((key) => key !== null)
  const tasks = asks.map(({ asked }) => asked.task?.id ?? 0).filter((id) => id !== 0)
  const byPrograms = asks
    .filter(({ asked: { source, task } }) => task === null && source === 'automation')
    .map(({ agent }) => agent)
  const of = [workspaceId, slugs]
  const queued = tx.query(
    `select wakeup_id as id, agent, task_id as "taskId", ms(due_at) as "dueAt", priority from wakeups
      where workspace_id = $1 and agent = any($2::text[]) and status = 'queued'`,
    of,
  )
  const running = tx.query(
    `select r.agent, r.wakeup_id as id, coalesce(r.task_id, w.task_id) as "taskId" from runs r
       join wakeups w on w.workspace_id = r.workspace_id and w.wakeup_id = r.wakeup_id
      where r.workspace_id = $1 and r.agent = any($2::text[]) and r.status in ('queued', 'running')`,
    of,
  )
  const counted = tx.query(
    `select agent, task_id as "taskId", count(*) as times from wakeups
      where workspace_id = $1 and agent = any($2::text[]) and task_id = any($3::bigint[])
        and task_id <> 0 and requested_at > now() - interval '1 hour' and status not in ('coalesced', 'skipped')
        and not is_continuation
      group by agent, task_id
     union all
     select agent, 0, count(*) from wakeups
      where workspace_id = $1 and agent = any($4::text[]) and task_id = 0 and source = 'automation'
        and requested_at > now() - interval '1 hour' and status not in ('coalesced', 'skipped')
      group by agent`,
    [...of, tasks, byPrograms],
  )
  const keyed = tx.query(
    `select wakeup_id as id, agent, idempotency_key as key from wakeups
      where workspace_id = $1 and agent = any($2::text[]) and idempotency_key = any($3::text[])`,
    [...of, keys],
  )
  const [{ rows: waits }, { rows: runs }, { rows: counts }, { rows: before }] = await Promise.all([
    ...([queued, running, counted, keyed] as const),
  ])
  const name = (agent: string, what: number | string) => `${agent}/${what}`
  const waiting = new Map(waits.map((one) => [name(one.agent, one.taskId), one]))
  const times = new Map(counts.map((one) => [name(one.agent, one.taskId), Number(one.times)]))
  const firsts = new Map<string, string>(before.map((one) => [name(one.agent, one.key), one.id]))
  return {
    waiting: (agent: string, taskId: number) => waiting.get(name(agent, taskId)) ?? null,
    running: (agent: string, taskId: number) =>
      runs.find((run) => run.agent === agent && (taskId === 0 || run.taskId === taskId)) ?? null,
    recently: (agent: string, taskId: number) => times.get(name(agent, taskId)) ?? 0,
    firstOf: (agent: string, key: string) => firsts.get(name(agent, key)),
    note(agent: string, taskId: number, asked: AskedWakeup, decision: WakeupDecision) {
      const { id, idempotencyKey } = asked
      if (idempotencyKey !== null) firsts.set(name(agent, idempotencyKey), id)
      if (decision.status !== 'queued') return
      waiting.set(name(agent, taskId), { id, dueAt: decision.dueAt, priority: decision.priority })
      if (countsTowardsCap(asked)) times.set(name(agent, taskId), (times.get(name(agent, taskId)) ?? 0) + 1)
    },
  }
}

/** Sent in order and awaited together: otherwise each of a thousand requests would wait for the answer to the one before. */
function write(
  tx: WorkspaceTransaction,
  workspaceId: number,
  agent: string,
  asked: AskedWakeup,
  decision: WakeupDecision,
  now: number,
): Promise<unknown>[] {
  const payload = asked.payload === undefined ? null : JSON.stringify(asked.payload)
  const latest = [asked.source, asked.triggerDetail, asked.reason, payload]
  for (const { type, actor, payload: told } of decision.events) tx.emit(type, actor, told)
  const insert = tx.query(
    `insert into wakeups (workspace_id, wakeup_id, agent, source, trigger_detail, reason, payload, status, skip_reason, into_id,
       requested_by, idempotency_key, task_id, task_uuid, generation, priority, requested_at, due_at, finished_at, depth,
       is_continuation)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, to_timestamp($17::float8 / 1000),
       to_timestamp($18::float8 / 1000), case when $8 = 'queued' then null else to_timestamp($17::float8 / 1000) end, $19, $20)`,
    [
      ...[workspaceId, asked.id, agent, ...latest, decision.status],
      decision.status === 'skipped' ? decision.because : null,
      decision.status === 'coalesced' ? decision.into : null,
      ...[asked.actor, asked.idempotencyKey, asked.task?.id ?? 0, asked.task?.uuid ?? null],
      asked.task?.generation ?? null,
      decision.status === 'skipped' ? 0 : decision.priority,
      now,
      decision.status === 'skipped' ? now : decision.dueAt,
      ...[asked.depth, asked.isContinuation],
    ],
  )
  if (decision.status !== 'coalesced') return [insert]
  const count = tx.query(
    `update wakeups set coalesced_count = coalesced_count + 1, source = $3, trigger_detail = $4, reason = $5,
              payload = coalesce($6, payload), priority = greatest(priority, $7), generation = coalesce($9, generation),
              depth = least(depth, $10),
              due_at = case when status = 'queued' then least(due_at, to_timestamp($8::float8 / 1000)) else due_at end
        where workspace_id = $1 and wakeup_id = $2`,
    [
      workspaceId,
      decision.into,
      ...latest,
      decision.priority,
      decision.dueAt,
      asked.task?.generation ?? null,
      asked.depth,
    ],
  )
  return [insert, count]
}

async function found(
  tx: WorkspaceTransaction,
  workspaceId: number,
  ids: readonly (string | null)[],
): Promise<(Wakeup | null)[]> {
  const { rows } = await tx.query(
    `select ${WAKEUP_COLUMNS} from wakeups w where w.workspace_id = $1 and w.wakeup_id = any($2::uuid[])`,
    [workspaceId, ids.filter((id) => id !== null)],
  )
  const byId = new Map((rows as Wakeup[]).map((row) => [row.id, row]))
  return ids.map((id) => (id === null ? null : (byId.get(id) ?? null)))
}

/** Newest first, as many as fit a response. */
export async function listWakeups(
  pool: pg.Pool,
  workspaceId: number,
  part: { agent: string; before: string | null; limit: number; withPayload: boolean },
): Promise<PageOf<Wakeup>> {
  const { agent, before, limit, withPayload } = part
  const page = fittingPage({
    keys: `select row_number() over (order by w.wakeup_id desc) as n, w.wakeup_id from wakeups w
            where w.workspace_id = $1 and w.agent = $2 and ($3::uuid is null or w.wakeup_id < $3)
            order by w.wakeup_id desc limit ${limit + 1}`,
    columns: ['wakeup_id'],
    bytes: `select 1200 + ${bytesOfText('w.reason', 'w.error')} ${withPayload ? `+ ${bytesOfJson('w.payload')}` : ''}
              from wakeups w where w.workspace_id = $1 and w.wakeup_id = l.wakeup_id`,
    limit,
  })
  const columns = withPayload ? WAKEUP_COLUMNS : WAKEUP_COLUMNS.replace('w.payload', 'null::json as payload')
  const found = await scopedQuery<Wakeup & { more: boolean } & pg.QueryResultRow>(
    pool,
    'baton.workspace_id',
    String(workspaceId),
    {
      text: `${page} select ${columns}, ${MORE} as more from wakeups w
              where w.workspace_id = $1 and w.wakeup_id = ${fittingKeys('wakeup_id')} order by w.wakeup_id desc`,
      values: [workspaceId, agent, before],
    },
  )
  return { rows: found.map(({ more: _more, ...wakeup }) => wakeup as Wakeup), more: found[0]?.more ?? false }
}

export interface DueTimer {
  workspaceId: number
  agent: string
  /** The due time that has passed; null: it only has to be set. */
  at: number | null
}

// Agents whose timer is due, and those whose timer is not set yet or is further away than their current interval. Settings
// from before validation existed may have any value in place of the interval.
const DUE_TIMERS = `select a.workspace_id as "workspaceId", a.slug as agent,
      case when s.next_timer_at <= clock_timestamp() then ms(s.next_timer_at) end as at
    from agents a left join agent_runtime_state s on s.workspace_id = a.workspace_id and s.agent = a.slug
   where json_typeof(a.runtime_config -> 'heartbeat' -> 'intervalSec') = 'number'
     and coalesce(a.runtime_config -> 'heartbeat' ->> 'enabled', 'true') = 'true'
     and a.state not in ('paused', 'terminated') and not a.leaving and a.adapter_type <> 'external'
     and (s.next_timer_at is null or s.next_timer_at <= clock_timestamp()
       or s.next_timer_at > clock_timestamp() + interval '1.001 seconds' * case
         when json_typeof(a.runtime_config -> 'heartbeat' -> 'intervalSec') = 'number'
         then (a.runtime_config -> 'heartbeat' ->> 'intervalSec')::float8 end)
   order by row_number() over (partition by a.workspace_id order by s.next_timer_at), s.next_timer_at limit $1`

export const dueTimers = (pool: pg.Pool, limit: number, only?: number) =>
  inScope<DueTimer & pg.QueryResultRow>(pool, only, DUE_TIMERS, [limit])

/** Sets the next timer of these agents: from now, so that missed ones are not made up for. */
export function scheduleTimers(
  store: Connections,
  workspaceId: number,
  slugs: readonly string[],
): Promise<void> {
  return store.change(workspaceId, async (tx) => {
    await lockRuntime(tx, workspaceId, [...slugs].sort())
    const agents = await agentsIn(tx, workspaceId, slugs)
    const now = await clockOf(tx)
    for (const [slug, agent] of agents)
      await tx.query(
        `update agent_runtime_state set next_timer_at = to_timestamp($3::float8 / 1000) where workspace_id = $1 and agent = $2`,
        [workspaceId, slug, nextTimerAt(agent, now)],
      )
  })
}

/** Work that is assigned to agents that Baton runs, or is to be continued by them, without a wakeup or a run for it. */
export const workWithoutWakeup = (pool: pg.Pool, workspaceId: number | null, limit = 1_000) =>
  scopedQuery<
    {
      workspaceId: number
      agent: string
      taskId: number
      uuid: string
      generation: number
      state: string
      depth: number
    } & pg.QueryResultRow
  >(pool, 'baton.scope', 'upkeep', {
    text: `select c.workspace_id as "workspaceId", c.agent, t.id as "taskId", t.uuid, c.generation, t.state,
          (select coalesce(max(r.depth), 0) from runs r
            where r.workspace_id = t.workspace_id and r.task_id = t.id and r.generation = c.generation) as depth
        from agents a
        cross join lateral (select * from claims c where c.workspace_id = a.workspace_id and c.agent = a.slug and c.state = 'active' offset 0) c
        cross join lateral (select * from tasks t where t.workspace_id = c.workspace_id and t.id = c.task_id offset 0) t
       where a.adapter_type <> 'external' and ($1::int is null or a.workspace_id = $1)
         and (t.state = 'assigned' and t.watch ->> 'isOffered' = 'true' or t.state = 'continuing') and c.session = 'agent:' || a.slug
         and not exists (select from wakeups w where w.workspace_id = a.workspace_id and w.agent = a.slug and w.task_id = t.id
               and w.status = 'queued' and w.generation = c.generation)
         and not exists (select from runs r where r.workspace_id = a.workspace_id and r.agent = a.slug
               and r.status in ('queued', 'running') and (r.task_id = t.id or r.task_id is null))
       order by row_number() over (partition by a.workspace_id) limit $2`,
    values: [workspaceId, limit],
  })

/** Finished wakeups are kept for a week. */
export async function deleteOldWakeups(store: Connections): Promise<void> {
  // Not by clock_timestamp(), which changes from row to row and cannot use an index.
  const isOld = `finished_at < now() - interval '7 days'`
  const where = await scopedQuery<{ workspaceId: number }>(store.readers, 'baton.scope', 'upkeep', {
    text: `select distinct workspace_id as "workspaceId" from wakeups where ${isOld}`,
  })
  for (const { workspaceId } of where)
    await store.change(workspaceId, (tx) =>
      tx.query(`delete from wakeups where workspace_id = $1 and ${isOld}`, [workspaceId]),
    )
}

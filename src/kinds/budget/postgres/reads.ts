import type pg from 'pg'
import { bind, type Connections } from '../../../postgres/statements/connections.ts'
import { isLive } from '../../../postgres/statements/run-states.ts'
import { inside } from '../../../postgres/statements/scoped-query.ts'
import { isMissionSimulated, isTaskSimulated } from '../../../postgres/statements/spent.ts'
import { inScope } from '../../task/postgres/due.ts'
import { type BudgetPlace, LISTED_SCOPES } from '../paging.ts'
import type { BudgetRecord, Scope } from '../record.ts'
import type { Blocked } from '../rules/room.ts'
import type { BlockingBudget } from '../rules/words.ts'
import { budgetRows } from './rows.ts'

/** Budgets as people read them, and those that upkeep has to look at. */

export interface NamedBudget extends BudgetRecord {
  /** What it is about, as people call it. */
  scopeName: string | null
  /** A part of what is consumed is simulated money: only that of missions and tasks can be. */
  isSimulated: boolean
}

// Of budgets b.
const NAME = `case b.scope
    when 'mission' then (select m.title from missions m where m.workspace_id = b.workspace_id and m.uuid = b.scope_id::uuid)
    when 'task' then (select d.title from task_details d where d.workspace_id = b.workspace_id and d.task_id = split_part(b.scope_key, ':', 2)::bigint)
    when 'agent' then (select a.name from agents a where a.workspace_id = b.workspace_id and a.slug = b.scope_id)
    when 'project' then (select p.name from projects p where p.workspace_id = b.workspace_id and p.slug = b.scope_id) end`

const NUMBER = `split_part(b.scope_key, ':', 2)::bigint`
const IS_SIMULATED = `case b.scope when 'mission' then ${isMissionSimulated(NUMBER)} when 'task' then ${isTaskSimulated(NUMBER)} else false end`

export const IS_SPENT = `(b.max_tokens is not null and b.consumed_tokens >= b.max_tokens or b.max_usd is not null and b.consumed_usd >= b.max_usd)
    and (b.period_end is null or b.period_end > clock_timestamp())`
/** Whether nothing begins or goes on under a budget b. */
export const IS_BLOCKED = `(b.stopped_at is not null or b.unknown_model is not null and b.max_usd is not null or ${IS_SPENT})`

/** Why, as `whyBlocked` says it. */
const WHY_BLOCKED = `case when b.stopped_at is not null then 'stopped' when ${IS_SPENT} then 'spent' else 'unknown_price' end`

/** Whether people are asked about a budget b, as `isItem` says it. */
export const IS_ASKING = `(b.scope not in ('mission', 'task') and b.stopped_at is null
    and (b.unknown_model is not null and b.max_usd is not null and b.on_unknown_price = 'ask' or ${IS_SPENT}))`

/** Whether a task t was stopped by a budget b, and continues with it. */
export const STOPPED_BY = `t.state = 'budget_exceeded' and t.watch -> 'overBudget' ->> 'budgetId' = b.budget_id::text`

/** What a budget b says to those whom it stops. */
export const TOLD_OF_BUDGET = `json_build_object('budgetId', b.budget_id, 'scope', b.scope, 'scopeId', b.scope_id,
     'maxUsd', trim_scale(b.max_usd)::text, 'maxTokens', b.max_tokens, 'consumedUsd', trim_scale(b.consumed_usd)::text,
     'consumedTokens', b.consumed_tokens, 'unknownModel', b.unknown_model, 'why', ${WHY_BLOCKED})`

/** A budget b as a title. */
export const BUDGET_IN_WORDS = `'Budget of ' || case b.scope when 'workspace' then 'the workspace'
     else b.scope || ' ' || coalesce(${NAME}, b.scope_id) end || case b.period when 'none' then '' else ' for the ' || b.period end`

// A budget of the run r at the task t under which nothing goes on. A mission that is spent closes its gate instead, and simulated
// money counts only in the budget of its task.
export const BLOCKED_BY = `(select ${TOLD_OF_BUDGET} from budgets b
   where b.workspace_id = r.workspace_id and ${IS_BLOCKED} and (b.scope_key = 'task:' || t.id
     or b.scope_key = 'mission:' || t.mission_id and not (${IS_SPENT}) or r.adapter_type <> 'simulated'
     and b.scope_key in ('workspace', 'agent:' || r.agent, 'project:' || nullif(t.project_id, 0))) limit 1)`

type Blocking = BlockingBudget & { why: Blocked }

async function blocking(
  pool: pg.Pool,
  workspaceId: number,
  { agent, adapterType, taskId }: { agent: string; adapterType: string; taskId: number | null },
): Promise<Blocking | null> {
  const [row] = await inside<{ blocking: Blocking | null }>(
    pool,
    workspaceId,
    `select ${BLOCKED_BY} as blocking from (select $1::int as workspace_id, $2::text as agent, $3::text as adapter_type) r
       left join tasks t on t.workspace_id = $1 and t.id = $4::bigint`,
    [agent, adapterType, taskId],
  )
  return row?.blocking ?? null
}

async function lastReport(pool: pg.Pool, workspaceId: number, runId: string): Promise<number> {
  const [row] = await inside<{ number: number }>(
    pool,
    workspaceId,
    'select s.number from usage_sources s where s.workspace_id = $1 and s.source_id = $2 and s.generation = 0',
    [runId],
  )
  return row?.number ?? 0
}

export interface BudgetFilter {
  id?: string | undefined
  scope?: Scope | undefined
  scopeId?: string | undefined
  state?: 'open' | 'warned' | 'blocked' | undefined
  after?: BudgetPlace | undefined
}

const STATES = {
  blocked: IS_BLOCKED,
  warned: `b.warned_at is not null and not ${IS_BLOCKED}`,
  open: `b.warned_at is null and not ${IS_BLOCKED}`,
}

// The place of a budget b by its scope.
const RANK = `array_position(array[${LISTED_SCOPES.map((scope) => `'${scope}'`).join(', ')}], b.scope)`

export async function listBudgets(
  pool: pg.Pool,
  workspaceId: number,
  { id, scope, scopeId, state, after }: BudgetFilter,
  limit: number,
): Promise<NamedBudget[]> {
  return inside<NamedBudget & pg.QueryResultRow>(
    pool,
    workspaceId,
    `select ${budgetRows.named('b')}, ${NAME} as "scopeName", ${IS_SIMULATED} as "isSimulated" from budgets b
      where b.workspace_id = $1 and ($2::uuid is null or b.budget_id = $2) and ($3::text is null or b.scope = $3)
        and ($4::text is null or b.scope_id = $4) and ($5::int is null or (${RANK}, b.budget_id) > ($5, $6::uuid))
        ${state ? `and ${STATES[state]}` : ''}
      order by ${RANK}, b.budget_id limit $7`,
    [id ?? null, scope ?? null, scopeId ?? null, after?.rank ?? null, after?.id ?? null, limit],
  )
}

// $2 budget, $3 limit.
const STOPPED = `select t.uuid, t.generation from tasks t join budgets b on b.workspace_id = t.workspace_id
   where t.workspace_id = $1 and b.budget_id = $2 and ${STOPPED_BY} order by t.id limit $3`

export const tasksStoppedBy = (pool: pg.Pool, workspaceId: number, budgetId: string, limit: number) =>
  inside<{ uuid: string; generation: number } & pg.QueryResultRow>(pool, workspaceId, STOPPED, [
    budgetId,
    limit,
  ])

// Budgets whose period is over, and those to be compared with the ledger. $1 limit.
const DUE = `select d.* from (
    select b.workspace_id as "workspaceId", b.budget_id as "budgetId" from budgets b
     where b.period_end is not null and b.period_end <= (select clock_timestamp())
    union
    select b.workspace_id, b.budget_id from budgets b
     where b.count_due_at is not null and b.count_due_at <= (select clock_timestamp())) d
  order by random() limit $1`

/** For `nextDue`. */
export const EARLIEST_BUDGET = 'select least(min(b.period_end), min(b.count_due_at)) from budgets b'

const budgetsDue = (pool: pg.Pool, limit: number, only?: number) =>
  inScope<{ workspaceId: number; budgetId: string } & pg.QueryResultRow>(pool, only, DUE, [limit])

// Tasks that a budget stopped, or kept from beginning, which has room again or is gone. $1 limit.
const RESUMABLE = `select t.workspace_id as "workspaceId", t.id, t.uuid from tasks t
    where t.state = 'budget_exceeded' and t.watch ->> 'overBudget' is not null
      and not exists (select from budgets b where b.workspace_id = t.workspace_id
        and b.budget_id = (t.watch -> 'overBudget' ->> 'budgetId')::uuid and ${IS_BLOCKED})
      and not exists (select from budgets b where b.workspace_id = t.workspace_id
        and b.budget_id = (t.watch -> 'overBudget' ->> 'budgetId')::uuid
        and t.watch -> 'overBudget' ->> 'seen' = b.version || '/' || ms(b.period_start)::bigint)
  order by random() limit $1`

const tasksToResume = (pool: pg.Pool, limit: number, only?: number) =>
  inScope<{ workspaceId: number; id: number; uuid: string } & pg.QueryResultRow>(pool, only, RESUMABLE, [
    limit,
  ])

// Reservations of claims and runs that are over. $1 limit.
const ORPHANS = `select r.workspace_id as "workspaceId", r.holder_id as "holderId", r.generation from budget_reservations r
    where r.reserved_at < clock_timestamp() - interval '1 minute'
      and not exists (select from tasks t where t.workspace_id = r.workspace_id and t.uuid = r.holder_id
        and t.generation = r.generation and t.claim_state = 'active' and r.generation > 0)
      and not exists (select from runs u where u.workspace_id = r.workspace_id and u.run_id = r.holder_id
        and r.generation = 0 and ${isLive('u.status')})
  limit $1`

const orphanReservations = (pool: pg.Pool, limit: number, only?: number) =>
  inScope<{ workspaceId: number; holderId: string; generation: number } & pg.QueryResultRow>(
    pool,
    only,
    ORPHANS,
    [limit],
  )

/** Reads of budgets that are methods of the store: upkeep needs them. */
export const budgetReads = ({ readers }: Connections) =>
  bind(readers, {
    due: budgetsDue,
    toResume: tasksToResume,
    orphans: orphanReservations,
    blocking,
    lastReport,
  })

import type pg from 'pg'
import type { StoredReply } from '../../kernel/batch/requests.ts'
import { ALERT_CAUSES, type AlertCause, causeOf, type Severity } from '../../kinds/alert/causes.ts'
import { IN_MISSIONS, ITS_AGENT, PLAIN } from '../../kinds/alert/postgres/untaken.ts'
import { BUDGET_IN_WORDS, IS_ASKING, STOPPED_BY, TOLD_OF_BUDGET } from '../../kinds/budget/postgres/reads.ts'
import type { Blocked } from '../../kinds/budget/rules/room.ts'
import type { BlockingBudget } from '../../kinds/budget/rules/words.ts'
import type { MissionPhase } from '../../kinds/mission/states.ts'
import { RESULT_DIGEST } from '../../kinds/task/postgres/result-pages.ts'
import type { Purpose } from '../../kinds/task/record.ts'
import { INBOX_KINDS, type InboxKind } from '../../kinds/task/rules/waiting.ts'
import { LAST_SEQ } from '../../postgres/statements/log-head.ts'
import { BY_KEYS, inside, scopedQueries } from '../../postgres/statements/scoped-query.ts'
import { statement } from '../../postgres/statements/statements.ts'
import type { AgentState, TaskState } from '../../pure/states.ts'

/**
 * What waits for people, in one statement: one snapshot, so the counts, the items and the number of the last event belong
 * together. Items are rows (kind, num, since, ref): num is a task or a mission; ref is the slug of an agent, the id of a budget,
 * or 'mission'.
 */

/** No more than this many tasks are counted for an item. */
const MOST_COUNTED = 1_000

/** Missions that have ended and that nobody has seen: of ten thousand runs of a routine, the newest. */
const MOST_FINISHED = 1_000

/** The causes of alerts that the inbox has no other item about. */
const OWN_ITEMS = ALERT_CAUSES.filter((cause) => !causeOf(cause).isItemAlready).join(',')

/** Beside tasks. One item is looked for without a limit. */
const othersOf = (most: number | null) => `waiting_missions as (
     select m.mission_id, m.phase = 'awaiting_approval' or coalesce(m.approved_version < m.plan_version, false) as has_plan,
            'budget' = any (m.closed_by) as is_spent, date_trunc('milliseconds', m.updated_at) as since
       from missions m where m.workspace_id = $1 and m.completed_at is null
        and (m.phase = 'awaiting_approval' or m.approved_version < m.plan_version or 'budget' = any (m.closed_by))),
   outcomes as (
     select m.mission_id, date_trunc('milliseconds', m.updated_at) as since from missions m
      where m.workspace_id = $1 and m.completed_at is null and m.phase = 'running' and m.config -> 'outcome' ->> 'isPlanning' = 'false'
        and m.approved_version is not distinct from m.plan_version),
   finished as (
     select m.mission_id, date_trunc('milliseconds', m.completed_at) as since from missions m
      where m.workspace_id = $1 and m.unseen and m.completed_at is not null${most === null ? '' : ` order by m.completed_at desc limit ${most}`}),
   others(kind, num, since, ref) as (
     select 'plan' collate "C", w.mission_id, w.since, 'mission' collate "C" from waiting_missions w where w.has_plan
     union all
     select 'budget', w.mission_id, w.since, 'mission' from waiting_missions w where w.is_spent
     union all
     select 'outcome', w.mission_id, w.since, 'mission' from outcomes w
     union all
     select 'finished', w.mission_id, w.since, 'mission' from finished w
     union all
     select 'agent', 0, date_trunc('milliseconds', a.updated_at), a.slug from agents a where a.workspace_id = $1 and a.state = 'error'
     union all
     select 'budget', 0, date_trunc('milliseconds', coalesce(b.exceeded_at, b.updated_at)), b.budget_id::text from budgets b
      where b.workspace_id = $1 and ${IS_ASKING}
     union all
     select 'alert', 0, date_trunc('milliseconds', n.first_at), n.alert_id::text from alerts n
      where n.workspace_id = $1 and n.resolved_at is null and n.acknowledged_at is null and n.cause = any ('{${OWN_ITEMS}}'))`

const isOfMission = (task: string) =>
  `($2::bigint is null or exists (select from tasks t where t.workspace_id = $1 and t.id = ${task} and t.mission_id = $2))`
const OTHERS_OF_MISSION = `othersof as (select o.* from others o where $2::bigint is null or (o.ref = 'mission' and o.num = $2))`

/** The conditions of the indexes of the queue must be in the query: they are partial. */
const queued = (condition: string) => `(select count(*) from (select from tasks t
     where t.workspace_id = $1 and t.rank is not null and ${condition} limit ${MOST_COUNTED}) w)`
const forAgent = (agent: string) =>
  `least(${[PLAIN, IN_MISSIONS].map((lanes) => queued(`t.only_agent = ${agent} and ${lanes}`)).join(' + ')}, ${MOST_COUNTED})`

// The tasks that a budget b stopped.
const stopped = `(select count(*) from (select from tasks t where t.workspace_id = $1 and ${STOPPED_BY} limit ${MOST_COUNTED}) w)`

const WAITS = 'b.blocked and b.completed_at is null'
const DIRECT = `(select count(*) from (select from task_dependencies x cross join lateral (
     select from tasks b where b.workspace_id = $1 and b.id = x.task_id and ${WAITS} offset 0) b
   where x.workspace_id = $1 and x.depends_on = i.num limit ${MOST_COUNTED}) w)`

/** How many tasks wait for an item i: those that directly depend on it, those of the mission, those for that agent. */
const blocks = (direct: string) => `case
   when i.kind = 'finished' then 0
   when i.kind = 'plan' then (select p.task_count from missions m join mission_plans p on p.workspace_id = m.workspace_id
     and p.mission_id = m.mission_id and p.version = m.plan_version where m.workspace_id = $1 and m.mission_id = i.num)
   when i.ref = 'mission' then (select open_tasks(c) from mission_counters c where c.workspace_id = $1 and c.mission_id = i.num)
   when i.kind = 'budget' and i.ref <> '' then (select case b.scope
       when 'workspace' then least(${MOST_COUNTED}, ${stopped} + ${queued('true')})
       when 'project' then least(${MOST_COUNTED}, ${stopped} + ${queued("t.project_id = split_part(b.scope_key, ':', 2)::int")})
       else least(${MOST_COUNTED}, ${stopped} + ${forAgent('b.scope_id')}) end
     from budgets b where b.workspace_id = $1 and b.budget_id = i.ref::uuid)
   when i.kind = 'agent' then ${forAgent('i.ref')}
   when i.kind = 'alert' and i.ref <> '' then 0
   when i.kind = 'alert' then (select case when h.only_agent is null
       then ${queued('t.only_agent is null and t.lane = h.lane')} else ${forAgent('h.only_agent')} end
     from tasks h where h.workspace_id = $1 and h.id = i.num)
   else ${direct} end`

/** What has ended comes after what waits, however old it is. */
const PLACE = `p.kind = 'finished', p.since, p.kind, p.num, p.ref`
/** $5 time, $6 kind, $7 num, $8 ref. */
const GIVEN_PLACE = `($6::text = 'finished', to_timestamp($5::double precision / 1000), $6::text collate "C", $7::bigint, $8::text collate "C")`

// Oldest first: of each kind the first ones, by the index. $3 kinds, $4 how many.
const OLDEST = `page as materialized (
   select p.*, null::int as blocks from (
     select k.kind collate "C" as kind, d.task_id as num, d.waits_since as since, '' collate "C" as ref
       from unnest($3::text[]) k(kind) cross join lateral (
         select d.task_id, d.waits_since from task_details d where d.workspace_id = $1 and d.waits_kind = k.kind collate "C"
            and d.waits_since >= coalesce(to_timestamp($5::double precision / 1000), '-infinity')
            and ($5::double precision is null or (false, d.waits_since, k.kind collate "C", d.task_id, '' collate "C") > ${GIVEN_PLACE})
            and ${isOfMission('d.task_id')}
          order by d.waits_since, d.task_id limit $4) d
     union all
     select o.kind, o.num, o.since, o.ref from othersof o where o.kind = any ($3::text[])) p
    where $9::int is null and ($5::double precision is null or (${PLACE}) > ${GIVEN_PLACE}) order by ${PLACE} limit $4)`

// By how much they block: all are counted, those of tasks in one go. $9 how many tasks waited for the last one.
const BY_BLOCKS = `all_items as materialized (
   select d.waits_kind as kind, d.task_id as num, d.waits_since as since, '' collate "C" as ref from task_details d
    where d.workspace_id = $1 and d.waits_kind = any ($3::text[]) and ${isOfMission('d.task_id')}
   union all
   select o.kind, o.num, o.since, o.ref from othersof o where o.kind = any ($3::text[])),
 direct as materialized (
   select x.depends_on, least(count(*), ${MOST_COUNTED}) as waiting from task_dependencies x
     join tasks b on b.workspace_id = $1 and b.id = x.task_id and ${WAITS}
    where x.workspace_id = $1 and x.depends_on = any (array(select i.num from all_items i where i.ref = '' and i.kind <> 'alert'))
    group by x.depends_on),
 counted as (
   select i.*, (${blocks('coalesce(n.waiting, 0)')})::int as blocks
     from all_items i left join direct n on n.depends_on = i.num and i.ref = '' and i.kind <> 'alert'),
 page as materialized (
   select p.since, p.kind, p.num, p.ref, p.blocks from counted p
    where $9::int is null or p.blocks < $9 or (p.blocks = $9 and (${PLACE}) > ${GIVEN_PLACE})
    order by p.blocks desc, ${PLACE} limit $4)`

// One item. $2 kind, $3 num, $4 ref; of a task, the kind is whatever it waits with, or an alert.
const ONE = `page as materialized (
   select d.waits_kind as kind, d.task_id as num, d.waits_since as since, '' as ref, null::int as blocks
     from task_details d where $2::text in ('task', d.waits_kind) and d.workspace_id = $1 and d.task_id = $3::bigint and d.waits_kind is not null
   union all
   select o.kind, o.num, o.since, o.ref, null from others o where o.kind = $2 and o.num = $3 and o.ref = $4::text)`

// Of tasks t with details d: what is to be decided, in short.
const PREVIEW = `left(case i.kind when 'question' then d.question ->> 'question' when 'review' then (
       select a.summary from attempts a where a.workspace_id = $1 and a.task_id = t.id and a.generation = t.generation and a.promoted_in = 0) end, 300)`

const ITEMS = `select i.kind, ms(i.since) as since, i.num, i.ref, coalesce(i.blocks, (${blocks(DIRECT)})::int) as blocks,
     coalesce(t.title, m.title, a.name, b.title, n.title) as title, coalesce(t.uuid, n.task) as "taskId", coalesce(m.uuid, t.mission, n.mission) as "missionId",
     t."runId", coalesce(t.agent, a.slug, b.agent) as agent, t.state as "taskState", m.phase as "missionPhase",
     coalesce(t.generation, case i.kind when 'plan' then m.plan_version else coalesce(m.version, a.version, b.version) end) as generation,
     coalesce(t.digest, case i.kind when 'plan' then m.digest end) as digest,
     coalesce(t.waits_because, case when i.kind = 'outcome' then m.config -> 'outcome' ->> 'missing' else m.error end, a.state_reason, n.detail) as reason,
     t.preview, case when i.kind <> 'alert' then ms(t.due_at) end as "dueAt", a.adapter_type as "adapterType", t.only_agent as "onlyAgent", t.capabilities,
     t.only_agent_state as "onlyAgentState", t.purpose, t.verification, t.judge, t.judge_state as "judgeState", b.budget, n.alert
   from page i
   left join lateral (
     select t.*, ${RESULT_DIGEST} as digest, d.title, d.waits_because, ${PREVIEW} as preview, (select x.uuid from missions x where x.workspace_id = $1 and x.mission_id = t.mission_id) as mission,
            (select r.run_id from runs r where r.workspace_id = $1 and r.task_id = t.id order by r.run_id desc limit 1) as "runId",
            d.plan -> 'verification' ->> 'kind' as verification, j.slug as judge, j.state as judge_state, o.state as only_agent_state
       from tasks t join task_details d on d.workspace_id = $1 and d.task_id = t.id
       left join agents j on j.workspace_id = $1 and j.slug = d.plan -> 'verification' ->> 'agent' and j.state <> 'terminated'
       ${ITS_AGENT}
      where t.workspace_id = $1 and t.id = i.num and i.ref = '' offset 0) t on true
   left join lateral (
     select m.*, p.digest from missions m left join mission_plans p on p.workspace_id = $1 and p.mission_id = m.mission_id
        and p.version = m.plan_version and m.approved_version is distinct from m.plan_version
      where m.workspace_id = $1 and m.mission_id = i.num and i.ref = 'mission' offset 0) m on true
   left join lateral (
     select ${BUDGET_IN_WORDS} as title, b.version, ${TOLD_OF_BUDGET} as budget, case b.scope when 'agent' then b.scope_id end as agent
       from budgets b where b.workspace_id = $1 and i.kind = 'budget' and i.num = 0 and b.budget_id = i.ref::uuid offset 0) b on true
   left join lateral (
     select coalesce(x.name, '') as title, x.detail, json_build_object('id', x.alert_id, 'cause', x.cause, 'severity', x.severity, 'count', x.count) as alert,
            (select t.uuid from tasks t where t.workspace_id = $1 and t.id = x.task_id) as task,
            (select o.uuid from missions o where o.workspace_id = $1 and o.mission_id = x.mission_id) as mission
       from alerts x where x.workspace_id = $1 and i.kind = 'alert' and i.num = 0 and x.alert_id = i.ref::uuid offset 0) n on true
   left join lateral (
     select a.* from agents a where a.workspace_id = $1 and a.slug = i.ref and i.kind = 'agent' offset 0) a on true`

const COUNTS = `select c.kind, sum(c.count)::int as count from (
     select d.waits_kind as kind, count(*) as count from task_details d
      where d.workspace_id = $1 and d.waits_kind is not null and ${isOfMission('d.task_id')} group by d.waits_kind
     union all
     select o.kind, count(*) from othersof o group by o.kind) c group by c.kind`

const asJson = (rows: string, order = '') =>
  `(select coalesce(json_agg(to_json(x)${order}), '[]') from (${rows}) x)`

const listOf = (
  page: string,
  order: string,
) => `with ${othersOf(MOST_FINISHED)}, ${OTHERS_OF_MISSION}, ${page}
   select ${asJson(ITEMS, ` order by ${order}`)} as items, ${asJson(COUNTS)} as counts, ${LAST_SEQ} as seq`

const IN_ORDER = `x.kind = 'finished', x.since, x.kind collate "C", x.num, x.ref collate "C"`
const OLDEST_ITEMS = statement('inbox_oldest', listOf(OLDEST, IN_ORDER))
export const MOST_BLOCKING_ITEMS = statement(
  'inbox_by_blocks',
  listOf(BY_BLOCKS, `x.blocks desc, ${IN_ORDER}`),
)
const ONE_ITEM = statement('inbox_item', `with ${othersOf(null)}, ${ONE} select ${asJson(ITEMS)} as items`)

/** What waits for people. */

/** The position of an item in the list. */
export interface InboxPlace {
  since: number
  kind: InboxKind
  num: number
  ref: string
  /** Only in a list by how much they block. */
  blocks?: number | undefined
}

export interface InboxRow extends Required<InboxPlace> {
  title: string
  taskId: string | null
  missionId: string | null
  runId: string | null
  agent: string | null
  taskState: TaskState | null
  missionPhase: MissionPhase | null
  generation: number | null
  digest: string | null
  reason: string | null
  preview: string | null
  dueAt: number | null
  adapterType: string | null
  onlyAgent: string | null
  /** Of the agent it is reserved for; null: there is none, or it is not there. */
  onlyAgentState: AgentState | null
  purpose: Purpose | null
  /** How its result is verified, by which agent if one is named, and the state of that agent. */
  verification: 'command' | 'agent' | 'human' | 'auto' | null
  judge: string | null
  judgeState: AgentState | null
  capabilities: string[] | null
  /** An alert of which there is no item about something else. */
  alert: { id: string; cause: AlertCause; severity: Severity; count: number } | null
  /** Of an item about one. */
  budget: (BlockingBudget & { why: Blocked }) | null
}

export interface InboxFilter {
  kinds: readonly InboxKind[]
  missionId: number | null
  sort: 'oldest' | 'blocks'
  after: InboxPlace | null
}

interface Inbox {
  items: InboxRow[]
  counts: Record<InboxKind, number>
  seq: number
}

// Named: to plan one takes as long as to run it.
const ask = async <T>(
  pool: pg.Pool,
  workspaceId: number,
  statement: { name: string; text: string },
  values: unknown[],
): Promise<T> => {
  const query = { ...statement, values: [workspaceId, ...values] }
  const answers = await scopedQueries(pool, 'baton.workspace_id', String(workspaceId), [BY_KEYS, query])
  return answers[1]![0] as T
}

export async function readInbox(
  pool: pg.Pool,
  workspaceId: number,
  { kinds, missionId, sort, after }: InboxFilter,
  limit: number,
): Promise<Inbox> {
  const statement = sort === 'oldest' ? OLDEST_ITEMS : MOST_BLOCKING_ITEMS
  const place = after ? [after.since, after.kind, after.num, after.ref] : [null, null, null, null]
  const found = await ask<{ items: InboxRow[]; counts: { kind: InboxKind; count: number }[]; seq: number }>(
    pool,
    workspaceId,
    statement,
    [missionId, kinds, limit, ...place, sort === 'blocks' ? (after?.blocks ?? null) : null],
  )
  const counts = Object.fromEntries(INBOX_KINDS.map((kind) => [kind, 0])) as Inbox['counts']
  for (const { kind, count } of found.counts) counts[kind] = count
  return { items: found.items, counts, seq: found.seq }
}

/** One of them by what it is about; null when it no longer waits. */
export async function readInboxItem(
  pool: pg.Pool,
  workspaceId: number,
  { kind, num, ref }: { kind: InboxKind | 'task'; num: number; ref: string },
): Promise<InboxRow | null> {
  const { items } = await ask<{ items: InboxRow[] }>(pool, workspaceId, ONE_ITEM, [kind, num, ref])
  return items[0] ?? null
}

/** The reply that is stored under an idempotency key. */
export async function storedReplyUnder(
  pool: pg.Pool,
  workspaceId: number,
  key: string,
): Promise<StoredReply | undefined> {
  const text =
    'select body_hash as "bodyHash", reply from idempotency_keys where workspace_id = $1 and key = $2'
  return (await inside<StoredReply & pg.QueryResultRow>(pool, workspaceId, text, [key]))[0]
}

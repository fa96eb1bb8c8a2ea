import type pg from 'pg'
import { OPEN_LANES } from '../../../postgres/statements/lanes.ts'
import { BY_KEYS, scopedQueries, scopedQuery } from '../../../postgres/statements/scoped-query.ts'
import { statement } from '../../../postgres/statements/statements.ts'
import { IS_WOKEN } from '../../agent/postgres/rows.ts'
import { MISSION_ENDED } from '../../agent/rules/contractor.ts'
import { inScope } from '../../task/postgres/due.ts'
import type { MarkedTask, Untaken } from '../rules/untaken.ts'

/** Queued tasks that nobody takes, found by walking the lanes of the queue, as assignment does. */

const RESERVED = `t.workspace_id = $1 and t.rank is not null and t.only_agent is not null`

/** Agents for whom queued tasks are reserved, found by walking from one to the next. */
const reservedFor = (name: string, lanes: string) => `${name}(agent) as (
     (select t.only_agent from tasks t where ${RESERVED} and ${lanes} order by t.only_agent limit 1)
     union all
     select n.only_agent from ${name} r cross join lateral (
       select t.only_agent from tasks t where ${RESERVED} and ${lanes} and t.only_agent > r.agent order by t.only_agent limit 1) n)`

export const [PLAIN, IN_MISSIONS] = [`t.lane < '~'`, `t.lane >= '~'`]

/** The first task that waits there: the others wait for the same. */
const firstOf = (condition: string, order: string) => `(
     select t.id as num, t.updated_at as at, true as is_sudden from tasks t
      where t.workspace_id = $1 and t.rank is not null and ${condition} order by ${order} limit 1)`

/** Nobody has these capabilities: no agent, and no worker. */
const NOBODY_CAN = `cardinality(l.capabilities) > 0
   and not exists (select from agents a where a.workspace_id = $1 and a.state <> 'terminated' and not a.leaving
     and a.kind = 'roster' and a.capabilities @> l.capabilities)
   and not exists (select from sessions s where s.workspace_id = $1 and s.capacity is not null and s.ended_at is null
     and s.capabilities @> l.capabilities)`
/** A contractor whose mission is open again works again in a moment. */
const WORKS_AGAIN = `(a.state_reason = '${MISSION_ENDED}' and exists (select from missions m
     where m.workspace_id = $1 and m.mission_id = a.mission_id and m.completed_at is null))`
const IS_GONE = `not exists (select from agents a where a.workspace_id = $1 and a.slug = r.agent
   and (a.state <> 'terminated' or ${WORKS_AGAIN}))`

/** How long something waits for an agent before people are asked. */
const LONG = `(select l.verify_timeout_seconds from limits l where l.workspace_id = $1) * interval '1 second'`
/** How many of the first tasks are looked at. */
const HEAD = 100
const isOpenFor = (task: string) =>
  `(${task}.mission_id is null or exists (select from missions m where m.workspace_id = $1
     and m.mission_id = ${task}.mission_id and m.open_for in ('all', ${task}.purpose)))`

/** As firstOf, but of the first ones the one that has waited longest, in a mission that is open. */
const longestOf = (condition: string, order: string) => `(
     select h.num, h.since, h.purpose from (
       select t.id as num, t.updated_at as since, t.purpose from tasks t
        where t.workspace_id = $1 and t.rank is not null and ${condition} and t.purpose <> 'verification'
          and t.watch ->> 'preferredUntil' is null and ${isOpenFor('t')} order by ${order} limit ${HEAD}) h
      order by h.since, h.num limit 1)`

/** Whether the agent a will take what waits since then: it is given work, or busy with something that it took before. */
const WILL_TAKE = `a.state = 'idle' and not a.leaving and (
     (a.adapter_type <> 'external' and a.coordinator_enabled and ${IS_WOKEN})
     or exists (select from tasks c where c.workspace_id = $1 and c.agent = a.slug and c.claim_state = 'active' and c.acquired_at < h.since))`

/** Tasks for agents that are paused or silent, and plans that their planner does not make. An agent in error is an item itself. */
const stuckFor = (reserved: string, lanes: string, order: string) => `
     select h.num, greatest(h.since, case when h.purpose <> 'planning' then a.updated_at end) + ${LONG}, false from ${reserved} r
       join agents a on a.workspace_id = $1 and a.slug = r.agent
      cross join lateral ${longestOf(`t.only_agent = r.agent and ${lanes}`, order)} h
      where case when h.purpose = 'planning' then a.state not in ('error', 'terminated') and not (${WILL_TAKE})
        else a.state in ('paused', 'offline') end`

/** Plans that any planner may make, and none will. */
const UNPLANNED = `
     select h.num, h.since + ${LONG}, false from lanes l
      cross join lateral ${longestOf('t.lane = l.lane and t.only_agent is null', 't.rank, t.id')} h
      where l.purpose = 'planning' and not (${NOBODY_CAN}) and not exists (select from agents a
        where a.workspace_id = $1 and a.capabilities @> l.capabilities and a.kind = 'roster' and ${WILL_TAKE})`

const UNTAKEN = `${OPEN_LANES},
   ${reservedFor('reserved', PLAIN)},
   ${reservedFor('reserved_in_missions', IN_MISSIONS)},
   untaken(num, at, is_sudden) as (
     select h.* from lanes l cross join lateral ${firstOf('t.lane = l.lane and t.only_agent is null', 't.rank, t.id')} h
      where ${NOBODY_CAN}
     union all
     select h.* from reserved r cross join lateral ${firstOf(`t.only_agent = r.agent and ${PLAIN}`, 't.rank, t.id')} h
      where ${IS_GONE}
     union all
     select h.* from reserved_in_missions r
      cross join lateral ${firstOf(`t.only_agent = r.agent and ${IN_MISSIONS}`, 't.lane, t.rank, t.id')} h where ${IS_GONE}
     union all${stuckFor('reserved', PLAIN, 't.rank, t.id')}
     union all${stuckFor('reserved_in_missions', IN_MISSIONS, 't.lane, t.rank, t.id')}
     union all${UNPLANNED})`

// Of tasks t that wait for an agent, which is o if they are reserved for it.
const LACKING = `case when t.purpose = 'planning' and exists (select from agents a where a.workspace_id = $1
       and a.state <> 'terminated' and a.kind = 'roster' and a.capabilities @> t.capabilities)
     then 'no agent that makes plans took it' else 'no agent has ' || array_to_string(t.capabilities, ', ') end`
const IS_NOW = `case when o.state in ('paused', 'offline') then ' is ' || o.state else case when o.slug is not null then ' did not take it' end end`
/** Why nobody takes a task t, in words. */
const WHY_UNTAKEN = `case when t.only_agent is null then ${LACKING}
     else t.only_agent || coalesce(${IS_NOW}, ' is not there') end`
/** The agent o that a task t is reserved for. */
export const ITS_AGENT = `left join agents o on o.workspace_id = $1 and o.slug = t.only_agent and o.state <> 'terminated'`

const GROUP = `case when t.only_agent is null then 'lane ' || t.lane
     else case when ${PLAIN} then 'agent ' else 'agent in missions ' end || t.only_agent end as "group"`
const asJson = (rows: string) => `(select coalesce(json_agg(to_json(x)), '[]') from (${rows}) x)`

// What nobody takes, what people were told, and when this is looked at next. Tasks are found one by one: before its first analysis, the
// planner would find what nobody takes again for each task. $1 workspace.
const LOOK = statement(
  'alerts',
  `with recursive ${UNTAKEN} select
     ${asJson(`select t.id, t.uuid, t.version, ${GROUP}, ${WHY_UNTAKEN} as reason, ms(u.at) as at, u.is_sudden as "isSudden"
       from untaken u cross join lateral (select * from tasks t where t.workspace_id = $1 and t.id = u.num offset 0) t ${ITS_AGENT}`)} as untaken,
     ${asJson(`select t.id, t.uuid, t.version, ${GROUP}, ${WHY_UNTAKEN} as reason, d.waits_because as told,
       ${isOpenFor('t')} as "isOpen" from task_details d join tasks t on t.workspace_id = $1 and t.id = d.task_id ${ITS_AGENT} where d.workspace_id = $1 and d.waits_kind = 'alert'`)} as raised,
     (select l.verify_timeout_seconds * 1000 from limits l where l.workspace_id = $1) as "longMs",
     (select ms(c.due_at) from alert_checks c where c.workspace_id = $1) as "dueAt", ms(clock_timestamp()) as now`,
)

export interface UntakenLook {
  untaken: Untaken[]
  raised: MarkedTask[]
  /** How long something waits for an agent before people are asked. */
  longMs: number
  /** When it is looked at again, as stored. */
  dueAt: number | null
  now: number
}

export async function lookForUntaken(pool: pg.Pool, workspaceId: number): Promise<UntakenLook> {
  const query = { ...LOOK, values: [workspaceId] }
  const answers = await scopedQueries(pool, 'baton.workspace_id', String(workspaceId), [BY_KEYS, query])
  return answers[1]![0] as unknown as UntakenLook
}

/** When time alone may raise the next alert; null: only a change does. */
export const scheduleAlertCheck = (pool: pg.Pool, workspaceId: number, at: number | null) =>
  scopedQuery(
    pool,
    'baton.workspace_id',
    String(workspaceId),
    at === null
      ? { text: 'delete from alert_checks where workspace_id = $1', values: [workspaceId] }
      : {
          text: `insert into alert_checks (workspace_id, due_at) values ($1, to_timestamp($2::double precision / 1000))
                 on conflict (workspace_id) do update set due_at = excluded.due_at`,
          values: [workspaceId, at],
        },
  )

/** For `nextDue`. */
export const EARLIEST_ALERT_CHECK = 'select min(c.due_at) from alert_checks c'

const walk = (name: string, condition: string) => `${name}(id) as (
     (select t.workspace_id from tasks t where t.rank is not null and ${condition} order by t.workspace_id limit 1)
     union all
     select (select t.workspace_id from tasks t where t.rank is not null and ${condition} and t.workspace_id > w.id
       order by t.workspace_id limit 1) from ${name} w where w.id is not null)`

// Workspaces with queued tasks that not every agent takes: only those can wait in vain.
const WORKSPACES = `with recursive
   ${walk('open', 't.only_agent is null')},
   ${walk('reserved', `t.only_agent is not null and ${PLAIN}`)},
   ${walk('reserved_in_missions', `t.only_agent is not null and ${IN_MISSIONS}`)}
   select c.workspace_id as "workspaceId", c.last_seq as seq,
          coalesce(d.due_at <= (select clock_timestamp()), false) as "isDue" from (
       select w.id from open w where w.id is not null and exists (select from tasks t
         where t.workspace_id = w.id and t.rank is not null and t.only_agent is null and t.lane > '')
       union select w.id from reserved w union select w.id from reserved_in_missions w
       union select d.workspace_id from alert_checks d) w
     join workspace_counters c on c.workspace_id = w.id
     left join alert_checks d on d.workspace_id = w.id`

export interface WorkspaceToLookAt {
  workspaceId: number
  /** The last event of its log. */
  seq: number
  isDue: boolean
}

export const workspacesWithUntaken = (pool: pg.Pool, only?: number) =>
  inScope<WorkspaceToLookAt & pg.QueryResultRow>(pool, only, WORKSPACES)

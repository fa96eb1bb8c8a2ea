import type pg from 'pg'
import { OPEN_LANES } from '../../../postgres/statements/lanes.ts'
import { seqAt } from '../../../postgres/statements/log-head.ts'
import { BY_KEYS, inside, scopedQueries } from '../../../postgres/statements/scoped-query.ts'
import { statement } from '../../../postgres/statements/statements.ts'
import { OF_THE_WORKSPACE } from '../../../views/logs/postgres.ts'
import { BUDGET_IN_WORDS, IS_SPENT } from '../../budget/postgres/reads.ts'
import { inScope } from '../../task/postgres/due.ts'
import { type AlertCause, causeOf, THRESHOLD_CAUSES } from '../causes.ts'
import type { OpenAlert } from '../rules/changes.ts'
import type { Finding } from '../rules/decide.ts'
import type { ToldEvent } from '../rules/facts.ts'

/** What is wrong in a workspace now, by its rows: one statement for all causes, each by an index and with a limit. */

/** Of one cause, so many are told: whoever has a thousand needs no other one. */
const MOST = 1_000

const finding = (
  cause: string,
  subject: string,
  name = 'null',
  detail = 'null',
  task = 'null',
  mission = 'null',
) =>
  `${cause} collate "C" as cause, ${subject} collate "C" as subject, ${name}::text as name, ${detail}::text as detail,
   ${task}::bigint as "taskId", ${mission}::bigint as "missionId"`

const waiting = (kind: string) => `(select d.task_id, d.title, d.waits_because from task_details d
     where d.workspace_id = $1 and d.waits_kind = '${kind}' order by d.waits_since, d.task_id limit ${MOST}) d
   join tasks t on t.workspace_id = $1 and t.id = d.task_id`

// A queued task that stands for those that nobody takes is marked (kinds/task/rules/alert.ts).
const NOT_TAKEN = `select ${finding(
  `(case when t.purpose = 'planning' then 'plan_not_taken' when t.only_agent is null then 'task_not_taken' else 'task_reserved' end)`,
  't.uuid::text',
  'd.title',
  'd.waits_because',
  't.id',
  't.mission_id',
)} from ${waiting('alert')}`

const NOT_VERIFIED = `select ${finding(
  `'not_verified'`,
  't.uuid::text',
  'd.title',
  `nullif(substr(d.waits_because, 13), '')`,
  't.id',
  't.mission_id',
)} from ${waiting('review')} where d.waits_because like 'no\\_verdict:%'`

const IN_ERROR = `select ${finding(
  `(case when a.state_reason like 'not\\_logged\\_in%' then 'login_lost' else 'agent_error' end)`,
  'a.slug',
  'a.name',
  'a.state_reason',
)} from (select * from agents x where x.workspace_id = $1 and x.state = 'error' order by x.slug limit ${MOST}) a`

// Of missions that have ended, nobody needs to know.
const LOW_BUDGETS = `select ${finding(
  `(case when ${IS_SPENT} then 'budget_spent' else 'budget_low' end)`,
  'b.budget_id::text',
  BUDGET_IN_WORDS,
)} from budgets b where b.workspace_id = $1 and b.scope <> 'task' and (b.warned_at is not null or ${IS_SPENT})
    and (b.period_end is null or b.period_end > clock_timestamp())
    and (b.scope <> 'mission' or exists (select from missions m where m.workspace_id = $1 and m.completed_at is null
      and m.mission_id = split_part(b.scope_key, ':', 2)::bigint)) limit ${MOST}`

const IN_AN_HOUR = seqAt(`now() - interval '1 hour'`)
const eventsInAnHour = (
  type: string,
) => `select from events e where e.workspace_id = $1 and e.type = '${type}'
   and ${OF_THE_WORKSPACE} and e.seq >= ${IN_AN_HOUR}`
/** Ids of runs begin with the time at which they were made. */
const RUN_AN_HOUR_AGO = `(lpad(to_hex(greatest(ms(now() - interval '1 hour'), 0)), 12, '0') || repeat('0', 20))::uuid`
const atMost = (rows: string) => `(select count(*) from (${rows} limit h.value + 1) r)`

/** What is compared with a threshold h, counted up to one more than that. */
const MEASURES: Partial<Record<AlertCause, string>> = {
  dead_letters: atMost(
    `select from task_details d where d.workspace_id = $1 and d.waits_kind = 'dead_letter'`,
  ),
  failed_tasks: atMost(eventsInAnHour('task_failed')),
  expiry_rate: atMost(eventsInAnHour('task_lease_expired')),
  stale_agents: atMost(`select from agents a where a.workspace_id = $1 and a.state = 'offline'`),
  pending_tasks: '(select k.queued from workspace_counters k where k.workspace_id = $1)',
  spawn_rate: atMost(`select from runs r where r.workspace_id = $1 and r.run_id >= ${RUN_AN_HOUR_AGO}
     and r.started_at >= now() - interval '1 minute'`),
  // The first tasks of each lane have waited longest, unless they are urgent.
  queue_age: `(select extract(epoch from clock_timestamp() - min(q.updated_at)) from lanes l cross join lateral (
     select t.updated_at from tasks t where t.workspace_id = $1 and t.rank is not null and t.lane = l.lane and t.only_agent is null
      order by t.rank, t.id limit 100) q)`,
}

const measured = Object.entries(MEASURES).map(([cause, value]) => `when '${cause}' then ${value}`)

// $2 causes with thresholds, $3 their values, $4 whether they raise alerts, unless the workspace has set them.
const OVER_THRESHOLDS = `select ${finding('h.cause', `''`, 'null', 'h.value')} from (
     select g.cause, coalesce(s.value, g.value) as value, coalesce(s.is_on, g.is_on) as is_on
       from unnest($2::text[], $3::bigint[], $4::boolean[]) as g(cause, value, is_on)
       left join alert_thresholds s on s.workspace_id = $1 and s.cause = g.cause offset 0) h
    where h.is_on and case h.cause ${measured.join(' ')} end > h.value`

const asJson = (rows: string) => `(select coalesce(json_agg(to_json(x)), '[]') from (${rows}) x)`
const LAST_NUMBER = `(select max(a.number) from alerts a where a.workspace_id = $1 and a.cause = f.cause and a.subject = f.subject)`

// What is wrong, with how often it was raised before, and what is open. $1 workspace.
const LOOK = statement(
  'look_for_alerts',
  `with recursive ${OPEN_LANES}, found as (
     ${[NOT_TAKEN, NOT_VERIFIED, IN_ERROR, LOW_BUDGETS, OVER_THRESHOLDS].map((rows) => `(${rows})`).join('\n union all ')})
   select ${asJson(`select f.*, ${LAST_NUMBER} as last from found f`)} as found,
     ${asJson(`select a.alert_id as "alertId", a.cause, a.subject, a.number, a.detail, ms(a.last_at) as "lastAt"
       from alerts a where a.workspace_id = $1 and a.resolved_at is null`)} as open,
     ms(clock_timestamp()) as now`,
)

/** What was found, and how often it was raised before. */
export type Found = Finding & { last: number | null }

interface Look {
  found: Found[]
  open: OpenAlert[]
  now: number
}

const thresholds = THRESHOLD_CAUSES.map((cause) => ({ cause, ...causeOf(cause).threshold! }))
const DEFAULTS = [
  thresholds.map(({ cause }) => cause),
  thresholds.map(({ value }) => value),
  thresholds.map(({ isOn }) => isOn),
]

export async function lookAround(pool: pg.Pool, workspaceId: number): Promise<Look> {
  const query = { ...LOOK, values: [workspaceId, ...DEFAULTS] }
  const answers = await scopedQueries(pool, 'baton.workspace_id', String(workspaceId), [BY_KEYS, query])
  return answers[1]![0] as unknown as Look
}

// What these events say, with the names of what they are about. $2 their numbers.
const TOLD = `select e.seq, e.type, e.task_id as "taskId", e.mission_id as "missionId", e.from_state as "from", e.payload,
     t.uuid as "taskUuid", coalesce(d.title, r.name) as title
    from events e
    left join tasks t on t.workspace_id = $1 and t.id = e.task_id
    left join task_details d on d.workspace_id = $1 and d.task_id = e.task_id
    left join routines r on r.workspace_id = $1 and r.uuid::text = e.payload ->> 'routineId'
   where e.workspace_id = $1 and e.seq = any($2::bigint[]) order by e.seq`

export const toldIn = (pool: pg.Pool, workspaceId: number, seqs: readonly number[]) =>
  inside<ToldEvent & pg.QueryResultRow>(pool, workspaceId, TOLD, [seqs])

// Workspaces in which time alone may change something, with how far their logs are. $1 the first workspace, which has the alerts of the
// instance.
const WATCHED = `select c.workspace_id as "workspaceId", c.last_seq as seq, c.workspace_id = $1 or c.queued > 0
     or exists (select from alerts a where a.workspace_id = c.workspace_id and a.resolved_at is null) as "mayChange"
   from workspace_counters c`

export interface Watched {
  workspaceId: number
  /** The last event of its log. */
  seq: number
  /** Also without an event. */
  mayChange: boolean
}

export const watchedWorkspaces = (pool: pg.Pool, home: number, only?: number) =>
  inScope<Watched & pg.QueryResultRow>(pool, only, WATCHED, [home])

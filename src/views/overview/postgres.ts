import type pg from 'pg'
import { LISTED, SHOWN_STATE } from '../../kinds/agent/postgres/agents.ts'
import { type AlertCause, SEVERITIES, type Severity } from '../../kinds/alert/causes.ts'
import { KNOWN_COST } from '../../kinds/mission/postgres/rows.ts'
import type { MissionState } from '../../kinds/mission/states.ts'
import { ASKING_KINDS, type InboxKind } from '../../kinds/task/rules/waiting.ts'
import { LAST_SEQ, seqAt } from '../../postgres/statements/log-head.ts'
import { BY_KEYS, scopedQueries } from '../../postgres/statements/scoped-query.ts'
import { costOfTask, isMissionSimulated, isTaskSimulated } from '../../postgres/statements/spent.ts'
import { statement } from '../../postgres/statements/statements.ts'
import type { Budget } from '../../pure/budget.ts'
import { type AgentState, type TaskState, taskStates } from '../../pure/states.ts'
import { DONE_WORK, STORED_COUNTS } from '../board/postgres/board.ts'
import { type InboxRow, MOST_BLOCKING_ITEMS } from '../inbox/postgres.ts'
import { RUNNING } from '../insight/postgres/running.ts'
import { uuidAt } from '../insight/postgres/window.ts'

/** A workspace at a glance, in one statement: all of it is as of one event. */

interface RunningRow {
  runId: string | null
  agent: string
  taskId: string | null
  taskKey: string | null
  taskTitle: string | null
  status: string | null
  statusColor: string | null
  step: string | null
  percent: number | null
  since: number
  attempt: number | null
  maxRetries: number | null
  tokensUsed: number | null
  costUsd: string | null
  isSimulated: boolean
  flag: { code: string; detail: string; at: number } | null
}

export interface OverviewRead {
  seq: number
  began: number
  ended: number
  counts: Record<TaskState, number>
  inbox: { items: InboxRow[]; counts: { kind: InboxKind; count: number }[] }
  running: { count: number; items: RunningRow[] }
  throughput: {
    /** Since when all that ended was counted; null: the whole period. */
    countedFrom: number | null
    buckets: { place: number; completed: number; failed: number }[]
  }
  spend: {
    buckets: { place: number; usd: string | null }[]
    costUsd: string | null
    perHourUsd: string | null
    projectedUsd: string | null
    runs: number
    unknownRuns: number
  }
  agents: {
    counts: Partial<Record<AgentState, number>> | null
    inError: { slug: string; name: string; reason: string | null; since: number }[]
  }
  missions: {
    count: number
    items: {
      id: string
      title: string
      state: MissionState
      taskCount: number
      tasksCompleted: number
      tasksFailed: number
      costUsd: string | null
      runs: number
      unknownRuns: number
      budget: Budget | null
    }[]
  }
  justEnded: {
    tasks: {
      id: string
      key: string | null
      title: string
      state: TaskState
      agent: string | null
      at: number
      workMs: number | null
      summary: string | null
      costUsd: string | null
      isSimulated: boolean
      runs: number
    }[]
    missions: {
      id: string
      title: string
      state: MissionState
      at: number
      taskCount: number
      tasksCompleted: number
      tasksFailed: number
      costUsd: string | null
      isSimulated: boolean
      runs: number
      unknownRuns: number
    }[]
  }
  alerts: {
    counts: Partial<Record<Severity, number>> | null
    items: { id: string; cause: AlertCause; severity: Severity; name: string | null; since: number }[]
  }
  eventsInLastMinute: number
}

const MOST_WAITING_SHOWN = 3
const MOST_ALERTS_SHOWN = 3
const MOST_AGENTS_SHOWN = 10
const MOST_MISSIONS_SHOWN = 10
const MOST_ENDED_SHOWN = 8
/** Ended missions are looked for among the newest: no index has them by their end. */
const MISSIONS_LOOKED_AT = 200
/** How much of what ended is looked through, the newest of it. */
const MOST_FINISHED = 30_000
const MOST_RUNS = 20_000
const MOST_USED = 50_000
const QUARTER_MS = 900_000
const LONGEST_TEXT = 200

const cut = (text: string) => `left(${text}, ${LONGEST_TEXT})`
const listed = (rows: string, order = '') =>
  `(select coalesce(json_agg(to_json(l)${order}), '[]') from (${rows}) l)`

// $10 the length of a bucket in milliseconds, $11 how many there are. $2 to $9 belong to the inbox.
const WIDTH = `($10::float8 * interval '1 millisecond')`
const SPAN = `span as materialized (
  select now() as ended, date_bin(${WIDTH}, now(), 'epoch'::timestamptz) - ($11::int - 1) * ${WIDTH} as began)`
const BEGAN = '(select s.began from span s)'
const placeOf = (at: string) => `((ms(${at}) - ms(${BEGAN})) / $10::bigint)::int`

const FINISHED = `finished as materialized (
  select t.state, t.completed_at as at from tasks t where ${DONE_WORK} and t.completed_at >= ${BEGAN}
   order by t.completed_at desc, t.id desc limit ${MOST_FINISHED})`
const THROUGHPUT = `json_build_object(
  'countedFrom', (select case when count(*) = ${MOST_FINISHED} then ms(min(f.at)) end from finished f),
  'buckets', ${listed(`select ${placeOf('f.at')} as place, count(*) filter (where f.state = 'completed') as completed,
      count(*) filter (where f.state = 'failed') as failed from finished f group by 1`)})`

// Runs of which the cost is not known are in no ledger; a run may have begun long before.
const RAN = `ran as materialized (
  select least(coalesce(r.finished_at, s.ended), s.ended) as at, r.unknown from span s cross join lateral (
      select x.finished_at, x.finished_at is not null and x.cost_usd is null as unknown from runs x
       where x.workspace_id = $1 and x.run_id >= ${uuidAt(`s.began - interval '1 day'`)} order by x.run_id desc limit ${MOST_RUNS}) r
   where coalesce(r.finished_at, s.ended) >= s.began)`
const LEDGER = (table: string, at: string, where: string) =>
  `select u.source_id, u.generation, u.basis, u.cost_usd, u.${at} as at from ${table} u
    where u.workspace_id = $1 and u.${at} >= ${BEGAN} and u.${at} <= now() and ${where}`
// What was paid, in the minutes in which it was used, or in quarters of an hour.
const SPENT = `spent as materialized (
  select case when r.basis <> 'unknown' then r.cost_usd end as usd, r.at, r.source_id, r.generation, s.started_at, s.is_cost_unknown
    from (select * from (${LEDGER('usage', 'at', `$10::bigint < ${QUARTER_MS}`)} union all ${LEDGER('usage_quarters', 'quarter', `$10::bigint >= ${QUARTER_MS}`)}) l
           order by l.at desc limit ${MOST_USED}) r
    cross join lateral (select x.started_at, x.is_cost_unknown, x.is_simulated from usage_sources x
      where x.workspace_id = $1 and x.source_id = r.source_id and x.generation = r.generation offset 0) s
   where not s.is_simulated),
  claims as materialized (select s.source_id, bool_or(s.is_cost_unknown) as unknown from spent s where s.generation > 0 group by s.source_id, s.generation)`
const UNKNOWN = `((select count(*) from ran r where r.unknown) + (select count(*) from claims c where c.unknown))`
/** Nothing, where nothing was used; unknown, where no cost is known of what was used. */
const SUM = `trim_scale(sum(s.usd))::text`
const TOTAL = `(select case when count(s.usd) = 0 and ${UNKNOWN} = 0 then '0' else ${SUM} end from spent s)`
// The first minutes of work say nothing of the next day.
const PACE = `select case when t.since >= interval '10 minutes' then t.usd / (extract(epoch from t.since) / 3600)::numeric end as usd
  from (select sum(s.usd) as usd, p.ended - greatest(min(s.started_at), p.began) as since
    from span p left join spent s on true group by p.began, p.ended) t`
const dollarsOf = (usd: string) => `(select trim_scale(round(${usd}, 9))::text from pace p)`
const SPEND = `json_build_object(
  'buckets', ${listed(`select ${placeOf('s.at')} as place, ${SUM} as usd from (
     select s.at, s.usd from spent s union all select r.at, null from ran r where r.unknown) s group by 1`)},
  'costUsd', ${TOTAL}, 'perHourUsd', ${dollarsOf('p.usd')},
  'projectedUsd', ${dollarsOf(`p.usd * ($10::numeric * $11::numeric / 3600000)`)},
  'runs', (select count(*) from ran r) + (select count(*) from claims c), 'unknownRuns', ${UNKNOWN})`

const AGENTS = `json_build_object(
  'counts', (select json_object_agg(c.state, c.agents) from (
     select ${SHOWN_STATE} as state, count(*) as agents from agents a where a.workspace_id = $1 and ${LISTED} group by 1) c),
  'inError', ${listed(
    `select a.slug, ${cut('a.name')} as name, ${cut('a.state_reason')} as reason, ms(a.updated_at) as since from agents a
      where a.workspace_id = $1 and a.state = 'error' order by a.updated_at desc, a.slug limit ${MOST_AGENTS_SHOWN}`,
    ' order by l.since desc, l.slug',
  )})`

const COUNTS_OF_MISSION = `${taskStates.map((state) => `c.${state}`).join(' + ')} as "taskCount",
      c.completed as "tasksCompleted", c.failed as "tasksFailed", ${KNOWN_COST} as "costUsd", c.runs, c.unknown_runs as "unknownRuns"`
const OF_MISSION = 'mission_counters c on c.workspace_id = $1 and c.mission_id = m.mission_id'
const MISSIONS = `json_build_object(
  'count', (select count(*) from missions m where m.workspace_id = $1 and m.completed_at is null),
  'items', ${listed(`select m.uuid as id, ${cut('m.title')} as title, m.state, ${COUNTS_OF_MISSION}, m.config -> 'budget' as budget
    from (select * from missions m where m.workspace_id = $1 and m.completed_at is null order by m.mission_id desc
           limit ${MOST_MISSIONS_SHOWN}) m
    join ${OF_MISSION} order by m.mission_id desc`)})`

// Of each only what belongs to it is read (offset 0): the planner would read all of the workspace.
const ENDED_TASKS = `select t.uuid as id, t.key, ${cut('d.title')} as title, t.state, t.agent, ms(t.completed_at) as at,
      w.ms as "workMs", ${cut('coalesce(a.summary, d.error)')} as summary, ${costOfTask('t.id')} as "costUsd",
      ${isTaskSimulated('t.id')} as "isSimulated", r.runs
    from (select * from tasks t where ${DONE_WORK} and t.completed_at >= ${BEGAN}
           order by t.completed_at desc, t.id desc limit ${MOST_ENDED_SHOWN}) t
    cross join lateral (select x.title, x.error from task_details x where x.workspace_id = $1 and x.task_id = t.id offset 0) d
    left join lateral (select s.summary from attempts s where s.workspace_id = $1 and s.task_id = t.id and s.epoch = t.epoch
       and s.hash is not null order by s.generation desc limit 1) a on t.state = 'completed'
    cross join lateral (select (select count(*) from runs x where x.workspace_id = $1 and x.task_id = t.id)
      + (select count(*) from usage_sources s where s.workspace_id = $1 and s.task_id = t.id and s.generation > 0 and s.rows > 0) as runs) r
    cross join lateral (select sum(ms(x.ended_at) - ms(x.acquired_at)) as ms from attempts x
      where x.workspace_id = $1 and x.task_id = t.id) w
   order by t.completed_at desc, t.id desc`
const ENDED_MISSIONS = `select m.uuid as id, ${cut('m.title')} as title, m.state, ms(m.completed_at) as at, ${COUNTS_OF_MISSION},
      ${isMissionSimulated('m.mission_id')} as "isSimulated"
    from (select n.* from (select * from missions x where x.workspace_id = $1 order by x.mission_id desc limit ${MISSIONS_LOOKED_AT}) n
           where n.completed_at >= ${BEGAN} order by n.completed_at desc limit ${MOST_ENDED_SHOWN}) m
    join ${OF_MISSION} order by m.completed_at desc`
const ENDED = `json_build_object('tasks', ${listed(ENDED_TASKS)}, 'missions', ${listed(ENDED_MISSIONS)})`

const RANK = `array_position(array[${SEVERITIES.toReversed()
  .map((severity) => `'${severity}'`)
  .join(', ')}], n.severity::text)`
/** Those that nobody looks after, the worst first. */
const OPEN_ALERTS =
  'from alerts n where n.workspace_id = $1 and n.resolved_at is null and n.acknowledged_at is null'
const ALERTS = `json_build_object(
  'counts', (select json_object_agg(c.severity, c.alerts) from (select n.severity, count(*) as alerts ${OPEN_ALERTS} group by 1) c),
  'items', ${listed(
    `select n.alert_id as id, n.cause, n.severity, ${cut('n.name')} as name, ms(n.first_at) as since ${OPEN_ALERTS}
      order by ${RANK}, n.first_at desc, n.alert_id limit ${MOST_ALERTS_SHOWN}`,
  )})`

const EVENTS = `${LAST_SEQ} + 1 - ${seqAt(`now() - interval '1 minute'`)}`

const OVERVIEW = statement(
  'overview',
  `with ${SPAN}, ${FINISHED}, ${RAN}, ${SPENT}, pace as materialized (${PACE})
   select ${LAST_SEQ} as seq, (select ms(s.began) from span s) as began, (select ms(s.ended) from span s) as ended,
     (${STORED_COUNTS}) as counts, (select to_json(i) from (${MOST_BLOCKING_ITEMS.text}) i) as inbox, (${RUNNING}) as running,
     ${THROUGHPUT} as throughput, ${SPEND} as spend, ${AGENTS} as agents, ${MISSIONS} as missions, ${ENDED} as "justEnded", ${ALERTS} as alerts, (${EVENTS})::int as "eventsInLastMinute"`,
)

// No place in the inbox to continue from.
const FROM_THE_FIRST = [null, null, null, null, null]

export async function overviewOf(
  pool: pg.Pool,
  workspaceId: number,
  { bucketMs, buckets }: { bucketMs: number; buckets: number },
): Promise<OverviewRead> {
  const ofInbox = [null, ASKING_KINDS, MOST_WAITING_SHOWN, ...FROM_THE_FIRST]
  const values = [workspaceId, ...ofInbox, bucketMs, buckets]
  const [, rows] = await scopedQueries<OverviewRead & pg.QueryResultRow>(
    pool,
    'baton.workspace_id',
    String(workspaceId),
    [BY_KEYS, { ...OVERVIEW, values }],
  )
  return rows![0]!
}

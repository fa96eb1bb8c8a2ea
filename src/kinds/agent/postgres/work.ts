import type pg from 'pg'
import { hasFailed, hasSucceeded } from '../../../postgres/statements/run-states.ts'
import { inside } from '../../../postgres/statements/scoped-query.ts'
import { costOf } from '../../../postgres/statements/spent.ts'
import type { TaskState } from '../../../pure/states.ts'
import type { RunState } from '../../run/states.ts'
import { hasReported } from '../../task/postgres/of-others.ts'

/** What agents do, for lists of them. */

interface Totals {
  runs: number
  unknownRuns: number
  costUsd: string
  tokens: { input: number; cachedInput: number; cacheWrite: null; output: number }
  lastError: string | null
}

export const NO_RUNS: Totals = {
  ...{ runs: 0, unknownRuns: 0, costUsd: '0', lastError: null },
  tokens: { input: 0, cachedInput: 0, cacheWrite: null, output: 0 },
}

export interface AgentWork {
  slug: string
  holds: { taskId: string; key: string | null; title: string; state: TaskState; percent: number | null }[]
  lastRun: { id: string; status: RunState; finishedAt: number | null } | null
  today: { runs: number; succeeded: number; failed: number; costUsd: string | null }
  /** Its account is parked until then. */
  restsUntil: number | null
  /** As it was set last, whatever its settings are by now. */
  nextTimerAt: number | null
  /** Null: it never ran. */
  totals: Totals | null
}

const MOST_HELD = 20
const LONGEST_ERROR = 1_000

const HOLDS = `select coalesce(json_agg(json_build_object('taskId', h.uuid, 'key', h.key, 'title', d.title, 'state', h.state,
      'percent', case when h.reported then d.progress_percent end) order by h.acquired_at, h.id), '[]')
  from (select t.id, t.uuid, t.key, t.state, t.acquired_at, ${hasReported('t')} as reported from tasks t
         where t.workspace_id = $1 and t.agent = a.slug and t.claim_state = 'active' order by t.acquired_at, t.id limit ${MOST_HELD}) h
  cross join lateral (select x.title, x.progress_percent from task_details x
    where x.workspace_id = $1 and x.task_id = h.id offset 0) d`

const LAST_RUN = `select json_build_object('id', r.run_id, 'status', r.status, 'finishedAt', ms(r.finished_at)) from runs r
  where r.workspace_id = $1 and r.agent = a.slug order by r.run_id desc limit 1`

// Ids of runs begin with the time at which a node made them: those of today follow each other in the index, and the hour before
// makes up for clocks that differ.
const TODAY = `select json_build_object('runs', count(*), 'succeeded', count(*) filter (where ${hasSucceeded('r.status')}),
    'failed', count(*) filter (where ${hasFailed('r.status')}), 'costUsd', (select p.usd from paid p where p.agent = a.slug)) from runs r
  where r.workspace_id = $1 and r.agent = a.slug and r.created_at >= day.began
    and r.run_id >= (lpad(to_hex(ms(day.began) - 3600000), 12, '0') || repeat('0', 20))::uuid`

const RESTS_UNTIL = `select ms(s.parked_until) from agent_runtime_state s
  where s.workspace_id = $1 and s.agent = a.slug and s.parked_until > clock_timestamp()`

// What all agents were paid for today, by their runs and their claims.
const PAID = `paid as materialized (
  select s.agent, trim_scale(sum(u.cost_usd) filter (where u.basis <> 'unknown'))::text as usd
    from (select date_trunc('day', now(), 'UTC') as began) day join usage_quarters u on u.workspace_id = $1 and u.quarter >= day.began
    cross join lateral (select x.agent, x.is_simulated from usage_sources x
      where x.workspace_id = $1 and x.source_id = u.source_id and x.generation = u.generation offset 0) s
   where not s.is_simulated and s.agent = any($2::text[]) group by s.agent)`

// Of all its runs, and, where Baton does not run it, of all its claims. An error of which a later run knew nothing is over.
const TOTALS = `select json_build_object('runs', coalesce(s.runs, 0) + c.claims, 'unknownRuns', coalesce(s.unknown_runs, 0) + c.unknown,
    'costUsd', trim_scale(coalesce(s.total_cost_usd, 0) + c.usd)::text,
    'tokens', json_build_object('input', coalesce(s.total_input_tokens, 0) + c.input, 'cachedInput', coalesce(s.total_cached_input_tokens, 0) + c.cached,
      'cacheWrite', null, 'output', coalesce(s.total_output_tokens, 0) + c.output),
    'lastError', case when not ${hasSucceeded('s.last_run_status')} then left(s.last_error, ${LONGEST_ERROR}) end)
  from (select count(*) as claims, count(*) filter (where x.is_cost_unknown) as unknown, coalesce(sum(${costOf('x')}), 0) as usd,
          coalesce(sum(x.input_tokens), 0) as input, coalesce(sum(x.cached_input_tokens), 0) as cached, coalesce(sum(x.output_tokens), 0) as output
          from usage_sources x where x.workspace_id = $1 and x.agent = a.slug and x.generation > 0 and x.rows > 0) c
  left join agent_runtime_state s on s.workspace_id = $1 and s.agent = a.slug where s.agent is not null or c.claims > 0`

const NEXT_TIMER = `select ms(s.next_timer_at) from agent_runtime_state s where s.workspace_id = $1 and s.agent = a.slug`

// $1 workspace, $2 slugs.
const WORK = `with ${PAID} select a.slug, (${HOLDS}) as holds, (${LAST_RUN}) as "lastRun", (${TODAY}) as today, (${RESTS_UNTIL}) as "restsUntil",
    (${NEXT_TIMER}) as "nextTimerAt", (${TOTALS}) as totals
  from unnest($2::text[]) as a (slug), (select date_trunc('day', now(), 'UTC') as began) day`

/** What each of these agents holds, its last run, its runs of today, and until when it rests. */
export async function workOfAgents(
  pool: pg.Pool,
  workspaceId: number,
  slugs: readonly string[],
): Promise<Map<string, AgentWork>> {
  if (slugs.length === 0) return new Map()
  const rows = await inside<AgentWork & pg.QueryResultRow>(pool, workspaceId, WORK, [slugs])
  return new Map(rows.map((row) => [row.slug, row]))
}

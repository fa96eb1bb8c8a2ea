import type pg from 'pg'
import { CRASH_CLASSES, LOSS_EVENTS } from '../../../kinds/task/rules/outcomes.ts'
import { RUN_TIME } from '../../../kinds/usage/record.ts'
import { hasSucceeded } from '../../../postgres/statements/run-states.ts'
import { insideByKeys } from '../../../postgres/statements/scoped-query.ts'
import type { Decided, Judged } from '../overruled.ts'
import {
  ABOUT,
  type About,
  ASKED_TASKS,
  type Asked,
  BEGAN,
  ENDED,
  eventsOf,
  finishedTasks,
  HOLDER_THEN,
  MOST_LOOKED_AT,
  NUMBERS,
  PERIOD,
  uuidAt,
  valuesOf,
} from './window.ts'

/** How well agents, models, retries, verifiers and estimates did within a period. */

export interface TelemetryRead extends About {
  agents: {
    agent: string
    taskType: string
    tasks: number
    completed: number
    failed: number
    attempts: number
  }[]
  models: {
    model: string | null
    runs: number
    succeeded: number
    tokensUsed: number | null
    costUsd: string | null
  }[]
  /** By the failure class of the previous attempt. */
  retries: { failureClass: string | null; retries: number; tasks: number; completed: number }[]
  /** Attempts whose holder was lost, or failed for a reason that says nothing about the work. */
  crashes: {
    agent: string | null
    errorType: string
    crashes: number
    tasks: number
    completed: number
    averageMs: number | null
  }[]
  /** Results that did not pass, by who made them and who judged them. */
  failedVerifications: {
    agent: string | null
    verifier: string | null
    failed: number
    tasks: number
    completed: number
  }[]
  judged: Judged[]
  decided: Decided[]
  estimates: {
    missions: number
    estimate: { estimatedTokens: number | null; costUsd: string | null }
    tokensUsed: number | null
    costUsd: string | null
  }
  isBounded: boolean
}

const MOST_VERDICTS = 2_000
const MOST_RETRIES = 3_000
const MOST_MISSIONS = 1_000
const listed = (rows: string) => `(select coalesce(json_agg(to_json(l)), '[]') from (${rows}) l)`

const AGENTS = `select a.agent, a.task_type as "taskType", count(*) as tasks, count(*) filter (where a.state = 'completed') as completed,
    count(*) filter (where a.state = 'failed') as failed, round(avg(a.attempt), 2) as attempts
  from asked a where a.agent is not null group by a.agent, a.task_type order by a.agent, a.task_type`

const STARTED = `started as materialized (select r.model, r.status
    from runs r where r.workspace_id = $1 and r.run_id >= ${uuidAt(`${BEGAN} - interval '1 hour'`)}
     and r.run_id < ${uuidAt(`${ENDED} + interval '1 hour'`)} and r.created_at >= ${BEGAN} and r.created_at < ${ENDED}
   order by r.run_id desc limit ${MOST_LOOKED_AT})`
// What each model used, without the time that runs took, is counted in quarters of an hour, that in which the period begins included: a run may use several.
const USED = `used as materialized (select nullif(r.model, 'unknown') as model, sum(r.input_tokens + r.cached_input_tokens + r.output_tokens) as tokens,
      sum(r.cost_usd) filter (where r.basis <> 'unknown') as usd
    from (select * from usage_quarters u where u.workspace_id = $1 and u.quarter >= ${BEGAN} - interval '15 minutes' and u.quarter < ${ENDED}
           order by u.quarter desc limit ${MOST_LOOKED_AT}) r
    cross join lateral (select x.is_simulated from usage_sources x
      where x.workspace_id = $1 and x.source_id = r.source_id and x.generation = r.generation offset 0) s
   where not s.is_simulated and r.model <> '${RUN_TIME}' group by 1)`
const MODELS = `select m.model, sum(m.runs) as runs, sum(m.succeeded) as succeeded, sum(m.tokens) as "tokensUsed", trim_scale(sum(m.usd))::text as "costUsd"
  from (select r.model, count(*) as runs, count(*) filter (where ${hasSucceeded('r.status')}) as succeeded, null::numeric as tokens, null::numeric as usd
          from started r group by r.model
        union all select u.model, 0, 0, u.tokens, u.usd from used u) m group by m.model order by m.model`

const RETRIES = `select e.payload ->> 'failureClass' as "failureClass", count(*) as retries, count(distinct e.task_id) as tasks,
    count(distinct e.task_id) filter (where e.state = 'completed') as completed
  from retrying e group by e.payload ->> 'failureClass' order by e.payload ->> 'failureClass'`

const textsOf = (texts: readonly string[]) => texts.map((text) => `'${text}'`).join(', ')
const HELD_THEN = `cross join lateral (select e.agent, e.newest as generation) t cross join lateral (select ${HOLDER_THEN} as agent) h`
const COMPLETED = `count(distinct e.task_id) as tasks, count(distinct e.task_id) filter (where e.state = 'completed') as completed`
// Events of earlier versions do not name the error: that of a lost holder is the name of the event, without its first word.
const ERROR_TYPE = `coalesce(e.payload ->> 'errorType',
    case when e.type in (${textsOf(LOSS_EVENTS)}) then substr(e.type, 6) else e.payload ->> 'failureClass' end)`
const CRASHES = `select h.agent, ${ERROR_TYPE} as "errorType", count(*) as crashes, ${COMPLETED},
    round(avg((e.payload ->> 'durationMs')::numeric))::bigint as "averageMs"
  from crashed e ${HELD_THEN}
 where e.type in (${textsOf(LOSS_EVENTS)}) or e.payload ->> 'failureClass' in (${textsOf(CRASH_CLASSES)})
 group by h.agent, 2 order by h.agent, 2`
// The last attempt that does not pass fails the task.
const FAILED_VERIFICATIONS = `select h.agent, e.payload ->> 'verifier' as verifier, count(*) as failed, ${COMPLETED}
  from judged e ${HELD_THEN}
 where e.type = 'task_verification_failed' or (e.type = 'task_failed' and e.from_state = 'verifying')
 group by h.agent, 2 order by h.agent, 2`

// A verdict that leaves no attempt fails the task for good; so does a person who rejects the result of the last attempt. Which
// decision follows which verdict is found outside: the planner takes these parts for small and would compare each with each.
const row = (name: string, kind: string) =>
  `json_build_object('seq', v.seq, 'task', v.task_id, 'generation', v.generation, '${name}', ${kind})`
const all = (rows: string, value: string, where: string) =>
  `(select coalesce(json_agg(${value}), '[]') from ${rows} v where ${where})`
const JUDGEMENTS = all(
  'judged',
  row(
    'verdict',
    `case v.type when 'task_verification_passed' then 'passed' when 'task_human_review_requested' then 'unsure' else 'failed' end`,
  ),
  `v.payload ->> 'verifier' is not null`,
)
const DECISIONS = all(
  'decided',
  row(
    'decision',
    `case v.type when 'task_human_approved' then 'approved' when 'task_reset' then 'reset'
       when 'task_completed_by_person' then 'replaced' when 'task_result_promoted' then 'replaced' else 'rejected' end`,
  ),
  `v.type <> 'task_failed' or v.from_state = 'awaiting_human'`,
)

const ESTIMATES = `select json_build_object('missions', count(*),
    'estimate', json_build_object('estimatedTokens', sum(p.estimated_tokens), 'costUsd', trim_scale(sum(p.estimated_usd))::text),
    'tokensUsed', sum(c.tokens), 'costUsd', trim_scale(sum(c.usd))::text)
  from (select m.mission_id, m.approved_version from missions m where m.workspace_id = $1 and m.completed_at >= ${BEGAN}
           and m.completed_at < ${ENDED} and m.approved_version is not null order by m.mission_id desc limit ${MOST_MISSIONS}) m
  join mission_plans p on p.workspace_id = $1 and p.mission_id = m.mission_id and p.version = m.approved_version
  join mission_counters c on c.workspace_id = $1 and c.mission_id = m.mission_id`

const JUDGED = [
  'task_verification_passed',
  'task_verification_failed',
  'task_human_review_requested',
  'task_failed',
]
const DECIDED = [
  'task_human_approved',
  'task_human_rejected',
  'task_failed',
  'task_completed_by_person',
  'task_result_promoted',
  'task_reset',
]

const TELEMETRY = `with ${PERIOD}, ${NUMBERS}, ${finishedTasks({ from: null, to: null })}, ${ASKED_TASKS}, ${STARTED}, ${USED},
    crashed as materialized (${eventsOf([...LOSS_EVENTS, 'task_retrying', 'task_failed'], MOST_RETRIES)}),
    retrying as materialized (${eventsOf(['task_retrying'], MOST_RETRIES)}),
    judged as materialized (${eventsOf(JUDGED, MOST_VERDICTS)}), decided as materialized (${eventsOf(DECIDED, MOST_VERDICTS)})
  select ${ABOUT}, ${listed(AGENTS)} as agents, ${listed(MODELS)} as models, ${listed(RETRIES)} as retries,
    ${listed(CRASHES)} as crashes, ${listed(FAILED_VERIFICATIONS)} as "failedVerifications", ${JUDGEMENTS} as judged, ${DECISIONS} as decided,
    (${ESTIMATES}) as estimates, (select count(*) = ${MOST_LOOKED_AT} from finished) or (select count(*) = ${MOST_LOOKED_AT} from started)
      or (select count(*) = ${MOST_RETRIES} from retrying)
      or (select count(*) = ${MOST_RETRIES} from crashed) or (select count(*) = ${MOST_VERDICTS} from judged) as "isBounded"`

/** As of one event: one statement sees one moment. */
export async function telemetryOf(
  pool: pg.Pool,
  workspaceId: number,
  { from, to }: Pick<Asked, 'from' | 'to'>,
): Promise<TelemetryRead> {
  const [row] = await insideByKeys<TelemetryRead & pg.QueryResultRow>(
    pool,
    workspaceId,
    TELEMETRY,
    valuesOf({ from, to }),
  )
  return row!
}

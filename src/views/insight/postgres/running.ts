import { hasReported } from '../../../kinds/task/postgres/of-others.ts'
import { isLive } from '../../../postgres/statements/run-states.ts'
import { costOf } from '../../../postgres/statements/spent.ts'
import { OF_THE_WORKSPACE } from '../../logs/postgres.ts'

/** What runs now: live runs, and tasks that agents hold which Baton does not run. $1 workspace. */

const MOST_SHOWN = 20
/** Flags are looked for among the newest. */
const MOST_FLAGS = 500
const LONGEST_TEXT = 200

const cut = (text: string) => `left(${text}, ${LONGEST_TEXT})`

const LIVE = `live as materialized (
  select r.run_id, r.agent, r.task_id, r.generation, r.attempt, r.status_message, r.status_color, coalesce(r.started_at, r.created_at) as since,
         r.input_tokens + coalesce(r.cached_input_tokens, 0) + r.output_tokens as tokens, r.cost_usd, r.adapter_type = 'simulated' as is_simulated
    from runs r where r.workspace_id = $1 and ${isLive('r.status')})`
const HELD = `held as materialized (
  select t.id, t.uuid, t.agent, t.generation, t.attempt, t.acquired_at, (t.watch ->> 'suspectedAt')::float8::bigint as suspected_at from tasks t
   where t.workspace_id = $1 and t.claim_state = 'active' and t.agent is not null)`
const FLAGS = `flags as materialized (
  select distinct on (f.run_id) f.run_id, f.flag from (
    select (e.payload ->> 'runId')::uuid as run_id, e.seq,
           json_build_object('code', e.payload ->> 'code', 'detail', ${cut(`e.payload ->> 'detail'`)}, 'at', ms(e.at)) as flag
      from events e where e.workspace_id = $1 and e.type = 'run_flagged' and ${OF_THE_WORKSPACE}
     order by e.seq desc limit ${MOST_FLAGS}) f order by f.run_id, f.seq desc)`
const SUSPECTED = `json_build_object('code', 'no_progress', 'detail', 'It is alive, but makes no progress.', 'at', h.suspected_at)`
const ALL = `working as materialized (
  select l.run_id, l.agent, l.task_id, l.attempt, l.status_message, l.status_color, l.since, l.tokens, l.cost_usd, l.is_simulated,
         coalesce(case when h.suspected_at is not null then ${SUSPECTED} end, f.flag) as flag
    from live l left join held h on h.id = l.task_id and h.generation = l.generation left join flags f on f.run_id = l.run_id
  union all
  select null, h.agent, h.id, h.attempt, null, null, h.acquired_at, s.tokens, s.cost_usd, coalesce(s.is_simulated, false),
         case when h.suspected_at is not null then ${SUSPECTED} end
    from held h left join lateral (
           select x.input_tokens + x.cached_input_tokens + x.output_tokens as tokens, ${costOf('x')} as cost_usd, x.is_simulated from usage_sources x
            where x.workspace_id = $1 and x.source_id = h.uuid and x.generation = h.generation and x.rows > 0 offset 0) s on true
   where not exists (select from live l where l.task_id = h.id and l.generation = h.generation))`

const SHOWN = `select w.run_id as "runId", w.agent, t.uuid as "taskId", t.key as "taskKey", ${cut('d.title')} as "taskTitle",
    ${cut('w.status_message')} as status, w.status_color as "statusColor", case when t.reported then ${cut('d.progress_step')} end as step, case when t.reported then d.progress_percent end as percent,
    ms(w.since) as since, w.attempt, t.max_retries as "maxRetries", w.tokens as "tokensUsed", trim_scale(w.cost_usd)::text as "costUsd",
    w.is_simulated as "isSimulated", w.flag
  from (select * from working w order by w.flag is null, w.since, w.run_id, w.task_id limit ${MOST_SHOWN}) w
  left join lateral (select x.uuid, x.key, x.max_retries, ${hasReported('x')} as reported from tasks x where x.workspace_id = $1 and x.id = w.task_id offset 0) t on true
  left join lateral (select x.title, x.progress_step, x.progress_percent from task_details x
    where x.workspace_id = $1 and x.task_id = w.task_id offset 0) d on true`

export const RUNNING = `with ${LIVE}, ${HELD}, ${FLAGS}, ${ALL}
  select json_build_object('count', (select count(*) from working), 'items',
    (select coalesce(json_agg(to_json(s) order by s.flag is null, s.since, s."runId", s."taskId"), '[]') from (${SHOWN}) s))`

import { isLive, isQueued, wokeItsAgent } from '../../../postgres/statements/run-states.ts'
import { costOf } from '../../../postgres/statements/spent.ts'
import { statement } from '../../../postgres/statements/statements.ts'
import { withHealth } from '../../agent/postgres/rows.ts'
import { runRows, runtimeRows, wakeupRows } from './rows.ts'

/** What a change of runs and wakeups locks and reads, in the order of the locks. $1 is the workspace everywhere. */

/** The order in which an agent's wakeups become runs. */
export const IN_ORDER = 'w.priority desc, w.requested_at, w.wakeup_id'

// Agents that must not be removed meanwhile. Transactions that change or remove agents lock them first, in this order, and
// so do we, or a deadlock is possible. $2 agents.
export const keepAgents = statement(
  'keep_agents',
  `select from agents where workspace_id = $1 and slug = any($2::text[]) order by slug collate "C" for key share`,
)

// A runtime state for each agent that has none. $2 agents.
export const addRuntime = statement(
  'add_runtime',
  `insert into agent_runtime_state (workspace_id, agent, adapter_type)
   select a.workspace_id, a.slug, a.adapter_type from agents a where a.workspace_id = $1 and a.slug = any($2::text[])
   order by a.slug collate "C" on conflict do nothing`,
)

// From here on no one else changes wakeups of these agents, or begins or ends runs of theirs. $2 agents.
export const lockRuntime = statement(
  'lock_runtime',
  `select ${runtimeRows.select('s')} from agent_runtime_state s
    where s.workspace_id = $1 and s.agent = any($2::text[]) order by s.agent collate "C" for no key update`,
)

// $2 agents.
export const readAgents = statement(
  'agents_of_runs',
  `select ${withHealth} from agents a
     left join agent_health h on h.workspace_id = a.workspace_id and h.slug = a.slug
    where a.workspace_id = $1 and a.slug = any($2::text[])`,
)

// The queued wakeups of these agents about these tasks, locked. $2 agents, $3 the task of each.
export const lockWaiting = statement(
  'lock_waiting_wakeups',
  `select ${wakeupRows.select('w')} from unnest($2::text[], $3::bigint[]) as a(agent, task_id) cross join lateral (
     select * from wakeups w where w.workspace_id = $1 and w.agent = a.agent and w.task_id = a.task_id
        and ${isQueued('w.status')} for no key update) w`,
)

// For each agent and task a wakeup whose run is live; about no task, any of the agent's. A run that has not begun has the
// task of its wakeup. $2 agents, $3 tasks.
export const runningAbout = statement(
  'running_about',
  `select a.agent, a.task_id, ${wakeupRows.select('w')} from unnest($2::text[], $3::bigint[]) as a(agent, task_id)
    cross join lateral (select w.* from runs r
       join wakeups w on w.workspace_id = r.workspace_id and w.wakeup_id = r.wakeup_id
      where r.workspace_id = $1 and r.agent = a.agent and ${isLive('r.status')}
        and (a.task_id = 0 or coalesce(r.task_id, w.task_id) = a.task_id)
      order by r.run_id limit 1) w`,
)

// How often these agents were woken about these tasks within an hour, and about none by programs. Continuations are limited
// by their task. $2 agents, $3 tasks.
export const wokenRecently = statement(
  'woken_recently',
  `select a.agent, a.task_id, case when a.task_id <> 0
       then (select count(*) from wakeups w where w.workspace_id = $1 and w.agent = a.agent and w.task_id = a.task_id
         and w.task_id <> 0 and w.requested_at > now() - interval '1 hour' and ${wokeItsAgent('w.status')}
         and not w.is_continuation)
       else (select count(*) from wakeups w where w.workspace_id = $1 and w.agent = a.agent and w.task_id = 0
         and w.source = 'automation' and w.requested_at > now() - interval '1 hour' and ${wokeItsAgent('w.status')}) end
     from unnest($2::text[], $3::bigint[]) as a(agent, task_id)`,
)

// Wakeups that are known under these keys. $2 agents, $3 the key of each.
export const wakeupsByKey = statement(
  'wakeups_by_key',
  `select ${wakeupRows.select('w')} from unnest($2::text[], $3::text[]) as a(agent, key)
    cross join lateral (select * from wakeups w
      where w.workspace_id = $1 and w.agent = a.agent and w.idempotency_key = a.key offset 0) w`,
)

// The first due wakeup of each agent, locked, with its task, whether its claim was offered and has a live run, and the number
// of the agent's live runs. The task is not locked: its claim is decided later, by the rules for claims. $2 agents.
export const lockFirstDue = statement(
  'lock_first_due',
  `select (select count(*) from runs r where r.workspace_id = $1 and r.agent = a.agent and ${isLive('r.status')}),
          t.id is not null, t.state, t.generation, ms(t.due_at), t.claim_state, t.agent, t.session,
          coalesce(t.watch ->> 'isOffered' = 'true', false), exists (select from runs r where r.workspace_id = $1
            and r.task_id = t.id and r.generation = t.generation and ${isLive('r.status')}), ${wakeupRows.select('w')}
     from unnest($2::text[]) as a(agent)
     cross join lateral (select * from wakeups w where w.workspace_id = $1 and w.agent = a.agent
       and ${isQueued('w.status')} and w.due_at <= clock_timestamp() order by ${IN_ORDER} limit 1 for no key update) w
     left join lateral (select * from tasks t where t.workspace_id = $1 and t.id = w.task_id offset 0) t on true`,
)

// The wakeups of these runs, locked. The wakeup of a run never changes. $2 runs.
export const lockWakeupsOfRuns = statement(
  'lock_wakeups_of_runs',
  `select ${wakeupRows.select('w')} from wakeups w where w.workspace_id = $1 and w.wakeup_id = any(array(
     select r.wakeup_id from runs r where r.workspace_id = $1 and r.run_id = any($2::uuid[]) and r.wakeup_id is not null))
    order by w.wakeup_id for no key update`,
)

// What a run reports on its way waits for this lock, and finds the run ended. $2 runs.
export const lockRuns = statement(
  'lock_runs',
  `select ${runRows.select('r')} from runs r where r.workspace_id = $1 and r.run_id = any($2::uuid[])
    order by r.run_id for no key update`,
)

// $2 agents.
export const sessionsOfAgents = statement(
  'sessions_of_agents',
  `select agent, adapter_type, task_key from agent_task_sessions where workspace_id = $1 and agent = any($2::text[])`,
)

// Those who add up what a task cost do so one after the other: each sees what the others have committed. $2 runs, $3 the tasks
// that they were meant for.
export const lockSpending = statement(
  'lock_spending',
  `select count(pg_advisory_xact_lock($1, hashtext(k.task_id::text))) from (
     select coalesce(r.task_id, a.task_id) as task_id from unnest($2::uuid[], $3::bigint[]) as a(run_id, task_id)
       join runs r on r.workspace_id = $1 and r.run_id = a.run_id order by 1) k where k.task_id is not null`,
)
// What all other runs and claims of their tasks used. As before.
export const usedByOthers = statement(
  'used_by_others',
  `select a.run_id, coalesce(sum(o.input_tokens + o.cached_input_tokens + o.output_tokens), 0)::bigint, trim_scale(sum(${costOf('o')}))::text
     from unnest($2::uuid[], $3::bigint[]) as a(run_id, task_id)
     join runs r on r.workspace_id = $1 and r.run_id = a.run_id
     left join usage_sources o on o.workspace_id = $1 and o.task_id = coalesce(r.task_id, a.task_id) and o.source_id <> r.run_id
    group by a.run_id`,
)

// How many runs of each agent are live. $2 agents, whose runtime states are locked.
export const liveRuns = statement(
  'live_runs_of_agents',
  `select a.agent, (select count(*) from runs r where r.workspace_id = $1 and r.agent = a.agent and ${isLive('r.status')})
     from unnest($2::text[]) as a(agent)`,
)

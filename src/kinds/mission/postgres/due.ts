import type pg from 'pg'
import type { MissionToSettle, TaskChore } from '../../../kernel/store/run-store.ts'
import { scopedQuery } from '../../../postgres/statements/scoped-query.ts'
import { costOf, HAS_TOLD } from '../../../postgres/statements/spent.ts'
import type { TaskState } from '../../../pure/states.ts'
import { inScope } from '../../task/postgres/due.ts'
import type { CostOfTask } from '../rules/command.ts'
import type { SkippedTask } from '../rules/retry.ts'

/** What upkeep reads of missions. */

const IS_PAUSED_WITH_IT = `t.state = 'paused' and t.watch ->> 'pausedByMission' = 'true'`

/** As isSnapshotDue in kinds/mission/rules/spending.ts. */
/** A mission m with its counters c has spent its budget, and nobody was asked yet. */
const HAS_SPENT = `(not 'budget' = any (m.closed_by) and ((m.config -> 'budget' ->> 'maxUsd')::numeric <= c.usd
          or (m.config -> 'budget' ->> 'maxTokens')::bigint <= c.tokens))`

const hasGrown = (total: string, type: string, budget: string) => {
  const reported = `coalesce((m.snapshot ->> '${total}')::${type}, 0)`
  const by = `coalesce((m.config -> 'budget' ->> '${budget}')::${type}, ${reported})`
  return `(c.${total} > ${reported} and (c.${total} - ${reported}) * 10 >= ${by})`
}

// Missions whose time has come; those with a retry to finish; running missions without open tasks, which no transaction ended and whose outcome waits for nobody, and those that a failed task stops; missions that are stopped
// and have open tasks; those that have spent their budget; closed ones
// with held tasks; open ones with tasks that were paused with them; those that have spent noticeably more; the same for tasks that are not
// work, which are not counted; and missions whose planning ended without a plan. $1 limit.
const TO_SETTLE = `select * from (
    select m.workspace_id as "workspaceId", m.mission_id as "missionId", m.uuid, case
        when m.retry_at is not null then 'retry'
        when open_tasks(c) = 0 and (m.config -> 'outcome' is null or 'cancelling' = any (m.closed_by)) then 'settle'
        when 'cancelling' = any (m.closed_by) then 'cancel'
        when ${HAS_SPENT} then 'budget'
        when m.config ->> 'onFailure' = 'stop' and c.failed > c.failed_optional then 'settle'
        when m.open_for = 'none' and held_tasks(c) > 0 then 'hold'
        when m.open_for = 'all' and c.paused > 0 and exists (select from tasks t
          where t.workspace_id = m.workspace_id and t.mission_id = m.mission_id and ${IS_PAUSED_WITH_IT}) then 'release'
        when ${hasGrown('usd', 'numeric', 'maxUsd')} or ${hasGrown('tokens', 'bigint', 'maxTokens')} then 'snapshot' end as chore
      from missions m join mission_counters c on c.workspace_id = m.workspace_id and c.mission_id = m.mission_id
     where m.completed_at is null and (m.phase = 'running' or 'cancelling' = any (m.closed_by))
    union all
    select m.workspace_id, m.mission_id, m.uuid, 'budget' from missions m
      join mission_counters c on c.workspace_id = m.workspace_id and c.mission_id = m.mission_id
     where m.completed_at is null and m.phase in ('planning', 'awaiting_approval') and ${HAS_SPENT}
    union all
    select m.workspace_id, m.mission_id, m.uuid, case
        when m.open_for = 'none' and t.claim_state = 'active' then 'hold'
        when m.open_for in ('all', t.purpose) and ${IS_PAUSED_WITH_IT} then 'release' end
      from tasks t join missions m on m.workspace_id = t.workspace_id and m.mission_id = t.mission_id
     where t.purpose <> 'work' and t.completed_at is null
    union all
    select m.workspace_id, m.mission_id, m.uuid, 'planFailed' from missions m
     where m.completed_at is null and (m.phase = 'planning' or (m.phase = 'running' and m.config -> 'outcome' ->> 'isPlanning' = 'true'))
       and not exists (select from tasks t
       where t.workspace_id = m.workspace_id and t.mission_id = m.mission_id and t.purpose <> 'work' and t.purpose = 'planning'
         and t.completed_at is null)
    union all
    select m.workspace_id, m.mission_id, m.uuid, 'start' from missions m
     where m.due_at is not null and m.due_at <= (select clock_timestamp()) and cardinality(m.closed_by) = 0
    union all
    select m.workspace_id, m.mission_id, m.uuid, 'start' from missions m
      join missions b on b.workspace_id = m.workspace_id and b.mission_id = m.after_mission
     where m.after_mission is not null and m.phase = 'pending' and m.due_at is null and cardinality(m.closed_by) = 0
       and b.completed_at is not null) w
   where chore is not null order by random() limit $1`

/** For `nextDue`. */
export const EARLIEST_MISSION_START =
  'select min(m.due_at) from missions m where m.due_at is not null and cardinality(m.closed_by) = 0'

export const missionsToSettle = (pool: pg.Pool, limit: number, only?: number) =>
  inScope<MissionToSettle & pg.QueryResultRow>(pool, only, TO_SETTLE, [limit])

const CONDITIONS: Record<TaskChore, string> = {
  hold: `t.claim_state = 'active'`,
  cancel: `t.completed_at is null`,
  release: IS_PAUSED_WITH_IT,
  retry: `t.state = 'failed' and t.purpose = 'work' and t.completed_at <= (select m.retry_at from missions m
    where m.workspace_id = t.workspace_id and m.mission_id = t.mission_id)`,
}

/** Tasks of a mission that a chore is about. */
export const tasksForChore = (
  pool: pg.Pool,
  workspaceId: number,
  missionId: number,
  chore: TaskChore,
  limit: number,
) =>
  scopedQuery<{ id: number; uuid: string }>(pool, 'baton.workspace_id', String(workspaceId), {
    text: `select t.id, t.uuid from tasks t
            where t.workspace_id = $1 and t.mission_id = $2 and ${CONDITIONS[chore]} order by t.id limit $3`,
    values: [workspaceId, missionId, limit],
  })

/** The tasks of a mission that cost most, of those that its totals have. */
export const costliestTasks = (pool: pg.Pool, workspaceId: number, missionId: number, limit: number) =>
  scopedQuery<CostOfTask & pg.QueryResultRow>(pool, 'baton.workspace_id', String(workspaceId), {
    text: `select t.uuid as "taskId", trim_scale(u.usd)::text as "costUsd", u.tokens from (
             select s.task_id, sum(${costOf('s')}) as usd, sum(s.input_tokens + s.cached_input_tokens + s.output_tokens)::bigint as tokens
               from usage_sources s where s.workspace_id = $1 and s.mission_id = $2 and ${HAS_TOLD('s')} group by s.task_id) u
             join tasks t on t.workspace_id = $1 and t.id = u.task_id
            order by u.usd desc nulls last, u.tokens desc, t.uuid limit $3`,
    values: [workspaceId, missionId, limit],
  })

// The skipped tasks of a mission, one row for each that they depend on. $1 workspace, $2 mission.
const SKIPPED = `select t.id, t.uuid, t.upstream, x.trigger_rule as rule, x.depends_on as "on", u.state from tasks t
    join task_dependencies x on x.workspace_id = t.workspace_id and x.task_id = t.id
    join tasks u on u.workspace_id = x.workspace_id and u.id = x.depends_on
  where t.workspace_id = $1 and t.mission_id = $2 and t.state = 'skipped' order by t.id`

type SkippedRow = Pick<SkippedTask, 'id' | 'uuid' | 'upstream' | 'rule'> & { on: number; state: TaskState }

export async function skippedInMission(
  pool: pg.Pool,
  workspaceId: number,
  missionId: number,
): Promise<SkippedTask[]> {
  const query = { text: SKIPPED, values: [workspaceId, missionId] }
  const rows = await scopedQuery<SkippedRow>(pool, 'baton.workspace_id', String(workspaceId), query)
  const tasks = new Map<number, SkippedTask & { dependsOn: { id: number; state: TaskState }[] }>()
  for (const { id, uuid, upstream, rule, on, state } of rows) {
    const known = tasks.get(id)
    if (known) known.dependsOn.push({ id: on, state })
    else tasks.set(id, { id, uuid, upstream, rule, dependsOn: [{ id: on, state }] })
  }
  return [...tasks.values()]
}

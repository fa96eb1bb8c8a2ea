import type pg from 'pg'
import { isLive } from '../../../postgres/statements/run-states.ts'
import { inside } from '../../../postgres/statements/scoped-query.ts'
import type { MissionMaterial, TaskMaterial } from '../rules/material.ts'

/** What reports are made from. */

// $1 workspace, $2 tasks, $3 when they ended.
export async function settlingTasks(
  pool: pg.Pool,
  workspaceId: number,
  ends: readonly { taskId: number; at: number }[],
): Promise<number[]> {
  const rows = await inside<{ id: number }>(
    pool,
    workspaceId,
    `select x.id from unnest($2::bigint[], $3::bigint[]) as x(id, at)
      where x.at > ms(clock_timestamp()) - 30000 and exists (select from runs r
        where r.workspace_id = $1 and r.task_id = x.id and ${isLive('r.status')})`,
    [ends.map(({ taskId }) => taskId), ends.map(({ at }) => at)],
  )
  return rows.map(({ id }) => id)
}

const MOST_ATTEMPTS = 50

const TOKENS =
  'coalesce(sum(r.input_tokens), 0) + coalesce(sum(r.cached_input_tokens), 0) + coalesce(sum(r.output_tokens), 0)'

// $1 workspace, $2 tasks.
const OF_TASKS = `select t.id, t.uuid, t.generation, t.purpose, t.state, t.agent, t.attempt, ms(t.created_at) as "createdAt",
    ms(t.started_at) as "startedAt", ms(t.completed_at) as "completedAt", d.title, d.task_type as "taskType", d.error,
    d.failure_class as "failureClass", (d.plan ->> 'estimatedTokens')::bigint as "estimatedTokens",
    (select a.summary from attempts a where a.workspace_id = $1 and a.task_id = t.id and a.accepted and a.epoch = t.epoch) as summary,
    coalesce((select json_agg(json_build_object('generation', a.generation, 'agent', a.agent, 'acquiredAt', ms(a.acquired_at),
        'endedAt', ms(a.ended_at), 'endReason', a.end_reason) order by a.generation)
      from (select * from attempts a where a.workspace_id = $1 and a.task_id = t.id and a.promoted_in = 0
          and a.acquired_at is not null order by a.generation desc limit ${MOST_ATTEMPTS}) a), '[]') as attempts,
    coalesce((select json_agg(json_build_object('id', r.run_id, 'agent', r.agent, 'model', r.model, 'status', r.status,
        'error', r.error_message, 'generation', r.generation) order by r.created_at)
      from (select * from runs r where r.workspace_id = $1 and r.task_id = t.id order by r.created_at desc limit ${MOST_ATTEMPTS}) r),
      '[]') as runs,
    coalesce((select json_agg(json_build_object('taskId', v.uuid, 'generation', (v.serves ->> 'generation')::int, 'state', v.state,
        'verifier', v.agent, 'answer', (select a.data from attempts a where a.workspace_id = $1 and a.task_id = v.id and a.accepted
          order by a.epoch desc limit 1)) order by v.id)
      from tasks v where v.workspace_id = $1 and v.serves is not null and (v.serves ->> 'taskId')::bigint = t.id), '[]') as verdicts,
    u.tokens, u.usd
  from unnest($2::bigint[]) as x(id)
  join tasks t on t.workspace_id = $1 and t.id = x.id
  join task_details d on d.workspace_id = $1 and d.task_id = t.id
  cross join lateral (select ${TOKENS} as tokens, trim_scale(sum(r.cost_usd))::text as usd from runs r
    where r.workspace_id = $1 and r.task_id = t.id) u`

export const materialOfTasks = (
  pool: pg.Pool,
  workspaceId: number,
  taskIds: readonly number[],
): Promise<TaskMaterial[]> => inside<TaskMaterial & pg.QueryResultRow>(pool, workspaceId, OF_TASKS, [taskIds])

// Those that failed first. $1 workspace, $2 mission, $3 limit.
const TASKS_OF_MISSION = `select t.uuid, t.state, t.agent, t.attempt, t.optional, d.title, left(d.error, 2000) as error,
    d.failure_class as "failureClass", left((select a.summary from attempts a where a.workspace_id = $1 and a.task_id = t.id and a.accepted
      and a.epoch = t.epoch), 2000) as summary, u.tokens, u.usd
  from tasks t join task_details d on d.workspace_id = $1 and d.task_id = t.id
  cross join lateral (select ${TOKENS} as tokens, trim_scale(sum(r.cost_usd))::text as usd from runs r
    where r.workspace_id = $1 and r.task_id = t.id) u
 where t.workspace_id = $1 and t.mission_id = $2 and t.purpose = 'work'
 order by t.state <> 'failed', t.id limit $3`

// What happened to the mission itself, and how results of its work were judged: answers of verifiers and planners are accepted
// by the same events. $1 workspace, $2 mission.
const OF_MISSION = `select
    coalesce((select json_agg(json_build_object('seq', e.seq, 'type', e.type, 'actor', e.actor, 'at', ms(e.at), 'payload', e.payload)
        order by e.seq)
      from (select * from events e where e.workspace_id = $1 and e.mission_id = $2 and e.task_id is null
          and e.type like 'mission\\_%' order by e.seq desc limit 100) e), '[]') as timeline,
    (select json_build_object('passed', count(*) filter (where e.type = 'task_verification_passed'),
        'failed', count(*) filter (where e.type = 'task_verification_failed'),
        'approved', count(*) filter (where e.type = 'task_human_approved'),
        'rejected', count(*) filter (where e.type = 'task_human_rejected'))
      from events e join tasks t on t.workspace_id = e.workspace_id and t.id = e.task_id and t.purpose = 'work'
     where e.workspace_id = $1 and e.mission_id = $2) as verdicts`

export async function materialOfMission(
  pool: pg.Pool,
  workspaceId: number,
  missionId: number,
  limit: number,
): Promise<Omit<MissionMaterial, 'mission'>> {
  const [tasks, [rest]] = await Promise.all([
    inside<MissionMaterial['tasks'][number] & pg.QueryResultRow>(pool, workspaceId, TASKS_OF_MISSION, [
      missionId,
      limit,
    ]),
    inside<Pick<MissionMaterial, 'timeline' | 'verdicts'> & pg.QueryResultRow>(
      pool,
      workspaceId,
      OF_MISSION,
      [missionId],
    ),
  ])
  return { tasks, ...rest! }
}

/** The accepted answer of a task. */
export async function acceptedAnswer(
  pool: pg.Pool,
  workspaceId: number,
  taskId: number,
): Promise<{ data: unknown } | null> {
  const text = `select a.data from attempts a where a.workspace_id = $1 and a.task_id = $2 and a.accepted order by a.epoch desc limit 1`
  return (await inside<{ data: unknown }>(pool, workspaceId, text, [taskId]))[0] ?? null
}

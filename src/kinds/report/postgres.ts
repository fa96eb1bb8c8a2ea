import type pg from 'pg'
import type { Changes } from '../../kernel/batch/requests.ts'
import type { Reported, ReportSubject, StoredReport } from '../../kernel/store/run-store.ts'
import { bind, type Connections } from '../../postgres/statements/connections.ts'
import { isLive } from '../../postgres/statements/run-states.ts'
import { inside } from '../../postgres/statements/scoped-query.ts'
import { isMissionSimulated, usedForTask } from '../../postgres/statements/spent.ts'
import { type Bound, columnsOf, insertInto } from '../../postgres/statements/statements.ts'
import type { Stored } from '../../postgres/statements/stored-kind.ts'
import type { MissionMaterial, TaskMaterial } from './rules/material.ts'

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
    u.tokens, u.usd, u."isSimulated"
  from unnest($2::bigint[]) as x(id)
  join tasks t on t.workspace_id = $1 and t.id = x.id
  join task_details d on d.workspace_id = $1 and d.task_id = t.id
  cross join lateral ${usedForTask('t.id')} u`

export const materialOfTasks = (
  pool: pg.Pool,
  workspaceId: number,
  taskIds: readonly number[],
): Promise<TaskMaterial[]> => inside<TaskMaterial & pg.QueryResultRow>(pool, workspaceId, OF_TASKS, [taskIds])

// Those that failed first. $1 workspace, $2 mission, $3 limit.
const TASKS_OF_MISSION = `select t.uuid, t.state, t.agent, t.attempt, t.optional, d.title, left(d.error, 2000) as error,
    d.failure_class as "failureClass", left((select a.summary from attempts a where a.workspace_id = $1 and a.task_id = t.id and a.accepted
      and a.epoch = t.epoch), 2000) as summary, u.tokens, u.usd, u."isSimulated"
  from tasks t join task_details d on d.workspace_id = $1 and d.task_id = t.id
  cross join lateral ${usedForTask('t.id')} u
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
     where e.workspace_id = $1 and e.mission_id = $2) as verdicts,
    ${isMissionSimulated('$2::bigint')} as "isSimulated"`

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
    inside<Pick<MissionMaterial, 'timeline' | 'verdicts' | 'isSimulated'> & pg.QueryResultRow>(
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

/** Reports for people. */

const HEAD = `r.report_id as id, r.uuid, r.mission_id as "missionId", r.task_id as "taskId", r.version, r.type, r.source, r.author,
  r.ended_seq as "endedSeq", ms(r.created_at) as at,
  (select m.uuid from missions m where m.workspace_id = r.workspace_id and m.mission_id = r.mission_id) as mission,
  (select t.uuid from tasks t where t.workspace_id = r.workspace_id and t.id = r.task_id) as task`

export type ReportHead = Omit<StoredReport, 'markdown'> & { bytes: number }

/** One version, or the newest. */
export async function newestReport(
  pool: pg.Pool,
  workspaceId: number,
  { missionId, taskId }: ReportSubject,
  version?: number,
): Promise<StoredReport | null> {
  const [row] = await inside<StoredReport & pg.QueryResultRow>(
    pool,
    workspaceId,
    `select ${HEAD}, r.markdown from reports r where r.workspace_id = $1 and r.mission_id = $2
        and coalesce(r.task_id, 0) = $3 and ($4::int is null or r.version = $4)
      order by r.version desc limit 1`,
    [missionId, taskId ?? 0, version ?? null],
  )
  return row ?? null
}

export async function reportById(
  pool: pg.Pool,
  workspaceId: number,
  uuid: string,
): Promise<StoredReport | null> {
  const text = `select ${HEAD}, r.markdown from reports r where r.workspace_id = $1 and r.uuid = $2`
  return (await inside<StoredReport & pg.QueryResultRow>(pool, workspaceId, text, [uuid]))[0] ?? null
}

export interface ReportFilter {
  types?: readonly string[] | undefined
  /** Those with a smaller number: newest first, page by page. */
  before?: number | undefined
}

/** All on a mission and on its tasks, without their texts; newest first. */
export const listReports = (
  pool: pg.Pool,
  workspaceId: number,
  missionId: number,
  { types, before }: ReportFilter,
  limit: number,
): Promise<ReportHead[]> =>
  inside<ReportHead & pg.QueryResultRow>(
    pool,
    workspaceId,
    `select ${HEAD}, octet_length(r.markdown) as bytes from reports r where r.workspace_id = $1 and r.mission_id = $2
        and ($3::text[] is null or r.type = any($3)) and ($4::bigint is null or r.report_id < $4)
      order by r.report_id desc limit $5`,
    [missionId, types ?? null, before ?? null, limit],
  )

export interface AllReportsFilter {
  /** Milliseconds since 1970. Its start belongs to the period, its end does not; null: open. */
  from: number | null
  to: number | null
  types?: readonly string[] | undefined
  /** Those before this place: newest first, page by page. */
  before?: readonly [at: number, id: number] | undefined
}

/** All of a workspace, without their texts; newest first. */
export function listAllReports(
  pool: pg.Pool,
  workspaceId: number,
  { from, to, types, before }: AllReportsFilter,
  limit: number,
): Promise<ReportHead[]> {
  const values: unknown[] = []
  const value = (one: unknown) => `$${values.push(one) + 1}`
  const instant = (ms: number) => `to_timestamp(${value(ms)}::double precision / 1000)`
  // Only what is asked for: the index gives each period by itself.
  const where = [
    from !== null && `r.created_at >= ${instant(from)}`,
    to !== null && `r.created_at < ${instant(to)}`,
    types && `r.type = any(${value(types)}::text[])`,
    before && `(r.created_at, r.report_id) < (${instant(before[0])}, ${value(before[1])}::bigint)`,
  ].filter((condition) => typeof condition === 'string')
  return inside<ReportHead & pg.QueryResultRow>(
    pool,
    workspaceId,
    `select ${HEAD}, octet_length(r.markdown) as bytes from reports r
      where ${['r.workspace_id = $1', ...where].join(' and ')}
      order by r.created_at desc, r.report_id desc limit ${value(limit)}`,
    values,
  )
}

/** How many reports there are on each of these subjects, and the last end that one of them reports; tasks by number, 0: the mission. */
export const reportedEnds = (
  pool: pg.Pool,
  workspaceId: number,
  missionId: number,
  subjects: readonly number[],
): Promise<Reported[]> =>
  inside<Reported & pg.QueryResultRow>(
    pool,
    workspaceId,
    `select s.subject, r.version, r."endedSeq" from unnest($3::bigint[]) as s(subject)
       cross join lateral (select max(r.version) as version, max(r.ended_seq) as "endedSeq" from reports r
         where r.workspace_id = $1 and r.mission_id = $2 and coalesce(r.task_id, 0) = s.subject) r
      where r.version is not null`,
    [missionId, subjects],
  )

/** Reports on the write path. */

// Their missions are locked.
const insertReports = insertInto(
  'reports',
  columnsOf({
    uuid: 'uuid',
    mission_id: 'bigint',
    task_id: 'bigint',
    version: 'int',
    type: 'text',
    source: 'text',
    author: 'text',
    ended_seq: 'bigint',
    markdown: 'text',
    created_at: 'instant',
  }),
)

export function reportWrites(workspaceId: number, { reports }: Changes): Bound[] {
  if (reports.length === 0) return []
  return [
    insertReports(workspaceId, [
      reports.map(({ uuid }) => uuid),
      reports.map(({ missionId }) => missionId),
      reports.map(({ task }) => task?.id ?? null),
      reports.map(({ version }) => version),
      reports.map(({ type }) => type),
      reports.map(({ source }) => source),
      reports.map(({ author }) => author),
      reports.map(({ endedSeq }) => endedSeq),
      reports.map(({ markdown }) => markdown),
      reports.map(({ at }) => at),
    ]),
  ]
}

export const storedReports: Stored = {
  tables: { reports: 'select, insert' },
}

export const reportReads = ({ readers }: Connections) =>
  bind(readers, {
    acceptedAnswer,
    materialOfMission,
    materialOfTasks,
    newest: newestReport,
    reported: reportedEnds,
    settling: settlingTasks,
  })

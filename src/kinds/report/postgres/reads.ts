import type pg from 'pg'
import type { Reported, ReportSubject, StoredReport } from '../../../kernel/store/run-store.ts'
import { inside } from '../../../postgres/statements/scoped-query.ts'

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

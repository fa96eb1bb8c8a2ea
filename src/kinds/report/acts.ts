import type { z } from 'zod'
import { numberIn, periodIn } from '../../door/asked.ts'
import { actsOf, type Call } from '../../door/door.ts'
import type { ServerKernel } from '../../door/server-kernel.ts'
import type { Caller } from '../../kernel/kernel.ts'
import type { ReportSubject, StoredReport } from '../../kernel/store/run-store.ts'
import { actorIn } from '../../pure/actors.ts'
import { Refused } from '../../pure/errors.ts'
import { instant } from '../../pure/instant.ts'
import type { AnswerOf } from '../../pure/shapes.ts'
import { requireMission } from '../mission/acts/missions.ts'
import { mustBeMissionOfRun } from '../mission/acts/of-run.ts'
import { readTask, requireRecord } from '../task/acts/tasks.ts'
import { type Draft, keepReports } from './acts/keep.ts'
import type { readReport } from './api.ts'
import * as api from './api.ts'
import { listAllReports, listReports, type ReportHead, reportById } from './postgres.ts'
import { LARGEST_REPORT_BYTES, typeOfTaskReport } from './rules/report.ts'
import type { ReportBody, ReportView } from './shapes.ts'

/** Reports as people and agents read them, and hand them in. */

type Body = z.output<typeof ReportBody>
type View = AnswerOf<typeof ReportView>

async function reportOnTask(kernel: ServerKernel, caller: Caller, uuid: string, body: Body): Promise<View> {
  const { record, details } = await readTask(kernel, caller, uuid)
  const { id, generation, missionId } = record
  if (missionId === null) throw new Refused('WRONG_STATE', 'Only tasks of missions have reports.')
  const type = body.type ?? typeOfTaskReport(details.taskType, record.state === 'failed')
  const task = { id, uuid, generation }
  return submit(kernel, caller, missionId, { task, type, markdown: body.markdown })
}

async function reportOnMission(
  kernel: ServerKernel,
  caller: Caller,
  uuid: string,
  body: Body,
): Promise<View> {
  await mustBeMissionOfRun(kernel, caller, uuid, 'reports')
  const { id } = await requireMission(kernel, caller, uuid)
  return submit(kernel, caller, id, { task: null, type: body.type ?? 'summary', markdown: body.markdown })
}

async function submit(
  kernel: ServerKernel,
  caller: Caller,
  missionId: number,
  report: Pick<Draft, 'task' | 'type' | 'markdown'>,
): Promise<View> {
  const bytes = Buffer.byteLength(report.markdown)
  if (bytes > LARGEST_REPORT_BYTES)
    throw Refused.field(
      'VALIDATION_FAILED',
      'markdown',
      `is ${bytes} bytes; a report has at most ${LARGEST_REPORT_BYTES}`,
    )
  if (report.markdown.trim() === '') throw Refused.field('VALIDATION_FAILED', 'markdown', 'is blank')
  const reply = await keepReports(kernel, caller, missionId, [
    { ...report, source: 'submitted', endedSeq: null },
  ])
  // Missions are not deleted.
  return showReport(kernel, caller, reply!.reports![0]!.uuid)
}

const noReport = (detail: string) => new Refused('NOT_FOUND', detail)

async function newestOnTask(kernel: ServerKernel, caller: Caller, uuid: string, version?: number) {
  const { id: taskId, missionId } = await requireRecord(kernel, caller, uuid)
  return newest(kernel, caller, missionId === null ? null : { missionId, taskId }, version)
}

async function newestOnMission(kernel: ServerKernel, caller: Caller, uuid: string, version?: number) {
  const { id: missionId } = await requireMission(kernel, caller, uuid)
  return newest(kernel, caller, { missionId, taskId: null }, version)
}

async function newest(
  kernel: ServerKernel,
  caller: Caller,
  subject: ReportSubject | null,
  version: number | undefined,
): Promise<View> {
  const found = subject && (await kernel.store.reports.newest(caller.workspaceId, subject, version))
  if (!found)
    throw noReport(
      version === undefined
        ? 'There is no report on it yet.'
        : `There is no version ${version} of the report.`,
    )
  return reportView(kernel, caller, found)
}

async function showReport(kernel: ServerKernel, caller: Caller, uuid: string): Promise<View> {
  const found = await reportById(kernel.store.readers, caller.workspaceId, uuid)
  if (!found) throw noReport(`There is no report ${uuid} in this workspace.`)
  return reportView(kernel, caller, found)
}

async function headViews(kernel: ServerKernel, { workspaceId }: Caller, rows: readonly ReportHead[]) {
  const authors = rows.map(({ author }) => author)
  const nameOf = await kernel.actorNames.of(workspaceId, authors)
  return (row: ReportHead) => headView(row, nameOf(row.author))
}

const headView = (report: ReportHead, name: string | null) => ({
  id: report.uuid,
  missionId: report.mission,
  taskId: report.task,
  version: report.version,
  type: report.type,
  source: report.source,
  author: actorIn(report.author, name),
  bytes: report.bytes,
  at: instant(report.at),
})

async function reportView(
  kernel: ServerKernel,
  { workspaceId }: Caller,
  report: StoredReport,
): Promise<View> {
  const nameOf = await kernel.actorNames.of(workspaceId, [report.author])
  const bytes = Buffer.byteLength(report.markdown)
  return { ...headView({ ...report, bytes }, nameOf(report.author)), markdown: report.markdown }
}

/** As JSON, or as a file of the text alone. The file is named by ids: a title could contain anything. */
function asAsked(
  { query, headers, reply }: Pick<Call<typeof readReport>, 'query' | 'headers' | 'reply'>,
  report: View,
): View | string {
  reply.header('vary', 'accept')
  const isAccepted = /(^|,)\s*text\/markdown\b/i.test(headers.accept ?? '')
  if ((query.format ?? (isAccepted ? 'markdown' : 'json')) === 'json') return report
  const { missionId, taskId, version } = report
  const subject = taskId === null ? `mission-${missionId}` : `task-${taskId}`
  reply.header('content-disposition', `attachment; filename="report-${subject}-v${version}.md"`)
  reply.header('content-type', 'text/markdown; charset=utf-8')
  return report.markdown
}

export const reportActs = actsOf(api)({
  readReportOnTask: async ({ kernel }, call) =>
    asAsked(call, await newestOnTask(kernel, call.caller, call.params.id, numberIn(call.query.version))),
  readReportOnMission: async ({ kernel }, call) =>
    asAsked(call, await newestOnMission(kernel, call.caller, call.params.id, numberIn(call.query.version))),
  reportOnTask: ({ kernel }, { params, body, caller }) => reportOnTask(kernel, caller, params.id, body),
  reportOnMission: ({ kernel }, { params, body, caller }) => reportOnMission(kernel, caller, params.id, body),
  listReports: async ({ kernel }, { params, query, caller, page }) => {
    const { id } = await requireMission(kernel, caller, params.id)
    const filter = { types: query.type && [query.type], before: page.after }
    const rows = await listReports(kernel.store.readers, caller.workspaceId, id, filter, page.rows)
    return page.of(rows, await headViews(kernel, caller, rows), (row) => row.id)
  },
  listAllReports: async ({ kernel }, { query, caller, page }) => {
    const filter = { ...periodIn(query), types: query.type && [query.type], before: page.after }
    const rows = await listAllReports(kernel.store.readers, caller.workspaceId, filter, page.rows)
    return page.of(rows, await headViews(kernel, caller, rows), ({ at, id }) => [at, id])
  },
  readReport: async ({ kernel }, call) =>
    asAsked(call, await showReport(kernel, call.caller, call.params.id)),
})

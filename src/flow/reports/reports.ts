import type { z } from 'zod'
import { Refused } from '../../core/errors.ts'
import { actorIn } from '../../core/event-entities.ts'
import { LARGEST_REPORT_BYTES, typeOfTaskReport } from '../../core/reports/report.ts'
import type { AnswerOf } from '../../core/shapes/common.ts'
import type { ReportBody, ReportList, ReportView } from '../../core/shapes/reports.ts'
import type { Caller } from '../../kernel/kernel.ts'
import type { ServerKernel } from '../../kernel/server-kernel.ts'
import type { ReportSubject, StoredReport } from '../../store/run-store.ts'
import type { AllReportsFilter, ReportFilter, ReportHead } from '../../store/server-store.ts'
import { requireMission } from '../missions/missions.ts'
import { mustBeMissionOfRun } from '../missions/of-run.ts'
import { readTask, requireRecord } from '../tasks.ts'
import { instant } from '../views.ts'
import { type Draft, keepReports } from './keep.ts'

/** Reports as people and agents read them, and hand them in. */

type Body = z.output<typeof ReportBody>
type View = AnswerOf<typeof ReportView>

export async function reportOnTask(
  kernel: ServerKernel,
  caller: Caller,
  uuid: string,
  body: Body,
): Promise<View> {
  const { record, details } = await readTask(kernel, caller, uuid)
  const { id, generation, missionId } = record
  if (missionId === null) throw new Refused('WRONG_STATE', 'Only tasks of missions have reports.')
  const type = body.type ?? typeOfTaskReport(details.taskType, record.state === 'failed')
  const task = { id, uuid, generation }
  return submit(kernel, caller, missionId, { task, type, markdown: body.markdown })
}

export async function reportOnMission(
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

export async function newestOnTask(kernel: ServerKernel, caller: Caller, uuid: string, version?: number) {
  const { id: taskId, missionId } = await requireRecord(kernel, caller, uuid)
  return newest(kernel, caller, missionId === null ? null : { missionId, taskId }, version)
}

export async function newestOnMission(kernel: ServerKernel, caller: Caller, uuid: string, version?: number) {
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

export async function showReport(kernel: ServerKernel, caller: Caller, uuid: string): Promise<View> {
  const found = await kernel.store.reports.find(caller.workspaceId, uuid)
  if (!found) throw noReport(`There is no report ${uuid} in this workspace.`)
  return reportView(kernel, caller, found)
}

interface Listed {
  rows: ReportHead[]
  view: (row: ReportHead) => AnswerOf<typeof ReportList>['items'][number]
}

export async function listReports(
  kernel: ServerKernel,
  caller: Caller,
  uuid: string,
  filter: ReportFilter,
  limit: number,
): Promise<Listed> {
  const { id } = await requireMission(kernel, caller, uuid)
  return named(kernel, caller, await kernel.store.reports.list(caller.workspaceId, id, filter, limit))
}

/** Those of all missions. */
export const listAllReports = async (
  kernel: ServerKernel,
  caller: Caller,
  filter: AllReportsFilter,
  limit: number,
): Promise<Listed> =>
  named(kernel, caller, await kernel.store.reports.listAll(caller.workspaceId, filter, limit))

async function named(kernel: ServerKernel, { workspaceId }: Caller, rows: ReportHead[]): Promise<Listed> {
  const authors = rows.map(({ author }) => author)
  const nameOf = await kernel.actorNames.of(workspaceId, authors)
  return { rows, view: (row) => headView(row, nameOf(row.author)) }
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

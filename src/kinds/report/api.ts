import { z } from 'zod'
import { endpoint } from '../../pure/endpoint.ts'
import { byId, LATEST_MS, valuesOf } from '../../pure/paging.ts'
import { IdParams, Instant, Page, Uuid } from '../../pure/shapes.ts'
import { MissionParams } from '../mission/shapes/missions.ts'
import { REPORT_TYPES } from './rules/report.ts'
import { ReportBody, ReportList, ReportView } from './shapes.ts'

/** Reports on missions and their tasks. Those who work may report, too: an agent, on its own task and its mission. */

const tag = 'reports'
const mediaTypes = ['application/json', 'text/markdown']
/** JSON may need six characters for one. */
const LARGEST_BODY = 8 * 1024 * 1024

const format = z
  .enum(['json', 'markdown'])
  .optional()
  .describe('"markdown": only the text, as a file. Default: what the client accepts')
const FormatQuery = z.strictObject({ format })
const VersionQuery = z.strictObject({
  format,
  version: z
    .string()
    .regex(/^[1-9][0-9]{0,8}$/)
    .optional()
    .describe('Default: the newest'),
})
const ListQuery = z.strictObject({ ...Page, type: z.enum(REPORT_TYPES).optional() })

const AllQuery = ListQuery.extend({
  from: Instant.optional().describe('Written then or later'),
  to: Instant.optional().describe('Written earlier than that'),
})

/** Of the last report of a page: when it was written, and its number. */
const Place = z.tuple([z.int().min(0).max(LATEST_MS), z.int().min(0)])

const reading = { tag, needs: 'read', query: VersionQuery, answer: ReportView, mediaTypes } as const

export const readReportOnTask = endpoint({
  method: 'GET',
  path: '/tasks/:id/report',
  summary: 'Read the newest report on a task, or another version',
  params: IdParams,
  ...reading,
})

export const readReportOnMission = endpoint({
  method: 'GET',
  path: '/missions/:id/report',
  summary: 'Read the newest report on a mission, or another version',
  params: MissionParams,
  ...reading,
})

const reporting = {
  tag,
  needs: 'work',
  body: ReportBody,
  bodyLimit: LARGEST_BODY,
  status: 201,
  answer: ReportView,
} as const

export const reportOnTask = endpoint({
  method: 'POST',
  path: '/tasks/:id/report',
  summary: 'Hand in a report on a task: it is the next version',
  params: IdParams,
  ...reporting,
})

export const reportOnMission = endpoint({
  method: 'POST',
  path: '/missions/:id/report',
  summary: 'Hand in a report on a mission: it is the next version',
  params: MissionParams,
  ...reporting,
})

export const listReports = endpoint({
  method: 'GET',
  path: '/missions/:id/reports',
  summary: 'List the reports on a mission and on its tasks, newest first, without their texts',
  tag,
  needs: 'read',
  params: MissionParams,
  query: ListQuery,
  answer: ReportList,
  paging: byId,
})

export const listAllReports = endpoint({
  method: 'GET',
  path: '/reports',
  summary: 'List the reports of the workspace, of all time or of a period, newest first, without their texts',
  tag,
  needs: 'read',
  query: AllQuery,
  answer: ReportList,
  paging: { cursor: valuesOf(Place) },
})

export const readReport = endpoint({
  method: 'GET',
  path: '/reports/:id',
  summary: 'Read a report',
  tag,
  needs: 'read',
  params: z.strictObject({ id: Uuid }),
  query: FormatQuery,
  answer: ReportView,
  mediaTypes,
})

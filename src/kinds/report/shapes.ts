import { z } from 'zod'
import { ACTOR_KINDS } from '../../pure/actors.ts'
import { listOf, Uuid } from '../../pure/shapes.ts'
import { LARGEST_REPORT_BYTES, REPORT_SOURCES, REPORT_TYPES } from './rules/report.ts'

/** Reports on missions and their tasks. */

export const ReportBody = z.strictObject({
  markdown: z.string().min(1).max(LARGEST_REPORT_BYTES).describe('At most 1,048,576 bytes as UTF-8'),
  type: z
    .enum(REPORT_TYPES)
    .optional()
    .describe('Default: by the type of the task, "incident" if it failed; of a mission "summary"'),
})

const ReportHead = z.object({
  id: Uuid,
  missionId: Uuid,
  taskId: Uuid.nullable().describe('Null: it is about the mission'),
  version: z.int().describe('Each subject has its own, from 1 on'),
  type: z.enum(REPORT_TYPES),
  source: z
    .enum(REPORT_SOURCES)
    .describe('Written by Baton, or by the agent that the mission names; or handed in'),
  author: z.object({ kind: z.enum(ACTOR_KINDS), id: z.string().nullable(), name: z.string().nullable() }),
  bytes: z.int(),
  at: z.string(),
})
export const ReportView = ReportHead.extend({ markdown: z.string() })
export const ReportList = listOf(ReportHead)

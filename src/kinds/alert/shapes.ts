import { z } from 'zod'
import { ShortText, Uuid } from '../../pure/shapes.ts'
import { ABOUT, ALERT_CAUSES, type AlertCause, SCOPES, SEVERITIES } from './causes.ts'
import { ALERT_STATES } from './record.ts'

export const AlertCauses = z.enum(ALERT_CAUSES as [AlertCause, ...AlertCause[]])
export const AlertQuery = {
  state: z.enum(ALERT_STATES).optional().describe('Only those in this state'),
  severity: z.enum(SEVERITIES).optional(),
  cause: AlertCauses.optional(),
  scope: z
    .enum(SCOPES)
    .optional()
    .describe(
      '"instance", for keys with the right "instance": the alerts of this instance, in whatever workspace',
    ),
}

export const AlertParams = z.object({ id: Uuid })
export const AcknowledgeBody = z.strictObject({ comment: ShortText.optional() })

export const AlertView = z.object({
  id: Uuid,
  cause: AlertCauses,
  severity: z.enum(SEVERITIES),
  scope: z.enum(SCOPES),
  state: z.enum(ALERT_STATES),
  title: z.string().describe('What has happened, in words'),
  about: z.object({
    kind: z.enum(ABOUT),
    subject: z.string().describe('Its id, slug or name; empty: the workspace or the instance itself'),
    name: z.string().nullable(),
    taskId: Uuid.nullable(),
    missionId: Uuid.nullable(),
  }),
  detail: z.string().nullable(),
  count: z.int().describe('How often it was noticed'),
  firstAt: z.string(),
  lastAt: z.string(),
  acknowledgedAt: z.string().nullable(),
  acknowledgedBy: z.string().nullable().describe('The name of the key of whoever acknowledged it'),
  comment: z.string().nullable(),
  resolvedAt: z.string().nullable(),
  todo: z.string().describe('What a person can do; docs/alerts.md says more'),
  inboxItem: z.string().nullable().describe('The item of the inbox about it, while there is one'),
})

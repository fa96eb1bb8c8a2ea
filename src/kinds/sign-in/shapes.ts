import { z } from 'zod'
import { Uuid } from '../../pure/shapes.ts'
import { KeyView, WorkspaceView } from '../workspace/shapes.ts'

/** People in browsers: signing in, and what the page learns about itself. */

const Secret = z.string().min(1).max(200)

/** One of the two. */
export const SignInBody = z.strictObject({
  token: Secret.optional().describe('From a one-time link: what follows "#" in its address'),
  key: Secret.optional().describe('An API key; the browser does not keep it'),
})

export const SessionAnswer = z.object({
  id: Uuid.nullable().describe('Of the browser session; null: the request carries a key'),
  workspace: WorkspaceView,
  key: KeyView.pick({ id: true, name: true }),
  role: KeyView.shape.role,
  rights: z.array(z.string()),
  head: z.int().describe('The number of the last event'),
  inboxCount: z.int().describe('How many items wait for people; missions that have ended are not counted'),
  version: z.string().describe('Of the server'),
  traceUrl: z
    .string()
    .nullable()
    .describe('Where a trace is shown, with {traceId} in place of its id; null: runs are not traced'),
  instance: z.string().describe('Of the database: its event numbers mean nothing in another one'),
  expiresAt: z.string().nullable(),
})

/** The only answer that has the value which the page sends as "Baton-Session". */
export const SignedIn = SessionAnswer.extend({ id: Uuid, pageValue: z.string(), expiresAt: z.string() })

export const BrowserSessionView = z.object({
  id: Uuid,
  key: KeyView.pick({ id: true, name: true }),
  userAgent: z.string().nullable(),
  isCurrent: z.boolean().describe('It is the session of this request'),
  createdAt: z.string(),
  lastSeenAt: z.string().describe('Exact to a minute'),
  expiresAt: z.string(),
})

export const TicketAnswer = z.object({ ticket: z.string(), expiresAt: z.string() })
export const LinkAnswer = z.object({ url: z.string(), expiresAt: z.string() })

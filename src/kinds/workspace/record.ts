import { boolean, type Field, int, orNull, text } from '../../pure/fields.ts'
import type { Limits } from './limits.ts'

/** The one record under which the workspace itself is found. */
export const THE_WORKSPACE = 'workspace'

/** What a workspace decides about itself. */
export interface WorkspaceRecord {
  limits: Limits
}

/** How much of these limits is in use. */
export interface LimitUse {
  maxConcurrentClaims: number
  maxActiveSessions: number
  maxGenerationsPerTask: number
}

export const LIMIT_FIELDS = {
  minLeaseSeconds: int(),
  maxLeaseSeconds: int(),
  maxConcurrentClaims: int(),
  maxGenerationsPerTask: int(),
  maxResultBytes: int(),
  lateResults: boolean(),
  maxActiveSessions: int(),
  claimHistoryRetentionDays: int(),
  assignTimeoutSeconds: int(),
  stallTimeoutSeconds: orNull(int()),
  verifyTimeoutSeconds: int(),
  hangGraceSeconds: int(),
  hangAbortSeconds: int(),
  queueOrder: text<Limits['queueOrder']>(),
  branchRetentionDays: int(),
  timeZone: text(),
} satisfies { [Name in keyof Limits]: Field<Limits[Name]> }

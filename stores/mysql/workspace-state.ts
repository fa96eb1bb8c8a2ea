import { DEFAULT_LIMITS, type Limits } from '../../src/kinds/workspace/limits.ts'
import type { Row } from './connect.ts'
import { LIMIT_COLUMNS } from './statements.ts'

/** The state of a workspace at the time of a read. */
export interface WorkspaceState {
  now: number
  activeClaims: number
  activeSessions: number
  hasTracks: boolean
  limits: Limits
}

export function readWorkspaceState([
  now,
  activeClaims,
  activeSessions,
  hasTracks,
  ...limits
]: Row): WorkspaceState {
  return {
    now: now as number,
    activeClaims: activeClaims as number,
    activeSessions: activeSessions as number,
    hasTracks: hasTracks === 1,
    limits: readLimits(limits),
  }
}

export function readLimits(row: Row): Limits {
  const fields = Object.keys(LIMIT_COLUMNS) as (keyof Limits)[]
  const read = fields.map((field, i) => [
    field,
    typeof DEFAULT_LIMITS[field] === 'boolean' ? row[i] === 1 : row[i],
  ])
  return Object.fromEntries(read) as Limits
}

import type pg from 'pg'
import { plainKind } from '../../postgres/statements/plain-kind.ts'
import { plainRows } from '../../postgres/statements/plain-rows.ts'
import { inside } from '../../postgres/statements/scoped-query.ts'
import type { StoredKind } from '../../postgres/statements/stored-kind.ts'
import { THRESHOLD_FIELDS, type ThresholdRecord } from './record.ts'

const rows = plainRows('alert_thresholds', THRESHOLD_FIELDS)

export const storedThresholds: StoredKind<'threshold'> = plainKind('threshold', {
  rows,
  may: 'select, insert, update, delete',
})

// All that a workspace has set. $1 workspace.
const LIST = `select ${rows.named('h')} from alert_thresholds h where h.workspace_id = $1`

export const setThresholds = (pool: pg.Pool, workspaceId: number) =>
  inside<ThresholdRecord & pg.QueryResultRow>(pool, workspaceId, LIST)

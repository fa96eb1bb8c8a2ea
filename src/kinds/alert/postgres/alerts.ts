import type pg from 'pg'
import { plainKind } from '../../../postgres/statements/plain-kind.ts'
import { plainRows } from '../../../postgres/statements/plain-rows.ts'
import { inside, scopedQuery } from '../../../postgres/statements/scoped-query.ts'
import type { StoredKind } from '../../../postgres/statements/stored-kind.ts'
import type { AlertCause, AlertScope, Severity } from '../causes.ts'
import type { AlertPlace } from '../paging.ts'
import { ALERT_FIELDS, type AlertRecord, type AlertState } from '../record.ts'
import { EARLIEST_ALERT_CHECK } from './untaken.ts'

/** Alerts as rows, and as people read them. */

const rows = plainRows('alerts', ALERT_FIELDS)

const plain = plainKind('alert', { rows, may: 'select, insert, update, delete' })

export const storedAlerts: StoredKind<'alert'> = {
  ...plain,
  tables: { ...plain.tables, alert_checks: 'select, insert, update, delete' },
  due: [EARLIEST_ALERT_CHECK],
  firstCome: ['alerts_pkey'],
}

export interface ReadAlert extends AlertRecord {
  /** The ids of the task and the mission, outside. */
  task: string | null
  mission: string | null
}

export interface AlertFilter {
  id?: string | undefined
  state?: AlertState | undefined
  severity?: Severity | undefined
  cause?: AlertCause | undefined
  scope?: AlertScope | undefined
  after?: AlertPlace | undefined
}

const STATES = {
  open: 'a.resolved_at is null and a.acknowledged_at is null',
  acknowledged: 'a.resolved_at is null and a.acknowledged_at is not null',
  resolved: 'a.resolved_at is not null',
}

/** Newest first. */
export const listAlerts = (
  pool: pg.Pool,
  workspaceId: number,
  { id, state, severity, cause, scope, after }: AlertFilter,
  limit: number,
) =>
  inside<ReadAlert & pg.QueryResultRow>(
    pool,
    workspaceId,
    `select ${rows.named('a')},
            (select t.uuid from tasks t where t.workspace_id = $1 and t.id = a.task_id) as task,
            (select m.uuid from missions m where m.workspace_id = $1 and m.mission_id = a.mission_id) as mission
       from alerts a where a.workspace_id = $1 and ($2::uuid is null or a.alert_id = $2)
        and ($3::text is null or a.severity = $3) and ($4::text is null or a.cause = $4) and ($5::text is null or a.scope = $5)
        and ($6::float8 is null or a.first_at < to_timestamp($6 / 1000) or (a.first_at = to_timestamp($6 / 1000) and a.alert_id > $7::uuid))
        ${state ? `and ${STATES[state]}` : ''}
      order by a.first_at desc, a.alert_id limit $8`,
    [
      ...[id ?? null, severity ?? null, cause ?? null, scope ?? null],
      ...[after?.firstAt ?? null, after?.id ?? null, limit],
    ],
  )

/** The alerts that are open about a subject of this cause, and how often that cause was raised about it. */
export async function standingAlert(
  pool: pg.Pool,
  workspaceId: number,
  cause: AlertCause,
  subject: string,
): Promise<{ number: number; alertId: string; isOpen: boolean } | null> {
  const [row] = await inside<{ number: number; alertId: string; isOpen: boolean }>(
    pool,
    workspaceId,
    `select a.number, a.alert_id as "alertId", a.resolved_at is null as "isOpen" from alerts a
      where a.workspace_id = $1 and a.cause = $2 and a.subject = $3 order by a.number desc limit 1`,
    [cause, subject],
  )
  return row ?? null
}

/** What is over is kept for ninety days. */
export const forgetOldAlerts = (pool: pg.Pool) =>
  scopedQuery(pool, 'baton.scope', 'upkeep', {
    text: `delete from alerts where resolved_at < clock_timestamp() - interval '90 days'`,
  })

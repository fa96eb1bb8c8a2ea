import type pg from 'pg'
import { plainKind } from '../../postgres/statements/plain-kind.ts'
import { plainRows } from '../../postgres/statements/plain-rows.ts'
import { inside, scopedQuery } from '../../postgres/statements/scoped-query.ts'
import type { StoredKind } from '../../postgres/statements/stored-kind.ts'
import type { Verdict } from '../hook-delivery/record.ts'
import { HOOK_FIELDS, type HookRecord } from './record.ts'

const rows = plainRows('hooks', HOOK_FIELDS)

/** Commands see all that are not removed: how many there may be is limited, and their names differ. */
export const storedHooks: StoredKind<'hook'> = {
  ...plainKind('hook', { rows, may: 'select, insert, update, delete', reads: 'r.removed_at is null' }),
  firstCome: ['hooks_by_name'],
}

/** A hook, and what became of its last delivery. */
export type ListedHook = HookRecord & { lastAt: number | null; lastVerdict: Verdict | null }

const LISTED = `select ${rows.named('h', ['secret', 'previousSecret'])}, ms(d.received_at) as "lastAt", d.verdict as "lastVerdict"
  from hooks h left join lateral (select d.received_at, d.verdict from hook_deliveries d
    where d.workspace_id = $1 and d.hook_id = h.hook_id order by d.delivery_id desc limit 1) d on true
  where h.workspace_id = $1 and h.removed_at is null`

// Those of a workspace by name. $1 workspace, $2 after this name, $3 how many.
const LIST = `${LISTED} and ($2::text is null or h.name > $2) order by h.name limit $3`

export const listHooks = (pool: pg.Pool, workspaceId: number, after: string | undefined, limit: number) =>
  inside<ListedHook & pg.QueryResultRow>(pool, workspaceId, LIST, [after ?? null, limit])

// One of a workspace, without its secrets. $1 workspace, $2 hook.
const READ = `${LISTED} and h.hook_id = $2`

export async function readHook(pool: pg.Pool, workspaceId: number, id: string): Promise<ListedHook | null> {
  const [found] = await inside<ListedHook & pg.QueryResultRow>(pool, workspaceId, READ, [id])
  return found ?? null
}

// The hook that a delivery names, in whichever workspace: the row policy shows only the row of this id.
const CALLED = `select ${rows.named('h')}, h.workspace_id as "workspaceId", ms(clock_timestamp()) as now from hooks h where h.removed_at is null`

export type CalledHook = HookRecord & { workspaceId: number; now: number }

export async function calledHook(pool: pg.Pool, id: string): Promise<CalledHook | null> {
  const statement = { name: 'called_hook', text: CALLED }
  const [found] = await scopedQuery<CalledHook>(pool, 'baton.hook_id', id, statement)
  return found ?? null
}

import type pg from 'pg'
import { bind, type Connections } from '../../postgres/statements/connections.ts'
import { plainKind } from '../../postgres/statements/plain-kind.ts'
import { plainRows } from '../../postgres/statements/plain-rows.ts'
import { inside } from '../../postgres/statements/scoped-query.ts'
import type { StoredKind } from '../../postgres/statements/stored-kind.ts'
import { MODEL_TIER_FIELDS, type ModelTierRecord } from './record.ts'

const rows = plainRows('model_tiers', MODEL_TIER_FIELDS)

/** Commands see all of them: how many there may be is limited. */
export const storedModelTiers: StoredKind<'modelTier'> = plainKind('modelTier', {
  rows,
  may: 'select, insert, update, delete',
  reads: 'true',
})

// All that a workspace has named, by adapter. $1 workspace.
const LIST = `select ${rows.named('t')} from model_tiers t where t.workspace_id = $1 order by t.adapter_type`

const listModelTiers = (pool: pg.Pool, workspaceId: number) =>
  inside<ModelTierRecord & pg.QueryResultRow>(pool, workspaceId, LIST)

export const modelTierReads = ({ readers }: Connections) => bind(readers, { list: listModelTiers })

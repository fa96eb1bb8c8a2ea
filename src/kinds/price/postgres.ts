import type pg from 'pg'
import { bind, type Connections } from '../../postgres/statements/connections.ts'
import { plainKind } from '../../postgres/statements/plain-kind.ts'
import { plainRows } from '../../postgres/statements/plain-rows.ts'
import { inside } from '../../postgres/statements/scoped-query.ts'
import type { StoredKind } from '../../postgres/statements/stored-kind.ts'
import { PRICE_FIELDS, type PriceRecord } from './record.ts'

const rows = plainRows('prices', PRICE_FIELDS)

/** Commands see all of them: how many there may be is limited. */
export const storedPrices: StoredKind<'price'> = plainKind('price', {
  rows,
  may: 'select, insert, update, delete',
  reads: 'true',
})

// All that a workspace has set, by model. $1 workspace.
const LIST = `select ${rows.named('p')} from prices p where p.workspace_id = $1 order by p.model`

const listPrices = (pool: pg.Pool, workspaceId: number) =>
  inside<PriceRecord & pg.QueryResultRow>(pool, workspaceId, LIST)

export const priceReads = ({ readers }: Connections) => bind(readers, { list: listPrices })

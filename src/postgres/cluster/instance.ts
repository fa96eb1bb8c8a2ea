import type pg from 'pg'
import { scopedQuery } from '../statements/scoped-query.ts'

/** The id of the database. A copy or a restored backup has the same. */
export async function readInstanceId(pool: pg.Pool): Promise<string> {
  const text = 'select instance_id as id from instance where workspace_id = 0'
  const [row] = await scopedQuery<{ id: string }>(pool, 'baton.scope', 'cluster', { text })
  return row!.id
}

import type { Changes, View } from '../../kernel/batch/requests.ts'
import { KINDS } from '../../kinds/all.ts'
import type { Kind, KindName, KindShape, KindTypes } from '../../kinds/kind.ts'
import { isUuid } from '../../pure/ids.ts'
import type { PlainRows } from './plain-rows.ts'
import { arrayLiteral } from './rows.ts'
import { type Bound, statement } from './statements.ts'
import type { StoredKind } from './stored-kind.ts'

interface PlainTable<K extends KindName> {
  /** All of a record, or what the kind itself adds the rest to. */
  rows: PlainRows<Partial<KindTypes[K]['record']>>
  /** What the server may do with its rows. */
  may: string
  /**
   * Which rows the commands see: by default those that they name. Others that commands on one record depend on are named here, as a
   * condition on rows `r`.
   */
  reads?: string
}

/**
 * A kind whose records are the rows of one table: it needs its fields and its rules. Rows are locked first and read afterwards, so
 * that what others wrote meanwhile is seen, new rows included.
 */
export function plainKind<K extends KindName>(kind: K, { rows, may, reads }: PlainTable<K>): StoredKind<K> {
  type Row = KindTypes[K]['record']
  const { keyOf } = KINDS[kind] as unknown as Kind<KindShape>
  const { table, key, type } = rows
  const of = `from ${table} r where r.workspace_id = $1 and (${reads ?? 'false'} or r.${key} = any($2::${type}[]))`
  // $1 workspace, $2 keys.
  const lock = statement(`lock_${table}`, `select ${of} order by r.${key} for no key update`)
  const read = statement(`read_${table}`, `select ${rows.select('r')} ${of}`)
  const remove = statement(
    `remove_${table}`,
    `delete from ${table} where workspace_id = $1 and ${key} = any($2::${type}[])`,
  )
  return {
    tables: { [table]: may },
    plain: { table, key, may },
    ask(pipeline, { kinds }) {
      if (kinds[kind].length === 0) return null
      // What has not the form of an id names no row.
      const keys = [arrayLiteral(type === 'uuid' ? kinds[kind].filter(isUuid) : kinds[kind])]
      pipeline.addIn(lock, keys)
      const found = pipeline.addIn(read, keys)
      return () => {
        const records = found().map((row) => rows.read(row) as Row)
        const seen = new Map(records.map((record) => [keyOf(record), { record, holding: [] }]))
        return { view: { seen, counted: 0 } as never }
      }
    },
    write(workspaceId: number, { kinds }: View, changes: Changes): Bound[] {
      const { written, removed } = changes.kinds[kind]
      const isKnown = (record: Row) => kinds[kind].seen.has(keyOf(record))
      const [known, fresh] = [written.filter(isKnown), written.filter((record) => !isKnown(record))]
      const writes: Bound[] = []
      if (fresh.length > 0) writes.push(rows.insert(workspaceId, fresh))
      if (known.length > 0) writes.push(rows.upsert(workspaceId, known))
      if (removed.length > 0) writes.push([remove, [workspaceId, arrayLiteral(removed)]])
      return writes
    },
  }
}

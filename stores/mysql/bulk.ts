import { literal, names, row, Sql, sql } from './sql.ts'

/** Many rows with few statements. Literals are split into statements that fit any packet comfortably. */
const STATEMENT_LENGTH = 256 * 1024
/** MariaDB turns longer lists into joins, and both servers give up range access for very long ones. */
const LONGEST_LIST = 1_000

type Values = readonly unknown[]

/** `rows` holds one list per row, in the order of `columns`. */
export function insert(
  table: string,
  columns: readonly string[],
  rows: readonly Values[],
  after = '',
): Sql[] {
  const head = `insert into ${table} (${columns.join(', ')}) values `
  return inPieces(rows.map(row)).map((piece) => new Sql(`${head}${textOf(piece)}${after}`))
}

/** Groups of rows whose combined text is not too long; a single long row is a group of its own. */
function inPieces(rows: readonly Sql[]): Sql[][] {
  const pieces: Sql[][] = []
  let length = Number.POSITIVE_INFINITY
  for (const one of rows) {
    if (length + one.text.length > STATEMENT_LENGTH) {
      pieces.push([])
      length = 0
    }
    pieces.at(-1)!.push(one)
    length += one.text.length
  }
  return pieces
}

const textOf = (rows: readonly Sql[]) => rows.map(({ text }) => text).join(',')

export function inLists<T>(values: readonly T[], longest = LONGEST_LIST): T[][] {
  const lists: T[][] = []
  for (let i = 0; i < values.length; i += longest) lists.push(values.slice(i, i + longest))
  return lists
}

export interface Update {
  table: string
  workspaceId: number
  /** The columns that, beside `workspace_id`, are the key of a row. */
  key: readonly string[]
  columns: readonly string[]
  /** The key, then a value for each column. */
  rows: readonly Values[]
}

/**
 * Updates rows by key. A value that is the same in all rows is written once: batches are alike, and often only the key
 * differs from row to row. Values that differ are joined as a table of literals, which costs less than JSON_TABLE, ON
 * DUPLICATE KEY UPDATE or a temporary table on both servers.
 */
export function update(isMariadb: boolean, { table, workspaceId, key, columns, rows }: Update): Sql[] {
  if (rows.length === 0 || columns.length === 0) return []
  const places = columns.map((_, i) => key.length + i)
  const differing = places.filter((at) => rows.some((values) => values[at] !== rows[0]![at]))
  const set = columns.map((name, i) => {
    const at = key.length + i
    return differing.includes(at) ? `t.${name} = v.${name}` : `t.${name} = ${literal(rows[0]![at])}`
  })
  const labels = [...key, ...differing.map((at) => columns[at - key.length]!)]
  const narrow = rows.map((values) =>
    row([...values.slice(0, key.length), ...differing.map((at) => values[at])]),
  )
  if (labels.length === 1)
    return inLists(narrow).map(
      (list) => sql`update ${names([table])} t force index (primary) set ${names(set)}
        where t.workspace_id = ${workspaceId} and t.${names(key)} in (${list})`,
    )
  return inPieces(narrow).map(
    (piece) => sql`update ${literals(isMariadb, labels, piece)} v straight_join ${names([table])} t
        on t.workspace_id = ${workspaceId} and ${isSame(key)} set ${names(set)}`,
  )
}

/**
 * Deletes rows by key: looked up one by one, whatever the optimizer estimates. `where … in (…)` may scan the whole table
 * instead (MariaDB always does for a list of one key of several columns, and both do for a long list), and would then wait
 * for every row that another transaction has locked.
 */
export function remove(
  isMariadb: boolean,
  { table, workspaceId, key, rows }: Omit<Update, 'columns'>,
): Sql[] {
  return inPieces(rows.map(row)).map(
    (piece) => sql`delete t from ${literals(isMariadb, key, piece)} v straight_join ${names([table])} t
        on t.workspace_id = ${workspaceId} and ${isSame(key)}`,
  )
}

const isSame = (key: readonly string[]) => names([key.map((name) => `t.${name} = v.${name}`).join(' and ')])

/** A table of these rows, to be joined. */
export const tableOf = (isMariadb: boolean, labels: readonly string[], rows: readonly Values[]): Sql =>
  literals(isMariadb, labels, rows.map(row))

/** It begins with a select of no row: the only way to name the columns that both servers support. */
function literals(isMariadb: boolean, labels: readonly string[], rows: readonly Sql[]): Sql {
  const none = `select ${labels.map((label) => `null as ${label}`).join(', ')} from dual where false`
  const others = rows.map(({ text }) => (isMariadb ? text : `row${text}`)).join(',')
  return new Sql(`(${none} union all values ${others})`)
}

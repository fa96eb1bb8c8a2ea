import { literal, names, row, Sql, sql } from './sql.ts'

/** Many rows with few statements. Their literals are cut into statements that fit any packet comfortably. */
const STATEMENT_LENGTH = 256 * 1024
/** MariaDB turns longer lists into joins, and both give up on ranges for very long ones. */
const LONGEST_LIST = 1_000

type Values = readonly unknown[]

/** `rows` holds one list a row, in the order of `columns`. */
export function insert(
  table: string,
  columns: readonly string[],
  rows: readonly Values[],
  after = '',
): Sql[] {
  const head = `insert into ${table} (${columns.join(', ')}) values `
  return inPieces(rows.map(row)).map((piece) => new Sql(`${head}${textOf(piece)}${after}`))
}

/** Runs of rows whose text together is not too long; a single long one stands alone. */
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
  /** The column beside `workspace_id` that names a row. */
  key: string
  columns: readonly string[]
  /** The key, then a value for each column. */
  rows: readonly Values[]
}

/**
 * Rows changed by their keys. What is the same in all rows is said once: batches are alike, and often nothing is left
 * that differs from row to row but the key. What does differ is joined as a table of literals, which costs less than
 * JSON_TABLE, ON DUPLICATE KEY UPDATE or a temporary table on both servers.
 */
export function update(isMariadb: boolean, { table, workspaceId, key, columns, rows }: Update): Sql[] {
  if (rows.length === 0 || columns.length === 0) return []
  const places = columns.map((_, i) => i + 1)
  const differing = places.filter((at) => rows.some((values) => values[at] !== rows[0]![at]))
  const set = columns.map((name, i) =>
    differing.includes(i + 1) ? `t.${name} = v.${name}` : `t.${name} = ${literal(rows[0]![i + 1])}`,
  )
  if (differing.length === 0) {
    const keys = rows.map((values) => values[0])
    return inLists(keys).map(
      (list) => sql`update ${names([table])} t force index (primary) set ${names(set)}
        where t.workspace_id = ${workspaceId} and t.${names([key])} in (${list})`,
    )
  }
  const labels = [key, ...differing.map((at) => columns[at - 1]!)]
  const narrow = rows.map((values) => row([values[0], ...differing.map((at) => values[at])]))
  return inPieces(narrow).map(
    (piece) => sql`update ${tableOf(isMariadb, labels, piece)} v straight_join ${names([table])} t
        on t.workspace_id = ${workspaceId} and t.${names([key])} = v.${names([key])} set ${names(set)}`,
  )
}

/** A table of literals. Its first row is a select, which is the one way to name its columns that both servers know. */
function tableOf(isMariadb: boolean, labels: readonly string[], rows: readonly Sql[]): Sql {
  const none = `select ${labels.map((label) => `null as ${label}`).join(', ')} from dual where false`
  const others = rows.map(({ text }) => (isMariadb ? text : `row${text}`)).join(',')
  return new Sql(`(${none} union all values ${others})`)
}

/** Where the cursor moves on a board of cards in columns. Pure. */

interface Column<Name> {
  name: Name
  ids: readonly string[]
}

interface Found<Name> {
  id: string
  column: Name
  place: number
}

/** The card so many rows or columns away; columns without cards are skipped. Without a cursor: the first card. */
export function besideCursor<Name extends string>(
  columns: readonly Column<Name>[],
  cursor: string | null,
  rows: number,
  sideways: number,
): Found<Name> | null {
  const at = columns.findIndex(({ ids }) => cursor !== null && ids.includes(cursor))
  if (at < 0) {
    const first = columns.find(({ ids }) => ids.length > 0)
    return first ? { id: first.ids[0]!, column: first.name, place: 0 } : null
  }
  const row = columns[at]!.ids.indexOf(cursor!)
  let to = at + sideways
  while (columns[to] && columns[to]!.ids.length === 0) to += sideways
  const column = columns[to] ?? columns[at]!
  const place = Math.max(0, Math.min(row + rows, column.ids.length - 1))
  return { id: column.ids[place]!, column: column.name, place }
}

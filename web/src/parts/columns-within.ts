/** Which columns of a table have room. Pure. */

interface Sized {
  readonly name: string
  /** A track of the grid: "88px", "minmax(200px, 2fr)". */
  readonly width: string
}

/** Below it a row has two lines. */
export const TWO_LINES_BELOW_PX = 800
/** The width from which the second line has room for what a phone leaves out. */
export const ROOM_FROM_PX = 480

const GAP_PX = 12
export const PADDING_PX = 24

/** The least that a track takes. */
const floorOf = ({ width }: Sized) => Number(/^(?:minmax\()?(\d+)/.exec(width)?.[1] ?? 0)

const neededBy = (columns: readonly Sized[]) =>
  columns.reduce((sum, column) => sum + floorOf(column) + GAP_PX, 2 * PADDING_PX - GAP_PX)

/** The columns that fit: those that may go are dropped, the first first, until the others have their least width. */
export function columnsWithin<Column extends Sized>(
  columns: readonly Column[],
  drops: readonly string[],
  width: number,
): Column[] {
  let shown = [...columns]
  for (const gone of drops) {
    if (neededBy(shown) <= width) break
    shown = shown.filter(({ name }) => name !== gone)
  }
  return shown
}

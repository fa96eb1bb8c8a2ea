import {
  type CSSProperties,
  type ReactNode,
  type Ref,
  type RefObject,
  useEffect,
  useImperativeHandle,
  useRef,
} from 'react'
import { columnsWithin, PADDING_PX, ROOM_FROM_PX, TWO_LINES_BELOW_PX } from './columns-within.ts'
import { Icon } from './icon.tsx'
import { useMedia } from './media.ts'
import { SectionHead } from './section-head.tsx'
import { useWidth } from './use-width.ts'
import { VirtualList, type VirtualListHandle } from './virtual-list.tsx'

export interface Column<Row> {
  name: string
  words: ReactNode
  /** A track of the grid: "88px", or with the least it needs, "minmax(200px, 2fr)". */
  width: string
  cell: (row: Row) => ReactNode
  align?: 'start' | 'end'
  canSort?: boolean
  /** The column's place where rows have two lines, as on a phone. `room`: in the second, where that is not as narrow as a phone. */
  phone?: 'first' | 'second' | 'room' | 'hidden'
}

export interface Sort {
  column: string
  isDescending: boolean
}

interface Props<Row> {
  label: string
  columns: Column<Row>[]
  /** Names of columns that go where there is no room for all, the first first. */
  drops?: readonly string[]
  rows: readonly Row[]
  keyOf: (row: Row) => string
  /** What a row says that is the head of those below it; null: it has cells. */
  headOf?: (row: Row) => ReactNode
  onOpen?: (row: Row) => void
  selected?: string | null | undefined
  sort?: Sort
  onSort?: (sort: Sort) => void
  onNearEnd?: () => void
  rowHeight?: number
  /** Height of the two lines, where they hold buttons for fingers. */
  touchRowHeight?: number
  ref?: Ref<VirtualListHandle>
}

const TWO_LINES_PX = 60
const NONE: readonly string[] = []

/**
 * A virtual table. It fills its parent, which gives it a height. Where the parent is narrow a row has two lines; in between, columns
 * go, so that the one with the name stays wide enough to be read.
 */
export function DataTable<Row>(props: Props<Row>) {
  const {
    label,
    columns,
    drops = NONE,
    rows,
    keyOf,
    onOpen,
    selected,
    onNearEnd,
    rowHeight = 36,
    headOf,
    ref,
  } = props
  const table = useRef<HTMLDivElement>(null)
  const list = useRef<VirtualListHandle>(null)
  useImperativeHandle(ref, () => list.current!)
  const width = useWidth(() => table.current)
  // A scrollbar takes its width from the rows; the head leaves the same beside it.
  const scrollbar = width - useWidth(() => list.current?.element())
  const isForFingers = useMedia('(pointer: coarse)')
  const { touchRowHeight = TWO_LINES_PX } = props
  const hasTwoLines = width < TWO_LINES_BELOW_PX
  const shown = hasTwoLines ? columns : columnsWithin(columns, drops, width)
  useSamePlace(table, list, hasTwoLines, selected ? rows.findIndex((row) => keyOf(row) === selected) : -1)
  const tracks = { gridTemplateColumns: shown.map((column) => column.width).join(' ') }
  const head = { ...tracks, paddingRight: PADDING_PX + scrollbar }
  const draw = (row: Row) => {
    const sectionHead = headOf?.(row)
    return sectionHead ? <SectionHead>{sectionHead}</SectionHead> : drawCells(row)
  }
  const drawCells = (row: Row) => (
    // biome-ignore lint/a11y/noStaticElementInteractions: a larger target for the mouse; the link in the row is the one for keys
    <div
      className={`border-b border-line px-6 text-row max-sm:px-4 ${onOpen ? 'cursor-pointer hover:bg-hover' : ''} ${keyOf(row) === selected ? 'bg-hover shadow-[inset_2px_0_0_var(--accent)]' : ''} ${hasTwoLines ? 'flex h-full flex-col justify-center gap-0.5' : 'grid h-full items-center gap-3'}`}
      onClick={(event) => {
        const isOnControl = (event.target as Element).closest('a, button, input, select, label')
        if (!isOnControl && getSelection()?.isCollapsed !== false) onOpen?.(row)
      }}
      role="presentation"
      style={hasTwoLines ? undefined : tracks}
    >
      {hasTwoLines ? (
        <TwoLines columns={columns} hasRoom={width >= ROOM_FROM_PX} row={row} />
      ) : (
        shown.map((column) => <Cell column={column} key={column.name} row={row} />)
      )}
    </div>
  )
  return (
    // biome-ignore lint/a11y/useSemanticElements: rows are placed by the virtual list, which a table element does not allow
    <div
      aria-label={label}
      aria-rowcount={rows.length + 1}
      className="relative flex min-h-0 min-w-0 flex-1 flex-col"
      ref={table}
      role="table"
    >
      <Header {...props} columns={shown} isHidden={hasTwoLines} style={head} />
      <VirtualList
        items={rows}
        keyOf={keyOf}
        label={`${label}, rows`}
        {...(onNearEnd ? { onNearEnd } : {})}
        ref={list}
        render={draw}
        role="rowgroup"
        rowHeight={hasTwoLines ? (isForFingers ? touchRowHeight : TWO_LINES_PX) : rowHeight}
        rowRole="row"
      />
    </div>
  )
}

/** When rows change between one line and two, the selected one stays in view and what had the focus has it again. */
function useSamePlace(
  table: RefObject<HTMLElement | null>,
  list: RefObject<VirtualListHandle | null>,
  hasTwoLines: boolean,
  selected: number,
): void {
  const focused = useRef<string | null>(null)
  useEffect(() => {
    const element = table.current
    const remember = ({ target }: FocusEvent) => {
      const row = (target as Element).closest<HTMLElement>('[data-index]')?.dataset.index
      const cell = (target as Element).closest<HTMLElement>('[data-cell]')?.dataset.cell
      focused.current =
        row && cell ? `[data-index="${row}"] [data-cell="${cell}"] :is(a, button, input)` : null
    }
    element?.addEventListener('focusin', remember)
    return () => element?.removeEventListener('focusin', remember)
  }, [table])
  const before = useRef(hasTwoLines)
  useEffect(() => {
    if (before.current === hasTwoLines) return
    before.current = hasTwoLines
    if (selected >= 0) list.current?.scrollToIndex(selected)
    if (document.activeElement !== document.body || focused.current === null) return
    table.current?.querySelector<HTMLElement>(focused.current)?.focus({ preventScroll: true })
  }, [hasTwoLines, list, selected, table])
}

function Cell<Row>({ column, row, isWhole }: { column: Column<Row>; row: Row; isWhole?: boolean }) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: see the table
    <div
      className={`min-w-0 truncate ${column.align === 'end' ? 'text-right tabular-nums' : ''} ${isWhole ? 'shrink-0' : ''}`}
      data-cell={column.name}
      role="cell"
    >
      {column.cell(row)}
    </div>
  )
}

/** A column of one width has a mark or a figure, which says nothing when it is cut. Beside it, names get narrower. */
const isFixed = ({ width }: Pick<Column<never>, 'width'>) => /^\d+px$/.test(width)

function TwoLines<Row>({ columns, row, hasRoom }: { columns: Column<Row>[]; row: Row; hasRoom: boolean }) {
  const line = (which: 'first' | 'second') =>
    columns.filter(
      ({ phone = 'second' }) => phone === which || (phone === 'room' && hasRoom && which === 'second'),
    )
  return (
    <>
      <div className="flex min-w-0 items-center gap-2 text-body" role="presentation">
        {line('first').map((column) => (
          <Cell column={column} isWhole={isFixed(column)} key={column.name} row={row} />
        ))}
      </div>
      <div
        className="flex min-w-0 items-center gap-3 text-row text-muted *:empty:hidden *:last:ml-auto *:last:shrink-0"
        role="presentation"
      >
        {line('second').map((column) => (
          <Cell column={column} isWhole={isFixed(column)} key={column.name} row={row} />
        ))}
      </div>
    </>
  )
}

function Header<Row>(props: Props<Row> & { style: CSSProperties; isHidden: boolean }) {
  const { columns, sort, onSort, style, isHidden } = props
  return (
    // biome-ignore lint/a11y/useSemanticElements lint/a11y/useFocusableInteractive: see the table
    <div
      aria-rowindex={1}
      className={
        isHidden
          ? 'sr-only'
          : 'grid h-8 shrink-0 items-center gap-3 border-b border-line px-6 text-label font-medium text-muted'
      }
      role="row"
      style={isHidden ? undefined : style}
    >
      {columns.map(({ name, words, align, canSort }) => {
        const isSorted = sort?.column === name
        const direction = sort?.isDescending ? 'descending' : 'ascending'
        return (
          // biome-ignore lint/a11y/useSemanticElements lint/a11y/useFocusableInteractive: see the table
          <div
            aria-sort={isSorted ? direction : undefined}
            className={`min-w-0 truncate ${align === 'end' ? 'text-right' : ''}`}
            key={name}
            role="columnheader"
          >
            {canSort && onSort ? (
              <button
                className="inline-flex items-center gap-1 rounded-chip hover:text-ink"
                onClick={() => onSort({ column: name, isDescending: isSorted ? !sort.isDescending : false })}
                type="button"
              >
                {words}
                {isSorted && <Icon name={sort.isDescending ? 'chevron-down' : 'chevron-up'} size={12} />}
              </button>
            ) : (
              words
            )}
          </div>
        )
      })}
    </div>
  )
}

import type { ReactNode, Ref } from 'react'
import { Icon } from './icon.tsx'
import { useIsPhone } from './media.ts'
import { VirtualList, type VirtualListHandle } from './virtual-list.tsx'

export interface Column<Row> {
  name: string
  words: ReactNode
  /** A track of the grid: "88px", "minmax(0, 2fr)". */
  width: string
  cell: (row: Row) => ReactNode
  align?: 'start' | 'end'
  canSort?: boolean
  /** Its place in the two lines of a phone. */
  phone?: 'first' | 'second' | 'hidden'
}

export interface Sort {
  column: string
  isDescending: boolean
}

interface Props<Row> {
  label: string
  columns: Column<Row>[]
  rows: readonly Row[]
  keyOf: (row: Row) => string
  onOpen?: (row: Row) => void
  selected?: string | null | undefined
  sort?: Sort
  onSort?: (sort: Sort) => void
  onNearEnd?: () => void
  rowHeight?: number
  /** Of the two lines, where they hold buttons for fingers. */
  phoneRowHeight?: number
  ref?: Ref<VirtualListHandle>
}

const PHONE_ROW_PX = 60

/** A virtual table. On a phone each row has two lines. It fills its parent, which gives it a height. */
export function DataTable<Row>(props: Props<Row>) {
  const { label, columns, rows, keyOf, onOpen, selected, onNearEnd, rowHeight = 36, ref } = props
  const { phoneRowHeight = PHONE_ROW_PX } = props
  const isPhone = useIsPhone()
  const tracks = { gridTemplateColumns: columns.map(({ width }) => width).join(' ') }
  const draw = (row: Row) => (
    // biome-ignore lint/a11y/noStaticElementInteractions: a larger target for the mouse; the link in the row is the one for keys
    <div
      className={`border-b border-line px-6 text-row max-sm:px-4 ${onOpen ? 'cursor-pointer hover:bg-hover' : ''} ${keyOf(row) === selected ? 'bg-hover shadow-[inset_2px_0_0_var(--accent)]' : ''} ${isPhone ? 'flex h-full flex-col justify-center gap-0.5' : 'grid h-full items-center gap-3'}`}
      onClick={(event) => {
        const isOnControl = (event.target as Element).closest('a, button, input, select, label')
        if (!isOnControl && getSelection()?.isCollapsed !== false) onOpen?.(row)
      }}
      role="presentation"
      style={isPhone ? undefined : tracks}
    >
      {isPhone ? (
        <PhoneCells columns={columns} row={row} />
      ) : (
        columns.map((column) => <Cell column={column} key={column.name} row={row} />)
      )}
    </div>
  )
  return (
    // biome-ignore lint/a11y/useSemanticElements: rows are placed by the virtual list, which a table element does not allow
    <div
      aria-label={label}
      aria-rowcount={rows.length + 1}
      className="flex min-h-0 min-w-0 flex-1 flex-col"
      role="table"
    >
      <Header {...props} isHidden={isPhone} tracks={tracks} />
      <VirtualList
        items={rows}
        keyOf={keyOf}
        key={isPhone ? 'phone' : 'wide'}
        label={`${label}, rows`}
        {...(onNearEnd ? { onNearEnd } : {})}
        {...(ref ? { ref } : {})}
        render={draw}
        role="rowgroup"
        rowHeight={isPhone ? phoneRowHeight : rowHeight}
        rowRole="row"
      />
    </div>
  )
}

function Cell<Row>({ column, row }: { column: Column<Row>; row: Row }) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: see the table
    <div
      className={`min-w-0 truncate ${column.align === 'end' ? 'text-right tabular-nums max-sm:shrink-0' : ''}`}
      role="cell"
    >
      {column.cell(row)}
    </div>
  )
}

function PhoneCells<Row>({ columns, row }: { columns: Column<Row>[]; row: Row }) {
  const line = (which: 'first' | 'second') => columns.filter(({ phone = 'second' }) => phone === which)
  return (
    <>
      <div className="flex min-w-0 items-center gap-2 text-body" role="presentation">
        {line('first').map((column) => (
          <Cell column={column} key={column.name} row={row} />
        ))}
      </div>
      <div className="flex min-w-0 items-center gap-3 text-row text-muted" role="presentation">
        {line('second').map((column) => (
          <Cell column={column} key={column.name} row={row} />
        ))}
      </div>
    </>
  )
}

function Header<Row>(props: Props<Row> & { tracks: { gridTemplateColumns: string }; isHidden: boolean }) {
  const { columns, sort, onSort, tracks, isHidden } = props
  return (
    // biome-ignore lint/a11y/useSemanticElements lint/a11y/useFocusableInteractive: see the table
    <div
      aria-rowindex={1}
      className={
        isHidden
          ? 'sr-only'
          : 'grid h-8 items-center gap-3 border-b border-line px-6 text-label font-medium text-muted'
      }
      role="row"
      style={tracks}
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

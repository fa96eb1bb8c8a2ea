import { useRef } from 'react'
import { BOARD_COLUMNS, type BoardColumn } from '../../../../src/views/board/columns.ts'
import { useListOf } from '../../keys/siblings.ts'
import { useGo } from '../../links.tsx'
import { type BoardOnScreen, useNow } from '../../live/hooks.ts'
import { useLive } from '../../live/provider.tsx'
import { Button } from '../../parts/button.tsx'
import { DataTable, type Sort } from '../../parts/data-table.tsx'
import { Select } from '../../parts/select.tsx'
import type { VirtualListHandle } from '../../parts/virtual-list.tsx'
import { countText } from '../../parts/wording.ts'
import { useDesk, useOnDesk } from './desk.ts'
import { columnsOf, DROPS } from './list-columns.tsx'
import { listed } from './listed.ts'
import { type BoardSearch, boardAt } from './search.ts'
import { nextSort, SORT_WORDS, sorted, sortIn, sortText } from './sorted.ts'
import { useCardKeys } from './use-card-keys.ts'
import { MOST_SORTED, useWholeBoard } from './use-whole-board.ts'

interface Props {
  board: BoardOnScreen
  search: BoardSearch
}

/** The same tasks as a table: what waits for a person first and what is done last, or by one of its columns. */
export function TaskList(props: Props) {
  const sort = sortIn(props.search.sort)
  return (
    <>
      <Order search={props.search} />
      {sort ? <SortedList {...props} sort={sort} /> : <UsualList {...props} />}
    </>
  )
}

/** Rows of two lines have no heads of columns to choose from. */
function Order({ search }: { search: BoardSearch }) {
  const go = useGo()
  const column = sortIn(search.sort)?.column ?? ''
  const choose = (chosen: string) =>
    go(
      boardAt(search, {
        sort:
          chosen === '' ? undefined : sortText(nextSort(undefined, { column: chosen, isDescending: false })),
      }),
    )
  return (
    <div className="px-6 pb-2 max-sm:px-4 @min-[800px]:hidden">
      <Select
        aria-label="Order"
        onChange={choose}
        options={[
          { value: '', words: 'Default order' },
          ...Object.entries(SORT_WORDS).map(([value, words]) => ({ value, words: `By ${words}` })),
        ]}
        size="small"
        value={column}
      />
    </div>
  )
}

function UsualList({ board, search }: Props) {
  const { ids, unread } = listed((name: BoardColumn) => board.column(name))
  return (
    <Rows ids={ids} search={search} {...(unread ? { onNearEnd: () => void board.loadMore(unread) } : {})} />
  )
}

/** Costs and times change all the time; rows change their places only so often. */
const SORT_EVERY_MS = 5_000

/** All tasks, sorted here. Where there are too many, it says how many are sorted. */
function SortedList({ board, search, sort }: Props & { sort: Sort }) {
  const go = useGo()
  const { world } = useLive()
  useNow(SORT_EVERY_MS)
  const whole = useWholeBoard(board)
  const count = BOARD_COLUMNS.reduce((sum, name) => sum + board.column(name).count, 0)
  const isPartial = !whole.isAll && !whole.isReading
  return (
    <>
      <p className="flex flex-wrap items-center gap-2 px-6 pb-2 text-row text-muted max-sm:px-4">
        <span role="status">{sortedText(SORT_WORDS[sort.column]!, whole, count)}</span>
        {isPartial && (
          <Button onClick={whole.readOn} size="small">
            {whole.hasFailed
              ? 'Try again'
              : `Load ${countText(Math.min(MOST_SORTED, count - whole.ids.length))} more`}
          </Button>
        )}
        <Button
          className="@max-[800px]:hidden"
          kind="quiet"
          onClick={() => go(boardAt(search, { sort: undefined }))}
          size="small"
        >
          Default order
        </Button>
      </p>
      <Rows ids={sorted(whole.ids, sort, (id) => world.shown(id))} search={search} />
    </>
  )
}

function sortedText(by: string, whole: ReturnType<typeof useWholeBoard>, count: number): string {
  const part = `${countText(whole.ids.length)} of ${countText(count)} tasks`
  if (whole.isAll) return `Sorted by ${by}.`
  if (whole.isReading) return `Sorting by ${by}: ${part} loaded so far.`
  return whole.hasFailed
    ? `Only ${part} are sorted by ${by}: the others could not be loaded.`
    : `Only ${part} are sorted by ${by}. Filter the list to sort all of it.`
}

function Rows(props: { ids: readonly string[]; search: BoardSearch; onNearEnd?: () => void }) {
  const { ids, search, onNearEnd } = props
  const go = useGo()
  const desk = useDesk()
  const cursor = useOnDesk(desk, (state) => state.cursor)
  const table = useRef<VirtualListHandle>(null)
  const sort = sortIn(search.sort)
  const addressOf = (task: string | undefined) => boardAt(search, { task })
  useCardKeys({
    columns: [{ name: 'inbox', ids }],
    scrollTo: (_, place) => table.current?.scrollToIndex(place),
    openId: search.task,
    addressOf,
  })
  useListOf('task', ids)
  return (
    <DataTable
      columns={columnsOf(addressOf)}
      drops={DROPS}
      keyOf={(id) => id}
      label="Tasks"
      onOpen={(id) => go(addressOf(id))}
      {...(onNearEnd ? { onNearEnd } : {})}
      onSort={(chosen) => go(boardAt(search, { sort: sortText(nextSort(sort, chosen)) }))}
      ref={table}
      rows={ids}
      selected={search.task ?? cursor}
      {...(sort ? { sort } : {})}
    />
  )
}

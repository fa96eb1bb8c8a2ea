import { type ReactNode, useRef } from 'react'
import type { BoardColumn } from '../../../../src/views/board/columns.ts'
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
import { grouped } from './grouped.ts'
import { columnsOf, DROPS } from './list-columns.tsx'
import { chosenColumns } from './list-values.ts'
import { listed } from './listed.ts'
import { type BoardSearch, boardAt, type GroupBy } from './search.ts'
import { nextSort, SORT_WORDS, sorted, sortIn, sortText } from './sorted.ts'
import { useCardKeys } from './use-card-keys.ts'
import { useGroupNames } from './use-group-names.ts'
import { useWholeBoard } from './use-whole-board.ts'
import { WholeText } from './whole-text.tsx'

interface Props {
  board: BoardOnScreen
  search: BoardSearch
}

/** The same tasks as a table: what waits for a person first and what is done last, by one of its columns, or in groups. */
export function TaskList(props: Props) {
  const sort = sortIn(props.search.sort)
  const { group } = props.search
  return (
    <>
      <Order search={props.search} />
      {group ? (
        <GroupedList {...props} by={group} sort={sort} />
      ) : sort ? (
        <SortedList {...props} sort={sort} />
      ) : (
        <UsualList {...props} />
      )}
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
  return (
    <>
      <WholeText board={board} verb="Sorted" by={SORT_WORDS[sort.column]!} whole={whole}>
        <Button
          className="@max-[800px]:hidden"
          kind="quiet"
          onClick={() => go(boardAt(search, { sort: undefined }))}
          size="small"
        >
          Default order
        </Button>
      </WholeText>
      <Rows ids={sorted(whole.ids, sort, (id) => world.shown(id))} search={search} />
    </>
  )
}

/** Heads between the rows are rows as well, whose ids no task has. */
const HEAD = 'group:'

/** All tasks, below the heads of their groups. */
function GroupedList({ board, search, by, sort }: Props & { by: GroupBy; sort: Sort | undefined }) {
  const { world } = useLive()
  useNow(SORT_EVERY_MS)
  const whole = useWholeBoard(board)
  const cardOf = (id: string) => world.shown(id)
  const ids = sort ? sorted(whole.ids, sort, cardOf) : whole.ids
  const keys = grouped(ids, by, cardOf).map(({ key }) => key)
  const nameOf = useGroupNames(by, keys)
  const groups = grouped(ids, by, cardOf, nameOf)
  const counts = new Map(groups.map(({ key, ids: its }) => [key, its.length]))
  return (
    <>
      <WholeText board={board} by={by} verb="Grouped" whole={whole} />
      <Rows
        headOf={(row) => {
          if (!row.startsWith(HEAD)) return null
          const key = row.slice(HEAD.length)
          return (
            <>
              <span className="truncate">{nameOf(key)}</span>
              <span className="font-normal text-muted tabular-nums">{countText(counts.get(key) ?? 0)}</span>
            </>
          )
        }}
        ids={groups.flatMap(({ key, ids: its }) => [HEAD + key, ...its])}
        search={search}
      />
    </>
  )
}

function Rows(props: {
  ids: readonly string[]
  search: BoardSearch
  headOf?: (row: string) => ReactNode
  onNearEnd?: () => void
}) {
  const { ids, search, headOf, onNearEnd } = props
  const go = useGo()
  const desk = useDesk()
  const cursor = useOnDesk(desk, (state) => state.cursor)
  const table = useRef<VirtualListHandle>(null)
  const sort = sortIn(search.sort)
  const addressOf = (task: string | undefined) => boardAt(search, { task })
  const tasks = headOf ? ids.filter((id) => !id.startsWith(HEAD)) : ids
  useCardKeys({
    columns: [{ name: 'inbox', ids: tasks }],
    scrollTo: (_, place) => table.current?.scrollToIndex(ids.indexOf(tasks[place]!)),
    openId: search.task,
    addressOf,
  })
  useListOf('task', tasks)
  return (
    <DataTable
      columns={columnsOf(chosenColumns(search.columns), addressOf)}
      drops={DROPS}
      {...(headOf ? { headOf } : {})}
      keyOf={(id) => id}
      label="Tasks"
      onOpen={(id) => id.startsWith(HEAD) || go(addressOf(id))}
      {...(onNearEnd ? { onNearEnd } : {})}
      onSort={(chosen) => go(boardAt(search, { sort: sortText(nextSort(sort, chosen)) }))}
      ref={table}
      rows={ids}
      selected={search.task ?? cursor}
      {...(sort ? { sort } : {})}
    />
  )
}

import { useRef, useState } from 'react'
import type { TaskState } from '../../../../src/pure/states.ts'
import { BOARD_COLUMNS, type BoardColumn } from '../../../../src/views/board/columns.ts'
import { wantedText } from '../../../../src/views/board/filter.ts'
import { useListOf } from '../../keys/siblings.ts'
import { PageLink } from '../../links.tsx'
import { columnOf } from '../../live/board-list.ts'
import { type BoardOnScreen, useNow } from '../../live/hooks.ts'
import { useLive } from '../../live/provider.tsx'
import { Icon } from '../../parts/icon.tsx'
import { VirtualList, type VirtualListHandle } from '../../parts/virtual-list.tsx'
import { countText } from '../../parts/wording.ts'
import { ColumnHead } from './column-head.tsx'
import { CARD_PX, GAP_PX } from './drops.ts'
import { grouped, type LaneRow, laneRows, NO_GROUP } from './grouped.ts'
import { Moves, MovesContext } from './moves.ts'
import { type BoardSearch, boardAt, type GroupBy } from './search.ts'
import { TaskCard } from './task-card.tsx'
import { useCardKeys } from './use-card-keys.ts'
import { useGroupNames } from './use-group-names.ts'
import { useWholeBoard } from './use-whole-board.ts'
import { WholeText } from './whole-text.tsx'

const HEAD_PX = 36
const REGROUP_EVERY_MS = 5_000

interface Props {
  board: BoardOnScreen
  search: BoardSearch
  by: GroupBy
}

/** The columns once for each mission, agent or project, below each other. They scroll together. */
export function Lanes({ board, search, by }: Props) {
  const { world } = useLive()
  useNow(REGROUP_EVERY_MS)
  const whole = useWholeBoard(board)
  const [moves] = useState(() => new Moves())
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set())
  const list = useRef<VirtualListHandle>(null)
  const cardOf = (id: string) => world.shown(id)
  const nameOf = useGroupNames(
    by,
    grouped(whole.ids, by, cardOf).map(({ key }) => key),
  )
  const columnOfId = (id: string): BoardColumn => {
    const card = cardOf(id)
    return card ? columnOf(card) : 'inbox'
  }
  const groups = grouped(whole.ids, by, cardOf, nameOf)
  const rows = laneRows(groups, columnOfId, (key) => !closed.has(key))
  const addressOf = (task: string | undefined) => boardAt(search, { task })
  useLaneKeys(rows, list, search, addressOf)
  const toggle = (key: string) =>
    setClosed(
      (before) => new Set(before.has(key) ? [...before].filter((one) => one !== key) : [...before, key]),
    )
  const draw = (row: LaneRow) => {
    switch (row.kind) {
      case 'head':
        return <LaneHead name={nameOf(row.key)} onToggle={() => toggle(row.key)} row={row} />
      case 'more':
        return <More name={nameOf(row.key)} row={row} to={groupAt(search, by, row.key)} />
      case 'cards':
        return <Cards addressOf={addressOf} openId={search.task} row={row} />
    }
  }
  return (
    <MovesContext value={moves}>
      <WholeText board={board} by={by} verb="Grouped" whole={whole} />
      <div className="flex min-h-0 flex-1 flex-col overflow-x-auto overflow-y-hidden px-4 max-sm:px-2">
        <div className="flex min-h-0 min-w-262 flex-1 flex-col">
          <div className="flex shrink-0 gap-1">
            {BOARD_COLUMNS.map((name) => (
              <div className="min-w-0 flex-1" key={name}>
                <ColumnHead
                  name={name}
                  stateAt={(state: TaskState) => boardAt(search, { state })}
                  view={board.column(name)}
                />
              </div>
            ))}
          </div>
          <VirtualList
            gap={GAP_PX}
            heightOf={({ kind }) => (kind === 'cards' ? CARD_PX : HEAD_PX)}
            items={rows}
            keyOf={({ id }) => id}
            label={`Tasks by ${by}`}
            overscan={2}
            ref={list}
            render={draw}
            rowHeight={CARD_PX}
          />
        </div>
      </div>
    </MovesContext>
  )
}

function useLaneKeys(
  rows: readonly LaneRow[],
  list: React.RefObject<VirtualListHandle | null>,
  search: BoardSearch,
  addressOf: (task: string | undefined) => string,
): void {
  const idsIn = (name: BoardColumn) => rows.flatMap((row) => (row.kind === 'cards' ? row.ids[name] : []))
  const columns = BOARD_COLUMNS.map((name) => ({ name, ids: idsIn(name) }))
  useCardKeys({
    columns,
    scrollTo: (name, place) => {
      const id = columns.find((one) => one.name === name)?.ids[place]
      list.current?.scrollToIndex(rows.findIndex((row) => row.kind === 'cards' && row.ids[name][0] === id))
    },
    openId: search.task,
    addressOf,
  })
  useListOf(
    'task',
    columns.flatMap(({ ids }) => ids),
  )
}

/** The board of one group alone; of those that have none there is no filter. */
const groupAt = (search: BoardSearch, by: GroupBy, key: string) =>
  key === NO_GROUP
    ? boardAt(search, { group: undefined, view: 'list' })
    : boardAt(search, { [by]: wantedText({ some: [key], none: [] }), group: undefined })

function LaneHead(props: { name: string; row: Extract<LaneRow, { kind: 'head' }>; onToggle: () => void }) {
  const { name, row, onToggle } = props
  return (
    <h3 className="sticky left-0 h-full w-full max-w-[calc(100vw-2rem)] border-b border-line">
      <button
        aria-expanded={row.isOpen}
        className="focus-inside flex h-full max-w-full items-center gap-2 rounded-chip px-3 text-row font-medium hover:text-ink"
        onClick={onToggle}
        type="button"
      >
        <Icon className="text-muted" name={row.isOpen ? 'chevron-down' : 'chevron-right'} size={12} />
        <span className="truncate">{name}</span>
        <span className="font-normal text-muted tabular-nums">{countText(row.count)}</span>
      </button>
    </h3>
  )
}

const More = (props: { name: string; row: Extract<LaneRow, { kind: 'more' }>; to: string }) => (
  <PageLink
    className="focus-inside inline-flex h-full items-center rounded-chip px-3 text-label text-muted hover:text-ink hover:underline"
    to={props.to}
  >
    {countText(props.row.count)} more of {props.name}
  </PageLink>
)

function Cards(props: {
  row: Extract<LaneRow, { kind: 'cards' }>
  addressOf: (id: string) => string
  openId: string | undefined
}) {
  const { row, addressOf, openId } = props
  return (
    <div className="flex h-full gap-1">
      {BOARD_COLUMNS.map((name) => (
        <div className="min-w-0 flex-1 px-2" key={name}>
          {row.ids[name].map((id) => (
            <TaskCard
              canDrag={false}
              column={name}
              id={id}
              isOpen={id === openId}
              key={id}
              to={addressOf(id)}
            />
          ))}
        </div>
      ))}
    </div>
  )
}

import { useCallback, useEffect, useRef, useState } from 'react'
import { BOARD_COLUMNS, type BoardColumn } from '../../../../src/views/board/columns.ts'
import { elementOfCard } from '../../keys/focus-card.ts'
import { useListOf } from '../../keys/siblings.ts'
import type { BoardOnScreen } from '../../live/hooks.ts'
import { useLive } from '../../live/provider.tsx'
import { useIsPhone } from '../../parts/media.ts'
import { Segmented } from '../../parts/segmented.tsx'
import { isPanelOver } from '../../parts/side-panel.tsx'
import type { VirtualListHandle } from '../../parts/virtual-list.tsx'
import { countText } from '../../parts/wording.ts'
import { COLUMN_WORDS } from '../../things/task/card-words.ts'
import { useBoardActs } from './acts-context.ts'
import { Column } from './column.tsx'
import { useDesk } from './desk.ts'
import type { DropAct } from './drops.ts'
import { Lanes } from './lanes.tsx'
import { Moves, MovesContext } from './moves.ts'
import { type BoardSearch, boardAt } from './search.ts'
import { Trays } from './trays.tsx'
import { useCardKeys } from './use-card-keys.ts'

/** What runs, or else what waits for a person: a phone should not open with an empty column. */
const firstOnPhone = (board: BoardOnScreen): BoardColumn =>
  (['in_progress', 'review', 'inbox', 'assigned', 'done'] as const).find(
    (name) => board.column(name).count > 0,
  ) ?? 'in_progress'

/** Five columns of cards, in lanes if they are grouped; a phone has no room for lanes. */
export function Kanban({ board, search }: { board: BoardOnScreen; search: BoardSearch }) {
  const isPhone = useIsPhone()
  return search.group && !isPhone ? (
    <Lanes board={board} by={search.group} search={search} />
  ) : (
    <Columns board={board} search={search} />
  )
}

/** On a phone one of them at a time. */
function Columns({ board, search }: { board: BoardOnScreen; search: BoardSearch }) {
  const isPhone = useIsPhone()
  const [chosen, choose] = useState(() => firstOnPhone(board))
  const [moves] = useState(() => new Moves())
  const lists = useRef(new Map<BoardColumn, VirtualListHandle>())
  const drop = useDrop(board)
  const { forbidden } = useBoardActs()
  const shown = isPhone ? [chosen] : BOARD_COLUMNS
  useCardKeys({
    columns: shown.map((name) => ({ name, ids: board.column(name).ids })),
    scrollTo: (name, place) => lists.current.get(name)?.scrollToIndex(place),
    openId: search.task,
    addressOf: (task) => boardAt(search, { task }),
  })
  useOpenInView(search.task)
  useListOf(
    'task',
    BOARD_COLUMNS.flatMap((name) => board.column(name).ids),
  )
  return (
    <MovesContext value={moves}>
      {isPhone && (
        <div className="px-4 pb-2">
          <Segmented
            label="Column"
            onChange={choose}
            options={BOARD_COLUMNS.map((name) => ({
              value: name,
              words: `${COLUMN_WORDS[name]} ${countText(board.column(name).count)}`,
            }))}
            value={chosen}
          />
        </div>
      )}
      <div className="relative flex min-h-0 flex-1 flex-col">
        {/* Where the panel covers the board, the last column can be moved out from under it. */}
        <div
          className={`flex min-h-0 flex-1 gap-1 overflow-x-auto px-4 max-sm:px-2 ${search.task ? 'sm:max-lg:pr-100' : ''}`}
        >
          {shown.map((name) => (
            <Column
              addressOf={(task) => boardAt(search, { task })}
              stateAt={(state) => boardAt(search, { state })}
              canDrag={!isPhone && forbidden === null}
              key={name}
              loadMore={() => void board.loadMore(name)}
              name={name}
              onDrop={(act, place) => drop(name, act, place)}
              openId={search.task}
              ref={(handle) => {
                if (handle) lists.current.set(name, handle)
                else lists.current.delete(name)
              }}
              view={board.column(name)}
            />
          ))}
        </div>
        <Trays />
      </div>
    </MovesContext>
  )
}

/** The panel takes room from the columns, or covers some: the one with the open card stays in view. */
function useOpenInView(id: string | undefined): void {
  useEffect(() => {
    if (id === undefined) return
    const inline = isPanelOver() ? 'start' : 'nearest'
    const frame = requestAnimationFrame(() =>
      elementOfCard(id)?.closest('section')?.scrollIntoView({ block: 'nearest', inline }),
    )
    return () => cancelAnimationFrame(frame)
  }, [id])
}

/** A drop is an act. */
function useDrop(board: BoardOnScreen) {
  const desk = useDesk()
  const acts = useBoardActs()
  const { world } = useLive()
  return useCallback(
    (name: BoardColumn, act: DropAct, place: number) => {
      const card = desk.get().dragged?.card
      if (!card) return
      if (act !== 'priority') return acts.begin(act, [card.id])
      const target = board.column(name).ids[place]
      const band = target === undefined ? undefined : world.shown(target)?.priority
      if (band !== undefined && band !== card.priority)
        acts.run({ act: 'priority', priority: band }, [card.id])
    },
    [board, desk, acts, world],
  )
}

import type { ReactNode } from 'react'
import { BOARD_COLUMNS } from '../../../../src/views/board/columns.ts'
import type { BoardOnScreen } from '../../live/hooks.ts'
import { Button } from '../../parts/button.tsx'
import { countText } from '../../parts/wording.ts'
import { MOST_SORTED, type useWholeBoard } from './use-whole-board.ts'

type Whole = ReturnType<typeof useWholeBoard>

interface Props {
  board: BoardOnScreen
  whole: Whole
  verb: 'Sorted' | 'Grouped'
  /** What they are sorted or grouped by. */
  by: string
  children?: ReactNode
}

/** How many of all tasks are sorted or grouped, and a way to the others. */
export function WholeText({ board, whole, verb, by, children }: Props) {
  const count = BOARD_COLUMNS.reduce((sum, name) => sum + board.column(name).count, 0)
  const isPartial = !whole.isAll && !whole.isReading
  return (
    <p className="flex shrink-0 flex-wrap items-center gap-2 px-6 pb-2 text-row text-muted max-sm:px-4">
      <span role="status">{wholeWords(verb, by, whole, count)}</span>
      {isPartial && (
        <Button onClick={whole.readOn} size="small">
          {whole.hasFailed
            ? 'Try again'
            : `Load ${countText(Math.min(MOST_SORTED, count - whole.ids.length))} more`}
        </Button>
      )}
      {children}
    </p>
  )
}

const DOING = { Sorted: ['Sorting', 'sorted', 'sort'], Grouped: ['Grouping', 'grouped', 'group'] } as const

function wholeWords(verb: Props['verb'], by: string, whole: Whole, count: number): string {
  const part = `${countText(whole.ids.length)} of ${countText(count)} tasks`
  const [doing, done, act] = DOING[verb]
  if (whole.isAll) return `${verb} by ${by}.`
  if (whole.isReading) return `${doing} by ${by}: ${part} loaded so far.`
  return whole.hasFailed
    ? `Only ${part} are ${done} by ${by}: the others could not be loaded.`
    : `Only ${part} are ${done} by ${by}. Filter the list to ${act} all of it.`
}

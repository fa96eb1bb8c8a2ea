import type { TaskState } from '../../../../src/pure/states.ts'
import type { BoardColumn } from '../../../../src/views/board/columns.ts'
import { PageLink } from '../../links.tsx'
import type { ColumnView } from '../../live/board-list.ts'
import { StateMark } from '../../parts/state-mark.tsx'
import { countText } from '../../parts/wording.ts'
import { HUE_TEXT } from '../../theme/hues.ts'
import { STATE_LOOKS } from '../../theme/marks.ts'
import { COLUMN_WORDS } from '../../things/task/card-words.ts'

/** States that are not what the name of their column says: they are counted beside it. */
const APART: Partial<Record<BoardColumn, readonly TaskState[]>> = {
  assigned: ['awaiting_retry'],
  done: ['failed', 'cancelled', 'skipped'],
}

interface Apart {
  state: TaskState
  count: number
  /** "to retry". */
  noun: string
  words: string
}

const APART_WORDS: Partial<Record<TaskState, string>> = { awaiting_retry: 'to retry' }

/** "Done 4,775 · 12 failed": what the column is for, and the rest. */
function countsIn(name: BoardColumn, { count, states }: ColumnView): { main: number; apart: Apart[] } {
  const apart = (APART[name] ?? [])
    .map((state) => ({ state, count: states[state] ?? 0 }))
    .filter((one) => one.count > 0)
    .map((one) => {
      const noun = APART_WORDS[one.state] ?? STATE_LOOKS[one.state].word.toLowerCase()
      return { ...one, noun, words: `${countText(one.count)} ${noun}` }
    })
  return { main: count - apart.reduce((sum, one) => sum + one.count, 0), apart }
}

/** The column in words, for screen readers. */
export function columnLabel(name: BoardColumn, view: ColumnView): string {
  const { main, apart } = countsIn(name, view)
  return [COLUMN_WORDS[name], countText(main), ...apart.map(({ words }) => words)].join(', ')
}

interface Props {
  name: BoardColumn
  view: ColumnView
  /** The board with the tasks of one state alone. */
  stateAt: (state: TaskState) => string
  children?: React.ReactNode
}

export function ColumnHead({ name, view, stateAt, children }: Props) {
  const { main, apart } = countsIn(name, view)
  return (
    <div
      className={`@container flex h-9 min-w-0 shrink-0 items-center gap-2 overflow-hidden px-3 text-label whitespace-nowrap max-sm:h-7 ${apart.length === 0 ? 'max-sm:hidden' : ''}`}
    >
      <h2 className="flex shrink-0 gap-2 font-semibold tracking-wide text-muted uppercase max-sm:sr-only">
        {COLUMN_WORDS[name]}
        <span className="font-medium text-faint tabular-nums">{countText(main)}</span>
      </h2>
      {apart.map(({ state, count, noun, words }) => (
        <PageLink
          aria-label={words}
          className={`focus-inside flex min-w-0 items-center gap-1 rounded-chip tabular-nums hover:underline ${state === 'failed' ? HUE_TEXT.bad : 'text-muted'}`}
          key={state}
          title={`Show only these: ${words}`}
          to={stateAt(state)}
        >
          {/* Three words beside each other are cut in a column: there each has its mark. */}
          {apart.length > 1 && (
            <span aria-hidden="true" className="hidden @max-[300px]:inline-flex">
              <StateMark label={noun} size={12} state={state} />
            </span>
          )}
          <span className="min-w-0 truncate">
            {countText(count)}
            <span className={apart.length > 1 ? '@max-[300px]:hidden' : ''}> {noun}</span>
          </span>
        </PageLink>
      ))}
      {children}
    </div>
  )
}

import { mayBeDone } from '../../../../src/kinds/task/rules/allowed-acts.ts'
import type { BoardColumn } from '../../../../src/views/board/columns.ts'
import { besideCursor } from '../../keys/beside-cursor.ts'
import { elementOfCard, focusCard } from '../../keys/focus-card.ts'
import { type Shortcuts, useShortcuts } from '../../keys/shortcuts.ts'
import { useGo } from '../../links.tsx'
import { useLive } from '../../live/provider.tsx'
import { keyOfPriority, PRIORITIES } from '../../things/task/card-words.ts'
import { type BoardAct, useBoardActs } from './acts-context.ts'
import { useDesk, useOnDesk } from './desk.ts'

interface Place {
  columns: readonly { name: BoardColumn; ids: readonly string[] }[]
  scrollTo: (name: BoardColumn, place: number) => void
  openId: string | undefined
  addressOf: (id: string | undefined) => string
}

/** Keys of the cards: moving, selecting, acting. */
export function useCardKeys({ columns, scrollTo, openId, addressOf }: Place): void {
  const desk = useDesk()
  const acts = useBoardActs()
  const go = useGo()
  const { world } = useLive()
  const cursor = useOnDesk(desk, (state) => state.cursor)
  const hasSubject = useOnDesk(desk, () => desk.subject().length > 0)
  const move = (rows: number, sideways: number) => {
    const next = besideCursor(columns, cursor, rows, sideways)
    if (!next) return
    desk.set({ cursor: next.id })
    scrollTo(next.column, next.place)
    focusCard(next.id)
  }
  const act = (words: string, name: BoardAct): Shortcuts[string] => ({
    words,
    run: () => acts.begin(name, desk.subject()),
    isOff: !hasSubject,
  })
  const pauseOrResume = () => {
    const ids = desk.subject()
    const areAllPaused = ids.every((id) => {
      const card = world.shown(id)
      return card !== undefined && mayBeDone('resume', card)
    })
    acts.begin(areAllPaused ? 'resume' : 'pause', ids)
  }
  const onCursor = (words: string, run: (id: string) => void): Shortcuts[string] => ({
    words,
    run: () => cursor !== null && run(cursor),
    isOff: cursor === null,
  })
  useShortcuts('Board', {
    j: { words: 'Next card', run: () => move(1, 0), repeats: true },
    k: { words: 'Previous card', run: () => move(-1, 0), repeats: true },
    l: { words: 'Column on the right', run: () => move(0, 1), repeats: true },
    h: { words: 'Column on the left', run: () => move(0, -1), repeats: true },
    Enter: onCursor('Open the card', (id) => go(addressOf(id))),
    Space: onCursor('Peek at the card', (id) => go(addressOf(id === openId ? undefined : id))),
    x: onCursor('Select the card', (id) => desk.toggle(id)),
    'Shift+x': onCursor('Select up to the card', (id) => {
      const column = columns.find(({ ids }) => ids.includes(id))
      desk.selectRange(id, column?.ids ?? [])
    }),
    '.': onCursor('Actions of the card', (id) => openMenu(id, (x, y) => desk.set({ menu: { id, x, y } }))),
    p: { words: 'Pause or resume', run: pauseOrResume, isOff: !hasSubject },
    t: act('Retry', 'retry'),
    a: act('Approve', 'approve'),
    r: act('Reject', 'reject'),
    Del: act('Cancel', 'cancel'),
    Esc: {
      words: 'Clear the selection, or close the panel',
      run: () => {
        if (desk.get().selected.size > 0) desk.clearSelection()
        else if (openId !== undefined) go(addressOf(undefined))
      },
    },
  })
  usePriorityKeys(hasSubject)
}

function usePriorityKeys(hasSubject: boolean): void {
  const desk = useDesk()
  const acts = useBoardActs()
  useShortcuts(
    'Priority',
    Object.fromEntries(
      PRIORITIES.map((priority) => [
        keyOfPriority(priority),
        {
          words: `Priority ${priority}`,
          run: () => acts.run({ act: 'priority', priority }, desk.subject()),
          isOff: !hasSubject,
        },
      ]),
    ),
  )
}

function openMenu(id: string, open: (x: number, y: number) => void): void {
  const box = elementOfCard(id)?.getBoundingClientRect()
  if (box) open(box.right, box.top + 28)
}

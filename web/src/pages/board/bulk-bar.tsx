import { mayBeDone } from '../../../../src/kinds/task/rules/allowed-acts.ts'
import { useLive } from '../../live/provider.tsx'
import { Button } from '../../parts/button.tsx'
import { IconButton } from '../../parts/icon-button.tsx'
import { countText } from '../../parts/wording.ts'
import { ACT_NAMES } from '../../requests/act-words.ts'
import { type BoardAct, useBoardActs } from './acts-context.ts'
import { MOST_AT_ONCE } from './acts-provider.tsx'
import { useDesk, useOnDesk } from './desk.ts'

const ACTS = [
  'approve',
  'retry',
  'reset',
  'pause',
  'resume',
  'agent',
  'priority',
  'tags',
  'type',
  'archive',
  'cancel',
] as const satisfies BoardAct[]

/** What can be done with all that is selected. Each task is decided separately, and the outcome says which were refused. */
export function BulkBar() {
  const desk = useDesk()
  const acts = useBoardActs()
  const { world } = useLive()
  const selected = useOnDesk(desk, (state) => state.selected)
  if (selected.size === 0) return null
  const ids = [...selected]
  const cards = ids.map((id) => world.shown(id)).filter((card) => card !== undefined)
  const tooMany = ids.length > MOST_AT_ONCE ? `At most ${MOST_AT_ONCE} tasks can be changed at once.` : null
  return (
    <section
      aria-label="Selected tasks"
      className="absolute inset-x-4 bottom-4 z-20 mx-auto flex w-fit max-w-full animate-rise flex-wrap items-center gap-2 rounded-dialog bg-raised p-2 shadow-float"
    >
      <span aria-live="polite" className="px-2 text-row font-medium tabular-nums">
        {countText(selected.size)} selected
      </span>
      {ACTS.filter((act) => cards.some((card) => mayBeDone(act, card))).map((act) => (
        <Button
          disabledReason={acts.forbidden ?? tooMany}
          key={act}
          kind={act === 'cancel' ? 'danger' : 'plain'}
          onClick={() => acts.begin(act, ids)}
          size="small"
        >
          {ACT_NAMES[act]}
        </Button>
      ))}
      <IconButton
        icon="close"
        label="Clear the selection"
        onClick={() => desk.clearSelection()}
        shortcut="Esc"
        size="small"
      />
    </section>
  )
}

import { mayBeDone } from '../../../../src/kinds/task/rules/allowed-acts.ts'
import { focusCard } from '../../keys/focus-card.ts'
import type { ShownCard } from '../../live/pending-acts.ts'
import { useLive } from '../../live/provider.tsx'
import { copyText } from '../../parts/copyable.tsx'
import { Menu, type MenuEntry } from '../../parts/menu.tsx'
import { toast } from '../../parts/toasts.tsx'
import { ACT_NAMES } from '../../requests/act-words.ts'
import type { IconName } from '../../theme/icons.ts'
import { shortName } from '../../things/task/card-words.ts'
import { type BoardAct, type BoardActs, useBoardActs } from './acts-context.ts'
import { useDesk, useOnDesk } from './desk.ts'

type NamedAct = Exclude<BoardAct, 'again'>

const ENTRIES: readonly (readonly { act: NamedAct; icon: IconName; shortcut?: string }[])[] = [
  [
    { act: 'approve', icon: 'check', shortcut: 'a' },
    { act: 'reject', icon: 'close', shortcut: 'r' },
    { act: 'retry', icon: 'retry', shortcut: 't' },
    { act: 'reset', icon: 'inbox' },
    { act: 'resume', icon: 'play', shortcut: 'p' },
    { act: 'pause', icon: 'pause', shortcut: 'p' },
  ],
  [
    { act: 'priority', icon: 'sort', shortcut: '1–0' },
    { act: 'agent', icon: 'agents' },
  ],
  [
    { act: 'archive', icon: 'archive' },
    { act: 'cancel', icon: 'cancel', shortcut: 'Del' },
  ],
]

/** What can be done to a card now, each with its key. */
function entriesFor(card: ShownCard, acts: BoardActs): MenuEntry[][] {
  return ENTRIES.map((group) =>
    group
      .filter(({ act }) => mayBeDone(act, card))
      .map(({ act, icon, shortcut }) => ({
        words: act === 'priority' || act === 'agent' ? `${ACT_NAMES[act]}…` : ACT_NAMES[act],
        icon,
        ...(shortcut === undefined ? {} : { shortcut }),
        isDangerous: act === 'cancel',
        disabledReason: acts.forbidden,
        run: () => acts.begin(act, [card.id]),
      })),
  )
}

/** One menu for all cards: it opens where it is asked for. */
export function CardMenu({ linkTo }: { linkTo: (id: string) => string }) {
  const desk = useDesk()
  const acts = useBoardActs()
  const { world } = useLive()
  const at = useOnDesk(desk, ({ menu }) => menu)
  const card = at && world.shown(at.id)
  if (!at || !card) return null
  const copy: MenuEntry = {
    words: 'Copy link',
    icon: 'link',
    run: async () => {
      if (await copyText(linkTo(card.id))) toast({ kind: 'done', title: 'Link copied.' })
    },
  }
  return (
    <Menu
      groups={[...entriesFor(card, acts), [copy]]}
      onOpenChange={(isOpen) => {
        if (isOpen) return
        desk.set({ menu: null })
        focusCard(card.id)
      }}
      open
      title={shortName(card.id, card)}
      trigger={
        <button
          aria-label="Actions"
          className="pointer-events-none fixed size-0"
          style={{ left: at.x, top: at.y }}
          tabIndex={-1}
          type="button"
        />
      }
    />
  )
}

import { useEffect, useRef, useState } from 'react'
import { Icon } from '../../parts/icon.tsx'
import { ACT_NAMES } from '../../requests/act-words.ts'
import type { IconName } from '../../theme/icons.ts'
import { useBoardActs } from './acts-context.ts'
import { useDesk, useOnDesk } from './desk.ts'
import { dropPlace } from './drag.ts'
import type { Tray } from './drops.ts'

const ICON_OF = {
  pause: 'pause',
  resume: 'play',
  cancel: 'cancel',
  retry: 'retry',
} as const satisfies Record<Tray, IconName>

/** Acts that have no column, shown while a card is dragged. */
export function Trays() {
  const desk = useDesk()
  const dragged = useOnDesk(desk, (state) => state.dragged)
  if (!dragged || dragged.drops.trays.length === 0) return null
  return (
    <div className="absolute inset-x-0 bottom-4 z-20 flex animate-rise justify-center gap-3">
      {dragged.drops.trays.map((act) => (
        <TrayFor act={act} id={dragged.card.id} key={act} />
      ))}
    </div>
  )
}

function TrayFor({ act, id }: { act: Tray; id: string }) {
  const element = useRef<HTMLDivElement>(null)
  const acts = useBoardActs()
  const [isOver, setOver] = useState(false)
  useEffect(
    () =>
      dropPlace(element.current!, {
        canDrop: () => true,
        over: (clientY) => setOver(clientY !== null),
        drop: () => acts.begin(act, [id]),
      }),
    [acts, act, id],
  )
  return (
    <div
      className={`inline-flex h-14 min-w-36 items-center justify-center gap-2 rounded-dialog text-body font-medium shadow-float ${isOver ? 'bg-ink text-bg' : 'bg-raised text-ink'}`}
      ref={element}
    >
      <Icon name={ICON_OF[act]} />
      {ACT_NAMES[act]}
    </div>
  )
}

import { memo, useEffect, useLayoutEffect, useRef, useState } from 'react'
import type { BoardColumn } from '../../../../src/views/board/columns.ts'
import { PageLink } from '../../links.tsx'
import { columnOf } from '../../live/board-list.ts'
import { useCard } from '../../live/hooks.ts'
import type { ShownCard } from '../../live/pending-acts.ts'
import { useLive } from '../../live/provider.tsx'
import { Icon } from '../../parts/icon.tsx'
import { StateMark } from '../../parts/state-mark.tsx'
import { STATE_LOOKS } from '../../theme/marks.ts'
import { CardFacts, CardReason } from '../../things/task/card-lines.tsx'
import { shortName } from '../../things/task/card-words.ts'
import { useDesk, useOnDesk } from './desk.ts'
import { draggableCard } from './drag.ts'
import { useMoves } from './moves.ts'

interface Props {
  id: string
  column: BoardColumn
  /** The address that opens it in the panel. */
  to: string
  isOpen: boolean
  canDrag: boolean
}

/** One task: 84 px high, whatever it says. Few elements, since a board draws many. */
export const TaskCard = memo(function TaskCard({ id, column, to, isOpen, canDrag }: Props) {
  const card = useCard(id)
  const element = useCardElement(id, column, canDrag)
  const desk = useDesk()
  const isCursor = useOnDesk(desk, ({ cursor }) => cursor === id)
  const isSelected = useOnDesk(desk, ({ selected }) => selected.has(id))
  const [isHovered, setHovered] = useState(false)
  if (!card) return <div className="h-full rounded-card bg-raised" ref={element} />
  const { word } = STATE_LOOKS[card.state]
  const look = isSelected
    ? 'bg-go-tint shadow-[0_0_0_2px_var(--accent)]'
    : isOpen || isCursor
      ? 'bg-raised shadow-[0_0_0_2px_var(--edge)]'
      : 'bg-raised shadow-[0_0_0_1px_var(--line),0_1px_1px_var(--card-shade)] hover:bg-hover'
  return (
    <article
      className={`group relative flex h-full flex-col justify-between overflow-hidden rounded-card py-2 pr-2 pl-3 text-row ${look}`}
      data-card={id}
      onContextMenu={(event) => {
        event.preventDefault()
        desk.set({ cursor: id, menu: { id, x: event.clientX, y: event.clientY } })
      }}
      onPointerEnter={() => setHovered(true)}
      onPointerLeave={() => setHovered(false)}
      ref={element}
      style={
        card.missionId ? { borderLeft: `3px solid var(--agent-${stripeOf(card.missionId)})` } : undefined
      }
    >
      <div className="flex items-center gap-1.5">
        <StateMark
          isPending={card.pending !== undefined}
          label={`${word}${isSelected ? ', selected' : ''}${card.pending ? ', not confirmed yet' : ''}`}
          percent={card.percent}
          state={card.state}
        />
        <PageLink
          className="min-w-0 flex-1 truncate font-medium outline-none after:absolute after:inset-0 after:rounded-card focus-visible:after:outline-2 focus-visible:after:-outline-offset-2 focus-visible:after:outline-accent"
          draggable={false}
          onFocus={() => desk.set({ cursor: id })}
          title={card.title}
          to={to}
        >
          <span className="mr-1.5 font-mono text-label text-muted">{shortName(id, card)}</span>
          {card.title}
        </PageLink>
        {(isHovered || isCursor) && <MenuButton card={card} />}
      </div>
      <CardReason card={card} />
      <CardFacts card={card} />
    </article>
  )
})

function MenuButton({ card }: { card: ShownCard }) {
  const desk = useDesk()
  return (
    <button
      aria-label={`Acts of ${shortName(card.id, card)}`}
      className="relative z-10 -my-1 inline-flex size-6 shrink-0 items-center justify-center rounded-chip text-muted hover:bg-line hover:text-ink"
      onClick={(event) => {
        const { right: x, bottom: y } = event.currentTarget.getBoundingClientRect()
        desk.set({ cursor: card.id, menu: { id: card.id, x, y } })
      }}
      title="Actions (.)"
      type="button"
    >
      <Icon name="more" size={14} />
    </button>
  )
}

/** The card's element can be dragged, and travels when the task moves to another column. */
function useCardElement(id: string, column: BoardColumn, canDrag: boolean) {
  const element = useRef<HTMLElement>(null)
  const { world } = useLive()
  const moves = useMoves()
  const desk = useDesk()
  useLayoutEffect(() => {
    const drawn = element.current!
    moves.arrived(id, column, drawn)
    // The card under the cursor took the focus with it when it left its old place.
    if (desk.get().cursor === id && document.activeElement === document.body)
      drawn.querySelector('a')?.focus({ preventScroll: true })
    return () => {
      const card = world.shown(id)
      // Rows that were only scrolled away are not measured.
      if (card && columnOf(card) !== column) moves.left(id, column, drawn)
    }
  }, [moves, world, desk, id, column])
  const isKnown = useCard(id) !== undefined
  useEffect(() => {
    if (!canDrag || !isKnown || !element.current) return
    return draggableCard(element.current, () => world.shown(id), desk)
  }, [canDrag, isKnown, world, desk, id])
  return element as React.RefObject<never>
}

const TINTS = 8

/** Tasks of one mission have a stripe of one tint, in every browser. */
function stripeOf(missionId: string): number {
  let sum = 0
  for (const letter of missionId) sum = (sum * 31 + letter.charCodeAt(0)) % 9973
  return (sum % TINTS) + 1
}

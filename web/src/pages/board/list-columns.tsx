import type { ReactNode } from 'react'
import { PageLink } from '../../links.tsx'
import { useCard } from '../../live/hooks.ts'
import type { ShownCard } from '../../live/pending-acts.ts'
import { AgentChip } from '../../parts/agent-chip.tsx'
import type { Column } from '../../parts/data-table.tsx'
import { Moment } from '../../parts/moment.tsx'
import { Money } from '../../parts/money.tsx'
import { StateChip } from '../../parts/state-chip.tsx'
import { CardReason, WorkMark } from '../../things/task/card-lines.tsx'
import { agesFrom, attemptWords, shortName } from '../../things/task/card-words.ts'
import { useDesk, useOnDesk } from './desk.ts'
import { canSort } from './sorted.ts'

export const columnsOf = (addressOf: (id: string) => string): Column<string>[] =>
  COLUMNS(addressOf).map((column) => ({ ...column, canSort: canSort(column.name) }))

/** Where there is no room for all. */
export const DROPS = ['attempt', 'priority', 'cost', 'reason']

const COLUMNS = (addressOf: (id: string) => string): Column<string>[] => [
  {
    name: 'state',
    words: 'State',
    width: '124px',
    cell: (id) => <Of id={id}>{(card) => <State card={card} />}</Of>,
    phone: 'second',
  },
  {
    name: 'task',
    words: 'Task',
    width: 'minmax(200px, 3fr)',
    cell: (id) => <Of id={id}>{(card) => <Name card={card} to={addressOf(id)} />}</Of>,
    phone: 'first',
  },
  {
    name: 'reason',
    words: 'Now',
    width: 'minmax(120px, 2fr)',
    cell: (id) => <Of id={id}>{(card) => <Now card={card} />}</Of>,
    phone: 'room',
  },
  {
    name: 'agent',
    words: 'Agent',
    width: '128px',
    cell: (id) => (
      <Of id={id}>
        {({ holder, agent }) => (holder || agent ? <AgentChip slug={holder?.agent ?? agent!} /> : null)}
      </Of>
    ),
  },
  {
    name: 'priority',
    words: 'Priority',
    width: '76px',
    align: 'end',
    cell: (id) => <Of id={id}>{({ priority }) => priority}</Of>,
    phone: 'hidden',
  },
  {
    name: 'attempt',
    words: 'Attempt',
    width: '76px',
    align: 'end',
    cell: (id) => <Of id={id}>{attemptWords}</Of>,
    phone: 'hidden',
  },
  {
    name: 'cost',
    words: 'Cost',
    width: '72px',
    align: 'end',
    cell: (id) => <Of id={id}>{({ costUsd }) => costUsd !== null && <Money usd={costUsd} />}</Of>,
    phone: 'hidden',
  },
  {
    name: 'age',
    words: 'Since',
    width: '72px',
    align: 'end',
    cell: (id) => <Of id={id}>{(card) => <Moment at={agesFrom(card)} />}</Of>,
  },
]

/** A cell listens to its own card, so that a change draws one row. */
function Of({ id, children }: { id: string; children: (card: ShownCard) => ReactNode }) {
  const card = useCard(id)
  return card ? children(card) : null
}

const State = ({ card }: { card: ShownCard }) => (
  <StateChip isPending={card.pending !== undefined} percent={card.percent} state={card.state} />
)

function Now({ card }: { card: ShownCard }) {
  if (card.workNote === null) return <CardReason card={card} isBesideState />
  return (
    <span className="flex min-w-0 items-center gap-2">
      <span className="flex max-w-full shrink-0">
        <WorkMark note={card.workNote} />
      </span>
      <CardReason card={card} isBesideState />
    </span>
  )
}

function Name({ card, to }: { card: ShownCard; to: string }) {
  const desk = useDesk()
  const isSelected = useOnDesk(desk, ({ selected }) => selected.has(card.id))
  return (
    <span className="flex min-w-0 items-center gap-2" data-card={card.id}>
      <input
        aria-label={`Select ${shortName(card.id, card)}`}
        checked={isSelected}
        className="size-4 shrink-0 accent-ink max-sm:hidden"
        onChange={() => desk.toggle(card.id)}
        type="checkbox"
      />
      <PageLink
        className="focus-inside min-w-0 truncate font-medium hover:underline"
        onFocus={() => desk.set({ cursor: card.id })}
        title={card.title}
        to={to}
      >
        <span className="mr-1.5 font-mono text-label text-muted">{shortName(card.id, card)}</span>
        {card.title}
      </PageLink>
      {card.workNote !== null && (
        <span className="sm:hidden">
          <WorkMark hasWords={false} note={card.workNote} />
        </span>
      )}
    </span>
  )
}

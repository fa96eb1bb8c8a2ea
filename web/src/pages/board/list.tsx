import { useRef } from 'react'
import type { BoardColumn } from '../../../../src/core/board.ts'
import { PageLink, useGo } from '../../links.tsx'
import { type BoardOnScreen, useCard } from '../../live/hooks.ts'
import type { ShownCard } from '../../live/pending-acts.ts'
import { AgentChip } from '../../parts/agent-chip.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Moment } from '../../parts/moment.tsx'
import { Money } from '../../parts/money.tsx'
import { StateChip } from '../../parts/state-chip.tsx'
import type { VirtualListHandle } from '../../parts/virtual-list.tsx'
import { CardReason } from './card-lines.tsx'
import { useDesk, useOnDesk } from './desk.ts'
import { listed } from './listed.ts'
import { type BoardSearch, boardAt } from './search.ts'
import { useCardKeys } from './use-card-keys.ts'
import { agesFrom, attemptWords, shortName } from './words.ts'

/** The same tasks as a table: what waits for a person first, what is done last. */
export function TaskList({ board, search }: { board: BoardOnScreen; search: BoardSearch }) {
  const go = useGo()
  const desk = useDesk()
  const cursor = useOnDesk(desk, (state) => state.cursor)
  const table = useRef<VirtualListHandle>(null)
  const { ids, unread } = listed((name: BoardColumn) => board.column(name))
  const addressOf = (task: string | undefined) => boardAt(search, { task })
  useCardKeys({
    columns: [{ name: 'inbox', ids }],
    scrollTo: (_, place) => table.current?.scrollToIndex(place),
    openId: search.task,
    addressOf,
  })
  return (
    <DataTable
      columns={columnsOf(addressOf)}
      keyOf={(id) => id}
      label="Tasks"
      onOpen={(id) => go(addressOf(id))}
      {...(unread ? { onNearEnd: () => void board.loadMore(unread) } : {})}
      ref={table}
      rows={ids}
      selected={search.task ?? cursor}
    />
  )
}

const columnsOf = (addressOf: (id: string) => string): Column<string>[] => [
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
    width: 'minmax(0, 3fr)',
    cell: (id) => <Of id={id}>{(card) => <Name card={card} to={addressOf(id)} />}</Of>,
    phone: 'first',
  },
  {
    name: 'reason',
    words: 'Now',
    width: 'minmax(0, 2fr)',
    cell: (id) => <Of id={id}>{(card) => <CardReason card={card} />}</Of>,
    phone: 'hidden',
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
    width: '56px',
    align: 'end',
    cell: (id) => <Of id={id}>{({ priority }) => priority}</Of>,
    phone: 'hidden',
  },
  {
    name: 'attempt',
    words: 'Attempt',
    width: '56px',
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
function Of({ id, children }: { id: string; children: (card: ShownCard) => React.ReactNode }) {
  const card = useCard(id)
  return card ? children(card) : null
}

const State = ({ card }: { card: ShownCard }) => (
  <StateChip isPending={card.pending !== undefined} percent={card.percent} state={card.state} />
)

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
    </span>
  )
}

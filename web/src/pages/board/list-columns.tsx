import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { PageLink } from '../../links.tsx'
import { useCard } from '../../live/hooks.ts'
import type { ShownCard } from '../../live/pending-acts.ts'
import { AgentChip } from '../../parts/agent-chip.tsx'
import type { Column } from '../../parts/data-table.tsx'
import { Moment } from '../../parts/moment.tsx'
import { Money } from '../../parts/money.tsx'
import { StateChip } from '../../parts/state-chip.tsx'
import { durationText, tokensText } from '../../parts/wording.ts'
import { CardReason, WorkMark } from '../../things/task/card-lines.tsx'
import { agentOf, agesFrom, attemptWords, shortName } from '../../things/task/card-words.ts'
import { useDesk, useOnDesk } from './desk.ts'
import { columnNamed, type ListColumnName } from './list-values.ts'
import { missionQuery } from './queries.ts'
import { canSort } from './sorted.ts'

/** Where there is no room for all. */
export const DROPS: readonly ListColumnName[] = [
  ...([
    'tags',
    'tokens',
    'type',
    'attempt',
    'worked',
    'project',
    'priority',
    'cost',
    'mission',
    'reason',
  ] as const),
]

interface Drawn extends Pick<Column<string>, 'width' | 'align' | 'phone'> {
  draw: (card: ShownCard) => ReactNode
}

const small = (words: ReactNode) => <span className="text-muted">{words}</span>

const DRAWN: Record<Exclude<ListColumnName, 'task'>, Drawn> = {
  state: { width: '124px', draw: (card) => <State card={card} />, phone: 'second' },
  reason: { width: 'minmax(120px, 2fr)', draw: (card) => <Now card={card} />, phone: 'room' },
  agent: {
    width: '128px',
    draw: (card) => {
      const agent = agentOf(card)
      return agent === null ? null : <AgentChip slug={agent} />
    },
  },
  mission: {
    width: 'minmax(100px, 1fr)',
    draw: ({ missionId }) => missionId && <MissionName id={missionId} />,
    phone: 'hidden',
  },
  project: { width: '100px', draw: ({ project }) => project, phone: 'hidden' },
  type: { width: '92px', draw: ({ taskType }) => small(taskType), phone: 'hidden' },
  tags: {
    width: '128px',
    draw: ({ tags }) => <span title={tags.join(', ')}>{small(tags.join(', '))}</span>,
    phone: 'hidden',
  },
  priority: { width: '76px', align: 'end', draw: ({ priority }) => priority, phone: 'hidden' },
  attempt: { width: '76px', align: 'end', draw: attemptWords, phone: 'hidden' },
  cost: {
    width: '88px',
    align: 'end',
    draw: ({ costUsd, isSimulated }) =>
      costUsd !== null && <Money simulated={isSimulated && 'short'} usd={costUsd} />,
    phone: 'hidden',
  },
  tokens: {
    width: '76px',
    align: 'end',
    draw: ({ tokensUsed }) => tokensUsed !== null && tokensText(tokensUsed),
    phone: 'hidden',
  },
  worked: {
    width: '84px',
    align: 'end',
    draw: ({ workMs }) => workMs !== null && durationText(workMs),
    phone: 'hidden',
  },
  age: { width: '72px', align: 'end', draw: (card) => <Moment at={agesFrom(card)} /> },
}

/** The columns that are chosen, as the table draws them. */
export const columnsOf = (
  chosen: readonly ListColumnName[],
  addressOf: (id: string) => string,
): Column<string>[] =>
  chosen.map((name) => {
    const { words } = columnNamed(name)
    if (name === 'task')
      return {
        ...{ name, words, width: 'minmax(200px, 3fr)', canSort: true, phone: 'first' },
        cell: (id) => <Of id={id}>{(card) => <Name card={card} to={addressOf(id)} />}</Of>,
      }
    const { draw, ...how } = DRAWN[name]
    return { ...how, name, words, canSort: canSort(name), cell: (id) => <Of id={id}>{draw}</Of> }
  })

/** Missions are few; each is read once. */
function MissionName({ id }: { id: string }) {
  const { data } = useQuery(missionQuery(id))
  return <span title={data?.title}>{small(data?.title ?? '')}</span>
}

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

import { actsFor } from '../../../../src/core/acts.ts'
import { idCarriedBy } from '../../../../src/core/ids.ts'
import { PageLink } from '../../links.tsx'
import { useCard } from '../../live/hooks.ts'
import type { ShownCard } from '../../live/pending-acts.ts'
import { useLive } from '../../live/provider.tsx'
import { AgentChip } from '../../parts/agent-chip.tsx'
import { Button } from '../../parts/button.tsx'
import { Chip } from '../../parts/chip.tsx'
import { Copyable } from '../../parts/copyable.tsx'
import { Countdown } from '../../parts/countdown.tsx'
import { Moment } from '../../parts/moment.tsx'
import { Money } from '../../parts/money.tsx'
import { SidePanel } from '../../parts/side-panel.tsx'
import { Skeleton } from '../../parts/skeleton.tsx'
import { StateChip } from '../../parts/state-chip.tsx'
import { Tokens } from '../../parts/tokens.tsx'
import { ACT_NAMES } from '../../requests/act-words.ts'
import { type BoardAct, useBoardActs } from './acts-context.ts'
import { attemptWords, reasonOf, shortName, waitsWords } from './words.ts'

/** What the board knows of a task, beside the columns. It changes as the card does. */
export function TaskSummary({ id, onClose }: { id: string; onClose: () => void }) {
  const card = useCard(id)
  return (
    <SidePanel onClose={onClose} title={card ? shortName(id, card) : 'Task'}>
      {card ? (
        <Summary card={card} />
      ) : idCarriedBy(id) === null ? (
        <p className="text-body text-muted">No task has this address.</p>
      ) : (
        <Skeleton rows={6} />
      )}
    </SidePanel>
  )
}

const OFFERED = [
  'approve',
  'reject',
  'retry',
  'reset',
  'resume',
  'pause',
  'cancel',
] as const satisfies BoardAct[]

function Summary({ card }: { card: ShownCard }) {
  const { entities } = useLive().world
  const acts = useBoardActs()
  const lawful = actsFor(card)
  const reason = waitsWords(card, (id) => entities.get('card', id)) ?? reasonOf(card)
  return (
    <div className="flex flex-col gap-4">
      <div className="flex flex-col gap-2">
        <p className="text-title font-semibold break-words">{card.title}</p>
        <div className="flex flex-wrap items-center gap-2">
          <StateChip isPending={card.pending !== undefined} percent={card.percent} state={card.state}>
            {card.state === 'awaiting_retry' && card.dueAt !== null ? (
              <>
                Retry in <Countdown due="a moment" to={card.dueAt} />
              </>
            ) : undefined}
          </StateChip>
          {card.tags.map((tag) => (
            <Chip key={tag}>{tag}</Chip>
          ))}
        </div>
        {reason && <p className="text-body break-words text-muted">{reason}</p>}
      </div>
      <div className="flex flex-wrap gap-2">
        {OFFERED.filter((act) => lawful.includes(act)).map((act, place) => (
          <Button
            disabledReason={acts.forbidden}
            key={act}
            kind={act === 'cancel' ? 'quiet' : place === 0 ? 'primary' : 'plain'}
            onClick={() => acts.begin(act, [card.id])}
            size="small"
          >
            {ACT_NAMES[act]}
          </Button>
        ))}
      </div>
      <Facts card={card} />
    </div>
  )
}

function Facts({ card }: { card: ShownCard }) {
  const agent = card.holder?.agent ?? card.agent
  const facts: Record<string, React.ReactNode> = {
    Agent: agent ? <AgentChip slug={agent} /> : 'Any',
    Lease: card.holder && <Countdown due="is over" to={card.holder.leaseExpiresAt} />,
    Priority: card.priority,
    Attempt: attemptWords(card) ?? 'None yet',
    Generation: card.generation,
    Type: card.taskType,
    Project: card.project,
    Cost: card.costUsd !== null && <Money usd={card.costUsd} />,
    Tokens: card.tokens !== null && <Tokens count={card.tokens} />,
    'In this state': <Moment at={card.stateSince} />,
    Made: <Moment at={card.createdAt} />,
    'Last run': card.runId && (
      <PageLink className="text-accent hover:underline" to={`/runs/${card.runId}`}>
        Open the run
      </PageLink>
    ),
    Key: card.key && <Copyable text={card.key} />,
    Id: <Copyable text={card.id} />,
  }
  return (
    <dl className="grid grid-cols-[7rem_minmax(0,1fr)] gap-y-2 border-t border-line pt-4 text-row">
      {Object.entries(facts)
        .filter(([, value]) => value !== null && value !== false)
        .map(([name, value]) => (
          <div className="contents" key={name}>
            <dt className="text-muted">{name}</dt>
            <dd className="min-w-0 break-words">{value}</dd>
          </div>
        ))}
    </dl>
  )
}

import { causeOf } from '../../../../src/pure/cause.ts'
import type { ShownCard } from '../../live/pending-acts.ts'
import { useLive } from '../../live/provider.tsx'
import { AgentChip } from '../../parts/agent-chip.tsx'
import { useClock } from '../../parts/clock.ts'
import { Countdown } from '../../parts/countdown.tsx'
import { Icon } from '../../parts/icon.tsx'
import { durationText, exactText, moneyText } from '../../parts/wording.ts'
import { HUE_TEXT } from '../../theme/hues.ts'
import { STATE_LOOKS } from '../../theme/marks.ts'
import { agentOf, agesFrom, attemptWords, reasonOf, waitsWords } from './card-words.ts'

/** Why it does not move and what comes next, or what it does now. */
export function CardReason({ card, isBesideState = false }: { card: ShownCard; isBesideState?: boolean }) {
  const { entities } = useLive().world
  const { word, hue } = STATE_LOOKS[card.state]
  if (card.pending?.isUnknown) return <Line className={HUE_TEXT.ask}>Not known whether it was done</Line>
  if (card.state === 'awaiting_retry' && card.dueAt !== null)
    return (
      <Line className="text-muted" title={card.reason}>
        Retry in <Countdown due="a moment" to={card.dueAt} />
        {card.reason && ` · ${causeOf(card.reason)}`}
      </Line>
    )
  const waits = waitsWords(card, (id) => entities.get('card', id))
  if (card.dueAt !== null && card.state === 'pending' && waits === null)
    return (
      <Line className="text-muted">
        Starts in <Countdown due="a moment" to={card.dueAt} />
      </Line>
    )
  const reason = waits ?? reasonOf(card)
  const isRunning = card.state === 'running' || card.state === 'continuing'
  const percent = isRunning && card.percent !== null ? `${Math.round(card.percent)} % · ` : ''
  // A state that needs a person is shown in its colour; the rest is muted.
  const tone = card.notTaken ? HUE_TEXT.ask : hue === 'ask' || hue === 'bad' ? HUE_TEXT[hue] : 'text-muted'
  return (
    <Line className={tone} title={titleOf(card) ?? reason}>
      {percent}
      {reason ?? (isBesideState ? null : word)}
    </Line>
  )
}

/** What a line leaves out: the command that failed with its path, the rest of a summary. */
const titleOf = ({ state, reason, summary }: ShownCard) =>
  state === 'completed' ? summary : state === 'failed' ? reason : null

function Line(props: { className: string; title?: string | null; children: React.ReactNode }) {
  return (
    <p className={`truncate text-label ${props.className}`} title={props.title ?? undefined}>
      {props.children}
    </p>
  )
}

/** Most tasks have it, so it is not shown: a narrow card has room for other values. */
const USUAL_PRIORITY = 5

/** Of simulated agents with the mark first: where the line is cut off, the amount is, and does not look like dollars. */
function costOf({ costUsd, isSimulated }: ShownCard): string | null {
  if (costUsd === null || Number(costUsd) === 0) return null
  return isSimulated ? `sim. ${moneyText(costUsd)}` : moneyText(costUsd)
}

/** Who, how urgent, which attempt, how much, how long. */
export function CardFacts({ card }: { card: ShownCard }) {
  const agent = agentOf(card)
  const facts = [
    card.priority === USUAL_PRIORITY || card.completedAt !== null ? null : `P${card.priority}`,
    card.state === 'completed' ? null : attemptWords(card),
    card.workMs === null ? null : durationText(card.workMs),
    costOf(card),
    card.tags[0] ?? null,
  ].filter((fact) => fact !== null)
  if (card.workNote !== null)
    return (
      <div className="flex items-center gap-1.5 text-label text-faint">
        {agent && <AgentChip hasName={false} size={16} slug={agent} />}
        <span className="flex min-w-0 flex-1">
          <WorkMark note={card.workNote} />
        </span>
        <Age at={agesFrom(card)} />
      </div>
    )
  return (
    <div className="flex items-center gap-1.5 text-label text-faint">
      {agent && <AgentChip hasName={false} size={16} slug={agent} />}
      <span className="min-w-0 flex-1 truncate" title={factsTitle(card)}>
        {agent && <span className="text-muted">{agent}</span>}
        {agent && facts.length > 0 && ' · '}
        {facts.join(' · ')}
      </span>
      <Age at={agesFrom(card)} />
    </div>
  )
}

/** What the work of the last run lacks. */
export const WorkMark = ({ note, hasWords = true }: { note: string; hasWords?: boolean }) => (
  <span className="inline-flex min-w-0 items-center gap-1 text-label text-ask" title={note}>
    <Icon className="shrink-0" name="warning" size={12} />
    <span className={hasWords ? 'truncate' : 'sr-only'}>{note}</span>
  </span>
)

const factsTitle = ({ priority, attempt, maxRetries, tags }: ShownCard) =>
  [
    `Priority ${priority}`,
    attempt > 0 ? `attempt ${attempt} of ${maxRetries + 1}` : null,
    tags.length > 0 ? `tags ${tags.join(', ')}` : null,
  ]
    .filter((one) => one !== null)
    .join(', ')

const MINUTE_MS = 60_000

/** "3 m": in whole minutes, except for the first one. */
function Age({ at }: { at: number }) {
  const age = useClock(15_000) - at
  const rough =
    age < MINUTE_MS ? Math.max(0, Math.round(age / 1_000)) * 1_000 : Math.floor(age / MINUTE_MS) * MINUTE_MS
  return (
    <time className="shrink-0 tabular-nums" dateTime={new Date(at).toISOString()} title={exactText(at)}>
      {age < MINUTE_MS ? '< 1 m' : durationText(rough).split(' ').slice(0, 2).join(' ')}
    </time>
  )
}

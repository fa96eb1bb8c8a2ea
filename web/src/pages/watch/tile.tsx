import { memo } from 'react'
import { isLive } from '../../../../src/kinds/run/states.ts'
import { PageLink } from '../../links.tsx'
import { useCard } from '../../live/hooks.ts'
import type { ShownCard } from '../../live/pending-acts.ts'
import { AgentChip } from '../../parts/agent-chip.tsx'
import { Duration } from '../../parts/duration.tsx'
import { Icon } from '../../parts/icon.tsx'
import { IconButton } from '../../parts/icon-button.tsx'
import { Money } from '../../parts/money.tsx'
import { ProgressBar } from '../../parts/progress-bar.tsx'
import { StateChip } from '../../parts/state-chip.tsx'
import { StatusMessage } from '../../parts/status-message.tsx'
import { Tokens } from '../../parts/tokens.tsx'
import { tokensOf } from '../../parts/wording.ts'
import { nameOfTask, shortKey } from '../../requests/act-words.ts'
import { isSimulated } from '../../things/run/run.ts'
import type { TailLine } from './step-lines.ts'
import { endWords, type Trouble, type WatchedRun } from './wall.ts'

interface Props {
  run: WatchedRun
  /** What is wrong, in words; null: nothing is. */
  trouble: string | null
  troubleKind: Trouble['kind'] | null
  lines: readonly TailLine[] | undefined
  isSelected: boolean
  /** No other tile is there: it has the page. */
  isAlone: boolean
  onSelect: (run: WatchedRun) => void
  onStop: (run: WatchedRun) => void
  whyNotStop: string | null
}

/** Solid: it makes progress. Dashed: it repeats itself, or is silent. */
const BORDERS = {
  repeats: 'border-bad border-dashed',
  silent: 'border-ask border-dashed',
  budget: 'border-ask',
} as const satisfies Record<Trouble['kind'], string>

const LOOKS = {
  plain: 'truncate whitespace-pre',
  said: 'line-clamp-2 font-sans text-row wrap-anywhere',
  quiet: 'truncate whitespace-pre text-muted',
  bad: 'truncate whitespace-pre text-bad',
} as const satisfies Record<TailLine['look'], string>

/** One run: who, what, how long, how much, and its last lines. The border distinguishes progress from repetition. */
export const Tile = memo(function Tile(props: Props) {
  const { run, trouble, troubleKind, lines, isSelected, isAlone, onSelect, onStop, whyNotStop } = props
  const isRunning = isLive(run.status)
  const border = !isRunning ? 'border-line' : troubleKind === null ? 'border-go' : BORDERS[troubleKind]
  return (
    <article
      aria-current={isSelected}
      aria-label={`${run.agent}: ${run.taskTitle ?? 'no task'}`}
      className={`flex min-w-0 ${isAlone ? 'h-full min-h-68' : 'h-68'} flex-col overflow-hidden rounded-dialog border-2 bg-raised ${border} ${isSelected ? 'outline-2 outline-offset-2 outline-accent' : ''}`}
      data-run={run.id}
    >
      <header className="flex items-center gap-2 border-b border-line px-3 py-1.5 text-row">
        <AgentChip slug={run.agent} />
        <PageLink
          className="min-w-0 flex-1 truncate font-medium hover:text-accent hover:underline"
          onFocus={() => onSelect(run)}
          to={`/runs/${run.id}`}
        >
          {run.taskId !== null && (
            <span className="mr-1.5 font-mono text-label text-muted">
              {shortKey(nameOfTask(run.taskId, { key: run.taskKey }))}
            </span>
          )}
          {run.taskTitle ?? 'no task'}
        </PageLink>
        {isRunning ? (
          <IconButton
            disabledReason={whyNotStop}
            icon="stop"
            label={`Stop the run of ${run.agent}`}
            onClick={() => onStop(run)}
            shortcut="s"
            size="small"
          />
        ) : (
          <StateChip state={run.status} />
        )}
      </header>
      <LastLines lines={lines} run={run} />
      <footer className="flex flex-col gap-1.5 border-t border-line px-3 py-2 text-label text-muted">
        {trouble !== null && (
          <p
            className={`flex items-center gap-1.5 font-medium break-words ${troubleKind === 'repeats' ? 'text-bad' : 'text-ask'}`}
          >
            <Icon name="warning" size={12} />
            {trouble}
          </p>
        )}
        {run.taskId === null ? (
          <Figures card={undefined} run={run} />
        ) : (
          <FiguresOfTask run={run} taskId={run.taskId} />
        )}
      </footer>
    </article>
  )
})

/** The newest at the bottom; what does not fit is cut off at the top. */
function LastLines({ lines, run }: { lines: readonly TailLine[] | undefined; run: WatchedRun }) {
  return (
    <div className="flex min-h-0 flex-1 flex-col justify-end overflow-hidden bg-sunken px-3 py-2 font-mono text-label">
      {lines && lines.length > 0 ? (
        <ol aria-label="Last lines">
          {lines.map(({ key, text, look, since }) => (
            <li className="flex min-w-0 gap-[1ch]" key={key}>
              <span className={`min-w-0 ${LOOKS[look]}`}>{text}</span>
              {since !== null && (
                <span className="shrink-0 text-muted">
                  <Duration since={since} />
                </span>
              )}
            </li>
          ))}
        </ol>
      ) : (
        <p className="my-auto text-center font-sans text-row text-muted">
          {lines !== undefined && (run.statusMessage === null ? 'No output yet.' : <Says run={run} />)}
        </p>
      )}
    </div>
  )
}

const Says = ({ run }: { run: WatchedRun }) => (
  <StatusMessage color={run.statusColor} message={run.statusMessage ?? ''} />
)

const FiguresOfTask = ({ run, taskId }: { run: WatchedRun; taskId: string }) => (
  <Figures card={useCard(taskId)} run={run} />
)

/** How far, which step, how long, and how much. */
function Figures({ run, card }: { run: WatchedRun; card: ShownCard | undefined }) {
  const isRunning = isLive(run.status)
  const percent = isRunning ? (card?.percent ?? null) : null
  const cost = run.costUsd ?? (isRunning ? (card?.costUsd ?? null) : null)
  return (
    <>
      {percent !== null && (
        <div className="flex items-center gap-2">
          <div className="flex-1">
            <ProgressBar label="Progress of the task" percent={percent} />
          </div>
          <span className="tabular-nums">{Math.round(percent)} %</span>
        </div>
      )}
      <p className="flex items-center gap-3">
        <span className={`min-w-0 flex-1 truncate ${isRunning || !run.errorCode ? '' : 'text-bad'}`}>
          {isRunning ? (card?.step ?? <Says run={run} />) : endWords(run)}
        </span>
        {run.startedAt && <Clock run={run} />}
        {run.tokens && <Tokens count={tokensOf(run.tokens)} />}
        {cost !== null && (
          <span title={run.costUsd === null ? 'Of the task, with its earlier runs' : undefined}>
            <Money simulated={isSimulated(run) && 'words'} usd={cost} />
          </span>
        )}
      </p>
    </>
  )
}

function Clock({ run: { startedAt, finishedAt } }: { run: WatchedRun }) {
  if (startedAt === null) return null
  if (finishedAt === null) return <Duration since={startedAt} />
  return <Duration ms={Date.parse(finishedAt) - Date.parse(startedAt)} />
}

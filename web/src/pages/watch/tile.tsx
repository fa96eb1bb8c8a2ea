import { isLive } from '../../../../src/core/runs/states.ts'
import { PageLink } from '../../links.tsx'
import { useCard } from '../../live/hooks.ts'
import { AgentChip } from '../../parts/agent-chip.tsx'
import { Duration } from '../../parts/duration.tsx'
import { IconButton } from '../../parts/icon-button.tsx'
import { Money } from '../../parts/money.tsx'
import { ProgressBar } from '../../parts/progress-bar.tsx'
import { StateChip } from '../../parts/state-chip.tsx'
import { Tokens } from '../../parts/tokens.tsx'
import type { WatchedRun } from './wall.ts'

interface Props {
  run: WatchedRun
  lines: readonly string[]
  isSelected: boolean
  onStop: () => void
  whyNotStop: string | null
}

/** One run: who, what, how long, how much, and its last lines. The border tells trouble from progress. */
export function Tile({ run, lines, isSelected, onStop, whyNotStop }: Props) {
  const isRunning = isLive(run.status)
  const border = !isRunning ? 'border-line' : run.flag === null ? 'border-go' : 'border-bad'
  const { usage } = run
  return (
    <article
      aria-label={`${run.agent}: ${run.taskTitle ?? 'no task'}`}
      className={`flex min-h-52 min-w-0 flex-col overflow-hidden rounded-dialog border-2 bg-raised ${border} ${isSelected ? 'outline-2 outline-offset-2 outline-accent' : ''}`}
    >
      <header className="flex items-center gap-2 border-b border-line px-3 py-2 text-row">
        <AgentChip slug={run.agent} />
        <PageLink
          className="min-w-0 flex-1 truncate font-medium hover:text-accent hover:underline"
          to={`/runs/${run.id}`}
        >
          {[run.taskKey, run.taskTitle].filter(Boolean).join(' ') || 'no task'}
        </PageLink>
        {isRunning ? (
          <IconButton
            disabledReason={whyNotStop}
            icon="stop"
            label={`Stop the run of ${run.agent}`}
            onClick={onStop}
            shortcut="s"
            size="small"
          />
        ) : (
          <StateChip state={run.status} />
        )}
      </header>
      <pre className="min-h-0 flex-1 overflow-hidden bg-sunken px-3 py-2 font-mono text-label break-all whitespace-pre-wrap">
        {lines.length > 0 ? (
          lines.join('\n')
        ) : (
          <span className="text-muted">{run.statusMessage ?? 'Nothing was written since you look.'}</span>
        )}
      </pre>
      <footer className="flex flex-col gap-1.5 border-t border-line px-3 py-2 text-label text-muted">
        {run.flag !== null && <p className="font-medium break-words text-bad">{run.flag}</p>}
        {run.taskId && isRunning && <Progress taskId={run.taskId} />}
        <p className="flex items-center gap-3">
          <span className="min-w-0 flex-1 truncate">{run.statusMessage}</span>
          {run.startedAt && (isRunning ? <Duration since={run.startedAt} /> : <Took run={run} />)}
          {usage && <Tokens count={usage.inputTokens + usage.outputTokens} />}
          {run.costUsd !== null && <Money usd={run.costUsd} />}
        </p>
      </footer>
    </article>
  )
}

function Took({ run: { startedAt, finishedAt } }: { run: WatchedRun }) {
  if (startedAt === null || finishedAt === null) return null
  return <Duration ms={Date.parse(finishedAt) - Date.parse(startedAt)} />
}

function Progress({ taskId }: { taskId: string }) {
  const percent = useCard(taskId)?.percent ?? null
  return percent === null ? null : <ProgressBar label="Progress of the task" percent={percent} />
}

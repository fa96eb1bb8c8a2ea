import { useState } from 'react'
import { useShortcuts } from '../../keys/shortcuts.ts'
import { PageLink, useGo } from '../../links.tsx'
import { useEntity } from '../../live/hooks.ts'
import { AgentChip } from '../../parts/agent-chip.tsx'
import { Duration } from '../../parts/duration.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Money } from '../../parts/money.tsx'
import { StateMark } from '../../parts/state-mark.tsx'
import { StatusMessage } from '../../parts/status-message.tsx'
import { Tokens } from '../../parts/tokens.tsx'
import { tokensOf } from '../../parts/wording.ts'
import { nameOfTask, shortKey } from '../../requests/act-words.ts'
import type { RunningNow } from './use-overview.ts'

const SHOWN = 5
const GRID =
  'grid grid-cols-[minmax(0,9rem)_minmax(200px,2fr)_minmax(0,2fr)_5rem_4rem_4rem_4rem] items-center gap-3 @max-[800px]:flex @max-[800px]:flex-wrap @max-[800px]:gap-x-3 @max-[800px]:gap-y-0.5'

const addressOf = ({ runId, taskKey, taskId }: RunningNow) =>
  runId === null ? `/tasks/${taskKey ?? taskId}` : `/runs/${runId}`
const keyOf = ({ runId, taskId }: RunningNow) => runId ?? taskId ?? ''

/** Who is at work now: those that need a look first, then the oldest. */
export function Running({ items, count }: { items: readonly RunningNow[]; count: number }) {
  const go = useGo()
  const [selected, setSelected] = useState<string | null>(null)
  const shown = items.slice(0, SHOWN)
  const place = shown.findIndex((one) => keyOf(one) === selected)
  const move = (by: number) => {
    const next = shown[Math.min(Math.max(place + by, 0), shown.length - 1)]
    if (next) setSelected(keyOf(next))
  }
  useShortcuts('Overview', {
    j: { words: 'Next running', run: () => move(1), repeats: true, isOff: shown.length === 0 },
    k: { words: 'Previous running', run: () => move(-1), repeats: true, isOff: shown.length === 0 },
    Enter: {
      words: 'Open the run',
      run: () => shown[place] && go(addressOf(shown[place])),
      isOff: place < 0,
    },
  })
  return (
    <section aria-label="Running now" className="min-w-0 rounded-card border border-line bg-raised">
      <h2 className="flex items-baseline gap-2 px-4 pt-3 pb-2 text-row font-medium">
        Running now
        {count > SHOWN && (
          <PageLink className="text-accent hover:underline" to="/runs?status=running">
            all {count}
          </PageLink>
        )}
      </h2>
      {shown.length === 0 ? (
        <p className="px-4 pb-3 text-row text-muted">No agent is at work.</p>
      ) : (
        <>
          <div aria-hidden="true" className={`${GRID} px-4 pb-1 text-label text-faint @max-[800px]:hidden`}>
            <span>Agent</span>
            <span>Task</span>
            <span>Doing</span>
            <span className="text-right">Since</span>
            <span className="text-right">Attempt</span>
            <span className="text-right">Tokens</span>
            <span className="text-right">Cost</span>
          </div>
          <ul>
            {shown.map((one) => (
              <RunningRow isSelected={keyOf(one) === selected} key={keyOf(one)} row={one} />
            ))}
          </ul>
        </>
      )}
    </section>
  )
}

function Doing({ row, run }: { row: RunningNow; run: ReturnType<typeof useEntity<'run'>> }) {
  const said = run?.statusMessage ? { message: run.statusMessage, color: run.statusColor } : null
  const stored = row.status === null ? null : { message: row.status, color: row.statusColor }
  const status = said ?? stored
  return status ? <StatusMessage {...status} /> : row.step
}

function RunningRow({ row, isSelected }: { row: RunningNow; isSelected: boolean }) {
  const run = useEntity('run', row.runId ?? '')
  const flag = run?.flag ?? row.flag
  const liveTokens = tokensOf(run?.tokens ?? null) ?? 0
  const tokens = liveTokens > 0 ? liveTokens : row.tokensUsed
  const cost = run?.costUsd ?? row.costUsd
  return (
    <li
      className={`${GRID} border-t border-line px-4 py-1.5 text-row ${isSelected ? 'bg-hover shadow-[inset_2px_0_0_var(--accent)]' : ''}`}
    >
      <span className="flex min-w-0 items-center gap-2">
        <StateMark label="Running" percent={row.percent} size={14} state="running" />
        <AgentChip size={16} slug={row.agent} />
      </span>
      <PageLink className="min-w-0 truncate hover:text-accent hover:underline" to={addressOf(row)}>
        {row.taskId !== null && (
          <span className="mr-1.5 font-mono text-label text-muted">
            {shortKey(nameOfTask(row.taskId, { key: row.taskKey }))}
          </span>
        )}
        {row.taskTitle ?? 'no task'}
      </PageLink>
      {flag ? (
        <span className="flex min-w-0 items-center gap-1 text-bad" title={flag.detail}>
          <Icon name="warning" size={12} /> <span className="truncate">{flag.detail}</span>
        </span>
      ) : (
        <span className="min-w-0 truncate text-muted">
          <Doing row={row} run={run} />
        </span>
      )}
      <span className="text-right text-muted">
        <Duration since={row.since} />
      </span>
      <span className="text-right text-muted tabular-nums">
        {row.attempt !== null && `${row.attempt}/${row.maxAttempts ?? '–'}`}
      </span>
      <span className={`text-right ${tokens === null ? '@max-[800px]:hidden' : ''}`}>
        <Tokens count={tokens} />
      </span>
      <span className={`text-right ${cost === null ? '@max-[800px]:hidden' : ''}`}>
        <Money simulated={row.isSimulated && 'short'} usd={cost} />
      </span>
    </li>
  )
}

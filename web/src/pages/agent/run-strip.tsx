import type { RunState } from '../../../../src/kinds/run/states.ts'
import { StateMark } from '../../parts/state-mark.tsx'
import { durationText } from '../../parts/wording.ts'
import { HUE_FILL } from '../../theme/hues.ts'
import { STATE_LOOKS } from '../../theme/marks.ts'
import type { ListedRun } from '../../things/run/run.ts'

const STRIP_PX = 40
const LOWEST_PX = 3

/** The last runs as bars, the newest on the right: colour and mark show how each ended, height how long it took. */
export function RunStrip({ runs, onOpen }: { runs: readonly ListedRun[]; onOpen: (id: string) => void }) {
  const longestMs = Math.max(...runs.map(({ durationMs }) => durationMs ?? 0))
  const label = summaryOf(runs.map(({ status }) => status))
  return (
    <figure className="flex flex-col gap-1.5 px-6 pt-4 pb-3 max-sm:px-4">
      <div
        aria-label={label}
        className="flex max-w-full min-w-0 items-end justify-end gap-0.5 self-start overflow-hidden"
        role="img"
        style={{ height: STRIP_PX + 12 }}
      >
        {[...runs].reverse().map((run) => (
          // biome-ignore lint/a11y/noStaticElementInteractions lint/a11y/useKeyWithClickEvents: the table below is for the keyboard
          <span
            className="flex shrink-0 cursor-pointer flex-col items-center justify-end gap-0.5 hover:opacity-70"
            key={run.id}
            onClick={() => onOpen(run.id)}
            style={{ width: 8, height: STRIP_PX + 12 }}
            title={titleOf(run)}
          >
            <span
              className={`w-1.5 rounded-t-xs ${HUE_FILL[STATE_LOOKS[run.status].hue]}`}
              style={{ height: LOWEST_PX + barHeight(run.durationMs, longestMs) * (STRIP_PX - LOWEST_PX) }}
            />
            <StateMark size={8} state={run.status} />
          </span>
        ))}
      </div>
      <figcaption className="text-label text-muted">
        {label}
        {longestMs > 0 && ` The longest took ${durationText(longestMs)}.`}
      </figcaption>
    </figure>
  )
}

const titleOf = ({ status, durationMs, taskKey, taskTitle }: ListedRun) =>
  [
    STATE_LOOKS[status].word,
    durationMs === null ? null : durationText(durationMs),
    [taskKey, taskTitle].filter(Boolean).join(' '),
  ]
    .filter(Boolean)
    .join(' · ')

function summaryOf(states: readonly RunState[]): string {
  const counts = new Map<RunState, number>()
  for (const state of states) counts.set(state, (counts.get(state) ?? 0) + 1)
  const parts = [...counts].map(([state, count]) => `${count} ${STATE_LOOKS[state].word.toLowerCase()}`)
  return `${states.length === 1 ? '1 run' : `Last ${states.length} runs`}: ${parts.join(', ')}.`
}

/** How high the bar of a run is, from 0 to 1. By the logarithm: runs of seconds and of hours are side by side. */
export function barHeight(durationMs: number | null, longestMs: number): number {
  if (durationMs === null || durationMs <= 0 || longestMs <= 0) return 0
  return Math.min(Math.log1p(durationMs / 1_000) / Math.log1p(longestMs / 1_000), 1)
}

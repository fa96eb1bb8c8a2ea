import { useMemo } from 'react'
import { busiestIn, concurrencyOf } from '../../../graphs/concurrency.ts'
import type { FoldedTime, Span } from '../../../graphs/folded-time.ts'
import { ticksIn } from '../../../graphs/time-axis.ts'
import type { Row } from '../../../graphs/timeline.ts'
import { countText, exactText } from '../../../parts/wording.ts'
import { AtOnceTable } from './at-once-table.tsx'
import { useBrush } from './use-brush.ts'
import { brushWords } from './words.ts'

export const STRIP_HEIGHT = 32
const PX_PER_PART = 3
/** With the labels of the axis and the line below. */
export const HEAD_HEIGHT = STRIP_HEIGHT + 21

interface Props {
  rows: readonly Row[]
  /** On the clock of the timeline. */
  view: Span
  time: FoldedTime
  width: number
  labelWidth: number
  now: number
  onShow: (view: Span) => void
  onWhole: () => void
}

/** The times above the rows, and how many tasks were worked on at once. */
export function TimelineHead(props: Props) {
  const { rows, view, time, width, labelWidth, now } = props
  const steps = useMemo(() => concurrencyOf(rows, now), [rows, now])
  const parts = Math.max(1, Math.floor(width / PX_PER_PART))
  const counts = busiestIn(steps, view, parts, time)
  const most = Math.max(0, ...counts)
  return (
    <div className="relative border-b border-line">
      <div className="flex items-end">
        <span className="shrink-0 pr-2 text-label text-muted" style={{ width: labelWidth }}>
          {most === 0 ? 'None at once' : `Up to ${countText(most)} at once`}
        </span>
        <Strip {...props} counts={counts} most={most} />
      </div>
      <div
        aria-hidden="true"
        className="relative h-5 overflow-hidden"
        style={{ marginLeft: labelWidth, width }}
      >
        {ticksIn(view, width, time).map(({ at, x, words }) => (
          <span
            className="absolute top-0 h-5 border-l border-line pl-1 text-label whitespace-nowrap text-muted tabular-nums"
            key={at}
            style={{ left: x }}
            title={exactText(at)}
          >
            {words}
          </span>
        ))}
      </div>
      <AtOnceTable steps={steps} time={time} view={view} />
    </div>
  )
}

/** How many at once as bars, over which a stretch of time is drawn to see it alone. */
function Strip(props: Props & { counts: readonly number[]; most: number }) {
  const { view, time, width, counts, most, onShow, onWhole } = props
  const momentAt = (share: number) => view.from + share * (view.to - view.from)
  const { chosen, mark, handlers } = useBrush({
    width,
    onShow: ({ from, to }) => onShow({ from: momentAt(from), to: momentAt(to) }),
    onWhole,
  })
  const height = (count: number) => (most === 0 ? 0 : (count / most) * (STRIP_HEIGHT - 4))
  const d = counts
    .map((count, n) =>
      count === 0
        ? ''
        : `M${(n * width) / counts.length} ${STRIP_HEIGHT}v-${height(count).toFixed(1)}h${(width / counts.length).toFixed(2)}V${STRIP_HEIGHT}z`,
    )
    .join('')
  const markAt = time.at(momentAt(mark))
  const drawn = chosen && {
    from: time.at(momentAt(chosen.from)),
    to: time.at(momentAt(chosen.to)),
  }
  return (
    <div
      {...handlers}
      aria-label="Stretch of time"
      aria-valuemax={100}
      aria-valuemin={0}
      aria-valuenow={Math.round(mark * 100)}
      aria-valuetext={brushWords(
        markAt,
        drawn,
        counts[Math.min(counts.length - 1, Math.floor(mark * counts.length))]!,
      )}
      className="group focus-inside relative shrink-0 cursor-crosshair touch-pan-y select-none"
      role="slider"
      style={{ width, height: STRIP_HEIGHT }}
      tabIndex={0}
      title="Draw over a stretch to see it alone. A double click shows all. Keys: arrows, Shift with arrows, Enter, Esc."
    >
      <svg aria-hidden="true" className="block" height={STRIP_HEIGHT} width={width}>
        <path className="fill-go opacity-60" d={d} />
        {chosen && (
          <rect
            className="fill-accent stroke-accent"
            fillOpacity={0.2}
            height={STRIP_HEIGHT}
            width={Math.max(1, (chosen.to - chosen.from) * width)}
            x={chosen.from * width}
            y={0}
          />
        )}
        <path
          className="invisible stroke-ink group-focus-visible:visible"
          d={`M${mark * width} 0V${STRIP_HEIGHT}`}
          strokeWidth={2}
        />
      </svg>
    </div>
  )
}

import { useMemo } from 'react'
import { ticksIn } from '../../../graphs/time-axis.ts'
import { busiestIn, concurrencyOf, type Row, type Span } from '../../../graphs/timeline.ts'
import { countText, exactText } from '../../../parts/wording.ts'

const STRIP_HEIGHT = 32
const PX_PER_PART = 3
/** With the labels of the axis and the line below. */
export const HEAD_HEIGHT = STRIP_HEIGHT + 21

/** The times above the rows, and how many tasks were worked on at once. */
export function TimelineHead(props: {
  rows: readonly Row[]
  view: Span
  width: number
  labelWidth: number
  now: number
}) {
  const { rows, view, width, labelWidth, now } = props
  const steps = useMemo(() => concurrencyOf(rows, now), [rows, now])
  const parts = Math.max(1, Math.floor(width / PX_PER_PART))
  const counts = busiestIn(steps, view, parts)
  const most = Math.max(0, ...counts)
  const height = (count: number) => (most === 0 ? 0 : (count / most) * (STRIP_HEIGHT - 4))
  const d = counts
    .map((count, n) =>
      count === 0
        ? ''
        : `M${(n * width) / parts} ${STRIP_HEIGHT}v-${height(count).toFixed(1)}h${(width / parts).toFixed(2)}V${STRIP_HEIGHT}z`,
    )
    .join('')
  return (
    <div className="border-b border-line">
      <div className="flex items-end">
        <span className="shrink-0 pr-2 text-label text-muted" style={{ width: labelWidth }}>
          {most === 0 ? 'None at once' : `Up to ${countText(most)} at once`}
        </span>
        <svg aria-hidden="true" className="block shrink-0" height={STRIP_HEIGHT} width={width}>
          <path className="fill-go opacity-60" d={d} />
        </svg>
      </div>
      <div
        aria-hidden="true"
        className="relative h-5 overflow-hidden"
        style={{ marginLeft: labelWidth, width }}
      >
        {ticksIn(view, width).map(({ at, x, words }) => (
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
    </div>
  )
}

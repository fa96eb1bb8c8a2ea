import { HUE_TEXT } from '../theme/hues.ts'
import { type AnyState, arc, MARKS, STATE_LOOKS } from '../theme/marks.ts'

const PAINT = {
  stroke: { fill: 'none', stroke: 'currentColor' },
  fill: { fill: 'currentColor', stroke: 'none' },
  cut: { fill: 'none', stroke: 'var(--bg)' },
  'cut-fill': { fill: 'var(--bg)', stroke: 'none' },
} as const

/**
 * The mark of a state. `percent` draws progress around the running mark, which otherwise turns; `isPending` breaks the line
 * of a state that the server has not confirmed. Without `label` it is decoration beside its word.
 */
export function StateMark(props: {
  state: AnyState
  percent?: number | null
  size?: number
  isPending?: boolean
  label?: string
}) {
  const { state, percent, size = 16, isPending = false, label } = props
  const { hue, mark } = STATE_LOOKS[state]
  const drawn = (
    <svg
      aria-hidden="true"
      className={`mark shrink-0 ${HUE_TEXT[hue]}`}
      height={size}
      strokeLinecap="round"
      strokeLinejoin="round"
      strokeWidth="1.5"
      viewBox="0 0 16 16"
      width={size}
    >
      <g strokeDasharray={isPending ? '2 2' : undefined}>
        <MarkPaths state={state} />
      </g>
      {mark === 'play' && <Progress percent={percent ?? null} />}
    </svg>
  )
  if (label === undefined) return drawn
  return (
    <span className="inline-flex">
      {drawn}
      <span className="sr-only">{label}</span>
    </span>
  )
}

/** The mark alone, for drawings: on a grid of 16, in the current colour. */
export const MarkPaths = ({ state }: { state: AnyState }) =>
  MARKS[STATE_LOOKS[state].mark].map((path) => (
    <path d={path.d} key={path.d} {...PAINT[path.draw]} strokeWidth={'width' in path ? path.width : 1.5} />
  ))

function Progress({ percent }: { percent: number | null }) {
  const arcs = { fill: 'none', stroke: 'currentColor', strokeWidth: 1.5 }
  if (percent === null)
    return <path {...arcs} className="origin-center animate-turn" d={arc(0, 100, 7.2) + arc(180, 280, 7.2)} />
  return (
    <>
      <path {...arcs} d={arc(0, 360, 7.2)} opacity="0.25" />
      {percent > 0 && <path {...arcs} d={arc(0, Math.min(percent, 100) * 3.6, 7.2)} />}
    </>
  )
}

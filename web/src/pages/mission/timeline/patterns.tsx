import type { Look } from '../../../graphs/timeline.ts'
import { LOOK_WORDS } from './words.ts'

/** What a bar of a timeline is filled with: told apart without colour. */

export const LOOKS: Record<Look, { fill: string; stroke: string; dashes?: string }> = {
  waiting: { fill: 'url(#timeline-waiting)', stroke: 'stroke-wait' },
  assigned: { fill: 'none', stroke: 'stroke-go' },
  running: { fill: 'var(--go)', stroke: 'stroke-go' },
  verifying: { fill: 'url(#timeline-verifying)', stroke: 'stroke-held' },
  person: { fill: 'url(#timeline-person)', stroke: 'stroke-ask' },
  stopped: { fill: 'none', stroke: 'stroke-held', dashes: '3 3' },
}

/** Once in a page: fills are found by their ids. */
export const Patterns = () => (
  <svg aria-hidden="true" className="absolute" height="0" width="0">
    <defs>
      <pattern
        height="6"
        id="timeline-waiting"
        patternTransform="rotate(45)"
        patternUnits="userSpaceOnUse"
        width="6"
      >
        <path className="stroke-wait" d="M0 0V6" strokeWidth="2" />
      </pattern>
      <pattern height="4" id="timeline-verifying" patternUnits="userSpaceOnUse" width="5">
        <path className="stroke-held" d="M1 0V4" strokeWidth="2.5" />
      </pattern>
      <pattern height="5" id="timeline-person" patternUnits="userSpaceOnUse" width="5">
        <circle className="fill-ask" cx="2.5" cy="2.5" r="1.4" />
      </pattern>
    </defs>
  </svg>
)

/** What the patterns mean. */
export const Legend = () => (
  <ul aria-label="What the bars mean" className="flex flex-wrap gap-x-4 gap-y-1 text-label text-muted">
    {Object.entries(LOOK_WORDS).map(([look, words]) => {
      const { fill, stroke, dashes } = LOOKS[look as Look]
      return (
        <li className="flex items-center gap-1.5" key={look}>
          <svg aria-hidden="true" height="12" width="22">
            <rect
              className={stroke}
              fill={fill}
              height="11"
              rx="2"
              strokeDasharray={dashes}
              width="21"
              x="0.5"
              y="0.5"
            />
          </svg>
          {words}
        </li>
      )
    })}
  </ul>
)

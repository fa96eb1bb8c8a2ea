import { useClock } from '../../parts/clock.ts'
import { exactText } from '../../parts/wording.ts'
import { type Projection, paceOf } from './budget.ts'

/** How fast a budget goes, when it is gone, and what follows from that. */
export function PaceLine({ projection }: { projection: Projection }) {
  const now = useClock(60_000)
  const pace = paceOf(projection, now)
  if (pace === null) return <span className="text-muted">Nothing was used in the last 24 hours.</span>
  const { exhaustedAt } = projection
  return (
    <span className="flex flex-col">
      <span className="tabular-nums">
        {pace.pace},{' '}
        <span title={exhaustedAt === null ? undefined : exactText(Date.parse(exhaustedAt))}>{pace.end}</span>
      </span>
      <span className={pace.isTooFast ? 'font-medium text-ask' : 'text-muted'}>{pace.advice}</span>
    </span>
  )
}

import { useClock } from '../../parts/clock.ts'
import { Icon } from '../../parts/icon.tsx'
import { exactText } from '../../parts/wording.ts'
import { type Rests, restText } from './rest-words.ts'

/** Why an agent is not started: its account is rate limited. Nothing once that is over. */
export function Resting({ rests, isShort = false }: { rests: Rests; isShort?: boolean }) {
  const now = useClock(15_000)
  const words = restText(rests, now, isShort ? 'short' : 'long')
  if (words === null) return null
  return (
    <span
      className="flex min-w-0 items-center gap-1.5 text-ask"
      title={`${restText(rests, now)}: ${exactText(Date.parse(rests.until))}.`}
    >
      <Icon name="clock" size={14} />
      <span className="min-w-0 truncate">{words}</span>
    </span>
  )
}

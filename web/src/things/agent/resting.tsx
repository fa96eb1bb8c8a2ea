import { useClock } from '../../parts/clock.ts'
import { Icon } from '../../parts/icon.tsx'
import { clockText, exactText } from '../../parts/wording.ts'

/** The agent's account is rate limited: until when, and how many others are on it. */
export interface Rests {
  until: string
  others: number
}

const DAY_MS = 86_400_000

const dayText = (at: number) =>
  new Date(at).toLocaleDateString('en-GB', { weekday: 'short', day: 'numeric', month: 'short' })

const countOf = (others: number) => (others === 1 ? '1 other agent' : `${others} other agents`)

/** "Rate limited until 06:00, as are 3 other agents on this account"; in a table only the first part. Null: the time is over. */
export function restText({ until, others }: Rests, now: number, length: 'long' | 'short' = 'long') {
  const at = Date.parse(until)
  if (at <= now) return null
  const date = at - now < DAY_MS ? '' : `${dayText(at)}, `
  const words = `Rate limited until ${date}${clockText(at, 'minute')}`
  if (others === 0) return words
  return length === 'short'
    ? words
    : `${words}, as ${others === 1 ? 'is' : 'are'} ${countOf(others)} on this account`
}

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

import { useContext } from 'react'
import { ClockOffset, useClock } from './clock.ts'
import { exactText, momentText } from './wording.ts'

const timeOf = (at: number | string) => (typeof at === 'number' ? at : Date.parse(at))

/** "8 m ago", with the exact moment on hover. */
export function Moment({ at }: { at: number | string }) {
  const time = timeOf(at)
  const serverNow = Date.now() + useContext(ClockOffset)()
  const now = useClock(Math.abs(serverNow - time) < 120_000 ? 1_000 : 15_000)
  return (
    <time
      className="whitespace-nowrap tabular-nums"
      dateTime={new Date(time).toISOString()}
      title={exactText(time)}
    >
      {momentText(time, now)}
    </time>
  )
}

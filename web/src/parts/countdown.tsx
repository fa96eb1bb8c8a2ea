import { useClock } from './clock.ts'
import { durationText, exactText } from './wording.ts'

/** Time left until a moment of the server: "34 s", then the word for what is due. */
export function Countdown({ to, due = 'now' }: { to: number | string; due?: string }) {
  const at = typeof to === 'number' ? to : Date.parse(to)
  const left = at - useClock(1_000)
  return (
    <time
      className="whitespace-nowrap tabular-nums"
      dateTime={new Date(at).toISOString()}
      title={exactText(at)}
    >
      {left <= 0 ? due : durationText(Math.ceil(left / 1_000) * 1_000)}
    </time>
  )
}

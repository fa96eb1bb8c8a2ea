import { useClockWhileConnected } from './clock.ts'
import { durationText } from './wording.ts'

/** How long something took, or with `since` how long it has been running. */
export function Duration(props: { ms: number } | { since: number | string }) {
  return 'ms' in props ? (
    <span className="whitespace-nowrap tabular-nums">{durationText(props.ms)}</span>
  ) : (
    <Elapsed since={props.since} />
  )
}

function Elapsed({ since }: { since: number | string }) {
  const from = typeof since === 'number' ? since : Date.parse(since)
  const ms = Math.max(useClockWhileConnected(1_000) - from, 0)
  return (
    <span className="whitespace-nowrap tabular-nums">{durationText(Math.floor(ms / 1_000) * 1_000)}</span>
  )
}

import { WINDOW_WORDS, type Window } from '../../parts/windows.ts'
import { clockText, countText, dayText, moneyText } from '../../parts/wording.ts'
import type { Overview } from './use-overview.ts'

/** Small drawings of the period. What they say is also their text. */

const [WIDTH, HEIGHT] = [480, 72]

function Frame(props: {
  title: string
  text: string
  overview: Overview
  label: string
  children: React.ReactNode
}) {
  const { title, text, overview, label, children } = props
  return (
    <figure className="flex min-w-0 flex-1 flex-col gap-1 rounded-card border border-line bg-raised px-4 py-3">
      <figcaption className="flex flex-wrap items-baseline gap-x-3">
        <span className="text-row font-medium">{title}</span>
        <span className="text-row text-muted tabular-nums">{text}</span>
      </figcaption>
      <svg
        aria-label={label}
        className="h-12 w-full"
        preserveAspectRatio="none"
        role="img"
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      >
        {children}
      </svg>
      <p aria-hidden="true" className="flex justify-between text-label text-faint tabular-nums">
        <span>{beginWords(overview)}</span>
        <span>now</span>
      </p>
    </figure>
  )
}

/** When the period began, as exactly as its length asks for. */
function beginWords({ from, window }: Pick<Overview, 'from' | 'window'>): string {
  const at = Date.parse(from)
  if (window === '1h') return clockText(at, 'minute')
  return window === '24h' ? `${clockText(at, 'minute')} yesterday` : dayText(at)
}

const lastOf = ({ window }: { window: Window }) => WINDOW_WORDS[window].last

/** Completed above the line, failed below it. */
export function Throughput({ overview }: { overview: Overview }) {
  const { perBucket, completed, failed } = overview.throughput
  const most = Math.max(1, ...perBucket.map((bucket) => (bucket ? Math.max(...bucket) : 0)))
  const step = WIDTH / perBucket.length
  const [ground, up, down] = [52, 48 / most, 18 / most]
  const text = `${countText(completed)} done, ${countText(failed)} failed`
  return (
    <Frame
      label={`In ${lastOf(overview)} ${text}.`}
      overview={overview}
      text={text}
      title={`Work in ${lastOf(overview)}`}
    >
      {perBucket.map((bucket, place) => {
        if (bucket === null) return null
        const [done = 0, bad = 0] = bucket
        const x = place * step + step * 0.15
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: a bucket is its place
          <g key={place}>
            {done > 0 && (
              <rect
                className="fill-done"
                height={done * up}
                width={step * 0.7}
                x={x}
                y={ground - done * up}
              />
            )}
            {bad > 0 && (
              <rect className="fill-bad" height={bad * down} width={step * 0.7} x={x} y={ground + 2} />
            )}
          </g>
        )
      })}
      <path className="stroke-line" d={`M0 ${ground + 1}H${WIDTH}`} vectorEffect="non-scaling-stroke" />
    </Frame>
  )
}

/** What was spent so far, as it grew. Buckets whose cost is unknown add nothing, and the text says so. */
export function Spend({ overview }: { overview: Overview }) {
  const { perBucket, costUsd, perHourUsd, projectedUsd, runs, unknownRuns } = overview.spend
  let sum = 0
  const sums = perBucket.map((usd) => {
    sum += Number(usd ?? 0)
    return sum
  })
  const most = Math.max(sum, 0.01)
  const points = sums.map(
    (usd, place) =>
      `${((place + 1) / sums.length) * WIDTH} ${(HEIGHT - 4 - (usd / most) * (HEIGHT - 12)).toFixed(1)}`,
  )
  const next = `the next ${WINDOW_WORDS[overview.window].short}`
  const text = spendWords({ costUsd, perHourUsd, projectedUsd, runs, unknownRuns }, sum, next)
  return (
    <Frame
      label={`In ${lastOf(overview)}: ${text}.`}
      overview={overview}
      text={text}
      title={`Spent in ${lastOf(overview)}`}
    >
      <path className="stroke-line" d={`M0 ${HEIGHT - 3}H${WIDTH}`} vectorEffect="non-scaling-stroke" />
      {sum > 0 && (
        <path
          className="fill-none stroke-go"
          d={`M0 ${HEIGHT - 4}L${points.join('L')}`}
          strokeWidth="1.5"
          vectorEffect="non-scaling-stroke"
        />
      )}
    </Frame>
  )
}

/** Unknown is not nothing. */
function spendWords(spend: Omit<Overview['spend'], 'perBucket'>, known: number, next: string): string {
  const { perHourUsd, projectedUsd, runs, unknownRuns } = spend
  if (runs === 0) return 'no run'
  if (known === 0 && unknownRuns > 0) return `${countText(runs)} ${runs === 1 ? 'run' : 'runs'}, cost unknown`
  const parts = [
    moneyText(known),
    perHourUsd !== null && `${moneyText(perHourUsd)} an hour`,
    projectedUsd !== null && `${moneyText(projectedUsd)} in ${next}`,
    unknownRuns > 0 && `unknown for ${countText(unknownRuns)} ${unknownRuns === 1 ? 'run' : 'runs'}`,
  ]
  return parts.filter(Boolean).join(' · ')
}

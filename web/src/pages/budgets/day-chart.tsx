import { moneyText, tokensText } from '../../parts/wording.ts'
import { barWords, dayWords, type Measure, mostOf, partsOf, type UsageGroup } from './usage-words.ts'

const LABELS = 5

/** A column for each day: what was paid by use, and above it what was not. The table below has the same numbers. */
export function DayChart({ days, measure }: { days: readonly UsageGroup[]; measure: Measure }) {
  const most = mostOf(measure, days)
  const sums = days.map((day) => {
    const [paid, notional] = partsOf(measure, day)
    return paid + notional
  })
  const top = sums.indexOf(Math.max(...sums))
  const isEmpty = sums.every((sum) => sum === 0)
  const highest = measure === 'usd' ? moneyText(isEmpty ? 0 : most) : tokensText(isEmpty ? 0 : most)
  const every = Math.max(1, Math.ceil(days.length / LABELS))
  const highestDay = days[top]?.key
  return (
    <figure
      aria-label={`${measure === 'usd' ? 'Cost' : 'Tokens'} by day. The most on ${highestDay ? dayWords(highestDay) : 'no day'}: ${highest}.`}
      className="flex min-w-0 flex-col gap-1 rounded-card border border-line bg-raised px-4 pt-3 pb-2"
    >
      <figcaption className="flex flex-wrap items-baseline gap-x-4 text-row">
        <span className="font-medium">{measure === 'usd' ? 'Cost by day' : 'Tokens by day'}</span>
        {measure === 'usd' && (
          <span className="flex gap-4 text-label text-muted">
            <Swatch className="bg-go" words="paid by use" />
            {days.some((day) => partsOf(measure, day)[1] > 0) && (
              <Swatch className="bg-go opacity-40" words="notional" />
            )}
          </span>
        )}
        <span className="ml-auto text-label text-faint tabular-nums">most {highest}</span>
      </figcaption>
      <div aria-hidden="true" className="flex h-28 items-end gap-px border-b border-line">
        {days.map((day) => {
          const [paid, notional] = partsOf(measure, day)
          return (
            <span
              className="flex h-full min-w-0 flex-1 flex-col justify-end hover:bg-hover"
              key={day.key}
              title={barWords(dayWords(day.key ?? ''), day)}
            >
              <span
                className="mx-auto w-full max-w-10 rounded-t-chip bg-go opacity-40"
                style={{ height: heightOf(notional, most) }}
              />
              <span
                className={`mx-auto w-full max-w-10 bg-go ${notional > 0 ? '' : 'rounded-t-chip'}`}
                style={{ height: heightOf(paid, most) }}
              />
            </span>
          )
        })}
      </div>
      <div aria-hidden="true" className="flex gap-px text-label text-faint tabular-nums">
        {days.map((day, place) => (
          <span className="relative h-4 min-w-0 flex-1" key={day.key}>
            {place % every === Math.floor(every / 2) && (
              <span className="absolute left-1/2 -translate-x-1/2 whitespace-nowrap">
                {dayWords(day.key ?? '')}
              </span>
            )}
          </span>
        ))}
      </div>
    </figure>
  )
}

const heightOf = (part: number, most: number) => (part === 0 ? 0 : `max(1px, ${(part / most) * 100}%)`)

const Swatch = ({ className, words }: { className: string; words: string }) => (
  <span className="inline-flex items-center gap-1.5">
    <span aria-hidden="true" className={`size-2.5 rounded-chip ${className}`} />
    {words}
  </span>
)

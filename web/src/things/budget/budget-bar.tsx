import { HUE_FILL } from '../../theme/hues.ts'
import type { Hue } from '../../theme/marks.ts'
import { type Amount, amountText, amountWords, exactAmount, figureText, isNothing } from './budget.ts'

/** What is used and what is reserved of a limit: reserved is the same colour, lighter. */
export function BudgetBar(props: { amount: Amount; hue: Hue; label: string; height?: number }) {
  const { amount, hue, label, height = 8 } = props
  const { usedPercent, reservedPercent } = amount
  return (
    <div
      aria-label={label}
      aria-valuemax={100}
      aria-valuemin={0}
      aria-valuenow={Math.round(usedPercent)}
      aria-valuetext={amountWords(amount)}
      className="flex w-full overflow-hidden rounded-pill bg-hover"
      role="progressbar"
      style={{ height }}
    >
      <div className={`h-full ${HUE_FILL[hue]}`} style={{ width: `${shown(usedPercent, amount.used)}%` }} />
      <div
        className={`h-full opacity-40 ${HUE_FILL[hue]}`}
        style={{ width: `${shown(reservedPercent, amount.reserved)}%` }}
      />
    </div>
  )
}

/** A little of something is still seen. */
const shown = (percent: number, amount: string) => (isNothing(amount) ? 0 : Math.max(percent, 0.5))

/** "$18.20 + $2.10 reserved of $50.00", each to the last digit on hover. */
export function BudgetAmount({ amount, period }: { amount: Amount; period?: string }) {
  const { unit, used, reserved, limit, isSimulated } = amount
  const figure = (value: string, words: string) => <span title={exactAmount(unit, value)}>{words}</span>
  return (
    <span className="text-muted tabular-nums">
      <span className="font-medium text-ink">{figure(used, figureText(unit, used))}</span>
      {isSimulated && ' simulated'}
      {!isNothing(reserved) && <> + {figure(reserved, `${figureText(unit, reserved)} reserved`)}</>} of{' '}
      {figure(limit, amountText(unit, limit))}
      {period && ` ${period}`}
    </span>
  )
}

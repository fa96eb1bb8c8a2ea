import type { Routine } from './use-routines.ts'

/** How the last missions differ from the one the routine was made from. Pure. */

type Drift = NonNullable<Routine['drift']>

/** "+12 %", "−3 %", "the same". */
export function shareText(share: number): string {
  const percent = Math.round(share * 100)
  return percent === 0 ? 'the same' : `${percent > 0 ? '+' : '−'}${Math.abs(percent)} %`
}

/** In a list: "cost +12 %, time −3 %". */
export function shortDrift({ costChange, durationChange }: Drift): string {
  const parts = [
    costChange === null ? null : `cost ${shareText(costChange)}`,
    durationChange === null ? null : `time ${shareText(durationChange)}`,
  ]
  return parts.filter((part) => part !== null).join(', ')
}

export function driftWords({ runs, costChange, durationChange, scoreChange }: Drift): string {
  const parts = [
    costChange === null ? null : `cost ${shareText(costChange)}`,
    durationChange === null ? null : `time ${shareText(durationChange)}`,
    scoreChange === null
      ? null
      : scoreChange === 0
        ? 'score the same'
        : `score ${scoreChange > 0 ? '+' : '−'}${Math.abs(scoreChange).toFixed(2)}`,
  ].filter((part) => part !== null)
  if (parts.length === 0) return 'Its missions cannot be compared with it: their figures are not known.'
  const which = runs === 1 ? 'the last completed mission' : `the last ${runs} completed missions`
  return `Compared with it, ${which}: ${parts.join(', ')}.`
}

/** A clock on which long idle stretches are short, so that what happened fills the timeline. Pure. */

/** Shorter pauses are part of the work. */
export const IDLE_AFTER_MS = 10 * 60_000
/** How much of the time that is not idle a folded stretch takes: enough to be seen and named. */
const FOLD_SHARE = 0.07
/** All of them together never take more than this. */
const MOST_SHARE = 0.5

export interface Span {
  readonly from: number
  readonly to: number
}

export interface FoldedTime {
  /** In the order of time, none of which touches another. */
  readonly folds: readonly Span[]
  /** A moment on this clock. Outside of folds it runs as fast as any other. */
  of(at: number): number
  /** The moment that this clock shows. */
  at(folded: number): number
}

/** Nothing is folded. */
export const REAL_TIME: FoldedTime = { folds: [], of: (at) => at, at: (at) => at }

/** A length that stays the same while the time it is taken from grows a little: what is drawn must not creep. */
const steady = (ms: number) => 2 ** Math.ceil(Math.log2(Math.max(1_000, ms)))

export function foldedTime(folds: readonly Span[], whole: Span): FoldedTime {
  if (folds.length === 0) return REAL_TIME
  const idleMs = folds.reduce((sum, { from, to }) => sum + to - from, 0)
  const busyMs = steady(whole.to - whole.from - idleMs)
  const foldMs = Math.ceil(Math.min(FOLD_SHARE * busyMs, (MOST_SHARE * busyMs) / folds.length, IDLE_AFTER_MS))
  /** Where each begins on this clock. */
  const starts: number[] = []
  let saved = 0
  for (const { from, to } of folds) {
    starts.push(from - saved)
    saved += to - from - foldMs
  }
  const lastUpTo = (value: number, startOf: (n: number) => number) => {
    let [low, high] = [0, folds.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (startOf(middle) <= value) low = middle + 1
      else high = middle
    }
    return low - 1
  }
  return {
    folds,
    of: (at) => {
      const n = lastUpTo(at, (one) => folds[one]!.from)
      if (n === -1) return at
      const { from, to } = folds[n]!
      if (at >= to) return starts[n]! + foldMs + (at - to)
      return starts[n]! + ((at - from) / (to - from)) * foldMs
    },
    at: (folded) => {
      const n = lastUpTo(folded, (one) => starts[one]!)
      if (n === -1) return folded
      const { from, to } = folds[n]!
      const inside = folded - starts[n]!
      return inside >= foldMs ? to + inside - foldMs : from + (inside / foldMs) * (to - from)
    },
  }
}

/** What of the idle time is in view, in ms. */
export const idleMsIn = ({ folds }: FoldedTime, { from, to }: Span) =>
  folds.reduce((sum, fold) => sum + Math.max(0, Math.min(fold.to, to) - Math.max(fold.from, from)), 0)

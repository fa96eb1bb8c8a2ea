/** Marks on the scrubber: thousands of places in a log as few strokes, each where it can be seen. */

export type MarkKind = 'error' | 'stderr' | 'step' | 'hit'

export interface LogMark {
  readonly offset: number
  readonly kind: MarkKind
}

export interface DrawnMark {
  readonly kind: MarkKind
  /** From the top, 0 to 1. */
  readonly place: number
  readonly count: number
}

/** At most one mark of each kind in each of these steps of the height. */
const STEPS = 240

export function drawnMarks(marks: readonly LogMark[], logBytes: number): DrawnMark[] {
  if (logBytes <= 0) return []
  const drawn = new Map<string, { kind: MarkKind; place: number; count: number }>()
  for (const { offset, kind } of marks) {
    if (offset < 0 || offset > logBytes) continue
    const step = Math.min(Math.floor((offset / logBytes) * STEPS), STEPS - 1)
    const key = `${kind} ${step}`
    const one = drawn.get(key)
    if (one) one.count += 1
    else drawn.set(key, { kind, place: step / STEPS, count: 1 })
  }
  return [...drawn.values()]
}

/** The next place after an address, or the last one before it. Around the ends when all places are known; null: none. */
export function nextPlace(
  offsets: readonly number[],
  from: number,
  isForward: boolean,
  areAllKnown: boolean,
): number | null {
  const found = isForward
    ? offsets.find((offset) => offset > from)
    : offsets.findLast((offset) => offset < from)
  const around = areAllKnown ? offsets.at(isForward ? 0 : -1) : undefined
  return found ?? around ?? null
}

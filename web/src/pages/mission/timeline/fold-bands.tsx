import type { FoldedTime, Span } from '../../../graphs/folded-time.ts'
import { clockText, durationText } from '../../../parts/wording.ts'

/** A label with less room is a sign that stands for it, and with still less there is none. */
const CHARACTER_PX = 6
const SIGN_PX = 14

function labelOf(ms: number, roomPx: number): string {
  const words = `${durationText(ms)} idle`
  if (words.length * CHARACTER_PX <= roomPx) return words
  return roomPx >= SIGN_PX ? '⋯' : ''
}

/** Where idle time is folded: bands over all rows, each with how long it is. What they say is in the table of the strip, too. */
export function FoldBands(props: { time: FoldedTime; view: Span; width: number; left: number; top: number }) {
  const { time, view, width, left, top } = props
  const xOf = (at: number) => ((time.of(at) - view.from) / (view.to - view.from)) * width
  const bands = time.folds.flatMap((fold) => {
    const [from, to] = [Math.max(0, xOf(fold.from)), Math.min(width, xOf(fold.to))]
    return to <= 0 || from >= width || to <= from ? [] : [{ fold, from, to }]
  })
  return (
    <div aria-hidden="true" className="pointer-events-none absolute bottom-0" style={{ left, top, width }}>
      {bands.map(({ fold, from, to }) => (
        <div
          className="absolute inset-y-0 flex justify-center border-x border-dashed border-edge bg-hover/70"
          key={fold.from}
          style={{ left: from, width: to - from }}
          title={`Idle from ${clockText(fold.from)} to ${clockText(fold.to)}`}
        >
          <span className="mt-1 h-4 overflow-hidden text-label whitespace-nowrap text-muted">
            {labelOf(fold.to - fold.from, to - from)}
          </span>
        </div>
      ))}
    </div>
  )
}

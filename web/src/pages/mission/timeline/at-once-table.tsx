import { type Step, stretchesIn } from '../../../graphs/concurrency.ts'
import type { FoldedTime, Span } from '../../../graphs/folded-time.ts'
import { countText, durationText, exactText } from '../../../parts/wording.ts'

const MOST_ROWS = 40

/** The strip for those who do not see it: the same stretch of time, in the real time. */
export function AtOnceTable(props: { steps: readonly Step[]; view: Span; time: FoldedTime }) {
  const { steps, view, time } = props
  const shown = { from: time.at(view.from), to: time.at(view.to) }
  const { rows, isExact } = stretchesIn(steps, shown, MOST_ROWS)
  const isFolded = (from: number, to: number) => time.folds.some((fold) => fold.from <= from && to <= fold.to)
  return (
    <div className="sr-only">
      <table>
        <caption>
          Tasks that were worked on at once, from {exactText(shown.from)} to {exactText(shown.to)}
          {isExact ? '' : ', the most in each part of it'}
        </caption>
        <thead>
          <tr>
            <th scope="col">From</th>
            <th scope="col">Length</th>
            <th scope="col">Worked on</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ from, to, count }) => (
            <tr key={from}>
              <td>{exactText(from)}</td>
              <td>{durationText(to - from)}</td>
              <td>
                {count === 0 ? 'none' : countText(count)}
                {isFolded(from, to) ? ', folded in the drawing' : ''}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

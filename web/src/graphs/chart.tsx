import { type ReactNode, useId, useState } from 'react'
import { PageLink } from '../links.tsx'
import { Button } from '../parts/button.tsx'
import { HUE_FILL } from '../theme/hues.ts'
import type { Hue } from '../theme/marks.ts'

/** Bars and lines of our own. Each has the same numbers as a table, for those who cannot or do not want to read a drawing. */

export interface Part {
  hue: Hue
  value: number
  /** What the part counts, for the table. */
  words: string
}

export interface Bar {
  key: string
  /** What it stands for. */
  name: ReactNode
  /** The same as text, for those who hear it. */
  words: string
  parts: readonly Part[]
  /** The figure at its end. */
  text: string
  /** Where its tasks are. */
  to?: string | undefined
  /** Other columns of its row in the table. */
  more?: readonly ReactNode[]
}

/** A card with a title, a drawing and its table, one of which is shown. */
export function Chart(props: {
  title: string
  /** One line that says what is counted. */
  text: ReactNode
  children: ReactNode
  table: ReactNode
  /** Nothing to draw: this is said instead. */
  empty?: ReactNode
}) {
  const { title, text, children, table, empty } = props
  const [isTable, setIsTable] = useState(false)
  const heading = useId()
  return (
    <section
      aria-labelledby={heading}
      className="@container flex min-w-0 flex-col gap-3 rounded-card border border-line bg-raised px-4 py-3"
    >
      <header className="flex items-start gap-3">
        <div className="min-w-0 flex-1">
          <h2 className="text-body font-medium" id={heading}>
            {title}
          </h2>
          <p className="text-row text-muted">{text}</p>
        </div>
        {!empty && (
          <Button
            aria-label={`${isTable ? 'Chart' : 'Table'} of ${title}`}
            aria-pressed={isTable}
            icon={isTable ? 'insight' : 'list'}
            kind="quiet"
            onClick={() => setIsTable(!isTable)}
            size="small"
          >
            {isTable ? 'Chart' : 'Table'}
          </Button>
        )}
      </header>
      {empty ? <p className="text-row text-muted">{empty}</p> : isTable ? table : children}
    </section>
  )
}

/** Bars below each other, all in one measure. A bar is a link to its tasks. */
export function Bars({ bars, label }: { bars: readonly Bar[]; label: string }) {
  const most = Math.max(1, ...bars.map(({ parts }) => parts.reduce((sum, { value }) => sum + value, 0)))
  return (
    <ul aria-label={label} className="flex flex-col gap-0.5">
      {bars.map((bar) => (
        <li key={bar.key}>
          <BarRow bar={bar} most={most} />
        </li>
      ))}
    </ul>
  )
}

const ROW =
  'touchable -mx-2 grid grid-cols-[minmax(0,1.2fr)_minmax(0,1fr)_5.5rem] items-center gap-x-3 @max-[460px]:grid-cols-[minmax(0,1fr)_5.5rem] rounded-chip px-2 py-1 text-row'

function BarRow({ bar, most }: { bar: Bar; most: number }) {
  const { name, words, parts, text, to } = bar
  const drawn = (
    <>
      <span className="min-w-0 truncate @max-[460px]:col-span-2" title={words}>
        {name}
      </span>
      <span aria-hidden="true" className="flex h-3 gap-px">
        {parts
          .filter(({ value }) => value > 0)
          .map(({ hue, value, words: what }) => (
            <span
              className={`h-full min-w-0.5 first:rounded-l-chip last:rounded-r-chip ${HUE_FILL[hue]}`}
              key={what}
              style={{ width: `${(value / most) * 100}%` }}
            />
          ))}
      </span>
      <span className="text-right text-muted tabular-nums">{text}</span>
    </>
  )
  if (to === undefined) return <span className={ROW}>{drawn}</span>
  return (
    <PageLink className={`${ROW} hover:bg-hover`} to={to}>
      {drawn}
    </PageLink>
  )
}

/** The same numbers as the drawing. */
export function ChartTable(props: {
  label: string
  head: readonly string[]
  rows: readonly { key: string; to?: string | undefined; cells: readonly ReactNode[] }[]
}) {
  const { label, head, rows } = props
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached with the keyboard
    <div className="focus-inside overflow-x-auto" tabIndex={0}>
      <table aria-label={label} className="w-full text-row">
        <thead>
          <tr className="text-label text-muted">
            {head.map((words, place) => (
              <th
                className={`py-1 font-medium ${place === 0 ? 'pr-3 text-left' : 'pl-3 text-right'}`}
                key={words}
                scope="col"
              >
                {words}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ key, to, cells }) => (
            <tr className="border-t border-line" key={key}>
              {cells.map((cell, place) =>
                place === 0 ? (
                  <th
                    className="max-w-60 truncate py-1 pr-3 text-left font-normal max-sm:min-w-28 max-sm:whitespace-normal"
                    key={head[place]}
                    scope="row"
                  >
                    {to === undefined ? (
                      cell
                    ) : (
                      <PageLink className="hover:text-accent hover:underline" to={to}>
                        {cell}
                      </PageLink>
                    )}
                  </th>
                ) : (
                  <td
                    className="py-1 pl-3 text-right whitespace-nowrap text-muted tabular-nums"
                    key={head[place]}
                  >
                    {cell}
                  </td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

/** What the colours of the parts mean: a swatch and its word. */
export function Legend({ parts }: { parts: readonly { hue: Hue; words: string }[] }) {
  return (
    <p className="flex flex-wrap gap-x-4 gap-y-1 text-label text-muted">
      {parts.map(({ hue, words }) => (
        <span className="inline-flex items-center gap-1.5" key={words}>
          <span aria-hidden="true" className={`size-2.5 rounded-chip ${HUE_FILL[hue]}`} />
          {words}
        </span>
      ))}
    </p>
  )
}

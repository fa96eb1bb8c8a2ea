import type { ReactNode } from 'react'
import { picosOf } from '../../../../src/pure/money.ts'
import { PageLink } from '../../links.tsx'
import { Money } from '../../parts/money.tsx'
import { Tokens } from '../../parts/tokens.tsx'
import { countText, durationText } from '../../parts/wording.ts'
import type { Group } from './search.ts'
import {
  againstEstimate,
  GROUP_WORDS,
  type Measure,
  measureOf,
  mostOf,
  nameOfGroup,
  pageOfGroup,
  partsOf,
  type UsageGroup,
  type UsageTotal,
} from './usage-words.ts'

interface Figure {
  words: string
  cell: (row: UsageGroup) => ReactNode
  /** On a phone the table has the columns that fit. */
  onPhone?: true
}

/** The numbers of each group, the bar beside its name. */
export function UsageTable(props: { group: Group; items: readonly UsageGroup[]; total: UsageTotal }) {
  const { group, items, total } = props
  const measure = measureOf(total)
  const most = mostOf(measure, items)
  const figures = figuresOf(items, total, measure)
  const label = `What was used by ${GROUP_WORDS[group].column.toLowerCase()}`
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached with the keyboard
    <div className="focus-inside overflow-x-auto" tabIndex={0}>
      <table aria-label={label} className="w-full text-row">
        <thead>
          <tr className="text-label text-muted">
            <th className="py-1.5 pr-3 text-left font-medium" scope="col">
              {GROUP_WORDS[group].column}
            </th>
            {figures.map(({ words, onPhone }) => (
              <th
                className={`py-1.5 pl-4 text-right font-medium whitespace-nowrap ${onPhone ? '' : 'max-sm:hidden'}`}
                key={words}
                scope="col"
              >
                {words}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {items.map((row) => (
            <tr className="border-t border-line" key={row.key ?? ''}>
              <th className="w-[38%] max-w-0 py-1.5 pr-3 text-left font-normal max-sm:w-[60%]" scope="row">
                <Name group={group} row={row} />
                {group !== 'day' && <RowBar measure={measure} most={most} row={row} />}
              </th>
              {figures.map(({ words, cell, onPhone }) => (
                <td
                  className={`py-1.5 pl-4 text-right whitespace-nowrap tabular-nums ${onPhone ? '' : 'text-muted max-sm:hidden'}`}
                  key={words}
                >
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Name({ group, row }: { group: Group; row: UsageGroup }) {
  const name = nameOfGroup(group, row)
  const to = pageOfGroup(group, row.key)
  const className = `block truncate ${row.key === null ? 'text-muted' : ''}`
  return to === null ? (
    <span className={className} title={name}>
      {name}
    </span>
  ) : (
    <PageLink className={`${className} hover:text-accent hover:underline`} title={name} to={to}>
      {name}
    </PageLink>
  )
}

function RowBar({ row, measure, most }: { row: UsageGroup; measure: Measure; most: number }) {
  const [paid, notional] = partsOf(measure, row)
  const width = (part: number) => (part === 0 ? 0 : `max(2px, ${(part / most) * 100}%)`)
  return (
    <span aria-hidden="true" className="mt-1 flex h-1 w-full">
      <span className="h-full rounded-pill bg-go" style={{ width: width(paid) }} />
      <span className="h-full rounded-pill bg-go opacity-40" style={{ width: width(notional) }} />
    </span>
  )
}

function figuresOf(items: readonly UsageGroup[], total: UsageTotal, measure: Measure): Figure[] {
  const hasNotional = total.notionalUsd !== null && picosOf(total.notionalUsd) !== 0n
  const hasSaved = items.some(({ savedUsd }) => savedUsd !== null && picosOf(savedUsd) > 0n)
  const hasTime = total.seconds > 0
  const hasEstimate = items.some(({ estimatedTokens }) => estimatedTokens !== null)
  const figures: (Figure | false)[] = [
    { words: 'Cost', cell: (row) => <Cost row={row} />, onPhone: true },
    hasNotional && { words: 'Notional', cell: ({ notionalUsd }) => <Some usd={notionalUsd} /> },
    { words: 'In', cell: ({ tokens }) => <Tokens count={tokens.input} /> },
    { words: 'Cached', cell: ({ tokens }) => <Tokens count={tokens.cachedInput} /> },
    {
      ...{ words: 'Out', cell: ({ tokens }: UsageGroup) => <Tokens count={tokens.output} /> },
      ...(measure === 'tokens' && { onPhone: true as const }),
    },
    hasEstimate && {
      words: 'Estimated',
      cell: ({ estimatedTokens }) => (estimatedTokens === null ? '–' : <Tokens count={estimatedTokens} />),
    },
    hasEstimate && { words: 'Against it', cell: (row) => againstEstimate(row) ?? '–' },
    hasSaved && { words: 'Saved', cell: ({ savedUsd }) => <Some usd={savedUsd} /> },
    hasTime && {
      words: 'Time',
      cell: ({ seconds }) => (seconds === 0 ? '–' : durationText(seconds * 1_000)),
    },
    { words: 'Runs', cell: ({ runs }) => countText(runs) },
  ]
  return figures.filter((one) => one !== false)
}

const Some = ({ usd }: { usd: string | null }) =>
  usd === null || picosOf(usd) === 0n ? <span className="text-faint">–</span> : <Money usd={usd} />

/** What is known, and whether that is all. */
function Cost({ row: { costUsd, runs, runsOfUnknownCost } }: { row: UsageGroup }) {
  if (costUsd === null || runsOfUnknownCost === 0) return <Money usd={costUsd} />
  return (
    <>
      <Money usd={costUsd} />
      <span className="text-muted" title={`Unknown for ${runsOfUnknownCost} of ${runs} runs`}>
        {' '}
        + unknown
      </span>
    </>
  )
}

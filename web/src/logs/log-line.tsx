import { memo, useMemo } from 'react'
import { bytesText } from '../parts/wording.ts'
import { divided, placesOf } from './found.ts'
import type { Line } from './lines.ts'
import { shownOf, type TextRun } from './settle.ts'

export interface Highlight {
  readonly text: string
  readonly isCaseSensitive: boolean
}

interface Props {
  line: Line
  /** In the whole log; null: not known yet. */
  number: number | null
  time: string | null
  isWrapped: boolean
  isWhole: boolean
  /** The line of the address, or of the hit that was walked to. */
  isCurrent: boolean
  highlight: Highlight | null
  onShowWhole: (offset: number) => void
  onAddress: (offset: number) => void
}

const BARS = { stdout: 'border-transparent', stderr: 'border-bad', system: 'border-edge' }

const FOUND = 'rounded-xs bg-ask-tint text-ask outline-1 outline-ask'

/** One line: its number, its time, its text. All of it is text; links lead to the web only. */
export const LogLine = memo(function LogLine(props: Props) {
  const { line, number, time, isWrapped, isWhole, isCurrent, highlight, onShowWhole, onAddress } = props
  return (
    <div
      className={`group flex min-w-full border-l-2 pr-4 hover:bg-hover ${BARS[line.stream]} ${isCurrent ? 'bg-go-tint' : ''} ${isWrapped ? '' : 'w-max'}`}
    >
      <button
        aria-label={`Address of line ${number ?? `at byte ${line.offset}`}`}
        className="focus-inside w-[calc(var(--log-gutter)+1.75rem)] shrink-0 self-start pr-3 text-right text-faint select-none hover:text-accent max-sm:w-[calc(var(--log-gutter)+0.75rem)] max-sm:pr-2"
        onClick={() => onAddress(line.offset)}
        tabIndex={-1}
        type="button"
      >
        {number ?? '·'}
      </button>
      {time !== null && <span className="shrink-0 pr-3 text-faint select-none">{time}</span>}
      {line.stream !== 'stdout' && <span className="sr-only select-none">{line.stream}: </span>}
      <span
        className={`min-w-0 flex-1 ${line.stream === 'system' ? 'text-muted' : ''} ${isWrapped ? 'wrap-anywhere whitespace-pre-wrap' : 'whitespace-pre'}`}
        dir="auto"
      >
        <LineText highlight={highlight} isWhole={isWhole} line={line} onShowWhole={onShowWhole} />
      </span>
    </div>
  )
})

function LineText(props: Pick<Props, 'line' | 'isWhole' | 'highlight' | 'onShowWhole'>) {
  const { line, isWhole, highlight, onShowWhole } = props
  const { runs, isCut } = useMemo(() => shownOf(line.raw, isWhole), [line.raw, isWhole])
  const parts = useMemo(() => {
    if (!highlight) return runs.map((run) => ({ ...run, isFound: false }))
    const text = runs.reduce((sum, run) => sum + run.text, '')
    return divided(runs, placesOf(text, highlight.text, highlight.isCaseSensitive))
  }, [runs, highlight])
  return (
    <>
      {parts.map((part, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a line have no other name
        <LinePart key={place} part={part} />
      ))}
      {runs.length === 0 && '\u200b'}
      {isCut && (
        <button
          className="ml-2 rounded-chip bg-hover px-1.5 font-sans text-label font-medium text-accent select-none hover:underline"
          onClick={() => onShowWhole(line.offset)}
          type="button"
        >
          show {bytesText(line.bytes)}
        </button>
      )}
    </>
  )
}

function LinePart({ part: { text, classes, href, isFound } }: { part: TextRun & { isFound: boolean } }) {
  const shown = isFound ? <mark className={FOUND}>{text}</mark> : text
  if (href === null) return <span className={classes}>{shown}</span>
  return (
    <a className="text-accent underline" href={href} rel="noopener noreferrer nofollow" target="_blank">
      {shown}
    </a>
  )
}

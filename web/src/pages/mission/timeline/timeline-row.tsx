import type { FoldedTime, Span } from '../../../graphs/folded-time.ts'
import { type Drawn, drawnIn, type Row } from '../../../graphs/timeline.ts'
import { PageLink, useGo } from '../../../links.tsx'
import { LOOKS } from './patterns.tsx'
import { barWords, rowWords } from './words.ts'

export const ROW_HEIGHT = 28
const BAR_TOP = 6
const BAR_HEIGHT = 16

export type Relation = 'chosen' | 'upstream' | 'downstream' | null
const RELATED: Record<Exclude<Relation, null>, string> = {
  chosen: 'bg-hover',
  upstream: 'bg-go-tint',
  downstream: 'bg-held-tint',
}
const RELATION_WORDS = { upstream: 'before', downstream: 'after' } as const

/** One task: its name, and what it did. */
export function TimelineRow(props: {
  row: Row
  name: string
  title: string
  address: string
  /** On the clock of the timeline. */
  view: Span
  time: FoldedTime
  width: number
  labelWidth: number
  now: number
  relation: Relation
  onChoose: (task: string | null) => void
}) {
  const { row, name, title, address, view, time, width, labelWidth, now, relation, onChoose } = props
  const { task } = row
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it shows what belongs together; the same is told below in words
    <div
      className={`flex h-7 items-center border-b border-line ${relation ? RELATED[relation] : ''}`}
      data-row={task}
      onFocus={() => onChoose(task)}
      onMouseEnter={() => onChoose(task)}
    >
      <span className="flex shrink-0 items-center gap-1.5 pr-2 text-row" style={{ width: labelWidth }}>
        <PageLink
          className="min-w-0 flex-1 truncate hover:text-accent hover:underline"
          title={title}
          to={address}
        >
          <span className="mr-1 font-mono text-label text-muted">{name}</span>
          {title.slice(0, 200)}
        </PageLink>
        {(relation === 'upstream' || relation === 'downstream') && (
          <span className="text-label text-muted">{RELATION_WORDS[relation]}</span>
        )}
        <span className="sr-only">: {rowWords(row, now)}</span>
      </span>
      <svg aria-label={`Bars of ${name}`} className="block shrink-0" height={ROW_HEIGHT} width={width}>
        {drawnIn(row, view, width, now, time).map((piece) => (
          <Bar isChosen={relation === 'chosen'} key={`${piece.from} ${piece.look}`} piece={piece} />
        ))}
      </svg>
    </div>
  )
}

/** A bar; where there is a run, a link to it. In the chosen row the keyboard reaches them. */
function Bar({ piece, isChosen }: { piece: Drawn; isChosen: boolean }) {
  const go = useGo()
  const { look, x, width, bar } = piece
  const { fill, stroke, dashes } = LOOKS[look]
  const words = barWords(piece)
  const drawn = (
    <>
      <title>{bar.runId ? `${words}. Opens its run` : words}</title>
      <rect
        className={`${stroke} ${bar.runId ? 'cursor-pointer group-hover:opacity-75 group-focus-visible:stroke-ink' : ''}`}
        fill={fill}
        height={BAR_HEIGHT}
        rx={Math.min(2, width / 2)}
        strokeDasharray={dashes}
        strokeWidth={width < 3 ? 0.5 : 1}
        width={Math.max(1, width - 1)}
        x={x + 0.5}
        y={BAR_TOP}
      />
    </>
  )
  if (!bar.runId) return <g>{drawn}</g>
  const address = `/runs/${bar.runId}`
  return (
    <a
      aria-label={`${words}. Opens its run`}
      className="group"
      href={address}
      onClick={(event) => {
        event.preventDefault()
        go(address)
      }}
      tabIndex={isChosen ? 0 : -1}
    >
      {drawn}
    </a>
  )
}

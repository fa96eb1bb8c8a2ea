import { PageLink } from '../../links.tsx'
import type { Column } from '../../parts/data-table.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Moment } from '../../parts/moment.tsx'
import { StateMark } from '../../parts/state-mark.tsx'
import { countText } from '../../parts/wording.ts'
import { HUE_TEXT } from '../../theme/hues.ts'
import type { ListedEvent } from './event-list.ts'
import { aboutOf, actorWords, LEVEL_WORDS, sentenceOf } from './event-words.ts'

/** Where there is no room for all. */
export const EVENT_DROPS = ['type', 'by', 'about']

/** Errors and warnings have a mark of their own; so has a move to another state. */
function Mark({ event: { level, from, to } }: { event: ListedEvent }) {
  const { words, hue } = LEVEL_WORDS[level]
  if (level !== 'INFO' && level !== 'DEBUG')
    return (
      <span className={`inline-flex ${HUE_TEXT[hue]}`} title={words}>
        <Icon name="warning" size={14} />
        <span className="sr-only">{words}: </span>
      </span>
    )
  if (to !== null && to !== from) return <StateMark size={14} state={to} />
  return <span className="mx-1.25 size-1 rounded-pill bg-faint" />
}

function What({ event }: { event: ListedEvent }) {
  const sentence = sentenceOf(event)
  return (
    <span className="flex min-w-0 items-center gap-2" title={sentence}>
      <span className="inline-flex w-4 shrink-0 justify-center">
        <Mark event={event} />
      </span>
      <span className={`truncate ${event.level === 'DEBUG' ? 'text-muted' : ''}`}>{sentence}</span>
    </span>
  )
}

function Subject({ event }: { event: ListedEvent }) {
  const { words, to } = aboutOf(event)
  if (to === null) return <span className="text-muted">{words}</span>
  return (
    <PageLink className="text-muted hover:text-accent hover:underline" to={to}>
      {words}
    </PageLink>
  )
}

export function eventColumns(onOpen: (event: ListedEvent) => void): Column<ListedEvent>[] {
  return [
    {
      name: 'seq',
      words: 'Number',
      width: '84px',
      phone: 'second',
      cell: (event) => (
        <button
          aria-label={`Open event ${countText(event.seq)}`}
          className="rounded-chip font-mono text-label text-faint tabular-nums hover:text-accent hover:underline"
          onClick={() => onOpen(event)}
          type="button"
        >
          {countText(event.seq)}
        </button>
      ),
    },
    {
      name: 'what',
      words: 'What happened',
      width: 'minmax(260px, 4fr)',
      phone: 'first',
      cell: (event) => <What event={event} />,
    },
    {
      name: 'about',
      words: 'About',
      width: 'minmax(100px, 1fr)',
      phone: 'second',
      cell: (event) => <Subject event={event} />,
    },
    {
      name: 'by',
      words: 'By',
      width: 'minmax(110px, 1fr)',
      phone: 'second',
      cell: (event) => <span className="text-muted">{actorWords(event)}</span>,
    },
    {
      name: 'type',
      words: 'Type',
      width: 'minmax(140px, 1fr)',
      phone: 'hidden',
      cell: ({ type }) => <span className="font-mono text-label text-faint">{type}</span>,
    },
    {
      name: 'at',
      words: 'When',
      width: '80px',
      align: 'end',
      phone: 'second',
      cell: ({ at }) => (
        <span className="text-muted">
          <Moment at={at} />
        </span>
      ),
    },
  ]
}

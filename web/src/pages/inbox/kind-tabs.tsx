import { countText } from '../../parts/wording.ts'
import { INBOX_TABS, type InboxItem, type InboxTab, KINDS, TAB_WORDS } from '../../things/inbox/kinds.ts'

type Counts = Readonly<Record<InboxItem['kind'], number>>

const countOf = (counts: Counts, tab: InboxTab | undefined) =>
  (Object.keys(KINDS) as InboxItem['kind'][])
    .filter((kind) => tab === undefined || KINDS[kind].tab === tab)
    .reduce((sum, kind) => sum + (counts[kind] ?? 0), 0)

/** On a phone the chosen one may be beyond the edge. */
const intoView = (button: HTMLButtonElement | null) =>
  button?.scrollIntoView({ block: 'nearest', inline: 'nearest' })

/** Kinds of things that wait, with how many there are of each. Links in the address, not panels: the list below is one. */
export function KindTabs(props: {
  counts: Counts | undefined
  kind: InboxTab | undefined
  onChange: (kind: InboxTab | undefined) => void
}) {
  const { counts, kind, onChange } = props
  return (
    <nav aria-label="Kinds" className="flex min-w-0 gap-0.5 overflow-x-auto">
      {[undefined, ...INBOX_TABS].map((tab) => {
        const count = counts && countOf(counts, tab)
        return (
          <button
            aria-current={tab === kind || undefined}
            className={`touchable focus-inside inline-flex h-7 shrink-0 items-center gap-1.5 rounded-card px-2 text-row font-medium ${tab === kind ? 'bg-hover text-ink' : 'text-muted hover:bg-hover hover:text-ink'}`}
            key={tab ?? 'all'}
            ref={tab === kind ? intoView : undefined}
            onClick={() => onChange(tab)}
            type="button"
          >
            {tab ? TAB_WORDS[tab] : 'All'}
            {count !== undefined && (
              <span
                className={`text-label tabular-nums ${count === 0 ? 'text-faint' : tab === 'finished' ? 'text-muted' : 'text-ask'}`}
              >
                {countText(count)}
              </span>
            )}
          </button>
        )
      })}
    </nav>
  )
}

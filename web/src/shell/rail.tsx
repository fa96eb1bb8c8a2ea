import { PageLink } from '../links.tsx'
import { useInboxCount } from '../live/hooks.ts'
import { Icon } from '../parts/icon.tsx'
import { Kbd } from '../parts/kbd.tsx'
import { useMedia } from '../parts/media.ts'
import { Tooltip } from '../parts/tooltip.tsx'
import { type NavigationEntry, useCurrentEntry, useNavigation } from './navigation.ts'

/** The pages, on the left. Between phone and desktop it shows icons with tooltips. */
export function Rail() {
  const entries = useNavigation()
  const of = (place: NavigationEntry['place']) => entries.filter((entry) => entry.place === place)
  return (
    <nav
      aria-label="Pages"
      className="flex min-h-0 w-52 shrink-0 flex-col gap-0.5 overflow-y-auto border-r border-line bg-bg p-2 max-lg:w-14 max-sm:hidden"
    >
      {of('main').map((entry) => (
        <RailLink entry={entry} key={entry.to} />
      ))}
      <div className="mt-auto flex shrink-0 flex-col gap-0.5 pt-4">
        {of('more').map((entry) => (
          <RailLink entry={entry} key={entry.to} />
        ))}
      </div>
    </nav>
  )
}

function RailLink({ entry }: { entry: NavigationEntry }) {
  const { to, words, icon, key } = entry
  const isCurrent = useCurrentEntry() === to
  const isNarrow = useMedia('(width < 1024px)')
  const count = useCountOf(to)
  const link = (
    <PageLink
      aria-current={isCurrent ? 'page' : undefined}
      className={`group relative flex h-9 shrink-0 items-center gap-3 rounded-card px-3 text-body font-medium transition-colors hover:bg-hover hover:text-ink max-lg:justify-center max-lg:px-0 ${isCurrent ? 'bg-hover text-ink' : 'text-muted'}`}
      to={to}
    >
      <Icon name={icon} />
      <span className="truncate max-lg:sr-only">{words}</span>
      <Count count={count} />
    </PageLink>
  )
  if (!isNarrow) return link
  const tip = (
    <>
      {words}
      {key && <Kbd keys={`g ${key}`} />}
    </>
  )
  return (
    <Tooltip side="right" text={tip}>
      {link}
    </Tooltip>
  )
}

/** How many wait on a page. */
export function useCountOf(to: string): number {
  const inboxCount = useInboxCount()
  return to === '/inbox' ? inboxCount : 0
}

function Count({ count }: { count: number }) {
  if (count === 0) return null
  return (
    <span className="ml-auto rounded-pill bg-ask-tint px-1.5 text-label font-semibold text-ask max-lg:absolute max-lg:top-0 max-lg:right-0">
      {count > 99 ? '99+' : count}
      <span className="sr-only"> waiting</span>
    </span>
  )
}

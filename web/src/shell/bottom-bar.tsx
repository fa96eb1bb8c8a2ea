import { PageLink, useGo } from '../links.tsx'
import { Icon } from '../parts/icon.tsx'
import { Menu } from '../parts/menu.tsx'
import { useCurrentEntry, useNavigation } from './navigation.ts'
import { useCountOf } from './rail.tsx'

const ITEM = 'flex min-w-11 flex-1 flex-col items-center justify-center gap-0.5 text-label font-medium'

/** The pages, on a phone: within reach of the thumb. */
export function BottomBar() {
  const entries = useNavigation()
  const current = useCurrentEntry()
  const go = useGo()
  const inReach = entries.filter(({ isOnPhone }) => isOnPhone)
  const rest = entries.filter(({ isOnPhone }) => !isOnPhone)
  const waiting = useCountOf('/inbox')
  return (
    <nav aria-label="Pages" className="flex h-14 shrink-0 border-t border-line bg-bg sm:hidden">
      {inReach.map(({ to, words, icon }) => (
        <PageLink
          aria-current={current === to ? 'page' : undefined}
          className={`focus-inside relative ${ITEM} ${current === to ? 'text-ink' : 'text-muted'}`}
          key={to}
          to={to}
        >
          <Icon name={icon} size={20} />
          {words}
          {to === '/inbox' && waiting > 0 && (
            <span className="absolute top-1 left-1/2 ml-2 rounded-pill bg-ask-tint px-1 font-semibold text-ask">
              {waiting}
            </span>
          )}
        </PageLink>
      ))}
      <Menu
        groups={[
          rest.map(({ to, words, icon }) => ({ words, icon, isChecked: current === to, run: () => go(to) })),
        ]}
        trigger={
          <button
            className={`focus-inside ${ITEM} ${rest.some(({ to }) => to === current) ? 'text-ink' : 'text-muted'}`}
            type="button"
          >
            <Icon name="more" size={20} />
            More
          </button>
        }
      />
    </nav>
  )
}

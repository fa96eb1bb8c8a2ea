import { Outlet, useRouterState } from '@tanstack/react-router'
import { type ComponentType, lazy, Suspense, useEffect, useMemo, useRef, useState } from 'react'
import { ShortcutHelp } from '../keys/shortcut-help.tsx'
import { type Shortcuts, useShortcuts } from '../keys/shortcuts.ts'
import { PageLink, useGo } from '../links.tsx'
import { isConnected } from '../live/freshness.ts'
import { useFreshness, useInboxCount } from '../live/hooks.ts'
import { copyText } from '../parts/copyable.tsx'
import { setWaitingInTitle } from '../parts/document-title.ts'
import { Skeleton } from '../parts/skeleton.tsx'
import { toast } from '../parts/toasts.tsx'
import { BottomBar } from './bottom-bar.tsx'
import { useFavicon } from './favicon.ts'
import { useFreshNames } from './fresh-names.ts'
import { useMissionEnds } from './mission-ends.ts'
import { useNavigation } from './navigation.ts'
import { NewVersion } from './new-version.tsx'
import { PageNotLoaded, whileServed } from './page-not-loaded.ts'
import { Rail } from './rail.tsx'
import { RetryFailed } from './retry-failed.tsx'
import { TopBar } from './top-bar.tsx'

const loadPalette = () => import('./palette.tsx').then(({ Palette }) => ({ default: Palette }))
const Palette = lazy(loadPalette)
/** After the page, which does not wait for them. One that cannot be loaded is no reason to have no page. */
const Notifications = lazy(() =>
  import('../notifications/ask.tsx').then(
    ({ Notifications: loaded }) => ({ default: loaded }),
    () => ({ default: () => null }),
  ),
)

type Layer = 'palette' | 'help' | 'new-task' | 'retry-failed'

/** A form of a page that opens above any other page. */
type FormAbove = ComponentType<{ onClose: () => void; project: string | undefined }>
type LoadForm = () => Promise<{ default: FormAbove }>

/** What stays while pages change: top bar, rail, palette, keys. */
export function Frame({ newTask }: { newTask: LoadForm }) {
  const [layer, setLayer] = useState<Layer | null>(null)
  const NewTask = useMemo(() => lazy(newTask), [newTask])
  const close = () => setLayer(null)
  const open = (next: Layer) => {
    const load: (() => Promise<unknown>) | null =
      next === 'palette' ? loadPalette : next === 'new-task' ? newTask : null
    // What cannot be loaded is not opened: the page below would go with it.
    if (load === null) setLayer(next)
    else whileServed(load)().then(() => setLayer(next), tellNotLoaded)
  }
  useGlobalKeys(open)
  useTabSigns()
  useFreshNames()
  useMissionEnds()
  useFocusOnNewPage()
  return (
    // Clipped: pages scroll inside, and whatever reaches out of them gives the document no scrollbar.
    <div className="relative flex h-dvh min-h-0 flex-col overflow-clip">
      <button
        className="fixed top-1 left-1 z-50 -translate-y-16 rounded-card bg-ink px-3 py-2 font-medium text-bg focus:translate-y-0"
        onClick={() => document.getElementById('content')?.focus()}
        type="button"
      >
        Skip to content
      </button>
      <TopBar onHelp={() => open('help')} onPalette={() => open('palette')} />
      <NewVersion />
      <div className="flex min-h-0 flex-1">
        <Rail />
        <main className="flex min-h-0 min-w-0 flex-1 outline-none" id="content" tabIndex={-1}>
          <Suspense fallback={<PageSkeleton />}>
            <Outlet />
          </Suspense>
        </main>
      </div>
      <Suspense>
        <Notifications />
      </Suspense>
      <BottomBar />
      <ShortcutHelp
        more={
          <PageLink className="font-medium text-accent hover:underline" onClick={close} to="/welcome">
            Welcome: the first steps with Baton
          </PageLink>
        }
        onClose={close}
        open={layer === 'help'}
      />
      {layer === 'palette' && (
        <Suspense>
          <Palette onClose={close} onRetryFailed={() => setLayer('retry-failed')} />
        </Suspense>
      )}
      {layer === 'new-task' && (
        <Suspense>
          <NewTask onClose={close} project={undefined} />
        </Suspense>
      )}
      {layer === 'retry-failed' && <RetryFailed onClose={close} />}
    </div>
  )
}

const tellNotLoaded = (error: unknown) =>
  void toast({
    id: 'not-loaded',
    kind: 'bad',
    title: 'Not loaded yet',
    ...(error instanceof PageNotLoaded
      ? {
          text: 'You have not opened this before, and the server does not answer. Try again when the page is live.',
        }
      : {
          text: 'The file for it did not come. The page has to be loaded again.',
          act: { words: 'Reload', run: () => location.reload() },
        }),
  })

const PageSkeleton = () => (
  <div className="w-full p-6">
    <Skeleton rows={8} />
  </div>
)

function useGlobalKeys(open: (layer: Layer) => void): void {
  const go = useGo()
  const shortcuts: Shortcuts = {
    'Mod+k': { words: 'Find or do anything', run: () => open('palette') },
    '?': { words: 'Keyboard shortcuts', run: () => open('help') },
    'c t': { words: 'New task', run: () => open('new-task') },
    'c m': { words: 'New mission', run: () => go('/missions/new') },
    'c a': { words: 'New agent', run: () => go('/agents/new') },
    y: {
      words: 'Copy the link to this page',
      run: async () => {
        if (await copyText(location.href)) toast({ kind: 'done', title: 'Link copied.' })
      },
    },
  }
  useShortcuts('Everywhere', shortcuts)
  const places = useNavigation().filter(({ key }) => key)
  useShortcuts(
    'Go to',
    Object.fromEntries(places.map(({ key, words, to }) => [`g ${key}`, { words, run: () => go(to) }])),
  )
}

/** The tab shows what waits, and whether the page may be old. */
function useTabSigns(): void {
  const inboxCount = useInboxCount()
  const { freshness } = useFreshness()
  useFavicon(inboxCount > 0, !isConnected(freshness))
  useEffect(() => setWaitingInTitle(inboxCount), [inboxCount])
}

/** A screen reader hears the new page's heading, and the next Tab begins there. Filters and tabs do not move the focus. */
function useFocusOnNewPage(): void {
  const path = useRouterState({ select: ({ resolvedLocation }) => resolvedLocation?.pathname })
  const before = useRef(path)
  useEffect(() => {
    const isFirst = before.current === undefined
    before.current = path
    if (isFirst || path === undefined) return
    document.querySelector<HTMLElement>('[data-page-heading]')?.focus({ preventScroll: true })
  }, [path])
}

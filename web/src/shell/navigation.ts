import { useRouter, useRouterState } from '@tanstack/react-router'
import type { IconName } from '../theme/icons.ts'

export interface NavigationEntry {
  /** The route that has to exist; a page that is not built is not shown. */
  route: string
  to: string
  words: string
  icon: IconName
  /** After `g`. */
  key?: string
  place: 'main' | 'more'
  isOnPhone?: boolean
}

const entry = (
  to: string,
  words: string,
  icon: IconName,
  rest: Partial<NavigationEntry> = {},
): NavigationEntry => ({
  route: to,
  to,
  words,
  icon,
  place: 'main',
  ...rest,
})

const NAVIGATION: readonly NavigationEntry[] = [
  entry('/', 'Overview', 'overview', { key: 'o' }),
  entry('/inbox', 'Inbox', 'inbox', { key: 'i', isOnPhone: true }),
  entry('/board', 'Board', 'board', { key: 'b', isOnPhone: true }),
  entry('/watch', 'Watch', 'watch', { key: 'w' }),
  entry('/missions', 'Missions', 'missions', { key: 'm', isOnPhone: true }),
  entry('/agents', 'Agents', 'agents', { key: 'a', isOnPhone: true }),
  entry('/runs', 'Runs', 'runs', { key: 'r' }),
  entry('/budgets', 'Budgets', 'budgets', { key: '$' }),
  entry('/routines', 'Routines', 'routines', { place: 'more' }),
  entry('/projects', 'Projects', 'folder', { place: 'more' }),
  entry('/workers', 'Workers', 'workers', { place: 'more' }),
  entry('/insight', 'Insight', 'insight', { place: 'more' }),
  entry('/alerts', 'Alerts', 'bell', { place: 'more' }),
  entry('/events', 'Events', 'list', { place: 'more' }),
  entry('/nodes', 'Nodes', 'nodes', { place: 'more' }),
  entry('/webhooks', 'Webhooks', 'webhooks', { place: 'more' }),
  entry('/audit', 'Audit', 'audit', { place: 'more' }),
  entry('/welcome', 'Welcome', 'welcome', { place: 'more' }),
  entry('/settings/appearance', 'Settings', 'settings', {
    route: '/settings/$section',
    key: 's',
    place: 'more',
  }),
]

/** The pages that are built. A route without a component only leads elsewhere. */
export function useNavigation(): NavigationEntry[] {
  const { routesByPath } = useRouter()
  return NAVIGATION.filter(({ route }) => {
    const found = routesByPath[route as keyof typeof routesByPath]
    return found?.options.component !== undefined
  })
}

/** Which entry the present page belongs to: "/tasks/B-014" belongs to the board, as its list does. */
const BELONGS_TO: Record<string, string> = { tasks: '/board' }

export function useCurrentEntry(): string {
  const path = useRouterState({ select: ({ location }) => location.pathname })
  const first = path.split('/')[1] ?? ''
  return BELONGS_TO[first] ?? NAVIGATION.find(({ to }) => to.split('/')[1] === first)?.to ?? ''
}

import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
} from '@tanstack/react-router'
import { AGENT_STATES, SESSION_STATES } from '../../src/pure/states.ts'
import { searchBy, tellDropped } from './page-route.ts'
import { AGENT_TABS, TEMPLATE_NAMES } from './pages/agent/tabs.ts'
import { ALERTS_SEARCH } from './pages/alerts/search.ts'
import { BOARD_SEARCH } from './pages/board/search.ts'
import { BUDGETS_SEARCH } from './pages/budgets/search.ts'
import { EVENTS_SEARCH } from './pages/events/search.ts'
import { INSIGHT_SEARCH } from './pages/insight/search.ts'
import { FILTERS, MISSION_VIEWS, OTHER_MISSION_VIEWS } from './pages/mission/views.ts'
import { MISSIONS_SEARCH } from './pages/missions/search.ts'
import { OVERVIEW_SEARCH } from './pages/overview/search.ts'
import { ROUTINE_TABS } from './pages/routines/tabs.ts'
import { OLDER_RUN_VIEWS, RUN_VIEWS } from './pages/run/views.ts'
import { RUNS_SEARCH } from './pages/runs/search.ts'
import { WEBHOOKS_SEARCH } from './pages/webhooks/search.ts'
import { WORKER_TABS } from './pages/workers/tabs.ts'
import { param, parseSearch, type SearchTable, writeSearch } from './search-params.ts'
import { Frame } from './shell/frame.tsx'
import { PageFailed } from './shell/page-failed.tsx'
import { whileServed } from './shell/page-not-loaded.ts'
import { INBOX_TABS, OLDER_INBOX_TABS } from './things/inbox/kinds.ts'
import { NotFound } from './things/not-found.tsx'
import { OLDER_TASK_TABS, ORDERS, TASK_TABS } from './things/task/tabs.ts'

/**
 * The route table. A page is one line: its path, what of the address it understands, and its component, loaded when it is first
 * opened. All paths are below /w/:workspace, which is the router's base path. The navigation shows the pages that are here.
 */

/** It opens above any page. */
const newTask = () => import('./pages/board/new-task.tsx').then(({ NewTask }) => ({ default: NewTask }))

const root = createRootRoute({ component: () => <Frame newTask={newTask} />, notFoundComponent: NotFound })

/** What each page understands of its address, by its path. */
export const searchTables = new Map<string, SearchTable>()

const lazyPage = <T extends Record<string, unknown>, const Name extends keyof T & string>(
  load: () => Promise<T>,
  name: Name,
) => lazyRouteComponent(whileServed(load), name)

const page = <const Path extends string, const Table extends SearchTable>(
  path: Path,
  search: Table,
  component: ReturnType<typeof lazyRouteComponent>,
) => {
  searchTables.set(path, search)
  return createRoute({ getParentRoute: () => root, path, validateSearch: searchBy(search), component })
}

const pages = [
  page(
    '/',
    OVERVIEW_SEARCH,
    lazyPage(() => import('./pages/overview/page.tsx'), 'Overview'),
  ),
  page(
    '/inbox',
    {
      kind: param.oneOf(INBOX_TABS, OLDER_INBOX_TABS),
      item: param.text,
      sort: param.oneOf(['blocks', 'oldest']),
    },
    lazyPage(() => import('./pages/inbox/page.tsx'), 'Inbox'),
  ),
  page(
    '/board',
    BOARD_SEARCH,
    lazyPage(() => import('./pages/board/page.tsx'), 'Board'),
  ),
  page(
    '/welcome',
    {},
    lazyPage(() => import('./pages/welcome/page.tsx'), 'Welcome'),
  ),
  page(
    '/agents',
    { state: param.oneOf(AGENT_STATES) },
    lazyPage(() => import('./pages/agents/page.tsx'), 'Agents'),
  ),
  page(
    '/agents/new',
    { adapter: param.text, template: param.oneOf(TEMPLATE_NAMES), from: param.text },
    lazyPage(() => import('./pages/agent/new-page.tsx'), 'NewAgent'),
  ),
  page(
    '/agents/$slug',
    { tab: param.oneOf(AGENT_TABS) },
    lazyPage(() => import('./pages/agent/page.tsx'), 'Agent'),
  ),
  page(
    '/missions',
    MISSIONS_SEARCH,
    lazyPage(() => import('./pages/missions/page.tsx'), 'Missions'),
  ),
  page(
    '/missions/new',
    { goal: param.text },
    lazyPage(() => import('./pages/new-mission/page.tsx'), 'NewMission'),
  ),
  page(
    '/missions/$id',
    {
      view: param.oneOf(MISSION_VIEWS, OTHER_MISSION_VIEWS),
      version: param.wholeNumber,
      since: param.wholeNumber,
      edit: param.flag,
      task: param.text,
      focus: param.text,
      only: param.oneOf(['failed']),
      what: param.oneOf(FILTERS),
    },
    lazyPage(() => import('./pages/mission/page.tsx'), 'Mission'),
  ),
  page(
    '/watch',
    { agent: param.text, mission: param.text, page: param.wholeNumber },
    lazyPage(() => import('./pages/watch/page.tsx'), 'Watch'),
  ),
  page(
    '/runs',
    RUNS_SEARCH,
    lazyPage(() => import('./pages/runs/page.tsx'), 'Runs'),
  ),
  page(
    '/runs/$id',
    { view: param.oneOf(RUN_VIEWS, OLDER_RUN_VIEWS), at: param.wholeNumber, q: param.text },
    lazyPage(() => import('./pages/run/page.tsx'), 'Run'),
  ),
  page(
    '/tasks/$idOrKey',
    { tab: param.oneOf(TASK_TABS, OLDER_TASK_TABS), result: param.text, order: param.oneOf(ORDERS) },
    lazyPage(() => import('./pages/task/page.tsx'), 'Task'),
  ),
  page(
    '/alerts',
    ALERTS_SEARCH,
    lazyPage(() => import('./pages/alerts/page.tsx'), 'Alerts'),
  ),
  page(
    '/budgets',
    BUDGETS_SEARCH,
    lazyRouteComponent(() => import('./pages/budgets/page.tsx'), 'Budgets'),
  ),
  page(
    '/routines',
    {},
    lazyPage(() => import('./pages/routines/page.tsx'), 'Routines'),
  ),
  page(
    '/routines/$id',
    { tab: param.oneOf(ROUTINE_TABS) },
    lazyPage(() => import('./pages/routines/routine-page.tsx'), 'Routine'),
  ),
  page(
    '/projects',
    {},
    lazyPage(() => import('./pages/projects/page.tsx'), 'Projects'),
  ),
  page(
    '/projects/$slug',
    { session: param.text },
    lazyPage(() => import('./pages/projects/project-page.tsx'), 'Project'),
  ),
  page(
    '/workers',
    { tab: param.oneOf(WORKER_TABS), state: param.oneOf(SESSION_STATES), session: param.text },
    lazyPage(() => import('./pages/workers/page.tsx'), 'Workers'),
  ),
  page(
    '/insight',
    INSIGHT_SEARCH,
    lazyPage(() => import('./pages/insight/page.tsx'), 'Insight'),
  ),
  page(
    '/events',
    EVENTS_SEARCH,
    lazyPage(() => import('./pages/events/page.tsx'), 'Events'),
  ),
  page(
    '/nodes',
    {},
    lazyPage(() => import('./pages/nodes/page.tsx'), 'Nodes'),
  ),
  page(
    '/webhooks',
    WEBHOOKS_SEARCH,
    lazyPage(() => import('./pages/webhooks/page.tsx'), 'Webhooks'),
  ),
  page(
    '/settings/$section',
    { ended: param.flag },
    lazyPage(() => import('./pages/settings/page.tsx'), 'Settings'),
  ),
] as const

/** Settings have no page of their own above their sections. */
const settings = createRoute({
  getParentRoute: () => root,
  path: '/settings',
  beforeLoad: () => {
    throw redirect({ to: '/settings/$section', params: { section: 'appearance' }, replace: true })
  },
})

const routeTree = root.addChildren([...pages, settings])

export function makeRouter(workspace: string) {
  const router = createRouter({
    routeTree,
    basepath: `/w/${workspace}`,
    parseSearch,
    stringifySearch: writeSearch,
    search: { strict: true },
    scrollRestoration: true,
    defaultErrorComponent: PageFailed,
    defaultNotFoundComponent: NotFound,
    defaultPendingMs: 150,
  })
  // The address as it was opened: the router removes from it what the page does not know.
  const opened = parseSearch(location.search)
  const unsubscribe = router.subscribe('onResolved', () => {
    unsubscribe()
    const table = searchTables.get(router.state.matches.at(-1)?.fullPath ?? '')
    if (table) tellDropped(table, opened)
  })
  return router
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof makeRouter>
  }
}

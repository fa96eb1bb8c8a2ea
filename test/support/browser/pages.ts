import type { Filled } from './fixture.ts'

/** A page of the app, as the checks of all pages see it. */
export interface PageUnderTest {
  name: string
  /** As the table of routes names it. */
  route: string
  /** Below the workspace. */
  path(made: Filled): string
  /** The accessible name of its most important act, which the keyboard must reach. Null: it only shows something. */
  mainAct: RegExp | null
  /** A viewer, who may only read, can do it too: it changes nothing. */
  isForReaders?: true
  /** It shows one thing, which may be in another workspace. */
  isOfOneThing?: true
  /** It sends no request to the server. */
  isStatic?: true
}

export const PAGES: readonly PageUnderTest[] = [
  { name: 'overview', route: '/', path: () => '/', mainAct: /^Approve/ },
  { name: 'inbox', route: '/inbox', path: () => '/inbox', mainAct: /^Approve( a)?$/ },
  { name: 'board', route: '/board', path: () => '/board', mainAct: /^New task/ },
  { name: 'runs', route: '/runs', path: () => '/runs', mainAct: /^Run [0-9a-f]{4}$/, isForReaders: true },
  {
    name: 'run',
    route: '/runs/$id',
    path: ({ runId }) => `/runs/${runId}`,
    mainAct: /^Transcript$/,
    isForReaders: true,
    isOfOneThing: true,
  },
  {
    name: 'log of a run',
    route: '/runs/$id',
    path: ({ runId }) => `/runs/${runId}?view=raw`,
    mainAct: /^Find in the log$/,
    isForReaders: true,
    isOfOneThing: true,
  },
  {
    name: 'missions',
    route: '/missions',
    path: () => '/missions',
    mainAct: /^New mission/,
    isForReaders: true,
  },
  { name: 'new mission', route: '/missions/new', path: () => '/missions/new', mainAct: /^Make a plan/ },
  {
    name: 'mission',
    route: '/missions/$id',
    path: ({ missionId }) => `/missions/${missionId}`,
    mainAct: /^Approve version 1/,
    isOfOneThing: true,
  },
  {
    name: 'settings',
    route: '/settings/$section',
    path: () => '/settings/appearance',
    mainAct: /^Single-key shortcuts/,
    isForReaders: true,
    isStatic: true,
  },
  {
    name: 'notifications',
    route: '/settings/$section',
    path: () => '/settings/notifications',
    mainAct: /^Questions/,
    isForReaders: true,
    isStatic: true,
  },
  { name: 'keys', route: '/settings/$section', path: () => '/settings/keys', mainAct: /^New key/ },
  { name: 'limits', route: '/settings/$section', path: () => '/settings/limits', mainAct: /^Save limits/ },
  {
    name: 'signed-in browsers',
    route: '/settings/$section',
    path: () => '/settings/browsers',
    mainAct: /^Sign out everywhere/,
    isForReaders: true,
  },
  { name: 'nodes', route: '/nodes', path: () => '/nodes', mainAct: /^Recover now/ },
  { name: 'events', route: '/events', path: () => '/events', mainAct: /^Go to/, isForReaders: true },
  { name: 'insight', route: '/insight', path: () => '/insight', mainAct: /^Check again/, isForReaders: true },
  {
    name: 'a cause of failures',
    route: '/insight',
    path: () => '/insight?cause=quality',
    mainAct: /^Check again/,
    isForReaders: true,
  },
  {
    name: 'welcome',
    route: '/welcome',
    path: () => '/welcome',
    mainAct: /^Run the demo mission/,
  },
  { name: 'agents', route: '/agents', path: () => '/agents', mainAct: /^Wake dev-1/ },
  {
    name: 'new agent',
    route: '/agents/new',
    path: () => '/agents/new?adapter=simulated',
    mainAct: /^Create agent/,
  },
  {
    name: 'agent',
    route: '/agents/$slug',
    path: ({ agent }) => `/agents/${agent}`,
    mainAct: /^Wake/,
    isOfOneThing: true,
  },
  { name: 'watch', route: '/watch', path: () => '/watch', mainAct: /^Stop/ },
  {
    name: 'task',
    route: '/tasks/$idOrKey',
    path: ({ taskId }) => `/tasks/${taskId}`,
    mainAct: /^Approve/,
    isOfOneThing: true,
  },
  { name: 'alerts', route: '/alerts', path: () => '/alerts', mainAct: /^Acknowledge/ },
  { name: 'budgets', route: '/budgets', path: () => '/budgets', mainAct: /^New budget/ },
  {
    name: 'a budget',
    route: '/budgets',
    path: ({ budgetId }) => `/budgets?budget=${budgetId}&by=project`,
    mainAct: /^New budget/,
  },
  { name: 'prices', route: '/settings/$section', path: () => '/settings/prices', mainAct: /^Set a price$/ },
  {
    name: 'models',
    route: '/settings/$section',
    path: () => '/settings/models',
    mainAct: /^Name the models of Claude Code$/,
  },
  {
    name: 'thresholds of alerts',
    route: '/settings/$section',
    path: () => '/settings/alerts',
    mainAct: /^Change the threshold: Many tasks fail$/,
  },
  { name: 'routines', route: '/routines', path: () => '/routines', mainAct: /^Run now/ },
  {
    name: 'routine',
    route: '/routines/$id',
    path: ({ routineId }) => `/routines/${routineId}`,
    mainAct: /^Run now/,
    isOfOneThing: true,
  },
  {
    name: 'settings of a routine',
    route: '/routines/$id',
    path: ({ routineId }) => `/routines/${routineId}?tab=settings`,
    mainAct: /^Run now/,
    isOfOneThing: true,
  },
  { name: 'projects', route: '/projects', path: () => '/projects', mainAct: /^New project/ },
  {
    name: 'project',
    route: '/projects/$slug',
    path: ({ project }) => `/projects/${project}`,
    mainAct: /^Import a plan/,
    isOfOneThing: true,
  },
  { name: 'workers', route: '/workers', path: () => '/workers', mainAct: /^Requeue stalled/ },
  {
    name: 'dead letters',
    route: '/workers',
    path: () => '/workers?tab=dead-letters',
    mainAct: /^Retry all/,
  },
  { name: 'webhooks', route: '/webhooks', path: () => '/webhooks', mainAct: /^New webhook/ },
  {
    name: 'a webhook',
    route: '/webhooks',
    path: ({ webhookId }) => `/webhooks?webhook=${webhookId}`,
    mainAct: /^Send a test/,
  },
  {
    name: 'a hook',
    route: '/webhooks',
    path: ({ hookId }) => `/webhooks?hook=${hookId}`,
    mainAct: /^Show what it would do/,
  },
]

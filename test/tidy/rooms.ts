/** The rooms of the house, and which of them a room may import. */

const PLAIN = ['pure', 'rules'] as const
const STORING = [...PLAIN, 'kernel', 'postgres'] as const
const ACTING = [...PLAIN, 'kernel', 'door', 'acts'] as const

/**
 * Which rooms a room may import, beside itself, lowest first. A room is a folder of src with its subfolders; files at the top are
 * rooms of their own. Kinds and views are three rooms by the names of their files: `rules` (all that is pure), `stored` (postgres,
 * memory) and `acts` (acts, upkeep).
 */
export const USES: Readonly<Record<string, readonly string[]>> = {
  pure: [],
  rules: ['pure'],
  outgoing: PLAIN,
  transcript: PLAIN,
  client: PLAIN,
  adapters: [...PLAIN, 'transcript', 'outgoing'],
  logs: PLAIN,
  'embedded-postgres': PLAIN,
  kernel: PLAIN,
  postgres: [...PLAIN, 'kernel'],
  stored: STORING,
  memory: [...PLAIN, 'kernel'],
  stores: [...PLAIN, 'kernel'],
  door: [...STORING, 'outgoing'],
  store: [...STORING, 'stored', 'door'],
  acts: [...STORING, 'stored', 'door', 'transcript', 'outgoing'],
  upkeep: [...ACTING, 'postgres', 'outgoing'],
  metrics: [...ACTING, 'stored', 'postgres'],
  tracing: [...ACTING, 'postgres'],
  executor: [...ACTING, 'stored', 'adapters', 'logs', 'outgoing'],
  server: [...ACTING, 'stored', 'transcript', 'metrics', 'outgoing'],
  queue: [...ACTING, 'upkeep', 'store', 'memory', 'stores'],
  'config.ts': [...PLAIN, 'outgoing'],
  'first-start.ts': [...PLAIN, 'kernel', 'stored', 'store'],
  'private-files.ts': PLAIN,
  'start-coordinator.ts': [...ACTING, 'upkeep', 'metrics', 'outgoing', 'config.ts'],
  'start.ts': [
    ...ACTING,
    'postgres',
    'stored',
    'store',
    'embedded-postgres',
    'upkeep',
    'server',
    'executor',
    'metrics',
    'tracing',
    'adapters',
    'logs',
    'outgoing',
    'config.ts',
    'first-start.ts',
    'private-files.ts',
    'start-coordinator.ts',
  ],
  'main.ts': [...PLAIN, 'config.ts', 'start.ts'],
}

/** Which kinds and views a kind or view may use in what it stores and does, beside itself. */
export const KIND_USES: Readonly<Record<string, readonly string[]>> = {
  key: [],
  workspace: ['key'],
  'sign-in': ['inbox', 'key'],
  'model-tier': [],
  price: [],
  project: [],
  task: ['project', 'workspace'],
  session: ['project', 'task'],
  agent: ['task', 'workspace'],
  mission: ['agent', 'project', 'task', 'timeline'],
  run: ['agent', 'budget', 'mission', 'task', 'usage'],
  budget: ['mission', 'project', 'task'],
  usage: ['budget', 'mission', 'project', 'task'],
  verification: ['agent', 'mission', 'project', 'task'],
  webhook: ['task'],
  comment: ['mission', 'task'],
  report: ['mission', 'task'],
  routine: ['mission', 'project', 'task'],
  hook: ['hook-delivery', 'project', 'routine', 'run', 'task'],
  'hook-delivery': [],
  alert: ['agent', 'budget', 'logs', 'task', 'threshold', 'workspace'],
  threshold: [],
  demo: ['agent', 'mission'],
  timeline: [],
  board: ['project', 'task'],
  logs: ['task'],
  events: ['logs', 'mission', 'task'],
  inbox: ['agent', 'alert', 'budget', 'mission', 'run', 'task'],
  insight: ['agent', 'board', 'logs', 'task'],
  overview: ['agent', 'board', 'inbox', 'insight', 'mission'],
  coordinator: ['board', 'workspace'],
  onboarding: ['agent', 'demo', 'mission'],
}

/**
 * The list of kinds is pure but for its lazy imports: what loads a part of all kinds (stores, endpoints, steps) gets it from there. None
 * of that comes with the list, so only what does is an arrow.
 */
export const THE_LIST = 'src/kinds/all.ts'

const IN_A_KIND = /^src\/(?:kinds|views)\/([^/]+)\/([^/.]+)/
const LAYERS: Readonly<Record<string, string>> = {
  postgres: 'stored',
  memory: 'stored',
  acts: 'acts',
  upkeep: 'acts',
}

export function roomOf(path: string): string {
  const [top, folder = ''] = path.split('/')
  if (top !== 'src') return top!
  if (folder !== 'kinds' && folder !== 'views') return folder
  return LAYERS[IN_A_KIND.exec(path)?.[2] ?? ''] ?? 'rules'
}

/** The kind whose store or acts a file belongs to; null: a file that is pure, or of no kind. */
export const kindOf = (path: string): string | null =>
  ['stored', 'acts'].includes(roomOf(path)) ? IN_A_KIND.exec(path)![1]! : null

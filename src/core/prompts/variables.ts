import { BATON_SKILL } from './texts.ts'

/** What a prompt template may speak of. The form shows this list, docs/runs.md shows it, and the parser knows no other names. */

interface PromptVariable {
  path: string
  description: string
  /** It never appears in a preview, and whoever puts it into a template is warned. */
  sensitive: boolean
  example: string
  /** Another name for that variable: whoever renders gives the value under that name only. */
  aliasOf?: string
}

export const PROMPT_VARIABLES = [
  {
    path: 'workspace.id',
    description: 'The id of the workspace',
    sensitive: false,
    example: '0198c0de-0000-7000-8000-000000000001',
  },
  { path: 'workspace.name', description: 'The name of the workspace', sensitive: false, example: 'Shop' },
  {
    path: 'company.id',
    description: 'The same as workspace.id',
    sensitive: false,
    example: '0198c0de-0000-7000-8000-000000000001',
    aliasOf: 'workspace.id',
  },
  {
    path: 'company.name',
    description: 'The same as workspace.name',
    sensitive: false,
    example: 'Shop',
    aliasOf: 'workspace.name',
  },
  {
    path: 'agent.id',
    description: 'The id of the agent',
    sensitive: false,
    example: '0198c0de-0000-7000-8000-000000000002',
  },
  { path: 'agent.name', description: 'What the agent is called', sensitive: false, example: 'Dev 1' },
  { path: 'agent.slug', description: 'Its name in addresses', sensitive: false, example: 'dev-1' },
  { path: 'agent.role', description: 'What it is for', sensitive: false, example: 'Repairs the web shop' },
  { path: 'agent.title', description: 'Its title', sensitive: false, example: 'Senior engineer' },
  {
    path: 'run.id',
    description: 'The id of the run',
    sensitive: false,
    example: '0198c0de-0000-7000-8000-000000000003',
  },
  {
    path: 'run.source',
    description: 'What woke the agent: timer, assignment, on_demand or automation',
    sensitive: false,
    example: 'assignment',
  },
  {
    path: 'run.startedAt',
    description: 'When the run began',
    sensitive: false,
    example: '2026-01-04T06:00:00.000Z',
  },
  {
    path: 'heartbeat.reason',
    description: 'Why the agent was woken, as whoever woke it said',
    sensitive: false,
    example: 'A customer wrote',
  },
  {
    path: 'wakeup.payload',
    description: 'What came with the wakeup, as JSON',
    sensitive: false,
    example: '{"ticket":17}',
  },
  {
    path: 'task.id',
    description: 'The id of the task',
    sensitive: false,
    example: '0198c0de-0000-7000-8000-000000000004',
  },
  {
    path: 'task.key',
    description: 'Its key in the plan of its project',
    sensitive: false,
    example: 'B-003-fix-login',
  },
  { path: 'task.title', description: 'Its title', sensitive: false, example: 'Fix login' },
  {
    path: 'task.description',
    description: 'What is to be done',
    sensitive: false,
    example: 'Nobody can log in since Monday.',
  },
  { path: 'task.type', description: 'What kind of task it is', sensitive: false, example: 'coding' },
  { path: 'task.input', description: 'Its input, as JSON', sensitive: false, example: '{"branch":"main"}' },
  { path: 'task.tags', description: 'Its tags, as JSON', sensitive: false, example: '["urgent"]' },
  { path: 'task.project', description: 'The slug of its project', sensitive: false, example: 'shop' },
  {
    path: 'task.attempt',
    description: 'Which attempt this is, counted from 1',
    sensitive: false,
    example: '2',
  },
  {
    path: 'task.generation',
    description: 'Which claim of the task this is',
    sensitive: false,
    example: '3',
  },
  {
    path: 'task.checkpoint',
    description: 'What the last holder left to go on from, as JSON',
    sensitive: false,
    example: '{"filesDone":["login.ts"]}',
  },
  {
    path: 'verdict.previous',
    description: 'What a reviewer said of the attempt before',
    sensitive: false,
    example: 'The test for empty passwords is missing.',
  },
  {
    path: 'upstream.outputs',
    description: 'What the tasks it waited for made, as JSON',
    sensitive: false,
    example: '[{"title":"Find the cause","result":{"file":"login.ts"}}]',
  },
  {
    path: 'baton.skill',
    description: 'How an agent reports to Baton while it works',
    sensitive: false,
    example: BATON_SKILL,
  },
  {
    path: 'paperclip.skill',
    description: 'The same as baton.skill',
    sensitive: false,
    example: BATON_SKILL,
    aliasOf: 'baton.skill',
  },
  {
    path: 'credentials.apiBaseUrl',
    description: 'Where Baton answers; agents have it as BATON_URL too',
    sensitive: false,
    example: 'http://127.0.0.1:4400',
  },
  {
    path: 'credentials.apiKey',
    description: 'The key of the run. It is safer in BATON_API_KEY, where every agent has it anyway',
    sensitive: true,
    example: 'a key that dies with the run',
  },
] as const satisfies readonly PromptVariable[]

type Listed = (typeof PROMPT_VARIABLES)[number]
/** The name under which a value is given. */
export type PromptPath = Exclude<Listed, { aliasOf: string }>['path']
/** By name; what is not there is left out, null or empty. Anything but text is shown as JSON. */
export type PromptValues = { readonly [path in PromptPath]?: unknown }

const byPath = new Map<string, PromptVariable>(PROMPT_VARIABLES.map((variable) => [variable.path, variable]))

/** The name a value goes by, if there is such a variable. */
export function pathCalled(name: string): PromptPath | null {
  const variable = byPath.get(name)
  return variable ? ((variable.aliasOf ?? variable.path) as PromptPath) : null
}

export const isSensitive = (path: PromptPath) => byPath.get(path)!.sensitive

export const sensitivePaths = PROMPT_VARIABLES.filter(({ sensitive }) => sensitive).map(
  ({ path }) => path as PromptPath,
)

/** Longer names are no typos of ours, and comparing them would take its time. */
const LONGEST_TYPO = 60
const MOST_NAMED = 4

/** What whoever wrote this unknown name may have meant, as the end of a sentence; empty when nothing is near. */
export function hintFor(name: string): string {
  const names = [...byPath.keys()]
  const within = names.filter((path) => path.startsWith(`${name}.`))
  if (within.length > 0) {
    const more = within.length > MOST_NAMED ? ', …' : ''
    return `; name a part of it: ${within.slice(0, MOST_NAMED).join(', ')}${more}`
  }
  if (name.length > LONGEST_TYPO) return ''
  const wanted = plain(name)
  const [best] = names
    .map((path) => ({ path, away: stepsBetween(wanted, plain(path)) }))
    .sort((one, other) => one.away - other.away)
  if (best!.away <= Math.min(3, wanted.length / 3)) return `; did you mean ${best!.path}?`
  const ending = names.find((path) => plain(path.slice(path.indexOf('.'))) === wanted)
  return ending ? `; did you mean ${ending}?` : ''
}

/** So that task_title and Task.Title are as near as can be. */
const plain = (name: string) => name.toLowerCase().replace(/[^a-z0-9]/g, '')

/** How many letters must be changed, added or left out to make one of the other (Levenshtein). */
function stepsBetween(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, i) => i)
  for (let i = 1; i <= one.length; i++) {
    const next = [i]
    for (let j = 1; j <= other.length; j++) {
      const changed = row[j - 1]! + (one[i - 1] === other[j - 1] ? 0 : 1)
      next.push(Math.min(changed, row[j]! + 1, next[j - 1]! + 1))
    }
    row = next
  }
  return row[other.length]!
}

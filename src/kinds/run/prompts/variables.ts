import type { AgentRecord } from '../../agent/record.ts'
import { BATON_SKILL } from './texts.ts'

/** The variables of prompt templates. The form and docs/runs.md show this list, and the parser knows no other names. */

interface PromptVariable {
  path: string
  description: string
  /** It never appears in a preview, and a template that uses it gets a warning. */
  sensitive: boolean
  example: string
  /** An alias of that variable: values are passed under that name only. */
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
  { path: 'agent.name', description: 'The name of the agent', sensitive: false, example: 'Dev 1' },
  { path: 'agent.slug', description: 'Its name in URLs', sensitive: false, example: 'dev-1' },
  { path: 'agent.role', description: 'Its role', sensitive: false, example: 'Repairs the web shop' },
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
    description: 'When the run started',
    sensitive: false,
    example: '2026-01-04T06:00:00.000Z',
  },
  {
    path: 'heartbeat.reason',
    description: 'The reason of the wakeup',
    sensitive: false,
    example: 'A customer wrote',
  },
  {
    path: 'wakeup.reason',
    description: 'Why a person or a program woke it, in their words',
    sensitive: false,
    example: 'The customer waits for it',
  },
  {
    path: 'wakeup.payload',
    description: 'The payload of the wakeup, as JSON',
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
    description: 'The description of the task',
    sensitive: false,
    example: 'Login has failed since Monday.',
  },
  { path: 'task.type', description: 'The type of the task', sensitive: false, example: 'coding' },
  {
    path: 'task.purpose',
    description: 'What it is for: work, planning, verification or report',
    sensitive: false,
    example: 'work',
  },
  {
    path: 'task.model',
    description: 'The model that the plan of its mission names for it',
    sensitive: false,
    example: 'opus',
  },
  {
    path: 'task.successCriteria',
    description: 'What its plan demands of the result',
    sensitive: false,
    example: 'All tests pass.',
  },
  {
    path: 'task.outputSchema',
    description: 'The JSON Schema of its result, as JSON',
    sensitive: false,
    example: '{"type":"object"}',
  },
  {
    path: 'task.toolsRequested',
    description: 'The tools that its plan asks for, as JSON',
    sensitive: false,
    example: '["Read"]',
  },
  { path: 'task.input', description: 'Its input, as JSON', sensitive: false, example: '{"branch":"main"}' },
  { path: 'task.tags', description: 'Its tags, as JSON', sensitive: false, example: '["urgent"]' },
  { path: 'task.project', description: 'The slug of its project', sensitive: false, example: 'shop' },
  {
    path: 'task.attempt',
    description: 'The number of the attempt, from 1',
    sensitive: false,
    example: '2',
  },
  {
    path: 'task.maxAttempts',
    description: 'How many attempts the task has',
    sensitive: false,
    example: '4',
  },
  {
    path: 'task.turn',
    description: 'The number of the run within the attempt, from 1: each continuation is another turn',
    sensitive: false,
    example: '1',
  },
  {
    path: 'task.maxTurns',
    description: 'How many turns an attempt has',
    sensitive: false,
    example: '11',
  },
  {
    path: 'task.generation',
    description: 'The generation of the claim',
    sensitive: false,
    example: '3',
  },
  {
    path: 'task.checkpoint',
    description: 'The checkpoint of the last holder, as JSON',
    sensitive: false,
    example: '{"filesDone":["login.ts"]}',
  },
  {
    path: 'task.question',
    description: 'What the last holder asked a person',
    sensitive: false,
    example: 'Which of the two databases is the right one?',
  },
  {
    path: 'task.answer',
    description: 'The answer of that person',
    sensitive: false,
    example: 'The one in Frankfurt.',
  },
  {
    path: 'task.comments',
    description:
      'Comments on the task and its mission that its agent has not seen yet, as JSON, oldest first',
    sensitive: false,
    example: '[{"by":"anna","at":"2026-01-31T12:00:00.000Z","on":"task","text":"Keep the old endpoint."}]',
  },
  {
    path: 'verdict.previous',
    description: 'The comment of a reviewer on the previous attempt',
    sensitive: false,
    example: 'The test for empty passwords is missing.',
  },
  {
    path: 'upstream.outputs',
    description: 'The results of its dependencies, as JSON',
    sensitive: false,
    example: '[{"title":"Find the cause","result":{"file":"login.ts"}}]',
  },
  {
    path: 'upstream.conflicts',
    description: 'Work of its dependencies that could not be merged into its worktree',
    sensitive: false,
    example: '- Build the page: branch baton/…/gen-1, conflicts in page.ts',
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
    description: 'The URL of the Baton API; agents also have it as BATON_URL',
    sensitive: false,
    example: 'http://127.0.0.1:4400',
  },
  {
    path: 'credentials.apiKey',
    description: 'The API key of the run. Safer: use BATON_API_KEY, which every agent has',
    sensitive: true,
    example: 'a key that expires with the run',
  },
] as const satisfies readonly PromptVariable[]

type Listed = (typeof PROMPT_VARIABLES)[number]
/** The name under which a value is passed. */
export type PromptPath = Exclude<Listed, { aliasOf: string }>['path']
/** By name; a missing value is left out, null or empty. Anything but text is shown as JSON. */
export type PromptValues = { readonly [path in PromptPath]?: unknown }

const byPath = new Map<string, PromptVariable>(PROMPT_VARIABLES.map((variable) => [variable.path, variable]))

/** The path of a variable name, if there is such a variable. */
export function pathCalled(name: string): PromptPath | null {
  const variable = byPath.get(name)
  return variable ? ((variable.aliasOf ?? variable.path) as PromptPath) : null
}

export const isSensitive = (path: PromptPath) => byPath.get(path)!.sensitive

export const sensitivePaths = PROMPT_VARIABLES.filter(({ sensitive }) => sensitive).map(
  ({ path }) => path as PromptPath,
)

/** Longer names are not typos of ours, and comparing them is slow. */
const LONGEST_TYPO = 60
const MOST_NAMED = 4

/** Suggests the variable that an unknown name may mean, as the end of a sentence; empty when none is near. */
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
    .map((path) => ({ path, distance: stepsBetween(wanted, plain(path)) }))
    .sort((one, other) => one.distance - other.distance)
  if (best!.distance <= Math.min(3, wanted.length / 3)) return `; did you mean ${best!.path}?`
  const ending = names.find((path) => plain(path.slice(path.indexOf('.'))) === wanted)
  return ending ? `; did you mean ${ending}?` : ''
}

/** Normalized, so that task_title and Task.Title are equal. */
const plain = (name: string) => name.toLowerCase().replace(/[^a-z0-9]/g, '')

/** The number of letters to change, add or remove (Levenshtein distance). */
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

/** What prompts know of their agent. */
export function valuesOfAgent({ uuid, name, slug, runtimeConfig }: AgentRecord): PromptValues {
  const { role, title } = (runtimeConfig ?? {}) as { role?: string; title?: string }
  return {
    'agent.id': uuid,
    'agent.name': name,
    'agent.slug': slug,
    'agent.role': role,
    'agent.title': title,
  }
}

/** What prompts will know of an agent that is not made yet: it is called what its author has written so far. */
export function valuesOfNewAgent(written: { slug?: string; title?: string; role?: string }): PromptValues {
  const { slug, title, role } = written
  return {
    ...(slug !== undefined && { 'agent.name': slug, 'agent.slug': slug }),
    'agent.role': role,
    'agent.title': title,
  }
}

import type { FormValues } from '../../forms/schema-fields.ts'
import type { TemplateName } from './tabs.ts'

/** Agents to begin with. Pure: what a template fills in, and of which type its agent is best. */

interface Template {
  words: string
  text: string
  /** Of the first agent that is made from it. */
  slug: string
  /** Types that suit it, the best first. */
  types: readonly string[]
  values: FormValues
}

const PROGRAMS = ['claude_local', 'codex_local', 'gemini_local', 'opencode_local']

export const TEMPLATES: Readonly<Record<TemplateName, Template>> = {
  coder: {
    words: 'Coder',
    text: 'Changes code on a branch of its own, for review.',
    slug: 'coder-1',
    types: PROGRAMS,
    values: {
      $title: 'Software engineer',
      $role:
        'Changes the code as the task asks, keeps its style, runs the tests, and says what it did and what is left open.',
      $capabilities: 'code',
      $types: '',
      workspace: 'git_worktree',
    },
  },
  reviewer: {
    words: 'Reviewer',
    text: 'Judges the work of others and changes nothing.',
    slug: 'reviewer-1',
    types: PROGRAMS,
    values: {
      $title: 'Reviewer',
      $role:
        'Judges results against what was asked: reads the changes, runs the tests, and names each fault with its place. It changes nothing itself.',
      $capabilities: 'review, verification',
      $types: '',
      workspace: '',
    },
  },
  planner: {
    words: 'Planner',
    text: 'Turns goals into plans of tasks.',
    slug: 'planner-1',
    types: PROGRAMS,
    values: {
      $title: 'Planner',
      $role:
        'Breaks goals into small tasks with clear success criteria, and says which need which others. It does none of them itself.',
      $capabilities: 'planning',
      // Otherwise it takes the tasks that it plans, too.
      $types: 'planning',
      workspace: '',
    },
  },
  script: {
    words: 'Script',
    text: 'Runs a program of yours for each task. No model.',
    slug: 'script-1',
    types: ['process'],
    values: {
      $title: '',
      $role: 'Runs a script on what the task describes.',
      $capabilities: 'script',
      $types: '',
      workspace: '',
      promptTemplate: '{{task.description}}',
    },
  },
}

/** The type for an agent of a template: the best that can be used now, else the best that is allowed. */
export function typeFor(
  template: TemplateName,
  allowed: readonly string[],
  usable: readonly string[],
): string | null {
  const fitting = TEMPLATES[template].types.filter((type) => allowed.includes(type))
  return fitting.find((type) => usable.includes(type)) ?? fitting[0] ?? null
}

/** What is kept of an agent that is duplicated: all but its name, and values that were never shown. */
export function duplicated(config: Readonly<Record<string, unknown>>): {
  config: Record<string, unknown>
  /** Names of variables and headers whose values are to be written again. */
  withoutValue: string[]
} {
  const withoutValue: string[] = []
  const copied = Object.entries(config).map(([name, value]) => {
    if ((name !== 'env' && name !== 'headers') || typeof value !== 'object' || value === null)
      return [name, value]
    const names = Object.keys(value)
    withoutValue.push(...names)
    return [name, Object.fromEntries(names.map((one) => [one, '']))]
  })
  return { config: Object.fromEntries(copied), withoutValue }
}

/** Variables and headers of a copy that still lack their value. */
export function missingValues(
  config: Readonly<Record<string, unknown>>,
  withoutValue: readonly string[],
): Record<string, string> {
  const problems: Record<string, string> = {}
  for (const field of ['env', 'headers']) {
    const values = config[field]
    if (typeof values !== 'object' || values === null) continue
    const empty = Object.entries(values).filter(
      ([name, value]) => withoutValue.includes(name) && value === '',
    )
    if (empty.length > 0)
      problems[field] =
        `Write the value of ${empty.map(([name]) => name).join(', ')}, or remove it: secrets are not copied.`
  }
  return problems
}

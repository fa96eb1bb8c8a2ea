import type { TaskCreate } from '../../../../src/kinds/task/shapes/tasks.ts'

/** A task that is being written, and what the server did not accept of it. Pure. */

export interface Upstream {
  id: string
  words: string
}

export interface Draft {
  title: string
  description: string
  taskType: string
  priority: string
  agent: string
  project: string
  /** Separated by commas. */
  tags: string
  dependsOn: readonly Upstream[]
  verification: (typeof VERIFICATIONS)[number]['value']
  maxRetries: string
}

export const VERIFICATIONS = [
  { value: 'none', words: 'Nobody' },
  { value: 'human', words: 'A person' },
  { value: 'agent', words: 'Another agent' },
  { value: 'auto', words: 'Chosen by Baton' },
] as const

export const EMPTY_DRAFT: Draft = {
  title: '',
  description: '',
  taskType: '',
  priority: '5',
  agent: '',
  project: '',
  tags: '',
  dependsOn: [],
  verification: 'none',
  maxRetries: '',
}

/** For fields left empty, the server decides. */
export function bodyOf(draft: Draft): TaskCreate {
  const { description, taskType, agent, project, dependsOn, verification, maxRetries } = draft
  const tags = draft.tags
    .split(',')
    .map((tag) => tag.trim())
    .filter((tag) => tag !== '')
  return {
    title: draft.title.trim(),
    priority: Number(draft.priority),
    ...(description.trim() !== '' && { description }),
    ...(taskType.trim() !== '' && { taskType: taskType.trim() }),
    ...(agent !== '' && { agent }),
    ...(project !== '' && { project }),
    ...(tags.length > 0 && { tags }),
    ...(dependsOn.length > 0 && { dependsOn: dependsOn.map(({ id }) => id) }),
    ...(verification !== 'none' && { verification: { kind: verification } }),
    // The server refuses what is not a number, at its field.
    ...(maxRetries.trim() !== '' && { maxRetries: Number(maxRetries) }),
  }
}

/** "tags[0]" and "tags.0" are about the field tags. */
const fieldOf = (path: string) => /^\w+/.exec(path)?.[0] ?? ''

/** Each problem at its field; `rest` is what belongs to none. */
export function problemsIn(error: unknown): { byField: Partial<Record<string, string>>; rest: unknown } {
  if (error === null) return { byField: {}, rest: null }
  const { errors = [] } = error as { errors?: readonly { field: string; message: string }[] }
  const byField: Partial<Record<string, string>> = {}
  for (const { field, message } of errors) {
    const name = fieldOf(field)
    if (Object.hasOwn(EMPTY_DRAFT, name)) byField[name] ??= message
  }
  return { byField, rest: Object.keys(byField).length > 0 ? null : error }
}

import type { z } from 'zod'
import type { TaskCreate, TaskPatchBody } from '../../../../../src/kinds/task/shapes/tasks.ts'
import { limitProblems } from '../../budget/budget.ts'
import type { Task } from '../use-task.ts'

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
  /** Limits of all that it uses; '': none. */
  budgetUsd: string
  budgetTokens: string
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
  budgetUsd: '',
  budgetTokens: '',
}

export const tagsIn = (text: string): string[] => [
  ...new Set(
    text
      .split(',')
      .map((tag) => tag.trim())
      .filter((tag) => tag !== ''),
  ),
]

/** For fields left empty, the server decides. */
export function bodyOf(draft: Draft): TaskCreate {
  const { description, taskType, agent, project, dependsOn, verification, maxRetries } = draft
  const tags = tagsIn(draft.tags)
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
    ...(hasBudget(draft) && { budget: budgetOf(draft) }),
  }
}

const hasBudget = ({ budgetUsd = '', budgetTokens = '' }: Partial<Draft>) => budgetUsd + budgetTokens !== ''
const budgetOf = ({ budgetUsd = '', budgetTokens = '' }: Partial<Draft>) => ({
  ...(budgetUsd !== '' && { maxUsd: budgetUsd }),
  ...(budgetTokens !== '' && { maxTokens: Number(budgetTokens) }),
})

/** What is wrong with the limits before they are sent. */
export const budgetProblemsIn = ({ budgetUsd = '', budgetTokens = '' }: Partial<Draft>) =>
  limitProblems({ usd: budgetUsd, tokens: budgetTokens })

/** "tags[0]" and "tags.0" are about the field tags. */
const fieldOf = (path: string) => /^\w+/.exec(path)?.[0] ?? ''

/** Fields of the API that have another name in the form. */
const SHOWN_AT: Record<string, keyof Draft> = {
  ...{ removeDependsOn: 'dependsOn', budget: 'budgetUsd' },
  ...{ 'budget.maxUsd': 'budgetUsd', 'budget.maxTokens': 'budgetTokens' },
}

/** Each problem at its field; `rest` is what belongs to none. */
export function problemsIn(error: unknown): { byField: Partial<Record<string, string>>; rest: unknown } {
  if (error === null) return { byField: {}, rest: null }
  const { errors = [] } = error as { errors?: readonly { field: string; message: string }[] }
  const byField: Partial<Record<string, string>> = {}
  for (const { field, message } of errors) {
    const name = fieldOf(field)
    const shown = SHOWN_AT[field] ?? SHOWN_AT[name] ?? name
    if (Object.hasOwn(EMPTY_DRAFT, shown)) byField[shown] ??= message
  }
  return { byField, rest: Object.keys(byField).length > 0 ? null : error }
}

const verificationOf = ({ verification }: Pick<Task, 'verification'>): Draft['verification'] =>
  verification === null ? 'none' : verification.kind === 'human' ? 'human' : 'auto'

/** A task as its form shows it. */
export const draftOfTask = (task: Task, nameOf: (upstream: Task['blockedBy'][number]) => string): Draft => ({
  title: task.title,
  description: task.description ?? '',
  taskType: task.taskType,
  priority: String(task.priority),
  agent: task.agent ?? '',
  project: task.project ?? '',
  tags: task.tags.join(', '),
  dependsOn: task.blockedBy.map((one) => ({ id: one.taskId, words: nameOf(one) })),
  verification: verificationOf(task),
  maxRetries: String(task.maxRetries),
  budgetUsd: task.budget?.maxUsd ?? '',
  budgetTokens: task.budget?.maxTokens?.toString() ?? '',
})

/** What of a new task the next one begins with: where it belongs, not what it says. */
export const draftOfNext = (draft: Draft): Draft => ({ ...draft, title: '', description: '', dependsOn: [] })

type Patch = z.input<typeof TaskPatchBody>

/** Only what was changed is sent: what others changed meanwhile stays. */
export function patchOf(before: Draft, after: Draft): Patch {
  const ids = ({ dependsOn }: Draft) => dependsOn.map(({ id }) => id)
  const added = ids(after).filter((id) => !ids(before).includes(id))
  const removed = ids(before).filter((id) => !ids(after).includes(id))
  // Drafts that were kept before a field was added do not have it.
  const of = (draft: Partial<Draft>, name: Exclude<keyof Draft, 'dependsOn'>) => (draft[name] ?? '').trim()
  const isChanged = (name: Exclude<keyof Draft, 'dependsOn'>) => of(before, name) !== of(after, name)
  return {
    ...(isChanged('title') && { title: after.title.trim() }),
    ...(isChanged('description') && { description: after.description.trim() || null }),
    ...(isChanged('taskType') && { taskType: after.taskType.trim() }),
    ...(isChanged('priority') && { priority: Number(after.priority) }),
    ...(isChanged('agent') && { agent: after.agent === '' ? null : after.agent }),
    ...(tagsIn(before.tags).join() !== tagsIn(after.tags).join() && { tags: tagsIn(after.tags) }),
    // The server refuses what is not a number, at its field.
    ...(isChanged('maxRetries') && { maxRetries: Number(after.maxRetries) }),
    ...((isChanged('budgetUsd') || isChanged('budgetTokens')) && {
      budget: hasBudget(after) ? budgetOf(after) : null,
    }),
    ...(added.length > 0 && { dependsOn: added }),
    ...(removed.length > 0 && { removeDependsOn: removed }),
  }
}

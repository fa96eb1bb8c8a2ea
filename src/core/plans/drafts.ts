import type { TaskKey } from '../keys.ts'
import { asList, asMap, readFields, SUBTASK_FIELDS, TASK_FIELDS } from './fields.ts'
import { readKey } from './keys.ts'
import type { Entry, Located } from './located.ts'
import { defaultTitle, type PlanTask, type PlanTrack } from './plan.ts'
import { below, type Problems } from './problems.ts'

/** A task as far as it could be read, with the lines of its parts. */
export interface Draft {
  task: PlanTask
  /** Null when the task has no valid key of its own. */
  key: TaskKey | null
  path: string
  idLine: number
  dependencies: Dependency[]
  parent: Draft | null
  subtasks: Draft[]
}

export interface Dependency {
  key: string
  line: number
  path: string
}

/** A track as far as it could be read. */
export interface DraftTrack extends Omit<PlanTrack, 'tasks'> {
  tasks: Draft[]
}

/** A task of a track with its subtasks, or null when it is not even a mapping. */
export function readTask(node: Located, path: string, problems: Problems): Draft | null {
  const map = asMap(node, 'a mapping with an id', node.line, path, problems)
  if (!map) return null
  const { values, entries } = readFields(map, TASK_FIELDS, 'a task', path, problems)
  const idLine = entries.get('id')?.line ?? map.line
  const key = ownKey(values.id, idLine, below(path, 'id'), problems)
  const draft = draftOf(values, entries, values.id ?? '', key, map.line, path)

  const list = entries.get('subtasks')
  const inside = below(path, 'subtasks')
  const subtasks = list ? asList(list.value, 'a list of subtasks', list.line, inside, problems) : []
  subtasks.forEach((item, i) => {
    const subtask = readSubtask(item, i + 1, draft, below(inside, i), problems)
    if (subtask) draft.subtasks.push(subtask)
  })
  draft.task.subtasks = draft.subtasks.map((subtask) => subtask.task)
  if (subtasks.length > 0) draft.task.merge = values.merge ?? 'object'
  else if (values.merge !== undefined)
    problems.report(entries.get('merge')!.line, below(path, 'merge'), 'is only for tasks with subtasks')
  return draft
}

function ownKey(id: string | undefined, line: number, path: string, problems: Problems): TaskKey | null {
  if (id === undefined) return null
  const { key, wrong } = readKey(id)
  for (const message of wrong ?? []) problems.report(line, path, message)
  if (key === null || key.subtask === null) return key
  problems.report(line, path, 'is the key of a subtask; subtasks go into the list `subtasks` of their task')
  return null
}

function readSubtask(
  node: Located,
  place: number,
  parent: Draft,
  path: string,
  problems: Problems,
): Draft | null {
  const map = asMap(node, 'a mapping', node.line, path, problems)
  if (!map) return null
  const { values, entries } = readFields(map, SUBTASK_FIELDS, 'a subtask', path, problems)
  const idLine = entries.get('id')?.line ?? map.line
  const key = `${parent.task.key}::${place}`
  if (parent.key && values.id !== undefined && values.id !== key)
    problems.report(idLine, below(path, 'id'), `must be ${key}, by its position in the list, or be left out`)
  const parts = parent.key && { ...parent.key, subtask: place }
  return { ...draftOf(values, entries, key, parts, map.line, path), parent }
}

type Values = ReturnType<typeof readFields<typeof SUBTASK_FIELDS>>['values']

function draftOf(
  values: Values,
  entries: ReadonlyMap<string, Entry>,
  key: string,
  parts: TaskKey | null,
  line: number,
  path: string,
): Draft {
  const description = values.description ?? null
  const task: PlanTask = {
    key,
    title: values.title ?? defaultTitle(key, description),
    description,
    taskType: values.type,
    priority: values.priority,
    dependsOn: values.depends_on,
    triggerRule: values.trigger_rule,
    tags: values.tags,
    requiredCapabilities: values.capabilities,
    agent: values.agent ?? null,
    maxRetries: values.max_retries,
    maxContinuations: values.max_continuations,
    input: values.input ?? null,
    merge: null,
    subtasks: [],
    line,
  }
  const idLine = entries.get('id')?.line ?? line
  const dependencies = dependenciesIn(entries.get('depends_on')?.value, below(path, 'depends_on'))
  return { task, key: parts, path, idLine, dependencies, parent: null, subtasks: [] }
}

/** Every dependency that is text, even when others in the list are not. */
function dependenciesIn(node: Located | undefined, path: string): Dependency[] {
  if (node?.kind !== 'list') return []
  return node.items.flatMap((item, i) =>
    item.kind === 'scalar' && typeof item.value === 'string'
      ? [{ key: item.value, line: item.line, path: below(path, i) }]
      : [],
  )
}

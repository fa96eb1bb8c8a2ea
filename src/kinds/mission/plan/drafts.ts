import type { TaskKey } from '../../task/rules/task-keys.ts'
import { asList, asMap, type Fields, readFields } from './fields.ts'
import { readKey } from './keys.ts'
import type { Position } from './lines.ts'
import type { Located } from './located.ts'
import { below, type Path } from './path.ts'
import { defaultTitle, type PlanTask, type PlanTrack } from './plan.ts'
import type { Problems } from './problems.ts'
import { SUBTASK_FIELDS, TASK_FIELDS } from './project-fields.ts'

/** A task as far as it could be read, with the places of its parts. */
export interface Draft {
  task: PlanTask
  /** Null when the task has no valid key of its own. */
  key: TaskKey | null
  at: Position
  path: Path
  idAt: Position
  idPath: Path
  dependencies: Dependency[]
  parent: Draft | null
  subtasks: Draft[]
}

export interface Dependency {
  key: string
  at: Position
  path: Path
}

/** A track as far as it could be read. */
export interface DraftTrack extends Omit<PlanTrack, 'tasks'> {
  tasks: Draft[]
}

/** A task of a track with its subtasks, or null when it is not even a mapping. */
export function readTask(node: Located, path: Path, problems: Problems): Draft | null {
  const map = asMap(node, 'a mapping with an id', node.at, path, problems)
  if (!map) return null
  const fields = readFields(map, TASK_FIELDS, 'a task', path, problems)
  const { values, entries, pathTo } = fields
  const idAt = entries.get('id')?.at ?? map.at
  const key = ownKey(values.id, idAt, pathTo('id'), problems)
  const draft = draftOf(fields, values.id ?? '', key, map.at, path)

  const list = entries.get('subtasks')
  const inside = pathTo('subtasks')
  const subtasks = list ? asList(list.value, 'a list of subtasks', list.at, inside, problems) : []
  subtasks.forEach((item, i) => {
    const subtask = readSubtask(item, i + 1, draft, below(inside, i), problems)
    if (subtask) draft.subtasks.push(subtask)
  })
  draft.task.subtasks = draft.subtasks.map((subtask) => subtask.task)
  if (subtasks.length > 0) draft.task.merge = values.merge ?? 'object'
  else if (values.merge !== undefined)
    problems.report(entries.get('merge')!.at, pathTo('merge'), 'is only for tasks with subtasks')
  return draft
}

function ownKey(id: string | undefined, at: Position, path: Path, problems: Problems): TaskKey | null {
  if (id === undefined) return null
  const { key, wrong } = readKey(id)
  for (const message of wrong ?? []) problems.report(at, path, message)
  if (key === null || key.subtask === null) return key
  problems.report(at, path, 'is the key of a subtask; subtasks go into the list `subtasks` of their task')
  return null
}

function readSubtask(
  node: Located,
  place: number,
  parent: Draft,
  path: Path,
  problems: Problems,
): Draft | null {
  const map = asMap(node, 'a mapping', node.at, path, problems)
  if (!map) return null
  const fields = readFields(map, SUBTASK_FIELDS, 'a subtask', path, problems)
  const { values, entries, pathTo } = fields
  const key = `${parent.task.key}::${place}`
  if (parent.key && values.id !== undefined && values.id !== key) {
    const idAt = entries.get('id')?.at ?? map.at
    problems.report(idAt, pathTo('id'), `must be ${key}, by its position in the list, or be left out`)
  }
  const parts = parent.key && { ...parent.key, subtask: place }
  return { ...draftOf(fields, key, parts, map.at, path), parent }
}

function draftOf(
  { values, entries, pathTo }: Fields<typeof SUBTASK_FIELDS>,
  key: string,
  parts: TaskKey | null,
  at: Position,
  path: Path,
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
    line: at.line,
  }
  const idAt = entries.get('id')?.at ?? at
  const dependencies = dependenciesIn(entries.get('depends_on')?.value, pathTo('depends_on'))
  return { task, key: parts, at, path, idAt, idPath: pathTo('id'), dependencies, parent: null, subtasks: [] }
}

/** Every dependency that is text, even when others in the list are not. */
function dependenciesIn(node: Located | undefined, path: Path): Dependency[] {
  if (node?.kind !== 'list') return []
  return node.items.flatMap((item, i) =>
    item.kind === 'scalar' && typeof item.value === 'string'
      ? [{ key: item.value, at: item.at, path: below(path, i) }]
      : [],
  )
}

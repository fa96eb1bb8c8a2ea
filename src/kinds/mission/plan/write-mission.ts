import { MissionTaskShape } from './mission-fields.ts'
import type { MissionEdge, MissionPlan, MissionTask } from './mission-plan.ts'
import { defaultTitle } from './plan.ts'

/** YAML writes short lists on one line, with nodes of its own in their place. */
type WriteList = (list: string[]) => string[]

/** A mission's plan in camelCase, as requests have it. Default values are left out. */
export function missionAsWritten({ tasks, ...plan }: MissionPlan, list: WriteList): Record<string, unknown> {
  return { ...withoutNulls(plan), tasks: tasks.map((task) => taskAsWritten(task, list)) }
}

const { taskType, triggerRule } = MissionTaskShape.shape
const BY_DEFAULT = { taskType: taskType.parse(undefined), triggerRule: triggerRule.parse(undefined) }

function taskAsWritten(task: MissionTask, list: WriteList): Record<string, unknown> {
  const { tempId, title, description, optional, cancel, dependsOn, ...rest } = task
  const named = (field: 'taskType' | 'triggerRule') =>
    task[field] === BY_DEFAULT[field] ? null : task[field]
  const lists = Object.entries(rest).filter((entry): entry is [string, string[]] => Array.isArray(entry[1]))
  return withoutNulls({
    tempId,
    title: title === defaultTitle(tempId, description) ? null : title,
    description,
    ...rest,
    ...Object.fromEntries(lists.map(([name, items]) => [name, items.length > 0 ? list(items) : null])),
    // Free JSON, even if it is an empty list.
    input: task.input,
    taskType: named('taskType'),
    triggerRule: named('triggerRule'),
    dependsOn: dependsOn.length > 0 ? edgesAsWritten(dependsOn, list) : null,
    optional: optional || null,
    cancel: cancel || null,
  })
}

/** A data edge is the id alone. */
function edgesAsWritten(edges: readonly MissionEdge[], list: WriteList): unknown[] {
  const written = edges.map(({ on, kind }) => (kind === 'data' ? on : { on, kind }))
  return written.every((edge) => typeof edge === 'string') ? list(written) : written
}

const withoutNulls = (fields: object): Record<string, unknown> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined))

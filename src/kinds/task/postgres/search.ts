import type { TaskFilter } from '../../../kernel/store/store.ts'
import type { Purpose } from '../record.ts'
import { trackQueuesOf } from '../rules/task-keys.ts'

/** Further filters for a list of tasks, supported here only. */
export interface TaskSearch extends TaskFilter {
  tag?: string | undefined
  agent?: string | undefined
  projectId?: number | undefined
  track?: string | undefined
  parentId?: number | undefined
  missionId?: number | undefined
  purpose?: Purpose | undefined
  /** Held by this agent now. */
  heldBy?: string | undefined
  priorityMin?: number | undefined
  text?: string | undefined
  archived?: boolean | undefined
}

/** The numbers of tasks with this tag, by its index. Some may have lost it: their tags are compared as well. $1 is the workspace. */
export const taggedTasks = (tag: string) =>
  `select g.task_id from task_tags g where g.workspace_id = $1 and g.tag = ${tag}::text`

/** The condition on tasks t and task_details d; the workspace is $1, the other values follow. */
export function conditionOf(workspaceId: number, filter: TaskSearch): { where: string; values: unknown[] } {
  const conditions = ['t.workspace_id = $1']
  const values: unknown[] = [workspaceId]
  const where = (condition: string, value: unknown) => {
    values.push(value)
    conditions.push(condition.replaceAll('?', `$${values.length}`))
  }
  if (filter.states) where('t.state = any(?::text[])', filter.states)
  if (filter.tag !== undefined)
    where(`t.id in (${taggedTasks('?')}) and d.tags @> array[?::text]`, filter.tag)
  if (filter.agent !== undefined) where('t.agent = ?', filter.agent)
  if (filter.heldBy !== undefined)
    where(
      `t.id = any(array(select h.id from tasks h where h.workspace_id = $1 and h.agent = ? and h.claim_state = 'active'))`,
      filter.heldBy,
    )
  if (filter.priorityMin !== undefined) where('t.priority >= ?', filter.priorityMin)
  if (filter.text !== undefined) where(`position(lower(?) in lower(d.title)) > 0`, filter.text)
  if (filter.userId !== undefined) where('d.user_ref = ?', filter.userId)
  if (filter.deadLetters) conditions.push(`d.exhausted is not null and t.state = 'failed'`)
  if (filter.projectId !== undefined) where('t.project_id = ?', filter.projectId)
  if (filter.track !== undefined) where('t.track_queue = any(?::text[])', trackQueuesOf(filter.track))
  if (filter.parentId !== undefined) where('t.parent_id = ?', filter.parentId)
  if (filter.missionId !== undefined) where('t.mission_id = ?', filter.missionId)
  // Verifications, planning and reports are shown with what they serve, not among the work.
  where('t.purpose = ?', filter.purpose ?? 'work')
  if (filter.before !== undefined) where('t.id < ?', filter.before)
  conditions.push(filter.archived ? 't.archived_at is not null' : 't.archived_at is null')
  return { where: conditions.join(' and '), values }
}

export const TASKS_WITH_DETAILS =
  'from tasks t join task_details d on d.workspace_id = t.workspace_id and d.task_id = t.id'

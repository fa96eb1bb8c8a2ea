import { type Refusal, refuse, refuseField } from '../../../pure/errors.ts'
import type { TaskReply } from '../../replies.ts'
import type { Adder, NewTask } from '../command.ts'
import type { TaskDraft, TaskRecord } from '../record.ts'
import { type Outside, whyNotHolder } from './acting.ts'
import { judgeFence } from './fence.ts'
import type { ChildRoot } from './groups.ts'

/** Tasks that the holder of a task adds to its mission, or, outside of missions, below its own. They are not parts of that task: nothing waits for them unless it depends on them. */

/** In a mission over its whole life, or below one task of no mission. */
const MOST_CHILDREN = 100
/** Children of children of children. */
const DEEPEST_CHILDREN = 3

/** How deep a task is: 0 for those that no agent added. */
export const depthOf = ({ children }: Pick<TaskRecord, 'children'>): number => children?.childDepth ?? 0

/** The task of no mission that counts what is below it: the first one that added tasks. */
export const rootOf = ({ id, uuid, children }: Pick<TaskRecord, 'id' | 'uuid' | 'children'>): ChildRoot =>
  children?.childRoot ?? { id, uuid }

/** Whether both are of one mission, or, outside of missions, below one task. */
export const areTogether = (one: TaskRecord, other: TaskRecord): boolean =>
  one.missionId === null
    ? other.missionId === null && rootOf(one).id === rootOf(other).id
    : one.missionId === other.missionId

/** An agent added a task below it. No change that people see. */
export function countChild(draft: TaskDraft): TaskReply {
  const { record } = draft
  record.children = { ...record.children, childCount: (record.children?.childCount ?? 0) + 1 }
  draft.mark()
  return { ok: true, reason: 'DONE', record }
}

/**
 * Why this task is not added. `adder` is the present record, under its lock; `children` are all that its mission has had, or that are below its root, counted
 * under the lock of that.
 */
export function whyNotAdded(
  task: NewTask,
  by: Adder,
  adder: TaskRecord | undefined,
  children: number,
  { now, outside }: { now: number; outside: Outside | undefined },
  field: (name: string) => string,
): Refusal | null {
  if (adder?.uuid !== by.uuid) return refuse('NOT_FOUND', `There is no task ${by.uuid} in this workspace.`)
  const stale = judgeFence(adder, by.fence, now, 'STALE_OR_FUTURE')
  if (stale) return stale
  const foreign = whyNotHolder(outside, adder.agent!, adder.purpose)
  if (foreign) return foreign
  if (adder.missionId !== task.missionId)
    return refuse('WRONG_STATE', 'A task of a mission adds tasks only to its own mission.')
  if (adder.missionId === null && by.root?.id !== rootOf(adder).id)
    return refuse('WRONG_STATE', 'A task of no mission adds tasks only below itself.')
  if (adder.purpose !== 'work')
    return refuse('WRONG_STATE', `A task of purpose ${adder.purpose} adds no tasks.`)
  if (task.details.plan?.verification?.kind === 'command')
    return refuseField('VALIDATION_FAILED', field('verification'), 'cannot be a command: an agent added it')
  if (task.priority > adder.priority)
    return refuseField(
      'VALIDATION_FAILED',
      field('priority'),
      `is higher than ${adder.priority}, the priority of the task that adds it`,
    )
  if (depthOf(adder) >= DEEPEST_CHILDREN)
    return refuse('LIMIT_REACHED', `Tasks are added ${DEEPEST_CHILDREN} levels deep at most.`, {
      limit: DEEPEST_CHILDREN,
    })
  if (children >= MOST_CHILDREN)
    return refuse('LIMIT_REACHED', `Agents have added ${MOST_CHILDREN} tasks ${whereOf(adder)} already.`, {
      limit: MOST_CHILDREN,
    })
  return null
}

const whereOf = ({ missionId }: TaskRecord) =>
  missionId === null ? 'below the first of these tasks' : 'to this mission'

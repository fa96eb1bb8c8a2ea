import type { Adder, NewTask } from '../commands.ts'
import { type Refusal, refuse, refuseField } from '../errors.ts'
import type { TaskRecord } from '../records.ts'
import { judgeFence } from './fence.ts'

/** Tasks that the holder of a task adds to its mission. They are not parts of that task: nothing waits for them unless it depends on them. */

/** In a mission, over its whole life. */
const MOST_CHILDREN = 100
/** Children of children of children. */
const DEEPEST_CHILDREN = 3

/** How deep a task is: 0 for those that no agent added. */
export const depthOf = ({ watch }: Pick<TaskRecord, 'watch'>): number => watch?.childDepth ?? 0

/**
 * Why this task is not added. `adder` is the present record, under its lock; `children` are all that its mission has had, counted
 * under the lock of the mission.
 */
export function whyNotAdded(
  task: NewTask,
  by: Adder,
  adder: TaskRecord | undefined,
  children: number,
  now: number,
  field: (name: string) => string,
): Refusal | null {
  if (adder?.uuid !== by.uuid) return refuse('NOT_FOUND', `There is no task ${by.uuid} in this workspace.`)
  const stale = judgeFence(adder, by.fence, now, 'STALE_OR_FUTURE')
  if (stale) return stale
  if (adder.missionId === null || adder.missionId !== task.missionId)
    return refuse('WRONG_STATE', 'Only a task of a mission can add tasks, and only to its own mission.')
  if (adder.purpose !== 'work')
    return refuse('WRONG_STATE', `A task of purpose ${adder.purpose} adds no tasks to its mission.`)
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
    return refuse('LIMIT_REACHED', `Agents have added ${MOST_CHILDREN} tasks to this mission already.`, {
      limit: MOST_CHILDREN,
    })
  return null
}

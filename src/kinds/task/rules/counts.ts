import { type TaskState, taskStates } from '../../../pure/states.ts'
import type { TaskRecord } from '../record.ts'

/** How many tasks a workspace has in each state: work that is not archived, as a board shows it. */

type Counted = Pick<TaskRecord, 'state' | 'purpose' | 'archivedAt'>

const counts = ({ purpose, archivedAt }: Counted) => purpose === 'work' && archivedAt === null

/** What a batch adds to the numbers, in the order of `taskStates`. */
export function countChanges(
  changed: readonly (Counted & { readonly id: number })[],
  created: readonly Counted[],
  before: (id: number) => Counted,
): number[] {
  const byState = new Map<TaskState, number>()
  const add = (task: Counted, change: number) => {
    if (counts(task)) byState.set(task.state, (byState.get(task.state) ?? 0) + change)
  }
  for (const task of changed) {
    const was = before(task.id)
    if (was.state === task.state && was.archivedAt === task.archivedAt) continue
    add(was, -1)
    add(task, 1)
  }
  for (const task of created) add(task, 1)
  return taskStates.map((state) => byState.get(state) ?? 0)
}

export const NO_COUNT_CHANGES: readonly number[] = taskStates.map(() => 0)

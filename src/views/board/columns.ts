import { idCarriedBy } from '../../pure/ids.ts'
import { TASK_STATES, type TaskState, taskStates } from '../../pure/states.ts'

/** The columns of a board, and the order of the tasks in each. */

export const BOARD_COLUMNS = ['inbox', 'assigned', 'in_progress', 'review', 'done'] as const
export type BoardColumn = (typeof BOARD_COLUMNS)[number]

export const statesIn = (column: BoardColumn): TaskState[] =>
  taskStates.filter((state) => TASK_STATES[state].board === column)

/** `priority`: urgent and then old ones first; `stateSince`: the oldest first; `completedAt`: the newest first. */
export const COLUMN_ORDER = {
  inbox: 'priority',
  assigned: 'stateSince',
  in_progress: 'stateSince',
  review: 'stateSince',
  done: 'completedAt',
} as const satisfies Record<BoardColumn, string>

/** Most cards that one request reads: as many as a graph draws tasks. */
export const MOST_CARDS = 400

interface Placed {
  id: string
  priority: number
  createdAt: number
  stateSince: number
  completedAt: number | null
}

/** The place of a task in its column: the smaller of two places comes first. */
export function placeIn(column: BoardColumn, task: Placed): number[] {
  const id = idCarriedBy(task.id)!
  if (column === 'inbox') return [-task.priority, task.createdAt, id]
  return column === 'done' ? [-task.completedAt!, -id] : [task.stateSince, id]
}

export function comparePlaces(a: readonly number[], b: readonly number[]): number {
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return a[i]! - b[i]!
  return 0
}

import { TASK_STATES, type TaskState, taskStates } from '../../../pure/states.ts'
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

/** How many tasks a project has: work that is pending, work that is completed, and claims, as metrics show them. */
export interface ProjectCounts {
  projectId: number
  pending: number
  completed: number
  activeClaims: number
}

type CountedInProject = Counted & Pick<TaskRecord, 'projectId' | 'claimState' | 'session'>

const isPending = (task: Counted) => counts(task) && TASK_STATES[task.state].type === 'pending'
const isCompleted = (task: Counted) => counts(task) && task.state === 'completed'
const isClaimed = ({ claimState, session }: CountedInProject) => claimState === 'active' && session !== null

/** What a batch adds to the numbers of projects, in the order in which their rows are locked. */
export function projectChanges(
  changed: readonly (CountedInProject & { readonly id: number })[],
  created: readonly CountedInProject[],
  before: (id: number) => CountedInProject,
): ProjectCounts[] {
  const byProject = new Map<number, ProjectCounts>()
  const add = (task: CountedInProject, change: number) => {
    const { projectId } = task
    if (projectId === 0) return
    const sum = byProject.get(projectId) ?? { projectId, pending: 0, completed: 0, activeClaims: 0 }
    byProject.set(projectId, sum)
    if (isPending(task)) sum.pending += change
    if (isCompleted(task)) sum.completed += change
    if (isClaimed(task)) sum.activeClaims += change
  }
  for (const task of changed) {
    add(before(task.id), -1)
    add(task, 1)
  }
  for (const task of created) add(task, 1)
  return [...byProject.values()]
    .filter(({ pending, completed, activeClaims }) => pending !== 0 || completed !== 0 || activeClaims !== 0)
    .sort((a, b) => a.projectId - b.projectId)
}

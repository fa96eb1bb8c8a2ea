import { isBeingPlanned } from '../kinds/mission/rules/outcome.ts'
import type { TaskRecord } from '../kinds/task/record.ts'
import { isTerminal } from '../pure/states.ts'
import { byId } from './missions.ts'
import { heldTasks, type Workspace } from './workspace.ts'

/** Tasks that serve others, in the memory store. */

export const verificationsOf = ({ tasks }: Workspace, taskId: number): TaskRecord[] =>
  [...tasks.values()].filter(({ serves }) => serves?.taskId === taskId).sort((a, b) => b.id - a.id)

/** As in Postgres (upkeep/verifications.ts). */
export const busySince = (workspace: Workspace, slugs: readonly string[], before: number): string[] => {
  const held = heldTasks(workspace).filter(({ acquiredAt }) => acquiredAt !== null && acquiredAt < before)
  return slugs.filter((slug) => held.some(({ agent }) => agent === slug))
}

/** As in Postgres (upkeep/verifications.ts). */
export const orphanTasks = (workspace: Workspace) =>
  [...workspace.tasks.values()]
    .filter((task) => !isTerminal(task.state) && isOrphan(workspace, task))
    .map(({ id, uuid }) => ({ workspaceId: workspace.id, id, uuid }))

function isOrphan(workspace: Workspace, { purpose, serves, missionId }: TaskRecord): boolean {
  if (purpose === 'planning') return !isBeingPlanned(byId(workspace, missionId!)!)
  const judged = serves && workspace.tasks.get(serves.taskId)
  return (
    purpose === 'verification' && !(judged?.state === 'verifying' && judged.generation === serves!.generation)
  )
}

export const newestPlanning = ({ tasks }: Workspace, id: number): number | null =>
  [...tasks.values()].filter(({ missionId, purpose }) => missionId === id && purpose === 'planning').at(-1)
    ?.id ?? null

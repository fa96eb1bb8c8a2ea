import { dependencyName, heldName, keyName, type ReadSet } from '../kernel/batch/requests.ts'
import type { Worker } from '../kinds/task/command.ts'
import type { TaskRecord } from '../kinds/task/record.ts'
import type { PastHolder } from '../kinds/task/rules/claim-request.ts'
import type { CountedDependency } from '../kinds/task/rules/upstream-counts.ts'
import { copyOf, heldTasks, type Workspace } from './workspace.ts'

/** The parts of a view that need more than one map. */

export function sessionIn(workspace: Workspace, name: string, show: (record: TaskRecord) => void) {
  const record = workspace.sessions.get(name)
  if (!record) return null
  const holding = heldTasks(workspace, name)
  holding.forEach(show)
  const lost = [...workspace.claims].flatMap(([taskId, claims]) =>
    claims
      .filter(
        ({ session, state, endedAt }) =>
          session === name && (state === 'expired' || state === 'superseded') && endedAt! > record.lastSeenAt,
      )
      .map(({ generation, endReason, endedAt }) => ({
        taskId: workspace.tasks.get(taskId)!.uuid,
        generation,
        reason: endReason!,
        at: endedAt!,
      })),
  )
  return { record: copyOf(record), holding: holding.map(({ id }) => id), lost }
}

export function workerIn(workspace: Workspace, name: string): Worker | null {
  const record = workspace.sessions.get(name)
  return record ? { record: copyOf(record), held: heldTasks(workspace, name).length } : null
}

export function pastHolders(workspace: Workspace, readSet: ReadSet): Map<string, PastHolder> {
  const holders = new Map<string, PastHolder>()
  for (const { taskId, generation } of readSet.offered) {
    const claim = workspace.claims.get(taskId)?.find((one) => one.generation === generation)
    if (claim) holders.set(heldName(taskId, generation), claim)
  }
  return holders
}

export function dependenciesIn(workspace: Workspace, readSet: ReadSet): Map<string, CountedDependency> {
  const found = new Map<string, CountedDependency>()
  for (const { taskId, dependsOn } of readSet.dependencies) {
    const dependency = workspace.dependencies.get(taskId)?.get(dependsOn)
    if (dependency) found.set(dependencyName(taskId, dependsOn), dependency)
  }
  return found
}

export function takenKeys(workspace: Workspace, readSet: ReadSet): Set<string> {
  if (readSet.newKeys.length === 0) return new Set()
  const given = new Set(
    [...workspace.tasks.values()].map(({ projectId, key }) => (key === null ? '' : keyName(projectId, key))),
  )
  return new Set(
    readSet.newKeys.map(({ projectId, key }) => keyName(projectId, key)).filter((name) => given.has(name)),
  )
}

export const can = (task: TaskRecord, capabilities: readonly string[]) =>
  task.capabilities.every((one) => capabilities.includes(one))

/** Whether an agent that takes only work of these types takes the task. */
export const isOfTypes = (
  { details }: Workspace,
  { id, purpose }: TaskRecord,
  types: readonly string[] | undefined,
): boolean => types === undefined || purpose !== 'work' || types.includes(details.get(id)!.taskType)

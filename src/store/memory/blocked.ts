import { isTerminal } from '../../core/states.ts'
import type { BlockedTask, Direction, Walked } from '../store.ts'
import { walk } from '../walk.ts'
import type { Workspace } from './workspace.ts'

/** Tasks that depend on others. */

export function blockedTasks(workspace: Workspace): BlockedTask[] {
  return [...workspace.tasks.values()]
    .filter(({ blocked }) => blocked)
    .map(({ id, uuid, version, merge }) => {
      const dependencies = workspace.dependencies.get(id)!
      return {
        workspaceId: workspace.id,
        taskId: id,
        uuid,
        version,
        merge,
        triggerRule: dependencies[0]!.rule,
        upstream: dependencies.map(({ on }) => workspace.tasks.get(on)!.state),
      }
    })
}

export const forgottenIn = (workspace: Workspace): BlockedTask[] =>
  blockedTasks(workspace).filter(
    ({ taskId, upstream }) =>
      workspace.tasks.get(taskId)!.state === 'pending' &&
      (upstream.every(isTerminal) || upstream.some((state) => isTerminal(state) && state !== 'completed')),
  )

export const dependenciesOf = ({ dependencies, tasks }: Workspace, taskId: number) =>
  (dependencies.get(taskId) ?? []).map(({ on, rule }) => {
    const { uuid, state } = tasks.get(on)!
    return { uuid, state, triggerRule: rule }
  })

export function blockedFrom(
  { tasks, dependencies }: Workspace,
  taskIds: readonly number[],
  way: Direction,
  limit: number,
): Promise<Walked> {
  const blockedAmong = async (ids: readonly number[]) =>
    ids.flatMap((id) => {
      const task = tasks.get(id)
      if (!task?.blocked || isTerminal(task.state)) return []
      const waitsFor = dependencies.get(id)!.map(({ on }) => on)
      return { id, uuid: task.uuid, version: task.version, isPaused: task.state === 'paused', waitsFor }
    })
  const waitingFor = async (ids: readonly number[]) =>
    [...dependencies].filter(([, own]) => own.some(({ on }) => ids.includes(on))).map(([id]) => id)
  return walk(taskIds, way, limit, { blockedAmong, waitingFor })
}

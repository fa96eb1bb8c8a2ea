import type { BlockedTask, Direction, StoredDependency, Walked } from '../kernel/store/store.ts'
import { walk } from '../kernel/store/walk.ts'
import type { TaskRecord } from '../kinds/task/record.ts'
import { outcomeOf, readinessOf, type UpstreamReport } from '../kinds/task/rules/upstream-counts.ts'
import { isTerminal } from '../pure/states.ts'
import type { Workspace } from './workspace.ts'

/** Tasks that depend on others. */

const isWaiting = ({ blocked, state }: TaskRecord) => blocked && !isTerminal(state)

/** The state of an upstream task, if another one was counted. */
function uncounted({ tasks, dependencies }: Workspace, taskId: number, on: number): UpstreamReport[] {
  const { uuid, version, state } = tasks.get(on)!
  const outcome = outcomeOf(state)
  const isCounted = dependencies.get(taskId)!.get(on)!.outcome === outcome
  return isCounted ? [] : [{ dependsOn: on, uuid, version, outcome }]
}

const blockedTask = (workspaceId: number, task: TaskRecord, edges: UpstreamReport[]): BlockedTask => ({
  workspaceId,
  taskId: task.id,
  uuid: task.uuid,
  version: task.version,
  merge: task.merge,
  upstream: task.upstream,
  edges,
})

export function downstreamOf(workspace: Workspace, taskIds: readonly number[]): BlockedTask[] {
  const found = new Map<number, BlockedTask>()
  for (const on of new Set(taskIds))
    for (const id of workspace.dependents.get(on) ?? []) {
      const task = workspace.tasks.get(id)!
      if (!isWaiting(task)) continue
      const edges = uncounted(workspace, id, on)
      if (edges.length === 0 && task.upstream !== null) continue
      const known = found.get(id)
      if (known) known.edges.push(...edges)
      else found.set(id, blockedTask(workspace.id, task, edges))
    }
  return [...found.values()]
}

/** Its parts are counted, and their results are to be merged. */
const isToBeMerged = ({ merge, state, upstream }: TaskRecord) =>
  merge === 'object' && state === 'pending' && upstream !== null && readinessOf(upstream) === 'ready'

export function missedAmong(workspace: Workspace, taskIds: readonly number[]): BlockedTask[] {
  const missed: BlockedTask[] = []
  const dependents = taskIds.flatMap((id) => [...(workspace.dependents.get(id) ?? [])])
  for (const id of new Set([...taskIds, ...dependents].sort((a, b) => a - b))) {
    const task = workspace.tasks.get(id)
    if (!task || !isWaiting(task)) continue
    const own = [...workspace.dependencies.get(task.id)!.keys()]
    const edges = own.flatMap((on) => uncounted(workspace, task.id, on))
    if (task.upstream === null || edges.length > 0 || isToBeMerged(task))
      missed.push(blockedTask(workspace.id, task, edges))
  }
  return missed
}

export const dependenciesOf = ({ dependencies, tasks }: Workspace, taskId: number): StoredDependency[] =>
  [...(dependencies.get(taskId) ?? [])].map(([on, { rule, kind, countedVersion, outcome }]) => {
    const { uuid, state, version } = tasks.get(on)!
    return { uuid, state, version, triggerRule: rule, kind, countedVersion, outcome }
  })

export function blockedFrom(
  { tasks, dependencies, dependents }: Workspace,
  taskIds: readonly number[],
  way: Direction,
  limit: number,
): Promise<Walked> {
  const blockedAmong = async (ids: readonly number[]) =>
    ids.flatMap((id) => {
      const task = tasks.get(id)
      if (!task?.blocked || isTerminal(task.state)) return []
      const waitsFor = [...dependencies.get(id)!.keys()]
      return { id, uuid: task.uuid, version: task.version, isPaused: task.state === 'paused', waitsFor }
    })
  const waitingFor = async (ids: readonly number[]) => ids.flatMap((id) => [...(dependents.get(id) ?? [])])
  return walk(taskIds, way, limit, { blockedAmong, waitingFor })
}

import type { ServerKernel } from '../../../door/server-kernel.ts'
import type { Caller } from '../../../kernel/kernel.ts'
import type { StoredTask } from '../../../kernel/store/store.ts'
import { listTracks, type Project } from '../../project/postgres.ts'
import { tasksOfProject, triggerRulesOf } from '../../task/postgres/plan-tasks.ts'
import { parseTaskKey } from '../../task/rules/task-keys.ts'
import type { Plan, PlanTask } from '../plan/plan.ts'

/** The plan of the current tasks. Importing it again changes nothing. */
export async function exportPlan(
  kernel: ServerKernel,
  { workspaceId }: Caller,
  project: Project,
): Promise<Plan> {
  const { readers } = kernel.store
  const [tasks, tracks, rules] = await Promise.all([
    tasksOfProject(readers, workspaceId, project.projectId),
    listTracks(readers, workspaceId, project.projectId),
    triggerRulesOf(readers, workspaceId, project.projectId),
  ])
  const keyOf = new Map(tasks.map(({ record }) => [record.uuid, record.key!]))
  const partsOf = new Map<number | null, StoredTask[]>()
  for (const task of tasks) {
    const { parentId } = task.record
    const siblings = partsOf.get(parentId)
    if (siblings) siblings.push(task)
    else partsOf.set(parentId, [task])
  }
  const trackNames = new Set(tasks.map(({ record }) => parseTaskKey(record.key!)!.track))
  return {
    project: project.slug,
    name: project.name === project.slug ? null : project.name,
    tracks: [...trackNames].map((track) => {
      const declared = tracks.find((one) => one.track === track)
      const sequential = declared?.sequential ?? false
      const topLevel = partsOf.get(null) ?? []
      const own = topLevel.filter(({ record }) => parseTaskKey(record.key!)!.track === track)
      const written = own.map((task, i) => {
        const before = sequential && i > 0 ? own[i - 1]!.record.key! : null
        return planTask(task, partsOf, keyOf, (id) => rules.get(id) ?? 'all_success', before)
      })
      const { maxAgents = null, purpose = null } = declared ?? {}
      return { track, maxAgents, sequential, purpose, tasks: written }
    }),
  }
}

function planTask(
  task: StoredTask,
  partsOf: ReadonlyMap<number | null, StoredTask[]>,
  keyOf: ReadonlyMap<string, string>,
  ruleOf: (id: number) => PlanTask['triggerRule'],
  before: string | null,
): PlanTask {
  const { record } = task
  const parts = (partsOf.get(record.id) ?? []).sort((a, b) => placeOf(a) - placeOf(b))
  const keysOf = ({ details: { dependsOn } }: StoredTask) =>
    dependsOn.map((uuid) => keyOf.get(uuid)).filter((key) => key !== undefined)
  // The import moves a task's dependencies to its parts: those that all parts share are the task's own.
  const shared = keysOf(parts[0] ?? task).filter((key) => parts.every((part) => keysOf(part).includes(key)))
  const plain = (one: StoredTask, dependsOn: string[]): PlanTask => ({
    key: one.record.key!,
    title: one.details.title,
    description: one.details.description,
    taskType: one.details.taskType,
    priority: one.record.priority,
    dependsOn,
    triggerRule: ruleOf(one.record.id),
    tags: [...one.details.tags],
    requiredCapabilities: [...one.record.capabilities],
    agent: one.record.onlyAgent,
    maxRetries: one.record.maxRetries,
    maxContinuations: one.record.maxContinuations,
    input: one.details.input ?? null,
    merge: null,
    subtasks: [],
    line: 0,
  })
  return {
    ...plain(
      task,
      shared.filter((key) => key !== before),
    ),
    triggerRule: ruleOf((parts[0] ?? task).record.id),
    merge: record.merge === 'none' || parts.length === 0 ? null : record.merge,
    subtasks: parts.map((part) =>
      plain(
        part,
        keysOf(part).filter((key) => !shared.includes(key)),
      ),
    ),
  }
}

const placeOf = ({ record }: StoredTask) => parseTaskKey(record.key!)!.subtask ?? 0

import { hash } from 'node:crypto'
import type { z } from 'zod'
import { type NamedAgent, refuseOwnAgent } from '../../../door/named-agents.ts'
import { partsInRequest } from '../../../kernel/batch/parts.ts'
import { type Caller, granted, type Kernel, principalOf } from '../../../kernel/kernel.ts'
import type { StoredTask } from '../../../kernel/store/store.ts'
import { Refused } from '../../../pure/errors.ts'
import { idCarriedBy } from '../../../pure/ids.ts'
import type { AnswerOf } from '../../../pure/shapes.ts'
import type { NewComment } from '../../comment/record.ts'
import type { TaskGranted } from '../../replies.ts'
import type { NewTask, TaskCommand } from '../command.ts'
import type { TaskRecord } from '../record.ts'
import { capabilitiesOf, groupsSaid, newTask, verifiedBy } from '../rules/new-task.ts'
import { parentKey } from '../rules/task-keys.ts'
import type { BriefTask, TaskCreate, TaskView } from '../shapes/tasks.ts'
import { missionJoined, type NamedMissions, NO_MISSIONS, planOf } from './joining.ts'
import { refuseCommands } from './named-commands.ts'
import { recordView, taskView } from './views.ts'

type Create = z.output<typeof TaskCreate>

const notFound = (uuid: string) => new Refused('NOT_FOUND', `There is no task ${uuid} in this workspace.`)

/** The internal id behind a public task id. */
export function taskIdOf(uuid: string): number {
  const id = idCarriedBy(uuid)
  if (id === null) throw notFound(uuid)
  return id
}

/** Tasks as they can be created. Refused when they name what does not exist. */
export async function newTasks(
  kernel: Kernel,
  caller: Caller,
  tasks: readonly Create[],
  missions: NamedMissions = NO_MISSIONS,
  /** What else a task is, beside what its creator says. */
  as: (task: NewTask) => NewTask = (task) => task,
): Promise<NewTask[]> {
  refuseCommands(
    caller,
    tasks.flatMap(({ verification }, i) =>
      verification?.kind === 'command' ? [`tasks[${i}].verification.command`] : [],
    ),
  )
  await refuseOwnAgent(kernel, caller, tasks.flatMap(agentsIn))
  const projects = await projectsOf(kernel, caller, tasks)
  const wanted = tasks.map((task, index) => as(taskOf(task, index, { projects, missions }, caller)))
  await findParents(kernel, caller, tasks, wanted)
  await refuseCycles(kernel, caller, wanted)
  return wanted
}

/** All of them or none. */
export async function createTasks(
  kernel: Kernel,
  caller: Caller,
  tasks: readonly Create[],
  missions?: NamedMissions,
  as?: (task: NewTask) => NewTask,
): Promise<AnswerOf<typeof TaskView>[]> {
  const wanted = await newTasks(kernel, caller, tasks, missions, as)
  const first = granted(await kernel.run(caller, { on: 'new', tasks: wanted }))
  const { records } = first.unlocked
    ? granted(await kernel.run(caller, { on: 'new', tasks: wanted, alsoLock: first.unlocked }))
    : first
  const parts = partsInRequest(wanted)
  return records.map((record, i) => {
    const { details, parent } = wanted[i]!
    if (parent === null && !parts.has(i)) return taskView({ record, details })
    const whole = parent && ('at' in parent ? records[parent.at]!.uuid : parent.uuid)
    const ownParts = (parts.get(i) ?? []).map((at) => records[at]!.uuid)
    const dependsOn = [...details.dependsOn, ...ownParts]
    return taskView({ record, details: { ...details, dependsOn, parent: whole } })
  })
}

function agentsIn({ agent, verification }: Create, index: number): NamedAgent[] {
  const judge = verification?.kind === 'agent' ? verification.agent : undefined
  if (agent === undefined && judge === undefined) return []
  return [
    [`tasks[${index}].agent`, agent],
    [`tasks[${index}].verification.agent`, judge],
  ]
}

/** The ids of the named projects. The error lists every unknown one. */
async function projectsOf(
  kernel: Kernel,
  { workspaceId }: Caller,
  tasks: readonly Create[],
): Promise<Map<string, number>> {
  const slugs = new Set(tasks.map(({ project }) => project).filter((slug) => slug !== undefined))
  const projects = new Map<string, number>()
  for (const slug of slugs) {
    const projectId = await kernel.projectOf(workspaceId, slug)
    if (projectId !== null) projects.set(slug, projectId)
  }
  const errors = tasks.flatMap(({ project }, i) =>
    project === undefined || projects.has(project)
      ? []
      : [{ field: `tasks[${i}].project`, message: 'names no project of this workspace' }],
  )
  if (errors.length > 0)
    throw new Refused('VALIDATION_FAILED', `${errors[0]!.field} ${errors[0]!.message}.`, { errors })
  return projects
}

/** A key such as B-003-dashboard::2 makes its task a part of B-003-dashboard, if that task exists. */
async function findParents(
  kernel: Kernel,
  { workspaceId }: Caller,
  tasks: readonly Create[],
  wanted: NewTask[],
): Promise<void> {
  const isPart = ({ key, parent }: NewTask) => key !== null && parent === null && parentKey(key) !== key
  const places = wanted.flatMap((task, i) => (isPart(task) ? [i] : []))
  if (places.length === 0) return
  const here = new Map(wanted.map(({ projectId, key }, at) => [`${projectId}/${key}`, at]))
  const keys = places.map((at) => ({ projectId: wanted[at]!.projectId, key: parentKey(wanted[at]!.key!) }))
  const stored = await kernel.store.tasksByKey(workspaceId, keys)
  const known = new Map(stored.map((record) => [`${record.projectId}/${record.key}`, record]))
  places.forEach((at, i) => {
    const { projectId, key } = keys[i]!
    const name = `${projectId}/${key}`
    const whole = here.get(name)
    if (whole !== undefined) {
      wanted[at]!.parent = { at: whole }
      wanted[whole]!.merge = tasks[at]!.merge
      return
    }
    const found = known.get(name)
    // A task that has started or ended can no longer be divided: a later part becomes a task of its own.
    if (found && (found.state === 'queued' || found.state === 'pending'))
      wanted[at]!.parent = { id: found.id, uuid: found.uuid }
  })
}

/** How many tasks a request searches for cycles; upkeep searches further. */
const SEARCHED = 10_000

/** A new part must not depend, directly or indirectly, on its parent: the parent depends on the part. */
async function refuseCycles(
  kernel: Kernel,
  { workspaceId }: Caller,
  wanted: readonly NewTask[],
): Promise<void> {
  for (const [index, { parent, dependsOn }] of wanted.entries()) {
    if (!parent || !('id' in parent) || dependsOn.length === 0) continue
    const { tasks } = await kernel.store.blockedFrom(workspaceId, [parent.id], 'downstream', SEARCHED)
    const waiting = new Set([parent.id, ...tasks.map(({ id }) => id)])
    const place = dependsOn.findIndex((id) => waiting.has(id))
    if (place === -1) continue
    const field = `tasks[${index}].dependsOn[${place}]`
    throw Refused.field('VALIDATION_FAILED', field, 'depends on the parent of this task')
  }
}

interface NamedDependency {
  id: number
  uuid: string
  kind: 'data' | 'order'
  place: number
}

const NO_DEPENDENCIES: readonly NamedDependency[] = []

/** The dependencies that a request names. `where` is the place of the list in it. */
export function namedDependencies(dependsOn: Create['dependsOn'], where = ''): readonly NamedDependency[] {
  if (dependsOn.length === 0) return NO_DEPENDENCIES
  const seen = new Set<string>()
  return dependsOn.map((named, place) => {
    const { on: uuid, kind = 'data' } = typeof named === 'string' ? { on: named } : named
    const refused = (message: string) =>
      Refused.field('VALIDATION_FAILED', `${where}dependsOn[${place}]`, message)
    const id = idCarriedBy(uuid)
    if (id === null) throw refused('names no task of this workspace')
    if (seen.has(uuid)) throw refused('is named twice')
    seen.add(uuid)
    return { id, uuid, kind, place }
  })
}

const orderOnlyIn = (upstream: readonly NamedDependency[]): NewTask['orderOnly'] =>
  upstream.length === 0
    ? undefined
    : { on: upstream.filter(({ kind }) => kind === 'order').map(({ id }) => id), onNew: [] }

function taskOf(
  task: Create,
  index: number,
  { projects, missions }: { projects: ReadonlyMap<string, number>; missions: NamedMissions },
  caller: Caller,
): NewTask {
  const field = (name: string) => `tasks[${index}].${name}`
  const mission = missionJoined(task, missions, field)
  const upstream = namedDependencies(task.dependsOn, `tasks[${index}].`)
  const parentId = task.parentId === undefined ? null : idCarriedBy(task.parentId)
  if (task.parentId !== undefined && parentId === null)
    throw Refused.field('VALIDATION_FAILED', `tasks[${index}].parentId`, 'names no task of this workspace')
  return newTask({
    key: task.key ?? null,
    projectId: task.project === undefined ? (mission?.projectId ?? 0) : projects.get(task.project)!,
    parent: parentId === null ? null : { id: parentId, uuid: task.parentId! },
    merge: parentId === null ? 'none' : task.merge,
    priority: task.priority,
    maxRetries: task.maxRetries,
    maxContinuations: task.maxContinuations,
    onlyAgent: task.agent ?? null,
    capabilities: capabilitiesOf(task.requiredCapabilities),
    verification: verifiedBy(task.verification ?? null),
    runAt: task.runAt === undefined ? null : Date.parse(task.runAt),
    expiresAt: task.expiresAt === undefined ? null : Date.parse(task.expiresAt),
    missionId: mission?.id ?? null,
    optional: task.optional,
    ...groupsSaid(task, mission?.config),
    dependsOn: upstream.map(({ id }) => id),
    orderOnly: orderOnlyIn(upstream),
    unique: uniqueOf(caller, task),
    triggerRule: task.triggerRule,
    details: {
      title: task.title,
      taskType: task.taskType,
      description: task.description ?? null,
      input: task.input,
      tags: task.tags,
      dependsOn: upstream.map(({ uuid }) => uuid),
      userId: task.userId ?? null,
      metadata: task.metadata,
      createdBy: caller.actor,
      project: task.project ?? mission?.project ?? null,
      mission: mission?.uuid ?? null,
      plan: planOf(task, mission, field),
    },
  })
}

function uniqueOf(caller: Caller, task: Create): NewTask['unique'] {
  if (task.idempotencyKey === undefined) return null
  const { idempotencyKey, ...body } = task
  return { key: `${principalOf(caller)} ${idempotencyKey}`, bodyHash: hash('sha256', JSON.stringify(body)) }
}

export async function readTask(kernel: Kernel, caller: Caller, uuid: string): Promise<StoredTask> {
  const task = await kernel.store.task(caller.workspaceId, taskIdOf(uuid))
  if (task?.record.uuid !== uuid) throw notFound(uuid)
  return task
}

/** The task without its details (title, input, and so on), which may be large. */
export async function requireRecord(kernel: Kernel, caller: Caller, uuid: string): Promise<TaskRecord> {
  const [record] = await kernel.store.recordsById(caller.workspaceId, [taskIdOf(uuid)])
  if (record?.uuid !== uuid) throw notFound(uuid)
  return record
}

/** Coditect 5.2's batch_get_states: the tasks that exist, in the order of the request. */
export async function readStates(
  kernel: Kernel,
  { workspaceId }: Caller,
  uuids: readonly string[],
): Promise<AnswerOf<typeof BriefTask>[]> {
  const ids = uuids.map(idCarriedBy).filter((id) => id !== null)
  const records = await kernel.store.recordsById(workspaceId, ids)
  const asked = new Set(uuids)
  return records.filter(({ uuid }) => asked.has(uuid)).map(recordView)
}

/** Runs one command on one task. */
export async function command<C extends TaskCommand>(
  kernel: Kernel,
  caller: Caller,
  uuid: string,
  command: C,
  said?: NewComment,
) {
  const request = { on: 'task', taskId: taskIdOf(uuid), uuid, command, said } as const
  return granted<TaskGranted<C['kind']>>(await kernel.run(caller, request))
}

export async function operate(
  kernel: Kernel,
  caller: Caller,
  uuid: string,
  act: TaskCommand,
  said?: NewComment,
): Promise<AnswerOf<typeof TaskView>> {
  await command(kernel, caller, uuid, act, said)
  return taskView(await readTask(kernel, caller, uuid))
}

export const briefView = recordView

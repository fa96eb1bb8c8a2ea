import type { z } from 'zod'
import type { NewTask, TaskCommand } from '../core/commands.ts'
import { Refused } from '../core/errors.ts'
import { idCarriedBy } from '../core/ids.ts'
import type { TaskRecord } from '../core/records.ts'
import type { TaskCreate, TaskPatchBody } from '../core/shapes/tasks.ts'
import { isTerminal } from '../core/states.ts'
import type { StoredTask } from '../store/store.ts'
import { type Caller, granted, type Kernel } from './kernel.ts'
import { unblockDownstream } from './unblock.ts'
import { recordView, taskView } from './views.ts'

type Create = z.output<typeof TaskCreate>

const notFound = (uuid: string) => new Refused('NOT_FOUND', `There is no task ${uuid} in this workspace.`)

/** The inside id of a task named from outside. */
export function taskIdOf(uuid: string): number {
  const id = idCarriedBy(uuid)
  if (id === null) throw notFound(uuid)
  return id
}

/** All of them or none. */
export async function createTasks(kernel: Kernel, caller: Caller, tasks: readonly Create[]) {
  const wanted = tasks.map((task, index) => newTask(task, index))
  const reply = await kernel.run(caller, { on: 'new', tasks: wanted })
  const records = granted(reply).records as TaskRecord[]
  return records.map((record, i) => taskView({ record, details: wanted[i]!.details }))
}

function newTask(task: Create, index: number): NewTask {
  const dependsOn = task.dependsOn.map((uuid, i) => {
    const id = idCarriedBy(uuid)
    const field = `tasks[${index}].dependsOn[${i}]`
    if (id === null || task.dependsOn.indexOf(uuid) !== i) {
      throw Refused.field(
        'VALIDATION_FAILED',
        field,
        id === null ? 'names no task of this workspace' : 'is named twice',
      )
    }
    return id
  })
  const capabilities = [...new Set(task.requiredCapabilities)]
  return {
    key: task.key ?? null,
    priority: task.priority,
    maxRetries: task.maxRetries,
    onlyAgent: task.agent ?? null,
    capabilities: capabilities.length > 0 ? capabilities : null,
    review: task.verification?.kind ?? 'none',
    runAt: task.runAt === undefined ? null : Date.parse(task.runAt),
    dependsOn,
    triggerRule: task.triggerRule,
    details: {
      title: task.title,
      taskType: task.taskType,
      description: task.description ?? null,
      input: task.input,
      tags: task.tags,
      dependsOn: task.dependsOn,
    },
  }
}

export async function readTask(kernel: Kernel, caller: Caller, uuid: string): Promise<StoredTask> {
  const task = await kernel.store.task(caller.workspaceId, taskIdOf(uuid))
  if (task?.record.uuid !== uuid) throw notFound(uuid)
  return task
}

/** One command on one task, and what follows from it. */
export async function command(kernel: Kernel, caller: Caller, uuid: string, command: TaskCommand) {
  const reply = granted(await kernel.run(caller, { on: 'task', taskId: taskIdOf(uuid), uuid, command }))
  const record = reply.record as TaskRecord | undefined
  // Not awaited: its own transaction, so that a failed unblock cannot undo finished work. Upkeep catches what is missed.
  if (record && isTerminal(record.state)) void unblockDownstream(kernel, caller.workspaceId, [record.id])
  return reply
}

export async function operate(kernel: Kernel, caller: Caller, uuid: string, act: TaskCommand) {
  await command(kernel, caller, uuid, act)
  return taskView(await readTask(kernel, caller, uuid))
}

export async function updateTask(
  kernel: Kernel,
  caller: Caller,
  uuid: string,
  body: z.output<typeof TaskPatchBody>,
  ifVersion: number | null,
) {
  const { agent, ...rest } = body
  const patch = agent === undefined ? rest : { ...rest, onlyAgent: agent }
  return operate(kernel, caller, uuid, { kind: 'update', ifVersion, patch })
}

export const briefView = (record: unknown) => recordView(record as TaskRecord)

import { refuseOwnAgent } from '../../../door/named-agents.ts'
import type { Caller, Kernel } from '../../../kernel/kernel.ts'
import { idCarriedBy } from '../../../pure/ids.ts'
import type { UpdateFields } from '../../../views/board/shapes.ts'
import type { TaskCommand } from '../command.ts'
import { asBefore } from './dependencies.ts'

/** The same change of several tasks. */

type Update = Extract<TaskCommand, { kind: 'update' }>

/**
 * One command for each. Tags are added to those that a task has: if it is changed before the command is decided, that one is
 * refused.
 */
export async function updatesOf(
  kernel: Kernel,
  caller: Caller,
  { agent, tags, ...fields }: UpdateFields,
  asked: readonly { id: string; generation?: number | undefined }[],
): Promise<Update[]> {
  await refuseOwnAgent(kernel, caller, [['fields.agent', agent]])
  const patch = { ...fields, ...(agent !== undefined && { onlyAgent: agent }) }
  const readsDetails = tags !== undefined || fields.taskType !== undefined
  const ids = readsDetails ? asked.flatMap(({ id }) => idCarriedBy(id) ?? []) : []
  const tasks = ids.length > 0 ? await kernel.store.tasksById(caller.workspaceId, ids) : []
  const byId = new Map(tasks.map((task) => [task.record.uuid, task]))
  return asked.map(({ id, generation }): Update => {
    const task = byId.get(id)
    const before = task && asBefore(task)
    if (!tags || !before) return { kind: 'update', ifVersion: null, patch, generation, before }
    return {
      ...{ kind: 'update', ifVersion: before.version, generation, before },
      patch: { ...patch, tags: tagsAfter(before.tags, tags) },
    }
  })
}

function tagsAfter(
  tags: readonly string[],
  { add = [], remove = [] }: NonNullable<UpdateFields['tags']>,
): string[] {
  const removed = new Set(remove)
  return [...new Set([...tags, ...add])].filter((tag) => !removed.has(tag))
}

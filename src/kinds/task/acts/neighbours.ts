import type { ServerKernel } from '../../../door/server-kernel.ts'
import type { Caller } from '../../../kernel/kernel.ts'
import type { AnswerOf } from '../../../pure/shapes.ts'
import { type DependencyList, NEIGHBOURS } from '../shapes/tasks.ts'
import { requireRecord } from './tasks.ts'

/** As many as one task may have. */
const MOST_DEPENDENCIES = 10_000

/** What a task depends on, by name, and what depends on it. */
export async function listDependencies(
  kernel: ServerKernel,
  caller: Caller,
  uuid: string,
): Promise<AnswerOf<typeof DependencyList>> {
  const { id } = await requireRecord(kernel, caller, uuid)
  const [dependencies, { blockedBy, blocks }] = await Promise.all([
    kernel.store.dependencies(caller.workspaceId, id),
    kernel.store.taskGraph.around(caller.workspaceId, id, MOST_DEPENDENCIES),
  ])
  const named = new Map(blockedBy.map((task) => [task.taskId, task]))
  const items = dependencies.map(({ uuid: taskId, state, triggerRule, kind }) => {
    const { key = null, title = '' } = named.get(taskId) ?? {}
    return { taskId, key, title, state, triggerRule, kind }
  })
  return { items, nextCursor: null, blocks: blocks.slice(0, NEIGHBOURS) }
}

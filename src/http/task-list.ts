import type { AnswerOf, ListAnswer } from '../core/shapes/common.ts'
import type { ListedTask } from '../core/shapes/tasks.ts'
import { listedTaskView } from '../flow/views.ts'
import type { Caller } from '../kernel/kernel.ts'
import type { ServerKernel } from '../kernel/server-kernel.ts'
import type { LargeDetail, TaskSearch } from '../store/server-store.ts'
import { cursorOf, readCursor } from './cursor.ts'
import { include, included, Page, pageSize } from './schema.ts'

/** Query parameters shared by all lists of tasks. */
export const TaskPage = { ...Page, include: include('input', 'checkpointData') }

interface Asked {
  cursor?: string | undefined
  limit?: string | undefined
  include?: string | undefined
}

/** A page of the tasks that match the search, newest first. */
export async function taskPage(
  kernel: ServerKernel,
  { workspaceId }: Caller,
  search: Omit<TaskSearch, 'before'>,
  asked: Asked,
): Promise<ListAnswer<AnswerOf<typeof ListedTask>>> {
  const names = included(asked.include, 'input', 'checkpointData')
  const large = new Set<LargeDetail>()
  if (names.has('input')) large.add('input')
  if (names.has('checkpointData')) large.add('checkpoint')
  const before = asked.cursor === undefined ? undefined : readCursor(asked.cursor)
  const limit = pageSize(asked.limit)
  const { rows, more } = await kernel.store.taskPage(workspaceId, { ...search, before }, limit, large)
  return {
    items: rows.map((task) => listedTaskView(task, large)),
    nextCursor: more ? cursorOf(rows.at(-1)!.record.id) : null,
  }
}

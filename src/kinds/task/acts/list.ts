import type { z } from 'zod'
import { included, numberIn } from '../../../door/asked.ts'
import type { Call } from '../../../door/door.ts'
import type { ServerKernel } from '../../../door/server-kernel.ts'
import { Refused } from '../../../pure/errors.ts'
import type { AnswerOf, ListAnswer } from '../../../pure/shapes.ts'
import { TASK_STATES, type TaskState, taskStates } from '../../../pure/states.ts'
import type { listDeadLetters } from '../api/dead-letters.ts'
import type { LargeDetail } from '../postgres/details.ts'
import { pageOfTasks } from '../postgres/reader.ts'
import type { TaskSearch } from '../postgres/search.ts'
import type { TaskFilters } from '../shapes/lists.ts'
import type { ListedTask } from '../shapes/tasks.ts'
import { standingSummaries } from './standing-results.ts'
import { listedTaskView } from './views.ts'

export const searchOf = (query: z.output<typeof TaskFilters>) => ({
  states: statesIn(query.state, query.stateType),
  tag: query.tag,
  agent: query.agent,
  priorityMin: numberIn(query.priorityMin),
  text: query.q,
  track: query.track,
  purpose: query.purpose,
  archived: query.archived === 'true',
})

export function statesIn(state: string | undefined, stateType: string | undefined): TaskState[] | undefined {
  if (state === undefined)
    return stateType === undefined
      ? undefined
      : taskStates.filter((name) => TASK_STATES[name].type === stateType)
  const names = state.split(',')
  const unknown = names.find((name) => !Object.hasOwn(TASK_STATES, name))
  if (unknown !== undefined) {
    throw Refused.field('VALIDATION_FAILED', 'state', `names no state: "${unknown}"`)
  }
  return names as TaskState[]
}

type Asked = Pick<Call<typeof listDeadLetters>, 'caller' | 'query' | 'page'>

/** A page of the tasks that match the search, newest first. */
export async function taskPage(
  kernel: ServerKernel,
  { caller: { workspaceId }, query, page }: Asked,
  search: Omit<TaskSearch, 'before'>,
): Promise<ListAnswer<AnswerOf<typeof ListedTask>>> {
  const names = included(query.include, 'input', 'checkpointData', 'summary')
  const large = new Set<LargeDetail>()
  if (names.has('input')) large.add('input')
  if (names.has('checkpointData')) large.add('checkpoint')
  const { after: before, limit } = page
  const { rows, more } = await pageOfTasks(
    kernel.store.readers,
    workspaceId,
    { ...search, before },
    limit,
    large,
  )
  const summaryOf = names.has('summary')
    ? await standingSummaries(kernel, workspaceId, rows)
    : () => undefined
  return {
    items: rows.map((task) => listedTaskView(task, large, summaryOf(task.record))),
    nextCursor: page.next(more ? rows.at(-1)!.record.id : null),
  }
}

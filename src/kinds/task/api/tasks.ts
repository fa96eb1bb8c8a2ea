import { z } from 'zod'
import { endpoint } from '../../../pure/endpoint.ts'
import { byId } from '../../../pure/paging.ts'
import { Digits, IdParams, listOf, Name, Slug, Uuid } from '../../../pure/shapes.ts'
import { ClaimHistoryView } from '../shapes/claims.ts'
import { TaskFilterQuery, TaskPage } from '../shapes/lists.ts'
import {
  BriefTask,
  DependencyList,
  ListedTask,
  OperatorAct,
  RetryAct,
  TaskCreate,
  TaskCreateBatch,
  TaskInGraph,
  TaskPatchBody,
  TaskView,
} from '../shapes/tasks.ts'

/** Tasks and what operators do to them. */

const ListQuery = z.strictObject({
  ...TaskPage,
  ...TaskFilterQuery,
  project: Slug.optional(),
  userId: Name.optional(),
  parentId: Uuid.optional(),
  mission: Uuid.optional(),
})

const ReadQuery = z.strictObject({ waitMs: Digits.optional().describe('At most a minute') })

const TEN_THOUSAND_TASKS_BYTES = 32 * 1024 * 1024

const tag = 'tasks'

export const createTask = endpoint({
  method: 'POST',
  path: '/tasks',
  summary: 'Create a task',
  tag,
  needs: 'operate',
  body: TaskCreate,
  status: 201,
  answer: TaskView,
  etag: 'version',
})

export const createTasks = endpoint({
  method: 'POST',
  path: '/tasks/batch',
  summary: 'Create many tasks, all or nothing',
  tag,
  needs: 'operate',
  body: TaskCreateBatch,
  status: 201,
  answer: z.object({ items: z.array(TaskView) }),
  bodyLimit: TEN_THOUSAND_TASKS_BYTES,
})

const StatesBody = z.strictObject({ taskIds: z.array(Uuid).min(1).max(1000) })
const StatesAnswer = z.object({ items: z.array(BriefTask) })

export const readStates = endpoint({
  method: 'POST',
  path: '/tasks/states',
  summary: 'Read the states of several tasks; unknown tasks are left out',
  tag,
  needs: 'read',
  body: StatesBody,
  answer: StatesAnswer,
})

export const listTasks = endpoint({
  method: 'GET',
  path: '/tasks',
  summary: 'List tasks, newest first',
  tag,
  needs: 'read',
  query: ListQuery,
  answer: listOf(ListedTask),
  paging: byId,
})

export const readTask = endpoint({
  method: 'GET',
  path: '/tasks/:id',
  summary: 'Read a task; with waitMs, when it has ended or after that time',
  tag,
  needs: 'read',
  params: IdParams,
  query: ReadQuery,
  answer: TaskInGraph,
  etag: 'version',
})

export const changeTask = endpoint({
  method: 'PATCH',
  path: '/tasks/:id',
  summary: 'Change a task',
  tag,
  needs: 'operate',
  params: IdParams,
  body: TaskPatchBody,
  answer: TaskView,
  etag: 'version',
})

export const listClaimsOfTask = endpoint({
  method: 'GET',
  path: '/tasks/:id/claims',
  summary: 'List the claims of a task, one per generation',
  tag: 'tasks',
  needs: 'read',
  params: IdParams,
  answer: listOf(ClaimHistoryView),
})

export const listDependencies = endpoint({
  method: 'GET',
  path: '/tasks/:id/dependencies',
  summary: 'List the dependencies of a task, and what depends on it',
  tag: 'tasks',
  needs: 'read',
  params: IdParams,
  answer: DependencyList,
})

const act = <const A extends string, B extends typeof OperatorAct = typeof OperatorAct>(
  name: A,
  summary: string,
  body: B = OperatorAct as B,
) =>
  endpoint({
    method: 'POST',
    path: `/tasks/:id/${name}`,
    summary,
    tag,
    needs: 'operate',
    params: IdParams,
    body,
    bodyIsOptional: true,
    answer: TaskView,
  })

export const cancelTask = act('cancel', 'Cancel a task')
export const pauseTask = act('pause', 'Pause a task')
export const resumeTask = act('resume', 'Resume a paused task')
export const retryTask = act('retry', 'Retry a failed task', RetryAct)
export const resetTask = act('reset', 'Reset a finished task, which opens a new epoch')
export const archiveTask = act('archive', 'Archive a finished task')

import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { Refused } from '../../core/errors.ts'
import { TASK_ACTS } from '../../core/shapes/board.ts'
import { ClaimHistoryView } from '../../core/shapes/claims.ts'
import { type AnswerOf, Digits, type ListAnswer, listOf, Name, Slug, Uuid } from '../../core/shapes/common.ts'
import {
  BriefTask,
  DependencyList,
  ListedTask,
  OperatorAct,
  TaskCreate,
  TaskCreateBatch,
  TaskInGraph,
  TaskPatchBody,
  TaskView,
} from '../../core/shapes/tasks.ts'
import { givePriorities, missionsNamed } from '../../flow/missions/joining.ts'
import { listDependencies } from '../../flow/neighbours.ts'
import { namedProject } from '../../flow/projects.ts'
import { saidIn } from '../../flow/said.ts'
import { commandOfAct, type TaskAct } from '../../flow/task-acts.ts'
import { createTasks, operate, readStates, requireRecord } from '../../flow/tasks.ts'
import { updateTask } from '../../flow/update-task.ts'
import { claimRowView } from '../../flow/views.ts'
import { endedWithin, showTask } from '../../flow/whole-task.ts'
import type { Caller } from '../../kernel/kernel.ts'
import type { ServerKernel } from '../../kernel/server-kernel.ts'
import type { KeyRing } from '../key-ring.ts'
import { whileAdmitted } from '../live/waiting.ts'
import { tellHead } from '../log-head.ts'
import { IdParams, numberOr, route, wantedId } from '../schema.ts'
import { searchOf, TaskFilterQuery, TaskPage, taskPage } from '../task-list.ts'
import { etag, versionIn } from '../versions.ts'

const ListQuery = z.strictObject({
  ...TaskPage,
  ...TaskFilterQuery,
  project: Slug.optional(),
  userId: Name.optional(),
  parentId: Uuid.optional(),
  mission: Uuid.optional(),
})

const ReadQuery = z.strictObject({ waitMs: Digits.optional().describe('At most a minute') })
const LONGEST_WAIT_MS = 60_000

const TEN_THOUSAND_TASKS_BYTES = 32 * 1024 * 1024

export function taskRoutes(app: FastifyInstance, kernel: ServerKernel, keys: KeyRing): void {
  const tag = 'tasks'
  const preValidation = ({ caller, body }: FastifyRequest) => givePriorities(kernel, caller, body)

  app.post<{ Body: z.output<typeof TaskCreate> }>(
    '/tasks',
    {
      ...route({
        summary: 'Create a task',
        tag,
        needs: 'operate',
        body: TaskCreate,
        status: 201,
        answer: TaskView,
      }),
      preValidation,
    },
    async (request, reply) => {
      const [task] = await create(kernel, request.caller, [request.body]).catch(forSingleTask)
      return reply.code(201).header('etag', etag(task!.version)).send(task)
    },
  )

  app.post<{ Body: z.output<typeof TaskCreateBatch> }>(
    '/tasks/batch',
    {
      ...route({
        summary: 'Create many tasks, all or nothing',
        tag,
        needs: 'operate',
        body: TaskCreateBatch,
        status: 201,
        answer: z.object({ items: z.array(TaskView) }),
        bodyLimit: TEN_THOUSAND_TASKS_BYTES,
      }),
      preValidation,
    },
    async (request, reply) =>
      reply.code(201).send({ items: await create(kernel, request.caller, request.body.tasks) }),
  )

  statesOfTasks(app, kernel)
  taskLists(app, kernel, keys)
  taskReads(app, kernel)
  operatorRoutes(app, kernel)
}

const create = async (kernel: ServerKernel, caller: Caller, tasks: readonly z.output<typeof TaskCreate>[]) =>
  createTasks(kernel, caller, tasks, await missionsNamed(kernel, caller, tasks))

const StatesBody = z.strictObject({ taskIds: z.array(Uuid).min(1).max(1000) })
const StatesAnswer = z.object({ items: z.array(BriefTask) })

function statesOfTasks(app: FastifyInstance, kernel: ServerKernel): void {
  const tag = 'tasks'
  app.post<{ Body: z.output<typeof StatesBody> }>(
    '/tasks/states',
    route({
      summary: 'Read the states of several tasks; unknown tasks are left out',
      tag,
      needs: 'read',
      body: StatesBody,
      answer: StatesAnswer,
    }),
    async ({ body, caller }): Promise<AnswerOf<typeof StatesAnswer>> => ({
      items: await readStates(kernel, caller, body.taskIds),
    }),
  )
}

function taskLists(app: FastifyInstance, kernel: ServerKernel, keys: KeyRing): void {
  const tag = 'tasks'

  app.get<{ Querystring: z.output<typeof ListQuery> }>(
    '/tasks',
    route({
      summary: 'List tasks, newest first',
      tag,
      needs: 'read',
      query: ListQuery,
      answer: listOf(ListedTask),
    }),
    async ({ query, caller }) => {
      const search = {
        ...searchOf(query),
        userId: query.userId,
        projectId: await namedProject(kernel, caller, query.project),
        parentId: wantedId(query.parentId),
        missionId: wantedId(query.mission),
      }
      return taskPage(kernel, caller, search, query)
    },
  )

  app.get<{ Params: { id: string }; Querystring: z.output<typeof ReadQuery> }>(
    '/tasks/:id',
    route({
      summary: 'Read a task; with waitMs, when it has ended or after that time',
      tag,
      needs: 'read',
      params: IdParams,
      query: ReadQuery,
      answer: TaskInGraph,
    }),
    async (request, reply) => {
      const { params, query, caller } = request
      const waitMs = Math.min(numberOr(query.waitMs, 0), LONGEST_WAIT_MS)
      if (waitMs > 0)
        await whileAdmitted(keys, request, reply, waitMs, (waiter) =>
          endedWithin(kernel, caller, params.id, waitMs, waiter),
        ).then(() => tellHead(kernel, request, reply))
      const task = await showTask(kernel, caller, params.id)
      return reply.header('etag', etag(task.version)).send(task)
    },
  )

  app.patch<{ Params: { id: string }; Body: z.output<typeof TaskPatchBody> }>(
    '/tasks/:id',
    route({
      summary: 'Change a task',
      tag,
      needs: 'operate',
      params: IdParams,
      body: TaskPatchBody,
      answer: TaskView,
    }),
    async ({ params, body, caller, headers }, reply) => {
      const task = await updateTask(kernel, caller, params.id, body, versionIn(headers['if-match']))
      return reply.header('etag', etag(task.version)).send(task)
    },
  )
}

function taskReads(app: FastifyInstance, kernel: ServerKernel): void {
  const options = (summary: string, item: z.ZodType, query?: z.ZodType) =>
    route({
      summary,
      tag: 'tasks',
      needs: 'read',
      params: IdParams,
      ...(query ? { query } : {}),
      answer: listOf(item),
    })

  app.get<{ Params: { id: string } }>(
    '/tasks/:id/claims',
    options('List the claims of a task, one per generation', ClaimHistoryView),
    async ({ params, caller }): Promise<ListAnswer<AnswerOf<typeof ClaimHistoryView>>> => {
      const { id } = await requireRecord(kernel, caller, params.id)
      const { workspaceId } = caller
      const [claims, results] = await Promise.all([
        kernel.store.claims(workspaceId, id),
        kernel.store.resultPages.heads(workspaceId, id),
      ])
      const users = await kernel.store.sessionMemory.usersOf(
        workspaceId,
        claims.map(({ session }) => session),
      )
      const items = claims.map((claim) => claimRowView(claim, results, users.get(claim.session) ?? null))
      return { items, nextCursor: null }
    },
  )

  app.get<{ Params: { id: string } }>(
    '/tasks/:id/dependencies',
    route({
      summary: 'List the dependencies of a task, and what depends on it',
      tag: 'tasks',
      needs: 'read',
      params: IdParams,
      answer: DependencyList,
    }),
    ({ params, caller }) => listDependencies(kernel, caller, params.id),
  )
}

type ActBody = z.output<typeof OperatorAct> | undefined

const ACTS: Record<TaskAct, string> = {
  cancel: 'Cancel a task',
  pause: 'Pause a task',
  resume: 'Resume a paused task',
  retry: 'Retry a failed task',
  reset: 'Reset a finished task, which opens a new epoch',
  archive: 'Archive a finished task',
}

function operatorRoutes(app: FastifyInstance, kernel: ServerKernel): void {
  for (const act of TASK_ACTS) {
    app.post<{ Params: { id: string }; Body: ActBody }>(
      `/tasks/:id/${act}`,
      route({
        summary: ACTS[act],
        tag: 'tasks',
        needs: 'operate',
        params: IdParams,
        body: OperatorAct,
        bodyIsOptional: true,
        answer: TaskView,
      }),
      async ({ params, body, caller }) =>
        operate(kernel, caller, params.id, commandOfAct(act, body ?? {}), saidIn(body?.comment)),
    )
  }
}

/** A request that creates one task has no "tasks[0]". */
export function forSingleTask(error: unknown): never {
  if (!(error instanceof Refused)) throw error
  const { code, detail, ok: _ok, errors, ...extra } = error.refusal
  const own = (text: string) => text.replace('tasks[0].', '')
  const named = (errors as { field: string; message: string }[] | undefined)?.map(({ field, message }) => ({
    field: own(field),
    message,
  }))
  throw new Refused(code, own(detail), { ...extra, ...(named ? { errors: named } : {}) })
}

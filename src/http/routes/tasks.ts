import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { z } from 'zod'
import type { Endpoint } from '../../core/api/endpoint.ts'
import * as api from '../../core/api/tasks.ts'
import { Refused } from '../../core/errors.ts'
import { TASK_ACTS } from '../../core/shapes/board.ts'
import type { TaskCreate } from '../../core/shapes/tasks.ts'
import { giveDefaultsOfMissions, missionsNamed } from '../../flow/missions/joining.ts'
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
import { serve } from '../endpoint.ts'
import type { KeyRing } from '../key-ring.ts'
import { whileAdmitted } from '../live/waiting.ts'
import { sendHead } from '../log-head.ts'
import { numberOr, wantedId } from '../schema.ts'
import { searchOf, taskPage } from '../task-list.ts'
import { etag, versionIn } from '../versions.ts'

const LONGEST_WAIT_MS = 60_000

export function taskRoutes(app: FastifyInstance, kernel: ServerKernel, keys: KeyRing): void {
  const preValidation = ({ caller, body }: FastifyRequest) => giveDefaultsOfMissions(kernel, caller, body)

  serve(
    app,
    api.createTask,
    async (request, reply) => {
      const [task] = await create(kernel, request.caller, [request.body]).catch(forSingleTask)
      return reply.code(201).header('etag', etag(task!.version)).send(task)
    },
    { preValidation },
  )

  serve(
    app,
    api.createTasks,
    async (request, reply) =>
      reply.code(201).send({ items: await create(kernel, request.caller, request.body.tasks) }),
    { preValidation },
  )

  statesOfTasks(app, kernel)
  taskLists(app, kernel, keys)
  taskReads(app, kernel)
  operatorRoutes(app, kernel)
}

const create = async (kernel: ServerKernel, caller: Caller, tasks: readonly z.output<typeof TaskCreate>[]) =>
  createTasks(kernel, caller, tasks, await missionsNamed(kernel, caller, tasks))

function statesOfTasks(app: FastifyInstance, kernel: ServerKernel): void {
  serve(app, api.readStates, async ({ body, caller }) => ({
    items: await readStates(kernel, caller, body.taskIds),
  }))
}

function taskLists(app: FastifyInstance, kernel: ServerKernel, keys: KeyRing): void {
  serve(app, api.listTasks, async ({ query, caller }) => {
    const search = {
      ...searchOf(query),
      userId: query.userId,
      projectId: await namedProject(kernel, caller, query.project),
      parentId: wantedId(query.parentId),
      missionId: wantedId(query.mission),
    }
    return taskPage(kernel, caller, search, query)
  })

  serve(app, api.readTask, async (request, reply) => {
    const { params, query, caller } = request
    const waitMs = Math.min(numberOr(query.waitMs, 0), LONGEST_WAIT_MS)
    if (waitMs > 0)
      await whileAdmitted(keys, request, reply, waitMs, (waiter) =>
        endedWithin(kernel, caller, params.id, waitMs, waiter),
      ).then(() => sendHead(kernel, request, reply))
    const task = await showTask(kernel, caller, params.id)
    return reply.header('etag', etag(task.version)).send(task)
  })

  serve(app, api.changeTask, async ({ params, body, caller, headers }, reply) => {
    const task = await updateTask(kernel, caller, params.id, body, versionIn(headers['if-match']))
    return reply.header('etag', etag(task.version)).send(task)
  })
}

function taskReads(app: FastifyInstance, kernel: ServerKernel): void {
  serve(app, api.listClaimsOfTask, async ({ params, caller }) => {
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
  })

  serve(app, api.listDependencies, ({ params, caller }) => listDependencies(kernel, caller, params.id))
}

const ACTS = {
  cancel: api.cancelTask,
  pause: api.pauseTask,
  resume: api.resumeTask,
  retry: api.retryTask,
  reset: api.resetTask,
  archive: api.archiveTask,
} satisfies Record<TaskAct, Endpoint>

function operatorRoutes(app: FastifyInstance, kernel: ServerKernel): void {
  for (const act of TASK_ACTS)
    serve(app, ACTS[act], ({ params, body, caller }) =>
      operate(kernel, caller, params.id, commandOfAct(act, body), saidIn(body.comment)),
    )
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

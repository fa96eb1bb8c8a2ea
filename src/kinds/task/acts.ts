import type { z } from 'zod'
import { wantedId } from '../../door/asked.ts'
import { actsOf, type Call, type Door } from '../../door/door.ts'
import type { ServerKernel } from '../../door/server-kernel.ts'
import type { Caller } from '../../kernel/kernel.ts'
import type { AnswerOf } from '../../pure/shapes.ts'
import { namedProject } from '../project/acts.ts'
import { commandOfAct, type TaskAct } from './acts/commands.ts'
import { commentFrom } from './acts/comment-from.ts'
import { giveDefaultsOfMissions, missionsNamed } from './acts/joining.ts'
import { searchOf, taskPage } from './acts/list.ts'
import { forSingleTask } from './acts/single-task.ts'
import { createTasks, operate, readStates, requireRecord } from './acts/tasks.ts'
import { updateTask } from './acts/update.ts'
import { claimRowView } from './acts/views.ts'
import { endedWithin, showTask } from './acts/whole-task.ts'
import type { cancelTask } from './api/tasks.ts'
import * as api from './api/tasks.ts'
import { tasksAround } from './postgres/graph.ts'
import { usersOf } from './postgres/of-others.ts'
import { resultHeads } from './postgres/result-pages.ts'
import { type DependencyList, NEIGHBOURS, type TaskCreate } from './shapes/tasks.ts'

/** As many as one task may have. */
const MOST_DEPENDENCIES = 10_000

/** What a task depends on, by name, and what depends on it. */
async function listDependencies(
  kernel: ServerKernel,
  caller: Caller,
  uuid: string,
): Promise<AnswerOf<typeof DependencyList>> {
  const { id } = await requireRecord(kernel, caller, uuid)
  const [dependencies, { blockedBy, blocks }] = await Promise.all([
    kernel.store.dependencies(caller.workspaceId, id),
    tasksAround(kernel.store.readers, caller.workspaceId, id, MOST_DEPENDENCIES),
  ])
  const named = new Map(blockedBy.map((task) => [task.taskId, task]))
  const items = dependencies.map(({ uuid: taskId, state, triggerRule, kind }) => {
    const { key = null, title = '' } = named.get(taskId) ?? {}
    return { taskId, key, title, state, triggerRule, kind }
  })
  return { items, nextCursor: null, blocks: blocks.slice(0, NEIGHBOURS) }
}

/** Tasks and what operators do to them. */

const LONGEST_WAIT_MS = 60_000

const create = async (kernel: ServerKernel, caller: Caller, tasks: readonly z.output<typeof TaskCreate>[]) =>
  createTasks(kernel, caller, tasks, await missionsNamed(kernel, caller, tasks))

const complete = ({ kernel }: Door, { caller, body }: { caller: Caller; body: unknown }) =>
  giveDefaultsOfMissions(kernel, caller, body)

const operator =
  (act: TaskAct) =>
  ({ kernel }: Door, { params, body, caller }: Call<typeof cancelTask>) =>
    operate(kernel, caller, params.id, commandOfAct(act, body), commentFrom(body.comment))

export const taskActs = actsOf(api)({
  createTask: {
    complete,
    handle: async ({ kernel }, { body, caller }) => {
      const [task] = await create(kernel, caller, [body]).catch(forSingleTask)
      return task!
    },
  },
  createTasks: {
    complete,
    handle: async ({ kernel }, { body, caller }) => ({ items: await create(kernel, caller, body.tasks) }),
  },
  readStates: async ({ kernel }, { body, caller }) => ({
    items: await readStates(kernel, caller, body.taskIds),
  }),
  listTasks: async ({ kernel }, call) => {
    const { query, caller } = call
    return taskPage(kernel, call, {
      ...searchOf(query),
      userId: query.userId,
      projectId: await namedProject(kernel, caller, query.project),
      parentId: wantedId(query.parentId),
      missionId: wantedId(query.mission),
    })
  },
  readTask: async ({ kernel }, call) => {
    const { params, query, caller } = call
    const waitMs = Math.min(Number(query.waitMs ?? 0), LONGEST_WAIT_MS)
    if (waitMs > 0) {
      await call.waiting(waitMs, (waiter) => endedWithin(kernel, caller, params.id, waitMs, waiter))
      await call.readFromNow()
    }
    return showTask(kernel, caller, params.id)
  },
  changeTask: ({ kernel }, { params, body, caller, ifVersion }) =>
    updateTask(kernel, caller, params.id, body, ifVersion),
  listClaimsOfTask: async ({ kernel }, { params, caller }) => {
    const { store } = kernel
    const { workspaceId } = caller
    const { id } = await requireRecord(kernel, caller, params.id)
    const [claims, results] = await Promise.all([
      store.claims(workspaceId, id),
      resultHeads(store.readers, workspaceId, id),
    ])
    const sessions = claims.map(({ session }) => session)
    const users = await usersOf(store.readers, workspaceId, sessions)
    const items = claims.map((claim) => claimRowView(claim, results, users.get(claim.session) ?? null))
    return { items, nextCursor: null }
  },
  listDependencies: ({ kernel }, { params, caller }) => listDependencies(kernel, caller, params.id),
  cancelTask: operator('cancel'),
  pauseTask: operator('pause'),
  resumeTask: operator('resume'),
  retryTask: operator('retry'),
  resetTask: operator('reset'),
  archiveTask: operator('archive'),
})

import type { z } from 'zod'
import type { cancelTask } from '../core/api/tasks.ts'
import * as api from '../core/api/tasks.ts'
import type { TaskCreate } from '../core/shapes/tasks.ts'
import type { Caller } from '../kernel/kernel.ts'
import type { ServerKernel } from '../kernel/server-kernel.ts'
import { actsOf, type Call, type Door } from './acts.ts'
import { wantedId } from './asked.ts'
import { giveDefaultsOfMissions, missionsNamed } from './missions/joining.ts'
import { listDependencies } from './neighbours.ts'
import { namedProject } from './projects.ts'
import { saidIn } from './said.ts'
import { forSingleTask } from './single-task.ts'
import { commandOfAct, type TaskAct } from './task-acts.ts'
import { searchOf, taskPage } from './task-list.ts'
import { createTasks, operate, readStates, requireRecord } from './tasks.ts'
import { updateTask } from './update-task.ts'
import { claimRowView } from './views.ts'
import { endedWithin, showTask } from './whole-task.ts'

/** Tasks and what operators do to them. */

const LONGEST_WAIT_MS = 60_000

const create = async (kernel: ServerKernel, caller: Caller, tasks: readonly z.output<typeof TaskCreate>[]) =>
  createTasks(kernel, caller, tasks, await missionsNamed(kernel, caller, tasks))

const complete = ({ kernel }: Door, { caller, body }: { caller: Caller; body: unknown }) =>
  giveDefaultsOfMissions(kernel, caller, body)

const operator =
  (act: TaskAct) =>
  ({ kernel }: Door, { params, body, caller }: Call<typeof cancelTask>) =>
    operate(kernel, caller, params.id, commandOfAct(act, body), saidIn(body.comment))

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
      store.resultPages.heads(workspaceId, id),
    ])
    const sessions = claims.map(({ session }) => session)
    const users = await store.sessionMemory.usersOf(workspaceId, sessions)
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

import type { FollowingStep, StepContext, UpkeepStep } from '../../door/upkeep-step.ts'
import { systemCaller, throwIfNotLeader } from '../../kernel/caller.ts'
import type { Follower } from '../../kernel/follower.ts'
import { DEPENDENTS } from '../../kernel/store/log-followers.ts'
import { BATCH, type UpkeepContext } from '../../kernel/upkeep-context.ts'
import { isTerminal, taskStates } from '../../pure/states.ts'
import { failCycles } from './acts/dependencies.ts'
import { unblockAll } from './acts/unblock.ts'
import { driftedCounters, driftedProjectCounts, driftedTaskCounts } from './postgres/counters.ts'
import { recountClaims, recountMission, recountProject, recountTasks } from './rules/recount.ts'

/** Expired leases, due retries and scheduled starts, assignments that were not started, stalled and hung work. */
export async function settleDueTasks({ kernel, term, only }: UpkeepContext): Promise<number> {
  const due = await kernel.store.dueTasks(BATCH, only)
  // Before their due time is cleared: cycles are found here by the due time of their tasks.
  await failCycles(kernel, due, term)
  await Promise.all(
    due.map(async ({ workspaceId, taskId, uuid, version }) => {
      const command = { kind: 'elapse', version } as const
      const caller = systemCaller(workspaceId, term)
      throwIfNotLeader(await kernel.run(caller, { on: 'task', taskId, uuid, command }))
    }),
  )
  return due.length
}

const ENDED = taskStates.filter(isTerminal)

/** The safety net below `unblockDownstream`: tasks whose dependencies ended without them being unblocked. */
export const dependents: Follower = {
  name: DEPENDENTS,
  // Only where tasks are blocked (FOLLOWERS): one that is blocked later sees what has ended by then.
  wants: { to: [...ENDED, 'pending'], from: ENDED },
  async handle({ kernel, term }, workspaceId, events) {
    const { store } = kernel
    const ids = [...new Set(events.map(({ taskId }) => taskId).filter((id) => id !== null))]
    const unblocked = new Set<number>()
    for (;;) {
      const tasks = await store.missedAmong(workspaceId, ids, BATCH)
      // Some stay: a merge that has to wait for a part which is done again.
      if (tasks.every(({ taskId }) => unblocked.has(taskId))) return { did: unblocked.size }
      await unblockAll(kernel, tasks, { term })
      for (const { taskId } of tasks) unblocked.add(taskId)
    }
  },
}

/** Corrects counters that differ from what they count. Each correction is recorded as an event. */
async function reconcile(context: StepContext): Promise<number> {
  const { kernel, term, only } = context
  const drifted = await driftedCounters(kernel.store.readers, only)
  for (const { workspaceId } of drifted) await kernel.step({ workspaceId, term }, recountClaims)
  const { missionCounters } = kernel.store
  const missions = await missionCounters.drifted(only)
  for (const mission of missions)
    await kernel.step({ workspaceId: mission.workspaceId, term }, recountMission(mission))
  // On request. Otherwise it is a chore, since it reads all tasks.
  const recounted = only === undefined ? 0 : await reconcileTasks(context)
  return drifted.length + missions.length + recounted
}

async function reconcileTasks({ kernel, term, only }: StepContext): Promise<number> {
  const drifted = await driftedTaskCounts(kernel.store.readers, only)
  for (const { workspaceId } of drifted) await kernel.step({ workspaceId, term }, recountTasks)
  const projects = await driftedProjectCounts(kernel.store.readers, only)
  for (const { workspaceId, projectId } of projects)
    await kernel.step({ workspaceId, term }, recountProject(projectId))
  return drifted.length + projects.length
}

export const taskSteps: readonly (UpkeepStep | FollowingStep)[] = [
  { name: 'tasksMoved', phase: 'expire', everyMs: 0, run: settleDueTasks },
  { name: 'tasksUnblocked', phase: 'expire', everyMs: 0, follower: dependents },
  { name: 'countersCorrected', phase: 'repair', everyMs: 10_000, run: reconcile },
  { name: 'recount', phase: 'clean', everyMs: 3_600_000, run: reconcileTasks },
]

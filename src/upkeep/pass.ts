import type { ServerStore } from '../door/server-store.ts'
import { systemCaller } from '../kernel/caller.ts'
import { FOLLOWERS } from '../kernel/store/log-followers.ts'
import { BATCH, type UpkeepContext } from '../kernel/upkeep-context.ts'
import { commandAgent } from '../kinds/agent/acts/agents.ts'
import type { Assignment } from '../kinds/agent/acts/assignment.ts'
import { type AlertLooks, settleAlerts } from '../kinds/alert/upkeep.ts'
import { settleContractors, settleMissions } from '../kinds/mission/upkeep.ts'
import { reports } from '../kinds/report/upkeep.ts'
import { settleRoutines } from '../kinds/routine/upkeep.ts'
import { wakeByClock, wakeForWork } from '../kinds/run/acts/wakeups.ts'
import { recountClaims, recountMission, recountTasks } from '../kinds/task/rules/recount.ts'
import { cancelOrphans } from '../kinds/verification/acts/judge.ts'
import { Refused } from '../pure/errors.ts'
import { dependents } from './dependents.ts'
import { type Beside, following } from './follower.ts'
import { applyRetention, expireSessions, settleDueTasks } from './steps.ts'

/** The steps of the coordinator, in their order. Each is set-based and touches only what is due. */

export interface CoordinatorContext extends UpkeepContext<ServerStore> {
  /** Workspaces with agents that can get assignments, from the last query: a hint which commits matter. */
  assignable: Set<number>
  assignment: Assignment
  /** Which workspaces need not be looked at for alerts: a hint, too. */
  alertLooks: AlertLooks
  /** Without it, people are told of what is true at once only when it has lasted for some seconds. */
  alertGraceMs?: number | undefined
  /** Where followers of the log work beside the pass; without it, their steps wait for them. */
  beside?: Beside | undefined
}

/** Agents that stopped sending heartbeats, and agents that were to terminate after their current work. */
async function expireAgents(context: CoordinatorContext): Promise<number> {
  const { kernel, term, listeningSince, only } = context
  const due = await kernel.store.agents.due(BATCH, only)
  await Promise.all(
    due.map(({ workspaceId, slug }) =>
      commandAgent(kernel, systemCaller(workspaceId, term), slug, { kind: 'elapse', listeningSince }).catch(
        (error) => {
          // The agent was deleted in the meantime.
          if (!(error instanceof Refused) || error.code !== 'NOT_FOUND') throw error
        },
      ),
    ),
  )
  return due.length
}

/** Assigns work in every workspace with agents that can get assignments. */
async function assign(context: CoordinatorContext): Promise<number> {
  const workspaces = await context.kernel.store.assignment.workspaces(context.only)
  context.assignable.clear()
  for (const { workspaceId } of workspaces) context.assignable.add(workspaceId)
  const waiting = workspaces.filter(({ isWorkWaiting }) => isWorkWaiting)
  const assigned = await Promise.all(waiting.map(({ workspaceId }) => assignIn(context, workspaceId)))
  return assigned.reduce((sum, one) => sum + one, 0)
}

/** Assigns work, and wakes the agents that Baton runs at once. */
export async function assignIn(
  { kernel, term, assignment }: CoordinatorContext,
  workspaceId: number,
): Promise<number> {
  const assigned = await assignment.assign(kernel, {
    ...systemCaller(workspaceId, term),
    actor: 'coordinator',
  })
  if (assigned > 0) await wakeForWork(kernel, workspaceId, term)
  return assigned
}

/** Wakeups for assigned work without one, and for due timers. */
async function wake({ kernel, only, term }: CoordinatorContext): Promise<number> {
  return (await wakeForWork(kernel, only ?? null, term)) + (await wakeByClock(kernel, only, BATCH, term))
}

/** Corrects counters that differ from what they count. Each correction is recorded as an event. */
async function reconcile(context: CoordinatorContext): Promise<number> {
  const { kernel, term, only } = context
  const drifted = await kernel.store.counters.drifted(only)
  for (const { workspaceId } of drifted) await kernel.step({ workspaceId, term }, recountClaims)
  const { missionCounters } = kernel.store
  const missions = await missionCounters.drifted(only)
  for (const mission of missions)
    await kernel.step({ workspaceId: mission.workspaceId, term }, recountMission(mission))
  // On request. Otherwise it is a chore, since it reads all tasks.
  const recounted = only === undefined ? 0 : await reconcileTasks(context)
  return drifted.length + missions.length + recounted
}

async function reconcileTasks({ kernel, term, only }: CoordinatorContext): Promise<number> {
  const drifted = await kernel.store.taskCounts.drifted(only)
  for (const { workspaceId } of drifted) await kernel.step({ workspaceId, term }, recountTasks)
  return drifted.length
}

/** Workspaces that are older than a follower are followed from now on, or from their first event, as it says. */
async function followLogs({ kernel }: CoordinatorContext): Promise<void> {
  const { followers } = kernel.store
  for (const { workspaceId, follower } of await followers.unfollowed())
    await followers.follow(workspaceId, follower, FOLLOWERS[follower]!.from)
}

export interface UpkeepStep {
  /** Of the figure in the report of a pass. */
  name: string
  /** Returns how many records it handled. */
  run: (context: CoordinatorContext) => Promise<number>
  /** 0: in every pass. */
  everyMs: number
}

export interface Chore extends Omit<UpkeepStep, 'run'> {
  run: (context: CoordinatorContext) => Promise<unknown>
}

/** When a step has something to do by time alone, its query says so to `nextDue` (door/postgres/next-due.ts). */
export const STEPS: readonly UpkeepStep[] = [
  { name: 'agentsJudged', run: expireAgents, everyMs: 0 },
  { name: 'sessionsJudged', run: expireSessions, everyMs: 0 },
  { name: 'tasksMoved', run: settleDueTasks, everyMs: 0 },
  { name: 'tasksUnblocked', run: following(dependents), everyMs: 0 },
  { name: 'missionsSettled', run: settleMissions, everyMs: 0 },
  // After missions: one that has just ended makes room for the next.
  { name: 'routinesSettled', run: settleRoutines, everyMs: 0 },
  // Before assignment: a contractor whose mission is open again gets its tasks in the same pass.
  { name: 'contractorsSettled', run: settleContractors, everyMs: 0 },
  { name: 'orphansCancelled', run: cancelOrphans, everyMs: 5_000 },
  { name: 'tasksAssigned', run: assign, everyMs: 0 },
  { name: 'agentsWoken', run: wake, everyMs: 500 },
  // After assignment: what somebody took is nothing to tell people about.
  { name: 'alertsSettled', run: settleAlerts, everyMs: 1_000 },
  // Last of those that follow commits: nobody waits for it.
  { name: 'reportsWritten', run: following(reports), everyMs: 0 },
  { name: 'countersCorrected', run: reconcile, everyMs: 10_000 },
]

/** Steps that depend on time alone, and have no figure in the report. */
export const CHORES: readonly Chore[] = [
  { name: 'retention', run: applyRetention, everyMs: 600_000 },
  { name: 'recount', run: reconcileTasks, everyMs: 3_600_000 },
  { name: 'newFollowers', run: followLogs, everyMs: 3_600_000 },
  { name: 'oldNodes', run: ({ kernel }) => kernel.store.cluster.deleteOldNodes(), everyMs: 3_600_000 },
  { name: 'oldWakeups', run: ({ kernel }) => kernel.store.wakeups.forgetOld(), everyMs: 3_600_000 },
]

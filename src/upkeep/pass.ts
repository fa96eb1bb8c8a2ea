import { Refused } from '../core/errors.ts'
import { commandAgent } from '../flow/agents.ts'
import type { Assignment } from '../flow/assignment.ts'
import type { PassReport } from '../flow/coordination.ts'
import { type AlertLooks, settleAlerts } from '../flow/inbox/alerts.ts'
import { settleContractors, settleMissions } from '../flow/missions/upkeep.ts'
import { followMissions, writeReports } from '../flow/reports/write.ts'
import { settleRoutines } from '../flow/routines/upkeep.ts'
import { system } from '../flow/unblock.ts'
import { cancelOrphans } from '../flow/verification/judge.ts'
import { wakeByClock, wakeForWork } from '../flow/wakeups.ts'
import type { ServerStore } from '../store/server-store.ts'
import {
  applyRetention,
  BATCH,
  expireSessions,
  settleDueTasks,
  type UpkeepContext,
  unblockMissed,
} from './steps.ts'

/** The steps of the coordinator, in their order. Each is set-based and touches only what is due. */

export interface CoordinatorContext extends UpkeepContext<ServerStore> {
  /** Workspaces with agents that can get assignments, from the last query: a hint which commits matter. */
  assignable: Set<number>
  assignment: Assignment
  /** Which workspaces need not be looked at for alerts: a hint, too. */
  alertLooks: AlertLooks
  /** Without it, people are told of what is true at once only when it has lasted for some seconds. */
  alertGraceMs?: number | undefined
}

/** Agents that stopped sending heartbeats, and agents that were to terminate after their current work. */
async function expireAgents(context: CoordinatorContext): Promise<number> {
  const { kernel, term, listeningSince, only } = context
  const due = await kernel.store.agents.due(BATCH, only)
  await Promise.all(
    due.map(({ workspaceId, slug }) =>
      commandAgent(kernel, system(workspaceId, term), slug, { kind: 'elapse', listeningSince }).catch(
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
  const assigned = await assignment.assign(kernel, { ...system(workspaceId, term), actor: 'coordinator' })
  if (assigned > 0) await wakeForWork(kernel, workspaceId)
  return assigned
}

/** Missions whose gate closed or opened, and missions whose tasks have all ended. */
const settle = ({ kernel, term, only }: CoordinatorContext) => settleMissions(kernel, BATCH, { term, only })

/** Routines whose time has come. After missions: one that has just ended makes room for the next. */
const fireRoutines = ({ kernel, term, only }: CoordinatorContext) =>
  settleRoutines(kernel, BATCH, { term, only })

/** Before assignment: a contractor whose mission is open again gets its tasks in the same pass. */
const settleContracts = ({ kernel, term, only }: CoordinatorContext) =>
  settleContractors(kernel, BATCH, { term, only })

/** Verifications and planning that nothing needs any longer. */
const clean = ({ kernel, term, only }: CoordinatorContext) => cancelOrphans(kernel, BATCH, { term, only })

/** After assignment: what somebody took is nothing to tell people about. */
const alertPeople = (context: CoordinatorContext) => settleAlerts(context, context.alertLooks)

/** Last of those that follow commits: nobody waits for it. */
const report = ({ kernel, term, only }: CoordinatorContext) => writeReports(kernel, BATCH, { term, only })

/** Wakeups for assigned work without one, and for due timers. */
async function wake({ kernel, only }: CoordinatorContext): Promise<number> {
  return (await wakeForWork(kernel, only ?? null)) + (await wakeByClock(kernel, only, BATCH))
}

/** Corrects counters that differ from what they count. Each correction is recorded as an event. */
async function reconcile(context: CoordinatorContext): Promise<number> {
  const { kernel, term, only } = context
  const drifted = await kernel.store.counters.drifted(only)
  for (const { workspaceId } of drifted) await kernel.store.counters.correct(workspaceId, term)
  const { missionCounters } = kernel.store
  const missions = await missionCounters.drifted(only)
  for (const mission of missions) await missionCounters.correct(mission, term)
  // On request. Otherwise it is a chore, since it reads all tasks.
  const recounted = only === undefined ? 0 : await recountTasks(context)
  return drifted.length + missions.length + recounted
}

async function recountTasks({ kernel, term, only }: CoordinatorContext): Promise<number> {
  const drifted = await kernel.store.taskCounts.drifted(only)
  for (const { workspaceId } of drifted) await kernel.store.taskCounts.correct(workspaceId, term)
  return drifted.length
}

async function followLogs({ kernel }: CoordinatorContext): Promise<number> {
  await followMissions(kernel)
  return 0
}

async function deleteOldNodes({ kernel }: CoordinatorContext): Promise<number> {
  await kernel.store.cluster.deleteOldNodes()
  return 0
}

async function deleteOldWakeups({ kernel }: CoordinatorContext): Promise<number> {
  await kernel.store.wakeups.forgetOld()
  return 0
}

export interface UpkeepStep {
  name: keyof PassReport
  run: (context: CoordinatorContext) => Promise<number>
  /** 0: in every pass. */
  everyMs: number
}

export const STEPS: readonly UpkeepStep[] = [
  { name: 'agentsJudged', run: expireAgents, everyMs: 0 },
  { name: 'sessionsJudged', run: expireSessions, everyMs: 0 },
  { name: 'tasksMoved', run: settleDueTasks, everyMs: 0 },
  { name: 'tasksUnblocked', run: unblockMissed, everyMs: 0 },
  { name: 'missionsSettled', run: settle, everyMs: 0 },
  { name: 'routinesSettled', run: fireRoutines, everyMs: 0 },
  { name: 'contractorsSettled', run: settleContracts, everyMs: 0 },
  { name: 'orphansCancelled', run: clean, everyMs: 5_000 },
  { name: 'tasksAssigned', run: assign, everyMs: 0 },
  { name: 'agentsWoken', run: wake, everyMs: 500 },
  { name: 'alertsSettled', run: alertPeople, everyMs: 1_000 },
  { name: 'reportsWritten', run: report, everyMs: 0 },
  { name: 'countersCorrected', run: reconcile, everyMs: 10_000 },
]

/** Steps that need not run in every pass. */
export const CHORES: readonly Pick<UpkeepStep, 'run' | 'everyMs'>[] = [
  { run: applyRetention, everyMs: 600_000 },
  { run: recountTasks, everyMs: 3_600_000 },
  { run: followLogs, everyMs: 3_600_000 },
  { run: deleteOldNodes, everyMs: 3_600_000 },
  { run: deleteOldWakeups, everyMs: 3_600_000 },
]

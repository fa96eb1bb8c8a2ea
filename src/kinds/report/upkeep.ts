import type { RunKernel } from '../../door/server-kernel.ts'
import type { FollowingStep } from '../../door/upkeep-step.ts'
import { systemCaller } from '../../kernel/caller.ts'
import type { Follower } from '../../kernel/follower.ts'
import type { Caller } from '../../kernel/kernel.ts'
import { type FollowedEvent, REPORTS } from '../../kernel/store/log-followers.ts'
import type { EndInLog, RunStore } from '../../kernel/store/run-store.ts'
import { grouped } from '../../pure/grouped.ts'
import { isTerminal, taskStates } from '../../pure/states.ts'
import { answeredReport, askReporter } from './acts/by-agent.ts'
import { type Draft, keepReports } from './acts/keep.ts'
import type { TaskMaterial } from './rules/material.ts'
import { MOST_TASKS, missionReport } from './rules/mission-report.ts'
import { typeOfTaskReport } from './rules/report.ts'
import { taskReport } from './rules/task-report.ts'

/**
 * Reports by rule. The log is followed, so that the end of a task costs nothing more; each end is seen at least once, also
 * after a crash, and reported on once.
 */

/** Reports that one transaction writes. */
const REPORTS_AT_A_TIME = 100

const ENDED = taskStates.filter(isTerminal)

export const reports: Follower<RunStore> = {
  name: REPORTS,
  wants: { to: ENDED, inMissions: true },
  async handle({ kernel, term }, workspaceId, events) {
    const ends = endsIn(events)
    // What a run cost is known when it is over, a moment after its result.
    const ofTasks = ends.filter((end): end is EndInLog & { taskId: number } => end.taskId !== null)
    const settling = new Set(await kernel.store.reports.settling(workspaceId, ofTasks))
    const waitsAt = ends.find(({ taskId }) => taskId !== null && settling.has(taskId))?.seq
    const settled = waitsAt === undefined ? ends : ends.filter(({ seq }) => seq < waitsAt)
    for (const [missionId, own] of grouped(settled, (end) => end.missionId))
      await reportOn(kernel, systemCaller(workspaceId, term), missionId, own)
    return { did: settled.length, waitsAt }
  },
}

/** The last end of each task and mission, in the order of the log. */
function endsIn(events: readonly FollowedEvent[]): EndInLog[] {
  const last = new Map<string, EndInLog>()
  for (const { seq, missionId, taskId, type, actor, at } of events)
    last.set(`${missionId} ${taskId}`, { seq, missionId: missionId!, taskId, type, actor, at })
  return [...last.values()].sort((a, b) => a.seq - b.seq)
}

async function reportOn(
  kernel: RunKernel,
  caller: Caller,
  missionId: number,
  ends: readonly EndInLog[],
): Promise<void> {
  for (let from = 0; from < ends.length; from += REPORTS_AT_A_TIME) {
    const some = ends.slice(from, from + REPORTS_AT_A_TIME)
    const drafts = await draftsFor(kernel, caller, missionId, some)
    if (drafts.length > 0) await keepReports(kernel, caller, missionId, drafts)
  }
}

async function draftsFor(
  kernel: RunKernel,
  caller: Caller,
  missionId: number,
  ends: readonly EndInLog[],
): Promise<Draft[]> {
  const { workspaceId } = caller
  const ids = ends.map(({ taskId }) => taskId).filter((id) => id !== null)
  const tasks = ids.length === 0 ? [] : await kernel.store.reports.materialOfTasks(workspaceId, ids)
  const byId = new Map(tasks.map((task) => [task.id, task]))
  const drafts: Draft[] = []
  for (const end of ends) {
    const task = end.taskId === null ? null : byId.get(end.taskId)
    const draft =
      task === null
        ? await onMission(kernel, caller, missionId, end)
        : task && (await onTask(kernel, workspaceId, task, end))
    if (draft) drafts.push(draft)
  }
  return drafts
}

/** Null if the task was reopened, has a later end, or never started. */
async function onTask(
  kernel: RunKernel,
  workspaceId: number,
  task: TaskMaterial,
  end: EndInLog,
): Promise<Draft | null> {
  if (task.completedAt !== end.at) return null
  if (task.purpose === 'report') return answeredReport(kernel, workspaceId, task, end)
  const hasFailed = task.state === 'failed'
  const isWorthIt = task.state === 'completed' || hasFailed || task.startedAt !== null
  if (task.purpose !== 'work' || !isWorthIt) return null
  const { id, uuid, generation, taskType } = task
  return {
    ...{ task: { id, uuid, generation }, source: 'rule', endedSeq: end.seq },
    type: typeOfTaskReport(taskType, hasFailed),
    markdown: taskReport(task, end, await kernel.actorNames.of(workspaceId, [end.actor])),
  }
}

async function onMission(
  kernel: RunKernel,
  caller: Caller,
  missionId: number,
  end: EndInLog,
): Promise<Draft | null> {
  const { workspaceId } = caller
  const mission = await kernel.store.missions.find(workspaceId, missionId)
  if (mission?.completedAt !== end.at) return null
  const read = await kernel.store.reports.materialOfMission(workspaceId, missionId, MOST_TASKS)
  const material = { mission: mission!, ...read }
  await askReporter(kernel, caller, material, end.seq)
  const actors = [end.actor, ...material.timeline.map(({ actor }) => actor)]
  const markdown = missionReport(material, end, await kernel.actorNames.of(workspaceId, actors))
  return { task: null, type: 'summary', source: 'rule', endedSeq: end.seq, markdown }
}

export const reportSteps: readonly FollowingStep[] = [
  // Nobody waits for it.
  { name: 'reportsWritten', phase: 'tell', everyMs: 0, follower: reports },
]

import { Refused } from '../../core/errors.ts'
import { grouped } from '../../core/grouped.ts'
import type { TaskMaterial } from '../../core/reports/material.ts'
import { MOST_TASKS, missionReport } from '../../core/reports/mission-report.ts'
import { typeOfTaskReport } from '../../core/reports/report.ts'
import { taskReport } from '../../core/reports/task-report.ts'
import { backoffMs } from '../../core/retry.ts'
import type { Caller } from '../../kernel/kernel.ts'
import type { RunKernel } from '../../kernel/server-kernel.ts'
import { type LogRange, REPORTS } from '../../store/log-followers.ts'
import type { EndInLog, RunStore } from '../../store/run-store.ts'
import { system } from '../unblock.ts'
import { BATCH, type UpkeepContext } from '../upkeep-context.ts'
import { answeredReport, askReporter } from './by-agent.ts'
import { type Draft, keepReports } from './keep.ts'

/**
 * Reports by rule. The log is followed, so that the end of a task costs nothing more; each end is seen at least once, also
 * after a crash, and reported on once.
 */

const AT_A_TIME = { workspaces: 8, events: 5_000, leaseMs: 30_000 }
/** Reports that one transaction writes. */
const REPORTS_AT_A_TIME = 100

/** Returns how many ends it handled; a full batch when there are more. */
export async function writeReports({ kernel, term, only }: UpkeepContext<RunStore>): Promise<number> {
  const ranges = await kernel.store.followers.next(REPORTS, { ...AT_A_TIME, only })
  const handled = await Promise.all(ranges.map((range) => handle(kernel, range, term)))
  if (handled.some(({ hasMore }) => hasMore)) return BATCH
  return handled.reduce((sum, { ends }) => sum + ends, 0)
}

async function handle(kernel: RunKernel, range: LogRange, term: number | undefined) {
  const { followers, reports } = kernel.store
  const { workspaceId, after, upTo, failures } = range
  try {
    const found = await reports.endsIn(workspaceId, range)
    const ends = found.sort((a, b) => a.seq - b.seq)
    // What a run cost is known when it is over, a moment after its result.
    const settling = ends.find(({ isSettling }) => isSettling)
    const settled = settling ? ends.filter(({ seq }) => seq < settling.seq) : ends
    const caller = system(workspaceId, term)
    for (const [missionId, own] of grouped(settled, (end) => end.missionId))
      await reportOn(kernel, caller, missionId, own)
    await followers.advance({ ...range, upTo: settling ? settling.seq - 1 : upTo })
    return { ends: settled.length, hasMore: !settling && upTo - after === AT_A_TIME.events }
  } catch (error) {
    const isOver = error instanceof Refused && error.code === 'NOT_LEADER'
    await followers.postpone(range, isOver ? 0 : backoffMs(failures + 1))
    throw error
  }
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

/** Null: it is open again, or has ended once more, which is another event. Or nothing came of it. */
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
    markdown: taskReport(task, end),
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
  const markdown = missionReport(material, end)
  return { task: null, type: 'summary', source: 'rule', endedSeq: end.seq, markdown }
}

/** Missions that are older than reports are followed from now on. */
export async function followMissions({ kernel }: UpkeepContext<RunStore>): Promise<void> {
  const { reports, followers } = kernel.store
  for (const { workspaceId } of await reports.unfollowed())
    await followers.follow(workspaceId, REPORTS, 'now')
}

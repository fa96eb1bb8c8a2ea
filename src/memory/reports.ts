import type { Changes } from '../kernel/batch/requests.ts'
import type { Reported, ReportSubject, StoredReport } from '../kernel/store/run-store.ts'
import type { MissionMaterial, TaskMaterial } from '../kinds/report/rules/material.ts'
import { LIVE_RUN_STATES } from '../kinds/run/states.ts'
import type { UsageSource } from '../kinds/usage/record.ts'
import { byId } from './missions.ts'
import { usedForTask } from './used.ts'
import type { Workspace } from './workspace.ts'

/** Reports in the memory store, and what they are made from. */

export function writeReports(workspace: Workspace, changes: Changes): void {
  for (const { task, missionId, ...report } of changes.reports)
    workspace.reports.push({
      ...report,
      id: workspace.reports.length + 1,
      missionId,
      mission: byId(workspace, missionId)!.uuid,
      taskId: task?.id ?? null,
      task: task?.uuid ?? null,
    })
}

export const newestReport = (
  { reports }: Workspace,
  { missionId, taskId }: ReportSubject,
  version?: number,
): StoredReport | null =>
  reports.findLast(
    (one) => one.missionId === missionId && one.taskId === taskId && (version ?? one.version) === one.version,
  ) ?? null

export const reportedEnds = (
  { reports }: Workspace,
  missionId: number,
  subjects: readonly number[],
): Reported[] =>
  subjects.flatMap((subject) => {
    const own = reports.filter((one) => one.missionId === missionId && (one.taskId ?? 0) === subject)
    const ends = own.map(({ endedSeq }) => endedSeq).filter((seq) => seq !== null)
    return own.length === 0
      ? []
      : { subject, version: own.length, endedSeq: ends.length === 0 ? null : Math.max(...ends) }
  })

const WAITS_FOR_RUNS_MS = 30_000

export function settlingTasks(
  { runs }: Workspace,
  ends: readonly { taskId: number; at: number }[],
  now: number,
): number[] {
  const busy = [...runs.values()].filter(({ status }) => LIVE_RUN_STATES.includes(status as never))
  const working = new Set(busy.map(({ taskId }) => taskId))
  return ends
    .filter(({ taskId, at }) => working.has(taskId) && at > now - WAITS_FOR_RUNS_MS)
    .map(({ taskId }) => taskId)
}

export const materialOfTasks = (workspace: Workspace, taskIds: readonly number[]): TaskMaterial[] =>
  taskIds.flatMap((id) => {
    const record = workspace.tasks.get(id)
    const details = workspace.details.get(id)
    if (!record || !details) return []
    const { uuid, generation, purpose, state, agent, attempt, createdAt, startedAt, completedAt } = record
    const runs = [...workspace.runs].filter(([, run]) => run.taskId === id)
    const verifications = [...workspace.tasks.values()].filter(({ serves }) => serves?.taskId === id)
    const ended = (workspace.claims.get(id) ?? []).filter((claim) => claim.endedAt !== null)
    return {
      ...{ id, uuid, generation, purpose, state, agent, attempt, createdAt, startedAt, completedAt },
      ...{ title: details.title, taskType: details.taskType, error: details.error ?? null },
      failureClass: details.failureClass ?? null,
      estimatedTokens: details.plan?.estimatedTokens ?? null,
      summary: acceptedOf(workspace, id)?.summary ?? null,
      attempts: ended.map((claim) => ({
        ...{ generation: claim.generation, agent: claim.agent, acquiredAt: claim.acquiredAt },
        ...{
          endedAt: claim.endedAt!,
          endReason: claim.endReason! as TaskMaterial['attempts'][number]['endReason'],
        },
      })),
      runs: runs.map(([runId, run]) => ({
        ...{ id: runId, agent: run.agent, model: run.model, status: run.status },
        ...{ error: run.errorMessage, generation: run.generation },
      })),
      verdicts: verifications.map((one) => ({
        ...{ taskId: one.uuid, generation: one.serves!.generation, state: one.state, verifier: one.agent },
        answer: acceptedOf(workspace, one.id)?.data ?? null,
      })),
      ...spentOn(workspace, id),
    }
  })

const acceptedOf = ({ results }: Workspace, id: number) =>
  (results.get(id) ?? []).findLast(({ accepted }) => accepted === true)

export function acceptedAnswer(workspace: Workspace, id: number): { data: unknown } | null {
  const found = acceptedOf(workspace, id)
  return found ? { data: found.data } : null
}

function spentOn(workspace: Workspace, id: number) {
  const { tokens, costUsd } = usedForTask(workspace, id)
  return { tokens, usd: costUsd, isSimulated: isSimulated(workspace, ({ taskId }) => taskId === id) }
}

const isSimulated = ({ usageSources }: Workspace, isWanted: (source: UsageSource) => boolean) =>
  [...usageSources.values()].some((one) => one.isSimulated && isWanted(one))

export function materialOfMission(
  workspace: Workspace,
  missionId: number,
  limit: number,
): Omit<MissionMaterial, 'mission'> {
  const work = [...workspace.tasks.values()]
    .filter((task) => task.missionId === missionId && task.purpose === 'work')
    .sort((a, b) => Number(a.state !== 'failed') - Number(b.state !== 'failed') || a.id - b.id)
  const own = workspace.events.filter((event) => event.missionId === missionId)
  // Answers of verifiers and planners are accepted by the same events.
  const isOnWork = (taskId: number | null) =>
    taskId !== null && workspace.tasks.get(taskId)?.purpose === 'work'
  const count = (type: string) => own.filter((event) => event.type === type && isOnWork(event.taskId)).length
  return {
    tasks: work.slice(0, limit).map(({ id, uuid, state, agent, attempt, optional }) => {
      const { title, error, failureClass } = workspace.details.get(id)!
      return {
        ...{ uuid, state, agent, attempt, optional, title, ...spentOn(workspace, id) },
        ...{ error: error ?? null, failureClass: failureClass ?? null },
        summary: acceptedOf(workspace, id)?.summary ?? null,
      }
    }),
    timeline: own.filter(({ taskId, type }) => taskId === null && type.startsWith('mission_')).slice(-100),
    isSimulated: isSimulated(workspace, (one) => one.missionId === missionId),
    verdicts: {
      passed: count('task_verification_passed'),
      failed: count('task_verification_failed'),
      approved: count('task_human_approved'),
      rejected: count('task_human_rejected'),
    },
  }
}

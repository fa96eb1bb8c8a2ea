import type { Changes, ReadSet } from '../kernel/batch/requests.ts'
import type { MissionToSettle, StoredPlanTask, TaskChore } from '../kernel/store/run-store.ts'
import type { SeenOf } from '../kinds/kind.ts'
import { type MissionRecord, NO_COUNTS } from '../kinds/mission/record.ts'
import type { CostOfTask } from '../kinds/mission/rules/command.ts'
import { mayChangePhase, openTasks, withDelta } from '../kinds/mission/rules/counts.ts'
import { gateOf, letsThrough, openFor, type SeenGate } from '../kinds/mission/rules/gate.ts'
import type { SkippedTask } from '../kinds/mission/rules/retry.ts'
import { isSnapshotDue, isSpent } from '../kinds/mission/rules/spending.ts'
import { isEnd } from '../kinds/mission/states.ts'
import { picosOf } from '../kinds/run/rules/dollars.ts'
import type { RunsChanges } from '../kinds/run/rules/step.ts'
import type { TaskRecord } from '../kinds/task/record.ts'
import { hasTold } from '../kinds/usage/rules/book.ts'
import { sumOfDollars } from '../pure/money.ts'
import { isHeld, isTerminal } from '../pure/states.ts'
import { usedForTask } from './used.ts'
import type { Workspace } from './workspace.ts'

/** Missions in the memory store. */

export const byId = ({ missions }: Workspace, id: number) =>
  [...missions.values()].find((mission) => mission.id === id)

export function lockedMissions(
  workspace: Workspace,
  { kinds, missions }: Pick<ReadSet, 'kinds' | 'missions'>,
): Map<string, SeenOf<'mission'>> {
  const named = kinds.mission.map((uuid) => workspace.missions.get(uuid))
  const numbered = missions.map((id) => byId(workspace, id))
  const found = [...named, ...numbered].filter((mission) => mission !== undefined)
  return new Map(found.map((record) => [record.uuid, { record: { ...record }, holding: [] }]))
}

export function gatesOf(workspace: Workspace, records: Iterable<TaskRecord>): Map<number, SeenGate> {
  const gates = new Map<number, SeenGate>()
  for (const { missionId } of records) {
    const mission = missionId === null ? undefined : byId(workspace, missionId)
    if (mission) gates.set(mission.id, gateOf(mission, mission.counts))
  }
  return gates
}

export function isLetThrough(workspace: Workspace, { missionId, purpose }: TaskRecord): boolean {
  const mission = missionId === null ? undefined : byId(workspace, missionId)
  return !mission || letsThrough(mission, purpose)
}

/** Missions that end, or open again, with these changes, and that the batch did not lock: it is decided once more. */
export function missionsToLock(
  workspace: Workspace,
  { kinds, missions }: Pick<ReadSet, 'kinds' | 'missions'>,
  changes: Changes,
): number[] {
  return [...changes.missions.deltas].flatMap(([id, delta]) => {
    const mission = byId(workspace, id)
    if (!mission || missions.includes(id) || kinds.mission.includes(mission.uuid)) return []
    return mayChangePhase(mission.counts, delta) ? [id] : []
  })
}

export function writeMissions(workspace: Workspace, changes: Changes): void {
  for (const record of changes.kinds.mission.written) {
    // Its counts change by deltas alone.
    const counts = workspace.missions.get(record.uuid)?.counts ?? NO_COUNTS
    const { plan } = record
    workspace.missions.set(record.uuid, { ...record, counts, plan: plan && { ...plan, body: null } })
  }
  for (const { uuid, plan } of changes.missions.plans)
    workspace.missionPlans.set(uuid, [...(workspace.missionPlans.get(uuid) ?? []), plan])
  for (const [id, delta] of changes.missions.deltas) {
    const mission = byId(workspace, id)
    if (mission)
      workspace.missions.set(mission.uuid, { ...mission, counts: withDelta(mission.counts, delta) })
  }
}

/** What a task cost, added to the totals of its mission. */
export function spend(
  workspace: Workspace,
  { taskId, tokens, usd, runs, unknownRuns, notionalUsd }: RunsChanges['spent'][number],
): void {
  const missionId = workspace.tasks.get(taskId)?.missionId ?? null
  const mission = missionId === null ? undefined : byId(workspace, missionId)
  if (!mission) return
  const { counts } = mission
  const after = {
    ...counts,
    tokens: Math.max(0, counts.tokens + tokens),
    usd: sumOfDollars(counts.usd, usd),
    notionalUsd: sumOfDollars(counts.notionalUsd, notionalUsd),
    runs: counts.runs + runs,
    unknownRuns: counts.unknownRuns + unknownRuns,
  }
  workspace.missions.set(mission.uuid, { ...mission, counts: after })
}

/** What upkeep has to do, as in Postgres (upkeep/missions.ts). */
export function missionsToSettle(workspace: Workspace, now: number): MissionToSettle[] {
  return [...workspace.missions.values()].flatMap((mission) => {
    const chore = choreOf(workspace, mission, now)
    return chore === null
      ? []
      : { workspaceId: workspace.id, missionId: mission.id, uuid: mission.uuid, chore }
  })
}

function choreOf(workspace: Workspace, mission: MissionRecord, now: number): MissionToSettle['chore'] | null {
  const { phase, closedBy, counts, config, retryAt } = mission
  if (isEnd(phase)) return null
  const has = (chore: TaskChore) => tasksFor(workspace, mission.id, chore).length > 0
  if (phase !== 'running' && !closedBy.includes('cancelling')) {
    if (phase === 'planning' && !isBeingPlanned(workspace, mission.id)) return 'planFailed'
    const isPlanned = phase === 'planning' || phase === 'awaiting_approval'
    if (isPlanned && !closedBy.includes('budget') && isSpent(mission)) return 'budget'
    if (closedBy.length === 0 && isToStart(workspace, mission, now)) return 'start'
    return openFor(mission) === 'none' ? (has('hold') ? 'hold' : null) : has('release') ? 'release' : null
  }
  if (config.outcome?.isPlanning && !isBeingPlanned(workspace, mission.id)) return 'planFailed'
  if (retryAt !== null) return 'retry'
  const isWaiting = config.outcome !== undefined && !closedBy.includes('cancelling')
  if (openTasks(counts) === 0 && !isWaiting) return 'settle'
  if (closedBy.includes('cancelling')) return 'cancel'
  if (!closedBy.includes('budget') && isSpent(mission)) return 'budget'
  if (config.onFailure === 'stop' && (counts.byState.failed ?? 0) > counts.failedOptional) return 'settle'
  if (openFor(mission) === 'none' && has('hold')) return 'hold'
  if (openFor(mission) === 'all' && has('release')) return 'release'
  return isSnapshotDue(mission) ? 'snapshot' : null
}

/** Its time has come, or the mission that it waits for has ended. */
function isToStart(workspace: Workspace, { phase, dueAt, afterId }: MissionRecord, now: number): boolean {
  if (dueAt !== null) return dueAt <= now
  const before = phase === 'pending' && afterId !== null ? byId(workspace, afterId) : undefined
  return before !== undefined && isEnd(before.phase)
}

const isBeingPlanned = ({ tasks }: Workspace, id: number) =>
  [...tasks.values()].some(
    ({ missionId, purpose, state }) => missionId === id && purpose === 'planning' && !isTerminal(state),
  )

const IS_FOR: Record<TaskChore, (task: TaskRecord, mission: MissionRecord) => boolean> = {
  hold: ({ state }) => isHeld(state),
  cancel: ({ state }) => !isTerminal(state),
  release: ({ state, continuation }) => state === 'paused' && continuation?.pausedByMission === true,
  retry: ({ state, purpose, completedAt }, { retryAt }) =>
    state === 'failed' && purpose === 'work' && retryAt !== null && completedAt! <= retryAt,
}

export function tasksFor(workspace: Workspace, missionId: number, chore: TaskChore): TaskRecord[] {
  const mission = byId(workspace, missionId)!
  const own = [...workspace.tasks.values()].filter((task) => task.missionId === missionId)
  return own.filter((task) => IS_FOR[chore](task, mission))
}

export function skippedIn({ tasks, dependencies }: Workspace, missionId: number): SkippedTask[] {
  const skipped = [...tasks.values()].filter(
    (task) => task.missionId === missionId && task.state === 'skipped',
  )
  return skipped.flatMap(({ id, uuid, upstream }) => {
    const edges = [...(dependencies.get(id) ?? [])]
    const dependsOn = edges.map(([on]) => ({ id: on, state: tasks.get(on)!.state }))
    return edges[0] ? { id, uuid, upstream, rule: edges[0][1].rule, dependsOn } : []
  })
}

export function costliest(workspace: Workspace, missionId: number, limit: number): CostOfTask[] {
  const used = [...workspace.usageSources.values()].filter(
    (one) => one.missionId === missionId && hasTold(one),
  )
  const costs = [...new Set(used.map(({ taskId }) => taskId!))].map((id): CostOfTask => {
    return { taskId: workspace.tasks.get(id)!.uuid, ...usedForTask(workspace, id) }
  })
  const picos = ({ costUsd }: CostOfTask) => (costUsd === null ? -1n : picosOf(costUsd))
  const byCost = (a: CostOfTask, b: CostOfTask) =>
    Number(picos(b) - picos(a)) || b.tokens - a.tokens || (a.taskId < b.taskId ? -1 : 1)
  return costs.sort(byCost).slice(0, limit)
}

/** Its tasks that come from its plan, in the order of the plan. */
export const planTasks = ({ tasks, details }: Workspace, id: number): StoredPlanTask[] =>
  [...tasks.values()]
    .flatMap((task) => {
      const { tempId, sequenceNumber } = details.get(task.id)!.plan ?? {}
      if (task.missionId !== id || task.purpose !== 'work') return []
      if (tempId == null || sequenceNumber == null) return []
      return {
        id: task.id,
        uuid: task.uuid,
        tempId,
        sequenceNumber,
        state: task.state,
        generation: task.generation,
      }
    })
    .sort((a, b) => a.sequenceNumber - b.sequenceNumber)

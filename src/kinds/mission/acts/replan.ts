import { createHash } from 'node:crypto'
import type { ServerKernel } from '../../../door/server-kernel.ts'
import type { Caller } from '../../../kernel/kernel.ts'
import type { StoredPlanTask } from '../../../kernel/store/run-store.ts'
import { Refused } from '../../../pure/errors.ts'
import { idCarriedBy } from '../../../pure/ids.ts'
import { isTerminal } from '../../../pure/states.ts'
import { addDollars } from '../../run/rules/dollars.ts'
import type { NewTask, OnTask, TaskCommand } from '../../task/command.ts'
import { modelOf } from '../../task/rules/new-task.ts'
import { canonicalJson } from '../plan/canonical.ts'
import { type EstimateOptions, estimateTasks, type PlanEstimate } from '../plan/estimate.ts'
import type { MissionPlan } from '../plan/mission-plan.ts'
import { type PlanPreview, previewOf } from '../plan/replan.ts'
import type { MissionRecord } from '../record.ts'
import { pricedByAgents } from './agent-models.ts'
import { missionPlan, tasksOf } from './plan-tasks.ts'

/** A newer plan for a mission that runs: what it would change, and the changes themselves. */

export interface Replanning {
  preview: PlanPreview & { digest: string }
  tasks: NewTask[]
  changes: OnTask[]
  /** Tokens and dollars: what is spent, and the tasks that are still to be done. */
  estimate: Pick<PlanEstimate, 'estimatedTokens' | 'costUsd'>
}

/** The newest plan, if it is a proposal for a mission that runs, against what there is now. */
export async function replanningOf(
  kernel: ServerKernel,
  { workspaceId }: Caller,
  mission: MissionRecord,
  newer: MissionPlan,
  cancel: readonly string[] = [],
): Promise<Replanning> {
  const { missions } = kernel.store
  const followed = await missions.plan(workspaceId, mission.id, mission.approved!.version)
  const existing = await missions.planTasks(workspaceId, mission.id)
  const preview = previewOf(missionPlan(JSON.parse(followed!.body!)), newer, existing, new Set(cancel))
  const known = new Set(existing.map(({ tempId }) => tempId))
  const unknown = cancel.findIndex((tempId) => !known.has(tempId))
  if (unknown !== -1)
    throw Refused.field('VALIDATION_FAILED', `cancel[${unknown}]`, 'names no task of the plan')
  const digest = createHash('sha256').update(canonicalJson(preview)).digest('hex')
  const whole = tasksOf(newer, mission)
  return {
    preview: { ...preview, digest },
    ...changesOf(newer, whole, existing, preview),
    estimate: estimateOf(newer, existing, mission, await pricedByAgents(kernel, workspaceId)),
  }
}

function estimateOf(
  newer: MissionPlan,
  existing: readonly StoredPlanTask[],
  mission: MissionRecord,
  prices: EstimateOptions,
) {
  const ended = new Set(existing.filter(({ state }) => isTerminal(state)).map(({ tempId }) => tempId))
  const rest = newer.tasks.filter(({ tempId, cancel }) => !ended.has(tempId) && !cancel)
  const { estimatedTokens, costUsd } = estimateTasks(
    rest.map((task) => ({ ...task, id: task.tempId, model: modelOf(task, mission.config) })),
    prices,
  )
  const { counts } = mission
  return {
    estimatedTokens: counts.tokens + estimatedTokens,
    costUsd: costUsd === null ? null : addDollars(counts.usd, costUsd),
  }
}

/** Where the tasks of the newer plan are: among the existing ones, or among those that are added. */
interface Places {
  existing: ReadonlyMap<number, { id: number; uuid: string }>
  added: ReadonlyMap<number, number>
}

function changesOf(
  newer: MissionPlan,
  whole: readonly NewTask[],
  existing: readonly StoredPlanTask[],
  preview: PlanPreview,
): Pick<Replanning, 'tasks' | 'changes'> {
  const placeOf = new Map(newer.tasks.map(({ tempId }, place) => [tempId, place]))
  const at = (tempId: string) => placeOf.get(tempId)!
  const places: Places = {
    existing: new Map(
      existing.flatMap(({ tempId, id, uuid }) => (placeOf.has(tempId) ? [[at(tempId), { id, uuid }]] : [])),
    ),
    added: new Map(preview.added.map((tempId, i) => [at(tempId), i])),
  }
  const last = Math.max(0, ...existing.map(({ sequenceNumber }) => sequenceNumber))
  const tasks = preview.added.map((tempId, i) => numbered(asAdded(whole[at(tempId)]!, places), last + i + 1))
  const numbers = new Map(existing.map(({ tempId, sequenceNumber }) => [tempId, sequenceNumber]))
  const changed = preview.changed.map(({ tempId, taskId, fields, when }): OnTask => {
    const task = numbered(whole[at(tempId)]!, numbers.get(tempId)!)
    const isNow = when === 'now'
    const command = replanOf(task, fields, isNow && NEW_EDGES.some((field) => fields.includes(field)), places)
    return { taskId: idCarriedBy(taskId)!, uuid: taskId, command, expects: isNow ? 'never_claimed' : 'open' }
  })
  const isBegun = new Map(existing.map(({ tempId, generation }) => [tempId, generation > 0]))
  const cancelled = preview.cancelled.map(({ tempId, taskId }): OnTask => {
    const command = { kind: 'cancel', reason: 'It is no longer in the plan.' } as const
    const expects = isBegun.get(tempId) ? 'open' : 'never_claimed'
    return { taskId: idCarriedBy(taskId)!, uuid: taskId, command, expects }
  })
  return { tasks, changes: [...changed, ...cancelled] }
}

const NEW_EDGES = ['dependsOn', 'triggerRule']

const numbered = (task: NewTask, sequenceNumber: number): NewTask => ({
  ...task,
  details: { ...task.details, plan: { ...task.details.plan!, sequenceNumber } },
})

/** The dependencies of a task of the plan, as far as they exist, and on tasks that are added. */
function edgesOf(task: NewTask, { existing, added }: Places) {
  const isOrder = (place: number) => task.orderOnly?.onNew.includes(place)
  const kindOf = (order: boolean | undefined) => (order ? 'order' : 'data') as 'order' | 'data'
  const outside = task.dependsOn.map((id, i) => ({
    ...{ id, uuid: task.details.dependsOn[i]! },
    kind: kindOf(task.orderOnly?.on.includes(id)),
  }))
  const inside = task.dependsOnNew.flatMap((place) => {
    const known = existing.get(place)
    return known ? [{ ...known, kind: kindOf(isOrder(place)) }] : []
  })
  const onNew = task.dependsOnNew.flatMap((place) => {
    const at = added.get(place)
    return at === undefined ? [] : [{ at, kind: kindOf(isOrder(place)) }]
  })
  return { on: [...outside, ...inside], onNew }
}

function asAdded(task: NewTask, places: Places): NewTask {
  const { on, onNew } = edgesOf(task, places)
  const inOrder = <T extends { kind: string }>(edges: readonly T[]) =>
    edges.filter(({ kind }) => kind === 'order')
  return {
    ...task,
    dependsOn: on.map(({ id }) => id),
    dependsOnNew: onNew.map(({ at }) => at),
    orderOnly: { on: inOrder(on).map(({ id }) => id), onNew: inOrder(onNew).map(({ at }) => at) },
    details: { ...task.details, dependsOn: on.map(({ uuid }) => uuid) },
  }
}

function replanOf(
  task: NewTask,
  changed: readonly string[],
  hasNewEdges: boolean,
  places: Places,
): TaskCommand {
  const { priority, maxRetries, maxContinuations, onlyAgent, capabilities, verification, optional } = task
  const { timers, continuation, agentChoice } = task
  const { title, description, taskType, tags, input, plan } = task.details
  return {
    kind: 'replan',
    details: { title, description, taskType, tags, input: input ?? null, plan },
    fields: {
      ...{ priority, maxRetries, maxContinuations, onlyAgent, capabilities, verification, optional },
      ...{ timers, agentChoice },
      // The task keeps what a newer plan does not say of these: that it is no longer fresh must be said.
      continuation: changed.includes('fresh')
        ? { ...continuation, isFresh: continuation?.isFresh === true }
        : continuation,
    },
    changed,
    contractor: task.contractor,
    edges: hasNewEdges ? { rule: task.triggerRule, ...edgesOf(task, places) } : null,
  }
}

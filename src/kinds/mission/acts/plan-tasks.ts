import { idCarriedBy } from '../../../pure/ids.ts'
import type { NewContractor } from '../../agent/rules/contractors.ts'
import type { NewTask } from '../../task/command.ts'
import { capabilitiesOf, groupsSaid, modelOf, newTask, verifiedBy } from '../../task/rules/new-task.ts'
import { type MissionEdge, type MissionPlan, type MissionTask, outsideId } from '../plan/mission-plan.ts'
import { checkPlan, readPlan } from '../plan/read.ts'
import { refusedPlan } from '../plan/refusal.ts'
import type { MissionConfig } from '../shapes/missions.ts'
import { contractorsOf } from './contractors.ts'

/** The tasks of a mission's plan. */

/** What all tasks of a mission share. */
export interface MissionOfTasks {
  id: number
  uuid: string
  priority: number
  projectId: number
  /** Slug of the project. */
  project: string | null
  config: MissionConfig
  createdBy: string
}

const DEFAULT_MAX_RETRIES = 3

/** A plan as a value of a request, or as text in YAML or JSON. Refused with all its problems. */
export function missionPlan(given: unknown): MissionPlan {
  const reading = typeof given === 'string' ? readPlan(given, 'mission') : checkPlan(given, 'mission')
  if (!reading.ok) throw refusedPlan(reading.problems)
  return reading.plan
}

/** Only a mission that runs has tasks that a plan could cancel. */
export function refuseCancelling({ tasks }: MissionPlan): void {
  const place = tasks.findIndex(({ cancel }) => cancel)
  if (place === -1) return
  const message = 'is only for newer plans of a mission that runs'
  const where = { path: `tasks[${place}].cancel`, at: `/tasks/${place}/cancel` }
  throw refusedPlan([{ line: 0, column: 0, ...where, message }])
}

export function tasksOf(plan: MissionPlan, mission: MissionOfTasks): NewTask[] {
  const placeOf = new Map(plan.tasks.map(({ tempId }, place) => [tempId, place]))
  const contractorOf = contractorsOf(mission)
  return plan.tasks.map((task, place) => taskOf(task, place, placeOf, mission, contractorOf(task.contractor)))
}

/** An id that is none of ours names no task. */
const idOrNone = (uuid: string) => idCarriedBy(uuid) ?? -1

const placesOf = (edges: readonly MissionEdge[], placeOf: ReadonlyMap<string, number>) =>
  edges.map(({ on }) => placeOf.get(on)).filter((at) => at !== undefined)

/** Edges that hand nothing on. */
function orderOnly({ dependsOn }: MissionTask, placeOf: ReadonlyMap<string, number>): NewTask['orderOnly'] {
  const edges = dependsOn.filter(({ kind }) => kind === 'order')
  const outside = edges.map(outsideId).filter((uuid) => uuid !== null)
  return { on: outside.map(idOrNone), onNew: placesOf(edges, placeOf) }
}

function taskOf(
  task: MissionTask,
  place: number,
  placeOf: ReadonlyMap<string, number>,
  mission: MissionOfTasks,
  contractor: NewContractor | undefined,
): NewTask {
  const outside = task.dependsOn.map(outsideId).filter((uuid) => uuid !== null)
  const { config } = mission
  return newTask({
    projectId: mission.projectId,
    priority: task.priority ?? mission.priority,
    maxRetries: task.maxRetries ?? (config.retry?.maxAttempts ?? DEFAULT_MAX_RETRIES + 1) - 1,
    maxContinuations: task.maxContinuations ?? undefined,
    onlyAgent: contractor?.slug ?? task.agent,
    contractor,
    capabilities: capabilitiesOf(task.capabilities),
    verification: verifiedBy(task.verification),
    missionId: mission.id,
    optional: task.optional,
    ...groupsSaid(task, config),
    // An id that is none of ours is refused with the others, as a task that does not exist.
    dependsOn: outside.map(idOrNone),
    dependsOnNew: placesOf(task.dependsOn, placeOf),
    orderOnly: orderOnly(task, placeOf),
    triggerRule: task.triggerRule,
    details: {
      title: task.title,
      taskType: task.taskType,
      description: task.description,
      input: task.input ?? undefined,
      tags: task.tags,
      dependsOn: outside,
      project: mission.project,
      createdBy: mission.createdBy,
      plan: planDetails(task, place, config),
    },
  })
}

function planDetails(task: MissionTask, place: number, config: MissionConfig): NewTask['details']['plan'] {
  const { tempId, complexity, estimatedTokens, successCriteria, outputSchema, systemPrompt, budget } = task
  return {
    tempId,
    sequenceNumber: place + 1,
    model: modelOf(task, config),
    ...(task.preferredAgent !== null && { preferredAgent: task.preferredAgent }),
    ...(config.models?.fallback && { fallbackModels: config.models.fallback }),
    complexity,
    estimatedTokens,
    successCriteria,
    outputSchema,
    toolsRequested: task.toolsRequested,
    systemPrompt,
    budget,
    verification: task.verification,
  }
}

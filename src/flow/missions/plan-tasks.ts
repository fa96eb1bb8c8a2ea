import type { NewTask } from '../../core/commands.ts'
import type { NewContractor } from '../../core/contractors.ts'
import { Refused } from '../../core/errors.ts'
import { idCarriedBy } from '../../core/ids.ts'
import {
  type MissionEdge,
  type MissionPlan,
  type MissionTask,
  outsideId,
  type VerificationRule,
} from '../../core/plans/mission-plan.ts'
import { checkPlan, readPlan } from '../../core/plans/read.ts'
import { refusedPlan } from '../../core/plans/refusal.ts'
import { DEFAULT_MAX_CONTINUATIONS } from '../../core/retry.ts'
import type { MissionConfig } from '../../core/shapes/missions.ts'
import type { TaskWatch } from '../../core/task-watch.ts'
import type { Caller } from '../../kernel/kernel.ts'
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

/** A command is code on the node, so naming one needs the right to say what agents run. */
export function refuseCommands({ rights }: Pick<Caller, 'rights'>, fields: readonly string[]): void {
  if (fields.length === 0 || rights.has('configure_agents')) return
  throw new Refused(
    'FORBIDDEN',
    'Naming commands to run needs the right "configure_agents", which this key lacks.',
    { errors: fields.map((field) => ({ field, message: 'needs the right "configure_agents"' })) },
  )
}

export function tasksOf(plan: MissionPlan, mission: MissionOfTasks): NewTask[] {
  const placeOf = new Map(plan.tasks.map(({ tempId }, place) => [tempId, place]))
  const contractorOf = contractorsOf(mission)
  return plan.tasks.map((task, place) =>
    newTask(task, place, placeOf, mission, contractorOf(task.contractor)),
  )
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

function newTask(
  task: MissionTask,
  place: number,
  placeOf: ReadonlyMap<string, number>,
  mission: MissionOfTasks,
  contractor: NewContractor | undefined,
): NewTask {
  const outside = task.dependsOn.map(outsideId).filter((uuid) => uuid !== null)
  const { config } = mission
  return {
    key: null,
    projectId: mission.projectId,
    parent: null,
    merge: 'none',
    priority: task.priority ?? mission.priority,
    maxRetries: task.maxRetries ?? (config.retry?.maxAttempts ?? DEFAULT_MAX_RETRIES + 1) - 1,
    maxContinuations: task.maxContinuations ?? DEFAULT_MAX_CONTINUATIONS,
    onlyAgent: contractor?.slug ?? task.agent,
    contractor,
    capabilities: [...new Set(task.capabilities)].sort(),
    review: reviewOf(task.verification),
    runAt: null,
    expiresAt: null,
    missionId: mission.id,
    purpose: 'work',
    optional: task.optional,
    watch: watchOf(task, config),
    // An id that is none of ours is refused with the others, as a task that does not exist.
    dependsOn: outside.map(idOrNone),
    dependsOnNew: placesOf(task.dependsOn, placeOf),
    orderOnly: orderOnly(task, placeOf),
    unique: null,
    triggerRule: task.triggerRule,
    details: {
      title: task.title,
      taskType: task.taskType,
      description: task.description,
      input: task.input ?? undefined,
      tags: task.tags,
      dependsOn: outside,
      userId: null,
      project: mission.project,
      parent: null,
      createdBy: mission.createdBy,
      plan: planDetails(task, place, config),
    },
  }
}

/** A person's verdict is awaited; any other one Baton gets itself. */
export const reviewOf = (rule: VerificationRule | null) =>
  rule === null ? 'none' : rule.kind === 'human' ? 'human' : 'baton'

/** The model of a task: its own, its type's, or the mission's; null: its agent decides. */
export const modelOf = (
  { model, taskType }: Pick<MissionTask, 'model' | 'taskType'>,
  { models }: MissionConfig,
): string | null => model ?? models?.byTaskType?.[taskType] ?? models?.default ?? null

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

/** The task's own times, then those of the mission. */
function watchOf(task: MissionTask, config: MissionConfig): TaskWatch | null {
  const times = { ...config.timeouts, ...task.timeouts }
  const given = {
    isFresh: task.fresh ?? undefined,
    prefers: task.preferredAgent ?? undefined,
    estimateMs: estimateMsOf(task.estimatedDurationMinutes ?? undefined),
    otherAgentOnRetry: config.anotherModelOnRetry || undefined,
    assignMs: inMs(times.assignSeconds),
    stallMs: inMs(times.stallSeconds),
    verifyMs: inMs(times.verifySeconds),
    hangGraceMs: inMs(times.hangGraceSeconds),
    hangAbortMs: inMs(times.hangAbortSeconds),
    retryBaseMs: inMs(config.retry?.baseSeconds),
    attemptMs: inMs(times.attemptSeconds),
    deadlineMs: inMs(times.deadlineSeconds),
  }
  const known = Object.entries(given).filter(([, value]) => value !== undefined)
  return known.length === 0 ? null : Object.fromEntries(known)
}

const MINUTE_MS = 60_000

/** How long a task should take. */
export const estimateMsOf = (minutes: number | undefined) =>
  minutes === undefined ? undefined : Math.max(1, Math.round(minutes * MINUTE_MS))

const inMs = (seconds: number | undefined) => (seconds === undefined ? undefined : seconds * 1000)

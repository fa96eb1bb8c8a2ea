import { Document, type YAMLSeq } from 'yaml'
import type { z } from 'zod'
import type { PlanView } from '../../project/shapes.ts'
import { TaskCreate } from '../../task/shapes/tasks.ts'
import type { MissionPlan } from './mission-plan.ts'
import { defaultTitle, type Plan, type PlanTask, type PlanTrack } from './plan.ts'
import { missionAsWritten } from './write-mission.ts'

type Written = z.output<typeof PlanView>
type WrittenTrack = Written['tracks'][string]
type WrittenTask = Extract<WrittenTrack, unknown[]>[number]

/** The plan as text that readPlan accepts. Default values are left out. */
export function writePlan(plan: Plan | MissionPlan, format: 'yaml' | 'json'): string {
  if (format === 'json') return `${JSON.stringify(planAsWritten(plan), null, 2)}\n`
  // Words such as yes are text in YAML 1.2 but not in 1.1: quoted, other parsers read them correctly too.
  const document = new Document(null, { compat: 'yaml-1.1' })
  const onOneLine = (list: string[]) => {
    const node = document.createNode(list) as YAMLSeq
    node.flow = true
    return node as unknown as string[]
  }
  document.contents = document.createNode(planAsWritten(plan, onOneLine), {
    aliasDuplicateObjects: false,
  }) as never
  return document.toString({ lineWidth: 0 })
}

/** YAML writes short lists on one line, with nodes of its own in their place. */
type WriteList = (list: string[]) => string[]

/** The plan as a value that checkPlan accepts. */
export const planAsWritten = (
  plan: Plan | MissionPlan,
  list: WriteList = (items) => items,
): Written | Record<string, unknown> =>
  'tracks' in plan ? projectAsWritten(plan, list) : missionAsWritten(plan, list)

const projectAsWritten = (plan: Plan, list: WriteList): Written => ({
  project: plan.project,
  ...(plan.name === null ? {} : { name: plan.name }),
  tracks: Object.fromEntries(plan.tracks.map((track) => [track.track, trackAsWritten(track, list)])),
})

function trackAsWritten({ maxAgents, sequential, purpose, tasks }: PlanTrack, list: WriteList): WrittenTrack {
  const written = tasks.map((task) => taskAsWritten(task, list))
  if (maxAgents === null && !sequential && purpose === null) return written
  return {
    ...(purpose === null ? {} : { purpose }),
    ...(maxAgents === null ? {} : { agents: maxAgents }),
    ...(sequential ? { sequential } : {}),
    tasks: written,
  }
}

const { taskType, priority, triggerRule, maxRetries, maxContinuations } = TaskCreate.shape
const BY_DEFAULT = {
  taskType: taskType.parse(undefined),
  priority: priority.parse(undefined),
  triggerRule: triggerRule.parse(undefined),
  maxRetries: maxRetries.parse(undefined),
  maxContinuations: maxContinuations.parse(undefined),
}

function taskAsWritten(task: PlanTask, list: WriteList): WrittenTask {
  const written: WrittenTask = { id: task.key }
  if (task.title !== defaultTitle(task.key, task.description)) written.title = task.title
  if (task.description !== null) written.description = task.description
  if (task.taskType !== BY_DEFAULT.taskType) written.type = task.taskType
  if (task.priority !== BY_DEFAULT.priority) written.priority = task.priority
  if (task.dependsOn.length > 0) written.depends_on = list(task.dependsOn)
  if (task.triggerRule !== BY_DEFAULT.triggerRule) written.trigger_rule = task.triggerRule
  if (task.tags.length > 0) written.tags = list(task.tags)
  if (task.requiredCapabilities.length > 0) written.capabilities = list(task.requiredCapabilities)
  if (task.agent !== null) written.agent = task.agent
  if (task.maxRetries !== BY_DEFAULT.maxRetries) written.max_retries = task.maxRetries
  if (task.maxContinuations !== BY_DEFAULT.maxContinuations) written.max_continuations = task.maxContinuations
  if (task.input !== null && task.input !== undefined) written.input = task.input
  if (task.merge === 'task') written.merge = task.merge
  if (task.subtasks.length > 0)
    written.subtasks = task.subtasks.map((subtask) => taskAsWritten(subtask, list))
  return written
}

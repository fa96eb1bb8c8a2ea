import { Title } from '../../../pure/shapes.ts'
import type { TriggerRule } from '../../../pure/states.ts'

/** Project plans (Coditect 3.7): tracks of tasks with keys. The fields of a plan are in fields.ts. */
export interface Plan {
  project: string
  name: string | null
  /** In the order given. */
  tracks: PlanTrack[]
}

export interface PlanTrack {
  track: string
  /** How many agents may work on it at a time; null is the default. */
  maxAgents: number | null
  /** Each task also depends on the previous one in sequence. */
  sequential: boolean
  /** What it is for; null: the plan does not say. */
  purpose: string | null
  /** By sequence. */
  tasks: PlanTask[]
}

export interface PlanTask {
  key: string
  title: string
  description: string | null
  taskType: string
  priority: number
  /** Keys as listed in the plan, without the dependencies that `sequential` and subtasks add. */
  dependsOn: string[]
  triggerRule: TriggerRule
  tags: string[]
  requiredCapabilities: string[]
  agent: string | null
  maxRetries: number
  maxContinuations: number
  input: unknown
  /** How the results of subtasks become the task's own; null without subtasks. */
  merge: Merge | null
  /** Their keys are `<key>::1`, `<key>::2` and so on. */
  subtasks: PlanTask[]
  line: number
}

export const MERGES = ['object', 'task'] as const
type Merge = (typeof MERGES)[number]

/** Tasks and subtasks together. */
export const LARGEST_PLAN_TASKS = 10_000

/** The title of a task without one: the first line of its description, if that is a valid title. */
export function defaultTitle(key: string, description: string | null): string {
  const [firstLine = ''] = (description ?? '').split(/\r?\n/, 1)
  return Title.safeParse(firstLine.trim()).data ?? key
}

import type { VariablesSchema } from './rules/variables.ts'
import type { RoutineConfig, Schedule } from './shapes.ts'

/** A plan that is run again and again: by hand, or by the clock. */
export interface RoutineRecord {
  readonly id: number
  readonly uuid: string
  name: string
  /** Texts of its missions, with `{{variables}}`. */
  goal: string
  title: string
  description: string | null
  tags: readonly string[]
  priority: number
  projectId: number
  /** Slug of the project. */
  project: string | null
  config: RoutineConfig
  /** Its plan as JSON text; null in a record that was read without it. */
  plan: string | null
  planDigest: string
  taskCount: number
  variables: VariablesSchema
  schedule: Schedule | null
  /** The mission that it was made from, by number and by outside id. */
  readonly originId: number | null
  readonly origin: string | null
  isEnabled: boolean
  /** When it fires next by its schedule; null: it does not. */
  nextAt: number | null
  /** Scheduled times whose missions wait until the previous one has ended, in order. */
  waiting: readonly number[]
  /** The mission under way is being cancelled for the one that waits. */
  isReplacing: boolean
  /** How many times in a row were skipped because the mission before had not ended. */
  skippedInRow: number
  /** When it started its last mission. */
  startedAt: number | null
  /** The last scheduled time that became a mission: no earlier one does after it. */
  lastFor: number | null
  /** Who saved its plan, and approved it by that. */
  approvedBy: string
  readonly createdBy: string
  version: number
  readonly createdAt: number
  updatedAt: number
  /** It is kept for the missions that it started. */
  removedAt: number | null
}

import {
  bigint,
  boolean,
  instant,
  int,
  json,
  orNull,
  type RecordOf,
  smallint,
  text,
  texts,
  uuid,
} from '../../pure/fields.ts'
import { VariablesSchema } from './rules/variables.ts'
import { RoutineConfig, Schedule } from './shapes.ts'

export const ROUTINE_FIELDS = {
  id: bigint('routine_id'),
  uuid: uuid(),
  name: text(),
  /** Texts of its missions, with `{{variables}}`. */
  goal: text(),
  title: text(),
  description: orNull(text()),
  tags: texts(),
  priority: smallint(),
  projectId: int(),
  config: json(RoutineConfig),
  planDigest: text(),
  taskCount: int(),
  variables: json(VariablesSchema),
  schedule: orNull(json(Schedule)),
  /** The mission that it was made from. */
  originId: orNull(bigint('origin_mission')),
  isEnabled: boolean(),
  /** When it fires next by its schedule; null: it does not. */
  nextAt: orNull(instant()),
  /** Scheduled times whose missions wait until the previous one has ended, in order. */
  waiting: json<readonly number[]>(),
  /** The mission under way is being cancelled for the one that waits. */
  isReplacing: boolean(),
  /** How many times in a row were skipped because the mission before had not ended. */
  skippedInRow: int(),
  /** When it started its last mission. */
  startedAt: orNull(instant()),
  /** The last scheduled time that became a mission: no earlier one does after it. */
  lastFor: orNull(instant()),
  /** Who saved its plan, and approved it by that. */
  approvedBy: text(),
  createdBy: text(),
  version: int(),
  createdAt: instant(),
  updatedAt: instant(),
  /** It is kept for the missions that it started. */
  removedAt: orNull(instant()),
}

/** A plan that is run again and again: by hand, or by the clock. */
export interface RoutineRecord extends RecordOf<typeof ROUTINE_FIELDS> {
  /** Slug of the project. */
  project: string | null
  /** The outside id of the mission that it was made from. */
  readonly origin: string | null
  /** Its plan as JSON text; null in a record that was read without it. */
  plan: string | null
}

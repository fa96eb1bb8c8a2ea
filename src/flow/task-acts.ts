import type { TaskCommand } from '../core/commands.ts'
import type { TASK_ACTS } from '../core/shapes/board.ts'

/** What a person asks for on one task or on many, as a command. */

export type TaskAct = (typeof TASK_ACTS)[number]

export interface AskedAct {
  reason?: string | undefined
  /** The act is refused when the task has another generation. */
  generation?: number | undefined
}

export const commandOfAct = (act: TaskAct, { reason, generation }: AskedAct): TaskCommand =>
  act === 'resume' || act === 'archive'
    ? { kind: act, generation }
    : { kind: act, reason: reason ?? null, generation }

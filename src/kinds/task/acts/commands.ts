import type { TASK_ACTS } from '../../../views/board/shapes.ts'
import type { TaskCommand } from '../command.ts'

/** What a person asks for on one task or on many, as a command. */

export type TaskAct = (typeof TASK_ACTS)[number]

export interface AskedAct {
  reason?: string | undefined
  /** The act is refused when the task has another generation. */
  generation?: number | undefined
  /** A retry starts over. */
  fresh?: boolean | undefined
}

export function commandOfAct(act: TaskAct, { reason: given, generation, fresh }: AskedAct): TaskCommand {
  const reason = given ?? null
  if (act === 'resume' || act === 'archive') return { kind: act, generation }
  return act === 'retry' ? { kind: act, reason, generation, fresh } : { kind: act, reason, generation }
}

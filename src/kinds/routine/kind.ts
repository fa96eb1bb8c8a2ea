import type { Kind } from '../kind.ts'
import { missionTasks } from '../mission/kind.ts'
import type { RoutineGranted } from '../replies.ts'
import type { RoutineRecord } from './record.ts'
import type { RoutineCommand } from './rules/command.ts'
import { decideRoutine } from './rules/decide.ts'

export interface RoutineTypes {
  record: RoutineRecord
  command: RoutineCommand
  granted: RoutineGranted
  /** Whether a mission of the routine has not ended, or has a process left. */
  extra: { isBusy: boolean }
}

declare module '../kind.ts' {
  interface KindTypes {
    routine: RoutineTypes
  }
}

/** Routines. They hold no claims; a mission that they start is created in their transaction. */
export const routineKind: Kind<RoutineTypes> = {
  keyOf: ({ uuid }) => uuid,
  holderOf: () => null,
  mayHoldBeforeItExists: false,
  counts: () => false,
  decide(before, { key }, command, { now, actor, seen }) {
    // Or it has just started one, in the same batch.
    const isStarting = before !== seen?.record && before?.startedAt === now
    const isBusy = isStarting || (seen?.isBusy ?? false)
    return { ...decideRoutine(before, key, command, { now, actor, isBusy }), settle: () => null }
  },
  granted: ({ record, before, mission }) => ({
    ok: true,
    reason: 'DONE',
    // Without the plan, which may be large: replies are stored under their idempotency keys.
    record: { ...record!, plan: null },
    isNew: before === null,
    missionId: mission?.uuid ?? null,
  }),
  tasksIn: (command) => ('mission' in command ? missionTasks(command.mission.command) : null),
}

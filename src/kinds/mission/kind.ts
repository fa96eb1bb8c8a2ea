import type { Kind, TaskWork } from '../kind.ts'
import type { MissionGranted } from '../replies.ts'
import type { NewTask } from '../task/command.ts'
import type { MissionRecord } from './record.ts'
import type { MissionCommand } from './rules/command.ts'
import { decideMission } from './rules/decide.ts'

export interface MissionTypes {
  record: MissionRecord
  command: MissionCommand
  granted: MissionGranted
  extra: object
}

declare module '../kind.ts' {
  interface KindTypes {
    mission: MissionTypes
  }
}

/** Missions. They hold no claims: what happens to their tasks is decided task by task. */
export const missionKind: Kind<MissionTypes> = {
  keyOf: ({ uuid }) => uuid,
  holderOf: () => null,
  mayHoldBeforeItExists: false,
  counts: () => false,
  decide(before, { key }, command, context) {
    const { creates, ...decision } = decideMission(before, key, command, context)
    const changes = missionTasks(command)?.changes ?? []
    return { ...decision, settle: () => null, creates: { tasks: creates, changes } }
  },
  // Without the plan itself, which may be large: replies are stored under their idempotency keys.
  granted: ({ record, before, comments: [comment], reports }) => ({
    ok: true,
    reason: 'DONE',
    record: { ...record!, plan: record!.plan && { ...record!.plan, body: null } },
    isNew: before === null,
    ...(comment && { comment }),
    ...(reports.length > 0 && { reports: reports.map(({ uuid, version }) => ({ uuid, version })) }),
  }),
  tasksIn: missionTasks,
}

/** All that may be created: what the decision leaves out costs a few unused ids. */
export function missionTasks(command: MissionCommand): TaskWork | null {
  switch (command.kind) {
    case 'create':
      return { tasks: [...(command.proposed?.tasks ?? []), ...listOf(command.planning)], changes: [] }
    case 'start':
      return { tasks: [...command.tasks, ...listOf(command.planning)], changes: [] }
    case 'propose':
      return { tasks: command.proposed.tasks, changes: command.changes ?? [] }
    case 'approve':
      return command
    case 'reject':
    case 'decline':
      return { tasks: listOf(command.planning), changes: [] }
    default:
      return null
  }
}

const listOf = (task: NewTask | null) => (task === null ? [] : [task])

import type { Kind } from '../kind.ts'
import type { AgentGranted } from '../replies.ts'
import type { AgentRecord } from './record.ts'
import type { AgentCommand } from './rules/command.ts'
import { decideAgent } from './rules/decide.ts'
import { withInbox } from './rules/inbox.ts'
import { settle } from './rules/settle.ts'

export interface AgentTypes {
  record: AgentRecord
  command: AgentCommand
  granted: AgentGranted
  extra: {
    /** How many tasks it holds, read under its lock: it may have got some after those in `holding` were locked. */
    held: number
  }
}

declare module '../kind.ts' {
  interface KindTypes {
    agent: AgentTypes
  }
}

/** Registered agents. */
export const agentKind: Kind<AgentTypes> = {
  keyOf: ({ slug }) => slug,
  holderOf: ({ agent }) => agent,
  // It may have been known by its claims alone.
  mayHoldBeforeItExists: true,
  counts: () => false,
  decide(before, { key: slug, uuid }, command, context) {
    const decision = decideAgent(before, { slug, uuid }, command, context)
    const { record, fate } = decision
    const decided = { record: record ?? before!, fate, command }
    const events = withInbox(before, decision, context)
    return { ...decision, events, settle: (task) => settle(decided, task, context) }
  },
  granted: ({ record, before, holds, settled }) => ({
    ok: true,
    reason: 'DONE',
    record: record ?? before!,
    isNew: before === null,
    holding: holds(),
    settled,
  }),
  // Settings may hold secrets, so a repeat is answered with those of then.
  repeated: ({ record, ...granted }) => ({
    ...granted,
    record: { ...record, adapterConfig: null, runtimeConfig: null },
    isRepeat: true,
  }),
  missionsIn: (command) => (command.kind === 'followMission' ? [command.missionId] : []),
}

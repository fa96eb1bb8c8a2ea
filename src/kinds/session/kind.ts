import type { Kind } from '../kind.ts'
import type { LostClaim, SessionGranted } from '../replies.ts'
import type { SessionCommand, TaskCommand } from '../task/command.ts'
import type { SessionRecord } from '../task/record.ts'
import { countsAsActive, decideSession, type SessionDecision } from './rules.ts'

export interface SessionTypes {
  record: SessionRecord
  command: SessionCommand
  granted: SessionGranted
  extra: {
    /** Claims it lost since it was last seen. */
    lost: LostClaim[]
  }
}

declare module '../kind.ts' {
  interface KindTypes {
    session: SessionTypes
  }
}

/** Sessions of agents and of library workers. */
export const sessionKind: Kind<SessionTypes> = {
  keyOf: ({ name }) => name,
  holderOf: ({ session }) => session,
  mayHoldBeforeItExists: false,
  counts: countsAsActive,
  decide(before, { key: name, uuid }, command, { now, limits, actor, outside, holding, counted }) {
    const context = { now, limits, actor, outside, activeSessions: counted, holds: holding.length }
    const decision = decideSession(before, { name, uuid }, command, context)
    return { ...decision, settle: ({ generation }) => settled(decision, generation, now) }
  },
  granted: ({ record, before, holding, settled: claims, seen }) => ({
    ok: true,
    reason: 'DONE',
    record: record!,
    isNew: before === null,
    holds: holding.length,
    settled: claims,
    lost: seen?.lost ?? [],
  }),
}

/** What happens to a task the session holds. */
function settled({ fate, record }: SessionDecision, generation: number, now: number): TaskCommand | null {
  const { name: session, lastSeenAt } = record!
  const fence = { session, generation }
  const commands = {
    kept: null,
    renewed: { kind: 'renew', fence },
    released: { kind: 'release', fence, reason: 'SESSION_ENDED' },
    lost: { kind: 'lose', who: 'worker', fence, silentMs: now - lastSeenAt },
  } as const satisfies Record<SessionDecision['fate'], TaskCommand | null>
  return commands[fate]
}

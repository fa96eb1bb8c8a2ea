import { actingAs } from '../../../door/named-agents.ts'
import { freshUuid } from '../../../kernel/fresh-uuid.ts'
import { type Caller, granted, type Kernel } from '../../../kernel/kernel.ts'
import { instant } from '../../../pure/instant.ts'
import type { AnswerOf } from '../../../pure/shapes.ts'
import type { LostClaim, SessionGranted, SettledClaim } from '../../replies.ts'
import { renewalsIn } from '../../task/acts/claims.ts'
import type { SessionCommand } from '../../task/command.ts'
import type { SessionRecord } from '../../task/record.ts'
import type { SessionHeartbeatAnswer, SessionView } from '../shapes.ts'

/** Session commands, for any store, and their views. */

export async function commandSession(
  kernel: Kernel,
  caller: Caller,
  name: string,
  command: SessionCommand,
): Promise<SessionGranted> {
  const reply = granted(await kernel.run(caller, { on: 'session', key: name, uuid: freshUuid(), command }))
  kernel.sessionChanged(caller, reply.record.name)
  return reply
}

/** A session that a key opens for its agent is one of that agent, whether the request says so or not. */
export const agentOfSession = async (
  kernel: Kernel,
  caller: Caller,
  named: string | undefined,
): Promise<string | null> =>
  named === undefined ? (caller.outside?.agent ?? null) : actingAs(kernel, caller, named)

/** The renewed claims and the lost ones: lost before, or found expired by this heartbeat. */
export function heartbeatView(
  settled: readonly SettledClaim[],
  lost: readonly LostClaim[],
): Pick<AnswerOf<typeof SessionHeartbeatAnswer>, 'renewed' | 'lost'> {
  const expired = settled.filter(({ reply }) => !reply.ok)
  return {
    renewed: renewalsIn(settled),
    lost: [
      ...lost.map(({ taskId, generation, reason, at }) => ({ taskId, generation, reason, at: instant(at) })),
      ...expired.map(({ taskId, generation }) => ({
        taskId,
        generation,
        reason: 'EXPIRED' as const,
        at: null,
      })),
    ],
  }
}

export const sessionView = (session: SessionRecord): AnswerOf<typeof SessionView> => ({
  id: session.uuid,
  session: session.name,
  agent: session.agent,
  userId: session.userId,
  project: session.project,
  state: session.state,
  capacity: session.capacity,
  capabilities: session.capabilities,
  silenceSeconds: session.silenceMs / 1000,
  startedAt: instant(session.startedAt),
  lastSeenAt: instant(session.lastSeenAt),
  expiresAt: instant(session.dueAt),
  endedAt: instant(session.endedAt),
  endReason: session.endReason,
})

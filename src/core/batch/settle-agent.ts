import type { AgentCommand, TaskCommand } from '../commands.ts'
import type { Limits } from '../limits.ts'
import type { AgentRecord, TaskRecord } from '../records.ts'
import type { SettledClaim, TaskReply } from '../replies.ts'
import { RENEW_FROM } from '../retry.ts'
import type { AgentContext, AgentFate } from '../rules/agent.ts'
import { stallsAt } from '../rules/watch.ts'
import type { OnTask } from './requests.ts'

interface Decided {
  record: AgentRecord
  fate: AgentFate
  command: AgentCommand
  holding: readonly TaskRecord[]
}

/** What happens to the tasks an agent holds, each decided separately. */
export function settleAgent(
  { record, fate, command, holding }: Decided,
  { now, limits }: AgentContext,
  apply: (item: OnTask) => TaskReply,
): SettledClaim[] {
  const outcomes = holding.map((task) => {
    const { id, uuid, generation } = task
    const fence = { session: task.session!, generation }
    const commands: Record<AgentFate, () => TaskCommand | null> = {
      kept: () => null,
      renewed: () => (isToRenew(task, command, now, limits) ? { kind: 'renew', fence } : null),
      lost: () => ({ kind: 'lose', who: 'agent', fence, silentMs: now - record.health!.lastSeenAt }),
      revoked: () => ({ kind: 'revoke', fence, reason: record.stateReason! }),
    }
    const then = commands[fate]()
    return then && { taskId: uuid, generation, reply: apply({ taskId: id, uuid, command: then }) }
  })
  return outcomes.filter((outcome) => outcome !== null)
}

/**
 * However often an agent heartbeats, a lease is renewed only when a client would renew it: each renewal is an event, and a
 * flood of heartbeats must not become a flood of events. A heartbeat of one session renews only that session's claims.
 */
function isToRenew(task: TaskRecord, command: AgentCommand, now: number, limits: Limits): boolean {
  const session = command.kind === 'heartbeat' ? command.heartbeat.session : null
  if (session !== null && session !== task.session) return false
  const { leaseExpiresAt, leaseMs, updatedAt } = task
  if (now >= leaseExpiresAt! - leaseMs * (1 - RENEW_FROM)) return true
  // A holder whose stall timeout is shorter than its lease gets its sign of life from the agent's heartbeats.
  const stallAt = stallsAt(task, limits)
  return stallAt !== null && now >= updatedAt + (stallAt - updatedAt) * RENEW_FROM
}

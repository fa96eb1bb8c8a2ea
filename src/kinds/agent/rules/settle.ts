import type { Fence, TaskCommand } from '../../task/command.ts'
import type { TaskRecord } from '../../task/record.ts'
import { RENEW_FROM } from '../../task/rules/retry.ts'
import { stallsAt } from '../../task/rules/timers.ts'
import type { Limits } from '../../workspace/limits.ts'
import type { AgentRecord } from '../record.ts'
import type { AgentCommand } from './command.ts'
import type { AgentContext, AgentFate } from './decision.ts'
import { isManaged } from './health.ts'

interface Decided {
  record: AgentRecord
  fate: AgentFate
  command: AgentCommand
}

/** What happens to a task the agent holds. */
export function settle(
  { record, fate, command }: Decided,
  task: TaskRecord,
  { now, limits }: Pick<AgentContext, 'now' | 'limits'>,
): TaskCommand | null {
  const fence = { session: task.session!, generation: task.generation }
  const commands: Record<AgentFate, () => TaskCommand | null> = {
    kept: () => null,
    renewed: () => (isToRenew(task, command, now, limits) ? { kind: 'renew', fence } : null),
    lost: () => ({ kind: 'lose', who: 'agent', fence, silentMs: now - record.health!.lastSeenAt }),
    revoked: () => revoked(record, task, fence),
  }
  return commands[fate]()
}

/**
 * A run of a paused agent is stopped by its node, which releases the task after it has kept the work: taken back at once,
 * the task could begin elsewhere without that work.
 */
function revoked(record: AgentRecord, task: TaskRecord, fence: Fence): TaskCommand | null {
  const { state, slug, stateReason } = record
  if (state === 'terminated') return { kind: 'revoke', fence, how: 'AGENT_TERMINATED', reason: stateReason! }
  if (isManaged(record) && task.session === `agent:${slug}`) return null
  return { kind: 'revoke', fence, how: 'AGENT_PAUSED', reason: stateReason ?? 'the agent was stopped' }
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

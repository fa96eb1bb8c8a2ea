import type { Refusal } from '../../../pure/errors.ts'
import { type EventDraft, type EventType, workspaceEvent } from '../../events.ts'
import type { SeenMission } from '../../mission/rules/gate.ts'
import type { Actor, TaskRecord } from '../../task/record.ts'
import type { Outside } from '../../task/rules/acting.ts'
import type { Limits } from '../../workspace/limits.ts'
import type { AgentOrigin, AgentRecord } from '../record.ts'

/** What decisions about agents are made of. */

export interface AgentContext {
  now: number
  limits: Limits
  actor: Actor
  outside?: Outside | undefined
  /** The tasks it holds. */
  holding: readonly TaskRecord[]
  /** A mission under its lock. */
  missionOf?: ((missionId: number) => SeenMission | undefined) | undefined
}

/** What happens to the tasks an agent holds. */
export type AgentFate = 'kept' | 'renewed' | 'lost' | 'revoked'

export interface AgentDecision {
  refusal: Refusal | null
  /** The record after the decision, the very same object when nothing changed; null when it is removed. */
  record: AgentRecord | null
  events: EventDraft[]
  fate: AgentFate
}

export const refused = (record: AgentRecord | null, refusal: Refusal): AgentDecision => ({
  refusal,
  record,
  events: [],
  fate: 'kept',
})

export const unchanged = (record: AgentRecord): AgentDecision => ({
  refusal: null,
  record,
  events: [],
  fate: 'kept',
})

/** A change made by people or relevant to them: a new version, with an event. */
export const changed = (
  record: AgentRecord,
  change: Partial<AgentRecord>,
  events: EventDraft[],
  { now }: Pick<AgentContext, 'now'>,
  fate: AgentFate = 'kept',
): AgentDecision => ({
  refusal: null,
  record: { ...record, ...change, version: record.version + 1, updatedAt: now },
  events,
  fate,
})

/** An event of an agent. One of a contractor is an event of its mission, too. */
export function agentEvent(
  type: EventType,
  { slug, kind, template, missionId, mission }: AgentOrigin & { slug: string },
  payload: Record<string, unknown>,
  context: Pick<AgentContext, 'now' | 'actor'>,
): EventDraft {
  if (kind === 'roster') return workspaceEvent(type, { agent: slug, ...payload }, context)
  const about = { agent: slug, ...payload, kind, template, missionId: mission }
  return { ...workspaceEvent(type, about, context), missionId }
}

/** Of settings that were never tested. */
export const UNTESTED = { testedAt: null, failedChecks: [] } as const satisfies Partial<AgentRecord>

export const IDLE = { state: 'idle', stateReason: null, stopsRuns: false } as const

export function ended(
  record: AgentRecord,
  reason: string,
  context: AgentContext,
  fate: AgentFate,
): AgentDecision {
  const claims = context.holding.length
  const events = [agentEvent('agent_terminated', record, { reason, claims }, context)]
  const health = record.health && { ...record.health, dueAt: null }
  const stopsRuns = record.stopsRuns || fate !== 'kept'
  const change = { state: 'terminated', stateReason: reason, leaving: false, stopsRuns, health } as const
  return changed(record, change, events, context, fate)
}

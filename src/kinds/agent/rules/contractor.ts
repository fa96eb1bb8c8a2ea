import { type Refusal, refuse } from '../../../pure/errors.ts'
import type { EventDraft } from '../../events.ts'
import { isEnd } from '../../mission/states.ts'
import type { AgentProfile, AgentRecord } from '../record.ts'
import type { NewContractor } from './contractors.ts'
import { isContractorSlug } from './contractors.ts'
import {
  type AgentContext,
  type AgentDecision,
  agentEvent,
  changed,
  ended,
  IDLE,
  UNTESTED,
  unchanged,
} from './decision.ts'
import { heardOf, registeredHealth } from './health.ts'

/** Contractors: made with the tasks that are reserved for them, terminated when their mission has ended. */

/** Why it is terminated, when nobody but its mission ended it. */
export const MISSION_ENDED = 'Its mission has ended.'

/** Whether contractors can be made from an agent, whatever its state. Baton's own takes what it runs from its tasks. */
export const isTemplate = ({ kind, state, registered, adapterType }: AgentRecord): boolean =>
  kind === 'roster' && registered && state !== 'terminated' && adapterType !== 'command'

/** Ended with its mission, it works again when that is open again. */
export const awaitsItsMission = ({ kind, state, stateReason }: AgentRecord): boolean =>
  kind === 'contractor' && state === 'terminated' && stateReason === MISSION_ENDED

export function whyNotContracted(
  { template: name, slug, missionId }: NewContractor,
  before: AgentRecord | null,
  template: AgentRecord | null,
): Refusal | null {
  if (before)
    return before.missionId === missionId
      ? null
      : refuse('ALREADY_EXISTS', `There is another agent "${slug}" in this workspace.`)
  return template && isTemplate(template)
    ? null
    : refuse('VALIDATION_FAILED', `There is no agent "${name}" that a contractor can be made from.`)
}

/** With the settings that its template has now. What becomes of that later changes nothing for it. */
export function contracted(
  { slug, uuid, template: from, name, missionId, mission }: NewContractor,
  template: AgentRecord,
  context: Pick<AgentContext, 'now' | 'actor'>,
): { record: AgentRecord; events: EventDraft[] } {
  const { now, actor } = context
  const profile: AgentProfile = {
    name: name ?? template.name,
    model: template.model,
    adapterType: template.adapterType,
    adapterConfig: template.adapterConfig,
    runtimeConfig: withoutTimer(template.runtimeConfig),
    capabilities: template.capabilities,
    taskTypes: template.taskTypes,
    maxConcurrentTasks: template.maxConcurrentTasks,
    heartbeatMs: template.heartbeatMs,
    staleMs: template.staleMs,
    // What is reserved for it must reach it, also when the coordinator leaves its template alone.
    coordinatorEnabled: true,
    batchSize: template.batchSize,
  }
  const record: AgentRecord = {
    ...profile,
    ...{ slug, uuid, kind: 'contractor', template: from, missionId, mission },
    ...IDLE,
    ...UNTESTED,
    ...{ leaving: false, registered: true, version: 1, createdAt: now, updatedAt: now },
    health: heardOf(profile, registeredHealth(now, profile.staleMs)),
  }
  return { record, events: [agentEvent('agent_registered', record, { by: actor }, context)] }
}

/** It works only on its tasks: a timer would wake it for nothing. */
function withoutTimer(runtimeConfig: unknown): unknown {
  const { heartbeat } = (runtimeConfig ?? {}) as { heartbeat?: object }
  if (heartbeat === undefined || heartbeat === null) return runtimeConfig
  const { intervalSec: _interval, ...rest } = heartbeat as { intervalSec?: unknown }
  return { ...(runtimeConfig as object), heartbeat: rest }
}

/** Nobody registers a contractor, or over one. */
export function whyNotRegistered(slug: string, record: AgentRecord | null): Refusal | null {
  if (record?.kind === 'contractor')
    return refuse(
      'WRONG_STATE',
      `${slug} is a contractor of a mission; its settings are those it was made with.`,
    )
  // An agent that had such a slug before there were contractors keeps it.
  return record || !isContractorSlug(slug)
    ? null
    : refuse('VALIDATION_FAILED', `"${slug}" has the form of the slugs of contractors, which missions make.`)
}

/** Upkeep found that its mission has ended, or is open again. Decided under the lock of the mission. */
export function followMission(record: AgentRecord, missionId: number, context: AgentContext): AgentDecision {
  const mission = record.missionId === missionId ? context.missionOf?.(missionId) : undefined
  if (!mission) return unchanged(record)
  if (!isEnd(mission.phase)) return awaitsItsMission(record) ? worksAgain(record, context) : unchanged(record)
  if (record.state === 'terminated' || context.holding.length > 0) return unchanged(record)
  return ended(record, MISSION_ENDED, context, 'kept')
}

function worksAgain(record: AgentRecord, context: AgentContext): AgentDecision {
  const health = heardOf(record, registeredHealth(context.now, record.staleMs))
  const events = [agentEvent('agent_registered', record, { by: context.actor }, context)]
  return changed(record, { ...IDLE, health }, events, context)
}

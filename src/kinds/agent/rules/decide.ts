import { refuse } from '../../../pure/errors.ts'
import type { AgentState } from '../../../pure/states.ts'
import { workspaceEvent } from '../../events.ts'
import type { TaskRecord } from '../../task/record.ts'
import { whyNotOnOwnAgent } from '../../task/rules/acting.ts'
import type { AgentHealth, AgentOrigin, AgentProfile, AgentRecord } from '../record.ts'
import type { AgentCommand, Heartbeat } from './command.ts'
import { isSetUpAlike } from './config.ts'
import { followMission, whyNotRegistered } from './contractor.ts'
import {
  type AgentContext,
  type AgentDecision,
  agentEvent,
  changed,
  ended,
  IDLE,
  refused,
  UNTESTED,
  unchanged,
} from './decision.ts'
import { heardOf, isManaged, registeredHealth } from './health.ts'

/** The defaults of a registered agent (Mosaic's). */
const DEFAULT_PROFILE: Omit<AgentProfile, 'name'> = {
  model: null,
  adapterType: 'external',
  adapterConfig: null,
  runtimeConfig: null,
  capabilities: [],
  taskTypes: [],
  maxConcurrentTasks: 1,
  heartbeatMs: 30_000,
  staleMs: 180_000,
  coordinatorEnabled: true,
  batchSize: 1,
}

const ROSTER: AgentOrigin = { kind: 'roster', template: null, missionId: null, mission: null }

/** How far a sender's clock may be ahead of ours. */
const CLOCK_SKEW_MS = 60_000

/** The state as people read it. */
export const shownState = ({ state }: AgentRecord, holds: number): AgentState =>
  state === 'idle' && holds > 0 ? 'running' : state

/** Why this agent may not have another task, regardless of the task. */
export function whyNoWorkFor(
  { slug, state, stateReason, leaving, maxConcurrentTasks }: AgentRecord,
  held: number,
) {
  if (state === 'terminated') return refuse('AGENT_TERMINATED', `${slug} is terminated (${stateReason}).`)
  if (leaving) return refuse('AGENT_TERMINATED', `${slug} only finishes what it holds (${stateReason}).`)
  if (state === 'paused') return refuse('AGENT_PAUSED', `${slug} is paused; resume it to assign work to it.`)
  if (maxConcurrentTasks !== null && held >= maxConcurrentTasks)
    return refuse('NO_CAPACITY', `${slug} holds ${held} of at most ${maxConcurrentTasks} tasks.`, {
      capacity: maxConcurrentTasks,
      held,
    })
  return null
}

/** What a command does to an agent at a moment, and what that means for the tasks it holds. */
export function decideAgent(
  record: AgentRecord | null,
  identity: { slug: string; uuid: string },
  command: AgentCommand,
  context: AgentContext,
): AgentDecision {
  const own = whyNotOnOwnAgent(context.outside, identity.slug, command.kind)
  if (own) return refused(record, own)
  if (command.kind === 'register') return register(record, identity, command, context)
  if (command.kind === 'firstClaim') return firstClaim(record, identity, context)
  if (!record)
    return refused(record, refuse('NOT_FOUND', `There is no agent "${identity.slug}" in this workspace.`))
  switch (command.kind) {
    case 'heartbeat':
      return heartbeat(record, command.heartbeat, context)
    case 'pause':
      return pause(record, command, context)
    case 'resume':
      return resume(record, context)
    case 'terminate':
      return terminate(record, command, context)
    case 'remove':
      return remove(record, context)
    case 'fault':
      return fault(record, command.reason, context)
    case 'clearFault':
      return clearFault(record, context)
    case 'tested':
      return tested(record, command.failed, context)
    case 'elapse':
      return elapse(record, command.listeningSince ?? 0, context)
    case 'followMission':
      return followMission(record, command.missionId, context)
  }
}

function register(
  record: AgentRecord | null,
  { slug, uuid }: { slug: string; uuid: string },
  { profile, ifVersion }: Extract<AgentCommand, { kind: 'register' }>,
  context: AgentContext,
): AgentDecision {
  const { now, actor } = context
  const refusal = whyNotRegistered(slug, record)
  if (refusal) return refused(record, refusal)
  if (ifVersion !== null && ifVersion !== (record?.version ?? 0))
    return refused(
      record,
      refuse('VERSION_MISMATCH', `The agent is at version ${record?.version ?? 0}.`, {
        currentVersion: record?.version ?? 0,
      }),
    )
  const given = Object.fromEntries(Object.entries(profile).filter(([, value]) => value !== undefined))
  // An agent that has only claimed so far has no profile: registered now, it gets the defaults.
  const isFirst = !record?.registered
  const base: AgentProfile = isFirst ? { ...DEFAULT_PROFILE, name: record?.name ?? slug } : record
  const whole = { ...scaled(base, profile), ...given } as AgentProfile
  if (whole.staleMs < whole.heartbeatMs)
    return refused(
      record,
      refuse('VALIDATION_FAILED', 'staleThresholdSeconds is shorter than heartbeatIntervalSeconds.', {
        errors: [{ field: 'staleThresholdSeconds', message: 'is shorter than heartbeatIntervalSeconds' }],
      }),
    )
  if (!record) {
    const fresh: AgentRecord = {
      ...whole,
      ...ROSTER,
      slug,
      uuid,
      state: 'idle',
      stateReason: null,
      leaving: false,
      stopsRuns: false,
      registered: true,
      ...UNTESTED,
      version: 1,
      createdAt: now,
      updatedAt: now,
      health: heardOf(whole, registeredHealth(now, whole.staleMs)),
    }
    return {
      refusal: null,
      record: fresh,
      events: [workspaceEvent('agent_registered', { agent: slug, by: actor }, context)],
      fate: 'kept',
    }
  }
  const isBack = record.state === 'terminated' || record.leaving
  // Changing the settings of an agent in error clears the fault.
  const clearsFault = record.state === 'error' && isManaged(whole)
  const back: Partial<AgentRecord> = isBack || clearsFault ? { ...IDLE, leaving: false } : {}
  const isHeard = record.health !== null && !isBack
  const health = heardOf(
    whole,
    isHeard ? judgedSooner(record, whole.staleMs, now) : registeredHealth(now, whole.staleMs),
  )
  const fields = Object.keys(given)
  const events = isBack
    ? [workspaceEvent('agent_registered', { agent: slug, by: actor }, context)]
    : [workspaceEvent('agent_updated', { agent: slug, fields }, context)]
  const test = isSetUpAlike(record, whole) ? {} : UNTESTED
  return changed(record, { ...whole, ...back, ...test, health, registered: true }, events, context)
}

/** An agent that only claims fetches its own work, as much as it likes; the coordinator assigns tasks to registered ones. */
function firstClaim(
  record: AgentRecord | null,
  { slug, uuid }: { slug: string; uuid: string },
  context: AgentContext,
): AgentDecision {
  if (record) return unchanged(record)
  const { now, actor } = context
  const profile = { ...DEFAULT_PROFILE, maxConcurrentTasks: null, coordinatorEnabled: false }
  const fresh: AgentRecord = {
    ...{
      ...profile,
      ...ROSTER,
      ...IDLE,
      ...UNTESTED,
      name: slug,
      slug,
      uuid,
      leaving: false,
      registered: false,
    },
    ...{ version: 1, createdAt: now, updatedAt: now, health: null },
  }
  const events = [workspaceEvent('agent_registered', { agent: slug, by: actor }, context)]
  return { refusal: null, record: fresh, events, fate: 'kept' }
}

/** When only one of interval and threshold is set, the other is scaled with it. */
function scaled(base: AgentProfile, { heartbeatMs, staleMs }: Partial<AgentProfile>): AgentProfile {
  if (heartbeatMs === undefined && staleMs !== undefined)
    return { ...base, heartbeatMs: Math.min(base.heartbeatMs, staleMs / 2) }
  if (staleMs === undefined && heartbeatMs !== undefined)
    return { ...base, staleMs: Math.max(base.staleMs, heartbeatMs * 2) }
  return base
}

/** A lowered threshold also applies to the present silence. */
function judgedSooner({ health }: AgentRecord, staleMs: number, now: number): AgentHealth | null {
  if (!health || health.dueAt === null) return health
  return { ...health, dueAt: Math.max(now, health.lastSeenAt + staleMs) }
}

const IS_UNREACHABLE: ReadonlySet<AgentRecord['state']> = new Set(['error', 'offline'])

function heartbeat(record: AgentRecord, said: Heartbeat, context: AgentContext): AgentDecision {
  const { now } = context
  const { slug, state, stateReason, health, staleMs } = record
  if (state === 'terminated')
    return refused(
      record,
      refuse('AGENT_TERMINATED', `${slug} is terminated (${stateReason}); it must register again.`),
    )
  if (said.sentAt !== null && said.sentAt > now + CLOCK_SKEW_MS)
    return refused(
      record,
      refuse('VALIDATION_FAILED', 'sentAt is in the future.', {
        errors: [{ field: 'sentAt', message: 'is in the future' }],
      }),
    )
  if (said.sentAt !== null && health?.sentAt != null && said.sentAt < health.sentAt)
    return refused(
      record,
      refuse('OUT_OF_ORDER', `A later heartbeat was already received from ${slug}.`, {
        lastSentAt: new Date(health.sentAt).toISOString(),
      }),
    )
  const isBack = IS_UNREACHABLE.has(state)
  const heard: AgentHealth = {
    ...said,
    sentAt: said.sentAt ?? health?.sentAt ?? null,
    session: said.session ?? health?.session ?? null,
    lastSeenAt: now,
    hasHeartbeat: true,
    dueAt: isManaged(record) ? null : (health?.dueAt ?? now + staleMs),
  }
  if (!isBack) return { refusal: null, record: { ...record, health: heard }, events: [], fate: 'renewed' }
  const events = [agentEvent('agent_recovered', record, { after: state }, context)]
  return changed(record, { state: 'idle', stateReason: null, health: heard }, events, context, 'renewed')
}

function pause(
  record: AgentRecord,
  { graceful, reason: given }: Extract<AgentCommand, { kind: 'pause' }>,
  context: AgentContext,
): AgentDecision {
  const { state } = record
  if (state === 'terminated' || record.leaving) return refused(record, isOver(record))
  const isPaused = state === 'paused'
  // Repeating the request changes nothing; a pause that lets its runs finish can become one that stops them.
  if (isPaused && (graceful || record.stopsRuns)) return unchanged(record)
  const reason = given ?? (isPaused ? record.stateReason : null)
  const events = [agentEvent('agent_paused', record, { reason, graceful }, context)]
  const change = { state: 'paused', stateReason: reason, stopsRuns: !graceful } as const
  return changed(record, change, events, context, graceful ? 'kept' : 'revoked')
}

function resume(record: AgentRecord, context: AgentContext): AgentDecision {
  if (record.state === 'terminated' || record.leaving) return refused(record, isOver(record))
  if (isManaged(record) && record.state === 'error') return clearFault(record, context)
  if (record.state !== 'paused')
    return refused(record, refuse('WRONG_STATE', `${record.slug} is ${record.state}, not paused.`))
  const { health, staleMs } = record
  // Silent for too long while it was paused, it cannot get work: it stays offline until its next heartbeat.
  const events = [agentEvent('agent_resumed', record, {}, context)]
  if (isManaged(record)) return changed(record, IDLE, events, context)
  const missedAt = health && health.lastSeenAt + staleMs
  if (missedAt !== null && missedAt <= context.now)
    return changed(record, { ...IDLE, state: 'offline', stateReason: 'silent' }, events, context)
  // Its silence may have been checked while it was paused; from now on it counts again.
  const heard = health && { ...health, dueAt: health.dueAt ?? missedAt }
  return changed(record, { ...IDLE, health: heard }, events, context)
}

function fault(record: AgentRecord, reason: string, context: AgentContext): AgentDecision {
  if (record.state !== 'idle') return unchanged(record)
  const events = [agentEvent('agent_faulted', record, { reason }, context)]
  return changed(record, { state: 'error', stateReason: reason }, events, context)
}

function clearFault(record: AgentRecord, context: AgentContext): AgentDecision {
  if (!isManaged(record) || record.state !== 'error') return unchanged(record)
  const events = [agentEvent('agent_recovered', record, { after: 'error' }, context)]
  return changed(record, IDLE, events, context)
}

/** A test that passes again says nothing new. One that fails again is newer than what has succeeded since. */
function tested(record: AgentRecord, failed: readonly string[], context: AgentContext): AgentDecision {
  if (failed.length === 0 && record.testedAt !== null && record.failedChecks.length === 0)
    return unchanged(record)
  const events = [agentEvent('agent_tested', record, { failed: [...failed] }, context)]
  return changed(record, { testedAt: context.now, failedChecks: failed }, events, context)
}

const isOver = ({ slug, stateReason, kind }: AgentRecord) => {
  const then = kind === 'contractor' ? '' : '; register it again to use it'
  return refuse('AGENT_TERMINATED', `${slug} is terminated (${stateReason})${then}.`)
}

function terminate(
  record: AgentRecord,
  { graceful, reason }: Extract<AgentCommand, { kind: 'terminate' }>,
  context: AgentContext,
): AgentDecision {
  const { state } = record
  const claims = context.holding.length
  // Repeating the request changes nothing; a graceful termination can become an immediate one.
  if (state === 'terminated' || (record.leaving && graceful)) return unchanged(record)
  if (graceful && claims > 0) {
    const events = [agentEvent('agent_leaving', record, { reason, claims }, context)]
    return changed(record, { leaving: true, stateReason: reason }, events, context)
  }
  return ended(record, reason, context, graceful ? 'kept' : 'revoked')
}

function remove(record: AgentRecord, context: AgentContext): AgentDecision {
  if (context.holding.length > 0)
    return refused(
      record,
      refuse('WRONG_STATE', `${record.slug} holds ${context.holding.length} tasks; terminate it first.`),
    )
  const events = [agentEvent('agent_removed', record, {}, context)]
  return { refusal: null, record: null, events, fate: 'kept' }
}

function elapse(record: AgentRecord, listeningSince: number, context: AgentContext): AgentDecision {
  const { now, holding } = context
  const { health, staleMs } = record
  if (record.leaving && holding.length === 0)
    return ended(record, record.stateReason ?? 'terminated', context, 'kept')
  if (health === null || health.dueAt === null || health.dueAt > now) return unchanged(record)
  if (isManaged(record))
    return { ...unchanged(record), record: { ...record, health: { ...health, dueAt: null } } }
  const aliveUntil = Math.max(lastSignOfLife(health.lastSeenAt, holding), listeningSince) + staleMs
  if (aliveUntil > now)
    return { ...unchanged(record), record: { ...record, health: { ...health, dueAt: aliveUntil } } }
  const silentMs = now - health.lastSeenAt
  // Only agents that heartbeat and that the coordinator manages can be declared lost; leases cover the others.
  const isMissed = health.hasHeartbeat && record.coordinatorEnabled
  const claims = isMissed ? holding.length : 0
  if (record.leaving) {
    // It will not finish what it stayed for; it is terminated for the recorded reason.
    if (isMissed) return ended(record, record.stateReason ?? 'silent', context, 'lost')
    return { ...unchanged(record), record: { ...record, health: { ...health, dueAt: now + staleMs } } }
  }
  const silent = { ...health, dueAt: null }
  const events = [agentEvent('agent_stale', record, { silentMs, claims }, context)]
  const state = claims > 0 ? 'error' : 'offline'
  const change: Partial<AgentRecord> =
    record.state === 'paused' ? { health: silent } : { health: silent, state, stateReason: 'silent' }
  return changed(record, change, events, context, claims > 0 ? 'lost' : 'kept')
}

/** A write for a task it has started is as good as a heartbeat. */
const lastSignOfLife = (lastSeenAt: number, holding: readonly TaskRecord[]) =>
  holding
    .filter(({ state }) => state === 'running' || state === 'continuing')
    .reduce((latest, { updatedAt }) => Math.max(latest, updatedAt), lastSeenAt)

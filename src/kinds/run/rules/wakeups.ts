import type { AgentRecord } from '../../agent/record.ts'
import { type EventWithOrigin, type Origin, originOf, workspaceEvent } from '../../events.ts'
import { policyOf } from './policy.ts'

/**
 * Whether an agent is woken. Everything that wakes agents goes through here; an accepted wakeup is a row that waits until a
 * node has a free slot for a run.
 */

export const WAKEUP_SOURCES = ['timer', 'assignment', 'on_demand', 'automation'] as const
export type WakeupSource = (typeof WAKEUP_SOURCES)[number]

export const TRIGGER_DETAILS = ['manual', 'ping', 'callback', 'system'] as const
export type TriggerDetail = (typeof TRIGGER_DETAILS)[number]

/** On-demand wakeups go first, because a person waits; then assignments, because a task waits. */
export const PRIORITY_OF: Record<WakeupSource, number> = {
  on_demand: 3,
  assignment: 2,
  timer: 1,
  automation: 1,
}

/** Why the agent was not woken. */
export const SKIP_REASONS = {
  NOT_MANAGED: 'The agent is external; Baton does not start it.',
  AGENT_PAUSED: 'The agent is paused.',
  AGENT_TERMINATED: 'The agent is terminated.',
  AGENT_FAULTY: 'The agent is in error and gets no work until it is repaired.',
  DISABLED: 'The settings of the agent disable all wakeups.',
  SOURCE_OFF: 'The settings of the agent disable wakeups from this source.',
  SELF_AUTHORED: 'The agent requested this wakeup itself.',
  RATE_CAPPED: 'The agent was woken too often within an hour.',
  CHAIN_TOO_DEEP: 'Agents woke each other too many times in a row.',
  BUDGET_STOPPED: 'Its budget, or that of the workspace, allows nothing more now.',
  TASK_NOT_READY: 'There is nothing left to do for this task.',
} as const
export type SkipReason = keyof typeof SKIP_REASONS

/** A run may wake another agent, whose run may wake a third: the limit of such a chain. */
export const MAX_CHAIN_DEPTH = 5

/** Who requested it, and why. */
export interface WakeupCause extends Origin {
  id: string
  source: WakeupSource
  triggerDetail: TriggerDetail | null
  reason: string | null
  payload: unknown
  /** Its task, and the generation of the claim to work under, if there is one. */
  task: { id: number; uuid: string; generation: number | null } | null
  idempotencyKey: string | null
  /** The length of the chain of runs that led to it; 0 when no run requested it. */
  depth: number
  /** It continues work that its agent holds. */
  isContinuation: boolean
  /** The shortest wait before it runs. */
  delayMs: number
}

export interface WakeupContext {
  now: number
  agent: AgentRecord
  /** A queued wakeup for the same. */
  waiting: { id: string; dueAt: number; priority: number } | null
  /** A wakeup whose run is active and for the same task; for a wakeup without a task, any. */
  running: { id: string } | null
  /** How often it was woken for this task, or by programs without one, within the last hour, without continuations. */
  recently: number
  lastStartedAt: number | null
  parkedUntil: number | null
  /** Its budget, or that of the workspace, lets nothing begin. */
  isStopped: boolean
}

export type WakeupDecision =
  | { status: 'queued'; dueAt: number; priority: number; events: EventWithOrigin[] }
  | { status: 'coalesced'; into: string; dueAt: number; priority: number; events: EventWithOrigin[] }
  | { status: 'skipped'; because: SkipReason; events: EventWithOrigin[] }

/** What happens to a request to wake an agent. */
export function decideWakeup(request: WakeupCause, context: WakeupContext): WakeupDecision {
  const { now, agent, waiting, running } = context
  const { source, task } = request
  const payload = {
    agent: agent.slug,
    wakeupId: request.id,
    source,
    reason: request.reason,
    taskId: task?.uuid ?? null,
  }
  const by = { ...originOf(request), now }
  const because = whyNot(request, context)
  if (because)
    return {
      status: 'skipped',
      because,
      events: [workspaceEvent('wakeup_skipped', { ...payload, because }, by)],
    }
  const dueAt = Math.max(now + request.delayMs, mayStartAt(request, context))
  const priority = PRIORITY_OF[source]
  const into = waiting ?? running
  if (!into)
    return { status: 'queued', dueAt, priority, events: [workspaceEvent('wakeup_requested', payload, by)] }
  return {
    status: 'coalesced',
    into: into.id,
    // The more urgent request speeds up the queued one.
    dueAt: Math.min(dueAt, waiting?.dueAt ?? dueAt),
    priority: Math.max(priority, waiting?.priority ?? 0),
    events: [workspaceEvent('wakeup_coalesced', { ...payload, into: into.id }, by)],
  }
}

function whyNot(request: WakeupCause, { agent, recently, isStopped }: WakeupContext): SkipReason | null {
  const { source, actor, task } = request
  const policy = policyOf(agent.runtimeConfig)
  if (agent.adapterType === 'external') return 'NOT_MANAGED'
  // An agent that only finishes what it holds is still woken for that.
  if (agent.state === 'terminated' || (agent.leaving && task?.generation == null)) return 'AGENT_TERMINATED'
  if (agent.state === 'paused') return 'AGENT_PAUSED'
  // A person may try whether it works again; nothing else should retry forever.
  if (agent.state === 'error' && source !== 'on_demand') return 'AGENT_FAULTY'
  // What it holds is ended by its run, which nothing else would do.
  if (isStopped && task?.generation == null) return 'BUDGET_STOPPED'
  if (!policy.enabled) return 'DISABLED'
  const isOff =
    (source === 'assignment' && !policy.wakeOnAssignment) ||
    (source === 'on_demand' && !policy.wakeOnOnDemand) ||
    (source === 'automation' && !policy.wakeOnAutomation && actor !== 'system') ||
    (source === 'timer' && policy.intervalSec === null)
  if (isOff) return 'SOURCE_OFF'
  if (actor === `agent:${agent.slug}`) return 'SELF_AUTHORED'
  if (request.depth > MAX_CHAIN_DEPTH) return 'CHAIN_TOO_DEEP'
  if (countsTowardsCap(request) && recently >= policy.maxWakeupsPerTaskPerHour) return 'RATE_CAPPED'
  return null
}

/** People and timers are not limited; continuations are limited by the task. */
export const countsTowardsCap = ({ source, task, isContinuation }: WakeupCause) =>
  task === null ? source === 'automation' : !isContinuation

function mayStartAt(
  { task }: WakeupCause,
  { now, agent, lastStartedAt, parkedUntil }: WakeupContext,
): number {
  return Math.max(now, restedAt(agent, lastStartedAt, task?.generation != null), parkedUntil ?? 0)
}

/** Assigned work starts at once: the pause between runs is for work that is not urgent. */
export function restedAt(agent: AgentRecord, lastStartedAt: number | null, isHeld: boolean): number {
  return lastStartedAt === null || isHeld
    ? 0
    : lastStartedAt + policyOf(agent.runtimeConfig).cooldownSec * 1000
}

/** The next timer wakeup. Counted from now, so missed ones do not run in a burst. */
export const nextTimerAt = (agent: AgentRecord, now: number): number | null => {
  const { enabled, intervalSec } = policyOf(agent.runtimeConfig)
  return enabled && intervalSec !== null ? now + intervalSec * 1000 : null
}

/** When its timer wakes it, by the time that was set for it last: a timer that is new or was shortened counts from now. */
export function nextWakeAt(agent: AgentRecord, setTo: number | null, now: number): number | null {
  const isOff = agent.state === 'paused' || agent.state === 'terminated' || agent.leaving
  const latest = isOff || agent.adapterType === 'external' ? null : nextTimerAt(agent, now)
  return latest === null ? null : Math.max(now, Math.min(setTo ?? latest, latest))
}

import { type EventDraft, workspaceEvent } from '../events.ts'
import type { AgentRecord } from '../records.ts'
import { policyOf } from './policy.ts'

/**
 * Whether an agent is woken. There is one entrance for whatever wakes agents; what it lets in waits in a row until a node
 * has room for a run.
 */

export const WAKEUP_STATES = [
  'queued',
  'claimed',
  'coalesced',
  'skipped',
  'completed',
  'failed',
  'cancelled',
] as const
export type WakeupState = (typeof WAKEUP_STATES)[number]

export const WAKEUP_SOURCES = ['timer', 'assignment', 'on_demand', 'automation'] as const
export type WakeupSource = (typeof WAKEUP_SOURCES)[number]

export const TRIGGER_DETAILS = ['manual', 'ping', 'callback', 'system'] as const
export type TriggerDetail = (typeof TRIGGER_DETAILS)[number]

/** A person waits for the first, a task for the second. */
export const PRIORITY_OF: Record<WakeupSource, number> = {
  on_demand: 3,
  assignment: 2,
  timer: 1,
  automation: 1,
}

/** Why nobody was woken. */
export const SKIP_REASONS = {
  NOT_MANAGED: 'The agent runs by itself; Baton does not start it.',
  AGENT_PAUSED: 'The agent is paused.',
  AGENT_TERMINATED: 'The agent is terminated.',
  AGENT_FAULTY: 'The agent cannot work until somebody has seen to it.',
  DISABLED: 'Its settings say that nothing wakes it.',
  SOURCE_OFF: 'Its settings say that this does not wake it.',
  SELF_AUTHORED: 'The agent caused it itself.',
  RATE_CAPPED: 'It was woken too often within an hour.',
  CHAIN_TOO_DEEP: 'Agents woke each other too many times in a row.',
  TASK_NOT_READY: 'There is nothing to do for this task by now.',
} as const
export type SkipReason = keyof typeof SKIP_REASONS

/** A run may wake another agent, whose run may wake a third, and so on; no further than this. */
export const MAX_CHAIN_DEPTH = 5

export interface AskedWakeup {
  id: string
  source: WakeupSource
  triggerDetail: TriggerDetail | null
  reason: string | null
  payload: unknown
  /** On whose behalf. */
  actor: string
  /** The task it is about, and the claim under which it is to be worked on if there is one. */
  task: { id: number; uuid: string; generation: number | null } | null
  idempotencyKey: string | null
  /** How many runs, each of which woke the next, lead to it; 0 when no run asked for it. */
  depth: number
  /** It goes on with work that its agent holds. */
  isContinuation: boolean
  /** Not before this much has passed. */
  delayMs: number
}

export interface WakeupContext {
  now: number
  agent: AgentRecord
  /** One that waits already and says the same. */
  waiting: { id: string; dueAt: number; priority: number } | null
  /** A wakeup whose run is going on and is about the same; for one about nothing in particular, about anything. */
  running: { id: string } | null
  /** How often it was woken for this task, or by programs without one, within the last hour; continuations apart. */
  recently: number
  lastStartedAt: number | null
  parkedUntil: number | null
}

export type WakeupDecision =
  | { status: 'queued'; dueAt: number; priority: number; events: EventDraft[] }
  | { status: 'coalesced'; into: string; dueAt: number; priority: number; events: EventDraft[] }
  | { status: 'skipped'; because: SkipReason; events: EventDraft[] }

/** What becomes of a wish that an agent be woken. */
export function decideWakeup(asked: AskedWakeup, context: WakeupContext): WakeupDecision {
  const { now, agent, waiting, running } = context
  const { source, task } = asked
  const said = {
    agent: agent.slug,
    wakeupId: asked.id,
    source,
    reason: asked.reason,
    taskId: task?.uuid ?? null,
  }
  const told = { actor: asked.actor, now }
  const because = whyNot(asked, context)
  if (because)
    return {
      status: 'skipped',
      because,
      events: [workspaceEvent('wakeup_skipped', { ...said, because }, told)],
    }
  const dueAt = Math.max(now + asked.delayMs, mayStartAt(asked, context))
  const priority = PRIORITY_OF[source]
  const into = waiting ?? running
  if (!into)
    return { status: 'queued', dueAt, priority, events: [workspaceEvent('wakeup_requested', said, told)] }
  return {
    status: 'coalesced',
    into: into.id,
    // Whoever is in a hurry takes the one that waits along.
    dueAt: Math.min(dueAt, waiting?.dueAt ?? dueAt),
    priority: Math.max(priority, waiting?.priority ?? 0),
    events: [workspaceEvent('wakeup_coalesced', { ...said, into: into.id }, told)],
  }
}

function whyNot(asked: AskedWakeup, { agent, recently }: WakeupContext): SkipReason | null {
  const { source, actor, task } = asked
  const policy = policyOf(agent.runtimeConfig)
  if (agent.adapterType === 'external') return 'NOT_MANAGED'
  // Who only finishes what it holds is still woken for that.
  if (agent.state === 'terminated' || (agent.leaving && task?.generation == null)) return 'AGENT_TERMINATED'
  if (agent.state === 'paused') return 'AGENT_PAUSED'
  // A person may try whether it works again; nothing else should, over and over.
  if (agent.state === 'error' && source !== 'on_demand') return 'AGENT_FAULTY'
  if (!policy.enabled) return 'DISABLED'
  const isOff =
    (source === 'assignment' && !policy.wakeOnAssignment) ||
    (source === 'on_demand' && !policy.wakeOnOnDemand) ||
    (source === 'automation' && !policy.wakeOnAutomation && actor !== 'system') ||
    (source === 'timer' && policy.intervalSec === null)
  if (isOff) return 'SOURCE_OFF'
  if (actor === `agent:${agent.slug}`) return 'SELF_AUTHORED'
  if (asked.depth > MAX_CHAIN_DEPTH) return 'CHAIN_TOO_DEEP'
  if (countsTowardsCap(asked) && recently >= policy.maxWakeupsPerTaskPerHour) return 'RATE_CAPPED'
  return null
}

/** People and clocks wake an agent as often as they like; continuations have a limit of their own, the task's. */
export const countsTowardsCap = ({ source, task, isContinuation }: AskedWakeup) =>
  task === null ? source === 'automation' : !isContinuation

function mayStartAt(
  { task }: AskedWakeup,
  { now, agent, lastStartedAt, parkedUntil }: WakeupContext,
): number {
  return Math.max(now, restedAt(agent, lastStartedAt, task?.generation != null), parkedUntil ?? 0)
}

/** The work it was given should not lie: a pause between runs is for what nobody waits for. */
export function restedAt(agent: AgentRecord, lastStartedAt: number | null, isHeld: boolean): number {
  return lastStartedAt === null || isHeld
    ? 0
    : lastStartedAt + policyOf(agent.runtimeConfig).cooldownSec * 1000
}

/** The next time the clock wakes an agent: from now on, so that what was missed is not made up for in a burst. */
export const nextTimerAt = (agent: AgentRecord, now: number): number | null => {
  const { enabled, intervalSec } = policyOf(agent.runtimeConfig)
  return enabled && intervalSec !== null ? now + intervalSec * 1000 : null
}

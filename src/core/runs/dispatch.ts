import type { AgentRecord } from '../records.ts'
import { policyOf } from './policy.ts'
import { restedAt, type SkipReason } from './wakeups.ts'

/** Whether what waits is run now, judged when a node has room for it: much may have changed since it was asked for. */

/**
 * How the task stands that a wakeup is about. `none`: it is about no task. `held`: its agent has it and has not begun.
 * `free`: its agent may claim it. `gone`: there is nothing to do for it.
 */
export type TaskHold = 'none' | 'held' | 'free' | 'gone'

export interface DispatchContext {
  now: number
  agent: AgentRecord
  /** How many runs of it are going on. */
  active: number
  lastStartedAt: number | null
  /** Whether a person waits for it. */
  isAskedFor: boolean
  standing: TaskHold
}

export type DispatchDecision =
  | { kind: 'run' }
  | { kind: 'busy' }
  | { kind: 'later'; at: number }
  | { kind: 'skip'; because: SkipReason }

export function decideDispatch(context: DispatchContext): DispatchDecision {
  const { now, agent, active, lastStartedAt, standing } = context
  const because = whyNot(context)
  if (because) return { kind: 'skip', because }
  if (agent.maxConcurrentTasks !== null && active >= agent.maxConcurrentTasks) return { kind: 'busy' }
  // Asked for before the last run started, it may be due sooner than the agent has rested.
  const at = restedAt(agent, lastStartedAt, standing === 'held')
  return at > now ? { kind: 'later', at } : { kind: 'run' }
}

function whyNot({ agent, isAskedFor, standing }: DispatchContext): SkipReason | null {
  if (agent.adapterType === 'external') return 'NOT_MANAGED'
  if (standing === 'gone') return 'TASK_NOT_READY'
  if (agent.state === 'terminated' || (agent.leaving && standing !== 'held')) return 'AGENT_TERMINATED'
  if (agent.state === 'paused') return 'AGENT_PAUSED'
  // It would fail the same way with whatever else it was given; a person may try.
  if (agent.state === 'error' && !isAskedFor) return 'AGENT_FAULTY'
  return policyOf(agent.runtimeConfig).enabled ? null : 'DISABLED'
}

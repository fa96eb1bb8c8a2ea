import type { AgentRecord } from '../../agent/record.ts'
import { policyOf } from './policy.ts'
import { restedAt, type SkipReason } from './wakeups.ts'

/** Whether a queued wakeup runs now. Decided when a node has a free slot: much may have changed since the request. */

/**
 * The task of a wakeup. `none`: the wakeup has no task. `held`: its agent holds it and has not started. `free`: its agent
 * may claim it. `gone`: there is nothing left to do for it.
 */
export type TaskHold = 'none' | 'held' | 'free' | 'gone'

export interface DispatchContext {
  now: number
  agent: AgentRecord
  /** The number of its active runs. */
  active: number
  lastStartedAt: number | null
  /** A person requested it. */
  isAskedFor: boolean
  standing: TaskHold
  /** Its budget, or that of the workspace, lets nothing begin. */
  isStopped: boolean
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
  // Requested before the last run started, it may be due before the minimum pause between runs is over.
  const at = restedAt(agent, lastStartedAt, standing === 'held')
  return at > now ? { kind: 'later', at } : { kind: 'run' }
}

function whyNot({ agent, isAskedFor, standing, isStopped }: DispatchContext): SkipReason | null {
  if (agent.adapterType === 'external') return 'NOT_MANAGED'
  if (standing === 'gone') return 'TASK_NOT_READY'
  if (agent.state === 'terminated' || (agent.leaving && standing !== 'held')) return 'AGENT_TERMINATED'
  if (agent.state === 'paused') return 'AGENT_PAUSED'
  // It would fail the same way with any other task; a person may try.
  if (agent.state === 'error' && !isAskedFor) return 'AGENT_FAULTY'
  if (isStopped && standing !== 'held') return 'BUDGET_STOPPED'
  return policyOf(agent.runtimeConfig).enabled ? null : 'DISABLED'
}

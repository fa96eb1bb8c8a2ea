import type { TaskState } from '../../../pure/states.ts'
import { type AgentChoice, type TaskTimers, without } from './groups.ts'
import { sooner } from './retry.ts'

/** Which agent a queued task is reserved for, for a while. */

/** The same agent is a preference: gone, paused or without room for this long, any other may take the task. */
const PREFERENCE_MS = 10 * 60_000

interface Choosing {
  readonly state: TaskState
  onlyAgent: string | null
  readonly agent: string | null
  dueAt: number | null
  readonly expiresAt: number | null
  readonly timers: TaskTimers | null
  agentChoice: AgentChoice | null
}

/** Until when it may be queued; null: without a limit. */
export const expiryOf = ({ expiresAt, timers }: Pick<Choosing, 'expiresAt' | 'timers'>): number | null =>
  timers?.expiresAt ?? expiresAt

/** For a while it is reserved for the agent that held it last. Called after the task was queued. */
export function preferLastAgent(record: Choosing, now: number): void {
  // What is reserved only because its plan prefers another agent goes to the one that knows it.
  const isReserved = record.onlyAgent !== null && record.agentChoice?.preferredUntil === undefined
  if (isReserved || record.agent === null) return
  prefer(record, record.agent, now)
}

/** For a while it is reserved for the agent that its plan prefers, unless another one is to try. Called when it was queued. */
export function preferPlanned(record: Preferring, now: number): void {
  const { prefers, avoidedAgent } = record.agentChoice ?? {}
  if (prefers !== undefined && prefers !== avoidedAgent && record.onlyAgent === null)
    prefer(record, prefers, now)
}

type Preferring = Pick<Choosing, 'onlyAgent' | 'dueAt' | 'agentChoice'>

function prefer(record: Preferring, agent: string, now: number): void {
  const preferredUntil = now + PREFERENCE_MS
  record.onlyAgent = agent
  record.agentChoice = { ...record.agentChoice, preferredUntil }
  record.dueAt = sooner(record.dueAt, preferredUntil)
}

/** Anybody may take it from now on. */
export function dropPreference(record: Choosing): void {
  if (record.agentChoice?.preferredUntil === undefined) return
  record.onlyAgent = null
  if (record.state === 'queued') record.dueAt = sooner(expiryOf(record), record.timers?.deadlineAt ?? null)
  record.agentChoice = without(record.agentChoice, 'preferredUntil')
}

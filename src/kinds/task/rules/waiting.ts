import type { TaskState } from '../../../pure/states.ts'
import { dropPreference } from './agent-choice.ts'
import { type OpenQuestion, type TaskGroups, without } from './groups.ts'

/** What waits for a person. */

/** A question of a holder with its answer, for people and for the next holder. */
export interface TaskQuestion extends OpenQuestion {
  /** The generation that asked. */
  readonly generation: number
  readonly answer: string | null
  readonly answeredBy: string | null
  readonly answeredAt: number | null
}

/** `alert`: a task that nobody takes. */
export const WAIT_KINDS = ['question', 'review', 'budget', 'dead_letter', 'alert'] as const
export type WaitKind = (typeof WAIT_KINDS)[number]

/** What else waits for people: plans, outcomes of missions, and agents in error. */
export const ASKING_KINDS = ['plan', ...WAIT_KINDS, 'outcome', 'agent'] as const
/** `finished`: a mission that has ended, until somebody has seen it. It asks for nothing, so it is not counted with what waits. */
export const INBOX_KINDS = [...ASKING_KINDS, 'finished'] as const
export type InboxKind = (typeof INBOX_KINDS)[number]

/** Part of a task's details. All null when it waits for no person. */
export interface WaitingDetails {
  question: TaskQuestion | null
  waitsKind: WaitKind | null
  waitsSince: number | null
  waitsBecause: string | null
}

interface Waiting extends Pick<TaskGroups, 'timers' | 'continuation' | 'agentChoice' | 'attention'> {
  readonly id: number
  readonly state: TaskState
  readonly generation: number
  onlyAgent: string | null
  readonly agent: string | null
  dueAt: number | null
  readonly purpose: string
  readonly expiresAt: number | null
}

/** A task left a state: what held only there is over. */
export function afterLeaving(record: Waiting, was: TaskState): void {
  if (was === 'queued') dropPreference(record)
  if (was === 'queued') dropAlert(record)
  if (was === 'failed') decidedAbout(record)
  if (was === 'budget_exceeded') record.continuation = without(record.continuation, 'overBudget')
  if (was === 'verifying') record.timers = without(record.timers, 'verdictLeftMs', 'isVerdictLate')
  if (record.state !== 'pending' && record.state !== 'paused')
    record.continuation = without(record.continuation, 'goesOnAfter')
  if (was === 'awaiting_human') record.attention = without(record.attention, 'asks')
}

/** It is no longer a dead letter. */
export function decidedAbout(record: Pick<Waiting, 'attention'>): void {
  record.attention = without(record.attention, 'isDeadLetter')
}

/** People need not look after it any longer. */
export function dropAlert(record: Pick<Waiting, 'attention'>): void {
  record.attention = without(record.attention, 'alert')
}

type WaitsNow = Omit<WaitingDetails, 'question'>
export const WAITS_NO_MORE: WaitsNow = { waitsKind: null, waitsSince: null, waitsBecause: null }

const MAY_WAIT: readonly TaskState[] = ['awaiting_human', 'budget_exceeded', 'failed']

/** How a change of state changes what people are waited for. `wasItem`: it waited for one before. */
export function waitsAfter(
  record: Waiting,
  was: TaskState,
  wasItem: boolean,
  payload: Record<string, unknown>,
  now: number,
): { taskId: number; set: WaitsNow }[] {
  const waitsKind = waitKindOf(record, payload)
  if (waitsKind === null && !wasItem && !MAY_WAIT.includes(was)) return []
  if (waitsKind === 'dead_letter') record.attention = { ...record.attention, isDeadLetter: true }
  const because = payload.error ?? payload.reason
  const waitsBecause = typeof because === 'string' ? because : null
  const set = waitsKind ? { waitsKind, waitsSince: now, waitsBecause } : WAITS_NO_MORE
  return [{ taskId: record.id, set }]
}

function waitKindOf(
  { state, attention, purpose, continuation }: Waiting,
  { reason }: Record<string, unknown>,
): WaitKind | null {
  switch (state) {
    case 'awaiting_human':
      return attention?.asks ? 'question' : 'review'
    case 'budget_exceeded':
      return continuation?.overBudget?.asks ? null : 'budget'
    case 'failed':
      // What serves another task is shown with that task.
      return purpose === 'work' && (reason === 'attempts' || reason === 'generations') ? 'dead_letter' : null
    default:
      return null
  }
}

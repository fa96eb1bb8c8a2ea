import type { TaskState } from '../../../pure/states.ts'
import { sooner } from './retry.ts'

/** What waits for a person, and how a task continues after it. */

/** A question of a holder that is not answered yet. */
interface OpenQuestion {
  readonly question: string
  /** Empty: any answer is possible. */
  readonly options: readonly string[]
  /** The agent. */
  readonly askedBy: string
  readonly askedAt: number
}

/** A question of a holder with its answer, for people and for the next holder. */
export interface TaskQuestion extends OpenQuestion {
  /** The generation that asked. */
  readonly generation: number
  readonly answer: string | null
  readonly answeredBy: string | null
  readonly answeredAt: number | null
}

/** Part of a task's watch. */
export interface WaitingWatch {
  /** It waits for the answer of a person. */
  readonly asks?: OpenQuestion | undefined
  /** This generation continues the attempt before it: after a question, a pause or a budget stop. */
  readonly goesOn?: { readonly generation: number } | undefined
  /** It continues when these tasks have ended, whatever else it once depended on. */
  readonly goesOnAfter?: readonly number[] | undefined
  /** Already continued: its earlier dependencies no longer block it. */
  readonly wentOnAfter?: true | undefined
  /** The agent that its plan prefers: each time it is queued, it is reserved for that one for a while. */
  readonly prefers?: string | undefined
  /** Until then it is reserved for the agent that knows it, and for nobody after. */
  readonly preferredUntil?: number | undefined
  /** Each attempt starts over: from the base, in a new session. */
  readonly isFresh?: boolean | undefined
  /** This generation and later ones take over no work, and no session, of earlier ones. */
  readonly freshFrom?: number | undefined
  /** How much is left of the time for its verdict; missing before it was first looked at. */
  readonly verdictLeftMs?: number | undefined
  /** That time is over: who should judge is waited for only while it is busy. */
  readonly isVerdictLate?: true | undefined
  /** A person asked for another verdict on the result of this generation: by this agent, or by any. */
  readonly judging?:
    | { readonly generation: number; readonly round: number; readonly agent: string | null }
    | undefined
  /** It failed because its attempts or generations ran out, and nobody has decided about that. */
  readonly isDeadLetter?: true | undefined
  /** It is queued and nobody takes it: why, as people were told. */
  readonly alert?: string | undefined
}

/** `alert`: a task that nobody takes. */
export const WAIT_KINDS = ['question', 'review', 'budget', 'dead_letter', 'alert'] as const
export type WaitKind = (typeof WAIT_KINDS)[number]

/** What else waits for people: plans, outcomes of missions, and agents in error. */
export const INBOX_KINDS = ['plan', ...WAIT_KINDS, 'outcome', 'agent'] as const
export type InboxKind = (typeof INBOX_KINDS)[number]

/** Part of a task's details. All null when it waits for no person. */
export interface WaitingDetails {
  question: TaskQuestion | null
  waitsKind: WaitKind | null
  waitsSince: number | null
  waitsBecause: string | null
}

/** The same agent is a preference: gone, paused or without room for this long, any other may take the task. */
const PREFERENCE_MS = 10 * 60_000

interface Waiting {
  readonly id: number
  state: TaskState
  generation: number
  onlyAgent: string | null
  agent: string | null
  dueAt: number | null
  readonly purpose: string
  readonly expiresAt: number | null
  watch:
    | (WaitingWatch & { readonly deadlineAt?: number | undefined; readonly expiresAt?: number | undefined })
    | null
}

/** Until when it may be queued; null: without a limit. */
export const expiryOf = ({ expiresAt, watch }: Pick<Waiting, 'expiresAt' | 'watch'>): number | null =>
  watch?.expiresAt ?? expiresAt

/** The next generation takes over where this one stood. Called before the task is queued. */
export function goOn(record: Waiting): void {
  record.watch = { ...record.watch, goesOn: { generation: record.generation + 1 } }
}

/** The next generation starts over: from the base, in a new session. Called before the task is queued. */
export function startOver(record: Pick<Waiting, 'generation' | 'watch'>): void {
  record.watch = { ...record.watch, freshFrom: record.generation + 1 }
}

/** The first generation whose work and session the present one may take over. */
export function takesOverFrom(
  { generation, watch }: Pick<Waiting, 'generation' | 'watch'>,
  isAgentFresh: boolean,
): number {
  // After a question, a pause or a budget stop an attempt continues, whatever is chosen for new attempts.
  const isNewAttempt = watch?.goesOn?.generation !== generation
  const isFresh = isNewAttempt && (isAgentFresh || watch?.isFresh === true)
  return isFresh ? generation : (watch?.freshFrom ?? 1)
}

/** For a while it is reserved for the agent that held it last. Called after the task was queued. */
export function preferLastAgent(record: Waiting, now: number): void {
  // What is reserved only because its plan prefers another agent goes to the one that knows it.
  const isReserved = record.onlyAgent !== null && record.watch?.preferredUntil === undefined
  if (isReserved || record.agent === null) return
  prefer(record, record.agent, now)
}

/** For a while it is reserved for the agent that its plan prefers, unless another one is to try. Called when it was queued. */
export function preferPlanned(record: Preferring, now: number): void {
  const { prefers, avoidedAgent } = record.watch ?? {}
  if (prefers !== undefined && prefers !== avoidedAgent && record.onlyAgent === null)
    prefer(record, prefers, now)
}

type Preferring = Pick<Waiting, 'onlyAgent' | 'dueAt'> & {
  watch: (WaitingWatch & { readonly avoidedAgent?: string | undefined }) | null
}

function prefer(record: Preferring, agent: string, now: number): void {
  const preferredUntil = now + PREFERENCE_MS
  record.onlyAgent = agent
  record.watch = { ...record.watch, preferredUntil }
  record.dueAt = sooner(record.dueAt, preferredUntil)
}

/** Anybody may take it from now on. */
export function dropPreference(record: Waiting): void {
  if (record.watch?.preferredUntil === undefined) return
  const { preferredUntil: _until, ...rest } = record.watch
  record.onlyAgent = null
  if (record.state === 'queued') record.dueAt = sooner(expiryOf(record), record.watch.deadlineAt ?? null)
  record.watch = orNull(rest)
}

const orNull = (watch: WaitingWatch): WaitingWatch | null => (Object.keys(watch).length === 0 ? null : watch)

/** A task left a state: what held only there is over. */
export function afterLeaving(record: Waiting, was: TaskState): void {
  if (was === 'queued') dropPreference(record)
  if (was === 'queued') dropAlert(record)
  if (was === 'failed') decidedAbout(record)
  if (was === 'verifying') stopVerdictClock(record)
  if (record.watch?.goesOnAfter && record.state !== 'pending' && record.state !== 'paused') {
    const { goesOnAfter: _ended, ...rest } = record.watch
    record.watch = orNull(rest)
  }
  if (was !== 'awaiting_human' || !record.watch?.asks) return
  const { asks: _asked, ...rest } = record.watch
  record.watch = orNull(rest)
}

function stopVerdictClock(record: Waiting): void {
  if (record.watch?.verdictLeftMs === undefined) return
  const { verdictLeftMs: _left, isVerdictLate: _late, ...rest } = record.watch
  record.watch = orNull(rest)
}

/** It is no longer a dead letter. */
export function decidedAbout(record: Waiting): void {
  if (!record.watch?.isDeadLetter) return
  const { isDeadLetter: _over, ...rest } = record.watch
  record.watch = orNull(rest)
}

/** People need not look after it any longer. */
export function dropAlert(record: Pick<Waiting, 'watch'>): void {
  if (record.watch?.alert === undefined) return
  const { alert: _over, ...rest } = record.watch
  record.watch = orNull(rest)
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
  if (waitsKind === 'dead_letter') record.watch = { ...record.watch, isDeadLetter: true }
  const because = payload.error ?? payload.reason
  const waitsBecause = typeof because === 'string' ? because : null
  const set = waitsKind ? { waitsKind, waitsSince: now, waitsBecause } : WAITS_NO_MORE
  return [{ taskId: record.id, set }]
}

function waitKindOf(
  { state, watch, purpose }: Waiting,
  { reason }: Record<string, unknown>,
): WaitKind | null {
  switch (state) {
    case 'awaiting_human':
      return watch?.asks ? 'question' : 'review'
    case 'budget_exceeded':
      return 'budget'
    case 'failed':
      // What serves another task is shown with that task.
      return purpose === 'work' && (reason === 'attempts' || reason === 'generations') ? 'dead_letter' : null
    default:
      return null
  }
}

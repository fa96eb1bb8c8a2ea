import { sooner } from './retry.ts'
import { isHeld, type TaskState } from './states.ts'

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
  /** This generation takes over the folder of an earlier one. */
  readonly goesOn?: { readonly generation: number; readonly folder: number } | undefined
  /** It continues when these tasks have ended, whatever else it once depended on. */
  readonly goesOnAfter?: readonly number[] | undefined
  /** It has done so: what it depended on by then holds it back no more, whatever becomes of it. */
  readonly wentOnAfter?: true | undefined
  /** Until then it is reserved for the agent that knows it, and for nobody after. */
  readonly preferredUntil?: number | undefined
  /** It failed because its attempts or generations ran out, and nobody has decided about that. */
  readonly isDeadLetter?: true | undefined
}

export const WAIT_KINDS = ['question', 'review', 'budget', 'dead_letter'] as const
export type WaitKind = (typeof WAIT_KINDS)[number]

/** What else waits for people: plans, agents in error, and tasks that nobody can take. */
export const INBOX_KINDS = ['plan', ...WAIT_KINDS, 'agent', 'alert'] as const
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

/** The generation whose folder the present one works in. */
export const folderOf = ({ generation, watch }: Pick<Waiting, 'generation' | 'watch'>): number =>
  watch?.goesOn?.generation === generation ? watch.goesOn.folder : generation

/** Whether the folder of a generation may still be worked in. */
export function needsFolder(
  { generation, watch, state }: Pick<Waiting, 'generation' | 'watch' | 'state'>,
  folder: number,
): boolean {
  if (watch?.goesOn?.generation === generation + 1) return watch.goesOn.folder === folder
  const mayGoOn = isHeld(state) || state === 'paused' || state === 'budget_exceeded' || Boolean(watch?.asks)
  return mayGoOn && folderOf({ generation, watch }) === folder
}

/** The next generation takes over where this one stood. Called before the task is queued. */
export function goOn(record: Waiting): void {
  const goesOn = { generation: record.generation + 1, folder: folderOf(record) }
  record.watch = { ...record.watch, goesOn }
}

/** For a while it is reserved for the agent that held it last. Called after the task was queued. */
export function preferLastAgent(record: Waiting, now: number): void {
  if (record.onlyAgent !== null || record.agent === null) return
  const preferredUntil = now + PREFERENCE_MS
  record.onlyAgent = record.agent
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
  if (was === 'failed') decidedAbout(record)
  if (record.watch?.goesOnAfter && record.state !== 'pending' && record.state !== 'paused') {
    const { goesOnAfter: _ended, ...rest } = record.watch
    record.watch = orNull(rest)
  }
  if (was !== 'awaiting_human' || !record.watch?.asks) return
  const { asks: _asked, ...rest } = record.watch
  record.watch = orNull(rest)
}

/** It is no longer a dead letter. */
export function decidedAbout(record: Waiting): void {
  if (!record.watch?.isDeadLetter) return
  const { isDeadLetter: _over, ...rest } = record.watch
  record.watch = orNull(rest)
}

type WaitsNow = Omit<WaitingDetails, 'question'>
export const WAITS_NO_MORE: WaitsNow = { waitsKind: null, waitsSince: null, waitsBecause: null }

const MAY_WAIT: readonly TaskState[] = ['awaiting_human', 'budget_exceeded', 'failed']

/** How a change of state changes what people are waited for. */
export function waitsAfter(
  record: Waiting,
  was: TaskState,
  payload: Record<string, unknown>,
  now: number,
): { taskId: number; set: WaitsNow }[] {
  const waitsKind = waitKindOf(record, payload)
  if (waitsKind === null && !MAY_WAIT.includes(was)) return []
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

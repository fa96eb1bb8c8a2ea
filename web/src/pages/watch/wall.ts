import { runErrorWords } from '../../../../src/kinds/run/rules/outcomes.ts'
import { isLive, type RunState } from '../../../../src/kinds/run/states.ts'
import { type LiveEvent, payloadField, tokensAt } from '../../live/card.ts'
import { durationText } from '../../parts/wording.ts'
import type { ListedRun } from '../../things/run/run.ts'

/** The runs of the wall, and how events change them. Pure. */

interface Flag {
  /** What the watchdog noticed. */
  readonly words: string
  /** Whether it is about repeated calls: then another call ends it, otherwise any sign of life does. */
  readonly isLoop: boolean
}

export interface WatchedRun extends ListedRun {
  readonly flag: Flag | null
  /** What it did last, in the words of its status: a repeated status is no progress. */
  readonly lastStatuses: readonly string[]
  /** Budget of its mission that is spent; null: not known, or without one. */
  readonly budgetPercent: number | null
}

/** What is known from the output of a run alone. */
export interface Heard {
  /** When it last printed something; null: not known. */
  readonly heardAt: number | null
  readonly equalCalls: number
}

/** A run that ended stays this long, with its end. */
const ENDED_STAY_MS = 30_000
/** Fewer than the watchdog flags: a viewer sees it first. */
const EQUAL_CALLS = 3
const SILENT_MS = 180_000
const NEAR_BUDGET_PERCENT = 90
const STATUSES_KEPT = 4

export const watched = (run: ListedRun): WatchedRun => ({
  ...run,
  flag: null,
  lastStatuses: run.statusMessage === null ? [] : [run.statusMessage],
  budgetPercent: null,
})

function afterStatus(run: WatchedRun, message: string | null, color: string | null): WatchedRun {
  const isNew = message !== null && !run.lastStatuses.includes(message)
  return {
    ...run,
    statusMessage: message,
    statusColor: color,
    lastStatuses: isNew ? [...run.lastStatuses, message].slice(-STATUSES_KEPT) : run.lastStatuses,
    flag: run.flag?.isLoop && !isNew ? run.flag : null,
  }
}

function changed(run: WatchedRun, event: LiveEvent): WatchedRun {
  switch (event.type) {
    case 'run_flagged': {
      const words = payloadField(event, 'detail', 'string') ?? 'The watchdog noticed something.'
      return { ...run, flag: { words, isLoop: payloadField(event, 'code', 'string') === 'loop_detected' } }
    }
    case 'run_status':
      return afterStatus(
        run,
        payloadField(event, 'message', 'string') ?? null,
        payloadField(event, 'color', 'string') ?? null,
      )
    case 'run_finished':
      return {
        ...run,
        status: (payloadField(event, 'status', 'string') ?? run.status) as RunState,
        errorCode: payloadField(event, 'errorCode', 'string') ?? null,
        exitCode: payloadField(event, 'exitCode', 'number') ?? null,
        costUsd: payloadField(event, 'costUsd', 'string') ?? run.costUsd,
        finishedAt: event.at,
      }
    case 'run_usage':
      return { ...run, tokens: tokensAt(event) ?? run.tokens }
    default:
      return run
  }
}

export function afterEvent(runs: readonly WatchedRun[], event: LiveEvent): readonly WatchedRun[] {
  if (event.type === 'cost_snapshot') {
    const budgetPercent = payloadField(event, 'percentUsed', 'number') ?? null
    if (!runs.some(({ missionId }) => missionId !== null && missionId === event.missionId)) return runs
    return runs.map((run) => (run.missionId === event.missionId ? { ...run, budgetPercent } : run))
  }
  if (!runs.some(({ id }) => id === event.runId)) return runs
  return runs.map((run) => (run.id === event.runId ? changed(run, event) : run))
}

/** What was read again, with what was noticed before and what ended since. */
export function withEarlier(
  read: readonly WatchedRun[],
  earlier: readonly WatchedRun[],
): readonly WatchedRun[] {
  const known = new Map(earlier.map((run) => [run.id, run]))
  const ids = new Set(read.map(({ id }) => id))
  const noticed = (run: WatchedRun): WatchedRun => {
    const before = known.get(run.id)
    if (!before) return run
    return {
      ...run,
      flag: before.flag,
      lastStatuses: before.lastStatuses,
      budgetPercent: before.budgetPercent,
    }
  }
  return [
    ...read.map(noticed),
    ...earlier.filter(({ id, finishedAt }) => finishedAt !== null && !ids.has(id)),
  ]
}

/** What is wrong with a run, in words; null: nothing is. `repeats`: it makes the same calls again and again. */
export interface Trouble {
  readonly words: string
  readonly kind: 'repeats' | 'silent' | 'budget'
}

export function troubleOf(run: WatchedRun, heard: Heard | undefined, now: number): Trouble | null {
  if (!isLive(run.status)) return null
  if (run.flag) return { words: run.flag.words, kind: run.flag.isLoop ? 'repeats' : 'silent' }
  const { equalCalls = 0, heardAt = null } = heard ?? {}
  if (equalCalls >= EQUAL_CALLS) return { words: `same call ${equalCalls} times`, kind: 'repeats' }
  const silentMs = heardAt === null ? 0 : now - heardAt
  if (silentMs >= SILENT_MS) return { words: `silent for ${durationText(silentMs)}`, kind: 'silent' }
  if (run.budgetPercent !== null && run.budgetPercent >= NEAR_BUDGET_PERCENT)
    return { words: `${Math.round(run.budgetPercent)} % of the mission’s budget is spent`, kind: 'budget' }
  return null
}

/** How a run ended badly, in words. */
export const endWords = ({ errorCode, exitCode }: WatchedRun): string | null =>
  errorCode === null ? null : runErrorWords(errorCode, exitCode)

const RANKS = { repeats: 0, silent: 1, budget: 2 } as const satisfies Record<Trouble['kind'], number>

/** What is shown now: those in trouble first, then the oldest; what ended goes after a while. */
export function shownAt(
  runs: readonly WatchedRun[],
  now: number,
  heardOf: (id: string) => Heard | undefined,
): { run: WatchedRun; trouble: Trouble | null }[] {
  const isShown = ({ finishedAt }: WatchedRun) =>
    finishedAt === null || now - Date.parse(finishedAt) < ENDED_STAY_MS
  const rank = ({ run, trouble }: { run: WatchedRun; trouble: Trouble | null }) =>
    !isLive(run.status) ? 4 : trouble === null ? 3 : RANKS[trouble.kind]
  return runs
    .filter(isShown)
    .map((run) => ({ run, trouble: troubleOf(run, heardOf(run.id), now) }))
    .sort((a, b) => rank(a) - rank(b) || (a.run.id < b.run.id ? -1 : 1))
}

/** Tiles are as large as the wall allows. */
export function columnsFor(tiles: number): number {
  return tiles <= 1 ? 1 : tiles <= 4 ? 2 : tiles <= 9 ? 3 : 4
}

import type { AnswerTo } from '../../../../src/client/client.ts'
import { isLive, type RunState } from '../../../../src/core/runs/states.ts'
import { type LiveEvent, told } from '../../live/card.ts'

/** The runs of the wall, and how events change them. Pure. */

type ListedRun = AnswerTo<'GET', '/runs'>['items'][number]

export interface WatchedRun extends ListedRun {
  /** What the watchdog noticed. */
  readonly flag: string | null
}

/** A run that ended stays this long, with its end. */
const ENDED_STAY_MS = 30_000

export const watched = (run: ListedRun): WatchedRun => ({ ...run, flag: null })

function changed(run: WatchedRun, event: LiveEvent): WatchedRun {
  if (event.type === 'run_flagged') return { ...run, flag: told(event, 'detail', 'string') ?? 'flagged' }
  if (event.type === 'run_status')
    return { ...run, statusMessage: told(event, 'message', 'string') ?? null, flag: null }
  if (event.type === 'run_finished')
    return {
      ...run,
      status: (told(event, 'status', 'string') ?? run.status) as RunState,
      costUsd: told(event, 'costUsd', 'string') ?? run.costUsd,
      finishedAt: event.at,
    }
  const input = told(event, 'inputTokens', 'number')
  const output = told(event, 'outputTokens', 'number')
  if (event.type !== 'run_usage' || input === undefined || output === undefined) return run
  return {
    ...run,
    usage: { inputTokens: input, outputTokens: output, cachedInputTokens: null, basis: null },
  }
}

export function afterEvent(runs: readonly WatchedRun[], event: LiveEvent): readonly WatchedRun[] {
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
  return [
    ...read.map((run) => ({ ...run, flag: known.get(run.id)?.flag ?? null })),
    ...earlier.filter(({ id, finishedAt }) => finishedAt !== null && !ids.has(id)),
  ]
}

/** What is shown now: those in trouble first, then the oldest; what ended goes after a while. */
export function shownAt(runs: readonly WatchedRun[], now: number): WatchedRun[] {
  const isShown = ({ finishedAt }: WatchedRun) =>
    finishedAt === null || now - Date.parse(finishedAt) < ENDED_STAY_MS
  const rank = ({ flag, status }: WatchedRun) => (!isLive(status) ? 2 : flag === null ? 1 : 0)
  return runs.filter(isShown).sort((a, b) => rank(a) - rank(b) || (a.id < b.id ? -1 : 1))
}

/** Tiles are as large as the wall allows. */
export function columnsFor(tiles: number): number {
  return tiles <= 1 ? 1 : tiles <= 4 ? 2 : tiles <= 9 ? 3 : 4
}

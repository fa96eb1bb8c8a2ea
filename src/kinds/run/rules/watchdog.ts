import { z } from 'zod'
import { short } from '../../mission/plan/problems.ts'

/**
 * Being alive is not progress. An agent that repeats the same call, fails again and again, alternates between two calls, or
 * prints nothing for long is flagged first and then stopped. Times are milliseconds of a monotonic clock: with the wall
 * clock, a laptop that wakes from sleep would stop every agent.
 */

const MOST_CALLS = 10_000
const MOST_SECONDS = 7 * 86_400
const seconds = (standard: number) => z.int().min(0).max(MOST_SECONDS).default(standard)
/** One call is no loop, and any two calls are one round: lower counts would flag everything. */
const count = (standard: number, least: number) =>
  z
    .int()
    .min(0)
    .max(MOST_CALLS)
    .refine((value) => value <= 0 || value >= least, `must be 0 (off) or at least ${least}`)
    .default(standard)

/** `runtimeConfig.watch` of an agent. 0 turns a rule off. A run is stopped at twice the count that flags it. */
export const WatchSettings = z
  .strictObject({
    sameCalls: count(4, 2).describe('This many equal calls in a row are a loop'),
    errors: count(3, 1).describe('This many failed calls in a row are a loop'),
    rounds: count(3, 2).describe('This many rounds of two alternating calls are a loop'),
    silentSec: seconds(300).describe('Flagged after this long without output'),
    stopSilentSec: seconds(1_200).describe('Stopped after this long without output'),
    idleSec: seconds(900).describe('Flagged after this long with output but without progress'),
    stopIdleSec: seconds(1_800).describe('Stopped after this long with output but without progress'),
  })
  .superRefine((settings, context) => {
    for (const [flags, stops] of [
      ['silentSec', 'stopSilentSec'],
      ['idleSec', 'stopIdleSec'],
    ] as const)
      if (settings[stops] > 0 && settings[stops] < settings[flags])
        context.addIssue({ code: 'custom', path: [stops], message: `must not be shorter than ${flags}` })
  })
export type WatchSettings = z.output<typeof WatchSettings>

/** What an agent did: a tool call, progress, or mere output. */
export type Heard =
  | { kind: 'call'; signature: string; isError?: boolean }
  | { kind: 'activity' }
  | { kind: 'output' }

export interface WatchdogState {
  readonly settings: WatchSettings
  /** The stall timeout of its task; null when there is none. */
  readonly stallMs: number | null
  readonly heardAt: number
  /** The time of its last progress; null while it is unknown whether its adapter reports progress. */
  readonly activeAt: number | null
  readonly lastCall: string | null
  readonly callBefore: string | null
  /** How many calls, up to the last, were equal to it; how many alternated with one other; how many failed. */
  readonly equal: number
  readonly inTurns: number
  readonly failed: number
  /** What was already flagged of the present silence. */
  readonly isSilenceFlagged: boolean
  readonly isIdlenessFlagged: boolean
  readonly isStopped: boolean
}

export interface Flag {
  code: 'loop_detected' | 'no_progress' | 'stalled'
  detail: string
}

export interface WatchdogReport {
  watch: WatchdogState
  /** New, or the reason to stop; nothing is flagged twice until something else happens. */
  flag: Flag | null
  stop: boolean
}

/** `reportsActivity`: the adapter is known to report progress; otherwise that is known from its first report on. */
export const watching = (
  settings: WatchSettings,
  now: number,
  { reportsActivity = false, stallMs = null }: { reportsActivity?: boolean; stallMs?: number | null } = {},
): WatchdogState => ({
  settings,
  stallMs,
  heardAt: now,
  activeAt: reportsActivity ? now : null,
  lastCall: null,
  callBefore: null,
  equal: 0,
  inTurns: 0,
  failed: 0,
  isSilenceFlagged: false,
  isIdlenessFlagged: false,
  isStopped: false,
})

export function heard(before: WatchdogState, event: Heard, now: number): WatchdogReport {
  const watch = { ...before, heardAt: now, isSilenceFlagged: false }
  if (event.kind === 'output') return report(watch, null, false)
  const active = { ...watch, activeAt: now, isIdlenessFlagged: false }
  return event.kind === 'call' ? judgeCall(withCall(active, event)) : report(active, null, false)
}

/** Time passed. Called every few seconds, it detects the absence of output. */
export function elapsed(watch: WatchdogState, now: number): WatchdogReport {
  const { settings, heardAt, activeAt } = watch
  const silentMs = now - heardAt
  // No output since the last progress: the agent is silent, not idle, and silence has its own limits.
  const idleMs = activeAt !== null && heardAt > activeAt ? now - activeAt : 0
  const silence = () => noProgress('no output', silentMs)
  const idleness = () => noProgress('output but no progress', idleMs)
  if (watch.stallMs !== null && silentMs >= watch.stallMs) return report(watch, stalled(silentMs), true)
  if (isOver(silentMs, settings.stopSilentSec)) return report(watch, silence(), true)
  if (isOver(idleMs, settings.stopIdleSec)) return report(watch, idleness(), true)
  if (!watch.isSilenceFlagged && isOver(silentMs, settings.silentSec))
    return report({ ...watch, isSilenceFlagged: true }, silence(), false)
  if (!watch.isIdlenessFlagged && isOver(idleMs, settings.idleSec))
    return report({ ...watch, isIdlenessFlagged: true }, idleness(), false)
  return report(watch, null, false)
}

/** A run that is to be stopped stays so, and the reason is reported once. */
const report = (watch: WatchdogState, flag: Flag | null, stop: boolean): WatchdogReport =>
  watch.isStopped
    ? { watch, flag: null, stop: true }
    : { watch: stop ? { ...watch, isStopped: true } : watch, flag, stop }

const isOver = (ms: number, limitSec: number) => limitSec > 0 && ms >= limitSec * 1000

/** Nobody counts seconds in minutes: "45 s", "5 min". */
function spanWords(ms: number): string {
  const seconds = Math.floor(ms / 1_000)
  return seconds < 120 ? `${seconds} s` : `${Math.floor(seconds / 60)} min`
}

const noProgress = (what: string, ms: number): Flag => ({
  code: 'no_progress',
  detail: `${what} for ${spanWords(ms)}`,
})

const stalled = (ms: number): Flag => ({
  code: 'stalled',
  detail: `no sign of life for ${spanWords(ms)}: neither output nor a tool call nor progress`,
})

function withCall(
  watch: WatchdogState,
  { signature, isError }: Extract<Heard, { kind: 'call' }>,
): WatchdogState {
  const { lastCall, callBefore } = watch
  const isEqual = signature === lastCall
  const isTurn = !isEqual && signature === callBefore
  return {
    ...watch,
    lastCall: signature,
    callBefore: lastCall,
    equal: isEqual ? watch.equal + 1 : 1,
    inTurns: isTurn ? watch.inTurns + 1 : isEqual || lastCall === null ? 1 : 2,
    failed: isError ? watch.failed + 1 : 0,
  }
}

const LONGEST_CALL = 200
const named = (signature: string | null) => short(signature ?? '', LONGEST_CALL)

function judgeCall(watch: WatchdogState): WatchdogReport {
  const { settings, equal, failed, inTurns, lastCall, callBefore } = watch
  const rules = [
    {
      seen: equal,
      limit: settings.sameCalls,
      detail: () => `the same call ${equal} times in a row: ${named(lastCall)}`,
    },
    {
      seen: failed,
      limit: settings.errors,
      detail: () => `${failed} failed calls in a row, the last one ${named(lastCall)}`,
    },
    {
      seen: inTurns,
      limit: settings.rounds * 2,
      detail: () => `${inTurns / 2} rounds of two calls: ${named(callBefore)} and ${named(lastCall)}`,
    },
  ].filter(({ limit }) => limit > 0)
  const stops = rules.find(({ seen, limit }) => seen >= limit * 2)
  const flags = stops ?? rules.find(({ seen, limit }) => seen === limit)
  return report(watch, flags ? { code: 'loop_detected', detail: flags.detail() } : null, stops !== undefined)
}

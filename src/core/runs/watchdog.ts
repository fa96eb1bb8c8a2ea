import { z } from 'zod'
import { short } from '../plans/problems.ts'

/**
 * Liveness is not progress. An agent that makes the same call again and again, fails again and again, goes to and fro between
 * two calls, or says nothing for long is flagged at first and then stopped. Times are milliseconds of a clock that only goes
 * forward: after a night of sleep, the wall clock would have every agent of a laptop stopped.
 */

const MOST_CALLS = 10_000
const MOST_SECONDS = 7 * 86_400
const seconds = (standard: number) => z.int().min(0).max(MOST_SECONDS).default(standard)
/** One call is no loop, and each two calls are one round: fewer than this would flag everything. */
const count = (standard: number, least: number) =>
  z
    .int()
    .min(0)
    .max(MOST_CALLS)
    .refine((value) => value <= 0 || value >= least, `must be 0 (off) or at least ${least}`)
    .default(standard)

/** `runtimeConfig.watch` of an agent. 0 turns a rule off. Twice the count that flags a run stops it. */
export const WatchSettings = z
  .strictObject({
    sameCalls: count(4, 2).describe('So many equal calls in a row are a loop'),
    errors: count(3, 1).describe('So many failed calls in a row are a loop'),
    rounds: count(3, 2).describe('So many rounds of two calls that take turns are a loop'),
    silentSec: seconds(300).describe('Flagged when nothing is heard for so long'),
    stopSilentSec: seconds(1_200).describe('Stopped when nothing is heard for so long'),
    idleSec: seconds(900).describe('Flagged when there is output but no step for so long'),
    stopIdleSec: seconds(1_800).describe('Stopped when there is output but no step for so long'),
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

/** What an agent was heard doing: using a tool, getting on, or merely printing something. */
export type Heard =
  | { kind: 'call'; signature: string; isError?: boolean }
  | { kind: 'activity' }
  | { kind: 'output' }

export interface WatchdogState {
  readonly settings: WatchSettings
  readonly heardAt: number
  /** When it got on for the last time; null as long as nobody knows whether it would say so. */
  readonly activeAt: number | null
  readonly lastCall: string | null
  readonly callBefore: string | null
  /** How many calls, up to the last, were equal to it; how many took turns with one other; how many failed. */
  readonly equal: number
  readonly inTurns: number
  readonly failed: number
  /** What was flagged already of the quiet that is going on. */
  readonly isSilenceFlagged: boolean
  readonly isIdlenessFlagged: boolean
  readonly isStopped: boolean
}

export interface Flag {
  code: 'loop_detected' | 'no_progress'
  detail: string
}

export interface WatchdogReport {
  watch: WatchdogState
  /** New, or the reason to stop; what was flagged before is not flagged again until something else happens. */
  flag: Flag | null
  stop: boolean
}

/** `reportsActivity`: its adapter is known to say when it gets on; otherwise that is known from the first time it does. */
export const watching = (settings: WatchSettings, now: number, reportsActivity = false): WatchdogState => ({
  settings,
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
  if (event.kind === 'output') return told(watch, null, false)
  const active = { ...watch, activeAt: now, isIdlenessFlagged: false }
  return event.kind === 'call' ? judgeCall(withCall(active, event)) : told(active, null, false)
}

/** Time passed. Said every few seconds, it notices what cannot be heard. */
export function elapsed(watch: WatchdogState, now: number): WatchdogReport {
  const { settings, heardAt, activeAt } = watch
  const silentMs = now - heardAt
  // Without output since it got on, it is silent and not idle: that has limits of its own.
  const idleMs = activeAt !== null && heardAt > activeAt ? now - activeAt : 0
  const silence = () => noProgress('nothing was heard of it', silentMs)
  const idleness = () => noProgress('there was output, but it did not get on', idleMs)
  if (isOver(silentMs, settings.stopSilentSec)) return told(watch, silence(), true)
  if (isOver(idleMs, settings.stopIdleSec)) return told(watch, idleness(), true)
  if (!watch.isSilenceFlagged && isOver(silentMs, settings.silentSec))
    return told({ ...watch, isSilenceFlagged: true }, silence(), false)
  if (!watch.isIdlenessFlagged && isOver(idleMs, settings.idleSec))
    return told({ ...watch, isIdlenessFlagged: true }, idleness(), false)
  return told(watch, null, false)
}

/** Once it is to be stopped, it stays so, and the reason is given once. */
const told = (watch: WatchdogState, flag: Flag | null, stop: boolean): WatchdogReport =>
  watch.isStopped
    ? { watch, flag: null, stop: true }
    : { watch: stop ? { ...watch, isStopped: true } : watch, flag, stop }

const isOver = (ms: number, limitSec: number) => limitSec > 0 && ms >= limitSec * 1000

const noProgress = (what: string, ms: number): Flag => ({
  code: 'no_progress',
  detail: `${what} for ${Math.floor(ms / 1000)} s`,
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
      detail: () => `${failed} failed calls in a row, the last of them ${named(lastCall)}`,
    },
    {
      seen: inTurns,
      limit: settings.rounds * 2,
      detail: () => `${inTurns / 2} rounds of two calls: ${named(callBefore)} and ${named(lastCall)}`,
    },
  ].filter(({ limit }) => limit > 0)
  const stops = rules.find(({ seen, limit }) => seen >= limit * 2)
  const flags = stops ?? rules.find(({ seen, limit }) => seen === limit)
  return told(watch, flags ? { code: 'loop_detected', detail: flags.detail() } : null, stops !== undefined)
}
